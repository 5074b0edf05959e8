//! Other programs that took time on nodes.

use std::collections::BTreeMap;

use proofmark_model::{Pass, TimeCause};

use super::lines::Node;
use super::words::percent;

/// Most programs that are named.
const NAMED: usize = 3;
/// Smallest share of one CPU of a program that is named.
const LEAST: f64 = 0.01;
/// Names of this program's own processes, which nodes that share a machine take for others.
const OWN: [&str; 2] = ["exe", "proofmark"];

/// Returns true if a cause is the work of other programs.
pub(super) fn took(cause: &str) -> bool {
    TimeCause::BY_OTHER_PROGRAMS.contains(&cause)
}

/// Names the programs that used most in all rounds of the first pass of these nodes, with their
/// mean share of one CPU: `rustc 93.3 %, cargo 5.0 %`; `None` without any.
pub(super) fn named<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Option<String> {
    let mut shares: BTreeMap<&str, f64> = BTreeMap::new();
    let mut rounds = 0;
    for (_, seen) in nodes.into_iter().flat_map(|node| node.usable(Pass::First)) {
        rounds += 1;
        for (name, share) in seen.programs.as_deref().into_iter().flat_map(parsed) {
            *shares.entry(name).or_default() += share;
        }
    }
    let mean = |(name, sum): (_, f64)| (name, sum / f64::from(rounds));
    let mut all: Vec<(&str, f64)> = shares.into_iter().map(mean).collect();
    all.retain(|(name, share)| *share >= LEAST && !OWN.contains(name));
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let words: Vec<String> =
        all.iter().take(NAMED).map(|(name, share)| format!("{name} {}", percent(*share))).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Reads the names and shares of a node's words.
fn parsed(words: &str) -> impl Iterator<Item = (&str, f64)> {
    words.split(", ").filter_map(|one| {
        let (name, share) = one.strip_suffix(" %")?.rsplit_once(' ')?;
        let share: f64 = share.parse().ok()?;
        (share.is_finite() && share >= 0.0).then_some((name, share / 100.0))
    })
}
