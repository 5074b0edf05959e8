//! Nodes on this machine (`scripts/testbed`), one testbed at a time.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use proofmark_model::{FleetLine, FleetReport, NodeRound, NodeState};
use proofmark_testing::{output, skip, wait_within};
use tempfile::TempDir;

static ONE: Mutex<()> = Mutex::new(());

/// Time limit of a fleet; without a second pass it takes a third of this.
const LONGEST: Duration = Duration::from_secs(400);

/// The profile of a round, as short as shows a quota and a slow cable: all nodes share few CPUs, and
/// each trial takes their time.
const PROFILE: &str = r#"
name = "testbed"
[policy]
target = 0.01
min_trials = 1
max_trials = 1
trial = "20ms"
[[points]]
workload = "cpu.flops"
threads = "all"
[[points]]
workload = "network.tcp.stream"
trials = 3
"#;

/// The program that nodes get a copy of, without its symbols, which are a third of it.
static PROGRAM: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("proofmark");
    let built = Path::new(env!("CARGO_BIN_EXE_proofmark"));
    let strip = Command::new("strip").arg("-o").arg(&path).arg(built).status();
    if !strip.is_ok_and(|status| status.success()) {
        fs::copy(built, &path).unwrap();
    }
    (folder, path)
});

pub fn program() -> &'static Path {
    &PROGRAM.1
}

/// Running nodes, which a drop stops.
pub struct Testbed {
    pub folder: TempDir,
    _one: MutexGuard<'static, ()>,
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/testbed")
}

impl Testbed {
    /// Starts this many nodes with this daemon; `None`, with a printed reason, if it is not
    /// installed.
    #[track_caller]
    pub fn up(nodes: u32, daemon: &str) -> Option<Self> {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let needs = match daemon {
            "slurm" => &["/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/sbin/munged"][..],
            _ => &["/usr/sbin/sshd"][..],
        };
        if let Some(missing) = needs.iter().find(|path| !Path::new(path).exists()) {
            skip(format!("{missing} is not installed"));
            return None;
        }
        if !rustix::process::geteuid().is_root() {
            skip("nodes in namespaces need root");
            return None;
        }
        let allowed = output(Command::new("unshare").args(["--net", "--mount", "--uts", "true"]));
        if !allowed.status.success() {
            let why = String::from_utf8_lossy(&allowed.stderr).into_owned();
            skip(format!("no namespaces here: {why}"));
            return None;
        }
        let up = output(Command::new(script()).args(["up", &nodes.to_string(), daemon]));
        if !up.status.success() {
            let _ = output(Command::new(script()).arg("down"));
            panic!("{}", String::from_utf8_lossy(&up.stderr));
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("profile.toml"), PROFILE).unwrap();
        Some(Self { folder, _one: one })
    }

