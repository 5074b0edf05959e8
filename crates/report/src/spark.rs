//! Values one after the other as a line of blocks: one scale wherever such a line is drawn, live,
//! in a report and in the history.
//!
//! The scale goes from the least value to the greatest, but is at least a tenth of the middle of
//! both high: a step of some percent is seen, and the noise of a steady machine looks like what it
//! is. So a line shows change, not size: the text around it gives the values of its ends.

/// An odd number, so that values around the middle of the scale are one block.
const BLOCKS: [char; 7] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇'];

/// The scale is at least this share of its middle high.
const LEAST: f64 = 0.1;

/// A line of blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Spark {
    /// One sign per value.
    pub signs: String,
    /// Values at the lower and the upper end of the scale; `None` where there is nothing to draw.
    pub range: Option<[f64; 2]>,
}

/// A sign for each value; `gap` where there is none or it is not finite.
pub fn spark(values: impl IntoIterator<Item = Option<f64>>, gap: char) -> Spark {
    let values: Vec<Option<f64>> =
        values.into_iter().map(|v| v.filter(|v| v.is_finite())).collect();
    let range = range(values.iter().flatten().copied());
    let sign = |value: &Option<f64>| match (value, range) {
        (Some(value), Some([low, high])) => {
            let at = (value - low) / (high - low) * BLOCKS.len() as f64;
            BLOCKS[(at.max(0.0) as usize).min(BLOCKS.len() - 1)]
        }
        // A scale of no height, or none that a number can hold: all are in the middle.
        (Some(_), None) => BLOCKS[BLOCKS.len() / 2],
        (None, _) => gap,
    };
    Spark { signs: values.iter().map(sign).collect(), range }
}

/// A sign for each share of the height; a point where there is none of it, and a space where it is not
/// known.
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

/// From the least to the greatest, or wider; `None` without a value or where that is no number.
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
