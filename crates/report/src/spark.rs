//! A sequence of values as a line of blocks, on the same scale live, in a report and in the
//! history.
//!
//! The scale goes from the minimum to the maximum, but spans at least a tenth of their middle. A
//! step of some percent is visible, and the noise of a steady machine looks small. So a line shows
//! change, not size; the text next to it gives the values of its ends.

/// An odd number, so that values around the middle of the scale are one block.
const BLOCKS: [char; 7] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇'];

/// Minimum span of the scale, as a share of its middle.
const LEAST: f64 = 0.1;

/// A line of blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Spark {
    /// One sign per value.
    pub signs: String,
    /// Values at the lower and the upper end of the scale; `None` without one.
    pub range: Option<[f64; 2]>,
}

/// Returns a sign for each value; `gap` where there is none or it is not finite.
pub fn spark(values: impl IntoIterator<Item = Option<f64>>, gap: char) -> Spark {
    let values: Vec<Option<f64>> =
        values.into_iter().map(|v| v.filter(|v| v.is_finite())).collect();
    let range = range(values.iter().flatten().copied());
    let sign = |value: &Option<f64>| match (value, range) {
        (Some(value), Some([low, high])) => {
            let at = (value - low) / (high - low) * BLOCKS.len() as f64;
            BLOCKS[(at.max(0.0) as usize).min(BLOCKS.len() - 1)]
        }
        // Without a finite scale of some height all values are in the middle.
        (Some(_), None) => BLOCKS[BLOCKS.len() / 2],
        (None, _) => gap,
    };
    Spark { signs: values.iter().map(sign).collect(), range }
}

/// Returns a sign for each share of the height: a dot for zero, a space for an unknown share.
pub fn blocks(shares: impl IntoIterator<Item = Option<f64>>) -> String {
    let sign = |share: Option<f64>| match share.filter(|s| s.is_finite()) {
        None => ' ',
        Some(share) => match (share * BLOCKS.len() as f64).ceil() as usize {
            0 => '·',
            n => BLOCKS[n.min(BLOCKS.len()) - 1],
        },
    };
    shares.into_iter().map(sign).collect()
}

/// Returns the range from the minimum to the maximum, or wider; `None` if it is not finite or
/// empty.
fn range(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    let (least, most) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    let middle = least / 2.0 + most / 2.0;
    let half = (most / 2.0 - least / 2.0).max(middle.abs() * LEAST / 2.0);
    let range = [middle - half, middle + half];
    (range.iter().all(|v| v.is_finite()) && range[0] < range[1]).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::spark;

    #[test]
    fn any_values_are_drawn() {
        let signs = |values: &[f64]| spark(values.iter().copied().map(Some), '✗').signs;
        assert_eq!(signs(&[1.0, f64::NAN, f64::INFINITY, 2.0]), "▁✗✗▇");
        assert_eq!(signs(&[-100.0, -50.0]), "▁▇");
        assert_eq!(signs(&[f64::MAX, f64::MAX]), "▄▄");
    }
}
