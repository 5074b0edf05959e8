use proofmark_model::{Interface, Network, Probe, key, testing};

use super::*;
use proofmark_engine::Configuration;

use crate::params::testing::params;

fn parse_shape(kind: Kind, words: &str) -> Result<Shape, String> {
    Shape::from_params(kind, &params(&format!("streams=2 path=loopback {words}"))).map_err(|e| e.0)
}

fn host(path: NetworkPath, address: &str, mtu: u64) -> Host {
    let mut host = Host::unknown("test");
    let interface = Probe::known(Interface { mtu, ..testing::interface("eth0") }, "test");
    let mut network = Network {
        address: address.to_owned(),
        interface,
        server_interface: None,
        ..testing::network(path)
    };
    network.server.cpus = vec![0];
    host.network = Probe::known(network, "test");
    host
}

#[test]
fn impossible_values_are_refused_with_the_reason() {
    use Kind::{TcpStream, UdpStream};
    for (kind, words, reason) in [
        (
            UdpStream,
            "block_size=65536",
            "a UDP datagram over IPv4 carries at most 65507 B of payload, but block_size is 65536 B",
        ),
        (TcpStream, "block_size=0", "block_size must be 1 B to 16777216 B; it is 0 B"),
        (TcpStream, "block_size=16777217", "block_size must be 1 B to 16777216 B; it is"),
        (TcpStream, "block_size=9 streams=257", "streams must be 1 to 256; 257 connections"),
        (TcpStream, "block_size=9 streams=129 direction=both", "streams must be 1 to 256; 258"),
        (
            TcpStream,
            "block_size=100 amount=199",
            "a block of 100 B for each of 2 connections takes 200 B, but amount is 199 B",
        ),
        (
            TcpStream,
            "block_size=16777216 streams=17",
            "takes 285212672 B; the limit is 268435456 B",
        ),
        (UdpStream, "block_size=1 rate=999", "rate is 999 bit/s; the minimum is 1000 bit/s"),
        (UdpStream, "block_size=1000 rate=2000", "are 8.0 s apart; the maximum is 4 s"),
        (TcpStream, "block_size=9 path=auto", "path is not set"),
        (TcpStream, "block_size=9 path=sideways", "path has no value 'sideways'"),
        (TcpStream, "block_size=9 direction=sideways", "direction has no value 'sideways'"),
        (TcpStream, "block_size=9 no_delay=sideways", "no_delay has no value 'sideways'"),
        (TcpStream, "block_size=9 mode=sideways", "mode has no value 'sideways'"),
        (TcpStream, "block_size=9 placement=sideways", "placement has no value 'sideways'"),
    ] {
        let found = parse_shape(kind, words).unwrap_err();
        assert!(found.contains(reason), "{words}: {found}");
    }
    assert!(parse_shape(TcpStream, "block_size=16777216").is_ok());
    let large = parse_shape(Kind::UdpRtt, "block_size=65508").unwrap();
    assert!(large.fits(false).unwrap_err().0.contains("over IPv4 carries at most 65507 B"));
    assert_eq!(large.fits(true), Ok(()));
}

#[test]
fn connections_and_their_ways() {
    let ways = |direction: &str| {
        let set = format!("block_size=9 direction={direction}");
        let shape = parse_shape(Kind::TcpStream, &set).unwrap();
        (0..shape.connections() as usize).map(|i| shape.client_sends(i)).collect::<Vec<_>>()
    };
    assert_eq!(ways("forward"), [true, true]);
    assert_eq!(ways("reverse"), [false, false]);
    assert_eq!(ways("both"), [true, false, true, false]);
}

