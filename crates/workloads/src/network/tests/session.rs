//! A complete configuration over a control channel, with client and server in one process.

use proofmark_engine::Setup;
use proofmark_model::NetworkTraffic;
use proofmark_model::testing::interface;
use proofmark_peer::{ControlSession, Invitation, Key, Limits, Server};

use super::*;
use crate::network::client::Point;
use crate::network::{Network, ServerSide, TCP_CONNECT, TCP_RTT, TCP_STREAM, UDP_RTT, UDP_STREAM};

/// Returns the result of `with` in a session with this limit of bytes.
fn in_session<T>(bytes: u64, with: impl FnOnce(&ControlSession) -> T) -> T {
    let key = Key::generate().unwrap();
    let limits = Limits { seconds: 60, bytes };
    let server = Server::bind("127.0.0.1:0".parse().unwrap(), key.clone(), limits).unwrap();
    let (address, stop) = (server.address().into(), server.stop());
    let serving = std::thread::spawn(move || {
        server.serve(&ServerSide::new(|_| Some(interface("lo")), vec![]), |_| ())
    });
    let lead = ControlSession::connect(&address, &key, "test", limits).unwrap();
    let result = with(&lead);
    drop(lead);
    stop.stop();
    join("the server to end", serving);
    result
}

/// Returns the invitation that a worker gets from the run of such a session.
fn invitation(lead: &ControlSession) -> Invitation {
    Invitation { interface: Some("lo".to_owned()), ..lead.invitation() }
}

/// Runs a trial of a configuration with one connection, like the engine.
fn sampled(point: &Point, count: u64) -> Result<(u64, NetworkTraffic), String> {
    assert_eq!(point.threads(1), 1);
    let mut load = point.thread(0, 1).map_err(|e| e.0)?;
    point.begin_trial().map_err(|e| e.0)?;
    let trial = trial(load.as_mut(), count);
    trial.failure.map_or(Ok(()), Err)?;
    let traffic = point.network().map_err(|e| e.0)?.unwrap();
    Ok((trial.verified?, traffic))
}

#[test]
fn every_workload_works_within_a_session() {
    in_session(1 << 30, |lead| {
        let workloads: [(&Network, u64); 5] = [
            (&TCP_STREAM, 65_536),
            (&UDP_STREAM, 65_507),
            (&TCP_RTT, 2),
            (&UDP_RTT, 2),
            (&TCP_CONNECT, 1),
        ];
        for (workload, bytes) in workloads {
            let point = Point::with(shape_of(workload, ""), &invitation(lead)).unwrap();
            let (counted, traffic) = sampled(&point, 20).unwrap();
            assert_eq!(counted, 20, "{workload:?}");
            assert_eq!(traffic.received_bytes, 22 * bytes, "{workload:?}");
            // The system counted at least those bytes, and both ends used CPU time.
            assert!(traffic.client.in_bytes.unwrap() >= 22 * bytes, "{workload:?}");
            assert!(traffic.client.own_cpu_s.unwrap() > 0.0);
            assert!(traffic.server.own_cpu_s.unwrap() > 0.0);
            assert_eq!(traffic.server.in_bytes, None, "it would count twice");
        }
    });
}

#[test]
fn work_beyond_the_session_is_refused_with_the_reason() {
    in_session(10 * 65_536, |lead| {
        let stream = shape_of(&TCP_STREAM, "");
        let peer = Shape { path: NetworkPath::Peer, ..stream.clone() };
        let large = shape_of(&UDP_STREAM, "block_size=65508");
        for (shape, reason) in [
            (peer, "path=peer, but 127.0.0.1 is this machine"),
            (large, "at most 65507 B"),
            (stream, "the session's limit of bytes or time is reached"),
        ] {
            let point = Point::with(shape, &invitation(lead)).map_err(|e| e.0);
            let refused = point.and_then(|point| sampled(&point, 20)).unwrap_err();
            assert!(refused.contains(reason), "{refused}");
        }
    });
}
