//! The two ends of a network run, the path between them, and the traffic that both ends report.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EndTraffic, Measurement, Params, Probe, Trial, Unit, key};

/// The place where the network subsystem works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Network {
    /// Path of the packets: within this machine or to another.
    pub path: NetworkPath,
    /// Address and port at which the server was reached.
    pub address: String,
    /// The server's machine, as it reports itself.
    pub server: ServerEnd,
    /// The kernel's random id of this machine's boot, to compare with that of the server.
    #[serde(default)]
    pub boot_id: Option<String>,
    /// CLOCK_MONOTONIC_RAW in nanoseconds: this machine's before its request, the server's at its
    /// answer, this machine's after that. On one machine they rise. Null without a request.
    #[serde(default)]
    pub clocks_ns: Option<[u64; 3]>,
    /// The interface by which packets to the server leave.
    pub interface: Probe<Interface>,
    /// The server's interface, where it reports one.
    pub server_interface: Option<Interface>,
    /// Bytes per second that one CPU of this machine copies within its own cache, as measured when
    /// the server started. A loopback cannot be faster, since each end copies each byte.
    pub copy_bytes_per_s: Option<f64>,
}

impl Network {
    /// Returns true if the server is reached by IPv6. An IPv4 address mapped into IPv6 is IPv4.
    pub fn is_v6(&self) -> bool {
        match self.address.parse::<SocketAddr>() {
            Ok(address) => address.ip().to_canonical().is_ipv6(),
            Err(_) => self.address.matches(':').count() > 1,
        }
    }
}

/// The path of the packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NetworkPath {
    /// Both ends run on this machine: the measurement is of its memory and its kernel.
    Loopback,
    /// The server is another machine.
    Peer,
}

impl NetworkPath {
    /// Returns the word of the `path` parameter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Loopback => "loopback",
            Self::Peer => "peer",
        }
    }
}

/// The machine of the server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerEnd {
    /// Host name.
    pub name: String,
    /// The kernel's random id of this boot, the same for all processes on one kernel.
    pub boot_id: Option<String>,
    /// Processor.
    pub cpu: Option<String>,
    /// CPUs that the server may use.
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
    /// Type: `loopback`, `ethernet`, `virtual ethernet`, `virtio`, `bridge`, `bond`, `tunnel`.
    pub kind: String,
    /// Largest packet in bytes, IP header included.
    pub mtu: u64,
    /// Line rate in bits per second, where a wire or a device has one.
    pub bits_per_s: Option<f64>,
    /// Driver of the device.
    pub driver: Option<String>,
}

/// Bytes of the buffers of a UDP socket where the parameter gives none. Systems usually allow so
/// much, and a receiver that pauses for a moment loses nothing.
pub const UDP_BUFFER: u64 = 4 << 20;

/// The traffic of a network workload in one trial, counted at both ends. Bytes are payload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkTraffic {
    /// Bytes that the senders handed to their systems, from before a trial's untimed work to its
    /// end: more than the timed work.
    pub sent_bytes: u64,
    /// Bytes that the receivers got, from before a trial's untimed work to its end: more than the
    /// timed work.
    pub received_bytes: u64,
    /// Counts of UDP datagrams.
    pub datagrams: Option<Datagrams>,
    /// State of each TCP stream's connection after the trial, as its sender's system reports it
    /// (TCP_INFO).
    pub streams: Vec<TcpState>,
    /// Duration of each direction in seconds, where blocks go both ways at once: to the server, and
    /// from there. It lasts from the first start of its connections to their last end.
    #[serde(default)]
    pub ways_s: Option<[f64; 2]>,
    /// Bytes per second that one CPU copied within its own cache right before the trial; null unless
    /// the trial is a stream over loopback.
    #[serde(default)]
    pub copy_bytes_per_s: Option<f64>,
    /// Counters of this end's system during the trial.
    pub client: EndTraffic,
    /// Counters of the server's system during the trial.
    pub server: EndTraffic,
}

impl NetworkTraffic {
    /// Returns the segments that all connections have sent again since they were made; `None` where
    /// no system reports them.
    pub fn retransmits(&self) -> Option<u64> {
        self.streams.iter().map(|s| s.retransmits).reduce(u64::saturating_add)
    }
}

/// One of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The end that measures.
    ClientSide,
    /// The end that answers.
    ServerSide,
}

impl End {
    /// Both ends, the client first.
    pub const BOTH: [Self; 2] = [Self::ClientSide, Self::ServerSide];

    /// Returns the counters of this end's system.
    pub fn counters(self, traffic: &NetworkTraffic) -> &EndTraffic {
        match self {
            Self::ClientSide => &traffic.client,
            Self::ServerSide => &traffic.server,
        }
    }

    /// Returns the word for it: `client`.
    pub fn word(self) -> &'static str {
        match self {
            Self::ClientSide => "client",
            Self::ServerSide => "server",
        }
    }
}

/// The direction of a stream's blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Client to server.
    Forward,
    /// Server to client.
    Reverse,
    /// Both at once; also there and back, as round trips go.
    Both,
}

impl Direction {
    /// All directions, in the order of the parameter's choices.
    pub const ALL: [Self; 3] = [Self::Forward, Self::Reverse, Self::Both];

