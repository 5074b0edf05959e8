//! Other programs that took time on nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use proofmark_model::{OtherPrograms, Pass, Program, TimeCause};

use super::lines::Node;

/// Returns true for names of this program's own processes, which nodes that share a machine take for
/// others: workers, an installed program and a copied one.
fn is_ours(name: &str) -> bool {
    ["exe", "proofmark"].contains(&name) || name.starts_with("proofmark.")
}

/// Returns true if a cause is the work of other programs.
pub(super) fn took(cause: &str) -> bool {
    TimeCause::BY_OTHER_PROGRAMS.contains(&cause)
}

/// Names the programs that used most in all rounds of the first pass of these nodes, with their
/// mean share of one CPU, and the share of those without a name: `rustc 93.3 %, cargo 5.0 %`;
/// `None` if they took too little to explain a loss.
pub(super) fn named<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Option<String> {
    let mut shares: BTreeMap<&str, f64> = BTreeMap::new();
    let (mut rounds, mut all, mut is_counted) = (0, 0.0, false);
    for (_, seen) in nodes.into_iter().flat_map(|node| node.usable(Pass::First)) {
        let is_own = |(name, _): &&(Arc<str>, f64)| is_ours(name);
        let sum = |own: bool| -> f64 {
            seen.programs.iter().filter(|p| is_own(p) == own).map(|(_, share)| share).sum()
        };
        rounds += 1;
        is_counted |= seen.programs_of_one_cpu.is_some();
        all +=
            seen.programs_of_one_cpu.map_or_else(|| sum(false), |all| (all - sum(true)).max(0.0));
        for (name, share) in seen.programs.iter().filter(|p| !is_own(p)) {
            *shares.entry(name).or_default() += share;
        }
    }
    let mean = |sum: f64| sum / f64::from(rounds);
    let program = |(name, sum): (&str, f64)| Program {
        name: name.to_owned(),
        of_one_cpu: mean(sum),
        ..Program::default()
    };
    let mut programs: Vec<Program> = shares.into_iter().map(program).collect();
    programs.sort_by(|a, b| b.of_one_cpu.total_cmp(&a.of_one_cpu));
    let all_of_one_cpu = is_counted.then(|| mean(all));
    let others = OtherPrograms { named: &programs, all_of_one_cpu };
    others.to_stop().filter(|_| others.took_much())
}
