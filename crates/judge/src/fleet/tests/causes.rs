//! Tests of the sentence with the cause of a slow node.

use proofmark_model::{NodeFinding, NodeState, Severity};

use super::*;

#[test]
fn a_quota_leaves_the_machine_as_fast() {
    let quota = |node: usize, line: &mut NodeRound| {
        if node == 3 {
            line.figures.iter_mut().take(2).for_each(|f| scale(f, [1.0, 0.61]));
            set_quota(line, Some(1.0));
        }
    };
    let report = report(passes(8, &BOTH, quota));
    let start = "n3: delivers 61.1 % of its group at ";
    let end = " and is slow at 1 other result; CPU quota of 1 CPU; in the time that its quota leaves it is as \
               fast as its group";
    expect(&report, "n3", NodeState::Slow, start);
    assert!(
        node(&report, "n3").cause.as_ref().unwrap().ends_with(end),
        "{:?}",
        report.nodes[0].cause
    );
}

#[test]
fn throttling_alone_is_a_limit_of_the_node_and_no_load() {
    let throttled = |attainable: f64| {
        report(passes(8, &BOTH, move |node, line| {
            // A quota that all have and that one of them reaches.
            set_quota(line, Some(2.0));
            if node == 6 {
                scale(&mut line.figures[0], [attainable, 0.4]);
                line.time_account = line.time_account.map(|t| TimeAccount {
                    working_s: 5.0,
                    waiting_s: 0.0,
                    throttled_s: Some(5.0),
                    ..t
                });
            }
        }))
    };
    for (attainable, words) in [
        (1.0, "in the time that its quota leaves it is as fast as its group"),
        (0.7, "even in the time that its quota leaves it reaches 70."),
    ] {
        let report = throttled(attainable);
        expect(&report, "n6", NodeState::Slow, words);
        expect(&report, "n6", NodeState::Slow, "throttled by a CPU quota");
        let cause = node(&report, "n6").cause.as_deref().unwrap();
        assert!(!cause.contains("other load"), "{cause}");
    }
}

#[test]
fn a_missing_quota_is_no_limit() {
    let report = report(passes(8, &BOTH, |node, line| {
        set_quota(line, Some(1.0).filter(|_| node != 2));
        if node == 2 {
            line.facts[3].value = "unknown".into();
            scale(&mut line.figures[1], [1.0, 0.5]);
        }
    }));
    expect(&report, "n2", NodeState::Slow, "without other load it is as fast as its group");
    assert!(!node(&report, "n2").cause.as_ref().unwrap().contains("quota of unknown"));
}

#[test]
fn programs_of_all_rounds_are_named_but_not_our_own() {
    let busy = |node: usize, line: &mut NodeRound| {
        if node == 1 {
            scale(&mut line.figures[0], [1.0, 0.5]);
            line.programs =
                vec![program("exe", 1.2), program("rustc", 0.45), program("proofmark.eso7w", 0.5)];
            line.programs.push(program("proofmark", 0.09));
            if line.round.is_multiple_of(2) {
                line.programs.push(program("gcc", 0.3));
            }
            line.time_account =
                line.time_account.map(|t| TimeAccount { working_s: 5.0, waiting_s: 5.0, ..t });
        }
    };
    let report = report(passes(8, &BOTH, busy));
    expect(&report, "n1", NodeState::Slow, "in its group; CPU use: rustc 45.0 %, gcc 15.0 %)");
}

