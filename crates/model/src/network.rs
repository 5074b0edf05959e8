//! The two ends of a network run, the way between them, and what both ends say that
//! went over it.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EndTraffic, Measurement, Params, Probe, Trial, Unit, key};

/// Where the network subsystem works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Network {
    /// Whether packets leave this machine.
    pub path: NetworkPath,
    /// Address and port of the server, as it was reached.
    pub address: String,
    /// The machine of the server, as it reports it.
    pub server: ServerEnd,
    /// The kernel's random id of this machine's boot, to compare with that of the server.
    #[serde(default)]
    pub boot_id: Option<String>,
    /// CLOCK_MONOTONIC_RAW in nanoseconds: this machine's before it asked, the server's when it
    /// answered, this machine's after that. On one machine they rise. Null where nothing was asked.
    #[serde(default)]
    pub clocks_ns: Option<[u64; 3]>,
    /// The interface that packets to the server leave by.
    pub interface: Probe<Interface>,
    /// The server's own, where it reports it.
    pub server_interface: Option<Interface>,
    /// Bytes a second that one CPU of this machine copies within its own cache, as
    /// measured: what a loopback cannot beat, since each end copies each byte.
    pub copy_bytes_per_s: Option<f64>,
}

impl Network {
    /// Whether the server is reached by IPv6; an address of IPv4 in one of IPv6 is of IPv4.
    pub fn is_v6(&self) -> bool {
        match self.address.parse::<SocketAddr>() {
            Ok(address) => address.ip().to_canonical().is_ipv6(),
            Err(_) => self.address.matches(':').count() > 1,
        }
    }
}

/// Whether packets leave the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NetworkPath {
    /// Both ends run on this machine: what is measured is its memory and its workload.
    Loopback,
    /// The server is another machine.
    Peer,
}

impl NetworkPath {
    /// The word of the `path` parameter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Loopback => "loopback",
            Self::Peer => "peer",
        }
    }
}

/// The machine at the server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerEnd {
    /// Its host name.
    pub name: String,
    /// The kernel's random id of this boot, the same for all who run on one kernel.
    pub boot_id: Option<String>,
    /// Processor.
    pub cpu: Option<String>,
    /// CPUs that it may use.
    pub cpus: Vec<u32>,
    /// Kernel name and release.
    pub os: String,
    /// Version of the program.
    pub version: String,
}

/// A network interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interface {
    /// The kernel's name: `eth0`.
    pub name: String,
    /// What it is: `loopback`, `ethernet`, `virtual ethernet`, `virtio`, `bridge`, `bond`, `tunnel`.
    pub kind: String,
    /// Largest packet in bytes, IP header included.
    pub mtu: u64,
    /// Line rate in bits a second, where a wire or a device has one.
    pub bits_per_s: Option<f64>,
    /// Driver of the device.
    pub driver: Option<String>,
}

/// Bytes of the buffers that are asked for of a UDP socket where the parameter says nothing: as many
/// as a system usually allows, so that a receiver that is not running for a moment loses
/// nothing.
pub const UDP_BUFFER: u64 = 4 << 20;

/// What a network workload did in one trial, counted at both ends. Bytes are payload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkTraffic {
    /// Bytes that the senders handed to their systems.
    pub sent_bytes: u64,
    /// Bytes that the receivers got.
    pub received_bytes: u64,
    /// Of UDP, what became of the datagrams.
    pub datagrams: Option<Datagrams>,
    /// Of TCP, the state of each stream's connection after the trial, as its sender's
    /// system reports it (TCP_INFO).
    pub streams: Vec<TcpState>,
    /// Where blocks go both ways at once, how long each way took in seconds, from the first
    /// start of its connections to their last end: to the server, and from there.
    #[serde(default)]
    pub ways_s: Option<[f64; 2]>,
    /// What this end's system counted meanwhile.
    pub client: EndTraffic,
    /// What the server's did.
    pub server: EndTraffic,
}

impl NetworkTraffic {
    /// Segments that all connections have sent again since they were made; `None` where
    /// no system reports them.
    pub fn retransmits(&self) -> Option<u64> {
        self.streams.iter().map(|s| s.retransmits).reduce(u64::saturating_add)
    }
}

/// One of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The one that measures.
    ClientSide,
    /// The one that it talks to.
    ServerSide,
}

impl End {
    /// Both, the client first.
    pub const BOTH: [Self; 2] = [Self::ClientSide, Self::ServerSide];

    /// What its system counted.
    pub fn of(self, traffic: &NetworkTraffic) -> &EndTraffic {
        match self {
            Self::ClientSide => &traffic.client,
            Self::ServerSide => &traffic.server,
        }
    }

    /// The words for it: `client`.
    pub fn word(self) -> &'static str {
        match self {
            Self::ClientSide => "client",
            Self::ServerSide => "server",
        }
    }
}

/// Which way the blocks of a stream go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the client to the server.
    Forward,
    /// From the server to the client.
    Reverse,
    /// Both at once; and there and back, as round trips go.
    Both,
}

impl Direction {
    /// All of them, in the order of the parameter's choices.
    pub const ALL: [Self; 3] = [Self::Forward, Self::Reverse, Self::Both];

    /// The word of the `direction` parameter.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
            Self::Both => "both",
        }
    }

    /// Of a point; `None` where it has no such parameter.
    pub fn of(params: &Params) -> Option<Self> {
        let word = params.get(key::DIRECTION)?;
        Self::ALL.into_iter().find(|d| d.as_str() == word)
    }

    /// Whether that end sends blocks.
    pub fn sends(self, end: End) -> bool {
        self != match end {
            End::ClientSide => Self::Reverse,
            End::ServerSide => Self::Forward,
        }
    }

    /// Whether that end receives blocks.
    pub fn receives(self, end: End) -> bool {
        self != match end {
            End::ClientSide => Self::Forward,
            End::ServerSide => Self::Reverse,
        }
    }
}

