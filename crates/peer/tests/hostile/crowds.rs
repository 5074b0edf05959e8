//! Tests with many connections, and with slow ones.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use proofmark_testing::{join, wait_until};

use crate::common::{PATIENCE, ServerSide, connect, opening, until_closed};
use crate::session::{Session, repeat, returning, steady};
use crate::{alone, from_elsewhere};

/// Maximum of threads for connections without the key.
const MOST_VISITORS: usize = 16;

/// Counts the threads of this process that serve connections.
fn serving() -> usize {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm"));
    threads.filter_map(|t| name(t).ok()).filter(|n| n.trim() == "peer").count()
}

#[test]
fn hundreds_of_idle_connections_cost_sixteen_threads() {
    let _alone = alone();
    let server = ServerSide::start();
    let session = Session::begin(&server);
    let (begin, calm) = (Instant::now(), serving());
    let mut idle = Vec::new();
    let mut most = 0;
    for n in 0..400 {
        // The server prefers the address of its session; see `gate`.
        idle.push(from_elsewhere(server.address.port()));
        most = most.max(serving());
        if n % 20 == 0 {
            sleep(Duration::from_millis(5));
        }
    }
    // The session's own workers join meanwhile: threads for two channels.
    assert!(most <= calm + MOST_VISITORS + 8, "{most} threads, {calm} before");
    wait_until("threads that serve the connections", || {
        most = most.max(serving());
        most >= calm + MOST_VISITORS / 2
    });
    for stream in &mut idle {
        assert_eq!(until_closed(stream).0, 0);
    }
    session.undisturbed(begin);
}

#[test]
fn slow_and_half_open_connections_end_in_time() {
    let _alone = alone();
    let server = ServerSide::start();
    let session = Session::begin(&server);
    let begin = Instant::now();
    // A slow sender of a valid handshake.
    let (first, _) = opening(&server.key);
    let mut slow = connect(server.address);
    let mut reader = slow.try_clone().unwrap();
    let closed = thread::spawn(move || until_closed(&mut reader));
    let sent = first.iter().take_while(|&&byte| {
        sleep(Duration::from_millis(100));
        slow.write_all(&[byte]).is_ok()
    });
    let sent = sent.count();
    let (answer, took) = join("the slow connection to be closed", closed);
    // It was closed at the server's time limit, before it had sent all.
    assert!(answer == 0 && sent < first.len(), "{sent} {took:?}");
    // Half of a handshake, and a handshake without the next message.
    for (bytes, answer) in [(&first[..20], 0), (&first[..], 50)] {
        let mut stream = connect(server.address);
        stream.write_all(bytes).unwrap();
        let (answered, took) = until_closed(&mut stream);
        assert_eq!(answered, answer);
        assert!(took > PATIENCE.handshake / 2, "{took:?}");
    }
    session.undisturbed(begin);
}

/// An endless crowd from another address cannot keep out a session's own workers.
#[test]
fn a_crowd_from_elsewhere_does_not_crowd_the_session_out() {
    let _alone = alone();
    let server = ServerSide::start();
    let control = server.control();
    let mut steady = steady(control.invitation());
    let (over, count) = <(Arc<_>, Arc<_>)>::default();
    let mut streams = VecDeque::new();
    let port = server.address.port();
    let come = move || {
        streams.push_back(from_elsewhere(port));
        if streams.len() > 100 {
            streams.pop_front();
        }
    };
    let crowd = repeat(&over, &count, come);
    wait_until("more connections than there are places", || count.load(Ordering::SeqCst) > 100);
    for _ in 0..10 {
        let mut own = returning(control.invitation());
        own();
        steady();
    }
    // Nor can a slow one.
    let mut slow = connect(server.address);
    sleep(PATIENCE.handshake / 2);
    let _ = slow.write_all(&opening(&server.key).0);
    slow.read_exact(&mut [0; 50]).expect("displaced");
    over.store(true, Ordering::SeqCst);
    join("the crowd to end", crowd);
    assert_eq!(control.ended(), None);
}