#[test]
fn rates_and_costs() {
    let set = "block_size=1000 rate=8000 direction=both amount=9000";
    let shape = parse_shape(Kind::UdpStream, set).unwrap();
    assert_eq!(shape.rate_each(), Some(2000.0), "in all");
    let fixed = (shape.blocks(), shape.fixed_s());
    assert_eq!(fixed, (Some(8), Some(8.0)), "as many on each of 4 connections");
    let small = parse_shape(Kind::TcpStream, "block_size=1 amount=1000000").unwrap();
    assert_eq!(small.fixed_s(), Some(5.0), "each byte is a call");
    assert_eq!((shape.cost(3), shape.cost(u64::MAX)), (3000, u64::MAX));
    assert_eq!(parse_shape(Kind::TcpRtt, "block_size=10").unwrap().cost(3), 60);
    assert_eq!(parse_shape(Kind::TcpConnect, "").unwrap().cost(2), 800);
}

#[test]
fn a_trial_at_a_slow_rate_is_as_long_as_a_datagram_takes() {
    let trial_s = |words: &str| parse_shape(Kind::UdpStream, words).unwrap().needs().trial_s(0.1);
    let slow = trial_s("block_size=65507 rate=1000000 streams=1");
    assert!((slow - 2.0 * 0.524_056).abs() < 1e-9, "{slow}: one, and one ahead of it");
    assert_eq!(trial_s("block_size=1470 rate=1000000 streams=1"), 0.1);
    assert_eq!(trial_s("block_size=65507 streams=1"), 0.1);
    let none = "block_size=65507 rate=100000 streams=1";
    let why = parse_shape(Kind::UdpStream, none).unwrap_err();
    assert!(why.contains("5.2 s apart; the maximum is 4 s"), "{why}");
}

#[test]
fn auto_values_depend_on_the_host() {
    let peer = |address, mtu| host(NetworkPath::Peer, address, mtu);
    let mut smaller = peer("10.0.0.2:5277", 9000);
    let mut unknown = smaller.clone();
    if let (Probe::Known { value, .. }, Probe::Known { value: other, .. }) =
        (&mut smaller.network, &mut unknown.network)
    {
        let server = value.interface.get().cloned();
        value.server_interface = server.map(|i| Interface { mtu: 1400, ..i });
        other.interface = Probe::missing("test");
    }
    for (host, path, block) in [
        (Host::unknown("test"), "loopback", 65_507),
        (host(NetworkPath::Loopback, "127.0.0.1:5277", 65_536), "loopback", 65_507),
        (host(NetworkPath::Loopback, "[::1]:5277", 65_536), "loopback", 65_527),
        (peer("10.0.0.2:5277", 1500), "peer", 1472),
        (peer("[fd00::2]:5277", 1500), "peer", 1452),
        // The end with the smaller MTU.
        (smaller, "peer", 1372),
        (unknown, "peer", 1472),
    ] {
        let open = params("path=auto block_size=auto placement=auto");
        let resolved = |kind| resolve_auto(kind, open.clone(), &host).remove(0);
        let stream = resolved(Kind::UdpStream);
        assert_eq!((stream.get(key::PATH), stream.get(key::BLOCK_SIZE)), (Some(path), Some(block)));
        // Over loopback, workloads whose datagrams would be lost or whose threads would wait run
        // apart.
        let apart = if path == "loopback" { "apart" } else { "free" };
        for (kind, placement) in [
            (Kind::TcpRtt, apart),
            (Kind::UdpRtt, apart),
            (Kind::TcpConnect, apart),
            (Kind::UdpStream, apart),
            (Kind::TcpStream, "free"),
        ] {
            assert_eq!(resolved(kind).get(key::PLACEMENT), Some(placement), "{path} {kind:?}");
        }
    }
}

#[test]
fn an_open_mode_is_two_points() {
    let modes = |mode: &str| {
        let all =
            resolve_auto(Kind::TcpRtt, params(&format!("mode={mode}")), &Host::unknown("test"));
        all.iter().map(|p| p.get(key::MODE).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(modes(AUTO), ["block", "poll"]);
    assert_eq!(modes("poll"), ["poll"]);
}
