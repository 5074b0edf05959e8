//! A server that dies, sends wrong counts, is silent or has had enough; a client that asks for too much.

use std::io::{Read, Write};
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

/// A trial of `count` blocks against a server that is `server`, without work ahead of it.
fn against(
    shape: &Shape,
    count: u64,
    server: impl FnOnce(&Line) + Send + 'static,
) -> (Option<String>, Result<u64, String>) {
    against_over(pair(LOOPBACK), shape, (count, &Shared::new(1)), server)
}

/// The same over a connection, the client's end and the server's.
fn against_over(
    (client, data): (TcpStream, TcpStream),
    shape: &Shape,
    (count, shared): (u64, &Arc<Shared>),
    server: impl FnOnce(&Line) + Send + 'static,
) -> (Option<String>, Result<u64, String>) {
    let link = link(client, None, None, shape).unwrap();
    let served = std::thread::spawn(move || {
        let session = Bounds::without_session(0);
        server(&Line::new(&data, Patience::While(&session)));
    });
    let mut load = Thread::new(link, shape, 0, Arc::clone(shared)).unwrap();
    load.prepare(count);
    load.run(count);
    let outcome = (load.failure(), load.verify());
    drop(load);
    join("the server to end", served);
    outcome
}

fn take_all(line: &Line, block: usize) -> u64 {
    let Request { count, .. } = line.receive().unwrap();
    line.read_exact(&mut vec![0; block * count as usize]).unwrap();
    count
}

#[test]
fn a_receiver_that_counts_wrong_is_not_believed() {
    let shape = shape_of(&TCP_STREAM, "block_size=100");
    for (blocks, bytes, verified) in [
        (0, 5000, Some(Ok(50))),
        (0, 4999, Some(Err("the server counted 49 of 50".to_owned()))),
        (0, 5001, None),
        (51, 0, None),
        (u64::MAX, u64::MAX, None),
    ] {
        let (failure, found) = against(&shape, 50, move |line| {
            take_all(line, 100);
            line.send(&Report { blocks, bytes, ..Report::default() }).unwrap();
        });
        match verified {
            Some(verified) => assert_eq!((failure, found), (None, verified)),
            None => {
                let failure = failure.unwrap();
                assert!(failure.ends_with("; the request was 50 blocks of 100 B"), "{failure}");
            }
        }
    }
}

/// A trial of 50 datagrams of 100 B that a server sends which sends only half of them, takes a
/// fifth of a second for it, and reports `says` of them as sent.
fn half_arrive(says: u64) -> (Thread, f64) {
    let shape = shape_of(&UDP_STREAM, "block_size=100 direction=reverse");
    // The wait for what is lost is 200 ms there, not 20: no delay of a busy machine looks like it.
    let shape = Shape { path: NetworkPath::Peer, ..shape };
    let (client, data) = pair(LOOPBACK);
    let own = job::udp_socket(&shape, ends_at(LOOPBACK)).unwrap();
    let server = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    server.connect(own.local_addr().unwrap()).unwrap();
    job::connect(&own, server.local_addr().unwrap()).unwrap();
    let address = server.local_addr().unwrap();
    let target = Some(Target { address, token: proofmark_peer::Token::random().unwrap() });
    crate::network::line::ready(&client).unwrap();
    let served = std::thread::spawn(move || {
        let session = Bounds::without_session(0);
        let line = Line::new(&data, Patience::While(&session));
        let Request { first, count } = line.receive().unwrap();
        for n in first..first + count / 2 {
            let mut datagram = [0; 100];
            stamp::put(&mut datagram, n);
            server.send(&datagram).unwrap();
        }
        std::thread::sleep(Duration::from_millis(200));
        line.send(&Sent { count: says, took_ns: 200_000_000 }).unwrap();
        let _ = line.send(&Report::count_blocks(count, 100));
    });
    let link = Link { stream: client, udp: Some(own), target };
    let mut load = Thread::new(link, &shape, 0, Shared::new(1)).unwrap();
    load.prepare(50);
    let start = Instant::now();
    load.run(50);
    let seconds = start.elapsed().as_secs_f64();
    join("the server to end", served);
    (load, seconds)
}

#[test]
fn the_time_of_a_server_that_sends_runs_until_it_has_sent_all() {
    let (mut load, seconds) = half_arrive(50);
    assert_eq!((load.failure(), load.verify()), (None, Ok(25)));
    // The wait for what is lost does not count, and the sending does.
    let idled = load.idled_s();
    assert!(idled > 0.199 && seconds - idled > 0.199, "idle for {idled} of {seconds} s");
}

