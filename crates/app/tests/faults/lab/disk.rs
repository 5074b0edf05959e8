//! Tools to plant disk faults: file systems, limits of a cgroup, other writers, refused calls.

#![allow(unsafe_code)] // A system call filter is set between fork and exec.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use proofmark_testing::output;

use super::{Busy, Cgroup, allowed, succeeds};

/// Creates a directory on the disk of the build, removed with the test.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A file system that is mounted until it is dropped, and its device.
pub struct Mounted {
    at: tempfile::TempDir,
    under: Option<Under>,
}

/// The device of a file system of a test.
enum Under {
    Loop(String),
    Zram,
}

impl Mounted {
    /// Mounts a file system without a device, such as tmpfs; `None`, with a printed reason, if it
    /// cannot.
    pub fn of_kind(kind: &str, options: &str) -> Option<Self> {
        let at = folder();
        let path = at.path().to_str()?.to_owned();
        let mounted = succeeds("mount", &["-t", kind, "-o", options, kind, &path]);
        allowed(mounted.then(|| Self { at, under: None }), "this user may not mount")
    }

    /// Mounts ext4 on a loop device over a file of this many MiB; `None`, with a printed reason, if
    /// it cannot.
    pub fn on_loop(folder: &Path, mib: u64) -> Option<Self> {
        allowed(Self::looped(folder, mib), "no loop device")
    }

    fn looped(folder: &Path, mib: u64) -> Option<Self> {
        let image = folder.join("image");
        File::create(&image).ok()?.set_len(mib << 20).ok()?;
        if !succeeds("losetup", &["--version"]) {
            return None;
        }
        let out = output(Command::new("losetup").args(["--find", "--show"]).arg(&image));
        let device = String::from_utf8(out.stdout).ok()?.trim().to_owned();
        let mounted = (out.status.success() && !device.is_empty())
            .then(|| Self::ext4(&device, Under::Loop(device.clone())))?;
        // The kernel removes the device with its last user.
        let _ = fs::remove_file(&image);
        mounted
    }

    /// Mounts ext4 on zram0, compressed memory; `None`, with a printed reason, if none is free.
    pub fn on_zram(mib: u64) -> Option<Self> {
        let size = "/sys/block/zram0/disksize";
        // Otherwise another program uses it.
        let is_free = fs::read_to_string(size).is_ok_and(|used| used.trim() == "0")
            && fs::write(size, format!("{mib}M")).is_ok();
        let mounted = is_free.then(|| Self::ext4("/dev/zram0", Under::Zram)).flatten();
        allowed(mounted, "no zram device that is free")
    }

    fn ext4(device: &str, under: Under) -> Option<Self> {
        let mounted = Self { at: folder(), under: Some(under) };
        let path = mounted.path().to_str()?;
        let made = succeeds("mkfs.ext4", &["-q", "-F", device])
            && succeeds("mount", &["-t", "ext4", device, path]);
        made.then_some(mounted)
    }

    pub fn path(&self) -> &Path {
        self.at.path()
    }

    pub fn make_read_only(&self) {
        assert!(succeeds("mount", &["-o", "remount,ro", self.path().to_str().unwrap()]));
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // The kernel closes the files of a ring of io_uring some time after its process ended.
        let started = Instant::now();
        let path = self.at.path().to_string_lossy().into_owned();
        while !succeeds("umount", &[&path]) && started.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(50));
        }
        match &self.under {
            Some(Under::Loop(device)) => drop(succeeds("losetup", &["--detach", device])),
            Some(Under::Zram) => drop(fs::write("/sys/block/zram0/reset", "1")),
            None => {}
        }
    }
}

/// Returns true if a process has a file of that directory open, with or without a name.
pub fn has_open_files(folder: &Path) -> bool {
    let entries = |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten();
    entries(PathBuf::from("/proc"))
        .flat_map(|process| entries(process.path().join("fd")))
        .any(|fd| fs::read_link(fd.path()).is_ok_and(|file| file.starts_with(folder)))
}

/// A cgroup with limits on the whole disk of a directory.
pub struct Throttle {
    group: Cgroup,
    /// The disk as `major:minor`.
    number: String,
    /// Gives the processes inside the CPUs before other work, so that only the limits slow them.
    preferred: Option<Cgroup>,
}

