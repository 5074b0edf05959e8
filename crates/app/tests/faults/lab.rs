//! Tools to plant faults: cgroups, CPUs, busy processes, small disks.

pub mod disk;
pub mod network;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use proofmark_model::{Measurement, Run, Severity};
use proofmark_testing::{output, skip, wait};

static TURN: RwLock<()> = RwLock::new(());

/// Runs no other test meanwhile: for disturbances, known rates and counts of the whole machine.
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    TURN.write().unwrap_or_else(PoisonError::into_inner)
}

/// Runs others that allow it meanwhile: for ends of runs and their reports.
pub fn shared() -> RwLockReadGuard<'static, ()> {
    TURN.read().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the planted fault; prints that the test is skipped if this machine does not allow it.
#[track_caller]
fn allowed<T>(planted: Option<T>, reason: &str) -> Option<T> {
    if planted.is_none() {
        skip(reason);
    }
    planted
}

pub fn proofmark() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proofmark"));
    // The program finds no reference tool, and does not write to this user's history.
    command.env("PATH", "/nonexistent").env("PROOFMARK_HISTORY", "off");
    command
}

/// Runs the command into a directory of its own. Returns the run and the exit status.
pub fn run_json(command: &mut Command) -> (Run, Option<i32>) {
    let dir = tempfile::tempdir().unwrap();
    let out = output(command.args(["--json", "-", "--out"]).arg(dir.path().join("out")));
    let text = String::from_utf8(out.stdout).unwrap();
    let run = proofmark_model::read_run(&text)
        .unwrap_or_else(|e| panic!("{e}\n{}", String::from_utf8_lossy(&out.stderr)));
    (run, out.status.code())
}

/// Starts the command without standard input, output and error.
pub fn start(command: &mut Command) -> Child {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Checks that a command is refused in one line with these words, before it measures or writes.
#[track_caller]
pub fn refused(command: &mut Command, says: &str) {
    let dir = tempfile::tempdir().unwrap();
    let out = output(command.current_dir(dir.path()));
    let text = String::from_utf8_lossy(&out.stderr);
    assert_eq!((out.status.code(), text.lines().count()), (Some(2), 1), "{text}");
    assert!(text.contains(says) && out.stdout.is_empty(), "{text}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "it wrote something");
}

/// Returns the severity of a check's finding, if there is one.
pub fn found(m: &Measurement, check: &str) -> Option<Severity> {
    m.findings.iter().find(|f| f.check == check).map(|f| f.severity)
}

/// Returns a CPU that this process may use, by its affinity mask.
pub fn a_cpu() -> Option<u32> {
    let list = status(std::process::id(), "Cpus_allowed_list");
    let first = list.split([',', '-']).next().and_then(|cpu| cpu.parse().ok());
    allowed(first, "no affinity mask")
}

/// Confines the command to one CPU by `taskset -c`.
pub fn on_cpu(command: &mut Command, cpu: u32) -> &mut Command {
    wrap(command, &format!("exec taskset -c {cpu} \"$0\" \"$@\""))
}

/// Runs a command through a line of shell, in which `"$0" "$@"` is the command with the variables
/// set for it. The shell keeps its own, since the command's `PATH` may have no `taskset`.
pub fn wrap<'a>(command: &'a mut Command, shell: &str) -> &'a mut Command {
    let mut line = vec![OsString::from("env")];
    for (name, value) in command.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        line.push([name, OsStr::new("="), value].into_iter().collect());
    }
    line.push(command.get_program().to_owned());
    line.extend(command.get_args().map(ToOwned::to_owned));
    *command = Command::new("sh");
    command.arg("-c").arg(shell).args(line)
}

/// Runs a program silently. Returns true if it succeeded.
fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    let command = command.args(arguments).stdin(Stdio::null());
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    child.is_ok_and(|mut child| wait(program, &mut child).success())
}

/// A process that loads the machine until it is dropped.
pub struct Busy(Child);

