//! Tests of the start of fake nodes, and of nodes that are asked again.

use std::collections::BTreeSet;

use super::*;

#[test]
fn two_names_of_one_machine_are_told_before_it_is_measured() {
    let mut launcher = FakeNodes::new(well);
    launcher.boot_ids = true;
    launcher.hello = Some(Answer::hello("n3", tool("1"), Some("boot of n1".to_owned())));
    let lines = measured(&mut launcher, &[]);
    let [("n3", 1, reason, true)] = failures(&lines)[..] else { panic!("{lines:?}") };
    assert_eq!(reason, "it is the same machine as n1: both names lead to one kernel");
    assert!(launcher.orders.iter().all(|(_, _, node)| node != "n3"));
}

#[test]
fn of_two_names_the_first_in_the_plan_stays_whichever_answers_first() {
    let mut launcher = FakeNodes::new(well);
    (launcher.boot_ids, launcher.twins) = (true, true);
    let lines = measured(&mut launcher, &[]);
    let expected = "it is the same machine as n1: both names lead to one kernel";
    assert_eq!(failures(&lines), [("n2", 1, expected, true)]);
    assert!(launcher.orders.iter().all(|(_, _, node)| node != "n2"));
    assert_eq!(results(&lines, Pass::First), 4);
}

#[test]
fn a_fleet_of_which_too_few_nodes_are_left_says_so_before_its_first_round() {
    let too_few = |nodes: &[&str], twins: bool, before: Vec<FleetLine>| {
        let mut launcher = FakeNodes::new(well);
        launcher.nodes = nodes.iter().map(|node| (*node).to_owned()).collect();
        (launcher.boot_ids, launcher.twins, launcher.hello) = (true, twins, None);
        resumed(&mut launcher, &[], None, before);
        let is_round = |line: &String| line.starts_with('[');
        let ahead = launcher.printed.iter().take_while(|line| !is_round(line));
        ahead.filter(|line| line.contains("can be measured")).cloned().collect::<Vec<_>>()
    };
    let words = |left: &str| {
        format!(
            "only {left} of 4 nodes can be measured; comparing needs 4, so no node will be judged \
             (Ctrl-C stops)"
        )
    };
    assert_eq!(too_few(&["n1", "n2", "n4", "n5"], true, Vec::new()), [words("1")]);
    assert_eq!(too_few(&["n1", "n2", "n4", "n3"], false, Vec::new()), [words("3")]);
    // A smaller fleet was never to be compared.
    assert_eq!(too_few(&["n1", "n2", "n3"], false, Vec::new()), [""; 0]);
    // A node with results from before counts.
    let before = vec![FleetLine::Round(Box::new(result("n3", Pass::First, 1)))];
    assert_eq!(too_few(&["n1", "n2", "n4", "n3"], false, before), [""; 0]);
}

#[test]
fn a_fleet_that_is_too_small_to_compare_announces_that_and_no_second_pass() {
    let printed = |nodes: &[&str]| {
        let mut launcher = FakeNodes::new(well);
        launcher.nodes = nodes.iter().map(|node| (*node).to_owned()).collect();
        measured(&mut launcher, &[]);
        launcher.printed
    };
    let small = printed(&["n1", "n2", "n3"]);
    let said = "3 nodes: measured, not compared with each other; comparing needs 4";
    assert!(small.iter().any(|line| line == said), "{small:?}");
    let announces = |lines: &[String]| lines.iter().any(|line| line.contains("a second pass"));
    assert!(!announces(&small) && announces(&printed(&["n1", "n2", "n4", "n5"])), "{small:?}");
}

