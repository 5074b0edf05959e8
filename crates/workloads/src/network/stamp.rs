//! The payload: bytes without a pattern, with the block's number at its start, or the low bytes of
//! the number in shorter blocks.

use crate::mix::mixed;

/// Bytes of a number.
pub(super) const NUMBER: usize = 8;

/// Minimum bytes of a numbered block of a stream. Such a datagram has room for its number and its
/// send time.
pub(super) const MIN_NUMBERED: usize = 16;

/// Returns bytes that neither a link nor a system can compress.
pub(super) fn payload(bytes: usize) -> Vec<u8> {
    let words = (0..bytes.div_ceil(8) as u64).flat_map(|i| mixed(1, i).to_le_bytes());
    words.take(bytes).collect()
}

/// Writes a number at the start of a block, or its low bytes in a shorter block.
#[inline]
pub(super) fn put(block: &mut [u8], number: u64) {
    let bytes = number.to_le_bytes();
    match block.first_chunk_mut::<NUMBER>() {
        Some(place) => *place = bytes,
        None => block.copy_from_slice(&bytes[..block.len()]),
    }
}

/// Returns the number at the start of a block, if the block is long enough.
#[inline]
pub(super) fn get(block: &[u8]) -> Option<u64> {
    block.first_chunk::<NUMBER>().map(|place| u64::from_le_bytes(*place))
}

/// Returns the number in a block, and the mask of the bits that the block has room for.
#[inline]
fn low(block: &[u8]) -> (u64, u64) {
    let whole = block.first_chunk::<NUMBER>().map(|place| (u64::from_le_bytes(*place), u64::MAX));
    whole.unwrap_or_else(|| {
        let value = block.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        (value, (1 << (8 * block.len())) - 1)
    })
}

/// Checks that a block carries a number, or its low bytes in a shorter block.
#[inline]
pub(super) fn answers(block: &[u8], number: u64) -> Result<(), Wrong> {
    let (found, bits) = low(block);
    let due = number & bits;
    if found == due { Ok(()) } else { Err(Wrong { due, found }) }
}

/// Returns the number of a block in an increasing sequence, where `next` is the lowest expected
/// number. `None` if the number was used before. Short blocks repeat their numbers: a block is new
/// if it is ahead by less than half of the range.
#[inline]
pub(super) fn ahead(block: &[u8], next: u64) -> Option<u64> {
    let (found, bits) = low(block);
    let ahead = found.wrapping_sub(next) & bits;
    if ahead > bits / 2 { None } else { next.checked_add(ahead) }
}

/// A block with another number than expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) due: u64,
    pub(super) found: u64,
}

/// Checks the number of the first block that begins within a piece of a stream, if the piece
/// contains the number. The piece begins `at` bytes after the start of block `first`.
#[inline]
pub(super) fn check(piece: &[u8], at: u64, block: usize, first: u64) -> Result<(), Wrong> {
    if block < MIN_NUMBERED {
        return Ok(());
    }
    let index = at.div_ceil(block as u64);
    let skip = (index * block as u64 - at) as usize;
    match piece.get(skip..).and_then(get) {
        Some(found) if found != first + index => Err(Wrong { due: first + index, found }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_payload_has_no_pattern() {
        let bytes = payload(4096 + 3);
        assert_eq!(bytes.len(), 4099);
        let ones: u32 = bytes.iter().map(|b| b.count_ones()).sum();
        assert!((15_800..17_000).contains(&ones), "{ones} of 32792 bits");
    }

    proptest! {
        #[test]
        fn numbers_that_grow_are_distinguished_from_those_before(
            length in 1_usize..12, next in 0..1_u64 << 60, step in 0_u64..128,
        ) {
            let mut block = vec![0xAA; length];
            put(&mut block, next + step);
            prop_assert_eq!(ahead(&block, next), Some(next + step));
            prop_assert_eq!(answers(&block, next + step), Ok(()));
            prop_assert!(answers(&block, next + step + 1).is_err());
            prop_assert_eq!(ahead(&block, next + step + 1), None);
        }

        #[test]
        fn pieces_of_right_blocks_pass_and_a_wrong_number_is_found(
            block in MIN_NUMBERED..200_usize, first in 0..1_u64 << 40, start in 0_usize..500,
            length in 1_usize..500, other: u64,
        ) {
            let mut stream = vec![0; 2000];
            for (i, block) in stream.chunks_mut(block).enumerate() {
                put(block, first + i as u64);
            }
            let piece = &stream[start..start + length];
            prop_assert_eq!(check(piece, start as u64, block, first), Ok(()));
            let index = start.div_ceil(block);
            let due = first + index as u64;
            if index * block + NUMBER <= start + length && other != due {
                put(&mut stream[index * block..], other);
                let piece = &stream[start..start + length];
                prop_assert_eq!(
                    check(piece, start as u64, block, first),
                    Err(Wrong { due, found: other })
                );
            }
        }
    }
}