    /// Returns the word of the `direction` parameter.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
            Self::Both => "both",
        }
    }

    /// Returns the direction of a configuration; `None` where it has no such parameter.
    pub fn from_params(params: &Params) -> Option<Self> {
        let word = params.get(key::DIRECTION)?;
        Self::ALL.into_iter().find(|d| d.as_str() == word)
    }

    /// Returns true if that end sends blocks.
    pub fn sends(self, end: End) -> bool {
        self != match end {
            End::ClientSide => Self::Reverse,
            End::ServerSide => Self::Forward,
        }
    }

    /// Returns true if that end receives blocks.
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
    /// Number sent.
    pub sent: u64,
    /// Number received, each counted once.
    pub received: u64,
    /// Number lost by another tool's own count. It leaves out those that were in transit when the
    /// receiver stopped. Null where all that did not arrive are lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_lost: Option<u64>,
    /// Number received after one that was sent later; null where they are too short to be numbered.
    pub reordered: Option<u64>,
    /// Number received more than once.
    pub duplicated: Option<u64>,
    /// Variation of the transit time in seconds (RFC 3550), the mean over the streams. Null where
    /// datagrams are not numbered, or not paced, so that many arrive at the same time.
    pub jitter_s: Option<f64>,
}

impl Datagrams {
    /// Returns how many of those sent never arrived.
    pub fn lost(&self) -> u64 {
        self.counted_lost.unwrap_or(self.sent.saturating_sub(self.received))
    }

    /// Returns the share of those sent that never arrived, 0 to 1; 0 where none was sent.
    pub fn loss(&self) -> f64 {
        self.lost() as f64 / self.sent.max(1) as f64
    }

    /// Adds the counts; the jitter is lost, since it does not add up.
    pub fn plus(self, more: Self) -> Self {
        let both = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        let counted = self.counted_lost.or(more.counted_lost);
        Self {
            counted_lost: counted.map(|_| self.lost().saturating_add(more.lost())),
            sent: self.sent.saturating_add(more.sent),
            received: self.received.saturating_add(more.received),
            reordered: both(self.reordered, more.reordered),
            duplicated: both(self.duplicated, more.duplicated),
            jitter_s: None,
        }
    }
}

impl Measurement {
    /// Returns the trials with the reports of both ends.
    pub fn traffics(&self) -> impl Iterator<Item = (&Trial, &NetworkTraffic)> {
        self.trials.iter().filter_map(|t| Some((t, t.network.as_ref()?)))
    }

    /// Returns the datagrams of all trials together, without their jitter; `None` where no trial
    /// has any.
    pub fn datagrams(&self) -> Option<Datagrams> {
        let none = Datagrams { reordered: Some(0), duplicated: Some(0), ..Datagrams::default() };
        let mut counts = self.traffics().filter_map(|(_, n)| n.datagrams).peekable();
        counts.peek()?;
        Some(counts.fold(none, Datagrams::plus))
    }

    /// Returns the work that both ends account for, as a multiple of the timed work. They count
    /// from before a trial's untimed work to its end, so it is 1 without untimed work. Below 1 the
    /// trial claims more than the receivers got.
    pub fn stretch(&self, t: &Trial) -> Option<f64> {
        let received = t.network.as_ref()?.received_bytes as f64;
        let claimed = match self.unit {
            Unit::BitPerSecond => t.work / 8.0,
            // A round trip is received at both ends; a connection carries one byte.
            _ => t.work * self.params.block_bytes().map_or(1.0, |block| 2.0 * block),
        };
        Some(received / claimed).filter(|s| s.is_finite() && *s > 0.0)
    }

    /// Returns the seconds that the ends' accounts of a trial cover, at the trial's own rate.
    pub fn account_s(&self, t: &Trial) -> Option<f64> {
        let s = t.seconds * self.stretch(t)?.max(1.0);
        Some(s).filter(|s| s.is_finite() && *s > 0.0)
    }
}

/// A TCP connection as its sender's system sees it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TcpState {
    /// Segments sent again since the connection was made; of round trips, by both ends.
    pub retransmits: u64,
    /// Congestion window in bytes.
    pub window_bytes: u64,
    /// Smoothed round trip in seconds; it includes the queue that the connection itself fills.
    pub rtt_s: f64,
    /// Shortest recent round trip in seconds; null where the system does not report it.
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
            counted_lost: None,
        };
        let sum = of(100, 90, Some(2)).plus(of(100, 100, Some(3)));
        assert_eq!((sum.lost(), sum.loss(), sum.reordered), (10, 0.05, Some(5)));
        assert_eq!((sum.duplicated, sum.jitter_s), (Some(2), None));
        assert_eq!(
            of(1, 1, Some(2)).plus(of(1, 1, None)).reordered,
            None,
            "one does not report it"
        );
        // A tool stopped while 3 were in transit, which it does not call lost.
        let counted = Datagrams { counted_lost: Some(7), ..of(100, 90, None) };
        assert_eq!((counted.lost(), counted.loss()), (7, 0.07));
        let sum = counted.plus(of(100, 98, None));
        assert_eq!((sum.counted_lost, sum.lost()), (Some(9), 9));
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
