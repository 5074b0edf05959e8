//! Unauthenticated peers that connect and send to either end, and a client that requests too much.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, UdpSocket};
use std::time::Duration;

use proofmark_testing::wait_until;
use proptest::prelude::*;

use super::*;
use crate::network::job::Target;
use crate::network::line::{Line, Patience};
use crate::network::stamp;
use crate::network::wire::{Message, Outcome, Report, Request, Sent};
use crate::network::{TCP_CONNECT, TCP_RTT, TCP_STREAM, UDP_RTT, UDP_STREAM};

#[test]
fn intruders_get_no_connection_answered_and_keep_nobody() {
    let mut bench = Bench::new(shape_of(&TCP_CONNECT, ""));
    let link = bench.links[0].take().unwrap();
    let Target { address, token } = link.target.unwrap();
    let line = Line::new(&link.stream, Patience::For(DEADLINE));
    line.send(&Request { first: 0, count: 10 }).unwrap();
    let intruder = |message: &[u8]| {
        let mut intruder = TcpStream::connect(address).unwrap();
        intruder.write_all(message).unwrap();
        intruder.set_read_timeout(Some(DEADLINE)).unwrap();
        // The connection is closed without a byte, or reset if the server did not read the data.
        assert_eq!(intruder.read(&mut [0]).unwrap_or(0), 0);
    };
    intruder(&[]);
    intruder(&[7; 16]);
    intruder(&token.bytes()[..15]);
    intruder(&[&token.bytes()[..], &[0]].concat());
    let mut own = TcpStream::connect(address).unwrap();
    own.set_read_timeout(Some(DEADLINE)).unwrap();
    own.write_all(&token.bytes()).unwrap();
    assert_eq!(own.read(&mut [0]).unwrap(), 1);
    // A full queue of intruders while the client reports that it is done.
    let crowd: Vec<_> = (0..100).map(|_| TcpStream::connect(address).unwrap()).collect();
    line.send(&Sent { count: 1, took_ns: 0 }).unwrap();
    assert_eq!(line.report().unwrap().blocks, 1);
    // The server waited for a few of them, not for all: it has not closed the last one.
    let mut last = crowd.last().unwrap();
    last.set_nonblocking(true).unwrap();
    assert_eq!(last.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    drop(crowd);
    end(&bench.session);
}

#[test]
fn a_crowd_of_intruders_does_not_outlive_the_session() {
    // Each intruder would take 100 ms, all of them 10 s. Other load may delay the end, but not in
    // every try.
    wait_until("a server that ends before it has accepted all intruders", || {
        let mut bench = Bench::new(shape_of(&TCP_CONNECT, ""));
        let link = bench.links[0].take().unwrap();
        let Target { address, token } = link.target.unwrap();
        let mut client = &link.stream;
        client.write_all(&Request { first: 0, count: 10 }.encode()).unwrap();
        // The server accepts connections once it has answered this one.
        let mut own = TcpStream::connect(address).unwrap();
        own.set_read_timeout(Some(DEADLINE)).unwrap();
        own.write_all(&token.bytes()).unwrap();
        assert_eq!(own.read(&mut [0]).unwrap(), 1);
        let crowd: Vec<_> = (0..100).map(|_| TcpStream::connect(address).unwrap()).collect();
        let start = Instant::now();
        end(&bench.session);
        bench.first_server().unwrap_err();
        drop(crowd);
        start.elapsed() < Duration::from_secs(5)
    });
}

#[test]
fn a_port_that_cannot_be_reached_is_reported_and_nothing_is_sent_there() {
    let shape = shape_of(&UDP_STREAM, "block_size=100 direction=reverse");
    // The server takes a third socket for that of the client.
    let third = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    let mut sockets = job::client_sockets(&shape, ends_at(LOOPBACK)).unwrap();
    let (description, client, server) = served(&shape, vec![third.local_addr().unwrap().port()]);
    let target = description.target(SocketAddr::new(LOOPBACK, 0));
    let refused = link(client, sockets.remove(0), target, &shape);
    let port = target.unwrap().address.port();
    let words = format!("UDP port {port} of 127.0.0.1 is not reachable");
    assert_eq!(refused.err().unwrap().0, words);
    let ended = join("the server to end", server).unwrap_err();
    assert_eq!(ended, "the server closed the connection");
    third.set_nonblocking(true).unwrap();
    assert!(third.recv(&mut [0]).is_err(), "it was sent what it did not ask for");
}

#[test]
fn another_token_opens_nothing() {
    let shape = shape_of(&UDP_STREAM, "block_size=100 direction=reverse");
    let client = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    let (description, line, server) = served(&shape, vec![client.local_addr().unwrap().port()]);
    client.connect((LOOPBACK, description.port.unwrap())).unwrap();
    client.send(&[7; 16]).unwrap();
    client.send(&[]).unwrap();
    (&line).write_all(&Request { first: 0, count: 5 }.encode()).unwrap();
    line.shutdown(Shutdown::Write).unwrap();
    let ended = join("the server to end", server).unwrap_err();
    assert_eq!(ended, "the client sent a request before its UDP token arrived");
    client.set_nonblocking(true).unwrap();
    assert!(client.recv(&mut [0; 100]).is_err(), "nothing was sent");
}

#[test]
fn datagrams_of_others_before_connect_are_discarded() {
    let shape = shape_of(&UDP_STREAM, "block_size=1 direction=reverse");
    let client = job::udp_socket(&shape, ends_at(LOOPBACK)).unwrap();
    let (other, server) =
        (UdpSocket::bind((LOOPBACK, 0)).unwrap(), UdpSocket::bind((LOOPBACK, 0)).unwrap());
    for _ in 0..50 {
        other.send_to(&[7], client.local_addr().unwrap()).unwrap();
    }
    job::connect(&client, server.local_addr().unwrap()).unwrap();
    server.send_to(&[9], client.local_addr().unwrap()).unwrap();
    let mut byte = [0];
    assert_eq!((client.recv(&mut byte).unwrap(), byte), (1, [9]));
    assert!(client.recv(&mut byte).is_err());
}

#[test]
fn intruders_datagrams_get_no_answer_and_change_no_count() {
    for (workload, direction) in
        [(&UDP_STREAM, "forward"), (&UDP_STREAM, "reverse"), (&UDP_RTT, "forward")]
    {
        let set = format!("block_size=100 direction={direction} mode=block");
        let (mut ports, shape) = (Vec::new(), shape_of(workload, &set));
        let mut bench = Bench::at(LOOPBACK, shape, u64::MAX, |_, client, server| {
            ports.extend([client, server]);
            (client, server)
        });
        let intruder = UdpSocket::bind((LOOPBACK, 0)).unwrap();
        intruder.set_nonblocking(true).unwrap();
        let flood = std::thread::spawn(move || {
            let mut block = [0; 100];
            for n in 0..20_000_u64 {
                // The system drops datagrams of every socket when a flood fills its queue.
                if n % 100 == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
                stamp::put(&mut block, n % 50);
                ports.iter().filter(|port| **port > 0).for_each(|port| {
                    let _ = intruder.send_to(&block, (LOOPBACK, *port));
                });
            }
            intruder
        });
        let mut load = bench.load(0);
        while !flood.is_finished() {
            let trial = trial(&mut load, 50);
            assert_eq!((trial.failure, trial.verified), (None, Ok(50)), "{direction}");
        }
        assert!(join("the flood to end", flood).recv(&mut [0]).is_err(), "it was answered");
    }
}

#[test]
fn no_more_is_done_than_the_session_allows() {
    for (workload, bytes) in
        [(&TCP_STREAM, 100 * 20), (&UDP_STREAM, 100 * 20), (&UDP_RTT, 200 * 20)]
    {
        for direction in ["forward", "reverse"] {
            let set = format!("block_size=100 direction={direction} mode=block");
            let shape = shape_of(workload, &set);
            let mut bench = Bench::at(LOOPBACK, shape, bytes, |_, client, server| (client, server));
            let mut load = bench.load(0);
            assert_eq!(trial(&mut load, 18).verified, Ok(18), "two went ahead");
            let failure = trial(&mut load, 1).failure.unwrap();
            let known =
                failure.contains("limit of bytes or time") || failure.contains("the server");
            assert!(known, "{failure}");
            let ended = bench.first_server().unwrap_err();
            assert_eq!(ended, "the client requested more than the session allows");
        }
    }
}

#[test]
fn counts_that_overflow_are_refused() {
    for request in [
        Request { first: u64::MAX, count: 1 },
        Request { first: 0, count: u64::MAX },
        Request { first: 0, count: u64::MAX / 1000 },
    ] {
        let shape = shape_of(&TCP_STREAM, "block_size=65536");
        let (_, mut client, server) = served(&shape, vec![]);
        client.write_all(&request.encode()).unwrap();
        let ended = join("the server to end", server).unwrap_err();
        assert_eq!(ended, "the client requested more than the session allows");
        let mut bytes = Report::EMPTY;
        client.read_exact(&mut bytes).unwrap();
        assert_eq!(Report::decode(&bytes).unwrap().outcome, Outcome::Refused);
    }
}

#[test]
fn a_job_beyond_the_limits_is_refused_before_anything_is_made() {
    let good = shape_of(&UDP_STREAM, "block_size=100");
    let refused = |shape: Shape, ports: Vec<u16>| {
        server::streams(&Job { shape, ports }, ends_at(LOOPBACK)).err().map(|r| r.0)
    };
    assert_eq!(refused(good.clone(), vec![9]), None);
    assert_eq!(refused(Shape { rate: Some(1000), ..good.clone() }, vec![9]), None);
    let most = Shape { block: 16 << 20, streams: 16, kind: Kind::TcpStream, ..good.clone() };
    assert_eq!(refused(most, vec![]), None);
    let cases = [
        (Shape { streams: 0, ..good.clone() }, vec![]),
        (Shape { streams: u64::MAX, ..good.clone() }, vec![9]),
        (Shape { block: 65_508, ..good.clone() }, vec![9]),
        (Shape { block: 1 << 20, streams: 257, kind: Kind::TcpStream, ..good.clone() }, vec![]),
        (Shape { rate: Some(0), ..good.clone() }, vec![9]),
        (good.clone(), vec![]),
        (good.clone(), vec![0]),
        (good.clone(), vec![9, 9]),
        (Shape { kind: Kind::TcpStream, ..good }, vec![9]),
    ];
    for (shape, ports) in cases {
        let reason = refused(shape.clone(), ports.clone());
        assert!(reason.is_some_and(|r| r.len() > 10), "{shape:?} {ports:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn garbage_ends_a_stream_and_nothing_else(bytes in prop::collection::vec(any::<u8>(), 0..200), named: bool) {
        let mut bytes = bytes;
        if named && bytes.len() >= 8 {
            bytes[..8].copy_from_slice(b"request\0");
        }
        for workload in [&TCP_STREAM, &TCP_RTT] {
            let (_, mut client, server) = served(&shape_of(workload, ""), vec![]);
            client.write_all(&bytes).unwrap();
            drop(client);
            prop_assert!(join("the server to end", server).is_err());
        }
    }
}