/// Datagrams of a trial, over all streams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Datagrams {
    /// Sent.
    pub sent: u64,
    /// Received, each counted once.
    pub received: u64,
    /// Received after one that was sent later; null where they are too short to be numbered.
    pub reordered: Option<u64>,
    /// Received once more.
    pub duplicated: Option<u64>,
    /// Variation of the transit time in seconds (RFC 3550), the mean over the streams; null
    /// where they are not paced, and many come at one and the same time, or not numbered.
    pub jitter_s: Option<f64>,
}

impl Datagrams {
    /// How many of those sent never came.
    pub fn lost(&self) -> u64 {
        self.sent.saturating_sub(self.received)
    }

    /// Share of those sent that never came, 0 to 1; 0 where none was sent.
    pub fn loss(&self) -> f64 {
        self.lost() as f64 / self.sent.max(1) as f64
    }

    /// These and those; without jitter, which does not add up.
    pub fn plus(self, more: Self) -> Self {
        let both = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        Self {
            sent: self.sent.saturating_add(more.sent),
            received: self.received.saturating_add(more.received),
            reordered: both(self.reordered, more.reordered),
            duplicated: both(self.duplicated, more.duplicated),
            jitter_s: None,
        }
    }
}

impl Measurement {
    /// Trials with what both ends say of them.
    pub fn traffics(&self) -> impl Iterator<Item = (&Trial, &NetworkTraffic)> {
        self.trials.iter().filter_map(|t| Some((t, t.network.as_ref()?)))
    }

    /// Datagrams of all trials together, without their jitter; `None` where no trial has
    /// any.
    pub fn datagrams(&self) -> Option<Datagrams> {
        let none = Datagrams { reordered: Some(0), duplicated: Some(0), ..Datagrams::default() };
        let mut counts = self.traffics().filter_map(|(_, n)| n.datagrams).peekable();
        counts.peek()?;
        Some(counts.fold(none, Datagrams::plus))
    }

    /// How much more than the timed work both ends account for, as a factor: they count from
    /// before the untimed work ahead of a trial to its end. 1 where that was nothing; below 1
    /// the trial claims more than the receivers got.
    pub fn stretch(&self, t: &Trial) -> Option<f64> {
        let received = t.network.as_ref()?.received_bytes as f64;
        let claimed = match self.unit {
            Unit::BitPerSecond => t.work / 8.0,
            // A round trip is received at both ends; a connection carries one byte.
            _ => t.work * self.params.block_bytes().map_or(1.0, |block| 2.0 * block),
        };
        Some(received / claimed).filter(|s| s.is_finite() && *s > 0.0)
    }

    /// Seconds that the ends' accounts of a trial cover, at the trial's own rate.
    pub fn account_s(&self, t: &Trial) -> Option<f64> {
        let s = t.seconds * self.stretch(t)?.max(1.0);
        Some(s).filter(|s| s.is_finite() && *s > 0.0)
    }
}

/// A connection of TCP as its sender's system sees it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TcpState {
    /// Segments sent again since the connection was made; of round trips, by both ends.
    pub retransmits: u64,
    /// Congestion window in bytes.
    pub window_bytes: u64,
    /// Smoothed round trip in seconds: also that of the queue that the connection itself fills.
    pub rtt_s: f64,
    /// Shortest round trip in seconds that was seen of late; null where the system does not report it.
    #[serde(default)]
    pub least_rtt_s: Option<f64>,
    /// Largest payload of a segment in bytes.
    pub segment_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_tell_the_version_of_ip() {
        let v6 = |address: &str| {
            let network = crate::testing::network(NetworkPath::Peer);
            Network { address: address.to_owned(), ..network }.is_v6()
        };
        assert!(v6("[::1]:5277") && v6("[2001:db8::1]:5277") && v6("2001:db8::1"));
        assert!(!v6("192.0.2.1:5277") && !v6("far.example:5277") && !v6("[::ffff:192.0.2.1]:5277"));
    }

    #[test]
    fn datagrams_add_up_and_what_came_too_often_is_no_loss() {
        let of = |sent, received, reordered| Datagrams {
            sent,
            received,
            reordered,
            duplicated: Some(1),
            jitter_s: Some(1e-6),
        };
        let sum = of(100, 90, Some(2)).plus(of(100, 100, Some(3)));
        assert_eq!((sum.lost(), sum.loss(), sum.reordered), (10, 0.05, Some(5)));
        assert_eq!((sum.duplicated, sum.jitter_s), (Some(2), None));
        assert_eq!(
            of(1, 1, Some(2)).plus(of(1, 1, None)).reordered,
            None,
            "one does not report it"
        );
        assert_eq!((of(9, 10, None).lost(), of(0, 0, None).loss()), (0, 0.0));
    }

    #[test]
    fn retransmits_are_of_all_connections() {
        let of = |each: &[u64]| {
            let state = |n: &u64| TcpState { retransmits: *n, ..TcpState::default() };
            let streams = each.iter().map(state).collect();
            NetworkTraffic { streams, ..NetworkTraffic::default() }.retransmits()
        };
        assert_eq!((of(&[1, 2]), of(&[u64::MAX, 1]), of(&[])), (Some(3), Some(u64::MAX), None));
    }
}
