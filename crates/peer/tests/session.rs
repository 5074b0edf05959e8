//! Life of a session, seen from the client.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests and their helpers")]

mod common;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{LIMITS, PATIENCE, Raw, ServerSide, echoes, pretender, until_closed};
use proofmark_peer::{
    Channel, ControlSession, Key, Limits, Overview, PeerError, Server, VERSION, this_host,
};
use proofmark_testing::{join, wait_until};
use serde_json::json;

/// Limits for clients that send nothing.
const LITTLE: Limits = Limits { seconds: 10, bytes: 1 };

/// Opens a session with these limits, and a worker's channel in it.
fn joined(server: &ServerSide, limits: Limits) -> (ControlSession, Channel) {
    let control = ControlSession::connect(&server.address(), &server.key, "x", limits).unwrap();
    let channel = Channel::join(&control.invitation()).unwrap();
    (control, channel)
}

/// Opens the data connections of a new job.
fn streams(channel: &mut Channel, count: u64) -> Vec<TcpStream> {
    let streams = channel.open(&json!({ "streams": count })).unwrap();
    streams.iter().map(|s| channel.data(s).unwrap()).collect()
}

/// Waits until the session ends; returns why.
fn end_of(control: &ControlSession) -> String {
    wait_until("the end of the session", || control.ended())
}

fn lives(server: &ServerSide) {
    let seen = Overview::fetch(&server.address(), &server.key).unwrap();
    let cpus = (0..512).chain([2047]).collect();
    let host = proofmark_model::ServerEnd { cpus, ..this_host() };
    assert_eq!((seen.server, seen.limits), (host, LIMITS));
    assert_eq!((seen.ends.peer, seen.server_interface), (server.address, None));
    let control = server.control();
    let granted = Limits { seconds: 60, ..LIMITS };
    assert_eq!((control.granted(), control.ends().peer), (granted, server.address));
    let mut channel = Channel::join(&control.invitation()).unwrap();
    assert_eq!(channel.ends().peer, server.address);
    assert_eq!(channel.counters().unwrap(), json!({ "from": server.address.ip() }));
    let open = channel.open(&json!({ "streams": 3 })).unwrap();
    assert!(open.iter().all(|stream| stream.description == json!("echo")));
    let mut data: Vec<_> = open.iter().map(|s| channel.data(s).unwrap()).collect();
    for (n, stream) in data.iter_mut().enumerate() {
        echoes(stream, &vec![n as u8; 100_000]);
    }
    // Pings alone keep the session alive beyond the server's limit of silence.
    sleep(PATIENCE.silence + Duration::from_millis(500));
    assert_eq!(control.ended(), None);
    echoes(&mut data[0], b"still");
    drop(channel);
    assert_eq!(until_closed(&mut data[1]).0, 0);
    drop(control);
    server.next_control();
    server.wait_for("run test ended after 300005 B: ");
}

#[test]
fn a_session_lives_over_ipv4() {
    lives(&ServerSide::start());
}

#[test]
fn a_session_lives_over_ipv6() {
    lives(&ServerSide::v6());
}

#[test]
fn a_server_on_all_addresses_tells_ipv4_as_ipv4() {
    let server = ServerSide::at(Ipv6Addr::UNSPECIFIED.into(), LIMITS);
    let v4 = SocketAddr::from((Ipv4Addr::LOCALHOST, server.address.port()));
    let control = ControlSession::connect(&v4.into(), &server.key, "v4", LITTLE).unwrap();
    let mut channel = Channel::join(&control.invitation()).unwrap();
    assert_eq!(channel.counters().unwrap(), json!({ "from": "127.0.0.1" }));
    streams(&mut channel, 1);
}

#[test]
fn a_second_run_is_reported_how_long_to_wait() {
    let server = ServerSide::start();
    let begin = Instant::now();
    let first = server.control();
    let second = server.try_control().unwrap_err();
    let seen = Overview::fetch(&server.address(), &server.key).unwrap_err();
    for error in [second, seen] {
        let PeerError::Busy(_, seconds) = error else { panic!("{error:?}") };
        assert!((59 - begin.elapsed().as_secs()..=60).contains(&seconds), "{seconds}");
    }
    drop(first);
    server.next_control();
}

#[test]
fn to_look_takes_nothing() {
    let server = ServerSide::start();
    for _ in 0..20 {
        Overview::fetch(&server.address(), &server.key).unwrap();
    }
    server.control();
    let first = server.log.lock().unwrap().first().cloned();
    assert!(first.as_ref().is_none_or(|line| line.contains("started run")), "{first:?}");
}

#[test]
fn another_key_is_met_with_silence_and_says_what_to_do() {
    let server = ServerSide::start();
    let wrong = Key::generate().unwrap();
    let error = ControlSession::connect(&server.address(), &wrong, "x", LITTLE).unwrap_err();
    assert!(matches!(error, PeerError::Silent { .. }), "{error:?}");
    assert!(error.to_string().contains("before authentication"), "{error}");
    server.wait_for("rejected 1 connection without the key, the last from 127.0.0.1");
}