#[test]
fn programs_without_a_name_count_and_kernel_threads_are_no_programs() {
    let cause = |named: &[(&str, f64)], all: Option<f64>| {
        let report = report(passes(8, &BOTH, |node, line| {
            if node == 1 {
                scale(&mut line.figures[0], [1.0, 0.5]);
                line.programs = named.iter().map(|(name, share)| program(name, *share)).collect();
                line.programs_of_one_cpu = all;
                line.time_account =
                    line.time_account.map(|t| TimeAccount { working_s: 5.0, waiting_s: 5.0, ..t });
            }
        }));
        let cause = node(&report, "n1").cause.clone().unwrap();
        let (_, end) = cause.split_once("used by other processes (0.1 % in its group").unwrap();
        end.split_once("); without other load").unwrap().0.to_owned()
    };
    let rest = |share: &str| {
        format!("not named {share} (ended meanwhile, smaller, or of other containers)")
    };
    assert_eq!(
        cause(&[("rustc", 0.4), ("exe", 0.5)], Some(1.6)),
        format!("; CPU use: rustc 40.0 %, {}", rest("70.0 %"))
    );
    assert_eq!(cause(&[], Some(0.8)), format!("; CPU use: {}", rest("80.0 %")));
    // Kernel threads serve the load; what took next to nothing explains nothing.
    assert_eq!(cause(&[("kernel threads", 0.3), ("cron", 0.02)], Some(0.33)), "");
    assert_eq!(
        cause(&[("kernel threads", 0.3), ("cron", 0.02)], Some(0.5)),
        format!("; CPU use: cron 2.0 %, {}", rest("18.0 %"))
    );
}

#[test]
fn a_competing_process_is_named() {
    let busy = |node: usize, line: &mut NodeRound| {
        if node == 1 {
            scale(&mut line.figures[0], [1.0, 0.5]);
            line.programs = vec![program("stress-ng", 0.98)];
            line.time_account =
                line.time_account.map(|t| TimeAccount { working_s: 5.0, waiting_s: 5.0, ..t });
        }
    };
    let report = report(passes(8, &BOTH, busy));
    let words = "50.0 % of its threads' time: used by other processes (0.1 % in its group; CPU use: stress-ng \
                 98.0 %); without other load it is as fast as its group";
    expect(&report, "n1", NodeState::Slow, words);
}

#[test]
fn a_harmless_difference_comes_after_taken_time() {
    let busy = |node: usize, line: &mut NodeRound| {
        let distribution = if node == 1 { "Debian 12.5" } else { "Debian 12.4" };
        line.facts.insert(0, fact("distribution", distribution, false));
        if node == 1 {
            scale(&mut line.figures[0], [1.0, 0.5]);
            line.time_account =
                line.time_account.map(|t| TimeAccount { working_s: 5.0, waiting_s: 5.0, ..t });
        }
    };
    let report = report(passes(8, &BOTH, busy));
    let cause = node(&report, "n1").cause.as_deref().unwrap();
    let [time, other] = ["used by other processes", "distribution Debian 12.5"]
        .map(|words| cause.find(words).unwrap_or_else(|| panic!("{cause}")));
    assert!(time < other, "{cause}");
}

#[test]
fn another_memory_limit_is_no_limit_of_speed() {
    let busy = |node: usize, line: &mut NodeRound| {
        let limit = if node == 1 { "187 GiB" } else { "188 GiB" };
        line.facts.push(fact("memory limit", limit, false));
        if node == 1 {
            scale(&mut line.figures[0], [0.8; 2]);
            line.time_account = line.time_account.map(|t| TimeAccount {
                working_s: 8.0,
                interrupted_s: 2.0,
                stolen_s: Some(2.0),
                ..t
            });
        }
    };
    let report = report(passes(8, &BOTH, busy));
    let words = "; 20.0 % of its threads' time: steal (0.0 % in its group); memory limit 187 GiB";
    expect(&report, "n1", NodeState::Slow, words);
}

#[test]
fn work_that_a_healthy_node_left_out_is_a_note() {
    let report = report(fleet(8, |_, line| line.left_out = Some("no disk was measured".into())));
    assert_eq!(report.count(NodeState::Healthy), 8);
    assert!(report.nodes.iter().all(|n| n.notes == ["no disk was measured"]));
}

#[test]
fn a_finding_of_its_own_is_reported_and_a_common_one_is_not() {
    let finding = |check: &str, severity, message: &str| NodeFinding {
        check: check.into(),
        severity,
        message: message.into(),
    };
    let hot = |node: usize, line: &mut NodeRound| {
        line.figures[0].findings = vec![finding("turbo", Severity::Suspect, "Common.")];
        if node == 1 {
            scale(&mut line.figures[0], [0.7; 2]);
            line.figures[0].ceiling = Some(0.7 * 6e10);
            line.figures[0].bottleneck = Some("clock".into());
            let own = [
                finding("aside", Severity::Note, "Aside."),
                finding("clock", Severity::Suspect, "The clock fell to 2.8 GHz."),
            ];
            line.figures[0].findings.extend(own);
        }
    };
    let report = report(passes(8, &BOTH, hot));
    let words = "The clock fell to 2.8 GHz; its ceiling is 68.6 % of its group's; even without";
    expect(&report, "n1", NodeState::Slow, words);
    assert!(!node(&report, "n1").cause.as_ref().unwrap().contains("Common"));
}

