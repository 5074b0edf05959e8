//! Contents of a test file. Every byte can be verified, and no device can reduce the work.
//!
//! The bytes repeat a random pool, but each 512-byte sector begins with a unique stamp. So
//! compression and deduplication save nothing. The second half of the stamp is the generation,
//! which the writer changes from run to run, so that a rewrite never repeats existing data.
//!
//! The generator can start at any place, so computing a sector's stamp takes only a few
//! multiplications.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use crate::mix::{mixed, random};

/// Bytes after which the pool repeats.
pub(super) const POOL: usize = 1 << 20;
/// Bytes from one stamp to the next: the smallest block of any device.
pub(super) const SECTOR: usize = 512;
/// Minimum bytes of a block whose I/O takes so long that comparing a whole sector costs nothing.
pub(super) const LARGE: usize = 64 << 10;
/// One in this many smaller blocks is verified like a large one.
const SOME: u64 = 16;
/// Bytes of a stamp: its first half names the sector, its second half the generation.
const STAMP: usize = 16;
const HALF: usize = STAMP / 2;

/// The bytes of this process's test files, by their place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Content {
    pool: &'static [u8],
    /// Keys of the two halves of the stamps.
    keys: [u64; 2],
}

impl Content {
    /// Returns the content, which is the same in the whole process. Another process has other
    /// bytes.
    pub(crate) fn new() -> Self {
        static MADE: OnceLock<Content> = OnceLock::new();
        *MADE.get_or_init(|| {
            let seed = random();
            let words = (0..(POOL / 8) as u64).flat_map(|i| mixed(seed, i).to_le_bytes());
            Self { pool: Vec::leak(words.collect()), keys: [random(), random()] }
        })
    }

    /// Fills `buf` with the contents of the file from byte `offset` on.
    pub(crate) fn fill(&self, buf: &mut [u8], offset: u64, generation: u64) {
        let mut from = (offset % POOL as u64) as usize;
        let mut rest = &mut *buf;
        while !rest.is_empty() {
            let (now, later) = rest.split_at_mut(rest.len().min(POOL - from));
            now.copy_from_slice(&self.pool[from..from + now.len()]);
            (rest, from) = (later, 0);
        }
        self.stamp(buf, offset, generation);
    }

    /// Changes only the stamps. The result is that of [`Content::fill`] if `buf` was filled before
    /// for a place that is a whole number of [`POOL`]s away.
    pub(crate) fn stamp(&self, buf: &mut [u8], offset: u64, generation: u64) {
        for piece in pieces(offset, buf.len()) {
            let stamp = self.stamp_of(piece.sector, generation);
            let into = &mut buf[piece.range];
            if piece.within == 0 && into.len() >= STAMP {
                into[..STAMP].copy_from_slice(&stamp);
            } else if piece.within < STAMP {
                let length = into.len().min(STAMP - piece.within);
                into[..length].copy_from_slice(&stamp[piece.within..piece.within + length]);
            }
        }
    }

    /// Fills `buf` like [`Content::fill`], but writes only the stamps if `holds` shows that `buf`
    /// was last filled for the same place of the pool.
    #[inline]
    pub(crate) fn refill(
        &self,
        buf: &mut [u8],
        offset: u64,
        generation: u64,
        holds: &mut Option<u64>,
    ) {
        let place = offset % POOL as u64;
        if holds.replace(place) == Some(place) {
            self.stamp(buf, offset, generation);
        } else {
            self.fill(buf, offset, generation);
        }
    }

    fn stamp_of(&self, sector: u64, generation: u64) -> [u8; STAMP] {
        let words = [self.name(sector), generation ^ mixed(self.keys[1], sector)];
        let mut stamp = [0; STAMP];
        stamp[..HALF].copy_from_slice(&words[0].to_le_bytes());
        stamp[HALF..].copy_from_slice(&words[1].to_le_bytes());
        stamp
    }

    fn name(&self, sector: u64) -> u64 {
        mixed(self.keys[0], sector)
    }

