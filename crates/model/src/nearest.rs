//! Suggestions for mistyped names.

/// Suggests the candidate nearest to `typed` by edit distance, if at most a third of it differs: `did you mean
/// 'cpu.flops'?`.
///
/// ```
/// let hint = |typed| proofmark_model::did_you_mean(typed, ["cpu.flops", "cpu.iops"]);
/// assert_eq!(hint("cpu.flop").unwrap(), "did you mean 'cpu.flops'?");
/// assert_eq!(hint("zebra"), None);
/// ```
pub fn did_you_mean<'a>(
    typed: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    candidates
        .into_iter()
        .map(|c| (strsim::damerau_levenshtein(typed, c), c))
        .filter(|(distance, c)| *distance * 3 <= c.len().max(typed.len()))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, c)| format!("did you mean '{c}'?"))
}
