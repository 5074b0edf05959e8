//! Workers that are a few lines of shell.

use std::thread;
use std::time::Instant;

use proofmark_model::{
    EndTraffic, Latency, LatencyBucket, NetworkTraffic, Params, TcpState, Trial, Unit,
};
use proofmark_testing::{join, wait_until};
use rustix::process::test_kill_process;

use super::*;
use crate::latency::Latencies;

/// Workers that are a line of shell.
pub(super) fn workers(shell: &str, patience: Duration, stop: &Stop) -> Workers {
    Workers {
        program: "sh".into(),
        arguments: vec!["-c".to_owned(), shell.to_owned()],
        environment: vec![("FAR_END".to_owned(), "is here".to_owned())],
        cpus: vec![],
        cpu_stat: vec![],
        disk_path: None,
        devices: vec![],
        policy: Policy { min_trials: 3, max_trials: 3, ..Policy::default() },
        patience,
        system_state: SystemState::default,
        stop: stop.clone(),
        idle: Idle::default(),
        shared: SharedWorker::default(),
    }
}

pub(super) fn point(workload: &str) -> Point {
    Point { workload: workload.to_owned(), params: Params::default() }
}

/// A busy machine may take seconds to start a shell.
const LONG: Duration = Duration::from_secs(60);

fn launch(shell: &str, patience: Duration, stop: &Stop) -> Result<Box<dyn Session>, Ending> {
    workers(shell, patience, stop).launch(&point("test.null"))
}

fn ending(shell: &str) -> Ending {
    launch(shell, LONG, &Stop::default()).map(|_| ()).unwrap_err()
}

