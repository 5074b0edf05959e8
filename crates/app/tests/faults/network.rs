//! Planted faults and known rates of networks: limits, two hosts that are one, servers that die,
//! unauthenticated peers. The hosts are network namespaces, so their results are invalid
//! (`one_machine`); the figures are compared nevertheless.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::slice;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::lab::network::{
    DropLog, Dropped, Hosts, SERVER, Served, begun, point, profile, written,
};
use super::lab::{Cgroup, alone, found, proofmark, run_json, shared};
use super::{names, saved, wait_for, wait_for_trials};
use proofmark_model::{Ending, Measurement, NetworkPath, Run, Severity, Trial, Verdict, key};
use proofmark_testing::{skip, wait, wait_until, wait_until_within};

/// Bytes of an Ethernet frame header as interfaces and token buckets count it.
const FRAME: f64 = 14.0;
const IP: f64 = 20.0;
/// Bytes of a TCP header with timestamps.
const TCP: f64 = 20.0 + 12.0;
const UDP: f64 = 8.0;

/// Two hosts, with a server on one of them.
struct Pair {
    server: Option<Served>,
    hosts: Arc<Hosts>,
    folder: tempfile::TempDir,
}

impl Pair {
    /// Makes the hosts; `None`, with a printed reason, if it cannot.
    fn new() -> Option<Self> {
        let hosts = Hosts::new()?;
        let folder = tempfile::tempdir().unwrap();
        let server = Some(Served::on_server(&hosts, &folder.path().join("key")));
        Some(Self { server, hosts: Arc::new(hosts), folder })
    }

    fn key(&self) -> PathBuf {
        self.folder.path().join("key")
    }

    /// Returns a run on the client host of a profile's configurations.
    fn run(&self, profile: &str) -> Command {
        let mut command = proofmark();
        command.args(["run", "--peer", SERVER, "--key-file"]).arg(self.key());
        command.arg("--profile").arg(written(self.folder.path(), profile));
        self.hosts.on_client(&mut command);
        command
    }

    /// Makes a cgroup with the server, for the run too. Both get the CPUs before other work of this
    /// machine, so that only the network limits them. `None` if it cannot be made.
    fn preferred(&self) -> Option<Cgroup> {
        Cgroup::preferred().inspect(|group| group.admit(self.server.as_ref().unwrap().pid()))
    }

    /// Starts a run into `out` of a directory.
    fn begin(&self, profile: &str, folder: &Path) -> Child {
        begun(self.run(profile), folder)
    }

    /// Waits until a run works again.
    fn works_again(&self) {
        let dir = wait_until("a run that works again", || {
            let dir = tempfile::tempdir().unwrap();
            let mut child =
                self.begin(&profile(3, &[point("network.tcp.rtt", "20ms", "")]), dir.path());
            (wait("the next run to end", &mut child).code() == Some(3)).then_some(dir)
        });
        assert_eq!(saved(dir.path()).measurements[0].ending, Ending::Complete);
    }
}

/// Runs the command in the cgroup, if there is one.
fn enter<'a>(group: Option<&Cgroup>, command: &'a mut Command) -> &'a mut Command {
    match group {
        Some(group) => group.enter(command),
        None => command,
    }
}

/// Sets the rate and the queue of the link. Returns false, and prints the reason, if it cannot.
fn limited(pair: &Pair, mbit: u64, queue: u64) -> bool {
    let is_limited = pair.hosts.limit(mbit, queue);
    if !is_limited {
        skip("the kernel has no token bucket (sch_tbf)");
    }
    is_limited
}

#[test]
fn a_token_bucket_reads_as_its_rate_less_the_headers() {
    let _turn = alone();
    let Some(pair) = Pair::new() else { return };
    let group = pair.preferred();
    for (mtu, mbit) in [(1500, 100), (576, 100), (1500, 1000)] {
        pair.hosts.set_mtu(mtu);
        // The queue has room for all unacknowledged data of TCP, so that nothing is lost.
        if !limited(&pair, mbit, 32 << 20) {
            return;
        }
        let segment = mtu as f64 - IP - TCP;
        let truth = mbit as f64 * 1e6 * segment / (mtu as f64 + FRAME);
        // With headers it would be 1.045 or more.
        let (run, code) = reaching(truth, 0.97..1.04, || {
            let mut command = pair.run(&profile(5, &[point("network.tcp.stream", "500ms", "")]));
            command.arg(format!("--limit=network.send={mbit}Mbit/s"));
            run_json(enter(group.as_ref(), &mut command))
        });
        let m = &run.measurements[0];
        let ceiling = m.ceiling.as_ref().unwrap();
        assert_eq!(ceiling.id, "network.limit");
        let computed = ceiling.value / truth;
        assert!((computed - 1.0).abs() < 1e-9, "{mbit} Mbit/s, MTU {mtu}: {computed}");
        let interface = run.host.network.get().unwrap().interface.get().unwrap();
        assert_eq!((interface.kind.as_str(), interface.mtu), ("virtual ethernet", mtu));
        is_one_machine(&run, m, code);
    }
}

