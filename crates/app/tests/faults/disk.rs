//! Planted faults of the disk subsystem: storage that is no disk, and disturbances of disks.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use super::lab::disk::{
    Mounted, Throttle, folder, has_open_files, neighbours_writing_to, refusing, without_io_uring,
};
use super::lab::{Busy, alone, found, proofmark, refused, run_json, shared, start};
use super::{saved, try_saved};
use proofmark_host::{CpuTicks, Root};
use proofmark_model::{Ending, Finding, Measurement, Run, Severity, StorageKind, Verdict, key};
use proofmark_testing::{skip, wait, wait_until, wait_until_within};

/// Returns a run of one configuration per workload in a directory, with a small file and 3 trials.
fn disk(folder: &Path, workloads: &[&str]) -> Command {
    disk_with(folder, workloads, 3)
}

fn disk_with(folder: &Path, workloads: &[&str], trials: u32) -> Command {
    let mut command = proofmark();
    command.arg("run").args(workloads).arg("--disk-path").arg(folder);
    command.args(["--threads", "1", "--trials", &trials.to_string()]);
    for workload in workloads.iter().filter(|k| **k != "disk.fsync") {
        let block = if workload.contains("seq") { "1MB" } else { "4KB" };
        let parameters = [("file_size", "32MB"), ("block_size", block), ("queue_depth", "8")];
        for (parameter, value) in parameters {
            command.args(["--set", &format!("{workload}.{parameter}={value}")]);
        }
    }
    command
}

fn measured(folder: &Path, workload: &str) -> Measurement {
    let (run, _) = run_json(&mut disk(folder, &[workload]));
    run.measurements.into_iter().next().unwrap()
}

/// Measures the device alone. Others on the machine may disturb one run, but hardly each of four.
fn undisturbed(folder: &Path, workload: &str) -> Measurement {
    let doubted = |m: &Measurement| found(m, "shared_device") == Some(Severity::Suspect);
    let m = (0..4).map(|_| measured(folder, workload)).find(|m| !doubted(m));
    m.unwrap_or_else(|| panic!("shared_device doubts {workload} whenever it is alone"))
}

/// Returns true if the directory is on devices that can be watched; else prints the reason.
fn is_on_a_disk(run: &Run) -> bool {
    let known = run.host.storage.get().is_some_and(|s| s.kind == StorageKind::Block);
    if !known {
        skip("the build does not lie on a block device that is known");
    }
    known
}

#[test]
fn an_honest_disk_is_not_called_a_lie() {
    let _turn = alone();
    let here = folder();
    let workloads = ["disk.seq_read", "disk.rand_read", "disk.seq_write", "disk.fsync"];
    let mut command = disk(here.path(), &workloads);
    command.args(["--set", "disk.fsync.mode=all", "--set", "disk.fsync.method=all"]);
    let (run, _) = run_json(&mut command);
    if !is_on_a_disk(&run) {
        return;
    }
    assert_eq!(run.measurements.len(), workloads.len() + 3, "commits of two modes by two methods");
    for m in &run.measurements {
        assert_eq!(found(m, "not_durable"), None, "{}: {:?}", m.point(), m.findings);
        assert_ne!(m.verdict, Verdict::Invalid, "{}: {:?}", m.point(), m.findings);
        let w = m.verification.as_ref().unwrap();
        assert_eq!(w.kind, "device sectors");
        assert!(w.counted >= w.claimed * 0.99, "{}: {w:?}", m.point());
        let latency = m.latency.as_ref().unwrap();
        assert!(latency.count > 0 && latency.min > 0.0 && latency.p50 <= latency.max);
    }
    assert_eq!(std::fs::read_dir(here.path()).unwrap().count(), 0, "nothing is left");
}

#[test]
fn a_cached_file_read_buffered_is_invalid() {
    let _turn = alone();
    let m = measured(folder().path(), "test.disk.cached");
    hides_reads(&m);
    assert_eq!(found(&m, "direct_refused"), Some(Severity::Invalid), "{:?}", m.findings);
}