#[test]
fn a_server_that_sends_less_than_was_asked_for_is_reported() {
    let (mut load, _) = half_arrive(25);
    assert_eq!(load.failure().unwrap(), "the server sent 25 of 50 datagrams");
}

#[test]
fn a_wrong_block_is_found_at_either_end() {
    let shape = shape_of(&TCP_STREAM, "block_size=100 direction=reverse");
    for wrong in [None, Some(7)] {
        let ends = pair(LOOPBACK);
        let client = ends.0.try_clone().unwrap();
        let (failure, verified) = against_over(ends, &shape, (50, &Shared::new(1)), move |line| {
            let Request { first, count } = line.receive().unwrap();
            let mut block = [0; 100];
            for n in first..first + count {
                stamp::put(&mut block, if Some(n) == wrong { 99 } else { n });
                line.write_all(&block).unwrap();
                // Each block is a read of its own.
                wait_until("the client to read the block", || {
                    rustix::io::ioctl_fionread(&client).unwrap() == 0
                });
            }
            line.send(&Report { bytes: 100 * count, ..Report::default() }).unwrap();
        });
        assert_eq!(failure, None);
        match wrong {
            None => assert_eq!(verified, Ok(50)),
            Some(_) => assert_eq!(verified.unwrap_err(), "block 99 arrived, expected block 7"),
        }
    }
    let shape = shape_of(&TCP_STREAM, "block_size=100");
    let (_, verified) = against(&shape, 50, |line| {
        let bytes = 100 * take_all(line, 100);
        let outcome = Outcome::Wrong;
        line.send(&Report { bytes, outcome, due: 3, found: 4, ..Report::default() }).unwrap();
    });
    assert_eq!(verified.unwrap_err(), "block 4 arrived, expected block 3");
}

