//! Oddities of real sites, planted on nodes of one fleet each: they cost no other node a round, and are
//! named with their cause.

use std::fs;

use proofmark_model::FleetReport;
use proofmark_testing::wait_until_within;

use super::SOON;
use super::testbed::{Testbed, program, report};

/// Returns the reasons of a node in one text.
fn reasons(found: &FleetReport, node: &str) -> String {
    found.nodes.iter().find(|n| n.name == node).unwrap().reasons.join("; ")
}

fn rounds(found: &FleetReport, node: &str) -> u32 {
    found.nodes.iter().find(|n| n.name == node).unwrap().rounds
}

/// Rate in Mbit/s at which a copy of the program takes so many seconds.
fn rate_of_copy(seconds: f64) -> String {
    let size = program().metadata().unwrap().len();
    format!("{}mbit", (size as f64 * 8e-6 / seconds).ceil())
}

#[test]
fn shells_folders_and_deaths_of_nodes_are_named_and_leave_nothing() {
    let Some(lab) = Testbed::up(8, "ssh") else { return };
    let prints = "echo; printf '+ module load gcc\\n. ok\\n\\033[31m'; head -c 9000 /dev/urandom; \
                  trap 'echo logout' EXIT; (for i in $(seq 60); do sleep 1; echo tick; done) & \
                  read -t 1 line; printf 'no end'";
    lab.start_file("n1", prints);
    lab.full("n2");
    lab.inside("n3", &["mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", "/tmp"]);
    lab.start_file("n4", "echo Down for maintenance; exit 0");
    lab.start_file("n5", "ulimit -f 1000");
    let mut kill = lab.kill_program("n6");
    // Its copy takes longer than a node may take to start.
    lab.cable("n8", &rate_of_copy(18.0));
    let out = lab.folder.path().join("out");
    let arguments = ["--ssh", "n[1-8]", "--at-once", "8", "--start-limit", "12s"];
    assert_eq!(lab.fleet(&arguments, &out), Some(5));
    proofmark_testing::wait("the killer", &mut kill);
    let found = report(&out);
    for node in ["n1", "n2", "n3", "n7", "n8"] {
        assert_eq!(rounds(&found, node), 8, "{}", reasons(&found, node));
        // All nodes share two CPUs.
        let load = reasons(&found, node);
        assert!(load.contains("load that all share does not show in a comparison"), "{load}");
    }
    for (node, expected) in [
        ("n4", "its process ended; its start files printed: Down for maintenance"),
        ("n5", "no folder takes the program"),
        ("n5", "; ulimit -f is "),
        ("n6", "its process was killed by SIGKILL"),
    ] {
        assert!(reasons(&found, node).contains(expected), "{}", reasons(&found, node));
    }
    wait_until_within(SOON, "all nodes to be as before", || lab.left_on_nodes().is_empty());
    // A repaired node is measured again, and no other.
    lab.start_file("n4", "");
    lab.cable("n8", "2gbit");
    let lines = || fs::read_to_string(out.join("fleet.jsonl")).unwrap();
    let before = lines().matches("\"pass\":\"first\"").count();
    let again = [&arguments[..], &["--again", "n4", "--resume"]].concat();
    let mut launcher = lab.start(&again, &out);
    proofmark_testing::wait("the fleet", &mut launcher);
    let found = report(&out);
    assert_eq!(rounds(&found, "n4"), 8, "{}", reasons(&found, "n4"));
    assert!(!reasons(&found, "n4").contains("its process ended"), "{}", reasons(&found, "n4"));
    assert_eq!(lines().matches("\"pass\":\"first\"").count(), before + 8);
    assert!(reasons(&found, "n6").contains("was killed by SIGKILL"), "it keeps what it was");
}

#[test]
fn a_busy_jump_host_and_a_shared_connection_cost_no_node() {
    let Some(lab) = Testbed::up(8, "ssh") else { return };
    lab.jump(1);
    let socket = lab.folder.path().join("shared").display().to_string();
    let config = "/run/proofmark-testbed/config";
    let own = format!(
        "Host shared\nHostName 10.78.0.11\nIdentityFile none\nIdentitiesOnly yes\nControlPath {socket}\n"
    );
    let all = fs::read_to_string(config).unwrap();
    fs::write(config, own + &all).unwrap();
    let path = format!("-oControlPath={socket}");
    lab.on_control(&["ssh", "-F", config, &path, "-M", "-fNn", "-oControlPersist=300", "n1"]);
    let out = lab.folder.path().join("out");
    let nodes = "n[1-8]-by-jump,shared";
    lab.fleet(&["--ssh", nodes, "--at-once", "9"], &out);
    lab.on_control(&["ssh", "-F", config, &path, "-Oexit", "n1"]);
    let found = report(&out);
    for node in &found.nodes {
        assert_eq!(node.rounds, 8, "{}: {:?}", node.name, node.reasons);
    }
    wait_until_within(SOON, "all nodes to be as before", || lab.left_on_nodes().is_empty());
}
