//! Launchers that cannot start a fleet: the program reports that at once, and blames no node.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::{Ended, Folder};

#[test]
fn a_missing_ssh_is_no_fault_of_the_nodes_and_the_fleet_goes_on_later() {
    let dir = Folder::new();
    let run = ["fleet", "run", "--ssh", "n1,n2", "--ssh-command", "no-such-ssh"];
    let ended = dir.run(&[&run[..], &["--out", "fleet"]].concat()).with(1);
    assert!(ended.stderr.contains("cannot run no-such-ssh"), "{}", ended.stderr);
    let lines = dir.text("fleet/fleet.jsonl");
    assert_eq!(lines.lines().count(), 1, "no line of a node: {lines}");
    // This ssh reaches no host.
    let run = ["fleet", "run", "--ssh", "n1,n2", "--ssh-command", "false", "--resume", "fleet"];
    let ended = dir.run(&run).with(5);
    assert!(ended.stdout.contains("unverified"), "{}", ended.stdout);
}

#[test]
fn another_allocation_than_the_one_here_is_refused() {
    let dir = Folder::new();
    let scontrol = dir.file("bin/scontrol", "#!/bin/sh\necho n1\necho n2\n");
    fs::set_permissions(&scontrol, fs::Permissions::from_mode(0o755)).unwrap();
    let path =
        format!("{}:{}", scontrol.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let asked = |nodes: &str| {
        let mut command = dir.command();
        command.args(["fleet", "run", "--slurm", "--dry-run", "-N", nodes]);
        command.env("PATH", &path).env("SLURM_JOB_ID", "7").env("SLURM_JOB_NODELIST", "n[1-2]");
        Ended::run(&mut command)
    };
    let refused = asked("3").with(2);
    assert!(
        refused.stderr.contains("-N: this shell is in an allocation of 2 nodes"),
        "{}",
        refused.stderr
    );
    assert!(asked("2").with(0).stdout.contains("--nodes=2"));
}
