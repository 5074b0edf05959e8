//! Healthy networks and healthy results on them.
//!
//! Loopback: each of two CPUs copies 10 GB/s, and 20 Gbit/s arrive. A peer: 1 Gbit/s of Ethernet
//! between machines of four CPUs, round trips of 0.2 ms.

use proofmark_model::testing::network;
use proofmark_model::{
    Datagrams, EndTraffic, Host, Interface, Measurement, Network, NetworkPath, NetworkTraffic,
    Params, Probe, TcpState, Trial, key,
};

use super::disk::latency;
use super::{around, each, host_with_caches, measurement, unpin, verified};

/// Bits per second of TCP over loopback.
const LOOPBACK: f64 = 20e9;
/// Bits per second over the peer's link: 99 % of the TCP payload of 1 Gbit/s.
const LINK: f64 = 0.99 * 1e9 * 1448.0 / 1538.0;

/// The machine with its network: `loopback` or `peer`.
pub(crate) fn host_with_network(path: &str) -> Host {
    with_network(path, |_| {})
}

/// The same machine with a changed network.
pub(crate) fn with_network(path: &str, change: impl FnOnce(&mut Network)) -> Host {
    let mut host = host_with_caches();
    let loopback = path == "loopback";
    let mut network = network(if loopback { NetworkPath::Loopback } else { NetworkPath::Peer });
    change(&mut network);
    host.network = Probe::known(network, "test");
    host
}

/// Changes the client's interface.
pub(crate) fn set_interface(network: &mut Network, change: impl FnOnce(&mut Interface)) {
    let mut interface = network.interface.get().unwrap().clone();
    change(&mut interface);
    network.interface = Probe::known(interface, "test");
}

/// TCP forward in blocks of 64 KiB.
pub(crate) fn tcp(streams: u64, path: &str) -> Measurement {
    let rate = if path == "loopback" { LOOPBACK } else { LINK };
    let params = stream(streams, path).with(key::BLOCK_SIZE, 65_536).with_auto(key::SOCKET_BUFFER);
    let m = measurement("network.tcp.stream", params, &around(rate));
    received(each(m, |_, t| {
        let bytes = (t.work / 8.0) as u64;
        let state = tcp_state(t.value / streams as f64, path);
        let packets = bytes / state.segment_bytes + 1;
        t.network = Some(traffic(t, path, bytes, [packets, FRAME + TCP]));
        t.network.as_mut().unwrap().streams = vec![state; streams.min(64) as usize];
    }))
}

/// UDP forward in datagrams of 1472 B, unpaced, none of them lost.
pub(crate) fn udp(streams: u64, path: &str) -> Measurement {
    let rate = if path == "loopback" { LOOPBACK / 4.0 } else { LINK };
    let params = stream(streams, path).with(key::BLOCK_SIZE, 1472).with_auto(key::RATE);
    let m = measurement("network.udp.stream", params, &around(rate));
    received(each(m, |_, t| {
        let count = (t.work / 8.0 / 1472.0) as u64 + 1;
        let mut n = traffic(t, path, count * 1472, [count, FRAME + UDP]);
        set_datagrams(&mut n, count, count);
        t.network = Some(n);
    }))
}

/// Round trips of 1 B over loopback on one stream, of 20 us, or 10 us in mode `poll`.
pub(crate) fn round_trips(protocol: &str, mode: &str) -> Measurement {
    let params = Params::default()
        .with(key::STREAMS, 1)
        .with(key::BLOCK_SIZE, 1)
        .with(key::MODE, mode)
        .with(key::PATH, "loopback");
    let each_s = if mode == "poll" { 10e-6 } else { 20e-6 };
    let workload = format!("network.{protocol}.rtt");
    let mut m = measurement(&workload, params, &around(1.0 / each_s));
    m.latency = Some(latency(each_s, 10_000));
    received(each(m, |_, t| {
        let count = t.work.ceil() as u64;
        let header = FRAME + if protocol == "udp" { UDP } else { TCP };
        let mut n = traffic(t, "loopback", 2 * count, [2 * count, header]);
        if protocol == "udp" {
            set_datagrams(&mut n, count, 2 * count);
        } else {
            n.streams = vec![tcp_state(LOOPBACK, "loopback")];
        }
        t.network = Some(n);
    }))
}

