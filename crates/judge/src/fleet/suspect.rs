//! Results that are suspect for one reason in most rounds: the nodes agree, but not on what the
//! result's name says.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{Severity, SuspectResult};

use super::groups::Group;
use super::lines::{Found, Lines};
use super::strips::Judged;

/// Returns the results by which nodes are judged, or all if none is compared, with a finding that makes more than half of their rounds
/// suspect, each with its most frequent one.
pub(super) fn results(lines: &Lines, group: &Group, judged: &Judged) -> Vec<SuspectResult> {
    let figures = judged.figures.iter().zip(&judged.numbers);
    let shown = figures.filter(|(figure, _)| figure.required || !group.comparable());
    let numbers: BTreeSet<u32> = shown.map(|(_, number)| *number).collect();
    numbers.into_iter().filter_map(|number| result(lines, group, number)).collect()
}

fn result(lines: &Lines, group: &Group, number: u32) -> Option<SuspectResult> {
    let seen = group.nodes.iter().flat_map(|node| lines.nodes[*node].usable_first());
    let cells: Vec<_> = seen.filter_map(|seen| seen.cell(number)).filter(|c| !c.invalid).collect();
    let mut checks: BTreeMap<&str, (u32, &Found)> = BTreeMap::new();
    for found in cells.iter().flat_map(|cell| &cell.findings) {
        if found.severity == Severity::Suspect {
            checks.entry(&found.check).or_insert((0, found)).0 += 1;
        }
    }
    let (rounds, found) = checks.into_values().max_by_key(|(rounds, _)| *rounds)?;
    let of = cells.len() as u32;
    (2 * rounds > of).then(|| SuspectResult {
        title: lines.figures[number as usize].title().to_owned(),
        check: found.check.to_string(),
        message: found.message.to_string(),
        rounds,
        of,
    })
}
