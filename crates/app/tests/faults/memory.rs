//! Planted faults of memory: a cache measured as memory, and a plan that memory has no room for.

use super::lab::{Busy, Cgroup, alone, found, proofmark, run_json, shared};
use proofmark_model::{Ending, Severity, Verdict, key};
use proofmark_testing::skip;

/// A size that a build without optimisation sets up in a moment.
const SMALL: &str = "memory.copy.array_size=2MB";

#[test]
fn a_cache_under_the_name_of_memory_is_invalid() {
    let _turn = shared();
    let mut command = proofmark();
    command.args(["run", "memory.copy", "--threads", "1", "--trials", "3", "--set", SMALL]);
    let (run, code) = run_json(&mut command);
    if run.host.usable_cache().is_none() {
        return skip("this machine reports no cache");
    }
    assert!(!run.measurements.is_empty());
    for m in &run.measurements {
        assert_eq!(found(m, "in_cache"), Some(Severity::Invalid), "{:?}", m.findings);
        assert_eq!(m.verdict, Verdict::Invalid);
    }
    assert_eq!(code, Some(3));
}

#[test]
fn no_page_is_made_while_a_trial_is_timed() {
    let _turn = shared();
    let mut command = proofmark();
    command.args(["run", "memory.copy", "memory.rand_write", "memory.latency", "--threads", "1,2"]);
    command.args(["--trials", "3", "--block-size", "8B,8KB", "--set", SMALL]);
    for size in ["memory.rand_write.data_size=64MB", "memory.latency.working_set=64KB,16MB"] {
        command.args(["--set", size]);
    }
    let (run, _) = run_json(&mut command);
    assert!(run.measurements.len() >= 8, "{}", run.measurements.len());
    for m in &run.measurements {
        assert!(!m.trials.is_empty(), "{:?}", m.ending);
        for c in m.trials.iter().map(|t| &t.conditions) {
            // Counted: none.
            assert_eq!((c.minor_faults, c.major_faults), (Some(0), Some(0)), "{}", m.point());
        }
    }
}

#[test]
fn io_bytes_are_counted_during_a_memory_load() {
    let _turn = alone();
    let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let mut disks = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let device = rustix::fs::stat(dir.path()).unwrap().st_dev;
    if !disks.any(|disk| disk.path().join("device").exists()) || rustix::fs::major(device) == 0 {
        return skip("the tests run on no disk of this machine");
    }
    let mut dd = std::process::Command::new("dd");
    dd.args(["if=/dev/zero", "of=f", "bs=1M", "count=4096", "oflag=dsync"]);
    let writer = Busy::with(dd.current_dir(dir.path()));
    let mut command = proofmark();
    command.args(["run", "memory.copy", "--threads", "1", "--trials", "8", "--set", SMALL]);
    let (run, _) = run_json(&mut command);
    drop(writer);
    let bytes = run.measurements[0].trials.iter().map(|t| t.conditions.io_bytes);
    let sum = bytes.reduce(|a, b| Some(a? + b?)).flatten();
    assert!(sum.is_some_and(|bytes| bytes > 1 << 20), "{sum:?}");
}

/// Bytes of the first CPU's largest cache; 0 where the system does not show it.
fn largest_cache() -> u64 {
    let cache = "/sys/devices/system/cpu/cpu0/cache";
    let size = |entry: std::fs::DirEntry| {
        let text = std::fs::read_to_string(entry.path().join("size")).ok()?;
        text.trim().strip_suffix('K')?.parse::<u64>().ok()
    };
    let entries = std::fs::read_dir(cache).into_iter().flatten().flatten();
    entries.filter_map(size).max().map_or(0, |kib| kib << 10)
}

#[test]
fn a_memory_limit_shrinks_the_plan_and_nobody_is_killed() {
    let _turn = shared();
    // A smaller one leaves room for arrays within the caches only.
    let limit = (512 << 20).max(5 * largest_cache());
    let Some(group) = Cgroup::with_memory(limit) else { return };
    let mut command = proofmark();
    command.args(["run", "memory.copy", "memory.rand_read", "--threads", "2", "--trials", "3"]);
    command.args(["--block-size", "1MB"]);
    command.args(["--set", "memory.copy.array_size=8GB"]);
    command.args(["--set", "memory.rand_read.data_size=8GB"]);
    let (run, _) = run_json(group.enter(&mut command));
    assert!(run.measurements.len() >= 2);
    for m in &run.measurements {
        assert!(matches!(m.ending, Ending::Complete | Ending::Budget), "{:?}", m.ending);
        let data = m.params.get(key::ARRAY_SIZE).or(m.params.get(key::DATA_SIZE)).unwrap();
        assert!(data < limit && data > limit / 16, "{data}");
    }
    let shrunk: Vec<_> = run.findings.iter().filter(|f| f.check == "plan.shrunk").collect();
    assert!(shrunk.len() >= 2, "{:?}", run.findings);
    assert!(shrunk[0].message.contains("8 GiB"), "{}", shrunk[0].message);
}
