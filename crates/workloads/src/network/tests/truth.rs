//! Tests that the counts match the transferred data.

use std::net::Ipv6Addr;

use proofmark_model::{EndTraffic, NetworkTraffic};
use proofmark_testing::wait_until;

use super::*;
use crate::network::{Network, TCP_CONNECT, TCP_RTT, TCP_STREAM, UDP_RTT, UDP_STREAM};
use crate::params::testing::{uneven_slices, verified};

/// Runs a trial of `count` iterations on each connection, of which none may be lost.
fn whole(workload: &Network, set: &str, count: u64) -> NetworkTraffic {
    let mut bench = Bench::new(shape_of(workload, set));
    for (i, trial) in bench.trial(count).into_iter().enumerate() {
        assert_eq!(trial.failure, None, "{set:?} {i}");
        assert_eq!(trial.verified, Ok(count), "{set:?} {i}");
        let timed = if workload.kind.streams() { 0 } else { count };
        assert_eq!(trial.latencies, timed, "{set:?} {i}");
    }
    let traffic = bench.shared.summed();
    for server in bench.server {
        let ended = join("the server to end", server).unwrap_err();
        assert!(ended.contains("closed") || ended.contains("broke"), "{ended}");
    }
    traffic
}

#[test]
fn tcp_blocks_of_any_size_either_way() {
    for direction in ["forward", "reverse", "both"] {
        for (block, count) in [("1", 999), ("15", 77), ("16", 500), ("4097", 41), ("65536", 33)] {
            let set = format!("direction={direction} block_size={block} streams=2");
            let traffic = whole(&TCP_STREAM, &set, count);
            let connections = if direction == "both" { 4 } else { 2 };
            // Two blocks went ahead of the trial.
            let bytes = connections * (count + 2) * block.parse::<u64>().unwrap();
            assert_eq!((traffic.sent_bytes, traffic.received_bytes), (bytes, bytes), "{set:?}");
            assert_eq!(traffic.streams.len() as u64, connections);
            assert!(traffic.streams.iter().all(|s| s.segment_bytes >= 500 && s.rtt_s > 0.0));
            assert_eq!((traffic.datagrams, traffic.server), (None, EndTraffic::default()));
        }
    }
}

#[test]
fn a_block_larger_than_a_read_and_options() {
    whole(&TCP_STREAM, "block_size=3000000 socket_buffer=65536 no_delay=on", 5);
    let own = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
    let named = ["cubic", "reno", "bbr"].into_iter().find(|n| *n == own.trim()).unwrap_or("auto");
    whole(&TCP_STREAM, &format!("congestion={named} direction=reverse"), 5);
}

#[test]
fn udp_datagrams_of_any_size_either_way() {
    for direction in ["forward", "reverse", "both"] {
        for (block, count) in [("1", 100), ("15", 9), ("16", 300), ("1472", 100), ("65507", 9)] {
            let set = format!("direction={direction} block_size={block}");
            let traffic = whole(&UDP_STREAM, &set, count);
            let connections = if direction == "both" { 2 } else { 1 };
            let datagrams = traffic.datagrams.unwrap();
            assert_eq!(datagrams.sent, connections * (count + 2));
            assert_eq!(datagrams.received, datagrams.sent);
            let numbered = block.len() > 2 || block == "16";
            assert_eq!(datagrams.duplicated, numbered.then_some(0), "{set:?}");
            assert_eq!(datagrams.reordered, numbered.then_some(0), "{set:?}");
            assert_eq!(datagrams.jitter_s, None, "a batch comes at one time");
            let bytes = datagrams.sent * block.parse::<u64>().unwrap();
            assert_eq!((traffic.sent_bytes, traffic.received_bytes), (bytes, bytes));
        }
    }
}

#[test]
fn a_rate_is_kept() {
    for (direction, streams) in [("forward", "1"), ("reverse", "1"), ("both", "2")] {
        // 8 Mbit/s over all connections: 1000 B per millisecond in total.
        let set = format!("direction={direction} streams={streams} block_size=1000 rate=8000000");
        let mut bench = Bench::new(shape_of(&UDP_STREAM, &set));
        let count = 200 / bench.shape.connections();
        for trial in bench.trial(count) {
            assert_eq!(trial.verified, Ok(count));
            // A late sender catches up. A duration ten times as long would be another rate.
            assert!((0.18..2.0).contains(&trial.seconds), "{} s", trial.seconds);
        }
    }
}

/// n datagrams take n intervals, so that the result equals the rate for any number of datagrams.
#[test]
fn a_rate_reads_as_itself() {
    let cases = [
        ("block_size=65507 rate=5000000", 1),
        ("block_size=1470 rate=1000000", 3),
        ("block_size=1470 rate=1000000 direction=reverse", 3),
        ("block_size=1 rate=500000 streams=2", 2000),
        ("block_size=8192 rate=20000000 direction=both streams=2", 8),
        ("block_size=65507 rate=500000000", 100),
    ];
    for (set, count) in cases {
        // A busy machine may delay a sender or an answer. Nothing makes the result too high.
        wait_until("a rate that was not held up", || {
            let mut bench = Bench::new(shape_of(&UDP_STREAM, set));
            let shape = bench.shape.clone();
            let trials = bench.trial(count);
            let longest = trials.iter().map(|t| t.seconds - t.idled_s).fold(0.0, f64::max);
            let received: u64 = trials.into_iter().map(|t| t.verified.unwrap()).sum();
            let read = 8.0 * (received * shape.block) as f64 / longest;
            let share = read / shape.rate.unwrap() as f64;
            assert!(share < 1.01, "{set}: {read} bit/s");
            (share > 0.99).then_some(())
        });
    }
}

