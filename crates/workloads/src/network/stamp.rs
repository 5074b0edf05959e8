//! The payload: bytes without a pattern, and at the start of a block its number, or as many
//! of that number's low bytes as the block has room for.

use crate::mix::mixed;

/// Bytes of a number.
pub(super) const NUMBER: usize = 8;

/// Blocks from this length on are numbered in streams: a datagram of it has room for its
/// number and for when it was sent.
pub(super) const LEAST: usize = 16;

/// Bytes that neither a link nor a system can make shorter.
pub(super) fn payload(bytes: usize) -> Vec<u8> {
    let words = (0..bytes.div_ceil(8) as u64).flat_map(|i| mixed(1, i).to_le_bytes());
    words.take(bytes).collect()
}

/// Writes a number at the start of a block, as much of it as there is room for.
#[inline]
pub(super) fn put(block: &mut [u8], number: u64) {
    let bytes = number.to_le_bytes();
    match block.first_chunk_mut::<NUMBER>() {
        Some(place) => *place = bytes,
        None => block.copy_from_slice(&bytes[..block.len()]),
    }
}

/// The number at the start of a block that has room for one.
#[inline]
pub(super) fn get(block: &[u8]) -> Option<u64> {
    block.first_chunk::<NUMBER>().map(|place| u64::from_le_bytes(*place))
}

/// What a block says of its number, and those bits of it that it has room for.
#[inline]
fn low(block: &[u8]) -> (u64, u64) {
    let whole = block.first_chunk::<NUMBER>().map(|place| (u64::from_le_bytes(*place), u64::MAX));
    whole.unwrap_or_else(|| {
        let value = block.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        (value, (1 << (8 * block.len())) - 1)
    })
}

/// Whether a block carries that number, as far as it has room for it.
#[inline]
pub(super) fn answers(block: &[u8], number: u64) -> Result<(), Wrong> {
    let (found, bits) = low(block);
    let due = number & bits;
    if found == due { Ok(()) } else { Err(Wrong { due, found }) }
}

/// The number of a block where numbers only grow, and `next` is the least that is still to
/// come; `None`: one that was there before. Short blocks repeat their numbers: what is
/// ahead by less than half of them is new.
#[inline]
pub(super) fn ahead(block: &[u8], next: u64) -> Option<u64> {
    let (found, bits) = low(block);
    let ahead = found.wrapping_sub(next) & bits;
    if ahead > bits / 2 { None } else { next.checked_add(ahead) }
}

/// A block that is not the one that was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) due: u64,
    pub(super) found: u64,
}

/// Looks at the first block that begins within a piece of a stream of blocks, if its number
/// is in the piece. The piece begins `at` bytes after the start of block `first`.
#[inline]
pub(super) fn check(piece: &[u8], at: u64, block: usize, first: u64) -> Result<(), Wrong> {
    if block < LEAST {
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
            block in LEAST..200_usize, first in 0..1_u64 << 40, start in 0_usize..500,
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
