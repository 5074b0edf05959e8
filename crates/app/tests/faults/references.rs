//! `proofmark run --reference` with lines of shell on the PATH under the names of real tools.

mod limits;

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::thread;

use proofmark_model::{First, read_run};
use tempfile::TempDir;

use super::lab::disk::folder;
use super::lab::network::{point, profile, written};
use super::lab::{is_alive, kill};
use super::*;

/// A directory for a disk, and one for programs.
struct Lab {
    disk: TempDir,
    programs: TempDir,
}

impl Lab {
    fn new() -> Self {
        Self { disk: folder(), programs: folder() }
    }

    /// Adds a program of that name that prints its version, and otherwise runs the script.
    fn program(&self, name: &str, script: &str) {
        let version = "case \"$1\" in --version) echo tool-9.5; exit 0;; esac";
        self.script(name, &format!("{version}\n{script}"));
    }

    /// Adds a program of that name that runs the script.
    fn script(&self, name: &str, script: &str) {
        let file = self.programs.path().join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Returns a run of one small configuration. The PATH has only the test's programs and the
    /// system's.
    fn run(&self, arguments: &[&str]) -> Command {
        self.command(&[&["disk.rand_read", "--threads", "1"], arguments].concat())
    }

    /// Returns a run with trials of half a second. fio repeats no trial below 50 ms, and one of the
    /// default profile may be shorter if other work leaves the disk meanwhile.
    fn long_run(&self, arguments: &[&str]) -> Command {
        let point = point("disk.rand_read", "500ms", "threads = 1\nreference = true");
        let profile = written(self.programs.path(), &profile(3, &[point]));
        self.command(&[&["--profile", profile.to_str().unwrap()], arguments].concat())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = proofmark();
        command.arg("run");
        if !arguments.contains(&"--dry-run") {
            command.args(["--json", "-"]);
        }
        for parameter in ["queue_depth=1", "block_size=4KB", "file_size=16MB", "engine=psync"] {
            command.args(["--set", &format!("disk.rand_read.{parameter}")]);
        }
        command.args(arguments).arg("--disk-path").arg(self.disk.path());
        command.arg("--out").arg(self.out());
        command.env("PATH", self.programs.path());
        command
    }

    fn out(&self) -> PathBuf {
        self.programs.path().join("out")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.programs.path().join(name)
    }
}

/// The path of an output of fio for random reads.
fn captured() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reference/src/fio/captured");
    folder.join("3.33-beside-psync.json").canonicalize().unwrap().display().to_string()
}

/// Returns the run, its first measurement, and standard error.
fn result(command: &mut Command) -> (Run, Measurement, String) {
    let output = output(command);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{stderr}");
    let run = read_run(&String::from_utf8(output.stdout).unwrap()).unwrap();
    let first = run.measurements[0].clone();
    (run, first, stderr)
}

/// Returns the indices of the configurations that a tool repeats.
fn places(run: &Run, tool: &str) -> Vec<usize> {
    run.plan.references[tool].iter().map(|r| r.point).collect()
}

const CAT: &str = "/bin/cat";

#[test]
fn a_tool_repeats_each_trial_on_a_file_of_the_disk() {
    let _turn = shared();
    let lab = Lab::new();
    let (arguments, sizes) = (lab.file("arguments"), lab.file("sizes"));
    lab.program(
        "fio",
        &format!(
            "echo \"$@\" >> {}\nfor a; do case $a in --filename=*) /bin/stat -L -c %s \"${{a#*=}}\" >> {};; \
             esac; done\n{CAT} {}",
            arguments.display(),
            sizes.display(),
            captured()
        ),
    );
    let (run, m, stderr) = result(&mut lab.long_run(&["--trials", "6", "--reference", "fio"]));
    let [r] = &m.references[..] else { panic!("{stderr}: {:?}", m.findings) };
    assert_eq!(
        (r.tool.as_str(), r.trials.len(), m.trials.len()),
        ("fio", 6, 6),
        "{:?}",
        m.findings
    );
    assert!(r.value > 0.0 && r.ratio.ci95.is_some() && !r.counts.is_empty());
    assert!(r.command.starts_with("taskset -c ") && r.command.contains("=FILE"), "{}", r.command);
    let ratio = r.paired[0].value / r.trials[0];
    assert_eq!(r.first[..4], [First::Proofmark, First::Tool, First::Proofmark, First::Tool]);
    let [low, high] = r.ratio.ci95.unwrap();
    assert!(low <= ratio && ratio <= high, "6 pairs: the interval holds them all");
    assert_eq!(places(&run, "fio"), [0]);
    assert_eq!(fs::read_to_string(sizes).unwrap(), "16777216\n".repeat(6), "whole and there");
    assert_eq!(fs::read_to_string(arguments).unwrap().lines().count(), 6);
    assert_eq!(fs::read_dir(lab.disk.path()).unwrap().count(), 0, "nothing is left");
    // The printed and written reports show it.
    let page = fs::read_to_string(lab.out().join("report.html")).unwrap();
    let page = page.replace("&#x2f;", "/");
    assert!(page.contains("fio tool-9.5") || page.contains("fio 3.33"), "the version");
    assert!(page.contains("proofmark / tool"));
}