#[test]
fn a_cached_number_runs_under_that_name() {
    let _turn = alone();
    let here = folder();
    let mut command = proofmark();
    command.args(["run", "disk.seq_read", "--threads", "1", "--trials", "3", "--block-size", "8B"]);
    command.args(["--set", "disk.seq_read.queue_depth=1"]);
    command.args(["--set", "disk.seq_read.file_size=32MB", "--disk-path"]).arg(here.path());
    let (run, _) = run_json(&mut command);
    if !is_on_a_disk(&run) {
        return;
    }
    let [cold, warm] = run.measurements.as_slice() else { panic!("{}", run.measurements.len()) };
    let cache = |m: &Measurement| m.params.get(key::CACHE).unwrap().to_owned();
    assert_eq!((cache(cold), cache(warm)), ("cold".to_owned(), "warm".to_owned()));
    // Reads of other processes do not count here.
    let own_share = |m: &Measurement| {
        let own = m.trials.iter().map(|t| t.device.as_ref().unwrap().own_read_bytes.unwrap());
        let asked = m.trials.iter().map(|t| t.file.as_ref().unwrap().asked_read_bytes);
        own.sum::<u64>() as f64 / asked.sum::<u64>() as f64
    };
    assert!(own_share(cold) > 0.9, "{:?}", cold.trials);
    assert!(own_share(warm) < 0.01, "{:?}", warm.trials);
    for m in [cold, warm] {
        assert_ne!(found(m, "page_cache"), Some(Severity::Invalid), "{:?}", m.findings);
    }
}

/// Measures a workload on storage that is no disk, which must be found.
fn on_no_disk(mounted: &Mounted, workload: &str) -> Measurement {
    let m = measured(mounted.path(), workload);
    assert_eq!(found(&m, "not_a_disk"), Some(Severity::Invalid), "{:?}", m.findings);
    assert_eq!(m.verdict, Verdict::Invalid);
    m
}

#[test]
fn tmpfs_is_no_disk_nor_is_a_loop_device_on_it() {
    let _turn = shared();
    let Some(tmpfs) = Mounted::of_kind("tmpfs", "size=256m") else { return };
    on_no_disk(&tmpfs, "disk.rand_read");
    let Some(on_loop) = Mounted::on_loop(tmpfs.path(), 160) else { return };
    on_no_disk(&on_loop, "disk.seq_read");
}

#[test]
fn direct_io_that_is_refused_is_reported() {
    let _turn = shared();
    let Some(ramfs) = Mounted::of_kind("ramfs", "mode=0755") else { return };
    let m = measured(ramfs.path(), "disk.rand_read");
    let Ending::Refused { reason } = &m.ending else { panic!("{:?}", m.ending) };
    assert!(reason.contains("direct I/O"), "{reason}");
    assert_eq!(m.verdict, Verdict::NotRun);
}

#[test]
fn zram_is_no_disk_whatever_is_written_to_it() {
    let _turn = shared();
    let Some(zram) = Mounted::on_zram(256) else { return };
    let random = on_no_disk(&zram, "disk.seq_read");
    assert_eq!(found(&random, "compressible_data"), None, "{:?}", random.findings);
    let zeros = on_no_disk(&zram, "test.disk.zeros");
    assert!(found(&zeros, "compressible_data").is_some(), "{:?}", zeros.findings);
}

/// Checks that the page cache is found: suspect if other processes read as much meanwhile, else
/// invalid.
fn hides_reads(m: &Measurement) {
    assert!(found(m, "page_cache") >= Some(Severity::Suspect), "{:?}", m.findings);
}

