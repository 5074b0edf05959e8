//! Tests that a missing result never counts as healthy.

use proofmark_model::{
    Decision, NodeFinding, NodeState, Param, Params, Reliance, Severity, StripOutcome, key,
};

use super::*;

const UNVERIFIED: NodeState = NodeState::Unverified;

pub(super) fn without(lines: Vec<FleetLine>, gone: impl Fn(&NodeRound) -> bool) -> Vec<FleetLine> {
    let keep = |line: &FleetLine| !matches!(line, FleetLine::Round(line) if gone(line));
    lines.into_iter().filter(keep).collect()
}

pub(super) fn healthy(nodes: usize) -> Vec<FleetLine> {
    fleet(nodes, |_, _| {})
}

#[test]
fn a_node_that_never_answers() {
    let lines = without(healthy(8), |line| line.node == "n7");
    expect(&report(lines.clone()), "n7", UNVERIFIED, "it sent neither a result nor an error");
    assert_eq!(node(&report(lines), "n7").group, None);
}

#[test]
fn a_node_that_fails() {
    let mut lines = without(healthy(8), |line| line.node == "n1" && line.round > 2);
    for (number, gone) in [(3, false), (4, true)] {
        lines.push(failure("n1", number, "timed out after 60 s", gone));
    }
    let report = report(lines);
    expect(&report, "n1", UNVERIFIED, "timed out after 60 s (round 4); it was not asked again");
    expect(&report, "n1", UNVERIFIED, "has 2 usable rounds of 8, 7 are needed");
    // One failure is enough, even if the other seven rounds are there.
    let mut lines = healthy(8);
    lines.push(failure("n1", 3, "lost", false));
    expect(&super::report(lines), "n1", UNVERIFIED, "lost (round 3)");
}

#[test]
fn a_failure_that_was_made_good_is_forgotten() {
    let mut lines = healthy(8);
    lines.insert(1, failure("n1", 3, "lost", false));
    assert_eq!(report(lines).count(NodeState::Healthy), 8);
}

#[test]
fn two_names_of_one_machine() {
    let twice = |node: usize, line: &mut NodeRound| {
        if node == 4 {
            line.boot_id = Some("boot of n3".into());
        }
    };
    let mut lines = fleet(8, twice);
    let all = report(lines.clone());
    let text = |name: &str| node(&all, name).reasons.join("; ");
    assert_eq!(text("n3"), "it is the same machine as n4: both names lead to one kernel");
    assert_eq!(text("n4"), "it is the same machine as n3: both names lead to one kernel");
    assert_eq!(all.count(NodeState::Healthy), 6);
    // On a testbed they may be.
    let FleetLine::Plan(plan) = &mut lines[0] else { panic!() };
    plan.testbed = Some("network namespaces".into());
    assert_eq!(report(lines).count(NodeState::Healthy), 8);
    let unknown = report(fleet(8, |_, line| line.boot_id = None));
    assert_eq!(unknown.count(NodeState::Healthy), 8);
}

#[test]
fn a_workload_that_each_node_measures_in_another_size_is_not_left_out() {
    let sized = |from: usize| {
        report(fleet(8, |node, line| {
            let size = 1000 + node.max(from) as u64;
            line.figures[1].params = Params::default().with(key::ARRAY_SIZE, size);
        }))
    };
    for text in sized(0).nodes {
        assert_eq!(text.state, UNVERIFIED);
        assert!(text.reasons[0].starts_with("nodes measured Triad with different parameters"));
    }
    // Most nodes have the same size.
    let most = sized(6);
    assert_eq!(most.count(NodeState::Healthy), 7);
    expect(&most, "n7", UNVERIFIED, "Triad (attainable) has 0 usable rounds of 8");
}

#[test]
fn another_program() {
    let other = report(fleet(8, |node, line| {
        if node == 4 {
            line.tool.commit = Some("bad".into());
        }
    }));
    expect(&other, "n4", UNVERIFIED, "it has proofmark 0.2.0 (bad), the launcher 0.2.0 (c0ffee)");
    let other = report(fleet(8, |node, line| {
        if node == 4 {
            line.tool.version = "0.1.9".into();
        }
    }));
    expect(&other, "n4", UNVERIFIED, "it has proofmark 0.1.9");
}

#[test]
fn another_method() {
    let other = report(fleet(8, |node, line| {
        if node == 0 {
            line.figures[1].method = 2;
        }
    }));
    expect(&other, "n0", UNVERIFIED, "measures memory.triad by method 2, its group by method 1");
    assert!(other.groups[0].figures.iter().all(|f| f.strips.len() == 8));
}