/// Returns a run whose first result is within this range of the known rate. If the machine loses
/// its CPUs for milliseconds, the limit passes less, never more: one run of some reaches the
/// minimum, and none exceeds the maximum.
fn reaching(
    truth: f64,
    part: Range<f64>,
    mut run: impl FnMut() -> (Run, Option<i32>),
) -> (Run, Option<i32>) {
    let mut parts = Vec::new();
    for _ in 0..8 {
        let (run, code) = run();
        let reached = run.measurements[0].summary.as_ref().unwrap().value() / truth;
        assert!(reached < part.end, "{reached} of the truth");
        if part.contains(&reached) {
            return (run, code);
        }
        parts.push(reached);
    }
    panic!("{parts:?} of the truth, not {part:?}")
}

/// Checks networks that are one machine.
fn is_one_machine(run: &Run, m: &Measurement, code: Option<i32>) {
    let network = run.host.network.get().unwrap();
    assert_eq!((network.path, m.params.get(key::PATH)), (NetworkPath::Peer, Some("peer")));
    assert_eq!(found(m, "one_machine"), Some(Severity::Invalid), "{:?}", names(m));
    assert_eq!((m.verdict, code), (Verdict::Invalid, Some(3)));
}

#[test]
fn loopback_is_called_loopback() {
    let _turn = shared();
    let dir = tempfile::tempdir().unwrap();
    let points = ["network.tcp.stream", "network.udp.rtt"].map(|k| point(k, "50ms", ""));
    let mut command = proofmark();
    command.args(["run", "--profile"]).arg(written(dir.path(), &profile(3, &points)));
    let (run, _) = run_json(&mut command);
    assert_eq!(run.host.network.get().unwrap().path, NetworkPath::Loopback);
    assert_eq!(run.measurements.len(), 2);
    for m in &run.measurements {
        assert_eq!(m.params.get(key::PATH), Some("loopback"));
        assert_eq!(found(m, "one_machine"), Some(Severity::Note), "{:?}", names(m));
        assert_ne!(m.verdict, Verdict::Invalid, "{:?}", names(m));
    }
}

#[test]
fn what_udp_loses_is_what_the_limit_dropped() {
    let _turn = alone();
    let Some(pair) = Pair::new() else { return };
    // A queue of 40 ms: a sender that waits for its CPU leaves no gap, and the 10 ms that are sent
    // ahead of a trial are not dropped.
    if !limited(&pair, 100, 500_000) {
        return;
    }
    let twice = point("network.udp.stream", "500ms", "rate = 200000000");
    let payload = 1500.0 - IP - UDP;
    let truth = 100e6 * payload / (1500.0 + FRAME);
    // Other work on this machine would empty the queue.
    let group = pair.preferred();
    // The result is the receiver's rate.
    let (run, _) = reaching(truth, 0.99..1.01, || {
        let log = DropLog::start(&pair.hosts);
        let mut command = pair.run(&profile(5, slice::from_ref(&twice)));
        let (run, code) = run_json(enter(group.as_ref(), &mut command));
        let log = log.end();
        let m = &run.measurements[0];
        assert_eq!(m.trials.len(), 5, "{:?}", m.ending);
        assert_eq!(m.params.get(key::BLOCK_SIZE), Some(payload as u64));
        for t in &m.trials {
            let datagrams = t.network.as_ref().unwrap().datagrams.unwrap();
            let lost = datagrams.sent - datagrams.received;
            assert_eq!(lost, dropped_during(&log, t), "{datagrams:?}");
            assert!((0.4..0.6).contains(&datagrams.loss()), "{datagrams:?}");
        }
        (run, code)
    });
    let m = &run.measurements[0];
    assert!(found(m, "udp_loss").is_some(), "{:?}", names(m));
}

#[test]
fn other_traffic_on_a_full_link_is_named() {
    let _turn = alone();
    let Some(pair) = Pair::new() else { return };
    if !limited(&pair, 50, 500_000) {
        return;
    }
    let points = ["network.tcp.stream", "network.tcp.rtt"].map(|k| point(k, "100ms", ""));
    let plan = profile(4, &points);
    let severities = |run: &Run| -> Vec<_> {
        run.measurements.iter().map(|m| found(m, "shared_interface")).collect()
    };
    let (quiet, _) = run_json(&mut pair.run(&plan));
    assert_eq!(severities(&quiet), [None, None], "alone");
    let flood = pair.hosts.flood();
    let (with_load, _) = run_json(&mut pair.run(&plan));
    drop(flood);
    let suspect = Some(Severity::Suspect);
    assert_eq!(severities(&with_load), [suspect; 2], "{:?}", names(&with_load.measurements[0]));
}

