//! A relay between the two ends that loses, delays and duplicates datagrams like a network.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{Shutdown, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use proofmark_model::{Datagrams, UDP_BUFFER};
use proofmark_peer::Token;
use proofmark_testing::{recv, wait_until};

use super::*;
use crate::network::UDP_STREAM;
use crate::network::socket::set_buffers;
use crate::network::wire::{Message, Request, Sent};

/// Runs a trial of `count` datagrams. The relay applies `fate` to all of them at once.
fn through(
    shape: Shape,
    count: u64,
    fate: impl FnOnce(Vec<Vec<u8>>) -> Vec<Vec<u8>> + Send + 'static,
) -> (Trial, Option<Datagrams>) {
    relayed(shape, count, move |relay| {
        let warm_up = (0..2).map(|_| relay.take()).collect();
        relay.pass_request(warm_up);
        let all = (0..count).map(|_| relay.take()).collect();
        relay.pass_request(fate(all));
    })
}

type Drops = fn(u64) -> bool;

/// Runs a trial of `count` datagrams. The relay passes each at once, except those that `drops`
/// selects.
fn live(shape: Shape, count: u64, drops: Drops) -> Trial {
    let (trial, _) = relayed(shape, count, move |relay| {
        let warm_up = (0..2).map(|_| relay.take()).collect();
        relay.pass_request(warm_up);
        for i in 0..count {
            let datagram = relay.take();
            if !drops(i) {
                relay.pass(&datagram);
            }
        }
        relay.end_request();
    });
    trial
}

/// Replaces the network between the two ends.
struct Relay {
    client: UdpSocket,
    server: UdpSocket,
    taken: Cell<u64>,
    done: Sender<()>,
}

impl Relay {
    fn new(done: Sender<()>) -> Self {
        let socket = || {
            let socket = UdpSocket::bind((LOOPBACK, 0)).unwrap();
            // With the system's default, a busy machine drops some of 200 datagrams.
            set_buffers(&socket, UDP_BUFFER).unwrap();
            socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
            socket
        };
        Self { client: socket(), server: socket(), taken: Cell::new(0), done }
    }

    /// Returns the ports to which the client and the server send.
    fn ports(&self) -> (u16, u16) {
        let port = |s: &UdpSocket| s.local_addr().unwrap().port();
        (port(&self.server), port(&self.client))
    }

    fn pass_token(&self) {
        let mut token = [0; size_of::<Token>()];
        wait_until("the client's token", || self.client.recv(&mut token).is_ok());
        // A second, late token does no harm.
        self.pass(&token);
        self.pass(&token);
    }

    /// Returns the client's next datagram. Skips tokens, of which there may be several.
    fn take(&self) -> Vec<u8> {
        let mut bytes = vec![0; 65_536];
        self.taken.set(self.taken.get() + 1);
        let what = format!("datagram {} of the client", self.taken.get());
        let length = wait_until(&what, || {
            self.client.recv(&mut bytes).ok().filter(|n| *n != size_of::<Token>())
        });
        bytes.truncate(length);
        bytes
    }

    fn pass(&self, datagram: &[u8]) {
        self.server.send(datagram).unwrap();
    }

    fn pass_request(&self, all: Vec<Vec<u8>>) {
        all.iter().for_each(|datagram| self.pass(datagram));
        self.end_request();
    }

    /// Lets the client report that it has sent all datagrams of a request.
    fn end_request(&self) {
        self.done.send(()).unwrap();
    }
}

/// Opens a data connection that delays the client's report that it has sent all datagrams of a
/// request until the relay has passed them. The server waits only 20 ms for datagrams after that
/// report, and a busy machine may not run the relay for longer than that.
fn delaying_pair(done: Receiver<()>) -> (TcpStream, TcpStream) {
    let ((client, relay_client), (relay_server, server)) = (pair(LOOPBACK), pair(LOOPBACK));
    let (mut from_server, mut to_client) =
        (relay_server.try_clone().unwrap(), relay_client.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from_server, &mut to_client);
        to_client.shutdown(Shutdown::Write)
    });
    std::thread::spawn(move || {
        while pass::<Request>(&relay_client, &relay_server) {
            // If the relay failed, the trial can still end.
            let _ = done.recv_timeout(DEADLINE);
            pass::<Sent>(&relay_client, &relay_server);
        }
        relay_server.shutdown(Shutdown::Write)
    });
    (client, server)
}

/// Passes on the next message. Returns false if there is none.
fn pass<M: Message>(mut from: &TcpStream, mut to: &TcpStream) -> bool {
    let mut bytes = M::EMPTY;
    from.read_exact(bytes.as_mut()).and_then(|()| to.write_all(bytes.as_ref())).is_ok()
}

/// Runs a trial whose datagrams pass through the relay of `work`, after the client has sent its
/// token.
fn relayed(
    shape: Shape,
    count: u64,
    work: impl FnOnce(&Relay) + Send + 'static,
) -> (Trial, Option<Datagrams>) {
    let (sender, done) = channel();
    let mut relay = Some((Relay::new(sender), work));
    let (mut ports, mut client_port, mut running) = ((0, 0), 0, None);
    let between = |_, client: u16, server: u16| {
        client_port = client_port.max(client);
        if let Some((relay, _)) = &relay {
            ports = relay.ports();
        }
        if let Some((relay, work)) = relay.take_if(|_| server != 0) {
            relay.client.connect((LOOPBACK, client_port)).unwrap();
            relay.server.connect((LOOPBACK, server)).unwrap();
            running = Some(std::thread::spawn(move || {
                relay.pass_token();
                work(&relay);
            }));
        }
        ports
    };
    let mut done = Some(done);
    let connect = || delaying_pair(done.take().unwrap());
    let mut bench = Bench::over(LOOPBACK, shape, u64::MAX, between, connect);
    let mut load = bench.load(0);
    let trial = trial(&mut load, count);
    join("the relay to end", running.unwrap());
    drop(load);
    (trial, bench.shared.summed().datagrams)
}