#[test]
fn no_server_and_no_proofmark_are_distinguished() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connect = || Overview::fetch(&address.into(), &Key::generate().unwrap());
    let banner = std::thread::spawn(move || {
        use std::io::Write;
        listener.accept().unwrap().0.write_all(b"SSH-2.0-x\r\n").unwrap();
    });
    let refused = connect().unwrap_err();
    assert!(matches!(refused, PeerError::NoKey { .. }), "{refused:?}");
    join("the banner to be sent", banner);
    let nobody = connect().unwrap_err();
    assert!(matches!(nobody, PeerError::NoServer { .. }), "{nobody:?}");
    assert!(nobody.to_string().contains("start `proofmark serve` there"), "{nobody}");
    let named = "no-such-host.invalid".parse().unwrap();
    let unresolved = Overview::fetch(&named, &Key::generate().unwrap()).unwrap_err();
    assert!(matches!(unresolved, PeerError::Unresolved { .. }), "{unresolved:?}");
}

#[test]
fn another_version_is_reported_as_such() {
    let server = ServerSide::start();
    let hello = json!({ "message": "hello", "version": "9.9/9", "run": "x", "asked": LITTLE });
    for first in [hello, json!({ "message": "greetings", "from": "the future" })] {
        let answer = Raw::enter(server.address, &server.key).ask(&first);
        assert_eq!(answer, json!({ "message": "differs", "version": VERSION }));
    }
    server.control();
}

#[test]
fn an_address_of_this_machine_that_leads_to_another_is_refused() {
    let host = proofmark_model::ServerEnd { boot_id: Some("another".to_owned()), ..this_host() };
    let overview = json!({ "message": "overview", "host": host, "interface": null, "limits": LIMITS, "raw_ns": 7 });
    let key = Key::generate().unwrap();
    let error = Overview::fetch(&pretender(&key, vec![overview]), &key).unwrap_err();
    assert!(error.to_string().contains("forwarder to another machine"), "{error}");
}

#[test]
fn no_word_of_a_server_commands_the_terminal() {
    const TITLE: &str = "a\u{1b}]0;b\u{7}";
    const SHOWN: &str = "a]0;b";
    let key = Key::generate().unwrap();
    let look = |answer| Overview::fetch(&pretender(&key, vec![answer]), &key);
    for answer in [
        json!({ "message": "refused", "reason": TITLE }),
        json!({ "message": "ended", "reason": TITLE }),
        json!({ "message": "differs", "version": TITLE }),
    ] {
        let error = look(answer).unwrap_err().to_string();
        assert!(error.contains(SHOWN) && !error.contains(char::is_control), "{error:?}");
    }
    let overview = |word: &str| {
        let host = json!({ "name": word, "boot_id": null, "cpu": word, "cpus": [], "os": word,
            "version": word });
        let interface = json!({ "name": word, "kind": word, "mtu": 1500, "bits_per_s": null,
            "driver": word });
        json!({ "message": "overview", "host": host, "interface": interface, "limits": LIMITS,
            "raw_ns": 7 })
    };
    let seen = look(overview(TITLE)).unwrap();
    assert!(seen.clocks_ns[0] < seen.clocks_ns[2], "{:?}", seen.clocks_ns);
    let (host, interface) = (seen.server.clone(), seen.server_interface.clone());
    let seen = json!({ "message": "overview", "host": host, "interface": interface, "limits": LIMITS,
            "raw_ns": seen.clocks_ns[1] });
    assert_eq!(seen, overview(SHOWN));
    let session = proofmark_peer::Token::random().unwrap();
    let welcome = json!({ "message": "welcome", "session": session, "silence_ms": 50,
        "granted": LITTLE });
    let ended = json!({ "message": "ended", "reason": TITLE });
    let control =
        ControlSession::connect(&pretender(&key, vec![welcome, ended]), &key, "x", LITTLE).unwrap();
    assert_eq!(end_of(&control), SHOWN);
}

#[test]
fn no_more_than_the_server_allows_is_granted() {
    let limits = Limits { seconds: 30, bytes: 1000 };
    for (seconds, bytes, granted) in [
        (u64::MAX, 1, Limits { bytes: 1, ..limits }),
        (1, u64::MAX, Limits { seconds: 1, ..limits }),
        (30, 1000, limits),
    ] {
        let server = ServerSide::at(Ipv4Addr::LOCALHOST.into(), limits);
        assert_eq!(Overview::fetch(&server.address(), &server.key).unwrap().limits, limits);
        assert_eq!(joined(&server, Limits { seconds, bytes }).0.granted(), granted);
        server.wait_for(&format!(" started run x, at most {} s", granted.seconds));
    }
}