    /// Verifies a block that was just read, at low cost: the stamps of its first and last whole
    /// sector. In blocks from [`LARGE`] on, and in one of [`SOME`] smaller ones, it also verifies a
    /// whole sector in between. Generations are ignored. `chance`, an unpredictable number, makes
    /// these choices. A block without the first half of a stamp is
    /// verified byte by byte.
    pub(crate) fn check(&self, buf: &[u8], offset: u64, chance: u64) -> Result<(), String> {
        let end = offset + buf.len() as u64;
        let first = offset.next_multiple_of(SECTOR as u64);
        if first + HALF as u64 > end {
            return self.check_all(buf, offset);
        }
        let last = (end - HALF as u64) / SECTOR as u64 * SECTOR as u64;
        for start in [first, last] {
            let at = (start - offset) as usize;
            let name = self.name(start / SECTOR as u64).to_le_bytes();
            same(&buf[at..at + HALF], &name, start)?;
        }
        let whole = (end - first) / SECTOR as u64;
        let due = buf.len() >= LARGE || chance.is_multiple_of(SOME);
        if whole == 0 || !due {
            return Ok(());
        }
        let start = first + chance / SOME % whole * SECTOR as u64;
        let at = (start - offset) as usize;
        self.check_all(&buf[at..at + SECTOR], start)
    }