fn shape() -> Shape {
    shape_of(&UDP_STREAM, "block_size=100")
}

fn counts(datagrams: Option<Datagrams>) -> (u64, u64, Option<u64>, Option<u64>) {
    let d = datagrams.unwrap();
    (d.sent, d.received, d.reordered, d.duplicated)
}

/// Sets the path to `peer`, where a receiver waits 200 ms for lost datagrams, not 20 ms.
fn peer(shape: Shape) -> Shape {
    Shape { path: NetworkPath::Peer, ..shape }
}

#[test]
fn the_time_runs_until_all_were_sent_and_not_while_what_is_lost_is_waited_for() {
    // One datagram per millisecond.
    let shape = shape_of(&UDP_STREAM, "block_size=1000 rate=8000000");
    let cases: [(Drops, _, _); 3] = [
        (|_| false, peer(shape.clone()), 200),
        (|i| i == 100, peer(shape.clone()), 199),
        (|i| i >= 100, shape, 100),
    ];
    for (drops, shape, verified) in cases {
        // Other load may delay a datagram, so one of several trials must end at once.
        wait_until("a trial that does not wait for a datagram that has arrived", || {
            let trial = live(shape.clone(), 200, drops);
            assert_eq!(trial.verified, Ok(verified));
            // The last datagram is sent after 199 ms; the wait for a lost one does not count.
            let worked = trial.seconds - trial.idled_s;
            assert!(worked > 0.19, "{worked} s");
            assert!(verified != 199 || trial.idled_s > 0.199, "{} s", trial.idled_s);
            match verified == 200 && trial.idled_s >= 0.1 {
                true => Err(format!("it waited {} s", trial.idled_s)),
                false => Ok(()),
            }
        });
    }
}

#[test]
fn doubles_keep_nobody_waiting() {
    // One datagram is lost. Another one repeats more often than a read times out.
    let done = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&done);
    let (sender, doubles) = channel();
    let (trial, datagrams) = relayed(shape(), 50, move |relay| {
        relay.pass_request((0..2).map(|_| relay.take()).collect());
        let mut all: Vec<_> = (0..50).map(|_| relay.take()).collect();
        all.pop();
        let double = all[48].clone();
        // The counted duplicates are there before the client reports.
        all.extend(std::iter::repeat_n(double.clone(), 5));
        let server = relay.server.try_clone().unwrap();
        let trickle = std::thread::spawn(move || {
            let start = Instant::now();
            while !stop.load(Ordering::Relaxed) {
                assert!(start.elapsed() < DEADLINE, "the doubles keep the trial from its end");
                let _ = server.send(&double);
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        sender.send(trickle).unwrap();
        relay.pass_request(all);
    });
    done.store(true, Ordering::Relaxed);
    // The thread panics if the trial did not end before it.
    join("the doubles to end", recv("the thread that sends doubles", &doubles));
    assert_eq!((trial.failure, trial.verified), (None, Ok(49)));
    assert!(datagrams.unwrap().duplicated >= Some(5));
}

type Fate = fn(Vec<Vec<u8>>) -> Vec<Vec<u8>>;

#[test]
fn datagrams_are_distinguished_by_their_numbers() {
    let cases: [(&str, Fate, u64, (u64, u64)); 5] = [
        ("as they were sent", |all| all, 50, (0, 0)),
        ("every second", |all| all.into_iter().step_by(2).collect(), 25, (0, 0)),
        // All but the last, whose duplicate could arrive when all are there already.
        (
            "twice",
            |mut all| {
                let last = all.pop();
                all.iter().flat_map(|d| [d.clone(), d.clone()]).chain(last).collect()
            },
            50,
            (0, 49),
        ),
        (
            "late",
            |mut all| {
                all.swap(10, 11);
                let late = all.remove(20);
                all.insert(30, late);
                all
            },
            50,
            (2, 0),
        ),
        (
            "of another trial",
            |mut all| {
                all[7][..8].copy_from_slice(&0_u64.to_le_bytes());
                all[8][..8].copy_from_slice(&(1_u64 << 40).to_le_bytes());
                all
            },
            48,
            (0, 0),
        ),
    ];
    for (name, fate, counted, (reordered, duplicated)) in cases {
        let (trial, datagrams) = through(shape(), 50, fate);
        assert_eq!((trial.failure, trial.verified), (None, Ok(counted)), "{name}");
        let expected = (52, 2 + counted, Some(reordered), Some(duplicated));
        assert_eq!(counts(datagrams), expected, "{name}");
    }
    // Short datagrams have no number.
    let short = shape_of(&UDP_STREAM, "block_size=1");
    let (trial, datagrams) = through(short, 50, |mut all| all.split_off(10));
    assert_eq!(trial.verified, Ok(40));
    assert_eq!(counts(datagrams), (52, 42, None, None));
}

#[test]
fn a_datagram_of_another_length_is_wrong() {
    for length in [99, 101, 3] {
        let (trial, _) = through(shape(), 50, move |mut all| {
            all[7].resize(length, 0);
            all
        });
        let error = trial.verified.unwrap_err();
        assert_eq!(error, format!("block {length} arrived, expected block 100"));
    }
}
