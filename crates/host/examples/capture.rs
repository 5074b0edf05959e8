//! Captures the files that the probes read on this machine into a folder, to become a fixture:
//! `cargo run -p proofmark-host --example capture -- DIR [DISK]`. DISK is the folder for disk
//! workloads (absolute, without links; default `/`). Of /proc/self/mountinfo it keeps the cgroup
//! mounts and those on the path to DISK and to files of loop devices under it. It keeps network
//! addresses, but no environments or firmware tables. Check the folder before you share it.

use std::io;
use std::path::{Path, PathBuf};

use proofmark_host::{Root, detect, network};

/// Prefixes of paths that are left out: environments, serial numbers, devices.
const PRIVATE: [&str; 3] = ["/proc/1/environ", "/sys/firmware/", "/dev/"];

fn main() -> io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: capture DIR [DISK]");
        std::process::exit(2);
    };
    let disk = std::env::args().nth(2).unwrap_or_else(|| "/".to_owned());
    let root = Root::recording();
    let host = detect(&root, &disk);
    let addresses = root.addresses_text().unwrap_or_default();
    for address in addresses.lines().filter_map(|l| l.split_once(' ')?.1.parse().ok()) {
        let _ = network::interface_to(&root, address);
    }
    write(&folder.join("arch"), std::env::consts::ARCH)?;
    write(&folder.join("addresses"), &addresses)?;
    root.cpuid_text().map_or(Ok(()), |text| write(&folder.join("cpuid.txt"), &text))?;
    let mut ways = vec![PathBuf::from(disk)];
    match host.storage.get() {
        Some(s) => {
            ways.extend(s.devices.iter().filter_map(|d| d.backing.as_ref()).map(PathBuf::from));
            write(&folder.join("space"), &format!("{} {}\n", s.total_bytes, s.free_bytes))?;
        }
        None => eprintln!("no storage: {}", host.storage.origin()),
    }
    let kept = |path: &String| !PRIVATE.iter().any(|begin| path.starts_with(begin));
    let asked: Vec<String> = root.requested_paths().into_iter().filter(kept).collect();
    for path in &asked {
        let (real, to) = follow(&folder, path)?;
        // Skip unreadable files.
        if let (true, Ok(text)) = (real.is_file(), std::fs::read_to_string(&real)) {
            write(&to, &needed(path, text, &ways))?;
        }
    }
    // The presence of a folder has a meaning, and git keeps no empty one.
    for path in &asked {
        let (real, to) = follow(&folder, path)?;
        if real.is_dir() && !to.exists() {
            write(&to.join(".captured"), "")?;
        }
    }
    Ok(())
}

/// Resolves a path, and its location in the captured folder. Recreates the links on it, which are
/// relative in sysfs.
fn follow(folder: &Path, path: &str) -> io::Result<(PathBuf, PathBuf)> {
    let inside = |path: &Path| folder.join(path.strip_prefix("/").unwrap_or(path));
    let mut real = PathBuf::from("/");
    for part in Path::new(path).components().skip(1) {
        real.push(part);
        // /proc/self is a link to this process's number.
        let target = std::fs::read_link(&real).ok().filter(|_| !path.starts_with("/proc/"));
        let Some(target) = target.filter(|to| to.is_relative()) else { continue };
        let link = inside(&real);
        if link.symlink_metadata().is_err() {
            std::fs::create_dir_all(link.parent().unwrap_or(folder))?;
            std::os::unix::fs::symlink(target, link)?;
        }
        real = real.canonicalize().unwrap_or(real);
    }
    let to = inside(&real);
    Ok((real, to))
}

/// Returns the part of a file that probes need for these paths.
fn needed(path: &str, text: String, ways: &[PathBuf]) -> String {
    let lines = |keep: &dyn Fn(&str) -> bool| {
        text.lines().filter(|l| keep(l)).map(|l| l.to_owned() + "\n").collect()
    };
    let on_way = |point: &str| ways.iter().any(|way| way.starts_with(point));
    match path {
        // Four blocks cover every kind of core.
        "/proc/cpuinfo" => text.split_inclusive("\n\n").take(4).collect(),
        "/proc/stat" => text.split_inclusive('\n').take(1).collect(),
        "/proc/self/mountinfo" => {
            lines(&|l| l.contains(" - cgroup") || l.split(' ').nth(4).is_some_and(on_way))
        }
        _ if path.ends_with("/status") => lines(&|l| l.starts_with("Cpus_allowed_list")),
        _ => text,
    }
}

fn write(to: &Path, text: &str) -> io::Result<()> {
    std::fs::create_dir_all(to.parent().unwrap_or(to))?;
    std::fs::write(to, text)
}
