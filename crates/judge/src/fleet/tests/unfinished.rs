//! Tests of fleets that lack rounds, and of results that most nodes doubt.

use proofmark_model::{NodeFinding, Severity, UnfinishedPass};

use super::missing::{healthy, without};
use super::*;

#[test]
fn a_fleet_that_was_stopped_is_not_complete() {
    let slow = |node: usize, line: &mut NodeRound| {
        if node == 5 {
            scale(&mut line.figures[0], [0.7; 2]);
        }
    };
    let at = |pass, rounds| Some(UnfinishedPass { pass, rounds, planned: ROUNDS });
    let (first, both) = (fleet(8, slow), passes(8, &BOTH, slow));
    let stopped = |lines: &[FleetLine], pass, rounds| {
        without(lines.to_vec(), |line| line.pass == pass && line.round > rounds)
    };
    for (name, lines, unfinished, words) in [
        ("first pass", stopped(&first, Pass::First, 7), at(Pass::First, 7), "no second pass yet"),
        ("before the second", first, at(Pass::Again, 0), "no second pass yet"),
        (
            "second pass",
            stopped(&both, Pass::Again, 6),
            at(Pass::Again, 6),
            "not confirmed, the second pass is not complete",
        ),
    ] {
        let report = report(lines);
        assert_eq!(report.unfinished, unfinished, "{name}");
        expect(&report, "n5", NodeState::Unverified, words);
    }
    assert_eq!(report(both.clone()).unfinished, None);
    // A node that was given up lacks its rounds for good.
    let mut gone = without(both, |line| line.node == "n1" && line.round > 3);
    gone.push(failure("n1", 4, "lost", true));
    assert_eq!(report(gone).unfinished, None);
    let mut level = healthy(8);
    level.push(FleetLine::NodesAgain(NodesAgain::default()));
    assert_eq!(report(level).unfinished, None);
}

#[test]
fn what_most_rounds_of_a_result_are_suspect_for_is_said() {
    let doubted = |few: bool| {
        fleet(4, move |node, line| {
            if !few || node == 0 {
                line.figures[1].findings.push(NodeFinding {
                    check: "in_cache".into(),
                    severity: Severity::Suspect,
                    message: "the data may come from the cache".into(),
                });
            }
        })
    };
    let all = report(doubted(false));
    let [suspect] = &all.groups[0].suspect[..] else { panic!("{:?}", all.groups[0].suspect) };
    assert_eq!(
        (&*suspect.title, &*suspect.check, suspect.rounds, suspect.of),
        ("Triad", "in_cache", 32, 32)
    );
    assert_eq!(report(doubted(true)).groups[0].suspect, [], "of one node");
}