#[test]
fn a_stopped_repetition_goes_on_with_the_rounds_that_it_lacks() {
    let before = measured(&mut FakeNodes::new(well), &["n1", "n3"]);
    let whole = resumed_for(&mut FakeNodes::new(well), &["n1", "n3"], None, (before, &["n3"]));
    let again = whole.iter().position(|l| matches!(l, FleetLine::MeasureAgain(_))).unwrap();
    for kept in again + 1..whole.len() {
        let mut launcher = FakeNodes::new(well);
        let lines = resumed(&mut launcher, &["n1", "n3"], None, whole[..kept].to_vec());
        let (old, new) = lines.split_at(again);
        assert_eq!((results(old, Pass::First), results(old, Pass::Again)), (6, 4));
        // Its own first pass, and the second one of all, which it begins anew. A round that was cut
        // short is measured again.
        let of = |pass: Pass| {
            let rounds = new.iter().filter_map(|line| match line {
                FleetLine::Round(r) if r.pass == pass => Some((r.round, r.node.clone())),
                _ => None,
            });
            rounds.collect::<BTreeSet<_>>().len()
        };
        assert_eq!((of(Pass::First), of(Pass::Again)), (2, 4), "{kept}");
        assert!(results(new, Pass::Again) <= 5, "{kept}");
        assert!(launcher.orders.iter().all(|(pass, _, node)| *pass == Pass::Again || node == "n3"));
    }
}

#[test]
fn a_repaired_node_is_asked_again_alone() {
    fn dies(node: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        if round == 1 { well(node, pass, round) } else { Vec::new() }
    }
    let before = measured(&mut FakeNodes::new(dies), &[]);
    assert_eq!(results(&before, Pass::First), 5);
    let mut launcher = FakeNodes::new(well);
    let lines = resumed_for(&mut launcher, &["n1", "n3"], None, (before, &["n3"]));
    let orders = |pass: Pass| {
        let all = launcher.orders.iter().filter(move |(of, ..)| *of == pass);
        let mut all: Vec<_> = all.map(|(_, round, node)| format!("{round} {node}")).collect();
        all.sort();
        all
    };
    assert_eq!(orders(Pass::First), ["1 n3", "2 n3"]);
    // Its results decide anew who is measured in the second pass.
    assert_eq!(orders(Pass::Again), ["1 n1", "1 n3", "2 n1", "2 n3"]);
    assert_eq!(results(&lines, Pass::First), 7);
    // Another node that has nothing to do keeps its results.
    let mut launcher = FakeNodes::new(well);
    launcher.hello = None;
    let whole = measured(&mut FakeNodes::new(well), &[]);
    let lines = resumed_for(&mut launcher, &[], None, (whole, &["n1"]));
    assert_eq!(failures(&lines), []);
}

#[test]
fn a_copy_under_way_counts_as_progress() {
    let mut launcher = FakeNodes::new(well);
    launcher.hello = None;
    launcher.copies = Some(3);
    let lines = measured(&mut launcher, &[]);
    let [("n3", 1, reason, true)] = failures(&lines)[..] else { panic!("{lines:?}") };
    let expected = "the copy of the program stopped at 3 of 23 MiB for 0 s (--start-limit)";
    assert_eq!(reason, expected);
    let mut launcher = FakeNodes::new(well);
    launcher.copies = Some(23);
    launcher.late_hello = launcher.hello.take();
    let lines = measured(&mut launcher, &[]);
    assert_eq!(failures(&lines), [], "it started after the limit, which its copy moved");
}

#[test]
fn a_node_that_does_not_start_comes_with_what_it_printed() {
    let mut launcher = FakeNodes::new(well);
    launcher.hello = None;
    launcher.banner = Some("Welcome to\x1b[31m rack 7");
    let lines = measured(&mut launcher, &[]);
    let [("n3", 1, reason, true)] = failures(&lines)[..] else { panic!("{lines:?}") };
    assert!(reason.contains("it did not start within 0 s"), "{reason}");
    assert!(reason.contains("its start files printed: Welcome to") && !reason.contains('\x1b'));
}

#[test]
fn the_second_pass_after_a_repaired_node_is_expected_to_take_all_nodes() {
    assert_eq!([1, 4, 5].map(|nodes| turns(nodes, Some(2))), [1, 2, 3]);
    assert_eq!([0, 4].map(|nodes| turns(nodes, None)), [1, 1]);
    let plan = FleetPlan { at_once: Some(1), ..plan(&["n1", "n2", "n3"].map(str::to_owned)) };
    let repaired = vec!["n3".to_owned()];
    assert_eq!(second_pass_s(&plan, 10.0, &repaired), 60.0, "2 rounds of 3 nodes in turn");
    assert_eq!(second_pass_s(&plan, 30.0, &plan.nodes), 60.0);
    let plan = FleetPlan { at_once: None, ..plan };
    assert_eq!(second_pass_s(&plan, 10.0, &repaired), 20.0);
}
