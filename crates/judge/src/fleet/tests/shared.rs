//! Tests of what all nodes share, of facts that differ, and of figures that were changed in the file.

use proofmark_model::{Decision, NodeState};

use super::*;

const UNVERIFIED: NodeState = NodeState::Unverified;

/// Takes so much of a node's time.
fn take(line: &mut NodeRound, waiting: f64, throttled: f64) {
    let account = line.time_account.as_mut().unwrap();
    account.working_s = 10.0 * (1.0 - waiting - throttled);
    (account.waiting_s, account.throttled_s) = (10.0 * waiting, Some(10.0 * throttled));
}

#[test]
fn load_that_all_nodes_share_is_no_health() {
    let shared = report(fleet(8, |_, line| {
        take(line, 0.43, 0.0);
        let all = [("exe", 0.6), ("backup of /home", 0.3), ("kernel threads", 0.02)];
        line.programs = all.map(|(name, share)| program(name, share)).into();
        line.figures.iter_mut().for_each(|figure| figure.attainable = None);
        line.figures.iter_mut().for_each(|figure| scale(figure, [1.0, 0.57]));
    }));
    assert_eq!((shared.count(UNVERIFIED), shared.decision()), (8, Decision::Undecided));
    let why = &node(&shared, "n0").reasons[0];
    assert!(why.starts_with("most nodes lost 43.0 % or more of their threads' time"), "{why}");
    let named = "mostly used by other processes (CPU use: backup of /home 30.0 %): ";
    assert!(why.contains(named), "{why}");
    assert!(shared.nodes.iter().all(|n| !n.to_fix), "nothing is wrong with a node");
    // Load of half of the nodes, or little of it, leaves the others comparable; a quota is no load.
    for (nodes, waiting, throttled) in
        [(3, 0.43, 0.0), (4, 0.43, 0.0), (8, 0.02, 0.0), (8, 0.0, 0.4)]
    {
        let report = report(fleet(8, |node, line| {
            if node < nodes {
                take(line, waiting, throttled);
            }
        }));
        assert_eq!(report.count(NodeState::Healthy), 8, "{nodes} {waiting} {throttled}");
    }
    // More than half is most.
    let most = report(fleet(8, |node, line| take(line, if node < 5 { 0.43 } else { 0.0 }, 0.0)));
    assert_eq!(most.count(UNVERIFIED), 8);
    let why = &node(&most, "n7").reasons[0];
    assert!(why.starts_with("most nodes lost 43.0 % or more of their threads' time"), "{why}");
}

#[test]
fn a_figure_above_its_own_ceiling_is_invalid_and_moves_no_group() {
    let edited = |margin: Option<f64>, by: f64| {
        report(fleet(5, move |node, line| {
            for figure in &mut line.figures {
                figure.ceiling_margin = margin;
                figure.ceiling = figure
                    .ceiling
                    .map(|c| c * if figure.better == Better::Higher { 1.2 } else { 0.8 });
                if node == 2 {
                    scale(figure, [by; 2]);
                }
            }
        }))
    };
    for margin in [Some(0.05), None] {
        let found = edited(margin, 3.0);
        let why = node(&found, "n2").reasons.join("; ");
        assert_eq!(node(&found, "n2").state, UNVERIFIED, "{why}");
        assert!(why.contains("invalid: the result is "), "{why}");
        let flops = &found.groups[0].figures[0];
        let whole = &edited(margin, 1.0).groups[0].figures[0];
        let share = flops.median.unwrap() / whole.median.unwrap();
        assert!((share - 1.0).abs() < 0.01, "it is no member of the group: {share}");
        assert_eq!(found.count(NodeState::Healthy), 4);
    }
    // A limit that allows bursts.
    assert_eq!(edited(Some(1e6), 3.0).count(NodeState::Healthy), 5);
}

#[test]
fn facts_in_which_nodes_differ_are_listed() {
    let report = report(fleet(6, |node, line| {
        line.facts.push(fact(
            "governor",
            if node < 2 { "powersave" } else { "performance" },
            false,
        ));
        line.facts.push(fact("disk", &format!("sd{node}"), false));
        if node == 3 {
            line.facts[3] = fact("CPU quota", "0.6 CPUs", false);
        }
        if node != 4 {
            line.facts.push(fact("firmware", "2.1", false));
        }
    }));
    let all = &report.groups[0].differing;
    let words = all.iter().map(|fact| {
        let others = fact.others.iter().map(|one| format!("{} {}", one.value, one.nodes.join("+")));
        let usual = fact.usual.as_deref().unwrap_or("-");
        format!("{}: {usual}; {}", fact.what, others.collect::<Vec<_>>().join(", "))
    });
    assert_eq!(
        words.collect::<Vec<_>>(),
        [
            "CPU quota: none; 0.6 CPUs n3",
            "governor: performance; powersave n0+n1",
            "disk: -; sd0 n0, sd1 n1, sd2 n2, sd3 n3, sd4 n4, sd5 n5",
            "firmware: 2.1; not reported n4",
        ]
    );
    assert_eq!(report.count(NodeState::Healthy), 6, "a fact alone is no fault");
}

#[test]
fn every_value_of_a_fact_that_differs_is_kept() {
    let report = report(fleet(40, |node, line| {
        let own = if node < 21 { "sda".to_owned() } else { format!("sd{node}") };
        line.facts.push(fact("disk", &own, false));
    }));
    let [disk] = report.groups[0].differing.as_slice() else {
        panic!("{:?}", report.groups[0].differing)
    };
    assert_eq!((disk.usual.as_deref(), disk.others.len()), (Some("sda"), 19));
    assert!(disk.others.iter().all(|one| one.nodes.len() == 1));
}
