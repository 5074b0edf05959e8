//! The client of a configuration: its connections, a thread for each, and the reports of both ends.

use std::net::{TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};

use proofmark_engine::{Amount, EndCounters, Latencies, Load, Refusal, Setup, copy_rate, raw_ns};
use proofmark_model::{Datagrams, EndTraffic, NetworkPath, NetworkTraffic, lock};
use proofmark_peer::{Channel, Ends, Invitation};

use super::job::{self, Job, StreamDescription, Target};
use super::line::{Line, Patience, SILENCE};
use super::shape::{Kind, Shape};
use super::tally::{Tally, Traffic};
use super::wire::Request;
use super::{line, placement, tcp, udp};

pub(super) trait ClientSide {
    /// Runs a request together with the server.
    fn run(&mut self, line: &Line, request: Request, tally: &mut Tally) -> Result<(), String>;

    /// Adds data to the tally that are available only after the timing.
    fn after(&mut self, _stream: &TcpStream, _tally: &mut Tally) {}
}

/// The connection of one thread.
pub(super) struct Link {
    pub(super) stream: TcpStream,
    /// A connected socket (UDP only).
    pub(super) udp: Option<UdpSocket>,
    /// The server's separate socket, if it has one.
    pub(super) target: Option<Target>,
}

pub(super) struct Point {
    shape: Shape,
    channel: Mutex<Channel>,
    links: Mutex<Vec<Option<Link>>>,
    shared: Arc<Shared>,
    before: Mutex<EndCounters>,
    /// The copy rate right before the trial, where it is a stream over loopback.
    copy_rate: Mutex<Option<f64>>,
    /// The interface whose counters are read, if known.
    interface: Option<String>,
}

/// The traffic of each connection in the last trial.
pub(super) struct Shared(Mutex<Vec<Traffic>>);

impl Shared {
    pub(super) fn new(connections: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(vec![Traffic::default(); connections])))
    }

    /// Returns the traffic of all connections in the last trial.
    pub(super) fn summed(&self) -> NetworkTraffic {
        let all = lock(&self.0);
        let datagrams: Vec<_> = all.iter().filter_map(|t| t.datagrams).collect();
        let jitters: Vec<_> = datagrams.iter().filter_map(|d| d.jitter_s).collect();
        let jitter_s =
            (!jitters.is_empty()).then(|| jitters.iter().sum::<f64>() / jitters.len() as f64);
        let datagrams = datagrams.into_iter().reduce(Datagrams::plus);
        NetworkTraffic {
            sent_bytes: all.iter().map(|t| t.sent_bytes).sum(),
            received_bytes: all.iter().map(|t| t.received_bytes).sum(),
            datagrams: datagrams.map(|all| Datagrams { jitter_s, ..all }),
            streams: all.iter().filter_map(|t| t.state).collect(),
            ..NetworkTraffic::default()
        }
    }
}

impl Point {
    /// Joins the run's session, and opens the configuration's connections.
    pub(super) fn new(shape: Shape) -> Result<Self, Refusal> {
        let invitation = Invitation::from_env().map_err(|e| Refusal(e.to_string()))?;
        let invitation = invitation.ok_or_else(|| {
            Refusal("no server: the run neither started one nor got one by --peer".to_owned())
        })?;
        Self::with(shape, &invitation)
    }

    /// Joins the session of this invitation, and opens the connections.
    pub(super) fn with(shape: Shape, invitation: &Invitation) -> Result<Self, Refusal> {
        let refused = |e: proofmark_peer::PeerError| Refusal(e.to_string());
        let mut channel = Channel::join(invitation).map_err(refused)?;
        let ends = channel.ends();
        check_path(shape.path, ends)?;
        shape.fits(ends.peer.is_ipv6())?;
        let sockets = job::client_sockets(&shape, ends)?;
        let ports = job::ports(&sockets);
        let job = Job { shape: shape.clone(), ports };
        let job = serde_json::to_value(job).map_err(|e| Refusal(e.to_string()))?;
        let streams = channel.open(&job).map_err(refused)?;
        let mut links = Vec::with_capacity(streams.len());
        for (stream, udp) in streams.iter().zip(sockets) {
            let reported: StreamDescription = serde_json::from_value(stream.description.clone())
                .map_err(|e| Refusal(format!("the server sent an unknown message: {e}")))?;
            let target = reported.target(ends.peer);
            let connection = channel.data(stream).map_err(refused)?;
            links.push(Some(link(connection, udp, target, &shape)?));
        }
        if links.len() as u64 != shape.connections() {
            return Err(Refusal("the server opened a different number of streams".to_owned()));
        }
        let interface = invitation.interface.clone();
        let shared = Shared::new(links.len());
        let (channel, links) = (Mutex::new(channel), Mutex::new(links));
        let before = Mutex::new(EndCounters::default());
        let copy_rate = Mutex::new(None);
        Ok(Self { shape, channel, links, shared, before, copy_rate, interface })
    }

