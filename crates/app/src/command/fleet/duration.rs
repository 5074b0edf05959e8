//! The expected time of a fleet.

use proofmark_model::{FEWEST_NODES, FleetTask, counted, format_seconds};

use super::node::own_round_s;
use crate::cli::FleetRunArgs;

/// Seconds of each round's budget for its request and answer.
pub(super) const REQUEST_S: f64 = 0.5;

/// Describes the expected time of a fleet of so many nodes, or of those of `--again` where there are
/// any. Rounds that this machine could not measure may take as long as their time limit.
pub(super) fn duration(
    args: &FleetRunArgs,
    (nodes, again): (u32, u32),
    (task, limit_s): (&FleetTask, f64),
) -> String {
    let (round_s, round) = match own_round_s(task) {
        Ok(s) => (s, format!("about {} as planned for this machine", format_seconds(s))),
        Err(_) => (limit_s, format!("up to {}", format_seconds(limit_s))),
    };
    let batches = |nodes: u32, at_once: u32| nodes.div_ceil(at_once.max(1));
    let pass = |nodes| {
        let turns = f64::from(args.rounds * args.at_once.map_or(1, |n| batches(nodes, n)));
        format_seconds(turns * (round_s + REQUEST_S))
    };
    let (all, first) = (pass(nodes), pass(if again > 0 { again } else { nodes }));
    let has_second = nodes as usize >= FEWEST_NODES;
    let nodes = match again {
        0 => counted(nodes, "node"),
        again => format!("{again} of {} again", counted(nodes, "node")),
    };
    let network = args
        .pairs
        .map_or("", |_| "; then the network between nodes (its first round shows how long)");
    let second = match has_second {
        true => format!("if a node looks slow, up to {all} for a second pass"),
        false => {
            format!("fewer than {FEWEST_NODES} nodes are not compared, so there is no second pass")
        }
    };
    format!("{nodes}, {} rounds of {round}: about {first}; {second}{network}", args.rounds)
}
