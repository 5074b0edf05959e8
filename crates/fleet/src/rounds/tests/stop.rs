//! Tests of a fleet that the user stops: what the stop ends is no fault of a node.

use super::*;

/// Measures until nodes of which the last one is lost. The user's stop is known so long after that.
fn lost(known_after: Option<Duration>) -> (Result<(), Unfinished>, Vec<FleetLine>) {
    let mut launcher = FakeNodes::new(well);
    launcher.lost_in_round = Some(2);
    let lost_at = Arc::clone(&launcher.lost_at);
    let plan = plan(&launcher.nodes);
    let dir = tempfile::tempdir().unwrap();
    let mut log = FleetLog::create(dir.path(), &plan).unwrap();
    let stopped = || {
        let lost = lost_at.get().map(Instant::elapsed);
        lost.zip(known_after).is_some_and(|(lost, after)| lost >= after)
    };
    let fleet = Fleet {
        plan: &plan,
        limits: TimeLimits { start: START, round: Duration::from_secs(5) },
        log: &mut log,
        known: &ResumeState::default(),
        network: None,
        nodes_again: &|| Ok(Vec::new()),
        print: &|_| {},
        stopped: &stopped,
    };
    let ended = measure(fleet, &mut launcher);
    (ended, FleetLog::read(dir.path()).unwrap().skip(1).collect())
}

#[test]
fn a_connection_that_the_users_stop_ends_is_no_failure_of_the_node() {
    for after in [Duration::ZERO, Duration::from_millis(60)] {
        let (ended, lines) = lost(Some(after));
        assert_eq!((ended, failures(&lines)), (Err(Unfinished::Stopped), vec![]), "{after:?}");
    }
    let (ended, lines) = lost(None);
    let expected = [("n3", 2, "ssh lost the connection", true)];
    assert_eq!((ended, failures(&lines)), (Ok(()), expected.to_vec()));
}
