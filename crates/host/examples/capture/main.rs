//! Captures what the probes read on this machine into a folder, so that it can
//! become a fixture: `cargo run -p proofmark-host --example capture -- DIR [DISK]`.
//! DISK is the folder to look at for the disk kernels, absolute and without links, `/`
//! if left out. Of /proc/self/mountinfo only the cgroup mounts and those on the
//! way to DISK (and to files of loop devices under it) are kept, of environments nothing, and of the firmware's tables
//! and disks no serial numbers; the machine's network addresses are kept. Look through the folder before you share it.

mod network;
mod storage;

use std::io;
use std::path::{Path, PathBuf};

use proofmark_host::Root;

const FILES: &[&str] = &[
    "/etc/os-release",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/self/cgroup",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/ostype",
    "/run/.containerenv",
    "/run/systemd/container",
    "/.dockerenv",
    "/sys/class/dmi/id/product_name",
    "/sys/class/dmi/id/sys_vendor",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "/sys/devices/system/cpu/online",
    "/sys/hypervisor/type",
    "/sys/kernel/mm/transparent_hugepage/enabled",
];
const CPU_FILES: &[&str] = &[
    "acpi_cppc/nominal_freq",
    "cpufreq/base_frequency",
    "cpufreq/cpuinfo_max_freq",
    "cpufreq/scaling_governor",
    "regs/identification/midr_el1",
    "topology/core_cpus_list",
    "topology/core_id",
    "topology/physical_package_id",
];
const CACHE_FILES: &[&str] =
    &["coherency_line_size", "level", "shared_cpu_list", "size", "type", "ways_of_associativity"];
const CGROUP_FILES: &[&str] = &[
    "blkio.throttle.read_bps_device",
    "blkio.throttle.read_iops_device",
    "blkio.throttle.write_bps_device",
    "blkio.throttle.write_iops_device",
    "cpu.cfs_period_us",
    "cpu.cfs_quota_us",
    "cpu.max",
    "cpu.stat",
    "cpuset.cpus.effective",
    "cpuset.effective_cpus",
    "io.max",
    "memory.kmem.usage_in_bytes",
    "memory.limit_in_bytes",
    "memory.max",
    "memory.stat",
];

fn main() -> io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: capture DIR [DISK]");
        std::process::exit(2);
    };
    let disk = std::env::args().nth(2).unwrap_or_else(|| "/".to_owned());
    write(&folder, "/arch", std::env::consts::ARCH)?;
    if let Some(text) = Root::live().cpuid_text() {
        write(&folder, "/cpuid.txt", &text)?;
    }
    for path in FILES {
        copy(&folder, path, |text| text)?;
    }
    copy(&folder, "/proc/cpuinfo", first_blocks)?;
    copy(&folder, "/proc/stat", |text| {
        text.lines().take(1).map(|l| l.to_owned() + "\n").collect()
    })?;
    copy(&folder, "/proc/self/status", |t| lines(&t, |l| l.starts_with("Cpus_allowed_list")))?;
    let disks = storage::capture(&folder, &disk)?;
    copy(&folder, "/proc/self/mountinfo", |t| {
        let on_way = |point: &str| disks.iter().any(|disk| disk.starts_with(point));
        lines(&t, |l| l.contains(" - cgroup") || l.split(' ').nth(4).is_some_and(on_way))
    })?;
    for cpu in numbered("/sys/devices/system/cpu", "cpu") {
        let base = format!("/sys/devices/system/cpu/cpu{cpu}");
        for file in CPU_FILES {
            copy(&folder, &format!("{base}/{file}"), |text| text)?;
        }
        for index in numbered(&format!("{base}/cache"), "index") {
            for file in CACHE_FILES {
                copy(&folder, &format!("{base}/cache/index{index}/{file}"), |text| text)?;
            }
        }
    }
    for node in numbered("/sys/devices/system/node", "node") {
        let base = format!("/sys/devices/system/node/node{node}");
        copy(&folder, &format!("{base}/cpulist"), |text| text)?;
        copy(&folder, &format!("{base}/meminfo"), |t| lines(&t, |l| l.contains("MemTotal")))?;
    }
    network::capture(&folder)?;
    cgroups(&folder)
}

/// The limit files of the folders that this process's cgroups can be in.
fn cgroups(folder: &Path) -> io::Result<()> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let paths = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    for point in
        mounts.lines().filter(|l| l.contains(" - cgroup")).filter_map(|l| l.split(' ').nth(4))
    {
        for path in paths.lines().filter_map(|l| l.splitn(3, ':').nth(2)) {
            let mut here = Some(Path::new(path));
            while let Some(cgroup) = here {
                let cgroup = cgroup.to_string_lossy();
                let base = format!("{point}/{}", cgroup.trim_start_matches('/'));
                for file in CGROUP_FILES {
                    copy(folder, &format!("{}/{file}", base.trim_end_matches('/')), |text| text)?;
                }
                here = here.and_then(Path::parent);
            }
        }
    }
    Ok(())
}

fn lines(text: &str, keep: impl Fn(&str) -> bool) -> String {
    text.lines().filter(|l| keep(l)).map(|l| l.to_owned() + "\n").collect()
}

/// Enough of /proc/cpuinfo to know every kind of core.
fn first_blocks(text: String) -> String {
    text.split_inclusive("\n\n").take(4).collect()
}

fn numbered(folder: &str, prefix: &str) -> Vec<u32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().to_str()?.strip_prefix(prefix)?.parse().ok()).collect()
}

/// Copies a file, if it can be read, through a filter.
fn copy(folder: &Path, path: &str, filter: impl Fn(String) -> String) -> io::Result<()> {
    match std::fs::read_to_string(path) {
        Ok(text) => write(folder, path, &filter(text)),
        Err(_) => Ok(()),
    }
}

fn write(folder: &Path, path: &str, text: &str) -> io::Result<()> {
    let to = folder.join(path.trim_start_matches('/'));
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(to, text)
}
