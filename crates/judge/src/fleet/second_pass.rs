//! Selection of the nodes that are measured again.

use proofmark_model::{FleetLine, StripOutcome};

use super::groups::Group;
use super::strips::Judged;
use super::{Fleet, reasons};
use crate::statistics::median;

/// Most healthy nodes that are measured again with slow ones.
const PEERS: usize = 4;

/// The slow nodes of a group and those to measure with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondPass {
    /// Nodes that were slow in the first pass, in the order of the plan.
    pub slow: Vec<String>,
    /// Nodes of their group that were not slow, those nearest to its median first.
    pub peers: Vec<String>,
}

/// Returns the nodes of a second pass by group; empty if no node is slow. Fails like
/// [`super::fleet_report`].
pub fn nodes_again(lines: impl IntoIterator<Item = FleetLine>) -> Result<Vec<SecondPass>, String> {
    let fleet = Fleet::judge(lines)?;
    let all = fleet.groups.iter().zip(&fleet.judged);
    Ok(all.filter_map(|(group, judged)| for_group(&fleet, group, judged)).collect())
}

fn for_group(fleet: &Fleet, group: &Group, judged: &Judged) -> Option<SecondPass> {
    // The network has a second pass of its own.
    let own = judged.figures.iter().filter(|f| !f.subsystem.info().has_server);
    let outcomes = |place: usize| own.clone().map(move |f| f.strips[place].outcome);
    let name = |place: usize| fleet.lines.nodes[group.nodes[place]].name.clone();
    let (bad, rest): (Vec<usize>, Vec<usize>) =
        (0..group.nodes.len()).partition(|place| outcomes(*place).any(StripOutcome::is_slow));
    let here = |place: &usize| !fleet.lines.nodes[group.nodes[*place]].gone();
    let slow: Vec<String> = bad.into_iter().filter(here).map(name).collect();
    let healthy = |place: &usize| {
        reasons::from_lines(&fleet.lines, group.nodes[*place]).is_empty()
            && outcomes(*place).all(|o| o != StripOutcome::TooFewRounds)
    };
    let mut peers: Vec<(f64, usize)> =
        rest.into_iter().filter(healthy).map(|place| (away(judged, place), place)).collect();
    peers.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    (!slow.is_empty()).then(|| SecondPass {
        slow,
        peers: peers.into_iter().take(PEERS).map(|(_, place)| name(place)).collect(),
    })
}

/// Median distance of a node from its group's median, over its figures.
fn away(judged: &Judged, place: usize) -> f64 {
    let ratios = judged.figures.iter().filter_map(|f| f.strips[place].ratio);
    let all: Vec<f64> = ratios.map(|r| f64::from(r).ln().abs()).collect();
    median(&all).unwrap_or(f64::INFINITY)
}