#[test]
fn another_kind_of_node() {
    let odd = |what: &'static str, value: &'static str| {
        report(fleet(8, move |node, line| {
            if node == 6 {
                line.facts
                    .iter_mut()
                    .filter(|f| f.what == what)
                    .for_each(|f| f.value = value.into());
            }
        }))
    };
    let fewer = odd("usable CPUs", "1");
    expect(&fewer, "n6", UNVERIFIED, "1 usable CPU, the largest group has 2");
    assert!(fewer.groups[0].comparable && !fewer.groups[1].comparable);
    assert_eq!(fewer.groups[1].differences[0].what, "usable CPUs");
    let words = "instruction sets without avx512f, unlike the largest group";
    expect(&odd("instruction sets", "avx2 fma"), "n6", UNVERIFIED, words);
    // A quota is a fault, not another kind.
    assert_eq!(odd("CPU quota", "1 CPU").groups.len(), 1);
}

#[test]
fn two_kinds_of_which_each_has_enough() {
    let report = report(fleet(12, |node, line| {
        if node >= 7 {
            line.facts[0].value = "Xeon".into();
            line.figures.iter_mut().for_each(|f| scale(f, [0.5; 2]));
        }
    }));
    assert_eq!(report.count(NodeState::Healthy), 12);
    assert_eq!(report.groups.iter().map(|g| g.nodes.len()).collect::<Vec<_>>(), [7, 5]);
}

#[test]
fn the_share_of_a_ceiling_is_that_of_the_figure_that_has_it() {
    let few = report(fleet(3, |_, line| {
        let triad = &mut line.figures[1];
        triad.headline = FigureKind::Typical;
        (triad.ceiling, triad.delivered, triad.efficiency) = (Some(4e10), Some(2e10), Some(0.6));
        let latency = &mut line.figures[2];
        latency.headline = FigureKind::Typical;
        (latency.ceiling, latency.delivered) = (Some(9e-9), Some(9e-8));
        // Its ceiling is too vague for a share.
        line.figures[3].headline = FigureKind::Typical;
        line.figures[3].efficiency = None;
    }));
    let share = |workload: &str, kind: FigureKind| {
        let mut all = few.groups[0].figures.iter().filter(|f| f.workload == workload);
        all.find(|f| f.kind == kind).unwrap().strips[0].of_ceiling
    };
    assert_eq!(share("memory.triad", FigureKind::Delivered), Some(0.5));
    assert_eq!(share("memory.latency", FigureKind::Delivered), Some(0.1));
    assert_eq!(share("disk.rand_read", FigureKind::Delivered), None);
    assert_eq!(share("cpu.flops", FigureKind::Attainable), Some(0.98));
    assert!(node(&few, "n0").reasons[0].ends_with("is 10.0 %, at Memory latency, delivered"));
}

#[test]
fn a_share_of_a_doubtful_ceiling_is_named_so() {
    let few = report(fleet(3, |_, line| {
        let triad = &mut line.figures[1];
        (triad.efficiency, triad.reliance) = (Some(0.055), Reliance::Assumed);
    }));
    let words = &node(&few, "n0").reasons[0];
    assert!(
        words.ends_with("share of a ceiling (assumed) is 5.5 %, at Triad, attainable"),
        "{words}"
    );
}

#[test]
fn three_nodes_are_not_compared() {
    let slow = |node: usize, line: &mut NodeRound| {
        if node == 0 {
            scale(&mut line.figures[0], [0.5; 2]);
            line.figures[0].efficiency = Some(0.49);
        }
    };
    let few = report(fleet(3, slow));
    assert_eq!((few.count(NodeState::NotCompared), few.decision()), (3, Decision::Met));
    let words = "a fleet of 3 nodes cannot be compared; its least share of a ceiling is 49.0 %, at \
                 Multiply-add, attainable";
    assert_eq!(node(&few, "n0").reasons, [words]);
    let outcomes = few.groups[0].figures.iter().flat_map(|f| &f.strips).map(|s| s.outcome);
    assert!(outcomes.into_iter().all(|o| o == StripOutcome::NotJudged));
    assert!(few.groups[0].figures.iter().all(|f| f.margin.is_none()));
    // Invalid and missing results are found without other nodes.
    let invalid = report(fleet(3, |node, line| {
        if node == 0 {
            line.figures[0].verdict = Verdict::Invalid;
        }
    }));
    assert_eq!(node(&invalid, "n0").state, UNVERIFIED);
}

