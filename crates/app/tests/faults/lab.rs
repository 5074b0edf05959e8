//! What faults are planted with: cgroups, CPUs, busy processes, small disks.

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

/// Runs with no other test: for what disturbs, for a known rate, for counts of the whole machine.
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    TURN.write().unwrap_or_else(PoisonError::into_inner)
}

/// Runs with others that allow it: for how something ends and what is reported of it.
pub fn shared() -> RwLockReadGuard<'static, ()> {
    TURN.read().unwrap_or_else(PoisonError::into_inner)
}

/// What was planted; where this machine did not allow it, the test is skipped for that reason.
#[track_caller]
fn allowed<T>(planted: Option<T>, reason: &str) -> Option<T> {
    if planted.is_none() {
        skip(reason);
    }
    planted
}

pub fn proofmark() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proofmark"));
    // It finds no reference tool, whatever this machine has, and leaves this user's history alone.
    command.env("PATH", "/nonexistent").env("PROOFMARK_HISTORY", "off");
    command
}

/// Runs it into a folder of its own; the run and the exit status.
pub fn run_json(command: &mut Command) -> (Run, Option<i32>) {
    let dir = tempfile::tempdir().unwrap();
    let out = output(command.args(["--json", "-", "--out"]).arg(dir.path().join("out")));
    let text = String::from_utf8(out.stdout).unwrap();
    let run = proofmark_model::read_run(&text)
        .unwrap_or_else(|e| panic!("{e}\n{}", String::from_utf8_lossy(&out.stderr)));
    (run, out.status.code())
}

