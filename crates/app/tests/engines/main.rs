//! Fleets of nodes in network namespaces, reached by the real ssh and Slurm daemons. `make
//! test-engines` runs these tests: they need root and an otherwise idle machine.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

mod oddities;
mod testbed;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use proofmark_model::FleetReport;
use proofmark_model::NodeState::{Slow, Unverified};
use proofmark_testing::wait_until_within;
use rustix::process::{Pid, Signal};
use testbed::{Testbed, program, quotas, report, state};

/// Time until no file or process is left on a node.
const SOON: Duration = Duration::from_secs(10);

/// Exit statuses of a fleet in which other nodes may be slow because this machine is busy.
fn exit_status(found: &FleetReport) -> Option<i32> {
    let slow = found.nodes.iter().any(|n| n.state == Slow);
    Some(if slow { 4 } else { 5 })
}

#[test]
fn a_slow_cable_is_found_over_ssh_and_nothing_is_left() {
    let Some(lab) = Testbed::up(5, "ssh") else { return };
    lab.cable("n3", "100mbit");
    let out = lab.folder.path().join("out");
    let status = lab.fleet(&["--ssh", "n[1-5]", "--pairs", "8", "--at-once", "5"], &out);
    assert_eq!(status, Some(4));
    let found = report(&out);
    // No other load hides a rate of one hundredth.
    let n3 = found.nodes.iter().find(|n| n.name == "n3").unwrap();
    assert_eq!(n3.state, Slow, "{found:#?}");
    let cause = n3.cause.as_deref().unwrap();
    assert!(cause.contains("at TCP throughput"), "{cause}");
    for node in ["n1", "n2", "n4", "n5"] {
        assert_ne!(state(&found, node), Slow, "{found:#?}");
    }
    assert_eq!(report(&out), found, "judged again, it is the same");
    assert!(found.plan.testbed.is_some());
    wait_until_within(SOON, "all nodes to be as before", || lab.left_on_nodes().is_empty());
}

#[test]
fn another_program_another_machine_and_a_hostile_node_are_named_with_their_reasons() {
    let Some(lab) = Testbed::up(7, "ssh") else { return };
    let program = fs::read(program()).unwrap();
    (1..=7).for_each(|n| lab.put(&format!("n{n}"), &program));
    let hello = "{\\\"answer\\\":\\\"hello\\\",\\\"schema\\\":\\\"proofmark.fleet/1\\\",\\\"node\\\":\\\"n5\\\",\
                 \\\"tool\\\":{\\\"version\\\":\\\"0.0.1\\\",\\\"commit\\\":null,\\\"build\\\":\\\"\\\"}}";
    lab.put("n5", format!("#!/bin/sh\necho \".{hello}\"\ncat >/dev/null\n").as_bytes());
    lab.put("n6", b"#!/bin/sh\nwhile :; do head -c 900 /dev/zero | tr '\\0' '+'; echo; done\n");
    lab.one_cpu("n7");
    let out = lab.folder.path().join("out");
    let status =
        lab.fleet(&["--ssh", "n[1-7]", "--program", "/tmp/program", "--at-once", "5"], &out);
    assert_eq!(status, Some(5));
    let found = report(&out);
    for (node, expected) in [
        ("n5", "it has proofmark 0.0.1 "),
        ("n6", "its answer is longer than 4 MiB"),
        ("n7", "1 usable CPU, the largest group has 2"),
    ] {
        assert_eq!(state(&found, node), Unverified, "{found:#?}");
        let said = found.nodes.iter().find(|n| n.name == node).unwrap().reasons.join("\n");
        assert!(said.contains(expected), "{said}");
    }
    for node in ["n1", "n2", "n3", "n4"] {
        assert_ne!(state(&found, node), Slow, "{found:#?}");
    }
}

