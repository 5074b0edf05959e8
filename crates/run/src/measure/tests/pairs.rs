//! The order of pairs, what disturbs one side of them, and which figures they compare.

use proofmark_model::{First, Reference, Trial};

use super::*;

/// A configuration with this many pairs.
fn paired(values: Values, pairs: u32) -> Lab {
    Lab { points: vec![point("test.null", 1)], pairs: vec![(0, pairs)], ..Lab::new(values) }
}

/// The order in which the sides of the pairs ran: A is proofmark, B the tool.
fn order(lab: &Lab) -> String {
    let log = lab.script.log.borrow();
    let begun = log.iter().position(|act| *act == Act::Release).unwrap();
    let sides = log[begun..].iter().filter_map(|act| match act {
        Act::Take(_, Request::Trial) => Some('A'),
        Act::Tool(_) => Some('B'),
        _ => None,
    });
    sides.collect()
}

fn reference(run: &Run) -> &Reference {
    &run.measurements[0].references[0]
}

#[test]
fn eight_pairs_run_in_the_order_a_b_b_a() {
    let mut lab = paired(|_, _| Ok(100.0), 8);
    let run = lab.run();
    assert_eq!(order(&lab), "ABBAABBAABBAABBA");
    let first: Vec<First> = [First::Proofmark, First::Tool].repeat(4);
    assert_eq!((&reference(&run).first, reference(&run).paired.len()), (&first, 8));
    // The worker of a pair's trial is gone before the tool runs.
    let log = lab.script.log.borrow();
    let tools = log.iter().enumerate().filter(|(_, act)| matches!(act, Act::Tool(_)));
    for (at, _) in tools {
        assert!(matches!(log[at - 1], Act::Release | Act::Tool(_)), "{:?}", &log[at - 3..=at]);
    }
}

#[test]
fn the_last_of_an_odd_number_of_pairs_is_in_either_order_and_always_the_same() {
    let last = |threads: u64, place: usize| {
        let mut lab = Lab::new(|_, _| Ok(100.0));
        lab.points = (0..=place).map(|_| point("test.null", threads)).collect();
        lab.pairs = vec![(place, 3)];
        let run = lab.run();
        let first = run.measurements[place].references[0].first.clone();
        assert_eq!(first[..2], [First::Proofmark, First::Tool]);
        first[2]
    };
    let all: Vec<First> = (0..8).map(|place| last(1, place)).collect();
    assert!(all.contains(&First::Proofmark) && all.contains(&First::Tool), "{all:?}");
    assert_eq!(all, (0..8).map(|place| last(2, place)).collect::<Vec<_>>());
}

#[test]
fn a_run_that_is_stopped_between_the_sides_of_a_pair_keeps_neither() {
    let mut lab = paired(|_, _| Ok(100.0), 4);
    lab.runner.stop_at = Some(2);
    let run = lab.run();
    assert_eq!(order(&lab), "ABB");
    assert_eq!((reference(&run).trials.len(), reference(&run).paired.len()), (1, 1));
    assert!(found(&run.measurements[0], "reference.failed").is_none());
}

fn stolen(t: &mut Trial) {
    t.conditions.steal_s = Some(0.5 * t.seconds);
}

#[test]
fn a_thief_on_one_side_is_named_on_that_side() {
    const WHY: &str = "trials were disturbed: the hypervisor took 50.0 % of the trials' CPU time";
    let disagrees = |run: &Run| {
        let f = found(&run.measurements[0], "disagrees").expect("they disagree");
        (f.evidence["fake: causes"].clone(), f.message.clone())
    };
    let ids = |findings: &[proofmark_model::Finding]| -> Vec<String> {
        findings.iter().map(|f| f.check.to_string()).collect()
    };
    let mut lab = paired(|_, _| Ok(100.0), 8);
    lab.runner.spoil = stolen;
    let run = lab.run();
    let (causes, message) = disagrees(&run);
    assert_eq!(causes, "disturbed");
    assert!(message.contains(&format!("the tool's {WHY}")), "{message}");
    let r = reference(&run);
    assert_eq!((ids(&r.findings), ids(&r.paired_findings)), (vec!["steal".to_owned()], vec![]));

    // Only the pairs' trials of proofmark change: the first launch is that of the regular trials.
    let mut lab = paired(|_, _| Ok(40.0), 8);
    lab.script.spoil = |launch, t| {
        if launch > 1 {
            stolen(t);
        }
    };
    let run = lab.run();
    let (causes, message) = disagrees(&run);
    assert_eq!(causes, "disturbed");
    assert!(message.contains(&format!("proofmark's {WHY}")), "{message}");
    let r = reference(&run);
    assert_eq!((ids(&r.findings), ids(&r.paired_findings)), (vec![], vec!["steal".to_owned()]));
    assert_eq!(r.paired[0].conditions.steal_s, Some(0.5), "the conditions are kept");
    assert!(run.measurements[0].verdict.is_undoubted(), "its own trials were not disturbed");
}

#[test]
fn our_trial_of_a_pair_warms_up_unless_it_is_cut() {
    let warm = |workload: &str| {
        let mut lab = paired(|_, _| Ok(100.0), 2);
        lab.points[0].workload = workload.to_owned();
        lab.run();
        let log = lab.script.log.borrow();
        let of_pairs = log.iter().skip_while(|act| **act != Act::Release);
        of_pairs.filter(|act| matches!(act, Act::Take(_, Request::Warm))).count()
    };
    assert_eq!(["cpu.rounds", "memory.rounds", "test.null"].map(warm), [0, 0, 4]);
}