/// One result of each kind over that path; round trips only over loopback.
pub(crate) fn healthy_network(path: &str) -> Vec<Measurement> {
    let mut all = vec![tcp(1, path), tcp(4, path), udp(1, path)];
    if path == "loopback" {
        let kinds = [("tcp", "block"), ("tcp", "poll"), ("udp", "block")];
        all.extend(kinds.map(|(protocol, mode)| round_trips(protocol, mode)));
    }
    all
}

/// Changes the reports of both ends for every trial.
pub(crate) fn each_network(m: Measurement, spoil: impl Fn(&mut NetworkTraffic)) -> Measurement {
    each(m, |_, t| spoil(t.network.as_mut().unwrap()))
}

fn stream(streams: u64, path: &str) -> Params {
    let params = Params::default().with(key::STREAMS, streams).with(key::DIRECTION, "forward");
    params.with(key::PATH, path).with_auto(key::AMOUNT)
}

/// A connection at that rate whose window is twice the bytes in flight.
fn tcp_state(rate: f64, path: &str) -> TcpState {
    let (rtt_s, segment_bytes) = if path == "loopback" { (50e-6, 65_483) } else { (200e-6, 1448) };
    let window_bytes = (2.0 * rate / 8.0 * rtt_s) as u64;
    TcpState { retransmits: 0, window_bytes, rtt_s, least_rtt_s: None, segment_bytes }
}

/// The header of a frame, which interfaces count.
const FRAME: u64 = 14;
/// Headers of IP and of TCP with timestamps.
const TCP: u64 = 20 + 32;
/// Headers of IP and of UDP.
const UDP: u64 = 20 + 8;

/// The reports of both ends for a trial with that many bytes sent and received, in that many
/// packets with such headers.
fn traffic(t: &Trial, path: &str, bytes: u64, [packets, headers]: [u64; 2]) -> NetworkTraffic {
    let cpu_s = Some(0.3 * t.seconds);
    let end = |[in_bytes, in_packets]: [u64; 2], [out_bytes, out_packets]: [u64; 2]| EndTraffic {
        in_bytes: Some(in_bytes),
        out_bytes: Some(out_bytes),
        in_packets: Some(in_packets),
        out_packets: Some(out_packets),
        dropped: Some(0),
        retransmits: Some(0),
        in_datagrams: Some(0),
        out_datagrams: Some(0),
        full_buffers: Some(0),
        cpu_dropped: Some(0),
        own_cpu_s: cpu_s,
        busy_s: cpu_s,
        cpus: Some(if path == "loopback" { 2 } else { 4 }),
        ..EndTraffic::default()
    };
    let whole = [bytes + packets * headers, packets];
    let (client, server) = if path == "loopback" {
        let mut client = end(whole, whole);
        client.busy_s = Some(0.6 * t.seconds);
        let server = EndTraffic { own_cpu_s: cpu_s, cpus: Some(2), ..EndTraffic::default() };
        (client, server)
    } else {
        let acknowledged = [packets / 2 * (FRAME + TCP), packets / 2];
        (end(acknowledged, whole), end(whole, acknowledged))
    };
    let (sent_bytes, received_bytes) = (bytes, bytes);
    NetworkTraffic { sent_bytes, received_bytes, client, server, ..NetworkTraffic::default() }
}

/// Sets `count` datagrams that all arrived, of which each system counted `counted` in each
/// direction.
fn set_datagrams(n: &mut NetworkTraffic, count: u64, counted: u64) {
    n.datagrams = Some(Datagrams {
        sent: count,
        received: count,
        reordered: Some(0),
        duplicated: Some(0),
        jitter_s: Some(5e-6),
        counted_lost: None,
    });
    for end in [&mut n.client, &mut n.server] {
        end.in_datagrams = end.in_datagrams.map(|_| counted);
        end.out_datagrams = end.out_datagrams.map(|_| counted);
    }
}

/// Removes the conditions of pinned threads, and adds the verification.
fn received(m: Measurement) -> Measurement {
    let m = each(m, |_, t| {
        // The account has whole bytes.
        let n = t.network.as_mut().unwrap();
        (n.sent_bytes, n.received_bytes) = (n.sent_bytes + 1, n.received_bytes + 1);
        unpin(&mut t.conditions, 0.3 * t.seconds);
        t.conditions.migrations = None;
    });
    verified(m, "receiver", 1.0)
}
