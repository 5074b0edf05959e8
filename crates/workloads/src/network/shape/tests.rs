use proofmark_model::{Interface, Network, Probe, ServerEnd};

use super::*;

fn params(set: &[(&str, &str)]) -> Params {
    set.iter().fold(Params::default().with("streams", 2).with("path", "loopback"), |p, (k, v)| {
        match v.parse::<u64>() {
            Ok(n) => p.with(k, n),
            Err(_) => p.with(k, *v),
        }
    })
}

fn parse_shape(kind: Kind, set: &[(&str, &str)]) -> Result<Shape, String> {
    Shape::from_params(kind, &params(set)).map_err(|e| e.0)
}

fn host(path: NetworkPath, address: &str, mtu: u64) -> Host {
    let mut host = Host::unknown("test");
    let interface = Interface {
        name: "eth0".to_owned(),
        kind: "ethernet".to_owned(),
        mtu,
        bits_per_s: None,
        driver: None,
    };
    let server = ServerEnd {
        name: "far".to_owned(),
        boot_id: None,
        cpu: None,
        cpus: vec![0],
        os: "Linux".to_owned(),
        version: "1".to_owned(),
    };
    let address = address.to_owned();
    let network = Network {
        path,
        address,
        server,
        boot_id: None,
        interface: Probe::known(interface, "test"),
        server_interface: None,
        copy_bytes_per_s: None,
    };
    host.network = Probe::known(network, "test");
    host
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let udp = parse_shape(Kind::UdpStream, &[("block_size", "65536")]).unwrap_err();
    let words =
        "a UDP datagram over IPv4 carries at most 65507 B of payload, but block_size is 65536 B";
    assert_eq!(udp, words);
    let udp = parse_shape(Kind::UdpRtt, &[("block_size", "65508")]).unwrap();
    assert_eq!(udp.fits(false).unwrap_err().0, words.replace("36 B", "08 B"));
    assert_eq!(udp.fits(true), Ok(()));
    assert!(parse_shape(Kind::TcpStream, &[("block_size", "0")]).is_err());
    assert!(parse_shape(Kind::TcpStream, &[("block_size", "16777217")]).is_err());
    assert!(parse_shape(Kind::TcpStream, &[("block_size", "16777216")]).is_ok());
    assert!(parse_shape(Kind::TcpStream, &[("block_size", "9"), ("streams", "257")]).is_err());
    let both = [("block_size", "9"), ("streams", "129"), ("direction", "both")];
    assert!(parse_shape(Kind::TcpStream, &both).is_err());
    let least =
        parse_shape(Kind::TcpStream, &[("block_size", "100"), ("amount", "199")]).unwrap_err();
    assert_eq!(
        least,
        "a block of 100 B for each of 2 connections takes 200 B, but amount is 199 B"
    );
    let large = [("block_size", "16777216"), ("streams", "17")];
    let large = parse_shape(Kind::TcpStream, &large).unwrap_err();
    assert!(large.ends_with("takes 285212672 B; the limit is 268435456 B"), "{large}");
    let slow = parse_shape(Kind::UdpStream, &[("block_size", "1"), ("rate", "999")]).unwrap_err();
    assert_eq!(slow, "rate is 999 bit/s; the minimum is 1000 bit/s");
    let slow =
        parse_shape(Kind::UdpStream, &[("block_size", "1000"), ("rate", "2000")]).unwrap_err();
    assert!(slow.ends_with("are 8.0 s apart; the maximum is 4 s"), "{slow}");
    let path = parse_shape(Kind::TcpStream, &[("block_size", "9"), ("path", AUTO)]).unwrap_err();
    assert_eq!(path, "path is not set");
}

#[test]
fn words_that_mean_nothing_are_refused() {
    for parameter in ["direction", "no_delay", "mode", "placement", "path"] {
        let refused = parse_shape(Kind::TcpStream, &[("block_size", "9"), (parameter, "sideways")]);
        assert_eq!(refused.unwrap_err(), format!("{parameter} has no value 'sideways'"));
    }
}