impl Throttle {
    /// Makes a cgroup without a limit; `None`, with a printed reason, if it cannot.
    pub fn of_disk_under(folder: &Path) -> Option<Self> {
        allowed(Self::made(folder), "no blkio cgroup may be made")
    }

    fn made(folder: &Path) -> Option<Self> {
        let number = whole_disk(fs::metadata(folder).ok()?.dev())?;
        let name = format!("proofmark-io-{}", std::process::id());
        let v1 = Path::new("/sys/fs/cgroup/blkio");
        let v2 = Path::new("/sys/fs/cgroup");
        let root = if v1.join("blkio.throttle.read_bps_device").exists() { v1 } else { v2 };
        let group = Cgroup(root.join(name));
        fs::create_dir(&group.0).ok()?;
        // In version 2 a process has one cgroup for all its limits.
        group.prefer();
        let preferred = if root == v1 { Cgroup::preferred() } else { None };
        let throttle = Self { group, number, preferred };
        throttle.set("read_bps", 1 << 40).then_some(throttle)
    }

    /// Sets `read_bps`, `write_bps`, `read_iops` or `write_iops`. Returns false if it cannot.
    pub fn set(&self, what: &str, value: u64) -> bool {
        self.write(what, &value.to_string(), &value.to_string())
    }

    pub fn lift(&self, what: &str) {
        assert!(self.write(what, "0", "max"));
    }

    /// Writes a limit for version 1 or 2.
    fn write(&self, what: &str, v1: &str, v2: &str) -> bool {
        let file = self.group.0.join(format!("blkio.throttle.{what}_device"));
        if file.exists() {
            return fs::write(file, format!("{} {v1}", self.number)).is_ok();
        }
        let key = what.replace("read_", "r").replace("write_", "w");
        fs::write(self.group.0.join("io.max"), format!("{} {key}={v2}", self.number)).is_ok()
    }

    pub fn enter<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        if let Some(group) = &self.preferred {
            group.enter(command);
        }
        self.group.enter(command)
    }
}

/// Returns the number of a partition's disk, or the device's own.
fn whole_disk(device: u64) -> Option<String> {
    let (major, minor) = (libc::major(device), libc::minor(device));
    let of = |path: PathBuf| fs::read_to_string(path.join("dev")).ok();
    let own = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    let disk = if own.join("partition").exists() { own.parent()?.to_owned() } else { own };
    Some(of(disk)?.trim().to_owned())
}

/// Starts processes that write to the disk of a directory until dropped: 1 MiB by direct I/O again
/// and again. `None`, with a printed reason, if the file system takes no direct I/O.
pub fn neighbours_writing_to(folder: &Path, count: usize) -> Option<Vec<Busy>> {
    let neighbour = |i: usize| {
        let file = format!("of={}", folder.join(format!("neighbour{i}")).display());
        let writes = ["if=/dev/zero", &file, "bs=1M", "count=64", "oflag=direct", "conv=notrunc"];
        allowed(succeeds("dd", &writes).then_some(()), "no direct I/O here")?;
        let mut command = Command::new("sh");
        command.args(["-c", "while :; do dd \"$@\" 2>/dev/null; done", "sh"]).args(writes);
        Some(Busy::with(&mut command))
    };
    (0..count).map(neighbour).collect()
}

/// Makes the kernel refuse io_uring to the command, as a container's filter does.
pub fn without_io_uring(command: &mut Command) -> &mut Command {
    refusing(command, &[libc::SYS_io_uring_setup])
}

/// Makes the kernel refuse these system calls to the command, as a container's filter does.
pub fn refusing<'a>(command: &'a mut Command, calls: &[libc::c_long]) -> &'a mut Command {
    const ALLOW: u32 = 0x7fff_0000;
    const EPERM: u32 = 0x0005_0000 | 1;
    let op = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    // Load the number of the system call; if it is one of those, fail with EPERM.
    let mut filter = vec![op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    for call in calls {
        filter.push(op(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, *call as u32));
        filter.push(op(libc::BPF_RET | libc::BPF_K, 0, 0, EPERM));
    }
    filter.push(op(libc::BPF_RET | libc::BPF_K, 0, 0, ALLOW));
    let refuse = move || {
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
        // SAFETY: both calls take plain values and a program that lives as long as this closure.
        let set = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
                    == 0
        };
        if set { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: the code between fork and exec makes two system calls and allocates nothing.
    unsafe { command.pre_exec(refuse) }
}