    fn client_counters(&self) -> EndCounters {
        // Quotas and stalls of this end are in the conditions of the trial.
        EndCounters::read(self.interface.as_deref(), &[], None)
    }

    /// Returns the server's counters since the last query.
    fn server_counters(&self) -> Result<EndTraffic, Refusal> {
        let value = lock(&self.channel).counters().map_err(|e| Refusal(e.to_string()))?;
        serde_json::from_value(value)
            .map_err(|e| Refusal(format!("cannot read the server's counters: {e}")))
    }
}

/// Prepares a connection for its thread.
pub(super) fn link(
    stream: TcpStream,
    udp: Option<UdpSocket>,
    target: Option<Target>,
    shape: &Shape,
) -> Result<Link, Refusal> {
    let refused = |e: std::io::Error| Refusal(format!("cannot prepare a connection: {e}"));
    line::ready(&stream).map_err(refused)?;
    job::prepare(&stream, shape)?;
    if let (Some(socket), Some(target)) = (&udp, target) {
        job::connect(socket, target.address).map_err(refused)?;
        let line = Line::new(&stream, Patience::For(SILENCE));
        udp::reach::client(&line, socket, target).map_err(Refusal)?;
    }
    Ok(Link { stream, udp, target })
}

/// Refuses a loopback connection for a network result, and vice versa.
fn check_path(path: NetworkPath, ends: Ends) -> Result<(), Refusal> {
    let (loopback, ip) = (ends.one_machine(), ends.peer.ip());
    Err(Refusal(match path {
        NetworkPath::Loopback if !loopback => {
            format!("path=loopback, but {ip} is not an address of this machine")
        }
        NetworkPath::Peer if loopback => format!("path=peer, but {ip} is this machine"),
        _ => return Ok(()),
    }))
}

impl Setup for Point {
    fn amount(&self) -> Amount {
        self.shape.blocks().map_or(Amount::Calibrated, Amount::Total)
    }

    fn work_per_iteration(&self) -> f64 {
        if self.shape.kind.streams() { 8.0 * self.shape.block as f64 } else { 1.0 }
    }

    fn threads(&self, _asked: u64) -> u64 {
        self.shape.connections()
    }

    fn pinned(&self) -> bool {
        self.shape.apart
    }

    fn cpus(&self, usable: &[u32]) -> Vec<u32> {
        if self.shape.apart { placement::client(usable, self.shape.path) } else { usable.to_vec() }
    }

    fn ahead_s(&self, trial_s: f64) -> f64 {
        match (self.shape.kind, self.shape.path) {
            // A congestion window that shrank during the pause grows again.
            (Kind::TcpStream, NetworkPath::Peer) => trial_s / 8.0,
            _ => AHEAD_S.min(trial_s / 8.0),
        }
    }

    fn begin_trial(&self) -> Result<(), Refusal> {
        lock(&self.shared.0).fill(Traffic::default());
        // It changes with the placement of virtual CPUs and with their load.
        if self.shape.path == NetworkPath::Loopback && self.shape.kind.streams() {
            *lock(&self.copy_rate) = copy_rate();
        }
        self.server_counters()?;
        *lock(&self.before) = self.client_counters();
        Ok(())
    }

    fn network(&self) -> Result<Option<NetworkTraffic>, Refusal> {
        let client = self.client_counters().since(&lock(&self.before));
        let server = self.server_counters()?;
        let server = match self.shape.path {
            NetworkPath::Peer => server,
            // Both ends are on one system, so the client's counters already include the server's.
            NetworkPath::Loopback => EndTraffic {
                own_cpu_s: server.own_cpu_s,
                waiting_s: server.waiting_s,
                cpus: server.cpus,
                ..EndTraffic::default()
            },
        };
        let ways_s = ways_s(&lock(&self.shared.0), &self.shape);
        let copy_bytes_per_s = *lock(&self.copy_rate);
        let summed = self.shared.summed();
        Ok(Some(NetworkTraffic { copy_bytes_per_s, client, server, ways_s, ..summed }))
    }

    fn thread(&self, index: usize, _of: usize) -> Result<Box<dyn Load>, Refusal> {
        let link = lock(&self.links).get_mut(index).and_then(Option::take);
        let link = link.ok_or_else(|| Refusal(format!("connection {index} does not exist")))?;
        Ok(Box::new(Thread::new(link, &self.shape, index, Arc::clone(&self.shared))?))
    }
}

