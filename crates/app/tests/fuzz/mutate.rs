//! A small seeded mutator of bytes: the same seed and corpus give the same input.

/// Bytes at which readers of numbers, lines and lengths branch.
const TOKENS: [&[u8]; 12] = [
    b"0",
    b"-1",
    b"1e308",
    b"nan",
    b"18446744073709551616",
    b"\0",
    b"\xff\xff",
    b"\n",
    b",",
    b"\"",
    b"[[[",
    b"%",
];
/// Maximum changes of an input.
const MOST_CHANGES: u64 = 6;
/// Maximum bytes of one change.
const LONGEST_RANGE: usize = 200;

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`; 0 if that is 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn token(&mut self) -> Vec<u8> {
        TOKENS[self.below(TOKENS.len())].to_vec()
    }
}

/// Returns an input of the corpus with one or more changes.
pub fn mutated(corpus: &[Vec<u8>], seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut bytes = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.next() % MOST_CHANGES {
        let at = random.below(bytes.len() + 1);
        let end = (at + 1 + random.below(LONGEST_RANGE)).min(bytes.len()).max(at);
        match random.below(9) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 => drop(bytes.drain(at..end)),
            3 => bytes.truncate(at),
            4 => {
                let range = bytes[at..end].to_vec();
                let to = random.below(bytes.len() + 1);
                drop(bytes.splice(to..to, range));
            }
            5 => {
                let other = &corpus[random.below(corpus.len())];
                bytes.truncate(at);
                bytes.extend_from_slice(&other[random.below(other.len())..]);
            }
            6 => drop(bytes.splice(at..at, random.token())),
            _ => {
                // Replace a number: most untrusted input is numbers.
                let is_digit = |i: &usize| bytes[*i].is_ascii_digit();
                let from = (at..bytes.len()).find(is_digit).unwrap_or(bytes.len());
                let to = (from..bytes.len()).find(|i| !is_digit(i)).unwrap_or(bytes.len());
                drop(bytes.splice(from..to, random.token()));
            }
        }
    }
    bytes
}
