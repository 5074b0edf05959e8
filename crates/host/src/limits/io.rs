//! Limits of cgroups on this process's reads and writes, by block device.
//!
//! In cgroup v2 the limits of all parent cgroups apply too, so the tightest counts. In v1 a
//! parent's limits do not apply to its children: only the process's own cgroup counts.
//!
//! Sources: Linux `Documentation/admin-guide/cgroup-v2.rst` (io.max) and
//! `admin-guide/cgroup-v1/blkio-controller.rst` (blkio.throttle.*, "Hierarchical Cgroups").

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{IoLimit, Probe};

use crate::cgroup::{self, Hierarchy, Version};
use crate::root::{Reason, Root, below, fault, probe_from};

/// Limited quantities: bytes read, bytes written, reads and writes. Each has its file in cgroup v1
/// and its key in `io.max` of cgroup v2.
const QUANTITIES: [(&str, &str); 4] = [
    ("blkio.throttle.read_bps_device", "rbps"),
    ("blkio.throttle.write_bps_device", "wbps"),
    ("blkio.throttle.read_iops_device", "riops"),
    ("blkio.throttle.write_iops_device", "wiops"),
];

/// Tightest limit on each of [`QUANTITIES`], and the file that sets it.
type Tightest = [Option<(u64, String)>; 4];

/// Detects the limits by device number. The list is empty if no cgroup sets any.
pub(super) fn detect(root: &Root) -> Probe<Vec<IoLimit>> {
    probe_from(find(root))
}

fn find(root: &Root) -> Result<(Vec<IoLimit>, String), Reason> {
    let hierarchy = cgroup::find_hierarchy(root, "blkio")?;
    let mut devices: BTreeMap<String, Tightest> = BTreeMap::new();
    for (path, quantity) in files(&hierarchy) {
        if !root.exists(&path) {
            continue;
        }
        let text = root.read(&path)?;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let bad = || fault(&path, format!("invalid limit '{}'", line.trim()));
            let (device, limits) = match quantity {
                Some(quantity) => line_v1(line, quantity),
                None => line_v2(line),
            }
            .ok_or_else(bad)?;
            for (quantity, value) in limits {
                let least = &mut devices.entry(device.to_owned()).or_default()[quantity];
                if least.as_ref().is_none_or(|(least, _)| value < *least) {
                    *least = Some((value, path.clone()));
                }
            }
        }
    }
    let limits: Vec<IoLimit> = devices.into_iter().map(limit).collect();
    let source = source(&hierarchy, &limits);
    Ok((limits, source))
}

/// Returns the files that limit this process, each with its quantity; `None` for `io.max`, whose
/// lines name it.
fn files(hierarchy: &Hierarchy) -> Vec<(String, Option<usize>)> {
    match hierarchy.version {
        Version::V1 => {
            let names = QUANTITIES.iter().enumerate();
            let own = hierarchy.folders.first().into_iter();
            own.flat_map(|f| names.clone().map(|(i, (n, _))| (below(f, n), Some(i)))).collect()
        }
        Version::V2 => hierarchy.folders.iter().map(|f| (below(f, "io.max"), None)).collect(),
    }
}

fn source(hierarchy: &Hierarchy, limits: &[IoLimit]) -> String {
    let unseen = match (hierarchy.version, hierarchy.from_top) {
        (Version::V2, false) => "; limits above this container are not visible",
        _ => "",
    };
    let first = hierarchy.folders.first().map_or("", String::as_str);
    match (hierarchy.version, limits.is_empty()) {
        (Version::V1, true) => format!("no blkio.throttle file in {first} sets one"),
        (Version::V1, false) => format!("blkio.throttle files in {first}"),
        (Version::V2, true) => format!("no io.max from {first} upwards sets one{unseen}"),
        (Version::V2, false) => format!("io.max from {first} upwards{unseen}"),
    }
}

/// Device number and its limits, by index in [`QUANTITIES`]. Unset ones are left out.
type Line<'a> = (&'a str, Vec<(usize, u64)>);

/// Parses a line of v1: `8:16 2097152`.
fn line_v1(line: &str, quantity: usize) -> Option<Line<'_>> {
    let (device, value) = line.trim().split_once(' ')?;
    let value = value.trim().parse().ok()?;
    let limits = if value == u64::MAX { Vec::new() } else { vec![(quantity, value)] };
    Some((number(device)?, limits))
}

/// Parses a line of v2: `8:16 rbps=2097152 wbps=max riops=max wiops=120`. Skips unknown keys.
fn line_v2(line: &str) -> Option<Line<'_>> {
    let mut words = line.split_whitespace();
    let device = number(words.next()?)?;
    let mut limits = Vec::new();
    for word in words {
        let (key, value) = word.split_once('=')?;
        let Some(quantity) = QUANTITIES.iter().position(|(_, k)| *k == key) else { continue };
        if value != "max" {
            limits.push((quantity, value.parse().ok()?));
        }
    }
    limits.retain(|(_, value)| *value != u64::MAX);
    Some((device, limits))
}

/// Returns the text if it is a major and a minor number.
fn number(device: &str) -> Option<&str> {
    let (major, minor) = device.split_once(':')?;
    let fits = |part: &str| part.parse::<u32>().is_ok();
    (fits(major) && fits(minor)).then_some(device)
}

