//! Something stands between the two ends and does what networks do.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use proofmark_model::Datagrams;
use proofmark_peer::Token;

use super::*;
use crate::network::far::Serve;
use crate::network::job::Target;
use crate::network::line::{Line, Patience};
use crate::network::udp::reach;
use crate::network::wire::{Report, Request, Sent};
use crate::network::{UDP_RTT, UDP_STREAM, stamp, udp};

/// What becomes of the datagrams on their way from the near end.
type Fate = fn(Vec<Vec<u8>>) -> Vec<Vec<u8>>;

/// A trial of `count` datagrams whose way there leads through `fate`, all at once.
fn through(shape: Shape, count: u64, fate: Fate) -> (Trial, Option<Datagrams>) {
    relayed(shape, count, move |from, to| {
        for part in [2, count] {
            let all = (0..part).map(|_| datagram(from)).collect();
            let all = if part == 2 { all } else { fate(all) };
            all.iter().for_each(|datagram| assert!(to.send(datagram).is_ok()));
        }
    })
}

/// A trial of `count` datagrams of which each goes on at once, but for those that `drops` names.
fn live(shape: Shape, count: u64, drops: fn(u64) -> bool) -> (Trial, Option<Datagrams>) {
    relayed(shape, count, move |from, to| {
        for i in 0..2 + count {
            let datagram = datagram(from);
            if i < 2 || !drops(i - 2) {
                to.send(&datagram).unwrap();
            }
        }
    })
}

/// The next datagram but for the tokens, of which there may be more than one.
fn datagram(from: &UdpSocket) -> Vec<u8> {
    let mut bytes = vec![0; 65_536];
    loop {
        match from.recv(&mut bytes) {
            Ok(n) if n != size_of::<Token>() => return bytes[..n].to_vec(),
            Ok(_) | Err(_) => {}
        }
    }
}

/// A trial whose datagrams take the way that `relay` makes, once the near end has shown its
/// token.
fn relayed(
    shape: Shape,
    count: u64,
    relay: impl FnOnce(&UdpSocket, &UdpSocket) + Send + 'static,
) -> (Trial, Option<Datagrams>) {
    let socket = || {
        let s = UdpSocket::bind((LOOPBACK, 0)).unwrap();
        s.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        s
    };
    let mut sockets = Some((socket(), socket(), relay));
    let (mut ports, mut near_port, mut running) = ((0, 0), 0, None);
    let mut bench = Bench::at(LOOPBACK, shape, u64::MAX, |_, near, far| {
        near_port = near_port.max(near);
        if let Some((to_near, to_far, _)) = &sockets {
            let port = |s: &UdpSocket| s.local_addr().unwrap().port();
            ports = (port(to_far), port(to_near));
        }
        if let Some((to_near, to_far, relay)) = sockets.take_if(|_| far != 0) {
            to_near.connect((LOOPBACK, near_port)).unwrap();
            to_far.connect((LOOPBACK, far)).unwrap();
            running = Some(std::thread::spawn(move || {
                let mut token = [0; size_of::<Token>()];
                while to_near.recv(&mut token).is_err() {}
                // One more that comes late does no harm.
                to_far.send(&token).unwrap();
                to_far.send(&token).unwrap();
                relay(&to_near, &to_far);
            }));
        }
        ports
    });
    let mut load = bench.load(0);
    let trial = trial(&mut load, count);
    running.unwrap().join().unwrap();
    drop(load);
    (trial, bench.shared.summed().datagrams)
}

fn shape() -> Shape {
    shape_of(&UDP_STREAM, &[("block_size", "100")])
}

fn counts(datagrams: Option<Datagrams>) -> (u64, u64, Option<u64>, Option<u64>) {
    let d = datagrams.unwrap();
    (d.sent, d.received, d.reordered, d.duplicated)
}

#[test]
fn an_honest_relay_changes_nothing() {
    let (trial, datagrams) = through(shape(), 50, |all| all);
    assert_eq!((trial.failure, trial.verified), (None, Ok(50)));
    assert_eq!(counts(datagrams), (52, 52, Some(0), Some(0)));
    assert!(trial.idled_s < 0.01, "{}", trial.idled_s);
}

#[test]
fn what_is_dropped_is_lost_and_the_wait_for_it_is_told() {
    let (trial, datagrams) = through(shape(), 50, |mut all| all.drain(..).step_by(2).collect());
    assert_eq!((trial.failure, trial.verified), (None, Ok(25)));
    assert_eq!(counts(datagrams), (52, 27, Some(0), Some(0)));
    assert!((0.019..0.5).contains(&trial.idled_s), "{}", trial.idled_s);
    assert!(trial.seconds > trial.idled_s);
}

