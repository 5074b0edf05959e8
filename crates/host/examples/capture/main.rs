//! Captures what the probes read on this machine into a folder, so that it can
//! become a fixture: `cargo run -p proofmark-host --example capture -- DIR [DISK]`.
//! DISK is the folder to look at for the disk workloads, absolute and without links, `/`
//! if left out. Of /proc/self/mountinfo only the cgroup mounts and those on the
//! way to DISK (and to files of loop devices under it) are kept, of environments nothing, and of
//! the firmware's tables and disks no serial numbers; the machine's network addresses are kept.
//! Look through the folder before you share it.

mod storage;

use std::io;
use std::path::{Path, PathBuf};

use proofmark_host::Root;

/// Files, and what a name that ends with `*` begins with.
const FILES: &[&str] = &[
    "/etc/os-release",
    "/proc/cpuinfo",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/self/cgroup",
    "/proc/self/status",
    "/proc/stat",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/ostype",
    "/run/.containerenv",
    "/run/systemd/container",
    "/.dockerenv",
    "/sys/class/dmi/id/product_name",
    "/sys/class/dmi/id/sys_vendor",
    "/sys/class/net/*/device/uevent",
    "/sys/class/net/*/ifindex",
    "/sys/class/net/*/iflink",
    "/sys/class/net/*/mtu",
    "/sys/class/net/*/speed",
    "/sys/class/net/*/tun_flags",
    "/sys/class/net/*/type",
    "/sys/class/net/*/uevent",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "/sys/devices/system/cpu/cpu*/acpi_cppc/nominal_freq",
    "/sys/devices/system/cpu/cpu*/cache/index*/coherency_line_size",
    "/sys/devices/system/cpu/cpu*/cache/index*/level",
    "/sys/devices/system/cpu/cpu*/cache/index*/shared_cpu_list",
    "/sys/devices/system/cpu/cpu*/cache/index*/size",
    "/sys/devices/system/cpu/cpu*/cache/index*/type",
    "/sys/devices/system/cpu/cpu*/cache/index*/ways_of_associativity",
    "/sys/devices/system/cpu/cpu*/cpufreq/base_frequency",
    "/sys/devices/system/cpu/cpu*/cpufreq/cpuinfo_max_freq",
    "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    "/sys/devices/system/cpu/cpu*/regs/identification/midr_el1",
    "/sys/devices/system/cpu/cpu*/topology/core_cpus_list",
    "/sys/devices/system/cpu/cpu*/topology/core_id",
    "/sys/devices/system/cpu/cpu*/topology/physical_package_id",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/node/node*/cpulist",
    "/sys/devices/system/node/node*/meminfo",
    "/sys/hypervisor/type",
    "/sys/kernel/mm/transparent_hugepage/enabled",
];
/// Folders whose presence says something, kept as empty files.
const MARKS: &[&str] = &[
    "/sys/class/net/*/bonding",
    "/sys/class/net/*/bridge",
    "/sys/class/net/*/lower_*",
    "/sys/class/net/*/phy80211",
    "/sys/class/net/*/wireless",
    "/sys/fs/btrfs/*/devices/*",
];
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
    let (cpuid, addresses) = (Root::live().cpuid_text(), Root::live().addresses_text());
    for (path, text) in [("/cpuid.txt", cpuid), ("/addresses", addresses)] {
        text.map_or(Ok(()), |text| write(&folder, path, &text))?;
    }
    for path in FILES.iter().flat_map(|pattern| expand(pattern)) {
        copy(&folder, &path)?;
    }
    for path in MARKS.iter().flat_map(|pattern| expand(pattern)) {
        write(&folder, &path, "")?;
    }
    let disks = storage::capture(&folder, &disk)?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let on_way = |point: &str| disks.iter().any(|disk| disk.starts_with(point));
    let kept =
        lines(&mounts, |l| l.contains(" - cgroup") || l.split(' ').nth(4).is_some_and(on_way));
    write(&folder, "/proc/self/mountinfo", &kept)?;
    cgroups(&folder, &mounts)
}

/// The limit files of the folders that this process's cgroups can be in.
fn cgroups(folder: &Path, mounts: &str) -> io::Result<()> {
    let paths = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mounts = mounts.lines().filter(|l| l.contains(" - cgroup"));
    for point in mounts.filter_map(|l| l.split(' ').nth(4)) {
        for path in paths.lines().filter_map(|l| l.splitn(3, ':').nth(2)) {
            for cgroup in Path::new(path).ancestors() {
                let base = format!("{point}{}", cgroup.display());
                for file in CGROUP_FILES {
                    copy(folder, &format!("{}/{file}", base.trim_end_matches('/')))?;
                }
            }
        }
    }
    Ok(())
}

fn lines(text: &str, keep: impl Fn(&str) -> bool) -> String {
    text.lines().filter(|l| keep(l)).map(|l| l.to_owned() + "\n").collect()
}

/// The paths that fit a pattern and exist.
fn expand(pattern: &str) -> Vec<String> {
    let Some((before, after)) = pattern.split_once('*') else {
        let there = Path::new(pattern).exists().then(|| pattern.to_owned());
        return there.into_iter().collect();
    };
    let (folder, begin) = before.rsplit_once('/').unwrap_or(("", before));
    let mut fitting = names(folder);
    fitting.retain(|name| name.starts_with(begin));
    fitting.iter().flat_map(|name| expand(&format!("{folder}/{name}{after}"))).collect()
}

fn names(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().into_string().ok()).collect()
}

/// Copies a file, if it can be read: as much of it as the probes need.
fn copy(folder: &Path, path: &str) -> io::Result<()> {
    let Ok(text) = std::fs::read_to_string(path) else { return Ok(()) };
    let kept = match path {
        // Enough to know every kind of core.
        "/proc/cpuinfo" => text.split_inclusive("\n\n").take(4).collect(),
        "/proc/stat" => text.split_inclusive('\n').take(1).collect(),
        "/proc/self/status" => lines(&text, |l| l.starts_with("Cpus_allowed_list")),
        _ => text,
    };
    write(folder, path, &kept)
}

fn write(folder: &Path, path: &str, text: &str) -> io::Result<()> {
    let to = folder.join(path.trim_start_matches('/'));
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(to, text)
}
