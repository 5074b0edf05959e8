//! A thousand nodes.

use std::time::Instant;

use super::*;

/// `cargo test --release -p proofmark-judge -- --ignored a_thousand_nodes --nocapture`
#[test]
#[ignore = "takes seconds and prints how many"]
fn a_thousand_nodes() {
    let mut random = xorshift();
    let mut lines = vec![FleetLine::Plan(Box::new(plan(1000)))];
    let start = Instant::now();
    let rounds = (1..=ROUNDS).flat_map(|number| (0..1000).map(move |node| (node, number)));
    let rounds = rounds.map(|(node, number)| {
        let mut line = round(node, Pass::First, number);
        line.figures = (0..40_u64)
            .map(|i| {
                let mut figure = figure(FIGURES[i as usize % 4]);
                figure.params = figure.params.with_named("size", i);
                let planted = if node == 77 && i == 5 { 0.95 } else { 1.0 };
                scale(&mut figure, [planted * (0.01 * normal(&mut random)).exp(); 2]);
                figure
            })
            .collect();
        FleetLine::Round(Box::new(line))
    });
    let report = fleet_report(lines.drain(..).chain(rounds)).unwrap();
    println!("lines made and judged in {:.1} s", start.elapsed().as_secs_f64());
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!("{}", status.lines().find(|l| l.starts_with("VmHWM")).unwrap_or("no VmHWM"));
    let start = Instant::now();
    let bytes = serde_json::to_string(&report).unwrap().len();
    println!("report of {bytes} B written in {:.1} s", start.elapsed().as_secs_f64());
    assert_eq!(report.count(NodeState::Unverified), 1, "slow, and not measured again");
    assert_eq!(report.nodes[0].name, "n77");
}
