//! Tests of nodes that answer, and of those that do not or answer otherwise.

use super::*;

#[test]
fn all_nodes_answer_in_all_rounds_and_some_again() {
    let mut launcher = FakeNodes::new(well);
    let lines = measured(&mut launcher, &["n2", "n3"]);
    assert_eq!((results(&lines, Pass::First), results(&lines, Pass::Again)), (6, 4));
    assert_eq!(failures(&lines), []);
    assert!(launcher.ended.is_empty());
}

#[test]
fn the_second_pass_goes_on_with_the_nodes_that_it_began_with() {
    let all = measured(&mut FakeNodes::new(well), &["n2"]);
    let begun = all.iter().position(|l| matches!(l, FleetLine::NodesAgain(_))).unwrap();
    for kept in begun + 1..all.len() {
        let mut launcher = FakeNodes::new(well);
        // From here on the file's lines are of other nodes.
        let lines = resumed(&mut launcher, &["n1", "n3"], None, all[..kept].to_vec());
        assert_eq!((results(&lines, Pass::First), results(&lines, Pass::Again)), (6, 2));
        assert!(launcher.orders.iter().all(|(.., node)| node == "n2"), "{:?}", launcher.orders);
    }
}

#[test]
fn a_node_that_answers_no_more_costs_no_other_node_a_round() {
    fn silent(node: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        if round == 2 { Vec::new() } else { well(node, pass, round) }
    }
    let mut launcher = FakeNodes::new(silent);
    let lines = measured(&mut launcher, &["n2", "n3"]);
    assert_eq!(failures(&lines), [("n3", 2, "no answer within 0 s", true)]);
    assert_eq!((results(&lines, Pass::First), results(&lines, Pass::Again)), (5, 2));
    assert_eq!(launcher.ended, ["n3"]);
    let asked =
        launcher.orders.iter().filter(|(pass, _, node)| *pass == Pass::Again && node == "n3");
    assert_eq!(asked.count(), 0, "it is asked no more");
}

#[test]
fn a_hostile_node_is_named_with_what_it_did() {
    fn garbage(_: &str, _: Pass, _: u32) -> Vec<Vec<u8>> {
        vec![b"\x1b[2Jowned".to_vec()]
    }
    fn other(_: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        well("n1", pass, round)
    }
    fn endless(_: &str, _: Pass, _: u32) -> Vec<Vec<u8>> {
        vec![[b"+".as_slice(), &[b'9'; 4000]].concat(); 1100]
    }
    fn infinite(node: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        let mut result = result(node, pass, round);
        result.figures.push(figure(1e200));
        lines(&Answer::Round(Box::new(result)))
    }
    fn negative(node: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        let mut result = result(node, pass, round);
        result.figures.push(figure(-1.0));
        lines(&Answer::Round(Box::new(result)))
    }
    for (peculiar, expected) in [
        (garbage as Answers, "its answer is not proofmark's: "),
        (other, "it reported another name, 'n1'"),
        (endless, "its answer is longer than 4 MiB"),
        (infinite, "it sent an impossible value of cpu.flops: 1e200"),
        (negative, "it sent an impossible value of cpu.flops: -1e0"),
    ] {
        let mut launcher = FakeNodes::new(peculiar);
        let lines = measured(&mut launcher, &[]);
        let [("n3", 1, reason, true)] = failures(&lines)[..] else { panic!("{lines:?}") };
        assert!(reason.starts_with(expected) && !reason.contains('\u{1b}'), "{reason:?}");
        assert_eq!(results(&lines, Pass::First), 4);
    }
}

/// Reason of a node that sends no hello.
const NOT_STARTED: &str = "it did not start within 0 s (--start-limit): its login takes longer, or a \
                           start file waits for input";

#[test]
fn the_wait_for_a_node_that_was_lost_is_no_time_of_the_rounds_left() {
    fn silent(_: &str, _: Pass, _: u32) -> Vec<Vec<u8>> {
        Vec::new()
    }
    let mut launcher = FakeNodes::new(silent);
    launcher.limit = Duration::from_millis(2300);
    let lines = measured(&mut launcher, &[]);
    assert_eq!(failures(&lines).len(), 1);
    let first = launcher.printed.iter().find(|line| line.starts_with("[1/2]")).unwrap();
    assert!(first.contains("about 1 s left"), "{first}");
}

#[test]
fn a_node_of_another_program_or_without_one_is_not_asked() {
    let mut launcher = FakeNodes::new(well);
    launcher.hello = Some(Answer::hello("n3", tool("2"), None));
    let lines = measured(&mut launcher, &[]);
    let expected = "it has proofmark 2 (of no commit), the launcher 1 (of no commit)";
    assert_eq!(failures(&lines), [("n3", 1, expected, true)]);
    assert!(launcher.orders.iter().all(|(_, _, node)| node != "n3"));
    let mut launcher = FakeNodes::new(well);
    launcher.hello = None;
    let lines = measured(&mut launcher, &[]);
    assert_eq!(failures(&lines), [("n3", 1, NOT_STARTED, true)]);
}

#[test]
fn a_round_that_failed_is_no_reason_to_give_up_a_node() {
    fn fails_once(node: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        let reason = "the worker was killed by signal 9".to_owned();
        let failed = Answer::Failed { pass, round, reason };
        if round == 1 { lines(&failed) } else { well(node, pass, round) }
    }
    let mut launcher = FakeNodes::new(fails_once);
    let lines = measured(&mut launcher, &[]);
    assert_eq!(failures(&lines), [("n3", 1, "the worker was killed by signal 9", false)]);
    assert_eq!(results(&lines, Pass::First), 5);
}

#[test]
fn a_node_that_answers_a_round_twice_is_asked_no_more() {
    fn twice(node: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        [well(node, pass, round), well(node, pass, round)].concat()
    }
    let mut launcher = FakeNodes::new(twice);
    // The last node is asked first, so that the others answer after it.
    launcher.nodes.rotate_left(1);
    let lines = measured(&mut launcher, &[]);
    assert_eq!(failures(&lines), [("n3", 1, "it sent an answer that no order asked for", true)]);
    assert_eq!(results(&lines, Pass::First), 5);
}

#[test]
fn nodes_take_turns_with_others_in_each_round() {
    let nodes: Vec<String> = (1..=5).map(|n| format!("n{n}")).collect();
    let split = |at_once, round| batches(nodes.clone(), at_once, round);
    assert_eq!(split(None, 1).len(), 1);
    for round in 1..=8 {
        let all = split(Some(2), round);
        assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
        let mut named = all.concat();
        named.sort();
        assert_eq!(named, nodes);
    }
    assert_eq!(split(Some(4), 1).iter().map(Vec::len).collect::<Vec<_>>(), [3, 2], "no node alone");
    assert_ne!(split(Some(2), 1)[0], split(Some(2), 3)[0], "others at the same time");
}

#[test]
fn a_node_that_floods_the_launcher_stops_no_round() {
    fn flood(node: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        (0..100).flat_map(|_| well(node, pass, round + 9)).collect()
    }
    let found = measured(&mut FakeNodes::new(flood), &[]);
    assert_eq!(failures(&found), [("n3", 1, "it sent an answer that no order asked for", true)]);
    fn hello_again(_: &str, _: Pass, _: u32) -> Vec<Vec<u8>> {
        lines(&Answer::hello("n3", tool("1"), None))
    }
    let found = measured(&mut FakeNodes::new(hello_again), &[]);
    assert_eq!(failures(&found), [("n3", 1, "it sent a second hello", true)]);
}
