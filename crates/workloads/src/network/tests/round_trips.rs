//! Round trips over UDP whose requests or answers are lost, late, duplicated or from another peer.

use std::net::UdpSocket;
use std::time::Duration;

use proofmark_peer::Token;

use super::*;
use crate::network::job::Target;
use crate::network::line::{Line, Patience};
use crate::network::server::Serve;
use crate::network::udp::reach;
use crate::network::wire::{Report, Request, Sent};
use crate::network::{UDP_RTT, stamp, udp};

#[test]
fn a_server_answers_each_request_once() {
    for block in [1, 8] {
        let shape = shape_of(&UDP_RTT, &format!("block_size={block} mode=block"));
        let (server, client) =
            (UdpSocket::bind((LOOPBACK, 0)).unwrap(), UdpSocket::bind((LOOPBACK, 0)));
        let client = client.unwrap();
        client.connect(server.local_addr().unwrap()).unwrap();
        server.connect(client.local_addr().unwrap()).unwrap();
        server.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let (line, data) = pair(LOOPBACK);
        crate::network::line::ready(&line).unwrap();
        let served = std::thread::spawn(move || {
            let session = Bounds::without_session(0);
            let line = Line::new(&data, Patience::While(&session));
            let request = Request { first: 300, count: 10 };
            udp::rtt::ServerEnd::new(server, &shape).serve(&line, request).unwrap()
        });
        let mut bytes = vec![0; block];
        // Each request twice, one with an earlier number and one beyond the last.
        for number in (300..310_u64).flat_map(|n| [n, n]).chain([299, 310]) {
            stamp::put(&mut bytes, number);
            client.send(&bytes).unwrap();
        }
        client.set_read_timeout(Some(DEADLINE)).unwrap();
        for number in 300..310_u64 {
            client.recv(&mut bytes).unwrap();
            assert_eq!(bytes[0], number as u8);
        }
        let line = Line::new(&line, Patience::For(DEADLINE));
        line.send(&Sent { count: 10, took_ns: 0 }).unwrap();
        assert_eq!(join("the server to end", served).blocks, 10);
        client.set_nonblocking(true).unwrap();
        assert!(client.recv(&mut bytes).is_err(), "one more answer");
    }
}

/// Runs a trial against a server that answers by `answer`, which gets the request's place in the
/// run.
fn answered(block: &str, count: u64, answer: fn(u64, &UdpSocket, &[u8])) -> Trial {
    let shape = shape_of(&UDP_RTT, &format!("block_size={block} mode=block"));
    let server = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    let sockets = job::client_sockets(&shape, ends_at(LOOPBACK)).unwrap();
    server.connect((LOOPBACK, job::ports(&sockets)[0])).unwrap();
    server.set_read_timeout(Some(DEADLINE)).unwrap();
    let (client, data) = pair(LOOPBACK);
    let token = Token::random().unwrap();
    let target = Some(Target { address: server.local_addr().unwrap(), token });
    let length = shape.block as usize;
    let served = std::thread::spawn(move || {
        let session = Bounds::without_session(0);
        let line = Line::new(&data, Patience::While(&session));
        reach::server(&line, &server, token).unwrap();
        let mut bytes = vec![0; length];
        for ahead in [true, false] {
            let request: Request = line.receive().unwrap();
            for i in 0..request.count {
                let n = server.recv(&mut bytes).unwrap();
                if ahead {
                    server.send(&bytes[..n]).unwrap();
                } else {
                    answer(i, &server, &bytes[..n]);
                }
            }
            let _: Sent = line.receive().unwrap();
            line.send(&Report { blocks: request.count, ..Report::default() }).unwrap();
        }
    });
    let link = link(client, sockets.into_iter().next().flatten(), target, &shape).unwrap();
    let mut load = Thread::new(link, &shape, 0, Shared::new(1)).unwrap();
    let trial = trial(&mut load, count);
    join("the server to end", served);
    trial
}

#[test]
fn each_request_counts_once_and_only_with_its_own_answer() {
    type Answer = fn(u64, &UdpSocket, &[u8]);
    let cases: [(&str, Answer, u64); 4] = [
        (
            "one is lost",
            |i, server, bytes| {
                if i != 4 {
                    server.send(bytes).unwrap();
                }
            },
            9,
        ),
        (
            "one has answers with another number only",
            |i, server, bytes| {
                let mut other = bytes.to_vec();
                other[0] ^= 0xFF;
                server.send(&other).unwrap();
                if i != 4 {
                    server.send(bytes).unwrap();
                }
            },
            9,
        ),
        (
            "all but one are answered twice",
            |i, server, bytes| {
                server.send(bytes).unwrap();
                if i != 7 {
                    server.send(bytes).unwrap();
                }
            },
            10,
        ),
        (
            // The duplicate of the previous answer is not taken for the lost answer.
            "all but one, which is lost, are answered twice",
            |i, server, bytes| {
                if i != 4 {
                    server.send(bytes).unwrap();
                    server.send(bytes).unwrap();
                }
            },
            9,
        ),
    ];
    for (name, answer, counted) in cases {
        for block in ["1", "100"] {
            let trial = answered(block, 10, answer);
            let found = (trial.failure, trial.verified, trial.latencies);
            assert_eq!(found, (None, Ok(counted), counted), "{name}, {block} B");
            assert!(counted == 10 || trial.seconds >= 0.2, "{name}: {} s", trial.seconds);
        }
    }
}