#[test]
fn what_nobody_asks_for_does_not_run() {
    let _turn = shared();
    let lab = Lab::new();
    let ran = lab.file("ran");
    lab.program("fio", &format!("echo run >> {}; echo broken >&2; exit 3", ran.display()));
    let ran = || fs::read_to_string(&ran).unwrap_or_default().lines().count();
    let (run, m, _) = result(&mut lab.run(&["--trials", "3", "--no-reference"]));
    assert!(run.plan.references.is_empty() && m.references.is_empty());
    assert_eq!(m.missing["references"], "no reference tool was requested");
    assert_eq!(ran(), 0);
    fs::remove_dir_all(lab.out()).unwrap();
    // The default profile marks this configuration, and no other of this workload.
    let mut command = lab.run(&["--trials", "3", "disk.rand_write"]);
    command.args(["--set", "disk.rand_write.file_size=16MB"]);
    command.args(["--set", "disk.rand_write.queue_depth=1"]);
    let (run, m, _) = result(&mut command);
    assert_eq!((places(&run, "fio"), ran()), (vec![0], 1));
    let finding = m.findings.iter().find(|f| f.check == "reference.failed").unwrap();
    assert!(finding.message.contains("status 3: broken"), "{}", finding.message);
    assert_eq!((m.trials.len(), &m.ending), (3, &Ending::Complete));
    for missing in ["references", "references.fio"] {
        assert!(m.missing[missing].ends_with("it exited with status 3: broken"), "{missing}");
    }
    let why = &run.measurements[1].missing["references"];
    assert!(why.contains("name a tool with --reference"), "{why}");
}

#[test]
fn the_plan_says_which_tool_repeats_what_and_for_how_long() {
    let _turn = shared();
    let lab = Lab::new();
    lab.program("fio", "exit 3");
    let dry = |more: &[&str]| {
        let output = output(lab.run(&["--trials", "8", "--dry-run"]).args(more));
        String::from_utf8(output.stdout).unwrap()
    };
    let (with, without) = (dry(&["--reference", "all"]), dry(&["--no-reference"]));
    assert!(
        with.contains("(reference: fio)") && !without.contains("(reference"),
        "{with}{without}"
    );
    // A named subsystem stands for all of its workloads, not only those that the profile marks.
    let mut disk = proofmark();
    disk.args(["run", "disk", "--dry-run", "--reference", "fio", "--disk-path"]);
    disk.arg(lab.disk.path()).env("PATH", lab.programs.path());
    let text = String::from_utf8(output(&mut disk).stdout).unwrap();
    let has = |workload: &str| {
        let mut lines = text.lines().filter(|l| l.starts_with(workload));
        lines.any(|l| l.ends_with("(reference: fio)"))
    };
    assert!(has("disk.mixed") && has("disk.fsync") && has("disk.rand_write"), "{text}");
    assert_ne!(with.lines().last(), without.lines().last(), "the tools take time");
    // A budget too short for both goes to proofmark's own trials.
    let output = output(&mut lab.run(&["--dry-run", "--reference", "all", "--budget", "1s"]));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("reference tools left out, unless time remains: fio at "), "{stderr}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("(reference: "));
}

/// Starts a run whose tool writes its process id, then runs the script. Returns both.
fn begun(lab: &Lab, script: &str) -> (Child, u32) {
    let pid = lab.file("pid").display().to_string();
    lab.program(
        "fio",
        &format!("tell() {{ echo $1 > {pid}.part; /bin/mv {pid}.part {pid}; }}\n{script}"),
    );
    let mut run = start(&mut lab.long_run(&["--trials", "3", "--reference", "fio"]));
    wait_for("the start of the tool", &mut run, || lab.file("pid").exists());
    (run, fs::read_to_string(&pid).unwrap().trim().parse().unwrap())
}

const SLEEPS: &str = "tell $$; exec /bin/sleep 300";

/// Starts a run whose tool has a child, in its own session and process group, that does the same.
const FORKS: &str = "/usr/bin/setsid /bin/sh -c 'echo $$; exec /bin/sleep 301' > \"$0.child\" &\n\
    while ! [ -s \"$0.child\" ]; do /bin/sleep 0.05; done; tell $(/bin/cat \"$0.child\"); wait";

fn wait_for_the_end_of(pid: u32) {
    wait_until("the end of the tool with its run", || !is_alive(pid));
}

#[test]
fn a_tool_and_what_it_started_do_not_outlive_their_run() {
    let _turn = shared();
    let ends_with_its_run = |signal: &str, script: &str| {
        let lab = Lab::new();
        let (mut run, tool) = begun(&lab, script);
        assert!(is_alive(tool));
        kill(run.id(), signal);
        wait_for_the_end_of(tool);
        let status = wait("the run to end", &mut run);
        assert!(!status.success());
        assert_eq!(fs::read_dir(lab.disk.path()).unwrap().count(), 0, "nothing is left");
        let run = saved(lab.programs.path());
        let first = &run.measurements[0];
        assert_eq!(first.trials.len(), 3, "{signal}: what was measured is kept");
        let by = (signal == "INT").then_some("SIGINT");
        assert_eq!(run.interrupted.as_deref(), by);
        assert!(!first.findings.iter().any(|f| f.check == "reference.failed"));
    };
    // At the same time, since they mostly wait.
    thread::scope(|scope| {
        for signal in ["KILL", "INT"] {
            for script in [SLEEPS, FORKS] {
                scope.spawn(move || ends_with_its_run(signal, script));
            }
        }
    });
}

#[test]
fn what_a_tool_leaves_running_ends_with_it() {
    let _turn = shared();
    let lab = Lab::new();
    let script = FORKS.replace("; wait", "; exit 0");
    let (mut run, child) = begun(&lab, &script);
    // The tool would load the machine during proofmark's next trial.
    wait_for_the_end_of(child);
    wait("the run to end", &mut run);
}
