//! Servers that die, send wrong counts, stay silent, or whose session ends.

use std::io::{Read, Write};
use std::net::{Shutdown, UdpSocket};
use std::time::Duration;

use proofmark_testing::wait_until;

use super::*;
use crate::network::job::Target;
use crate::network::line::{Line, Patience};
use crate::network::stamp;
use crate::network::wire::{Message, Outcome, Report, Request, Sent};
use crate::network::{TCP_CONNECT, TCP_RTT, TCP_STREAM, UDP_RTT, UDP_STREAM};

/// Runs a trial of `count` blocks against a server function, without work ahead of it.
fn against(
    shape: &Shape,
    count: u64,
    server: impl FnOnce(&Line) + Send + 'static,
) -> (Option<String>, Result<u64, String>) {
    against_over(pair(LOOPBACK), shape, (count, &Shared::new(1)), server)
}

/// Runs such a trial over a connection, given by the client's and the server's socket.
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

/// Runs a trial of 50 datagrams of 100 B against a server that sends only half of them. The server
/// takes a fifth of a second and reports `reported` datagrams as sent.
fn half_arrive(reported: u64) -> (Thread, f64) {
    let shape = shape_of(&UDP_STREAM, "block_size=100 direction=reverse");
    // Here the wait for lost datagrams is 200 ms, not 20 ms, longer than the delays of a busy
    // machine.
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
        line.send(&Sent { count: reported, took_ns: 200_000_000 }).unwrap();
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
    // The wait for lost datagrams does not count, but sending does.
    let idled = load.idled_s();
    assert!(idled > 0.199 && seconds - idled > 0.199, "idle for {idled} of {seconds} s");
}

#[test]
fn a_server_that_sends_less_than_requested_is_reported() {
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
                // So each block is read separately.
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
                // Until the client closes the connection.
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
    // One datagram per 3 s. Other load may delay the end, but not in every try.
    let shape = shape_of(&UDP_STREAM, "block_size=1000 rate=2667 direction=reverse");
    wait_until("a server that ends before its next datagram", || {
        let mut bench = Bench::new(shape.clone());
        let link = bench.links[0].take().unwrap();
        let mut client = &link.stream;
        client.write_all(&Request { first: 0, count: 10 }.encode()).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let start = Instant::now();
        end(&bench.session);
        let ended = bench.first_server().unwrap_err();
        assert_eq!(ended, "the session has ended");
        start.elapsed() < Duration::from_millis(2500)
    });
}
