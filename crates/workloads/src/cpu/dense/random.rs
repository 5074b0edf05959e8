//! Random numbers that can be generated again from their place alone.

use crate::mix::mixed;

/// Returns an element of a seed's random matrix: between -1/2 and 1/2, a multiple of 2^-53.
#[inline]
pub(crate) fn element(seed: u64, row: usize, column: usize) -> f64 {
    let bits = mixed(seed, (column as u64) << 32 ^ row as u64);
    (bits >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_fill_the_interval_and_differ_by_place_and_seed() {
        const SIDE: usize = 300;
        let mut sum = [0.0, 0.0];
        let (mut least, mut most) = (1.0_f64, -1.0_f64);
        for row in 0..SIDE {
            for column in 0..SIDE {
                let x = element(7, row, column);
                assert!((-0.5..0.5).contains(&x));
                assert_eq!(x, element(7, row, column), "made again");
                assert_ne!(x, element(8, row, column));
                assert_ne!(x, element(7, column + 1, row + SIDE));
                sum[0] += x;
                sum[1] += x * x;
                (least, most) = (least.min(x), most.max(x));
            }
        }
        let count = (SIDE * SIDE) as f64;
        assert!((sum[0] / count).abs() < 0.005, "{}", sum[0] / count);
        assert!((sum[1] / count - 1.0 / 12.0).abs() < 0.002, "{}", sum[1] / count);
        assert!(least < -0.499 && most > 0.499, "{least} {most}");
    }
}