/// Counts the packets dropped from before a trial until after it. Both ends are silent for 200 ms
/// after each loss (see `network.udp.stream`), in which the log has entries.
fn dropped_during(log: &[Dropped], trial: &Trial) -> u64 {
    let start = Duration::from_nanos(u64::try_from(trial.started.0.as_nanosecond()).unwrap());
    let start = SystemTime::UNIX_EPOCH + start;
    let end = start + Duration::from_secs_f64(trial.seconds);
    let before = log.iter().rev().find(|d| d.until <= start).unwrap();
    let after = log.iter().find(|d| d.from >= end).unwrap();
    after.count - before.count
}

/// A number of 1 s trials that even a busy machine does not end before the test sees the first one.
const TRIALS: u32 = 20;

/// A short configuration, a long one, and four after it.
fn some_points(lasting: &str) -> String {
    let points = [
        point("network.tcp.rtt", "20ms", ""),
        point(lasting, "1s", ""),
        point("network.tcp.connect", "20ms", "streams = [1, 2, 4, 8]"),
    ];
    profile(TRIALS, &points)
}

/// Waits until the second configuration has a trial.
fn wait_for_the_second(dir: &Path, child: &mut Child) {
    wait_for_trials(dir, child);
    wait_for("a trial of the second point", child, || {
        saved(dir).measurements.get(1).is_some_and(|m| !m.trials.is_empty())
    });
}

/// Checks the results of these configurations if the server is lost during the second.
fn only_the_rest_is_lost(dir: &Path, child: &mut Child) {
    wait_until_within(
        Duration::from_secs(20),
        "the run to report that the server has gone",
        || saved(dir).measurements[1].ending != Ending::Unfinished,
    );
    let reported = Instant::now();
    let status = wait("the run to end", child);
    // 4 configurations remain, and each would wait 5 s for a silent server.
    assert!(reported.elapsed() < Duration::from_secs(15), "each waits anew for the server");
    assert_eq!(status.code(), Some(1), "it ended with {:?}", saved(dir).measurements[1].ending);
    let run = saved(dir);
    let [before, during, after @ ..] = run.measurements.as_slice() else { panic!("{run:?}") };
    assert_eq!((&before.ending, before.trials.len()), (&Ending::Complete, TRIALS as usize));
    let trials = during.trials.len();
    assert!((1..TRIALS as usize).contains(&trials), "{trials} trials: {during:?}");
    assert_eq!(after.len(), 4);
    for m in after.iter().chain([during]) {
        assert!(matches!(m.ending, Ending::Refused { .. }), "{:?}", m.ending);
        // Results with trials are those of one machine.
        let verdict = if m.trials.is_empty() { Verdict::NotRun } else { Verdict::Invalid };
        assert_eq!(m.verdict, verdict);
        let why = names(m).concat();
        assert!(why.contains("server") || why.contains("no server at"), "{why}");
    }
    let log = fs::read_to_string(dir.join("log")).unwrap();
    let refused = log.lines().find(|l| l.starts_with("[2/6]")).unwrap();
    assert!(refused.starts_with("[2/6] refused (") && refused.contains("server"), "{log}");
    let over = log.lines().filter(|l| l.starts_with("proofmark: the session with the server"));
    assert_eq!(over.count(), 1, "{log}");
}

/// Stops the server of a run during its second configuration, and starts it again.
fn server_goes_away(pair: &mut Pair, lasting: &str, away: fn(&mut Pair), back: fn(&mut Pair)) {
    let dir = tempfile::tempdir().unwrap();
    let mut child = pair.begin(&some_points(lasting), dir.path());
    wait_for_the_second(dir.path(), &mut child);
    away(pair);
    only_the_rest_is_lost(dir.path(), &mut child);
    back(pair);
    pair.works_again();
}

/// Does so for TCP and UDP at the same time, since both mostly wait.
fn servers_go_away(away: fn(&mut Pair), back: fn(&mut Pair)) {
    let _turn = shared();
    thread::scope(|scope| {
        for lasting in ["network.tcp.stream", "network.udp.stream"] {
            let Some(mut pair) = Pair::new() else { return };
            scope.spawn(move || server_goes_away(&mut pair, lasting, away, back));
        }
    });
}

#[test]
fn a_server_that_is_killed_costs_what_was_not_measured_yet() {
    let away = |pair: &mut Pair| drop(pair.server.take().unwrap().end("KILL"));
    let back = |pair: &mut Pair| pair.server = Some(Served::on_server(&pair.hosts, &pair.key()));
    servers_go_away(away, back);
}

#[test]
fn a_link_that_goes_down_costs_what_was_not_measured_yet() {
    servers_go_away(|pair| pair.hosts.set_link("down"), |pair| pair.hosts.set_link("up"));
}