#[test]
fn datagrams_that_come_one_by_one_have_a_jitter() {
    for direction in ["forward", "reverse"] {
        let set = format!("direction={direction} block_size=1000 rate=200000");
        // One per 40 ms. A busy machine delivers several together, which have no jitter.
        let jitter = wait_until("datagrams that come one by one", || {
            let mut bench = Bench::new(shape_of(&UDP_STREAM, &set));
            assert_eq!(bench.trial(10)[0].verified, Ok(10));
            bench.shared.summed().datagrams.unwrap().jitter_s
        });
        assert!(jitter > 0.0 && jitter < 0.2, "{jitter} s");
    }
}

#[test]
fn round_trips_of_any_size_are_each_timed() {
    for mode in ["block", "poll"] {
        for (block, count) in [("1", 300), ("8", 100), ("8192", 50)] {
            let set = format!("mode={mode} block_size={block}");
            let bytes = 2 * (count + 2) * block.parse::<u64>().unwrap();
            let tcp = whole(&TCP_RTT, &set, count);
            assert_eq!((tcp.sent_bytes, tcp.received_bytes), (bytes, bytes));
            round_trips_over_udp(&set, count);
        }
    }
    whole(&TCP_RTT, "block_size=300000", 20);
    round_trips_over_udp("block_size=65507 streams=2", 20);
}

/// Checks round trips over UDP. A reply that a busy machine delays by 200 ms counts as lost and
/// takes these 200 ms. All other counts are exact.
fn round_trips_over_udp(set: &str, count: u64) {
    let mut bench = Bench::new(shape_of(&UDP_RTT, set));
    let (block, connections) = (bench.shape.block, bench.shape.connections());
    let all = connections * (count + 2);
    let start = Instant::now();
    let trials = bench.trial(count);
    let waits = connections * start.elapsed().as_millis() as u64 / 200;
    let mut answered = 2 * connections;
    for trial in trials {
        assert_eq!((trial.failure, trial.verified), (None, Ok(trial.latencies)), "{set:?}");
        answered += trial.latencies;
    }
    let udp = bench.shared.summed();
    let datagrams = udp.datagrams.unwrap();
    let lost = all - datagrams.received;
    assert!(lost <= waits && lost <= all / 10, "{lost} lost in {waits} waits, {set:?}");
    // Datagrams ahead of the trial have no latency, and can be lost too.
    assert!((datagrams.received..=datagrams.received + lost).contains(&answered), "{datagrams:?}");
    assert_eq!(datagrams.sent, all);
    assert_eq!(udp.sent_bytes, 2 * all * block, "the server answered each");
    assert_eq!(udp.received_bytes, udp.sent_bytes - lost * block, "{set:?}");
}

#[test]
fn connections_are_those_that_were_accepted() {
    let traffic = whole(&TCP_CONNECT, "streams=2", 200);
    assert_eq!(traffic.received_bytes, 2 * 202);
}

#[test]
fn over_ipv6_too() {
    let ip = IpAddr::V6(Ipv6Addr::LOCALHOST);
    if TcpListener::bind(SocketAddr::new(ip, 0)).is_err() {
        proofmark_testing::skip("this system has no IPv6");
        return;
    }
    let workloads =
        [(&TCP_STREAM, "4096"), (&UDP_STREAM, "65527"), (&UDP_RTT, "65527"), (&TCP_CONNECT, "1")];
    for (workload, block) in workloads {
        let shape = shape_of(workload, &format!("block_size={block}"));
        let mut bench = Bench::at(ip, shape, u64::MAX, |_, client, server| (client, server));
        assert_eq!(bench.trial(9)[0].verified, Ok(9), "{workload:?}");
    }
}

#[test]
fn trials_follow_each_other_on_one_connection() {
    for workload in [&TCP_STREAM, &UDP_STREAM, &TCP_RTT, &UDP_RTT, &TCP_CONNECT] {
        let mut bench = Bench::new(shape_of(workload, ""));
        let mut load = bench.load(0);
        for count in [1, 3, 20] {
            let trial = trial(&mut load, count);
            assert_eq!((trial.failure, trial.verified), (None, Ok(count)), "{workload:?}");
        }
        load.prepare(24);
        load.run(5);
        assert_eq!(verified(&mut load, &uneven_slices(24)), Ok(24), "{workload:?}");
        load.prepare(0);
        load.begin();
        load.run(0);
        assert_eq!((load.failure(), load.verify()), (None, Ok(0)));
    }
}

/// For the name of a module that is not loaded, setsockopt(2) makes the kernel look for the module.
#[test]
fn a_peer_cannot_name_a_module_for_the_server_to_load() {
    let mut shape = shape_of(&TCP_STREAM, "");
    shape.congestion = Some("no_such_one".to_owned());
    let job = Job { shape: shape.clone(), ports: Vec::new() };
    let why = server::streams(&job, ends_at(LOOPBACK)).err().map(|r| r.0).unwrap();
    assert!(why.starts_with("the server "), "{why}");
    let (client, _far) = pair(LOOPBACK);
    let why = job::prepare(&client, &shape).unwrap_err().to_string();
    assert!(why.starts_with("this machine "), "{why}");
}
