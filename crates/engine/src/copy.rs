//! The maximum rate of copies.

use crate::clock::raw_seconds;

/// Bytes per second that this thread copies within its cache; `None` if the clock did not move.
pub fn copy_rate() -> Option<f64> {
    const BLOCK: usize = 16 << 10;
    const COPIES: usize = 1000;
    let from = vec![1_u8; BLOCK];
    let mut to = vec![0_u8; BLOCK];
    let once = || {
        let start = raw_seconds();
        for _ in 0..COPIES {
            std::hint::black_box(&mut to).copy_from_slice(std::hint::black_box(&from));
        }
        (COPIES * BLOCK) as f64 / (raw_seconds() - start)
    };
    std::iter::repeat_with(once).take(10).reduce(f64::max).filter(|rate| rate.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_rate_that_memory_has() {
        let rate = copy_rate().unwrap();
        assert!((1e8..1e13).contains(&rate), "{rate} B/s");
    }
}