#[test]
fn one_that_is_lost_of_many_leaves_the_rate_as_it_is() {
    // A datagram a millisecond; a peer's receiver looks about only each 100 ms.
    let set = [("block_size", "1000"), ("rate", "8000000")];
    let shape = Shape { path: NetworkPath::Peer, ..shape_of(&UDP_STREAM, &set) };
    let rate = |drops: fn(u64) -> bool| {
        let (trial, _) = live(shape.clone(), 200, drops);
        trial.verified.unwrap() as f64 / (trial.seconds - trial.idled_s)
    };
    // Other work of this machine may come between; not each time.
    let ratios: Vec<_> = (0..3).map(|_| rate(|i| i == 100) / rate(|_| false)).collect();
    assert!(ratios.iter().any(|ratio| (0.95..1.05).contains(ratio)), "{ratios:?}");
}

#[test]
fn the_time_runs_until_all_were_sent() {
    let set = [("block_size", "1000"), ("rate", "8000000")];
    let (trial, _) = live(shape_of(&UDP_STREAM, &set), 200, |i| i >= 100);
    assert_eq!(trial.verified, Ok(100));
    let worked = trial.seconds - trial.idled_s;
    assert!((0.18..0.5).contains(&worked), "{worked} s");
}

#[test]
fn doubles_keep_nobody_waiting() {
    // One datagram is lost; another comes again and again, sooner than a read times out.
    let (done, relaying) = (Arc::new(AtomicBool::new(false)), Instant::now());
    let stop = Arc::clone(&done);
    let mut doubles = None;
    let (trial, datagrams) = relayed(shape(), 50, {
        let (sender, receiver) = std::sync::mpsc::channel();
        doubles.replace(receiver);
        move |from, to| {
            for i in 0..52 {
                let datagram = datagram(from);
                if i != 51 {
                    to.send(&datagram).unwrap();
                }
                if i == 50 {
                    let (to, stop) = (to.try_clone().unwrap(), Arc::clone(&stop));
                    let trickle = std::thread::spawn(move || {
                        while !stop.load(Ordering::Relaxed) && relaying.elapsed().as_secs() < 5 {
                            let _ = to.send(&datagram);
                            std::thread::sleep(Duration::from_millis(2));
                        }
                    });
                    sender.send(trickle).unwrap();
                }
            }
        }
    });
    done.store(true, Ordering::Relaxed);
    doubles.unwrap().recv().unwrap().join().unwrap();
    assert_eq!((trial.failure, trial.verified), (None, Ok(49)));
    assert!(datagrams.unwrap().duplicated > Some(2));
    assert!(trial.seconds < 2.0, "{} s", trial.seconds);
}

#[test]
fn a_far_end_answers_each_request_once() {
    for block in [1, 8] {
        let shape = shape_of(&UDP_RTT, &[("block_size", &block.to_string()), ("mode", "block")]);
        let (far, near) = (UdpSocket::bind((LOOPBACK, 0)).unwrap(), UdpSocket::bind((LOOPBACK, 0)));
        let near = near.unwrap();
        near.connect(far.local_addr().unwrap()).unwrap();
        far.connect(near.local_addr().unwrap()).unwrap();
        far.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let (line, data) = pair(LOOPBACK);
        crate::network::line::ready(&line).unwrap();
        let served = std::thread::spawn(move || {
            let session = Bounds::of(0);
            let line = Line::new(&data, Patience::While(&session));
            let request = Request { first: 300, count: 10 };
            udp::rtt::FarEnd::new(far, &shape).serve(&line, request).unwrap()
        });
        let mut bytes = vec![0; block];
        // Each twice, one from before and one beyond.
        for number in (300..310_u64).flat_map(|n| [n, n]).chain([299, 310]) {
            stamp::put(&mut bytes, number);
            near.send(&bytes).unwrap();
        }
        near.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let answers: Vec<_> =
            std::iter::from_fn(|| near.recv(&mut bytes).ok().map(|_| bytes[0])).collect();
        assert_eq!(answers, (300..310_u64).map(|n| n as u8).collect::<Vec<_>>());
        let line = Line::new(&line, Patience::For(Duration::from_secs(5)));
        line.send(&Sent { count: 10, took_ns: 0 }).unwrap();
        assert_eq!(served.join().unwrap().blocks, 10);
    }
}

#[test]
fn what_comes_twice_counts_once() {
    // All but the last, whose double might come when all are there already.
    let (trial, datagrams) = through(shape(), 50, |mut all| {
        let last = all.pop();
        all.iter().flat_map(|d| [d.clone(), d.clone()]).chain(last).collect()
    });
    assert_eq!(trial.verified, Ok(50));
    assert_eq!(counts(datagrams), (52, 52, Some(0), Some(49)));
}