#[test]
fn the_server_reports_a_wrong_block() {
    let shape = shape_of(&TCP_STREAM, "block_size=100");
    let (_, mut client, server) = served(&shape, vec![]);
    client.write_all(&Request { first: 5, count: 2 }.encode()).unwrap();
    let mut block = [0; 100];
    for number in [6_u64, 6] {
        stamp::put(&mut block, number);
        client.write_all(&block).unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut bytes = Report::EMPTY;
    client.read_exact(&mut bytes).unwrap();
    let report = Report::decode(&bytes).unwrap();
    assert_eq!((report.outcome, report.due, report.found), (Outcome::Wrong, 5, 6));
    assert_eq!((report.blocks, report.bytes), (2, 200));
    client.shutdown(Shutdown::Both).unwrap();
    join("the server to end", server).unwrap_err();
}

#[test]
fn a_round_trip_proves_its_answer_and_reports_what_either_end_sent_again() {
    let shape = shape_of(&TCP_RTT, "block_size=8 mode=block");
    let wrong = Err("block 0 arrived, expected block 1".to_owned());
    for (honest, verified) in [(true, Ok(3)), (false, wrong)] {
        let shared = Shared::new(1);
        let outcome = against_over(pair(LOOPBACK), &shape, (3, &shared), move |line| {
            let Request { count, .. } = line.receive().unwrap();
            let mut block = [0; 8];
            for _ in 0..count {
                line.read_exact(&mut block).unwrap();
                line.write_all(if honest { &block } else { &[0; 8] }).unwrap();
            }
            line.send(&Report { retransmits: 7, ..Report::count_blocks(count, 8) }).unwrap();
        });
        assert_eq!(outcome, (None, verified));
        assert!(!honest || shared.summed().streams[0].retransmits == 7);
    }
}

#[test]
fn a_server_that_dies_is_reported_at_once() {
    let shape = shape_of(&TCP_STREAM, "");
    for reset in [false, true] {
        let (failure, _) = against(&shape, 1 << 20, move |line| {
            let Request { .. } = line.receive().unwrap();
            let mut bytes = vec![0; 1 << 20];
            line.read_exact(&mut bytes).unwrap();
            if !reset {
                line.stream.shutdown(Shutdown::Both).unwrap();
            }
        });
        let failure = failure.unwrap();
        assert!(failure.starts_with("the server reset the connection"), "{failure}");
    }
    let reverse = shape_of(&TCP_STREAM, "direction=reverse");
    let (failure, _) = against(&reverse, 10, |line| {
        let Request { .. } = line.receive().unwrap();
    });
    assert_eq!(failure.unwrap(), "the server closed the connection");
}

#[test]
fn a_silent_server_is_given_up_within_ten_seconds() {
    let workloads = [(&TCP_STREAM, "auto"), (&TCP_RTT, "block"), (&TCP_RTT, "poll")];
    let threads = workloads.map(|(workload, mode)| {
        std::thread::spawn(move || {
            let shape = shape_of(workload, &format!("mode={mode} block_size=100"));
            let start = Instant::now();
            let (failure, _) = against(&shape, 50, |line| {
                let Request { .. } = line.receive().unwrap();
                // Until the client closes.
                let mut stream = line.stream;
                stream.set_read_timeout(Some(DEADLINE)).unwrap();
                let _ = std::io::copy(&mut stream, &mut std::io::sink());
            });
            assert_eq!(failure.unwrap(), "the server did not respond for 5 s");
            assert!(start.elapsed().as_secs_f64() > 4.9, "{mode}");
        })
    });
    threads.into_iter().for_each(|t| join("a trial against a silent server", t));
}

#[test]
fn a_server_whose_sockets_are_gone_is_reported() {
    for (workload, block) in [(&UDP_STREAM, "1000"), (&UDP_RTT, "1"), (&TCP_CONNECT, "1")] {
        let shape = shape_of(workload, &format!("block_size={block}"));
        let mut bench = Bench::new(shape);
        let mut load = bench.load(0);
        assert_eq!(trial(&mut load, 3).verified, Ok(3));
        end(&bench.session);
        bench.first_server().unwrap_err();
        let failure = trial(&mut load, 100_000).failure.unwrap();
        assert!(failure.contains("the server"), "{failure}");
    }
}

#[test]
fn a_paced_server_ends_with_its_session() {
    // A datagram each 3 s.
    let shape = shape_of(&UDP_STREAM, "block_size=1000 rate=2667 direction=reverse");
    let mut bench = Bench::new(shape);
    let link = bench.links[0].take().unwrap();
    let mut client = &link.stream;
    client.write_all(&Request { first: 0, count: 10 }.encode()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let start = Instant::now();
    end(&bench.session);
    let ended = bench.first_server().unwrap_err();
    assert_eq!(ended, "the session has ended");
    assert!(start.elapsed().as_secs_f64() < 2.5, "it waited for its next datagram");
}

#[test]
fn intruders_get_no_connection_answered_and_keep_nobody() {
    let mut bench = Bench::new(shape_of(&TCP_CONNECT, ""));
    let link = bench.links[0].take().unwrap();
    let Target { address, token } = link.target.unwrap();
    let line = Line::new(&link.stream, Patience::For(DEADLINE));
    line.send(&Request { first: 0, count: 10 }).unwrap();
    let intruder = |says: &[u8]| {
        let mut intruder = TcpStream::connect(address).unwrap();
        intruder.write_all(says).unwrap();
        intruder.set_read_timeout(Some(DEADLINE)).unwrap();
        // It is closed without a byte, or reset where what it said was not read.
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
    // A queue full of them, while the client says that it is done.
    let crowd: Vec<_> = (0..100).map(|_| TcpStream::connect(address).unwrap()).collect();
    let start = Instant::now();
    line.send(&Sent { count: 1, took_ns: 0 }).unwrap();
    assert_eq!(line.report().unwrap().blocks, 1);
    // Each would take 100 ms, and all of them 10 s.
    assert!(start.elapsed().as_secs() < 9, "one of them was waited for, not all");
    drop(crowd);
    end(&bench.session);
}

#[test]
fn a_crowd_of_intruders_does_not_outlive_the_session() {
    let mut bench = Bench::new(shape_of(&TCP_CONNECT, ""));
    let link = bench.links[0].take().unwrap();
    let address = link.target.unwrap().address;
    let mut client = &link.stream;
    client.write_all(&Request { first: 0, count: 10 }.encode()).unwrap();
    let crowd: Vec<_> = (0..100).map(|_| TcpStream::connect(address).unwrap()).collect();
    let start = Instant::now();
    end(&bench.session);
    bench.first_server().unwrap_err();
    // Each would take 100 ms, and all of them 10 s.
    assert!(start.elapsed().as_secs() < 9, "{:?}", start.elapsed());
    drop(crowd);
}

#[test]
fn a_port_that_cannot_be_reached_is_reported_and_nothing_is_sent_there() {
    let shape = shape_of(&UDP_STREAM, "block_size=100 direction=reverse");
    // The server takes a third socket for the client's.
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
    assert_eq!(ended, "it asked before its datagrams came");
    client.set_nonblocking(true).unwrap();
    assert!(client.recv(&mut [0; 100]).is_err(), "nothing was sent");
}

#[test]
fn what_others_sent_before_is_gone() {
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
fn no_more_is_done_than_was_agreed() {
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
            assert_eq!(ended, "the client asked for more than was agreed");
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
        assert_eq!(ended, "the client asked for more than was agreed");
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