    fn does(&self, arguments: &[&str]) -> String {
        let done = output(Command::new(script()).args(arguments));
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    pub fn quota(&self, node: &str, percent: u32) {
        self.does(&["quota", node, &percent.to_string()]);
    }

    /// Limits both directions of a node's cable, such as to `100mbit`.
    pub fn cable(&self, node: &str, rate: &str) {
        self.does(&["cable", node, rate]);
    }

    /// Fills a node's /tmp, so that the program has no room.
    pub fn full(&self, node: &str) {
        self.does(&["full", node]);
    }

    /// Writes the start file of a node's login shell.
    pub fn start_file(&self, node: &str, text: &str) {
        let home = Path::new("/run/proofmark-testbed").join(format!("home.{node}"));
        fs::write(home.join(".bashrc"), text).unwrap();
    }

    /// Runs a command where a node's daemons run.
    pub fn inside(&self, node: &str, command: &[&str]) {
        self.does(&[&["inside", node], command].concat());
    }

    /// Starts a slow ssh server on the node `control`, by which `n1-by-jump` is reached.
    pub fn jump(&self, seconds: u32) {
        self.does(&["jump", &seconds.to_string()]);
    }

    /// Kills the program of a node as soon as it runs.
    pub fn kill_program(&self, node: &str) -> Child {
        let mut command = Command::new(script());
        command.args(["kill-program", node]).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Runs a command on the node `control`.
    pub fn on_control(&self, command: &[&str]) -> String {
        self.does(&[&["run", "control"], command].concat())
    }

    /// Writes what Slurm runs before each task.
    pub fn prolog(&self, text: &str) {
        fs::write("/run/proofmark-testbed/prolog", format!("#!/bin/sh\n{text}\n")).unwrap();
    }

    pub fn unplug(&self, node: &str) {
        self.does(&["unplug", node]);
    }

    pub fn one_cpu(&self, node: &str) {
        self.does(&["one-cpu", node]);
    }

    /// Lists the jobs in Slurm.
    pub fn jobs(&self) -> String {
        self.does(&["run", "control", "squeue", "--noheader"])
    }

    /// Writes a program to /tmp/program of a node.
    pub fn put(&self, node: &str, program: &[u8]) {
        let path = folder_of(node).join("program");
        fs::write(&path, program).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Starts a fleet of these nodes, by default one at a time: all of them share two CPUs.
    pub fn start(&self, arguments: &[&str], out: &Path) -> Child {
        let mut command = Command::new(script());
        command.args(["run", "control"]).arg(program()).args(["fleet", "run"]);
        command.arg("--profile").arg(self.folder.path().join("profile.toml"));
        if !arguments.contains(&"--at-once") {
            command.args(["--at-once", "1"]);
        }
        if arguments.contains(&"--ssh") {
            let ssh = "ssh -F /run/proofmark-testbed/config";
            command.args(["--ssh-command", ssh]);
        }
        command.args(arguments).arg(out).env("PROOFMARK_TESTBED", "nodes of one machine");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.process_group(0).spawn().unwrap()
    }

    /// Measures a fleet. Returns the exit status.
    pub fn fleet(&self, arguments: &[&str], out: &Path) -> Option<i32> {
        let mut child = self.start(&[arguments, &["--out"]].concat(), out);
        wait_within(LONGEST, "the fleet", &mut child).code()
    }

    /// Lists the files in the nodes' temporary directories, and processes of proofmark.
    pub fn left_on_nodes(&self) -> Vec<String> {
        let nodes = fs::read_dir("/var/tmp/proofmark-testbed").unwrap().map(|e| e.unwrap().path());
        let files = nodes.flat_map(|n| fs::read_dir(n).unwrap().map(|e| e.unwrap().path()));
        let folders = ["/var/tmp", "/dev/shm"].into_iter();
        let shared = folders.flat_map(|f| fs::read_dir(f).unwrap().map(|e| e.unwrap().path()));
        let copies = shared.filter(|path| path.to_string_lossy().contains("/proofmark."));
        let files = files.chain(copies).map(|path| path.display().to_string());
        let running = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
            let line = fs::read(entry.path().join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            (line.contains("fleet node --") || line.contains("/exe worker")).then_some(line)
        });
        files.chain(running).collect()
    }
}

impl Drop for Testbed {
    fn drop(&mut self) {
        let _ = output(Command::new(script()).arg("down"));
    }
}

fn folder_of(node: &str) -> PathBuf {
    Path::new("/var/tmp/proofmark-testbed").join(node)
}

/// Reads a fleet's report from its directory.
pub fn report(dir: &Path) -> FleetReport {
    let mut command = Command::new(program());
    let printed = output(command.args(["fleet", "report", "--format", "json"]).arg(dir));
    let text = String::from_utf8(printed.stdout).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

pub fn state(report: &FleetReport, node: &str) -> NodeState {
    report.nodes.iter().find(|n| n.name == node).unwrap().state
}

/// Returns the CPU quotas that nodes report, from the fleet's file.
pub fn quotas(dir: &Path) -> BTreeSet<(String, String)> {
    let text = fs::read_to_string(dir.join("fleet.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let rounds = lines.filter_map(|line| match line {
        FleetLine::Round(round) => Some(*round),
        _ => None,
    });
    let quota = |round: NodeRound| {
        let facts = round.facts.into_iter();
        facts.filter(|f| f.what == "CPU quota").map(move |f| (round.node.clone(), f.value))
    };
    rounds.flat_map(quota).collect()
}