#[test]
fn connections_and_their_ways() {
    let ways = |direction: &str| {
        let set = [("block_size", "9"), ("direction", direction)];
        let shape = parse_shape(Kind::TcpStream, &set).unwrap();
        (0..shape.connections() as usize).map(|i| shape.client_sends(i)).collect::<Vec<_>>()
    };
    assert_eq!(ways("forward"), [true, true]);
    assert_eq!(ways("reverse"), [false, false]);
    assert_eq!(ways("both"), [true, false, true, false]);
}

#[test]
fn rates_and_costs() {
    let set = [("block_size", "1000"), ("rate", "8000"), ("direction", "both"), ("amount", "9000")];
    let shape = parse_shape(Kind::UdpStream, &set).unwrap();
    assert_eq!(shape.rate_each(), Some(2000.0), "in all");
    assert_eq!((shape.blocks(), shape.nominal_seconds()), (Some(9), Some(9.0)));
    let small =
        parse_shape(Kind::TcpStream, &[("block_size", "1"), ("amount", "1000000")]).unwrap();
    assert_eq!(small.nominal_seconds(), Some(5.0), "each byte is a call");
    assert_eq!((shape.cost(3), shape.cost(u64::MAX)), (3000, u64::MAX));
    assert_eq!(parse_shape(Kind::TcpRtt, &[("block_size", "10")]).unwrap().cost(3), 60);
    assert_eq!(parse_shape(Kind::TcpConnect, &[]).unwrap().cost(2), 800);
}

#[test]
fn what_is_left_open_is_set_by_the_host() {
    let open = params(&[("path", AUTO), ("block_size", AUTO)]);
    let block = |host: &Host| {
        let settled = resolve_auto(Kind::UdpStream, open.clone(), host).remove(0);
        (settled.text("path").unwrap().to_owned(), settled.int("block_size").unwrap())
    };
    let (loopback, peer) = ("loopback".to_owned(), "peer".to_owned());
    assert_eq!(block(&Host::unknown("test")), (loopback.clone(), 65_507));
    assert_eq!(
        block(&host(NetworkPath::Loopback, "127.0.0.1:5277", 65_536)),
        (loopback.clone(), 65_507)
    );
    assert_eq!(block(&host(NetworkPath::Loopback, "[::1]:5277", 65_536)), (loopback, 65_527));
    assert_eq!(block(&host(NetworkPath::Peer, "10.0.0.2:5277", 1500)), (peer.clone(), 1472));
    assert_eq!(block(&host(NetworkPath::Peer, "[fd00::2]:5277", 1500)), (peer.clone(), 1452));
    let mut smaller = host(NetworkPath::Peer, "10.0.0.2:5277", 9000);
    if let Probe::Known { value, .. } = &mut smaller.network {
        let server = value.interface.get().cloned();
        value.server_interface = server.map(|i| Interface { mtu: 1400, ..i });
    }
    assert_eq!(block(&smaller), (peer.clone(), 1372), "that of the end with the smaller MTU");
    let mut unknown = host(NetworkPath::Peer, "10.0.0.2:5277", 9000);
    if let Probe::Known { value, .. } = &mut unknown.network {
        value.interface = Probe::missing("test");
    }
    assert_eq!(block(&unknown), (peer, 1472));
}

#[test]
fn what_over_loopback_would_be_lost_or_wait_is_taken_apart() {
    let placement = |kind, host: &Host| {
        let all = resolve_auto(kind, params(&[("placement", AUTO), ("path", AUTO)]), host);
        all[0].text("placement").unwrap().to_owned()
    };
    let (loopback, peer) = (Host::unknown("test"), host(NetworkPath::Peer, "10.0.0.2:1", 1500));
    assert_eq!(placement(Kind::TcpRtt, &loopback), "apart");
    assert_eq!(placement(Kind::TcpConnect, &loopback), "apart");
    assert_eq!(placement(Kind::UdpStream, &loopback), "apart");
    assert_eq!(placement(Kind::TcpStream, &loopback), "free");
    assert_eq!(placement(Kind::UdpRtt, &peer), "free");
}

#[test]
fn an_open_mode_is_two_points() {
    let modes = |mode: &str| {
        let all = resolve_auto(Kind::TcpRtt, params(&[("mode", mode)]), &Host::unknown("test"));
        all.iter().map(|p| p.text("mode").unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(modes(AUTO), ["block", "poll"]);
    assert_eq!(modes("poll"), ["poll"]);
}