fn detail_of(ending: Ending) -> (Option<String>, String) {
    match ending {
        Ending::Crashed { signal, detail } => (signal, detail),
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_way_to_die_is_distinguished() {
    for (shell, signal, says) in [
        ("kill -SEGV $$", Some("SIGSEGV"), "ended without a reply"),
        (
            "echo 'disk on fire' >&2; exit 7",
            None,
            "it exited with status 7; its output: disk on fire",
        ),
        // Secrets are in the environment, not in the arguments.
        ("echo \"the server $FAR_END\" >&2; exit 7", None, "the server is here"),
        ("echo '{\"taken\":{\"started\":\"20'; sleep 1", None, "an invalid reply"),
        ("head -c 1000000 /dev/zero; sleep 1", None, "an invalid reply"),
    ] {
        let (by, detail) = detail_of(ending(&format!("read job; {shell}")));
        assert_eq!(by.as_deref(), signal, "{shell}");
        assert!(detail.contains(says) && detail.len() < 1000, "{shell}: {detail}");
    }
    assert!(matches!(ending("read job; echo '{\"refused\":\"too small\"}'"),
        Ending::Refused { reason } if reason == "too small"));
}

#[test]
fn a_worker_that_is_silent_when_the_time_is_over_leaves_its_configuration_out() {
    let (start, stop) = (Instant::now(), Stop::default());
    stop.set_time_left(Some(Duration::from_millis(300)));
    let ended = launch("read job; sleep 100", LONG, &stop).map(|_| ()).unwrap_err();
    let Ending::LeftOut { needs_s } = ended else { panic!("{ended:?}") };
    assert!((0.2..20.0).contains(&needs_s) && start.elapsed() < LONG, "{needs_s}");
    // Without a limit it is waited for, and a limit later than the patience changes nothing.
    for left in [None, Some(LONG)] {
        stop.set_time_left(left);
        let ended = launch("read job; sleep 100", Duration::from_millis(300), &stop);
        detail_of(ended.map(|_| ()).unwrap_err());
    }
}

#[test]
fn a_silent_worker_is_given_up_and_killed() {
    let start = Instant::now();
    let silent = launch("read job; sleep 100", Duration::from_millis(300), &Stop::default());
    let (signal, detail) = detail_of(silent.map(|_| ()).unwrap_err());
    assert_eq!(signal, None, "it was ended, it did not die");
    assert!(detail.contains("silent"), "{detail}");
    assert!(start.elapsed() < Duration::from_secs(60), "the worker would sleep for 100 s");
}

#[test]
fn a_stop_kills_the_worker_that_is_waited_for() {
    let stop = Stop::default();
    let other = stop.clone();
    let thread = thread::spawn(move || {
        let worker = wait_until("a worker to stop", || other.state().workers.first().copied());
        other.stop("SIGTERM");
        worker
    });
    let ended = launch("read job; exec sleep 100", LONG, &stop).map(|_| ()).unwrap_err();
    assert_eq!(ended, Ending::Interrupted { by: "SIGTERM".to_owned() });
    let worker = join("the thread that stops the worker to end", thread);
    assert!(!lives(worker));
    assert!(stop.state().workers.is_empty(), "a later process of that id would be killed");
}

/// A trial of 123 units of work.
pub(super) fn trial() -> Taken {
    Taken { trial: Trial::new(Unit::Hertz, 123.0, 1.0), latency: None }
}

/// A trial with the longest numbers, 512 connections and every bucket of a histogram.
fn longest_trial() -> Taken {
    let (n, x) = (u64::MAX, 1.797_693_134_862_315_7e-300);
    let stream = TcpState {
        retransmits: n,
        window_bytes: n,
        rtt_s: x,
        least_rtt_s: Some(x),
        segment_bytes: n,
    };
    let network = NetworkTraffic {
        streams: vec![stream; 512],
        client: EndTraffic { in_bytes: Some(n), own_cpu_s: Some(x), ..EndTraffic::default() },
        ..NetworkTraffic::default()
    };
    let mut one = Latencies::default();
    one.record(1);
    let buckets = vec![LatencyBucket { upto: x, count: n }; 8 * 42];
    let latency = Latency { count: n, min: x, mean: x, buckets, ..one.summary().unwrap() };
    let trial = Trial { network: Some(network), ..trial().trial };
    Taken { trial, latency: Some(latency) }
}

#[test]
fn the_longest_trial_fits_in_a_line() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let line = serde_json::to_string(&Reply::Taken(Box::new(longest_trial()))).unwrap();
    std::fs::write(file.path(), line + "\n").unwrap();
    let path = file.path().display();
    let shell = format!("read job; echo '\"ready\"'; read order; cat {path}; read order");
    let workers = workers(&shell, Duration::from_secs(20), &Stop::default());
    let mut session = workers.launch(&point("test.null")).unwrap();
    assert_eq!(session.take(Request::Trial), Ok(longest_trial()));
}

/// Workers that last. A trial's work is the number of their process; a warm-up is refused.
fn lasting() -> Workers {
    let json = serde_json::to_string(&Reply::Taken(Box::new(trial()))).unwrap();
    let (before, after) = json.split_once("\"work\":123.0").unwrap();
    let shell = format!(
        "while read -r order; do case $order in \
           *begin*|*end*) echo '\"ready\"';; \
           *trial*) echo '{before}\"work\":'$$'{after}';; \
           *) echo '{{\"refused\":\"no\"}}';; \
         esac; done"
    );
    workers(&shell, LONG, &Stop::default())
}

/// The process that serves a session.
fn pid(session: &mut Box<dyn Session>) -> i32 {
    session.take(Request::Trial).unwrap().trial.work as i32
}

/// The process that serves one configuration from its beginning to its end.
fn pid_of(workers: &Workers, workload: &str) -> i32 {
    pid(&mut workers.launch(&point(workload)).unwrap())
}

pub(super) fn lives(pid: i32) -> bool {
    test_kill_process(Pid::from_raw(pid).unwrap()).is_ok()
}

#[test]
fn a_worker_serves_the_next_point_of_its_subsystem_only() {
    let workers = lasting();
    let first = pid_of(&workers, "memory.copy");
    assert_eq!(pid_of(&workers, "memory.latency"), first);
    assert!(lives(first));
    let other = pid_of(&workers, "cpu.flops");
    assert_ne!(other, first);
    assert!(!lives(first) && lives(other), "a worker of another subsystem is ended");
    workers.release_idle_worker();
    assert!(!lives(other), "it is ended when asked");
    assert_ne!(pid_of(&workers, "cpu.flops"), other);
}

#[test]
fn points_at_the_same_time_have_a_worker_each_and_one_waits_after_them() {
    let workers = lasting();
    let mut a = workers.launch(&point("test.a")).unwrap();
    let mut b = workers.launch(&point("test.b")).unwrap();
    let (of_a, of_b) = (pid(&mut a), pid(&mut b));
    assert_ne!(of_a, of_b);
    drop((a, b));
    assert!(lives(of_a) && !lives(of_b), "the first that ended waits, no other does");
    assert_eq!(pid_of(&workers, "test.c"), of_a);
    drop(workers);
    assert!(!lives(of_a), "no worker outlives the run");
}

#[test]
fn one_that_died_while_it_waited_does_not_cost_the_next_point() {
    let workers = lasting();
    let first = pid_of(&workers, "test.a");
    kill_process(Pid::from_raw(first).unwrap(), Signal::KILL).unwrap();
    let next = pid_of(&workers, "test.a");
    assert_ne!(next, first);
    assert_eq!(pid_of(&workers, "test.a"), next, "the new one waits in its place");
}

#[test]
fn one_whose_point_ended_badly_serves_no_other() {
    let workers = lasting();
    let mut session = workers.launch(&point("test.a")).unwrap();
    let first = pid(&mut session);
    let refused = session.take(Request::Warm).unwrap_err();
    assert_eq!(refused, Ending::Refused { reason: "no".to_owned() });
    assert!(!lives(first));
    assert!(matches!(session.take(Request::Trial), Err(Ending::Crashed { .. })));
    drop(session);
    assert_ne!(pid_of(&workers, "test.a"), first);
}

#[test]
fn a_stop_kills_the_worker_that_waits() {
    let workers = lasting();
    let first = pid_of(&workers, "test.a");
    workers.stop.stop("SIGINT");
    let stopped = workers.launch(&point("test.a")).map(|_| ()).unwrap_err();
    assert_eq!(stopped, Ending::Interrupted { by: "SIGINT".to_owned() });
    assert!(!lives(first));
}

#[test]
fn trials_are_one_round_where_their_number_is_not_fixed() {
    let least = |policy: Policy| {
        let workers = Workers { policy, ..workers("", LONG, &Stop::default()) };
        let job = workers.job(&point("test.null"));
        assert_eq!(job.trial_s, 0.4);
        job.least_rounds
    };
    let open = Policy { trial_s: 0.4, ..Policy::default() };
    assert_eq!(least(open.clone()), None);
    assert_eq!(least(Policy { min_trials: 20, ..open.clone() }), Some(1));
    let three = Policy { trials_of: [("test.null".to_owned(), 3)].into(), ..open };
    assert_eq!(least(three), Some(3), "eight rounds in all");
}