#[test]
fn a_stopped_and_a_killed_launcher_leave_nothing_and_lose_one_round() {
    let Some(lab) = Testbed::up(4, "ssh") else { return };
    let out = lab.folder.path().join("out");
    let text = || fs::read_to_string(out.join("fleet.jsonl")).unwrap_or_default();
    let lines = || text().lines().count();
    let go_on = |way: &str, more: usize| {
        let known = lines();
        let launcher = lab.start(&["--ssh", "n[1-4]", "--at-once", "4", way], &out);
        wait_until_within(2 * Duration::from_secs(60), "a round", || lines() > known + more);
        launcher
    };
    let mut launcher = go_on("--out", 2);
    // As from a terminal: to the launcher and what it started, amid a round.
    rustix::process::kill_process_group(Pid::from_child(&launcher), Signal::INT).unwrap();
    let status = proofmark_testing::wait("the fleet", &mut launcher);
    assert_eq!(status.signal().or(status.code()), Some(130), "{status}");
    assert!(!text().contains("\"line\":\"failure\""), "a stop is no fault of a node: {}", text());
    wait_until_within(SOON, "all nodes to be as before", || lab.left_on_nodes().is_empty());
    let mut launcher = go_on("--resume", 4);
    launcher.kill().unwrap();
    launcher.wait().unwrap();
    wait_until_within(SOON, "all nodes to be as before", || lab.left_on_nodes().is_empty());
    // A cable is cut during the next measurement.
    let mut launcher = go_on("--resume", 4);
    lab.unplug("n4");
    let status = proofmark_testing::wait("the fleet", &mut launcher);
    let found = report(&out);
    assert_eq!(status.code(), exit_status(&found));
    let said = found.nodes.iter().find(|n| n.name == "n4").unwrap();
    assert_eq!(said.state, Unverified);
    assert!(
        said.reasons.iter().any(|r| r.contains("ssh lost the connection")),
        "{:?}",
        said.reasons
    );
    let rounds = found.nodes.iter().find(|n| n.name == "n1").unwrap().rounds;
    assert_eq!(rounds, 8, "all rounds of the others are there");
    // Each launcher that ended early cost one round at most.
    assert!(lines() <= 1 + 4 * 10, "{} lines", lines());
}

#[test]
fn slurm_reaches_all_nodes_of_a_new_allocation_and_gives_it_back() {
    let Some(lab) = Testbed::up(5, "slurm") else { return };
    lab.quota("n2", 20);
    // One copy of the program for all nodes fails, and comes by another way.
    lab.full("n4");
    lab.prolog("echo print Welcome to the cluster; echo print; echo print + set -x");
    let mut kill = lab.kill_program("n5");
    let out = lab.folder.path().join("out");
    // One at a time: a node under a quota measures for longer, and another at the same time would
    // then have the testbed's CPUs to itself.
    let status = lab.fleet(&["--slurm", "-N", "5", "--at-once", "1"], &out);
    proofmark_testing::wait("the killer", &mut kill);
    let found = report(&out);
    assert_eq!(status, exit_status(&found));
    let n2 = found.nodes.iter().find(|n| n.name == "n2").unwrap();
    // On a busy machine the effect of the quota may be too small to see.
    assert!([Slow, Unverified].contains(&n2.state), "{found:#?}");
    if let Some(cause) = &n2.cause {
        assert!(cause.contains("CPU quota of 0.4 CPUs"), "{cause}");
    }
    let quotas: BTreeSet<(String, String)> = quotas(&out);
    let named =
        ["n1 none", "n2 0.4 CPUs", "n3 none", "n4 none"].map(|all| all.split_once(' ').unwrap());
    let named = named.map(|(node, quota)| (node.to_owned(), quota.to_owned()));
    assert_eq!(quotas, BTreeSet::from(named));
    let (with, without): (Vec<_>, Vec<_>) = found.nodes.iter().partition(|node| node.rounds == 8);
    assert_eq!((with.len(), found.groups.len()), (4, 1), "{found:#?}");
    let differing = &found.groups[0].differing;
    let quota = differing.iter().find(|fact| fact.what == "CPU quota").unwrap();
    assert_eq!(quota.usual.as_deref(), Some("none"));
    assert_eq!(quota.others.len(), 1, "{quota:?}");
    assert_eq!(
        (&*quota.others[0].value, &quota.others[0].nodes[..]),
        ("0.4 CPUs", &["n2".to_owned()][..])
    );
    // The node without room in /tmp has the program in another folder.
    let [n5] = without[..] else { panic!("{found:#?}") };
    assert!(n5.name == "n5" && n5.reasons[0].contains("was killed by SIGKILL"), "{n5:?}");
    wait_until_within(SOON, "the allocation to be given back", || lab.jobs().is_empty());
    wait_until_within(SOON, "all nodes to be as before", || lab.left_on_nodes().is_empty());
}
