//! Random numbers of every kind.

use proofmark_model::MAGNITUDES;
use proptest::prelude::*;

/// Reproducible numbers from 0 to 1 (Marsaglia, *Xorshift RNGs*, 2003).
pub(crate) fn xorshift() -> impl FnMut() -> f64 {
    let mut state = 88_172_645_463_325_252_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Nearly normal numbers of mean 0 and deviation 1: sums of twelve uniform ones.
pub(crate) fn normal(random: &mut impl FnMut() -> f64) -> f64 {
    (0..12).map(|_| random()).sum::<f64>() - 6.0
}

/// Any number that an untrusted file may have, finite or not.
pub(crate) fn wild() -> impl Strategy<Value = f64> {
    let (least, most) = MAGNITUDES.into_inner();
    prop_oneof![
        (-1.0..1.0_f64, -59..=60).prop_map(|(part, power)| part * 10_f64.powi(power)),
        Just(0.0),
        Just(-1.0),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(most),
        Just(least),
        1e6..1e12_f64,
    ]
}