#[test]
fn invalid_results_do_not_count() {
    let report = report(fleet(8, |node, line| {
        if node == 2 && line.round > 6 {
            line.figures[1].verdict = Verdict::Invalid;
            line.figures[1].findings = vec![NodeFinding {
                check: "page_cache".into(),
                severity: Severity::Invalid,
                message: "The page cache served 90 %.".into(),
            }];
        }
    }));
    let words = "Triad (attainable) has 6 usable rounds of 8, 7 are needed: \
                 invalid: The page cache served 90 %.";
    expect(&report, "n2", UNVERIFIED, words);
}

#[test]
fn seven_rounds_are_enough_and_suspect_ones_count() {
    let lines = fleet(8, |_, line| line.figures[0].verdict = Verdict::Suspect);
    let lines = without(lines, |line| line.node == "n3" && line.round == 5);
    assert_eq!(report(lines.clone()).count(NodeState::Healthy), 8);
    let lines = without(lines, |line| line.node == "n3" && line.round == 6);
    expect(&report(lines), "n3", UNVERIFIED, "has 6 usable rounds of 8");
}

#[test]
fn a_figure_that_most_have_is_required() {
    let lack = |nodes: usize| {
        report(fleet(9, move |node, line| {
            if node < nodes {
                (line.figures[3].attainable, line.figures[3].delivered) = (None, None);
                line.figures[3].missing = Some("no room on the disk".into());
            }
        }))
    };
    expect(&lack(1), "n0", UNVERIFIED, "no room on the disk");
    assert_eq!(lack(4).count(UNVERIFIED), 4);
    // If most nodes cannot measure it, it is not required.
    assert_eq!(lack(5).count(NodeState::Healthy), 9);
}

#[test]
fn facts_that_change_are_reported() {
    let report = report(fleet(8, |node, line| {
        if node == 1 && line.round == 5 {
            line.facts[3].value = "1 CPU".into();
        }
    }));
    let words = "it changed between rounds: CPU quota: none in round 1, 1 CPU in round 5";
    expect(&report, "n1", UNVERIFIED, words);
}

#[test]
fn hostile_lines_do_not_count() {
    let hostile = |spoil: fn(&mut NodeRound)| {
        report(fleet(8, move |node, line| {
            if node == 7 {
                spoil(line);
            }
        }))
    };
    let number = hostile(|line| line.figures[0].delivered = Some(-1.0));
    expect(&number, "n7", UNVERIFIED, "an impossible value of cpu.flops");
    let number = hostile(|line| line.figures[0].attainable = Some(1e300));
    expect(&number, "n7", UNVERIFIED, "an impossible value of cpu.flops: 1e300");
    let many = hostile(|line| line.figures = vec![figure(FIGURES[0]); 5000]);
    expect(&many, "n7", UNVERIFIED, "more than 1000 results");
    let steers = hostile(|line| {
        let word = Param::Text("\u{1b}[2J".into());
        line.figures[0].params.0.insert("isa".into(), word);
    });
    expect(&steers, "n7", UNVERIFIED, "a name or parameters that no workload has");
    let title = hostile(|line| line.figures[0].title = "\u{1b}[2Jred".into());
    assert_eq!(title.groups[0].figures[0].title, "Multiply-add");
    let empty = hostile(|line| line.figures.clear());
    expect(&empty, "n7", UNVERIFIED, "has 0 usable rounds of 8");
}

#[test]
fn a_fleet_in_which_nothing_is_measured_fails() {
    let report = report(fleet(8, |_, line| line.figures.clear()));
    assert_eq!(report.count(UNVERIFIED), 8);
    assert!(report.decision() == Decision::Undecided);
    assert!(node(&report, "n0").reasons[0].contains("no result that counts"));
}

#[test]
fn lost_rounds_of_a_healthy_node_are_reported() {
    let killed = fleet(8, |node, line| {
        if (node, line.round) == (3, 5) {
            let figure = &mut line.figures[1];
            (figure.attainable, figure.delivered) = (None, None);
            figure.missing = Some("the worker was ended by SIGKILL".into());
        }
        // A result that no node has is not reported.
        line.figures[0].missing = Some("not supported".into());
        (line.figures[0].attainable, line.figures[0].delivered) = (None, None);
    });
    let report = report(killed);
    assert_eq!(report.count(NodeState::Healthy), 8);
    let expected = "1 of 8 rounds at Triad does not count: the worker was ended by SIGKILL";
    assert_eq!(node(&report, "n3").notes, [expected]);
    assert!(report.nodes.iter().filter(|n| n.name != "n3").all(|n| n.notes.is_empty()));
}