#[test]
fn bytes_that_are_used_up_end_the_session() {
    let server = ServerSide::start();
    let (control, mut channel) = joined(&server, Limits { bytes: 1000, ..LIMITS });
    let mut data = streams(&mut channel, 2);
    echoes(&mut data[0], &[1; 600]);
    echoes(&mut data[1], &[1; 400]);
    std::io::Write::write_all(&mut data[0], b"1").unwrap();
    assert_eq!(until_closed(&mut data[0]).0, 0);
    assert_eq!(until_closed(&mut data[1]).0, 0);
    assert_eq!(end_of(&control), "its byte limit was reached");
    assert!(channel.open(&json!({ "streams": 1 })).is_err());
    server.next_control();
}

#[test]
fn time_that_is_up_ends_the_session() {
    let server = ServerSide::start();
    let begin = Instant::now();
    let (control, mut channel) = joined(&server, Limits { seconds: 2, bytes: 1000 });
    assert_eq!(until_closed(&mut streams(&mut channel, 1)[0]).0, 0);
    let seconds = begin.elapsed().as_secs_f64();
    assert!(seconds > 1.9, "{seconds}");
    assert_eq!(end_of(&control), "its time limit was reached");
    server.next_control();
}

#[test]
fn a_lead_that_falls_silent_loses_its_session() {
    let server = ServerSide::start();
    // Its connection stays open, as that of a machine with a broken link.
    let mut silent = Raw::control(&server, 60);
    let begin = Instant::now();
    server.next_control();
    assert!(begin.elapsed() > PATIENCE.silence / 2, "{:?}", begin.elapsed());
    assert!(silent.receive()["reason"].as_str().unwrap().contains("the client did not respond"));
}

#[test]
fn a_new_job_ends_the_one_before_and_a_token_is_good_once() {
    let server = ServerSide::start();
    let (control, mut channel) = joined(&server, LIMITS);
    let mut other = Channel::join(&control.invitation()).unwrap();
    let mut kept = streams(&mut other, 1);
    let first = channel.open(&json!({ "streams": 2 })).unwrap();
    let mut data = channel.data(&first[0]).unwrap();
    let used = channel.data(&first[0]).unwrap_err();
    assert!(matches!(used, PeerError::Refused { .. }), "{used:?}");
    echoes(&mut data, b"undisturbed by it");
    channel.open(&json!({ "streams": 1 })).unwrap();
    assert_eq!(server.running.load(Ordering::SeqCst), 1, "the other channel's task alone");
    assert_eq!(until_closed(&mut data).0, 0);
    assert!(channel.data(&first[1]).is_err(), "of the job before");
    echoes(&mut kept[0], b"another channel's");
}

#[test]
fn work_that_fails_costs_its_job_alone() {
    let server = ServerSide::start();
    let (control, mut channel) = joined(&server, LIMITS);
    for (job, says) in [
        ("refuse", "planted: no such job"),
        ("panic", "the server's work failed"),
        ("long", "exceeds the maximum of 60000 B"),
    ] {
        let error = channel.open(&json!(job)).unwrap_err();
        assert!(
            matches!(&error, PeerError::Refused(_, reason) if reason.contains(says)),
            "{error}"
        );
    }
    assert!(channel.open(&json!({ "streams": 257 })).is_err());
    let task = channel.open(&json!("panicking task")).unwrap();
    assert_eq!(until_closed(&mut channel.data(&task[0]).unwrap()).0, 0);
    server.wait_for("the work of the server panicked");
    echoes(&mut streams(&mut channel, 256)[255], b"and on it goes");
    assert_eq!(control.ended(), None);
}

#[test]
fn an_ended_session_takes_no_worker() {
    let server = ServerSide::start();
    let (control, mut channel) = joined(&server, LIMITS);
    let old = control.invitation();
    drop(control);
    let next = server.next_control();
    let error = Channel::join(&old).unwrap_err();
    assert!(matches!(error, PeerError::Refused { .. }), "{error:?}");
    assert!(channel.counters().is_err());
    Channel::join(&next.invitation()).unwrap();
}

#[test]
fn the_lead_knows_when_the_server_stops() {
    let mut server = ServerSide::start();
    let (control, mut channel) = joined(&server, LIMITS);
    let mut data = streams(&mut channel, 1);
    server.stop();
    assert_eq!(until_closed(&mut data[0]).0, 0);
    assert_eq!(end_of(&control), "the server was stopped");
    assert!(server.try_control().is_err());
}

#[test]
fn both_ports_must_be_free() {
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let bind = || Server::bind(udp.local_addr().unwrap(), Key::generate().unwrap(), LIMITS);
    assert_eq!(bind().err().unwrap().kind(), std::io::ErrorKind::AddrInUse);
}
