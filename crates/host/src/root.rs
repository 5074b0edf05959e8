//! Source of the probes' data: the live machine, or a folder captured on another.
//!
//! A captured folder holds `arch` (as `uname -m` prints it), `cpuid.txt` (the format of `cpuid -1
//! -r`), `space` (total and free bytes of the disk folder's file system, as two numbers, since no
//! file of the system has them), `addresses` (an interface and an IP address per line), and the
//! files and links below `proc/`, `sys/`, `etc/` and `run/` under their own paths.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use io_uring::IoUring;
use proofmark_model::{Probe, lock};

use crate::addresses::{self, Address};
use crate::cpuid::Dump;
pub(crate) use crate::reason::{Reason, fault, probe, probe_from};
use crate::text::{self, cpu_list};

/// Maximum bytes read of a file; files that probes read are smaller.
const LARGEST_FILE: u64 = 8 << 20;

/// Kernel switch since Linux 6.6: 0 allows io_uring to all, 1 to a group, 2 to nobody.
const IO_URING_SWITCH: &str = "/proc/sys/kernel/io_uring_disabled";

/// The live machine or a captured one.
#[derive(Debug, Clone)]
pub struct Root {
    base: PathBuf,
    live: bool,
    affinity: Option<Vec<u32>>,
    pinning: Option<Result<(), String>>,
    /// Paths that probes requested, if recorded.
    requested: Option<Arc<Mutex<BTreeSet<String>>>>,
}

impl Root {
    /// Returns the machine that runs this process.
    pub fn live() -> Self {
        Self {
            base: PathBuf::from("/"),
            live: true,
            affinity: None,
            pinning: None,
            requested: None,
        }
    }

    /// Returns the live machine and records the probes' paths: see [`Root::requested_paths`].
    pub fn recording() -> Self {
        Self { requested: Some(Arc::default()), ..Self::live() }
    }

    /// Returns the paths that probes requested so far, and the names they found in folders.
    pub fn requested_paths(&self) -> BTreeSet<String> {
        let asked = self.requested.as_ref().map(|requested| lock(requested));
        asked.map(|paths| paths.clone()).unwrap_or_default()
    }

    /// Returns the machine captured in `folder`.
    pub fn fixture(folder: impl Into<PathBuf>) -> Self {
        Self { base: folder.into(), live: false, affinity: None, pinning: None, requested: None }
    }

    /// Sets the caller's affinity mask, used if /proc has none.
    #[must_use]
    pub fn with_affinity(self, cpus: Option<Vec<u32>>) -> Self {
        Self { affinity: cpus, ..self }
    }

    /// Sets the result of pinning the caller to the CPUs that it may use anyway.
    #[must_use]
    pub fn with_pinning(self, tried: Option<Result<(), String>>) -> Self {
        Self { pinning: tried, ..self }
    }

    fn locate(&self, path: &str) -> PathBuf {
        if let Some(requested) = &self.requested {
            lock(requested).insert(path.to_owned());
        }
        self.inside(path)
    }

    fn inside(&self, path: &str) -> PathBuf {
        self.base.join(path.trim_start_matches('/'))
    }

    /// Reads a file, given by its absolute path on the machine.
    pub(crate) fn read(&self, path: &str) -> Result<String, Reason> {
        self.head(path, LARGEST_FILE)
    }