/// Starts it without a standard input, output or error.
pub fn start(command: &mut Command) -> Child {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Runs a command that must be refused, in one line that says this, before it measures or writes.
#[track_caller]
pub fn refused(command: &mut Command, says: &str) {
    let dir = tempfile::tempdir().unwrap();
    let out = output(command.current_dir(dir.path()));
    let text = String::from_utf8_lossy(&out.stderr);
    assert_eq!((out.status.code(), text.lines().count()), (Some(2), 1), "{text}");
    assert!(text.contains(says) && out.stdout.is_empty(), "{text}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "it wrote something");
}

/// How grave a check's finding is, if it found something.
pub fn found(m: &Measurement, check: &str) -> Option<Severity> {
    m.findings.iter().find(|f| f.check == check).map(|f| f.severity)
}

/// A CPU that this process may use, by its affinity mask.
pub fn a_cpu() -> Option<u32> {
    let list = status(std::process::id(), "Cpus_allowed_list");
    let first = list.split([',', '-']).next().and_then(|cpu| cpu.parse().ok());
    allowed(first, "no affinity mask")
}

/// The command confined to one CPU, as by `taskset -c`.
pub fn on_cpu(command: &mut Command, cpu: u32) -> &mut Command {
    wrap(command, &format!("exec taskset -c {cpu} \"$0\" \"$@\""))
}

/// Makes a command run through a line of shell, in which `"$0" "$@"` is the command with the
/// variables set for it. (The shell keeps its own: the command's `PATH` may hold no `taskset`.)
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

/// Whether a program succeeded, silently.
fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    let command = command.args(arguments).stdin(Stdio::null());
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    child.is_ok_and(|mut child| wait(program, &mut child).success())
}

/// Other work, until it is dropped.
pub struct Busy(Child);

impl Busy {
    /// A process that keeps one CPU busy.
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

/// A limit as versions 1 and 2 of cgroups have it: the folder of its groups, its file and its value.
type Limits = [(&'static str, &'static str, String); 2];

/// So many CPUs' worth of time.
fn quota(cpus: f64) -> Limits {
    quota_of(cpus, 100_000)
}

/// The same in periods of so many microseconds, which cgroups of version 1 have in a file of their own.
fn quota_of(cpus: f64, period_us: u64) -> Limits {
    let quota = (cpus * period_us as f64) as u64;
    [
        ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", format!("{quota}")),
        ("/sys/fs/cgroup", "cpu.max", format!("{quota} {period_us}")),
    ]
}

/// A cgroup of the test's own.
pub struct Cgroup(PathBuf);

impl Cgroup {
    /// A cgroup with so many CPUs' worth of time; `None` where none can be made, which is said.
    pub fn with_quota(cpus: f64) -> Option<Self> {
        allowed(Self::with(quota(cpus)), "no cgroup CPU controller that this user may write")
    }

    /// The same in periods of so many microseconds.
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

    /// A cgroup with these CPUs; `None` where none can be made, which is said.
    pub fn with_cpus(cpus: &str) -> Option<Self> {
        let old = Self::with([
            ("/sys/fs/cgroup/cpuset", "cpuset.cpus", cpus.to_owned()),
            ("/sys/fs/cgroup", "cpuset.cpus", cpus.to_owned()),
        ]);
        // Version 1 takes no process before it has memory.
        let old = old.inspect(|group| drop(fs::write(group.0.join("cpuset.mems"), "0")));
        allowed(old, "no cgroup cpuset controller that this user may write")
    }

    /// Gives it other CPUs; whether that could be done.
    pub fn set_cpus(&self, cpus: &str) -> bool {
        fs::write(self.0.join("cpuset.cpus"), cpus).is_ok()
    }

    /// A cgroup that can be frozen; `None` where none can be made, which is said.
    pub fn freezable() -> Option<Self> {
        let made = Self::with([
            ("/sys/fs/cgroup/freezer", "freezer.state", "THAWED".to_owned()),
            ("/sys/fs/cgroup", "cgroup.freeze", "0".to_owned()),
        ]);
        allowed(made, "no cgroup freezer that this user may write")
    }

    /// Stops or resumes all that is in it.
    pub fn freeze(&self, frozen: bool) {
        let (v1, v2) = if frozen { ("FROZEN", "1") } else { ("THAWED", "0") };
        if fs::write(self.0.join("freezer.state"), v1).is_err() {
            let _ = fs::write(self.0.join("cgroup.freeze"), v2);
        }
    }

    /// A cgroup that may hold so many bytes; `None` where none can be made, which is said.
    pub fn with_memory(bytes: u64) -> Option<Self> {
        let made = Self::with([
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", format!("{bytes}")),
            ("/sys/fs/cgroup", "memory.max", format!("{bytes}")),
        ]);
        allowed(made, "no cgroup memory controller that this user may write")
    }

    /// A cgroup of so many processes and threads; `None` where none can be made, which is said.
    pub fn with_processes(most: u64) -> Option<Self> {
        let made = Self::with([
            ("/sys/fs/cgroup/pids", "pids.max", format!("{most}")),
            ("/sys/fs/cgroup", "pids.max", format!("{most}")),
        ]);
        allowed(made, "no cgroup pids controller that this user may write")
    }

    /// The first of these limits that can be set.
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

    /// Changes its quota to so many CPUs' worth of time; whether that could be done.
    pub fn set_quota(&self, cpus: f64) -> bool {
        quota(cpus).iter().any(|(_, file, value)| fs::write(self.0.join(file), value).is_ok())
    }

    /// A cgroup that gets the CPUs before all others who want them; `None` where none can be made.
    pub fn preferred() -> Option<Self> {
        // Far more than a process uses.
        Self::with(quota(1000.0)).inspect(Self::prefer)
    }

    /// Takes a process in that runs already.
    pub fn admit(&self, pid: u32) {
        fs::write(self.0.join("cgroup.procs"), pid.to_string()).unwrap();
    }

    /// Gives it the CPUs before all others who want them, so that only its quota limits it.
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
        // A cgroup goes only without processes, and one that was admitted may still run.
        let left = fs::read_to_string(self.0.join("cgroup.procs")).unwrap_or_default();
        let outside = self.0.with_file_name("cgroup.procs");
        left.lines().for_each(|pid| drop(fs::write(&outside, pid)));
        let _ = fs::remove_dir(&self.0);
    }
}

/// Process ids of the children of a process.
pub fn children(parent: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|e| e.file_name().to_str()?.parse().ok());
    pids.filter(|pid| status(*pid, "PPid") == parent.to_string()).collect()
}

/// Whether a process is there and no zombie.
pub fn is_alive(pid: u32) -> bool {
    !["", "Z", "X"].contains(&status(pid, "State").get(..1).unwrap_or_default())
}

/// What /proc/PID/status has in a field; nothing for a process that is gone.
pub fn status(pid: u32, field: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    value.unwrap_or_default().trim().to_owned()
}

/// Sends a signal by its short name.
pub fn kill(pid: u32, signal: &str) {
    assert!(signal_to(pid, signal));
}

/// The same; whether the process was there.
pub fn signal_to(pid: u32, signal: &str) -> bool {
    succeeds("sh", &["-c", &format!("kill -{signal} {pid}")])
}