#[test]
fn a_slow_machine_is_slow_itself() {
    let slow = |node: usize, line: &mut NodeRound| {
        if node == 1 {
            scale(&mut line.figures[0], [0.8, 0.7]);
        }
    };
    let report = report(passes(8, &BOTH, slow));
    let words = "cause unknown: nothing that it reports differs from its group; even without other load it reaches \
                 80.2 % of its group";
    expect(&report, "n1", NodeState::Slow, words);
}

#[test]
fn the_disk_of_a_slow_cpu_is_no_cause() {
    let both = |node: usize, line: &mut NodeRound| {
        let disk = if node == 1 { "old" } else { "new" };
        line.facts.push(fact("disk", disk, false));
        if node == 1 {
            scale(&mut line.figures[0], [0.7; 2]);
        }
    };
    let cpu = report(passes(8, &BOTH, both));
    assert!(!node(&cpu, "n1").cause.as_ref().unwrap().contains("disk"));
    let disk = report(passes(8, &BOTH, |node, line| {
        let disk = if node == 1 { "old" } else { "new" };
        line.facts.push(fact("disk", disk, false));
        if node == 1 {
            scale(&mut line.figures[3], [0.7; 2]);
        }
    }));
    expect(&disk, "n1", NodeState::Slow, "disk old, its group has new");
}

#[test]
fn what_changes_networks_only_or_no_speed_is_no_cause_of_a_slow_cpu() {
    let names = ["MTU", "TCP receive buffer", "TCP send buffer", "processes limit"];
    let report = report(passes(8, &BOTH, |node, line| {
        let value = if node == 1 { "1500" } else { "9000" };
        line.facts.extend(names.map(|name| fact(name, value, false)));
        if node == 1 {
            scale(&mut line.figures[0], [0.7; 2]);
        }
    }));
    expect(&report, "n1", NodeState::Slow, "cause unknown: nothing that it reports differs");
    let listed: Vec<&str> =
        report.groups[0].differing.iter().map(|fact| fact.what.as_str()).collect();
    assert_eq!(listed, names, "they are listed always");
}

#[test]
fn a_larger_limit_is_no_cause() {
    /// CPUs of the quota, and bytes per second that are read from the disk.
    type Limits = (f64, Option<f64>);
    let limited = |own: Limits, usual: Limits| {
        let report = report(passes(8, &BOTH, |node, line| {
            let is_own = node == 2;
            let (cpus, read) = if is_own { own } else { usual };
            set_quota(line, Some(cpus));
            line.limits.read_bytes_per_s = read;
            line.limits.reads_per_s = Some(1000.0);
            let io = read.map_or("none".to_owned(), |read| format!("vda: read {read:.0} MB/s"));
            line.facts.push(fact("I/O limits", &io, false));
            if is_own {
                scale(&mut line.figures[3], [1.0, 0.5]);
            }
        }));
        assert_eq!(node(&report, "n2").state, NodeState::Slow);
        node(&report, "n2").cause.clone().unwrap()
    };
    let larger = limited((2.0, Some(80.0)), (1.0, Some(50.0)));
    assert!(larger.contains("cause unknown"), "{larger}");
    assert!(!larger.contains("its quota"), "{larger}");
    let less = limited((0.5, Some(50.0)), (1.0, Some(50.0)));
    assert!(less.contains("CPU quota 0.5 CPUs, its group has 1 CPU"), "{less}");
    // A larger quota does not hide a smaller limit of the disk.
    for (cpus, usual) in [(1.0, Some(80.0)), (1.0, None), (2.0, Some(80.0))] {
        let io = limited((cpus, Some(50.0)), (1.0, usual));
        assert!(io.contains("; I/O limits vda: read 50 MB/s, its group has "), "{io}");
        assert!(!io.contains("CPU quota"), "{io}");
    }
}