#[test]
fn a_result_that_one_of_four_nodes_lacks_is_compared_between_the_others() {
    let lacking = |slow: f64| {
        report(passes(4, &BOTH, move |node, line| {
            if node == 1 {
                scale(&mut line.figures[1], [slow; 2]);
            }
            if node == 2 {
                let figure = &mut line.figures[1];
                (figure.attainable, figure.delivered) = (None, None);
                figure.missing = Some("cannot start thread 0: the limit of 6 processes".into());
            }
        }))
    };
    let found = lacking(1.0);
    expect(&found, "n2", UNVERIFIED, "cannot start thread 0: the limit of 6 processes");
    assert_eq!(found.groups[0].not_judged, None, "most nodes have it");
    let triad = found.groups[0].figures.iter().find(|f| f.title == "Triad").unwrap();
    assert!(triad.median.is_some() && triad.judged, "{triad:?}");
    assert_eq!(node(&lacking(0.4), "n1").state, NodeState::Slow, "{:?}", lacking(0.4).nodes);
}

#[test]
fn what_a_quota_left_out_is_said_and_the_others_are_healthy() {
    let left_out = "under the CPU quota (0.5 CPUs in periods of 100.0 ms) the plan would take 13 s of 12 s; left \
                    out: disk.rand_read, memory.latency";
    let found = report(fleet(4, |node, line| {
        if node == 3 {
            line.figures.truncate(1);
            set_quota(line, Some(0.5));
            line.left_out = Some(left_out.into());
        }
    }));
    expect(&found, "n3", UNVERIFIED, left_out);
    let own = node(&found, "n3");
    assert_eq!(own.reasons[0], "CPU quota of 0.5 CPUs", "the cause first: {:?}", own.reasons);
    assert!(own.to_fix && found.nodes.iter().filter(|n| n.to_fix).count() == 1);
    let disk = found.groups[0].figures.iter().filter(|f| f.title == "Random read");
    assert!(disk.clone().count() == 2 && disk.into_iter().all(|f| f.judged), "compared without it");
}

#[test]
fn half_of_four_nodes_are_too_few_to_compare() {
    let found = report(fleet(4, |node, line| {
        let figure = &mut line.figures[1];
        match node {
            0 | 1 => figure.attainable = None,
            _ => figure.delivered = None,
        }
    }));
    assert_eq!(found.count(UNVERIFIED), 4);
    let reason = &node(&found, "n0").reasons[0];
    assert!(reason.starts_with("only 2 nodes have a value of Triad"), "{reason}");
    assert!(reason.contains("and comparing needs 3: "), "{reason}");
}

#[test]
fn a_figure_that_some_nodes_lack_is_named_by_its_kind() {
    let report = report(fleet(5, |node, line| {
        let figure = &mut line.figures[1];
        if node < 2 {
            figure.attainable = None;
        } else if node < 4 {
            figure.delivered = None;
        }
    }));
    let why = &node(&report, "n0").reasons[0];
    let expected =
        "only 3 nodes have a value of Triad (delivered), and comparing needs 4: n2 and n3 lack it";
    assert_eq!(why, expected);
}

#[test]
fn a_figure_of_half_of_many_nodes_is_not_said_to_lack_nodes() {
    // Each half of the nodes has another figure of the same result.
    let report = report(fleet(10, |node, line| {
        let figure = &mut line.figures[1];
        if node < 5 {
            figure.attainable = None;
        } else {
            figure.delivered = None;
        }
    }));
    assert_eq!(report.count(UNVERIFIED), 10);
    let why = &node(&report, "n0").reasons[0];
    let expected = "only 5 of 10 nodes have the same figure of Triad (delivered), and comparing needs \
                    more than half: n5, n6 and n7 lack it";
    assert_eq!(why, expected);
}

#[test]
fn a_result_of_an_invalid_figure_that_few_have_says_what_is_invalid() {
    let report = report(fleet(4, |node, line| {
        if node == 1 {
            line.figures[0].verdict = Verdict::Invalid;
            line.figures[0].findings = vec![NodeFinding {
                check: "in_cache".into(),
                severity: Severity::Invalid,
                message: "the data were in a cache".into(),
            }];
        }
    }));
    let own = node(&report, "n1").reasons.join("; ");
    assert!(own.contains("the data were in a cache"), "{own}");
}