/// Converts a device's limits and names each file once.
fn limit((device, tightest): (String, Tightest)) -> IoLimit {
    let files: BTreeSet<&str> = tightest.iter().flatten().map(|(_, path)| path.as_str()).collect();
    let source = Vec::from_iter(files).join(", ");
    let [read_bytes_per_s, write_bytes_per_s, reads_per_s, writes_per_s] =
        tightest.map(|limit| limit.map(|(value, _)| value as f64));
    IoLimit { device, read_bytes_per_s, write_bytes_per_s, reads_per_s, writes_per_s, source }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{V1, V2, machine};
    use super::*;
    use crate::testing::Machine;

    fn limits(m: &Machine) -> Vec<IoLimit> {
        detect(&m.root()).get().unwrap().clone()
    }

    /// Returns bytes read and written, reads and writes per second.
    fn four(limit: &IoLimit) -> [Option<f64>; 4] {
        [limit.read_bytes_per_s, limit.write_bytes_per_s, limit.reads_per_s, limit.writes_per_s]
    }

    #[test]
    fn v2_the_tightest_of_each_quantity_counts() {
        let m = machine("0::/a/b\n", V2);
        m.put("/sys/fs/cgroup/a/b/io.max", "8:16 rbps=2097152 wbps=max riops=max wiops=120\n").put(
            "/sys/fs/cgroup/a/io.max",
            "8:16 rbps=1048576 wbps=max riops=max wiops=500\n\
             8:0 rbps=18446744073709551615 wbps=9 riops=max wiops=max\n",
        );
        let found = limits(&m);
        assert_eq!(found.iter().map(|l| l.device.as_str()).collect::<Vec<_>>(), ["8:0", "8:16"]);
        assert_eq!(four(&found[0]), [None, Some(9.0), None, None]);
        assert_eq!(found[0].source, "/sys/fs/cgroup/a/io.max");
        assert_eq!(four(&found[1]), [Some(1_048_576.0), None, None, Some(120.0)]);
        assert_eq!(found[1].source, "/sys/fs/cgroup/a/b/io.max, /sys/fs/cgroup/a/io.max");
        assert_eq!(detect(&m.root()).origin(), "io.max from /sys/fs/cgroup/a/b upwards");
    }

    /// Creates a [`V1`] hierarchy with the controller of block devices.
    fn v1(path: &str) -> Machine {
        let mounts = format!("{V1}38 31 0:35 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n");
        machine(&format!("7:blkio:{path}\n0::/\n"), &mounts)
    }

    #[test]
    fn v1_has_a_file_a_quantity() {
        let m = v1("/x");
        let put = |name: &str, text: &str| {
            m.put(&format!("/sys/fs/cgroup/blkio/x/blkio.throttle.{name}_device"), text);
        };
        put("read_bps", "254:0 52428800\n8:0 18446744073709551615\n");
        put("write_bps", "254:0 1\n");
        put("read_iops", "254:0 1000\n");
        put("write_iops", "");
        let found = limits(&m);
        assert_eq!(found.len(), 1, "a device without any limit is not listed: {found:?}");
        assert_eq!(four(&found[0]), [Some(52_428_800.0), Some(1.0), Some(1000.0), None]);
        assert_eq!(found[0].source.matches("/sys/fs/cgroup/blkio/x/").count(), 3);
    }

    #[test]
    fn v1_limits_of_a_parent_do_not_hold() {
        let m = v1("/x/y");
        m.put("/sys/fs/cgroup/blkio/x/blkio.throttle.read_bps_device", "254:0 1\n")
            .put("/sys/fs/cgroup/blkio/x/y/blkio.throttle.read_bps_device", "");
        assert_eq!(limits(&m), []);
    }

    #[test]
    fn no_limit_is_known_and_not_missing() {
        let m = v1("/");
        m.put("/sys/fs/cgroup/blkio/blkio.throttle.read_bps_device", "");
        let found = detect(&m.root());
        assert_eq!(found.get(), Some(&Vec::new()));
        assert_eq!(found.origin(), "no blkio.throttle file in /sys/fs/cgroup/blkio sets one");
        let m = machine("0::/a\n", V2);
        m.put("/sys/fs/cgroup/a/io.max", "").put("/sys/fs/cgroup/cpu.max", "max 100000\n");
        let found = detect(&m.root());
        assert_eq!(found.get(), Some(&Vec::new()));
        assert!(found.origin().ends_with("one; limits above this container are not visible"));
    }

    #[test]
    fn a_broken_file_is_missing_with_the_file() {
        let v2 = "/sys/fs/cgroup/io.max";
        let throttle = "/sys/fs/cgroup/blkio/blkio.throttle.write_iops_device";
        for (file, bad) in [
            (v2, "8:16 rbps=fast\n"),
            (v2, "8:16 rbps\n"),
            (v2, "sda rbps=1\n"),
            (v2, "8:16 rbps=-1\n"),
            (v2, "8 wbps=1\n"),
            (throttle, "254:0\n"),
            (throttle, "254:0 x\n"),
            (throttle, "x 1\n"),
        ] {
            let m = if file == v2 { machine("0::/\n", V2) } else { v1("/") };
            m.put(file, bad);
            let found = detect(&m.root());
            assert!(found.get().is_none(), "{bad}");
            assert!(found.origin().starts_with(&format!("{file}: invalid limit '")), "{bad}");
        }
    }
}
