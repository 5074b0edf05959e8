//! Pseudorandom numbers: the generator of Steele, Lea and Flood, *Fast Splittable Pseudorandom
//! Number Generators* (OOPSLA 2014), with Stafford's constants.

use std::hash::{BuildHasher, RandomState};

/// Step of the generator: 2^64 over the golden ratio, odd.
pub(crate) const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns number `index` of the sequence of `key`.
pub(crate) fn mixed(key: u64, index: u64) -> u64 {
    let mut z = key.wrapping_add(index.wrapping_mul(STEP));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Returns an unpredictable number, from the keys of the standard library's hash tables, which the
/// system generates.
pub(crate) fn random() -> u64 {
    RandomState::new().hash_one(STEP)
}