#[test]
fn what_comes_late_is_reordered() {
    let (trial, datagrams) = through(shape(), 50, |mut all| {
        all.swap(10, 11);
        let late = all.remove(20);
        all.insert(30, late);
        all
    });
    assert_eq!(trial.verified, Ok(50));
    assert_eq!(counts(datagrams), (52, 52, Some(2), Some(0)));
}

#[test]
fn another_trials_datagrams_do_not_count() {
    let (trial, _) = through(shape(), 50, |mut all| {
        all[7][..8].copy_from_slice(&0_u64.to_le_bytes());
        all[8][..8].copy_from_slice(&(1_u64 << 40).to_le_bytes());
        all
    });
    assert_eq!(trial.verified, Ok(48));
}

#[test]
fn a_datagram_of_another_length_is_wrong() {
    for length in [99, 101, 3] {
        let fate: Fate = match length {
            99 => |mut all| {
                all[7].truncate(99);
                all
            },
            101 => |mut all| {
                all[7].push(0);
                all
            },
            _ => |mut all| {
                all[7].truncate(3);
                all
            },
        };
        let (trial, _) = through(shape(), 50, fate);
        let error = trial.verified.unwrap_err();
        assert_eq!(error, format!("block 100 was due and block {length} came"));
    }
}

#[test]
fn short_datagrams_are_only_counted() {
    let shape = shape_of(&UDP_STREAM, &[("block_size", "1")]);
    let (trial, datagrams) = through(shape, 50, |mut all| all.split_off(10));
    assert_eq!(trial.verified, Ok(40));
    assert_eq!(counts(datagrams), (52, 42, None, None));
}

/// A far end of round trips that answers as `answer` says, by the request's place in the run.
fn answered(block: &str, count: u64, answer: fn(u64, &UdpSocket, &[u8])) -> Trial {
    let shape = shape_of(&UDP_RTT, &[("block_size", block), ("mode", "block")]);
    let far = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    let sockets = job::near_sockets(&shape, ends_at(LOOPBACK)).unwrap();
    far.connect((LOOPBACK, job::ports(&sockets)[0])).unwrap();
    far.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let (near, data) = pair(LOOPBACK);
    let token = Token::random().unwrap();
    let target = Some(Target { address: far.local_addr().unwrap(), token });
    let length = shape.block as usize;
    let served = std::thread::spawn(move || {
        let session = Bounds::of(0);
        let line = Line::new(&data, Patience::While(&session));
        reach::far(&line, &far, token).unwrap();
        let mut bytes = vec![0; length];
        for ahead in [true, false] {
            let request: Request = line.receive().unwrap();
            for i in 0..request.count {
                let n = far.recv(&mut bytes).unwrap();
                if ahead {
                    far.send(&bytes[..n]).unwrap();
                } else {
                    answer(i, &far, &bytes[..n]);
                }
            }
            let _: Sent = line.receive().unwrap();
            line.send(&Report { blocks: request.count, ..Report::default() }).unwrap();
        }
    });
    let link = link(near, sockets.into_iter().next().flatten(), target, &shape).unwrap();
    let mut load = Thread::new(link, &shape, 0, Shared::new(1)).unwrap();
    let trial = trial(&mut load, count);
    served.join().unwrap();
    trial
}

#[test]
fn an_answer_that_never_comes_is_lost_and_no_latency() {
    for block in ["1", "100"] {
        let trial = answered(block, 10, |i, far, bytes| {
            if i != 4 {
                far.send(bytes).unwrap();
            }
        });
        assert_eq!((trial.failure, trial.verified, trial.latencies), (None, Ok(9), 9));
        assert!((0.2..1.0).contains(&trial.seconds), "{}", trial.seconds);
    }
}

#[test]
fn an_answer_with_another_number_is_none() {
    for block in ["1", "100"] {
        let trial = answered(block, 10, |i, far, bytes| {
            let mut other = bytes.to_vec();
            other[0] ^= 0xFF;
            far.send(&other).unwrap();
            if i != 4 {
                far.send(bytes).unwrap();
            }
        });
        assert_eq!((trial.failure, trial.verified, trial.latencies), (None, Ok(9), 9));
    }
}

#[test]
fn an_answer_twice_counts_once() {
    for block in ["1", "100"] {
        let trial = answered(block, 10, |i, far, bytes| {
            far.send(bytes).unwrap();
            // The double of the answer before the one that is lost is not taken for that.
            if i != 7 {
                far.send(bytes).unwrap();
            }
        });
        assert_eq!((trial.failure, trial.verified, trial.latencies), (None, Ok(10), 10));
        let trial = answered(block, 10, |i, far, bytes| {
            if i != 4 {
                far.send(bytes).unwrap();
                far.send(bytes).unwrap();
            }
        });
        assert_eq!((trial.failure, trial.verified, trial.latencies), (None, Ok(9), 9));
    }
}