#[test]
fn a_loop_device_on_a_disk_is_seen_through() {
    let _turn = alone();
    let here = folder();
    let Some(on_loop) = Mounted::on_loop(here.path(), 160) else { return };
    let (run, _) = run_json(&mut disk(on_loop.path(), &["disk.seq_read"]));
    if !is_on_a_disk(&run) {
        return;
    }
    // The loop device reads its file through the page cache, which has it already.
    let m = &run.measurements[0];
    hides_reads(m);
    let devices = &run.host.storage.get().unwrap().devices;
    assert!(devices.len() > 1 && devices[0].kind == "loop", "{devices:?}");
}

#[test]
fn what_was_never_written_is_no_read() {
    let _turn = alone();
    for workload in ["test.disk.sparse", "test.disk.fallocated"] {
        let m = measured(folder().path(), workload);
        assert_eq!(found(&m, "unwritten_data"), Some(Severity::Invalid), "{:?}", m.findings);
        hides_reads(&m);
    }
}

#[test]
fn what_is_written_and_lost_is_unverified() {
    let _turn = shared();
    let m = measured(folder().path(), "test.disk.lost");
    let Ending::Unverified { reason } = &m.ending else { panic!("{:?}", m.ending) };
    assert!(reason.contains("the last write is missing"), "{reason}");
    assert_eq!(m.verdict, Verdict::Invalid);
}

/// Measures a configuration alone, and with this many writers to the device. Prints the reason if
/// they cannot be planted or watched.
fn alone_and_beside(workload: &str, writers: usize) -> Option<[Measurement; 2]> {
    let (here, there) = (folder(), folder());
    let alone = undisturbed(here.path(), workload);
    let neighbours = neighbours_writing_to(there.path(), writers)?;
    let (run, _) = run_json(&mut disk(here.path(), &[workload]));
    drop(neighbours);
    is_on_a_disk(&run).then(|| [alone, run.measurements.into_iter().next().unwrap()])
}

#[test]
fn another_process_on_the_device_is_named() {
    let _turn = alone();
    let Some([alone, m]) = alone_and_beside("disk.rand_read", 16) else { return };
    assert_eq!(found(&m, "shared_device"), Some(Severity::Suspect), "{:?}", m.findings);
    assert_ne!(found(&alone, "page_cache"), Some(Severity::Invalid), "{:?}", alone.findings);
}

#[test]
fn commits_beside_another_writer_are_suspect() {
    let _turn = alone();
    let Some([_, m]) = alone_and_beside("disk.fsync", 8) else { return };
    assert_eq!(found(&m, "shared_device"), Some(Severity::Suspect), "{:?}", m.findings);
    assert_eq!(m.verdict, Verdict::Suspect);
}

#[test]
fn commits_while_every_cpu_is_busy_are_suspect() {
    let _turn = alone();
    let here = folder();
    // Daemons may take a few percent of a CPU, for which the check has another message.
    let crowded = |m: &Measurement| {
        let says =
            |f: &&Finding| f.check == "other_cpu" && f.message.contains("kept all CPUs busy");
        m.findings.iter().find(says).map(|f| f.severity)
    };
    let ticks = || CpuTicks::now(&Root::live(), &[]).unwrap();
    let before = ticks();
    let control = measured(here.path(), "disk.fsync");
    // If a build keeps all CPUs busy, the control correctly has the finding too.
    if ticks().since(before).is_some_and(|[busy, _]| busy < 0.5) {
        assert_eq!(crowded(&control), None, "{:?}", control.findings);
    }
    let cpus = thread::available_parallelism().unwrap().get();
    let busy: Vec<Busy> = (0..cpus as u32).map(Busy::on).collect();
    let (run, _) = run_json(&mut disk(here.path(), &["disk.fsync"]));
    drop(busy);
    let everywhere = run.host.cpu.logical_cpus.get().is_some_and(|n| *n as usize == cpus);
    if !is_on_a_disk(&run) || !everywhere {
        return skip("this test may not use every CPU");
    }
    let m = &run.measurements[0];
    assert_eq!(crowded(m), Some(Severity::Suspect), "{:?}", m.findings);
}