/// Seconds of untimed work ahead of a trial, so that both ends are awake and their buffers cached.
const AHEAD_S: f64 = 10e-3;

/// Returns the seconds of each direction (forward, reverse), if both were used.
fn ways_s(all: &[Traffic], shape: &Shape) -> Option<[f64; 2]> {
    let span = |forward: bool| {
        let own =
            |(i, t): (usize, &Traffic)| (shape.client_sends(i) == forward).then_some(t.span_ns);
        let spans = || all.iter().enumerate().filter_map(own);
        let (first, last) = (spans().map(|s| s[0]).min()?, spans().map(|s| s[1]).max()?);
        Some((last - first) as f64 * 1e-9)
    };
    Some([span(true)?, span(false)?])
}

pub(super) struct Thread {
    client: Box<dyn ClientSide>,
    stream: TcpStream,
    next: u64,
    tally: Tally,
    kind: Kind,
    index: usize,
    shared: Arc<Shared>,
    failure: Option<String>,
}

impl Thread {
    pub(super) fn new(
        link: Link,
        shape: &Shape,
        index: usize,
        shared: Arc<Shared>,
    ) -> Result<Self, Refusal> {
        let sends = shape.client_sends(index);
        let Link { stream, udp, target } = link;
        let target = || target.ok_or_else(|| Refusal("the server reported no port".to_owned()));
        let udp = || udp.ok_or_else(|| Refusal("the server opened no UDP socket".to_owned()));
        let client: Box<dyn ClientSide> = match shape.kind {
            Kind::TcpStream => Box::new(tcp::stream::End::new(shape, sends, index)),
            Kind::TcpRtt => Box::new(tcp::rtt::ClientEnd::new(shape, index)),
            Kind::TcpConnect => Box::new(tcp::connect::ClientEnd(target()?)),
            Kind::UdpStream => {
                Box::new(udp::stream::End::new(udp()?, target()?.token, shape, (index, sends)))
            }
            Kind::UdpRtt => Box::new(udp::rtt::ClientEnd::new(udp()?, shape, index)),
        };
        let tally = Tally { latencies: Latencies::ready(), ..Tally::default() };
        let kind = shape.kind;
        Ok(Self { client, stream, next: 0, tally, kind, index, shared, failure: None })
    }

    /// Sends a request for this many iterations to the server, and runs it.
    fn request(&mut self, count: u64) -> Result<(), String> {
        let line = Line::new(&self.stream, Patience::For(SILENCE));
        let request = Request { first: self.next, count };
        self.next += count;
        line.send(&request)?;
        self.client.run(&line, request, &mut self.tally)
    }
}

impl Load for Thread {
    fn prepare(&mut self, _iterations: u64) {
        self.tally.begin_trial();
    }

    fn begin(&mut self) {
        self.tally.begin();
    }

    fn run(&mut self, iterations: u64) {
        self.tally.request(iterations);
        if iterations > 0 && self.failure.is_none() {
            let began = raw_ns();
            self.failure = self.request(iterations).err();
            let idled = (self.tally.idled_s * 1e9) as u64;
            self.tally.traffic.span_ns = [began, raw_ns().saturating_sub(idled).max(began)];
        }
    }

    fn failure(&mut self) -> Option<String> {
        self.failure.clone()
    }

    fn idled_s(&mut self) -> f64 {
        self.tally.idled_s
    }

    fn latencies(&mut self, all: &mut Latencies) {
        all.merge(&self.tally.latencies);
    }

    fn verify(&mut self) -> Result<u64, String> {
        if let Some(wrong) = self.tally.wrong.take() {
            return Err(wrong);
        }
        self.client.after(&self.stream, &mut self.tally);
        if let Some(mine) = lock(&self.shared.0).get_mut(self.index) {
            *mine = self.tally.traffic;
        }
        let Tally { counted, requested, .. } = self.tally;
        if counted != requested && !self.kind.datagrams() {
            return Err(format!("the server counted {counted} of {requested}"));
        }
        Ok(counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::testing::params;

    #[test]
    fn each_way_has_its_own_time() {
        let spans =
            [[1, 5], [2, 4], [0, 6], [2, 3]].map(|s: [u64; 2]| s.map(|s| s * 1_000_000_000));
        let all = spans.map(|span_ns| Traffic { span_ns, ..Traffic::default() });
        let shape = |word: &str| {
            let words = format!("streams=2 block_size=9 path=loopback direction={word}");
            let params = params(&words);
            Shape::from_params(Kind::TcpStream, &params).unwrap()
        };
        assert_eq!(ways_s(&all, &shape("both")), Some([6.0, 2.0]));
        assert_eq!(ways_s(&all, &shape("forward")), None);
        assert_eq!(ways_s(&all, &shape("reverse")), None);
    }
}
