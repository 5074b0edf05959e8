//! Numbers without a pattern: the generator of Steele, Lea and Flood, *Fast Splittable
//! Pseudorandom Number Generators* (OOPSLA 2014), with Stafford's constants.

use std::hash::{BuildHasher, RandomState};

/// Step of the generator: the golden ratio's fractional part.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Number `index` of the sequence that belongs to `key`.
pub(crate) fn mixed(key: u64, index: u64) -> u64 {
    let mut z = key.wrapping_add(index.wrapping_mul(STEP));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A number that nobody can know beforehand: the keys of the standard library's hash
/// tables, which the system's generator makes.
pub(crate) fn random() -> u64 {
    RandomState::new().hash_one(STEP)
}