#[test]
fn a_cgroups_limit_is_what_is_measured() {
    let _turn = alone();
    let here = folder();
    let Some(throttle) = Throttle::of_disk_under(here.path()) else { return };
    assert!(throttle.set("read_bps", 50 << 20) && throttle.set("read_iops", 1000));
    let mut command = disk(here.path(), &["disk.seq_read", "disk.rand_read"]);
    let (run, _) = run_json(throttle.enter(&mut command));
    let [bytes, count] = run.measurements.as_slice() else { panic!("{}", run.measurements.len()) };
    for (m, truth) in [(bytes, f64::from(50 << 20)), (count, 4096.0 * 1000.0)] {
        let ratio = m.summary.as_ref().unwrap().value() / truth;
        // The kernel grants slices of 100 ms: a trial of five seconds may have one more than its
        // share (2 %), and the requests in flight. Without the limit the disk is many times as
        // fast; other work may keep a reader below the limit.
        assert!((0.9..1.025).contains(&ratio), "{}: {ratio}", m.point());
        for check in ["trend", "falling_rate", "above_ceiling"] {
            assert_eq!(found(m, check), None, "{:?}", m.findings);
        }
        let ceiling = m.ceiling.as_ref().unwrap();
        assert_eq!((ceiling.id.as_str(), ceiling.value), ("disk.limit", truth));
        let bottleneck = &m.bottleneck.as_ref().unwrap().resource;
        assert!(bottleneck.contains("cgroup"), "{bottleneck}");
    }
}

#[test]
fn a_device_that_is_capped_halfway_shows_a_trend() {
    let _turn = alone();
    let here = folder();
    let Some(throttle) = Throttle::of_disk_under(here.path()) else { return };
    throttle.lift("read_bps");
    let mut command = disk_with(here.path(), &["disk.seq_read"], 30);
    command.args(["--budget", "10m"]);
    let mut child = start(throttle.enter(command.arg("--out").arg(here.path().join("out"))));
    // After about half of the trials the cap falls to a third of the rate until then. A run is saved
    // once a second, so it may be some trials later. After 13 of 30 the figure is 1.4 times the last
    // rate, beyond the tolerance of 1.25; after 18 most pairs of trials still lie across the step, which
    // a trend needs.
    let so_far = || try_saved(here.path())?.measurements.first()?.summary.clone();
    let rate = wait_until_within(Duration::from_secs(120), "13 trials", || {
        so_far().filter(|s| s.trials.n >= 13).map(|s| s.value())
    });
    assert!(throttle.set("read_bps", (rate / 3.0) as u64));
    wait("the run to end", &mut child);
    let m = &saved(here.path()).measurements[0];
    assert_eq!(found(m, "trend"), Some(Severity::Note), "{:?}", m.findings);
    assert_eq!(found(m, "falling_rate"), Some(Severity::Suspect), "{:?}", m.findings);
}

#[test]
fn without_io_uring_a_run_falls_back_and_says_so() {
    let _turn = shared();
    let here = folder();
    let mut command = disk(here.path(), &["disk.seq_read"]);
    let (run, _) = run_json(without_io_uring(&mut command));
    assert_eq!(run.host.limits.io_uring.get(), Some(&false), "{:?}", run.host.limits.io_uring);
    let m = &run.measurements[0];
    assert_eq!(
        (m.params.get(key::ENGINE), m.params.get(key::QUEUE_DEPTH)),
        (Some("psync"), Some(1))
    );
    assert!(!m.trials.is_empty(), "{:?}", m.ending);
    let found = run.findings.iter().find(|f| f.check == "plan.engine").unwrap();
    assert!(found.message.contains("io_uring"), "{}", found.message);
    // An engine requested by name is not replaced.
    let mut command = disk(here.path(), &["disk.seq_read"]);
    command.args(["--set", "disk.seq_read.engine=io_uring"]);
    refused(without_io_uring(&mut command), "the system refuses io_uring: io_uring_setup: ");
}

