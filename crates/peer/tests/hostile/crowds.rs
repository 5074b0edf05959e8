//! Many connections, and slow ones.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use crate::common::{Far, PATIENCE, connect, opening, until_closed};
use crate::session::{Session, returning, steady};
use crate::{alone, from_elsewhere};

/// Threads that serve connections without the key, at most.
const MOST_VISITORS: usize = 16;

/// Threads of this process that serve connections.
fn serving() -> usize {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm"));
    threads.filter_map(|t| name(t).ok()).filter(|n| n.trim() == "peer").count()
}

#[test]
fn hundreds_of_idle_connections_cost_sixteen_threads() {
    let _alone = alone();
    let far = Far::start();
    let session = Session::begin(&far);
    let (begin, calm) = (Instant::now(), serving());
    let mut idle = Vec::new();
    let mut most = 0;
    for n in 0..400 {
        idle.push(connect(far.address));
        most = most.max(serving());
        if n % 20 == 0 {
            sleep(Duration::from_millis(5));
        }
    }
    // The session's own workers come and go meanwhile: two channels' worth of threads.
    assert!(most <= calm + MOST_VISITORS + 8, "{most} threads, {calm} before");
    assert!(most >= calm + MOST_VISITORS / 2, "the connections never came: {most}");
    for stream in &mut idle {
        assert_eq!(until_closed(stream).0, 0);
    }
    session.undisturbed(begin);
}

#[test]
fn slow_and_half_open_connections_end_in_time() {
    let _alone = alone();
    let far = Far::start();
    let session = Session::begin(&far);
    let begin = Instant::now();
    // A byte now and then of a handshake that is right.
    let (first, _) = opening(&far.key);
    let mut slow = connect(far.address);
    let mut reader = slow.try_clone().unwrap();
    let closed = thread::spawn(move || until_closed(&mut reader));
    let sent = first.iter().take_while(|&&byte| {
        sleep(Duration::from_millis(100));
        slow.write_all(&[byte]).is_ok()
    });
    let sent = sent.count();
    let (answer, took) = closed.join().unwrap();
    assert!(answer == 0 && sent < first.len() && took < PATIENCE.handshake * 2, "{sent} {took:?}");
    // Half of a handshake, and a handshake without what follows it.
    for (bytes, answer) in [(&first[..20], 0), (&first[..], 50)] {
        let mut stream = connect(far.address);
        stream.write_all(bytes).unwrap();
        let (answered, took) = until_closed(&mut stream);
        assert_eq!(answered, answer);
        let handshake = PATIENCE.handshake;
        assert!(took > handshake / 2 && took < handshake * 2, "{took:?}");
    }
    session.undisturbed(begin);
}

/// Connections from another address that come without end, until it is over; how many.
fn crowd(port: u16, over: Arc<AtomicBool>) -> JoinHandle<u32> {
    thread::spawn(move || {
        let mut streams = std::collections::VecDeque::new();
        let mut count = 0;
        while !over.load(Ordering::SeqCst) {
            streams.push_back(from_elsewhere(port));
            count += 1;
            if streams.len() > 100 {
                streams.pop_front();
            }
        }
        count
    })
}

/// Before there is a session, a crowd from one address displaces itself, and not who
/// comes from another and takes his time.
#[test]
fn a_crowd_from_one_address_leaves_room_for_another() {
    let _alone = alone();
    let far = Far::start();
    let over = Arc::new(AtomicBool::new(false));
    let crowd = crowd(far.address.port(), Arc::clone(&over));
    for _ in 0..5 {
        let mut stream = connect(far.address);
        sleep(PATIENCE.handshake / 2);
        let _ = stream.write_all(&opening(&far.key).0);
        let mut answer = [0; 50];
        stream.read_exact(&mut answer).expect("displaced");
    }
    over.store(true, Ordering::SeqCst);
    assert!(crowd.join().unwrap() > 100);
}

/// Strangers from another address that come without end cannot keep a session's own
/// workers from coming in.
#[test]
fn a_crowd_from_elsewhere_does_not_crowd_the_session_out() {
    let _alone = alone();
    let far = Far::start();
    let lead = far.lead();
    let mut steady = steady(lead.invitation());
    let over = Arc::new(AtomicBool::new(false));
    let crowd = crowd(far.address.port(), Arc::clone(&over));
    for _ in 0..10 {
        let mut own = returning(lead.invitation());
        own();
        steady();
    }
    over.store(true, Ordering::SeqCst);
    assert!(crowd.join().unwrap() > 100);
    assert!(lead.alive());
}
