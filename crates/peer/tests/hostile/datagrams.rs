//! Tests with datagrams to the server's own port.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use proofmark_testing::wait_until;
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::alone;
use crate::common::ServerSide;
use crate::session::Session;

/// Counts the answers to datagrams, and the kernel's refusals.
fn back(to: SocketAddr, count: u32) -> (u32, u32) {
    let ip: IpAddr = if to.is_ipv4() { "127.0.0.1" } else { "::1" }.parse().unwrap();
    let socket = UdpSocket::bind((ip, 0)).unwrap();
    socket.connect(to).unwrap();
    socket.set_nonblocking(true).unwrap();
    let mut random = TestRng::deterministic_rng(RngAlgorithm::XorShift);
    let (mut answers, mut refusals) = (0, 0);
    let mut look = |result: std::io::Result<usize>| match result {
        Ok(_) => answers += 1,
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => refusals += 1,
        Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
    };
    let mut bytes = vec![0; 64 << 10];
    random.fill_bytes(&mut bytes);
    for n in 0..count {
        let (from, length) = (random.next_u32() % 60_000, random.next_u32() % 1400);
        match socket.send(&bytes[from as usize..][..length as usize]) {
            Ok(_) => {}
            failed => look(failed),
        }
        // The queue of answers holds more than this many.
        if n % 50 == 0 {
            look(socket.recv(&mut [0; 2000]));
        }
    }
    sleep(Duration::from_millis(50));
    look(socket.recv(&mut [0; 2000]));
    (answers, refusals)
}

#[test]
fn datagrams_get_nothing_back() {
    let _alone = alone();
    for server in [ServerSide::start(), ServerSide::v6()] {
        let session = Session::begin(&server);
        let begin = Instant::now();
        assert_eq!(back(server.address, 20_000), (0, 0));
        session.undisturbed(begin);
    }
    // The method detects a closed port, and one that answers.
    let closed = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(back(closed, 20).1 > 0);
    let echo = UdpSocket::bind("127.0.0.1:0").unwrap();
    let open = echo.local_addr().unwrap();
    thread::spawn(move || {
        while let Ok((_, from)) = echo.recv_from(&mut [0; 2000]) {
            let _ = echo.send_to(b"!", from);
        }
    });
    wait_until("an echo of a datagram", || back(open, 20).0 > 0);
}