    /// Reads the first `limit` bytes of a file as text and replaces bytes that are not UTF-8.
    pub(crate) fn head(&self, path: &str, limit: u64) -> Result<String, Reason> {
        let bytes = self.bytes(path, limit).map_err(|e| fault(path, words(&e)))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Reads the first `limit` bytes of a file.
    pub(crate) fn bytes(&self, path: &str, limit: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(self.locate(path))?.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a file of one line without its end; fails if it is empty.
    pub(crate) fn line(&self, path: &str) -> Result<String, Reason> {
        let text = self.read(path)?;
        match text.trim() {
            "" => Err(fault(path, "is empty")),
            line => Ok(line.to_owned()),
        }
    }

    pub(crate) fn number<T: std::str::FromStr>(&self, path: &str) -> Result<T, Reason> {
        let line = self.line(path)?;
        line.parse().map_err(|_| fault(path, format!("'{line}' is not a number")))
    }

    pub(crate) fn cpus(&self, path: &str) -> Result<Vec<u32>, Reason> {
        cpu_list(&self.line(path)?).map_err(|e| fault(path, e))
    }

    /// Returns the major and minor number of a block device's node: `8:16`.
    pub(crate) fn block_number(&self, path: &str) -> Option<String> {
        let found = std::fs::metadata(self.locate(path)).ok()?;
        let number = std::os::unix::fs::MetadataExt::rdev(&found);
        let is_block = std::os::unix::fs::FileTypeExt::is_block_device(&found.file_type());
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        is_block.then(|| format!("{major}:{minor}"))
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.locate(path).exists()
    }

    /// Returns the sorted names in a folder that start with a prefix.
    pub(crate) fn names(&self, path: &str, begin: &str) -> Result<Vec<String>, Reason> {
        let entries = std::fs::read_dir(self.inside(path));
        let entries = entries.map_err(|e| fault(path, words(&e)))?.flatten();
        let names = entries.filter_map(|e| e.file_name().into_string().ok());
        let mut names: Vec<_> = names.filter(|name| name.starts_with(begin)).collect();
        names.sort();
        names.iter().for_each(|name| drop(self.locate(&below(path, name))));
        Ok(names)
    }

    /// Resolves links in a path. Links of a captured machine must be relative.
    pub(crate) fn real(&self, path: &str) -> Result<String, Reason> {
        let failed = |e: io::Error| fault(path, words(&e));
        let found = self.locate(path).canonicalize().map_err(failed)?;
        let base = self.base.canonicalize().map_err(failed)?;
        match found.strip_prefix(base).ok().and_then(Path::to_str) {
            Some(inside) => Ok(format!("/{inside}")),
            None => Err(fault(path, "the path leads out of the machine, or its name is not UTF-8")),
        }
    }

    /// Resolves a folder's path; on a captured machine, returns it unchanged.
    pub(crate) fn folder(&self, path: &str) -> Result<String, Reason> {
        if !self.live {
            return Ok(path.to_owned());
        }
        let refused = |e: io::Error| match e.kind() {
            io::ErrorKind::NotFound => format!("folder {path} does not exist"),
            io::ErrorKind::PermissionDenied => {
                format!("no permission to read {path}")
            }
            _ => fault(path, e),
        };
        let found = std::fs::metadata(path).map_err(refused)?;
        match found.is_dir() {
            true => self.real(path),
            false => Err(format!("{path} is not a folder")),
        }
    }

    /// Checks that this user may create files in a folder; always true on a captured machine.
    pub(crate) fn writable(&self, folder: &str) -> Result<(), Reason> {
        use rustix::fs::{Access, access};
        if !self.live {
            return Ok(());
        }
        access(folder, Access::WRITE_OK | Access::EXEC_OK).map_err(|e| match e {
            rustix::io::Errno::ROFS => {
                format!("{folder} is on a read-only file system")
            }
            _ => format!("no permission to write in {folder}"),
        })
    }

    /// Returns the size of a folder's file system and the bytes that this user may still write
    /// (statvfs(3)).
    pub(crate) fn space(&self, folder: &str) -> Result<(u64, u64), Reason> {
        if !self.live {
            let text = self.line("/space")?;
            let numbers: Result<Vec<u64>, _> = text.split_whitespace().map(str::parse).collect();
            return match numbers.as_deref() {
                Ok([all, free]) => Ok((*all, *free)),
                _ => Err(fault("/space", format!("'{text}' is not two numbers"))),
            };
        }
        let found = rustix::fs::statvfs(folder)
            .map_err(|e| fault(folder, format!("statvfs: {}", io::Error::from(e))))?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        Ok((bytes(found.f_blocks), bytes(found.f_bavail)))
    }

    /// Probes io_uring by setting up and closing a ring. The kernel may be built without it, a
    /// switch may forbid it, and container managers' seccomp filters refuse it (io_uring_setup(2)).
    pub(crate) fn io_uring(&self) -> Probe<bool> {
        if !self.live {
            return Probe::missing("io_uring is tried only on the live machine");
        }
        match IoUring::new(1) {
            Ok(_) => Probe::known(true, "io_uring_setup"),
            Err(error) => Probe::known(false, refused(&error, self.line(IO_URING_SWITCH).ok())),
        }
    }

    /// Probes whether threads can be pinned; container managers' seccomp filters may refuse it.
    pub(crate) fn pinning(&self) -> Probe<bool> {
        match &self.pinning {
            None => Probe::missing("pinning was not tried"),
            Some(Ok(())) => Probe::known(true, "sched_setaffinity"),
            Some(Err(error)) => Probe::known(false, format!("sched_setaffinity: {error}")),
        }
    }

    pub(crate) fn addresses(&self) -> Result<Vec<Address>, Reason> {
        if self.live { addresses::live() } else { addresses::parse(&self.read("/addresses")?) }
    }

    /// Returns this machine's addresses in the format of `addresses`; `None` if unknown.
    pub fn addresses_text(&self) -> Option<String> {
        let all = self.addresses().ok()?;
        Some(all.iter().map(|a| format!("{} {}\n", a.interface, a.ip)).collect())
    }

    pub(crate) fn arch(&self) -> String {
        if self.live {
            return std::env::consts::ARCH.to_owned();
        }
        self.line("/arch").unwrap_or_else(|_| "unknown".to_owned())
    }

    pub(crate) fn cpuid(&self) -> Result<Dump, Reason> {
        if self.live {
            return Dump::read();
        }
        match self.read("/cpuid.txt") {
            Ok(text) => Dump::parse(&text),
            Err(_) if self.arch() != "x86_64" => {
                Err("CPUID is an instruction of x86 processors".to_owned())
            }
            Err(_) => Err("CPUID was not captured".to_owned()),
        }
    }

    /// Returns CPUID in the format of `cpuid.txt`; `None` without CPUID.
    pub fn cpuid_text(&self) -> Option<String> {
        self.cpuid().ok().map(|dump| dump.to_text())
    }

    /// Returns the CPUs that the calling thread may run on, and the source.
    pub(crate) fn affinity(&self) -> Result<(Vec<u32>, &'static str), Reason> {
        let mut last = "not examined".to_owned();
        for path in ["/proc/thread-self/status", "/proc/self/status"] {
            match self.read(path).and_then(|text| allowed_list(path, &text)) {
                Ok(cpus) => return Ok((cpus, path)),
                Err(reason) => last = reason,
            }
        }
        self.affinity.clone().map(|cpus| (cpus, "sched_getaffinity")).ok_or(last)
    }
}

/// Parses the affinity mask in a `status` file of /proc (proc(5)).
fn allowed_list(path: &str, text: &str) -> Result<Vec<u32>, Reason> {
    let list = text::field(text, "Cpus_allowed_list")
        .ok_or_else(|| fault(path, "no Cpus_allowed_list"))?;
    cpu_list(list).map_err(|e| fault(path, e))
}

/// Returns why io_uring is refused, with the value of the switch.
fn refused(error: &io::Error, switch: Option<String>) -> String {
    let switch = switch.map(|value| format!("; {IO_URING_SWITCH} is {value}")).unwrap_or_default();
    format!("io_uring_setup: {error}{switch}")
}

pub(crate) fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

/// Joins a folder and a name with one slash.
pub(crate) fn below(folder: &str, name: &str) -> String {
    if folder.ends_with('/') { format!("{folder}{name}") } else { format!("{folder}/{name}") }
}

/// Returns the parent folder; `None` for the root.
pub(crate) fn above(folder: &str) -> Option<&str> {
    Path::new(folder).parent().and_then(Path::to_str)
}

#[cfg(test)]
mod tests;
