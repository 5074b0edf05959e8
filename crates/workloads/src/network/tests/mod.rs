//! Both ends within one process, over loopback, without the control channel.

mod faults;
mod intruders;
mod relay;
mod round_trips;
mod session;
mod truth;

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use proofmark_engine::Load;
use proofmark_model::{Host, NetworkPath};
use proofmark_peer::{Bounds, Ends};
use proofmark_testing::{DEADLINE, join};

use super::client::{Link, Shared, Thread, link};
use super::job::{self, Job, StreamDescription};
use super::shape::{Kind, Shape};
use super::{server, shape};
use crate::params::testing::params;

pub(super) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn end(session: &Bounds) {
    while session.spend(u64::MAX) {}
}

/// Returns a configuration with these `name=value` words and defaults, on an unknown host.
fn shape_of(workload: &super::Network, words: &str) -> Shape {
    let defaults = workload.spec.parameters.iter().map(|p| format!("{}={} ", p.name, p.default));
    let params = params(&(defaults.collect::<String>() + words));
    let resolved = shape::resolve_auto(workload.kind, params, &Host::unknown("test")).remove(0);
    Shape::from_params(workload.kind, &resolved).unwrap()
}

fn ends_at(ip: IpAddr) -> Ends {
    let address = SocketAddr::new(ip, 0);
    Ends { local: address, peer: address }
}

pub(super) fn pair(ip: IpAddr) -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(SocketAddr::new(ip, 0)).unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let server = listener.accept().unwrap().0;
    for end in [&client, &server] {
        end.set_read_timeout(Some(DEADLINE)).unwrap();
        end.set_write_timeout(Some(DEADLINE)).unwrap();
    }
    (client, server)
}

/// Serves the first stream of a job in this process. Returns its description, the client's end of
/// its data connection, and the server's result.
fn served(
    shape: &Shape,
    ports: Vec<u16>,
) -> (StreamDescription, TcpStream, JoinHandle<Result<(), String>>) {
    let job = Job { shape: shape.clone(), ports };
    let stream = server::streams(&job, ends_at(LOOPBACK)).unwrap().remove(0);
    let (description, (client, data)) = (stream.describe(), pair(LOOPBACK));
    let serve = move || stream.serve(&data, &Bounds::without_session(u64::MAX));
    (description, client, std::thread::spawn(serve))
}

/// The server's threads, and the client's connections to them.
struct Bench {
    shape: Shape,
    links: Vec<Option<Link>>,
    server: Vec<JoinHandle<Result<(), String>>>,
    shared: Arc<Shared>,
    session: Arc<Bounds>,
}

impl Bench {
    fn new(shape: Shape) -> Self {
        Self::at(LOOPBACK, shape, u64::MAX, |_, client, server| (client, server))
    }

    /// Starts a session with a limit of bytes, at an address. `between` gets the ports of each
    /// stream's two ends, and returns the port to which each of them sends.
    fn at(
        ip: IpAddr,
        shape: Shape,
        bytes: u64,
        between: impl FnMut(usize, u16, u16) -> (u16, u16),
    ) -> Self {
        Self::over(ip, shape, bytes, between, || pair(ip))
    }

    /// Starts a session over data connections that `connect` opens, the client's socket first.
    fn over(
        ip: IpAddr,
        shape: Shape,
        bytes: u64,
        mut between: impl FnMut(usize, u16, u16) -> (u16, u16),
        mut connect: impl FnMut() -> (TcpStream, TcpStream),
    ) -> Self {
        let ends = ends_at(ip);
        let session = Arc::new(Bounds::without_session(bytes));
        let sockets = job::client_sockets(&shape, ends).unwrap();
        let ports = job::ports(&sockets);
        // The server connects to its port first, and a relay takes that port.
        let (mut links, mut server) = (Vec::new(), Vec::new());
        let relayed: Vec<_> =
            ports.iter().enumerate().map(|(i, port)| between(i, *port, 0).0).collect();
        let job = Job { shape: shape.clone(), ports: relayed };
        for (i, (stream, socket)) in
            server::streams(&job, ends).unwrap().into_iter().zip(sockets).enumerate()
        {
            let mut reported = stream.describe();
            if shape.kind.datagrams() {
                reported.port = reported.port.map(|port| between(i, 0, port).1);
            }
            let target = reported.target(SocketAddr::new(ip, 0));
            let (client, data) = connect();
            let leave = Arc::clone(&session);
            server.push(std::thread::spawn(move || stream.serve(&data, &leave)));
            links.push(Some(link(client, socket, target, &shape).unwrap()));
        }
        let shared = Shared::new(links.len());
        Self { shape, links, server, shared, session }
    }

    /// Waits until the server of the first connection ends, and returns its result.
    fn first_server(&mut self) -> Result<(), String> {
        join("the server to end", self.server.remove(0))
    }

    fn load(&mut self, index: usize) -> Thread {
        let link = self.links[index].take().unwrap();
        Thread::new(link, &self.shape, index, Arc::clone(&self.shared)).unwrap()
    }

    /// Runs a trial of `count` iterations on each connection, and returns the results.
    fn trial(&mut self, count: u64) -> Vec<Trial> {
        let connections = self.links.len();
        let links: Vec<_> = self.links.iter_mut().map(|l| l.take().unwrap()).collect();
        let (shape, shared) = (&self.shape, &self.shared);
        let trials: Vec<Trial> = std::thread::scope(|scope| {
            let run = |(i, link)| {
                let shared = Arc::clone(shared);
                scope.spawn(move || trial(&mut Thread::new(link, shape, i, shared).unwrap(), count))
            };
            let threads: Vec<_> = links.into_iter().enumerate().map(run).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert_eq!(trials.len(), connections);
        trials
    }
}

#[derive(Debug)]
struct Trial {
    failure: Option<String>,
    verified: Result<u64, String>,
    latencies: u64,
    idled_s: f64,
    seconds: f64,
}

/// Runs a trial like the engine: prepare, some untimed work, then the trial.
fn trial(load: &mut dyn Load, count: u64) -> Trial {
    load.prepare(2 + count);
    load.run(2);
    load.begin();
    let start = Instant::now();
    load.run(count);
    let seconds = start.elapsed().as_secs_f64();
    let mut all = proofmark_engine::Latencies::default();
    load.latencies(&mut all);
    Trial {
        idled_s: load.idled_s(),
        failure: load.failure(),
        latencies: all.summary().map_or(0, |s| s.count),
        verified: load.verify(),
        seconds,
    }
}
