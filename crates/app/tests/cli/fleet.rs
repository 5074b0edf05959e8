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

#[test]
fn a_mistake_in_the_list_of_hosts_is_named_before_a_directory_exists() {
    let dir = Folder::new();
    dir.file("lists/ports", "\u{feff}n1\r\n\r\nn2:2222\r\n");
    dir.file("lists/empty", "# none\n");
    for (hosts, expected) in [
        ("lists/missing", "there is no file lists/missing"),
        ("no-such-host.invalid", "neither a file nor a host that this machine"),
        ("lists", "lists is a directory"),
        ("lists/empty", "no host is named"),
        (
            "lists/ports",
            "lists/ports: line 3: 'n2:2222': name the host alone; a port belongs in your",
        ),
        ("n1:4", "slots of MPI are left out"),
        ("[2001:db8::1]:2222", "Host 2001:db8::1, Port 2222"),
        ("ssh://n1", "is a URL"),
    ] {
        let ended = dir.run(&["fleet", "run", "--ssh", hosts]).with(2);
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
    let quoted = ["fleet", "run", "--ssh", "n1,n2", "--ssh-command", "ssh -o 'ProxyCommand=x"];
    let ended = dir.run(&quoted).with(2);
    assert!(ended.stderr.contains("has no end"), "{}", ended.stderr);
    let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["lists"], "no directory of a fleet");
}

#[test]
fn a_command_for_ssh_is_split_as_a_shell_does() {
    let dir = Folder::new();
    let ssh = "sh -c 'echo \"took $1, $2\" >&2; exit 7' 'an ssh' -o 'ProxyCommand=ssh -W %h:%p gw'";
    let run = ["fleet", "run", "--ssh", "n1,n2", "--ssh-command", ssh, "--out", "fleet"];
    let ended = dir.run(&run).with(5);
    let expected = "n1: its process exited with status 7: took -o, ProxyCommand=ssh -W %h:%p gw";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
}

#[test]
fn only_nodes_of_the_fleet_are_asked_again() {
    let dir = Folder::new();
    let run = ["fleet", "run", "--ssh", "n1,n2", "--ssh-command", "false"];
    dir.run(&[&run[..], &["--out", "fleet"]].concat()).with(5);
    let again = [&run[..], &["--resume", "fleet", "--again", "n3"]].concat();
    let expected = "--again: n3 is not in the fleet of that directory, whose nodes are n1, n2";
    for dry_run in [&[][..], &["--dry-run"]] {
        let ended = dir.run(&[&again[..], dry_run].concat()).with(2);
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
    let other = [&run[..], &["--resume", "fleet", "--rounds", "9", "--dry-run"]].concat();
    let ended = dir.run(&other).with(2);
    assert!(ended.stderr.contains("--resume: --rounds differs"), "{}", ended.stderr);
    let missing = [&run[..], &["--resume", "no-fleet", "--dry-run"]].concat();
    let ended = dir.run(&missing).with(2);
    assert!(ended.stderr.contains("no-fleet"), "{}", ended.stderr);
    let ended = dir.run(&["fleet", "report", "fleet", "--all"]).with(5);
    assert!(ended.stdout.contains("launcher ssh"), "{}", ended.stdout);
}

#[test]
fn another_build_does_not_continue_a_fleet_and_both_are_named() {
    let dir = Folder::new();
    let run = ["fleet", "run", "--ssh", "n1,n2", "--ssh-command", "false"];
    dir.run(&[&run[..], &["--out", "fleet"]].concat()).with(5);
    let text = dir.text("fleet/fleet.jsonl");
    let (plan, rest) = text.split_once('\n').unwrap();
    let mut plan: serde_json::Value = serde_json::from_str(plan).unwrap();
    plan["tool"]["commit"] = "0123456789ab".into();
    dir.file("fleet/fleet.jsonl", format!("{plan}\n{rest}"));
    let ended = dir.run(&[&run[..], &["--resume", "fleet"]].concat()).with(2);
    let version = env!("CARGO_PKG_VERSION");
    let begun = format!("that directory is of proofmark {version} (0123456789ab), this is ");
    assert!(ended.stderr.contains(&format!("--resume: the fleet in {begun}")), "{}", ended.stderr);
    assert!(ended.stderr.contains(&format!("this is proofmark {version} (")), "{}", ended.stderr);
}

#[test]
fn a_word_of_run_is_explained_by_that_of_a_fleet() {
    let dir = Folder::new();
    let ended = dir.run(&["fleet", "run", "--ssh", "n1", "--quick"]).with(2);
    assert!(ended.stderr.contains("--profile quick"), "{}", ended.stderr);
}

#[test]
fn a_dry_run_has_the_time_and_one_command_and_with_all_every_command() {
    let dir = Folder::new();
    let run = ["fleet", "run", "--ssh", "n[1-6]", "--at-once", "3", "--dry-run"];
    let brief = dir.run(&run).with(0).stdout;
    assert!(brief.starts_with("# 6 nodes, 8 rounds of about "), "{brief}");
    assert!(brief.contains(" as planned for this machine: about "), "{brief}");
    assert!(brief.contains(" for a second pass\n"), "{brief}");
    assert!(brief.ends_with("# and 5 other commands like it; --all prints them\n"), "{brief}");
    let commands = |text: &str| text.matches("ssh ").count();
    let whole = dir.run(&[&run[..], &["--all"]].concat()).with(0).stdout;
    assert!((1..=6).all(|node| whole.contains(&format!(" n{node} "))), "{whole}");
    assert_eq!(commands(&whole), 6 * commands(&brief), "{whole}");
    let few = dir.run(&["fleet", "run", "--ssh", "n[1-3]", "--dry-run"]).with(0).stdout;
    assert!(
        few.contains("fewer than 4 nodes are not compared, so there is no second pass\n"),
        "{few}"
    );
}

#[test]
fn the_time_of_a_dry_run_is_that_of_its_profile() {
    let dir = Folder::new();
    let profile = "name = \"short\"\nabout = \"x\"\n\
                   [policy]\ntarget = 0.02\nmin_trials = 8\nmax_trials = 8\ntrial = \"40ms\"\n\
                   budget = { cpu = \"3s\", memory = \"3s\", disk = \"3s\" }\n\
                   [[points]]\nworkload = \"cpu.flops\"\nthreads = 1\nisa = \"scalar\"\n";
    dir.file("short.toml", profile);
    let run = ["fleet", "run", "--ssh", "n[1-6]", "--dry-run", "--profile", "short.toml"];
    let brief = dir.run(&run).with(0).stdout;
    // 8 trials of 40 ms and a request are under a second.
    let each = brief.split("8 rounds of about ").nth(1).unwrap();
    assert!(each.split(" as planned").next().unwrap().ends_with(" ms"), "{brief}");
}

#[test]
fn the_facts_that_are_compared_are_on_two_pages() {
    let dir = Folder::new();
    let explained = dir.run(&["explain", "fleet"]).with(0).stdout.replace("\n  ", " ");
    let method = super::documents::document("METHOD.md").replace('\n', " ");
    let [kind, others] = proofmark_judge::fleet::compared_facts();
    for fact in kind.iter().chain(&others) {
        assert!(explained.contains(fact.as_str()), "{}: {explained}", fact.as_str());
    }
    for fact in others {
        assert!(method.contains(fact.as_str()), "METHOD.md lacks {}", fact.as_str());
    }
}