    /// Verifies every byte except the generations.
    pub(crate) fn check_all(&self, buf: &[u8], offset: u64) -> Result<(), String> {
        for piece in pieces(offset, buf.len()) {
            let start = piece.sector * SECTOR as u64;
            let (within, length) = (piece.within, piece.range.len());
            let read = &buf[piece.range];
            let name = self.name(piece.sector).to_le_bytes();
            let place = (start % POOL as u64) as usize;
            // The bytes before the generation, and those after it.
            let parts =
                [(0..HALF, &name[..]), (STAMP..SECTOR, &self.pool[place + STAMP..place + SECTOR])];
            for (part, due) in parts {
                let (from, to) = (part.start.max(within), part.end.min(within + length));
                if from < to {
                    let due = &due[from - part.start..to - part.start];
                    same(&read[from - within..to - within], due, start + from as u64)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the generation of the first whole stamp in `buf`, or `None` if it has none.
    pub(crate) fn generation(&self, buf: &[u8], offset: u64) -> Option<u64> {
        let start = offset.next_multiple_of(SECTOR as u64);
        let at = (start - offset) as usize + HALF;
        let word = buf.get(at..at + HALF)?.try_into().ok()?;
        Some(u64::from_le_bytes(word) ^ mixed(self.keys[1], start / SECTOR as u64))
    }
}

/// The part of a range that lies in one sector.
struct Piece {
    sector: u64,
    /// Offset in the sector of the part's first byte.
    within: usize,
    range: Range<usize>,
}

/// Divides a range into its parts by sector.
fn pieces(offset: u64, length: usize) -> impl Iterator<Item = Piece> {
    let (mut sector, mut within) = (offset / SECTOR as u64, (offset % SECTOR as u64) as usize);
    let mut at = 0;
    std::iter::from_fn(move || {
        let end = length.min(at + SECTOR - within);
        let piece = (at < length).then_some(Piece { sector, within, range: at..end });
        (sector, within, at) = (sector + 1, 0, end);
        piece
    })
}

fn same(read: &[u8], due: &[u8], offset: u64) -> Result<(), String> {
    if read == due {
        return Ok(());
    }
    let Some(at) = read.iter().zip(due).position(|(r, d)| r != d) else { return Ok(()) };
    let hex = |bytes: &[u8]| {
        bytes[at..].iter().take(HALF).map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")
    };
    let (offset, read, due) = (offset + at as u64, hex(read), hex(due));
    Err(format!("byte {offset} of the test file: read {read}, expected {due}"))
}

/// Bytes within which repeats are counted: the unit that file systems compress (the record of ZFS,
/// the extent of btrfs).
pub(super) const WINDOW: usize = 128 << 10;

/// Estimates the bits per byte that any device must store, as the minimum of three measures.
/// Returns `None` for an empty sample.
///
/// - Shannon's entropy of the single bytes, which detects zeros and text, but no repeats;
/// - 8 times the share of 64-byte chunks that are different, within each [`WINDOW`] of the sample:
///   the gain of a compressor;
/// - 8 times the share of sectors that are different in the whole sample: the gain of
///   deduplication.
///
/// Random bytes give 8 - 184 / (bytes of the sample), since Shannon's entropy of a finite sample is
/// too low by that amount. Only aligned repeats are detected.
pub(crate) fn entropy_bits(sample: &[u8]) -> Option<f64> {
    if sample.is_empty() {
        return None;
    }
    let windows = sample.len().div_ceil(WINDOW) as f64;
    let chunks = sample.chunks(WINDOW).map(|w| distinct(w, 64)).sum::<f64>() / windows;
    let sectors = distinct(sample, SECTOR);
    Some(shannon(sample).min(8.0 * chunks).min(8.0 * sectors))
}

fn shannon(sample: &[u8]) -> f64 {
    let mut counts = [0_u64; 256];
    for byte in sample {
        counts[usize::from(*byte)] += 1;
    }
    let shares = counts.iter().filter(|c| **c > 0).map(|c| *c as f64 / sample.len() as f64);
    shares.map(|p| -p * p.log2()).sum::<f64>().max(0.0)
}

/// Returns the share of different chunks of this many bytes.
fn distinct(sample: &[u8], bytes: usize) -> f64 {
    let kinds = sample.chunks(bytes).collect::<HashSet<_>>().len();
    kinds as f64 / sample.len().div_ceil(bytes) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn filled(offset: u64, length: usize, generation: u64) -> Vec<u8> {
        let mut buf = vec![0; length];
        Content::new().fill(&mut buf, offset, generation);
        buf
    }

    fn holds_generation(offset: u64) -> bool {
        (HALF as u64..STAMP as u64).contains(&(offset % SECTOR as u64))
    }

    /// Any place in a file, with the last bytes of a pool and of a sector more often.
    fn anywhere() -> impl Strategy<Value = u64> {
        prop_oneof![0..64 * MIB, (1_u64..9, 0_u64..40).prop_map(|(n, less)| n * MIB - less)]
    }

    #[test]
    fn a_block_that_holds_its_stamps_and_nothing_between_is_found() {
        let content = Content::new();
        let is_found = |k: u64, length: usize| {
            let offset = k * length as u64;
            let mut block = filled(offset, length, 0);
            for sector in block.chunks_mut(SECTOR) {
                sector[STAMP..].fill(0);
            }
            content.check(&block, offset, k).is_err()
        };
        assert!((0..50).all(|k| is_found(k, LARGE)));
        let small = (0..1000).filter(|k| is_found(*k, 4096)).count();
        assert_eq!(small as u64, 1000_u64.div_ceil(SOME));
    }

    proptest! {
        #[test]
        fn a_part_is_what_the_whole_has_there(
            offset in anywhere(), length in 0_usize..5000, part in 0.0..1.0_f64,
            generation: u64,
        ) {
            let whole = filled(offset, length, generation);
            let from = (length as f64 * part) as usize;
            let rest = filled(offset + from as u64, length - from, generation);
            prop_assert_eq!(&whole[from..], &rest[..]);
            let first = filled(offset, from, generation);
            prop_assert_eq!(&whole[..from], &first[..]);
        }

        #[test]
        fn filled_blocks_pass_verification(
            offset in anywhere(), length in 0_usize..5000, generation: u64,
        ) {
            let content = Content::new();
            let buf = filled(offset, length, generation);
            prop_assert_eq!(content.check(&buf, offset, generation), Ok(()));
            prop_assert_eq!(content.check_all(&buf, offset), Ok(()));
            let found = content.generation(&buf, offset);
            prop_assert!(found.map_or(length < SECTOR + STAMP, |found| found == generation));
        }

        #[test]
        fn every_flipped_bit_is_found_but_in_a_generation(
            offset in anywhere(), length in 1_usize..2000, at in 0.0..1.0_f64, bit in 0_u32..8,
        ) {
            let mut buf = filled(offset, length, 7);
            let at = (length as f64 * at) as usize;
            buf[at] ^= 1_u8 << bit;
            let byte = offset + at as u64;
            let reported = Content::new().check_all(&buf, offset);
            if holds_generation(byte) {
                prop_assert_eq!(reported, Ok(()));
            } else {
                let start = format!("byte {byte} of the test file: read");
                prop_assert!(reported.unwrap_err().starts_with(&start));
            }
        }

        #[test]
        fn stamping_makes_of_a_filled_buffer_another_place_of_the_pool(
            offset in anywhere(), length in 0_usize..5000, pools in 1_u64..9,
        ) {
            let mut buf = filled(offset, length, 1);
            Content::new().stamp(&mut buf, offset + pools * MIB, 2);
            prop_assert_eq!(buf, filled(offset + pools * MIB, length, 2));
        }

        #[test]
        fn a_block_without_a_stamp_is_checked_whole(
            sector in 0..64 * MIB, within in 1_u64..505, at in 0.0..1.0_f64,
        ) {
            let offset = sector * SECTOR as u64 + within;
            let length = (SECTOR as u64 - within + 7) as usize;
            let mut buf = filled(offset, length, 1);
            let at = (length as f64 * at) as usize;
            prop_assume!(!holds_generation(offset + at as u64));
            buf[at] ^= 0x10;
            prop_assert!(Content::new().check(&buf, offset, 1).is_err());
        }
    }

    #[test]
    fn the_cheap_check_finds_blocks_that_are_not_this_one() {
        let content = Content::new();
        let (offset, other) = (5 * MIB + 4096, 9 * MIB + 4096);
        let (ours, swapped) = (filled(offset, 4096, 1), filled(other, 4096, 1));
        assert_eq!(content.check(&swapped, other, 1), Ok(()));
        let torn = [[&ours[..2048], &swapped[2048..]], [&swapped[..2048], &ours[2048..]]];
        for wrong in [swapped.clone(), torn[0].concat(), torn[1].concat(), vec![0; 4096]] {
            assert!(content.check(&wrong, offset, 1).is_err());
        }
        assert!(content.check(&[0; 1], offset, 1).is_err() || filled(offset, 1, 0) == [0]);
    }

    #[test]
    fn other_generations_differ_in_every_sector_and_are_reported() {
        let content = Content::new();
        let (one, two) = (filled(4096, 8192, 1), filled(4096, 8192, 2));
        assert!(one.chunks(SECTOR).zip(two.chunks(SECTOR)).all(|(a, b)| a != b));
        assert_eq!(content.generation(&one, 4096), Some(1));
        assert_eq!(content.generation(&two, 4096), Some(2));
        // Only the end of the preceding sector is in the buffer.
        assert_eq!(content.generation(&filled(4000, 8192, 3), 4000), Some(3));
        assert_eq!(content.generation(&one[..STAMP - 1], 4096), None);
    }

    #[test]
    fn the_content_cannot_be_compressed() {
        let file = filled(0, 4 << 20, 0);
        assert_eq!(distinct(&file, SECTOR), 1.0, "no sector is like another");
        for part in [&file[..], &file[..WINDOW], &file[MIB as usize - 1000..][..WINDOW]] {
            let bits = entropy_bits(part).unwrap();
            assert!(bits > 7.99 && bits <= 8.0, "{bits}");
        }
    }

    #[test]
    fn compressible_data_have_less_entropy() {
        let random = filled(0, 1 << 20, 0);
        let bits = |sample: &[u8]| entropy_bits(sample).unwrap();
        assert_eq!(bits(&[0; 4096]), 0.0);
        assert_eq!(entropy_bits(&[]), None);
        let text = "no man is an island, entire of itself; ".repeat(3000);
        assert!(bits(text.as_bytes()) < 4.5);
        // Repeats that the entropy of bytes does not detect: one block written everywhere ...
        let mut repeated = random[..4096].repeat(256);
        assert!(shannon(&repeated) > 7.9 && bits(&repeated) < 0.3, "{}", bits(&repeated));
        // ... also with a stamp in each sector ...
        Content::new().stamp(&mut repeated, 0, 0);
        assert!(distinct(&repeated, SECTOR) == 1.0 && bits(&repeated) < 1.5);
        // ... and blocks that repeat beyond the window of a compressor.
        let far = random[..WINDOW].repeat(4);
        assert!((bits(&far) - 2.0).abs() < 0.01, "{}", bits(&far));
        // Half of the bytes are zeros.
        let half: Vec<u8> =
            random.chunks(1024).flat_map(|c| [&c[..512], &[0; 512]].concat()).collect();
        assert!(bits(&half) < 5.1, "{}", bits(&half));
    }
}
