//! The name that a mistyped one was probably meant to be.

/// The candidate nearest to `typed` by edit distance, if it is near enough to be
/// worth suggesting.
///
/// ```
/// assert_eq!(proofmark_model::nearest("cpu.flop", ["cpu.flops", "cpu.iops"]), Some("cpu.flops"));
/// assert_eq!(proofmark_model::nearest("zebra", ["cpu.flops"]), None);
/// ```
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|c| (strsim::damerau_levenshtein(typed, c), c))
        .filter(|(distance, c)| *distance * 2 <= c.len().max(typed.len()))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, c)| c)
}
