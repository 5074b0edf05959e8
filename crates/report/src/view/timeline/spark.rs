//! Samples by time as a line of signs.

use crate::spark::{Spark, spark};

/// Values by time in `columns` signs. A sign is the mean of the values in its share of the time; one
/// without any is empty.
pub fn line(values: impl Iterator<Item = (f64, f64)>, until: f64, columns: usize) -> Spark {
    let mut sums = vec![(0.0, 0_u32); columns];
    for (at, value) in values {
        let place = (at / until * columns as f64).max(0.0) as usize;
        if let Some((sum, count)) = sums.get_mut(place.min(columns.saturating_sub(1))) {
            *sum += value;
            *count += 1;
        }
    }
    let means = sums.iter().map(|(sum, count)| (*count > 0).then(|| sum / f64::from(*count)));
    spark(means, ' ')
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_value_has_the_place_of_its_time() {
        let values = [(0.0, 8.0), (1.0, 4.0), (3.0, 0.0)];
        let drawn = line(values.into_iter(), 4.0, 4);
        assert_eq!((drawn.signs.as_str(), drawn.range), ("▇▄ ▁", Some([0.0, 8.0])));
        assert_eq!(line(values.into_iter(), 4.0, 0).signs, "");
        let odd = line([(f64::NAN, f64::NAN), (9.0, -1.0)].into_iter(), 0.0, 2);
        assert_eq!(odd.signs.chars().count(), 2);
    }
}