#[test]
fn what_a_container_refuses_costs_no_result_and_is_said_once() {
    let _turn = shared();
    let here = folder();
    let mut command = proofmark();
    command.args("run disk.seq_read disk.rand_read memory.triad cpu.flops".split(' '));
    command.args(["--quick", "--budget", "3m", "--disk-path"]).arg(here.path());
    let calls = [
        libc::SYS_io_uring_setup,
        libc::SYS_sched_setaffinity,
        libc::SYS_perf_event_open,
        libc::SYS_mbind,
        libc::SYS_set_mempolicy,
    ];
    let (run, _) = run_json(refusing(&mut command, &calls));
    assert!(run.measurements.len() >= 4, "{:?}", run.plan.points);
    for m in &run.measurements {
        assert!(!m.trials.is_empty(), "{}: {:?}", m.workload, m.ending);
        assert_eq!(found(m, "crashed").or(found(m, "refused")), None, "{}", m.workload);
    }
    for (check, findings) in
        [("plan.engine", &run.findings), ("host.pinning_refused", &run.host.findings)]
    {
        let times = findings.iter().filter(|f| f.check == check).count();
        assert_eq!(times, 1, "{check}: {findings:?}");
    }
}

#[test]
fn a_file_takes_no_more_than_half_of_what_is_free() {
    let _turn = shared();
    let here = folder();
    let Some(small) = Mounted::on_loop(here.path(), 64) else { return };
    let mut command = proofmark();
    command.args("run disk.seq_read --trials 3 --threads 1 --block-size 1MB".split(' '));
    command.arg("--disk-path").arg(small.path());
    let (run, _) = run_json(&mut command);
    assert!(run.findings.iter().any(|f| f.check == "plan.shrunk"), "{:?}", run.findings);
    let m = &run.measurements[0];
    assert!(!m.trials.is_empty(), "{:?}", m.ending);
    assert!(m.params.get(key::FILE_SIZE).unwrap() <= 32 << 20);
    // A parameter requested by name is refused if it does not fit.
    let mut command = proofmark();
    command.args(["run", "disk.seq_read", "--set", "disk.seq_read.block_size=64MB", "--disk-path"]);
    refused(command.arg(small.path()), "disk space");
}

#[test]
fn folders_that_cannot_be_used_are_refused_in_one_line() {
    let _turn = shared();
    let here = folder();
    let refused = |path: &Path, says: &str| {
        refused(proofmark().args(["run", "disk", "--disk-path"]).arg(path), says);
    };
    refused(&here.path().join("missing"), "missing");
    let file = here.path().join("file");
    std::fs::write(&file, "").unwrap();
    refused(&file, "file");
    // access(2) lets root write there.
    refused(Path::new("/proc"), "/proc");
    let Some(tmpfs) = Mounted::of_kind("tmpfs", "size=1m") else { return };
    tmpfs.make_read_only();
    refused(tmpfs.path(), "read-only");
}

#[test]
fn a_kill_at_any_moment_leaves_no_file() {
    let _turn = shared();
    let here = folder();
    let out = folder();
    let unnamed = tempfile::tempfile_in(here.path()).unwrap();
    assert!(has_open_files(here.path()), "an open file is not seen");
    drop(unnamed);
    // Fixed moments that cover start, layout of the file and trials.
    for kill in 0_u64..12 {
        let mut command = proofmark();
        command.args(["run", "disk.seq_write", "disk.fsync", "--trials", "20", "--disk-path"]);
        command.arg(here.path()).args(["--set", "disk.seq_write.file_size=256MB"]);
        command.arg("--out").arg(out.path().join(format!("{kill}")));
        let mut child = start(&mut command);
        thread::sleep(Duration::from_millis(kill * 160));
        child.kill().unwrap();
        wait("the killed run to end", &mut child);
        assert_eq!(std::fs::read_dir(here.path()).unwrap().count(), 0, "kill {kill}");
    }
    // The space is free after the last descriptor, of a worker that outlives its run by a moment.
    wait_until("the workers of the killed runs to close their files", || {
        !has_open_files(here.path())
    });
}
