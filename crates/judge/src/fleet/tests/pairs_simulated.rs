//! Frequency of true and false alarms for nodes and links, in simulated fleets.
//!
//! Nodes have permanent deviations with a normal distribution, and a pair is as fast as the slower
//! of its nodes. Rounds vary by 1 %, and 2 % of them are disturbed by 10 %.

use proofmark_model::{Decision, RoundRobin};

use super::pairs::measured;
use super::*;

/// The planted fault.
#[derive(Clone, Copy)]
enum Slow {
    Nothing,
    Node(f64),
    Link(f64),
}

/// Counts the fleets in which the planted fault is found, something else is called slow, or nothing
/// is slow but something is unverified.
fn simulated(fleets: usize, nodes: usize, between: f64, slow: Slow) -> [usize; 3] {
    // Two that measure with each other in 8 rounds.
    let [a, b] = RoundRobin::pairs(nodes, 1)[0];
    let mut random = xorshift();
    let mut counts = [0; 3];
    for _ in 0..fleets {
        let own: Vec<f64> = (0..nodes).map(|_| (between * normal(&mut random)).exp()).collect();
        let speed = |ends: [usize; 2]| {
            let planted = match slow {
                Slow::Node(by) if ends.contains(&0) => 1.0 - by,
                Slow::Link(by) if ends.contains(&a) && ends.contains(&b) => 1.0 - by,
                _ => 1.0,
            };
            let disturbed = if random() < 0.02 { 0.9 } else { 1.0 };
            let usual = own[ends[0]].min(own[ends[1]]) * planted;
            usual * disturbed * (0.01 * normal(&mut random)).exp()
        };
        let report = report(measured(nodes, 8, speed));
        let names = |state| report.nodes.iter().filter(move |n| n.state == state).map(|n| &n.name);
        let mut named: Vec<String> = names(NodeState::Slow).cloned().collect();
        let links = report.groups.iter().flat_map(|g| g.links.iter().map(move |link| (g, link)));
        named.extend(links.filter(|(_, link)| link.confirmed).map(|(group, link)| {
            let mut ends = link.nodes.map(|place| group.nodes[place].as_str());
            ends.sort_by_key(|name| name[1..].parse::<usize>().unwrap());
            ends.join("-")
        }));
        let planted = match slow {
            Slow::Nothing => String::new(),
            Slow::Node(_) => "n0".to_owned(),
            Slow::Link(_) => format!("n{}-n{}", a.min(b), a.max(b)),
        };
        let others = named.iter().any(|name| *name != planted);
        counts[0] += usize::from(named.contains(&planted));
        counts[1] += usize::from(others);
        counts[2] += usize::from(named.is_empty() && report.decision() != Decision::Met);
    }
    counts
}

#[test]
fn the_slow_part_is_found_and_nothing_else() {
    for nodes in [4, 8, 9] {
        let [_, alarms, doubted] = simulated(40, nodes, 0.003, Slow::Nothing);
        assert!(alarms + doubted <= 1, "{alarms} and {doubted} of 40 healthy fleets of {nodes}");
        for slow in [Slow::Node(0.2), Slow::Link(0.5)] {
            let [found, alarms, _] = simulated(20, nodes, 0.003, slow);
            assert!(found >= 18 && alarms <= 1, "{found} found of 20 of {nodes}, {alarms} others");
        }
    }
}

/// `cargo test --release -p proofmark-judge table_of_pairs -- --ignored --nocapture` prints it.
#[test]
#[ignore = "prints the table of docs/decisions/027-slow-links.md, and takes minutes"]
fn table_of_pairs() {
    println!(
        "found / something else called slow / nothing slow, but something unverified, in % of fleets"
    );
    for between in [0.003, 0.02, 0.05] {
        for (nodes, fleets) in [(4, 1000), (8, 1000), (32, 200)] {
            let of = |slow| {
                simulated(fleets, nodes, between, slow).map(|n| 100.0 * n as f64 / fleets as f64)
            };
            let cells = [
                ("none", Slow::Nothing),
                ("node 5 %", Slow::Node(0.05)),
                ("node 10 %", Slow::Node(0.1)),
                ("link 10 %", Slow::Link(0.1)),
                ("link 50 %", Slow::Link(0.5)),
            ]
            .map(|(name, slow)| {
                let [found, alarms, doubted] = of(slow);
                format!("{name} {found:5.1} / {alarms:4.1} / {doubted:4.1}")
            });
            println!("{:4.1} %  {nodes:3} nodes | {}", 100.0 * between, cells.join(" | "));
        }
    }
}
