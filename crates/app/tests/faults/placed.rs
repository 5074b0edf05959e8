//! Removed CPUs, tracers, and a frozen cgroup: where a trial ran, and what stopped it.

use super::*;

/// Returns the usable CPUs, at least two.
fn two_cpus() -> Option<[u32; 2]> {
    let cpus = usable_cpus();
    let two = cpus.first().copied().zip(cpus.get(1).copied());
    if two.is_none() {
        skip("one usable CPU");
    }
    two.map(|(a, b)| [a, b])
}

fn usable_cpus() -> Vec<u32> {
    let list = lab::status(std::process::id(), "Cpus_allowed_list");
    let range = |part: &str| -> Option<Vec<u32>> {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some((from.parse().ok()?..=to.parse().ok()?).collect())
    };
    list.split(',').filter_map(range).flatten().collect()
}

/// Starts a run on two threads that takes some seconds.
fn on_two(dir: &Path) -> Command {
    let mut command = proofmark();
    command
        .args(["run", "cpu.iops", "--threads", "2", "--trials", "24"])
        .args(["--set", "cpu.iops.isa=scalar", "--set", "cpu.iops.type=i64", "--out"])
        .arg(dir.join("out"));
    command
}

fn names_the_lost_cpu(dir: &Path, cpu: u32) {
    let run = saved(dir);
    let m = run.measurements.last().unwrap();
    assert!(has(m, "cpus_lost", Severity::Invalid), "{:?}", names(m));
    assert!(names(m).iter().any(|f| f.contains(&format!("CPU {cpu} "))), "{:?}", names(m));
    assert_eq!(found(m, "migration"), None, "{:?}", names(m));
    // The rates of two cores are not summed if only one was available. In the trial of the change,
    // both were available for a part.
    let attainable = |strayed: bool| {
        let is = |t: &&proofmark_model::Trial| {
            t.ran_on.as_ref().is_some_and(|r| r.strayed.is_empty() != strayed)
        };
        let rounds = m.trials.iter().filter(is).flat_map(|t| &t.rounds);
        let rates: Vec<f64> = rounds.filter_map(|r| r.attainable).collect();
        proofmark_model::median(&rates).unwrap()
    };
    let [alone, both] = [attainable(true), attainable(false)];
    assert!(both > 0.0 && alone < 0.75 * both, "{alone} on one CPU, {both} on two");
}

#[test]
fn a_cpu_that_leaves_the_cpuset_is_named_and_not_counted() {
    let _turn = alone();
    let Some([one, other]) = two_cpus() else { return };
    let Some(group) = Cgroup::with_cpus(&format!("{one},{other}")) else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut child = start(group.enter(&mut on_two(dir.path())));
    wait_for_trials(dir.path(), &mut child);
    assert!(group.set_cpus(&one.to_string()));
    wait("the run to end", &mut child);
    names_the_lost_cpu(dir.path(), other);
}

#[test]
fn a_cpu_that_goes_offline_is_named_and_not_counted() {
    let _turn = alone();
    let Some([_, other]) = two_cpus() else { return };
    let switch = format!("/sys/devices/system/cpu/cpu{other}/online");
    if std::env::var_os("PROOFMARK_DISPOSABLE_MACHINE").is_none() {
        return skip("PROOFMARK_DISPOSABLE_MACHINE is not set: CPU hotplug disturbs others");
    }
    struct Online<'a>(&'a str);
    impl Drop for Online<'_> {
        fn drop(&mut self) {
            let _ = fs::write(self.0, "1");
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let mut child = start(&mut on_two(dir.path()));
    wait_for_trials(dir.path(), &mut child);
    let online = Online(&switch);
    if fs::write(&switch, "0").is_err() {
        lab::kill(child.id(), "KILL");
        let _ = child.wait();
        return skip("CPU hotplug is refused");
    }
    std::thread::sleep(Duration::from_millis(900));
    drop(online);
    wait("the run to end", &mut child);
    names_the_lost_cpu(dir.path(), other);
}

#[test]
fn a_run_under_strace_is_named_and_suspect_where_it_makes_system_calls() {
    let _turn = alone();
    let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let mut command = proofmark();
    command.args(["run", "disk.fsync", "cpu.clock", "--threads", "1", "--trials", "3"]);
    command.arg("--disk-path").arg(dir.path());
    if !Path::new("/usr/bin/strace").exists() {
        return skip("no strace");
    }
    let traced = "exec /usr/bin/strace -f -qq -o /dev/null \"$0\" \"$@\"";
    let (run, _) = run_json(lab::wrap(&mut command, traced));
    for m in &run.measurements {
        let expected = if m.workload == "disk.fsync" { Severity::Suspect } else { Severity::Note };
        assert!(has(m, "traced", expected), "{}: {:?}", m.workload, names(m));
        assert!(names(m).iter().any(|f| f.contains("strace traced the run")), "{:?}", names(m));
    }
}

#[test]
fn a_frozen_cgroup_is_named_for_a_disk_a_network_and_complete_solves() {
    let _turn = alone();
    let Some(group) = Cgroup::freezable() else { return };
    let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let mut command = proofmark();
    command.args(["run", "disk.rand_read", "network.tcp.rtt", "cpu.linpack", "--trials", "8"]);
    command.args(["--threads", "2", "--set", "cpu.linpack.n=2000", "--disk-path"]).arg(dir.path());
    command.args(["--set", "disk.rand_read.file_size=32MB", "--out"]);
    command.arg(dir.path().join("out"));
    let mut child = start(group.enter(&mut command));
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() && Instant::now() < deadline {
        group.freeze(true);
        std::thread::sleep(Duration::from_millis(35));
        group.freeze(false);
        std::thread::sleep(Duration::from_millis(55));
    }
    wait("the run to end", &mut child);
    let run = saved(dir.path());
    assert!(!run.measurements.is_empty());
    for m in &run.measurements {
        assert!(found(m, "stopped").is_some(), "{}: {:?}", m.workload, names(m));
    }
    // 35 of 90 ms, once, for any number of threads.
    let solves = run.measurements.iter().find(|m| m.workload == "cpu.linpack").unwrap();
    let stopped = solves.findings.iter().find(|f| f.check == "stopped").unwrap();
    let share = stopped.evidence["share"].as_f64().unwrap();
    assert!((0.15..0.65).contains(&share), "{share}");
}