impl Busy {
    /// Starts a process that keeps one CPU busy.
    pub fn on(cpu: u32) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", "while :; do :; done"]);
        Self::with(on_cpu(&mut command, cpu))
    }

    pub fn with(command: &mut Command) -> Self {
        Self(start(command))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A limit for cgroups of version 1 and 2: the directory of the groups, the file and the value.
type Limits = [(&'static str, &'static str, String); 2];

/// Returns the limit to the time of this many CPUs.
fn quota(cpus: f64) -> Limits {
    quota_of(cpus, 100_000)
}

/// Returns the limit in periods of `us` microseconds, for which version 1 has a separate file.
fn quota_of(cpus: f64, period_us: u64) -> Limits {
    let quota = (cpus * period_us as f64) as u64;
    [
        ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", format!("{quota}")),
        ("/sys/fs/cgroup", "cpu.max", format!("{quota} {period_us}")),
    ]
}

/// A cgroup that the test made.
pub struct Cgroup(PathBuf);

impl Cgroup {
    /// Makes a cgroup with the time of this many CPUs; `None`, with a printed reason, if it cannot.
    pub fn with_quota(cpus: f64) -> Option<Self> {
        allowed(Self::with(quota(cpus)), "no cgroup CPU controller that this user may write")
    }

    /// Makes a cgroup with a quota in periods of this many microseconds.
    pub fn with_quota_of(cpus: f64, period_us: u64) -> Option<Self> {
        let group = Self::with(quota_of(1000.0, 100_000)).filter(|group| {
            let v1 = [
                ("cpu.cfs_period_us", format!("{period_us}")),
                ("cpu.cfs_quota_us", format!("{}", (cpus * period_us as f64) as u64)),
            ];
            let v2 = [("cpu.max", format!("{} {period_us}", (cpus * period_us as f64) as u64))];
            let set = |(file, value): &(&str, String)| fs::write(group.0.join(file), value).is_ok();
            v2.iter().all(set) || v1.iter().all(set)
        });
        allowed(group, "no cgroup CPU controller that this user may write")
    }

    /// Makes a cgroup with these CPUs; `None`, with a printed reason, if it cannot.
    pub fn with_cpus(cpus: &str) -> Option<Self> {
        let old = Self::with([
            ("/sys/fs/cgroup/cpuset", "cpuset.cpus", cpus.to_owned()),
            ("/sys/fs/cgroup", "cpuset.cpus", cpus.to_owned()),
        ]);
        // A cgroup of version 1 takes no process before it has memory nodes.
        let old = old.inspect(|group| drop(fs::write(group.0.join("cpuset.mems"), "0")));
        allowed(old, "no cgroup cpuset controller that this user may write")
    }

    /// Changes the CPUs of the cgroup. Returns false if it cannot.
    pub fn set_cpus(&self, cpus: &str) -> bool {
        fs::write(self.0.join("cpuset.cpus"), cpus).is_ok()
    }

    /// Makes a cgroup that can be frozen; `None`, with a printed reason, if it cannot.
    pub fn freezable() -> Option<Self> {
        let made = Self::with([
            ("/sys/fs/cgroup/freezer", "freezer.state", "THAWED".to_owned()),
            ("/sys/fs/cgroup", "cgroup.freeze", "0".to_owned()),
        ]);
        allowed(made, "no cgroup freezer that this user may write")
    }

    /// Stops or resumes all processes of the cgroup.
    pub fn freeze(&self, frozen: bool) {
        let (v1, v2) = if frozen { ("FROZEN", "1") } else { ("THAWED", "0") };
        if fs::write(self.0.join("freezer.state"), v1).is_err() {
            let _ = fs::write(self.0.join("cgroup.freeze"), v2);
        }
    }

    /// Makes a cgroup with at most this many bytes; `None`, with a printed reason, if it cannot.
    pub fn with_memory(bytes: u64) -> Option<Self> {
        let made = Self::with([
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", format!("{bytes}")),
            ("/sys/fs/cgroup", "memory.max", format!("{bytes}")),
        ]);
        allowed(made, "no cgroup memory controller that this user may write")
    }

    /// Makes a cgroup with at most this many threads; `None`, with a printed reason, if it cannot.
    pub fn with_processes(most: u64) -> Option<Self> {
        let made = Self::with([
            ("/sys/fs/cgroup/pids", "pids.max", format!("{most}")),
            ("/sys/fs/cgroup", "pids.max", format!("{most}")),
        ]);
        allowed(made, "no cgroup pids controller that this user may write")
    }

    /// Makes a cgroup with the first of these limits that can be set.
    fn with(limits: Limits) -> Option<Self> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("proofmark-test-{}-{number}", std::process::id());
        for (root, file, value) in limits {
            let group = Self(Path::new(root).join(&name));
            if fs::create_dir(&group.0).is_ok() && fs::write(group.0.join(file), value).is_ok() {
                return Some(group);
            }
        }
        None
    }

    /// Changes the quota to the time of this many CPUs. Returns false if it cannot.
    pub fn set_quota(&self, cpus: f64) -> bool {
        quota(cpus).iter().any(|(_, file, value)| fs::write(self.0.join(file), value).is_ok())
    }

    /// Makes a cgroup that gets the CPUs before all others; `None` if it cannot.
    pub fn preferred() -> Option<Self> {
        // Much more than a process uses.
        Self::with(quota(1000.0)).inspect(Self::prefer)
    }

    /// Moves a running process into the cgroup.
    pub fn admit(&self, pid: u32) {
        fs::write(self.0.join("cgroup.procs"), pid.to_string()).unwrap();
    }

    /// Gives the cgroup the CPUs before all others, so that only its quota limits it.
    pub fn prefer(&self) {
        let _ = fs::write(self.0.join("cpu.shares"), "262144");
        let _ = fs::write(self.0.join("cpu.weight"), "10000");
    }

    pub fn enter<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        wrap(
            command,
            &format!("echo $$ > '{}/cgroup.procs' && exec \"$0\" \"$@\"", self.0.display()),
        )
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // A cgroup with processes cannot be removed, and one may still run.
        let left = fs::read_to_string(self.0.join("cgroup.procs")).unwrap_or_default();
        let outside = self.0.with_file_name("cgroup.procs");
        left.lines().for_each(|pid| drop(fs::write(&outside, pid)));
        let _ = fs::remove_dir(&self.0);
    }
}

/// Returns the process ids of the children of a process.
pub fn children(parent: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|e| e.file_name().to_str()?.parse().ok());
    pids.filter(|pid| status(*pid, "PPid") == parent.to_string()).collect()
}

/// Returns true if a process exists and is no zombie.
pub fn is_alive(pid: u32) -> bool {
    !["", "Z", "X"].contains(&status(pid, "State").get(..1).unwrap_or_default())
}

/// Returns a field of /proc/PID/status; empty if the process has ended.
pub fn status(pid: u32, field: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    value.unwrap_or_default().trim().to_owned()
}

/// Sends a signal by its short name, such as `INT`.
pub fn kill(pid: u32, signal: &str) {
    assert!(signal_to(pid, signal));
}

/// Sends a signal. Returns false if the process has ended.
pub fn signal_to(pid: u32, signal: &str) -> bool {
    succeeds("sh", &["-c", &format!("kill -{signal} {pid}")])
}
