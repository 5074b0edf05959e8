//! Turns parameters into numbers: resolves `auto`, rejects contradictions, and defines the job of
//! the server.

use std::time::Duration;

use proofmark_engine::Refusal;
use proofmark_model::key::{Choice, Key};
use proofmark_model::{AUTO, Direction, Host, NetworkPath, Params, key, word};
use serde::{Deserialize, Serialize};

use crate::params::{choice, required, resolved, unset};

/// Maximum data connections of a configuration.
pub(super) const CONNECTIONS: u64 = 256;
/// Maximum bytes of a block.
pub(super) const BLOCK: u64 = 16 << 20;
/// Maximum payload of a datagram over IPv4 in bytes: 65,535 less the headers of IP and UDP.
pub const DATAGRAM_V4: u64 = 65_507;
/// Maximum payload of a datagram over IPv6 in bytes, where the IP header does not count.
pub(super) const DATAGRAM_V6: u64 = 65_527;
/// Bytes of the headers of IP and UDP.
const HEADERS_V4: u64 = 28;
/// Bytes of the headers of IPv6 and UDP.
const HEADERS_V6: u64 = 48;
/// MTU assumed for an interface that does not report it, in bytes: that of Ethernet.
const MTU: u64 = 1500;
/// Maximum bytes of the blocks of all connections.
const MEMORY: u64 = 256 << 20;
/// Minimum paced rate, in bits per second.
pub(super) const MIN_RATE: u64 = 1000;
/// Maximum seconds from one datagram of a connection to the next: less than either end waits for a
/// sign of life.
const PACE: f64 = 4.0;
/// Bytes of packets that one new connection uses of the session's limit: its handshake, a byte and
/// its end.
const CONNECTION: u64 = 400;
/// Approximate bytes that a thread of a stream uses.
const THREAD: u64 = 512 << 10;
/// Bits per second of a stream, and minimum seconds of a block. For estimates only.
const NOMINAL: f64 = 10e9;
const NOMINAL_BLOCK_S: f64 = 5e-6;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    TcpStream,
    UdpStream,
    TcpRtt,
    UdpRtt,
    TcpConnect,
}

impl Kind {
    pub(super) fn datagrams(self) -> bool {
        matches!(self, Self::UdpStream | Self::UdpRtt)
    }

    pub(super) fn streams(self) -> bool {
        matches!(self, Self::TcpStream | Self::UdpStream)
    }
}

/// The numbers of a configuration, as both ends know them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shape {
    pub(super) kind: Kind,
    pub(super) streams: u64,
    /// Bytes of a block.
    pub(super) block: u64,
    pub(super) direction: Direction,
    /// Bytes of a trial, if they are fixed.
    pub(super) amount: Option<u64>,
    /// Requested bytes of each socket's buffers.
    pub(super) socket_buffer: Option<u64>,
    pub(super) congestion: Option<String>,
    pub(super) no_delay: bool,
    /// Maximum bits per second that all streams together send.
    pub(super) rate: Option<u64>,
    /// True if threads that wait for an answer spin.
    pub(super) poll: bool,
    /// True if the threads of both ends are pinned, see `placement`.
    pub(super) apart: bool,
    pub(super) path: NetworkPath,
}

impl Shape {
    /// Reads the numbers from resolved parameters.
    pub(super) fn from_params(kind: Kind, params: &Params) -> Result<Self, Refusal> {
        let block = match kind {
            Kind::TcpConnect => 1,
            _ => required(params, key::BLOCK_SIZE)?,
        };
        let flag = |key, on, off| {
            open_choice(params, key, &[(on, true), (off, false)]).map(Option::unwrap_or_default)
        };
        let directions = Direction::ALL.map(|direction| (direction.as_str(), direction));
        let paths = [NetworkPath::Loopback, NetworkPath::Peer].map(|path| (path.as_str(), path));
        let shape = Self {
            kind,
            streams: params.threads(),
            block,
            direction: open_choice(params, key::DIRECTION, &directions)?
                .unwrap_or(Direction::Forward),
            amount: params.get(key::AMOUNT),
            socket_buffer: params.get(key::SOCKET_BUFFER),
            congestion: params.get(key::CONGESTION).filter(|w| *w != AUTO).map(str::to_owned),
            no_delay: !kind.streams() || flag(key::NO_DELAY, word::ON, word::OFF)?,
            rate: params.get(key::RATE),
            poll: flag(key::MODE, word::POLL, word::BLOCK)?,
            apart: flag(key::PLACEMENT, word::APART, word::FREE)?,
            path: open_choice(params, key::PATH, &paths)?.ok_or_else(|| unset(key::PATH))?,
        };
        shape.check()?;
        Ok(shape)
    }

    /// Checks that the configuration is possible. Both ends call it.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let refuse = |reason: String| Err(Refusal(reason));
        let (block, connections) = (self.block, self.connections());
        if self.streams == 0 || connections > CONNECTIONS {
            return refuse(format!(
                "streams must be 1 to {CONNECTIONS}; {connections} connections were requested"
            ));
        }
        if self.kind.datagrams() && block > DATAGRAM_V6 {
            return refuse(too_large(block, DATAGRAM_V4, "IPv4"));
        }
        if block == 0 || block > BLOCK {
            return refuse(format!("block_size must be 1 B to {BLOCK} B; it is {block} B"));
        }
        let least = block * connections;
        if least > MEMORY {
            return refuse(format!(
                "a block of {block} B for each of {connections} connections takes {least} B; the \
                 limit is {MEMORY} B"
            ));
        }
        self.check_rate()?;
        match self.amount {
            Some(amount) if amount < least => refuse(format!(
                "a block of {block} B for each of {connections} connections takes {least} B, but \
                 amount is {amount} B"
            )),
            _ => Ok(()),
        }
    }

    fn check_rate(&self) -> Result<(), Refusal> {
        let Some(rate) = self.rate else { return Ok(()) };
        if rate < MIN_RATE {
            return Err(Refusal(format!("rate is {rate} bit/s; the minimum is {MIN_RATE} bit/s")));
        }
        let pace = self.interval_s().unwrap_or(0.0);
        if pace > PACE {
            return Err(Refusal(format!(
                "at rate {rate} bit/s, datagrams of {} B on each of {} connections are {pace:.1} s \
                 apart; the maximum is {PACE} s",
                self.block,
                self.connections()
            )));
        }
        Ok(())
    }

    /// Checks that a datagram of the configuration fits into IPv6 or IPv4.
    pub(super) fn fits(&self, v6: bool) -> Result<(), Refusal> {
        let (most, name) = if v6 { (DATAGRAM_V6, "IPv6") } else { (DATAGRAM_V4, "IPv4") };
        if self.kind.datagrams() && self.block > most {
            return Err(Refusal(too_large(self.block, most, name)));
        }
        Ok(())
    }

    /// Returns the data connections, each with a thread at both ends.
    pub(super) fn connections(&self) -> u64 {
        let ways = if self.direction == Direction::Both { 2 } else { 1 };
        self.streams.saturating_mul(ways)
    }

    /// Returns true if the client sends on a connection.
    pub(super) fn client_sends(&self, connection: usize) -> bool {
        match self.direction {
            Direction::Forward => true,
            Direction::Reverse => false,
            Direction::Both => connection.is_multiple_of(2),
        }
    }

    /// Returns the bytes of the session's limit that this many blocks use.
    pub(super) fn cost(&self, count: u64) -> u64 {
        let each = match self.kind {
            Kind::TcpStream | Kind::UdpStream => self.block,
            Kind::TcpRtt | Kind::UdpRtt => 2 * self.block,
            Kind::TcpConnect => CONNECTION,
        };
        count.saturating_mul(each)
    }

    /// Returns the maximum bits per second that one connection sends.
    pub(super) fn rate_each(&self) -> Option<f64> {
        self.rate.map(|rate| rate as f64 / self.connections() as f64)
    }

    /// Returns the time that a receiver waits for late datagrams after all were sent.
    pub(super) fn lateness(&self) -> Duration {
        Duration::from_millis(match self.path {
            NetworkPath::Loopback => 20,
            NetworkPath::Peer => 200,
        })
    }

    /// Returns the blocks of a trial, if they are fixed. At a rate all connections send the same
    /// number: one more on some of them would take another interval in which the others send
    /// nothing.
    pub(super) fn blocks(&self) -> Option<u64> {
        let blocks = self.amount? / self.block;
        let uneven = if self.rate.is_some() { blocks % self.connections() } else { 0 };
        Some(blocks - uneven)
    }

    /// Returns the seconds from one datagram of a connection to the next, if they are paced.
    pub(super) fn interval_s(&self) -> Option<f64> {
        self.rate_each().map(|rate| self.block as f64 * 8.0 / rate)
    }

    /// Returns the bytes of the buffers of all threads of the client.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.connections().saturating_mul((2 * self.block).max(THREAD))
    }

    /// Estimates the seconds of a trial whose amount is fixed.
    pub(super) fn fixed_s(&self) -> Option<f64> {
        let rate = self.rate.map_or(NOMINAL, |rate| NOMINAL.min(rate as f64));
        let blocks = self.blocks()?;
        let by_bits = (blocks * self.block) as f64 * 8.0 / rate;
        Some(by_bits.max(blocks as f64 * NOMINAL_BLOCK_S))
    }
}

/// Returns the meaning of a parameter's word, or `None` if the parameter is missing or `auto`.
fn open_choice<T: Copy>(
    params: &Params,
    key: Key<Choice>,
    words: &[(&str, T)],
) -> Result<Option<T>, Refusal> {
    match params.get(key) {
        None | Some(AUTO) => Ok(None),
        Some(_) => choice(params, key, words).map(Some),
    }
}

fn too_large(block: u64, most: u64, protocol: &str) -> String {
    format!(
        "a UDP datagram over {protocol} carries at most {most} B of payload, but block_size is \
         {block} B"
    )
}

/// Sets the parameters that are `auto`. Round trips with mode=auto become two configurations.
pub(super) fn resolve_auto(kind: Kind, params: Params, host: &Host) -> Vec<Params> {
    let network = host.network.get();
    let path = network.map_or(NetworkPath::Loopback, |n| n.path);
    let apart = path == NetworkPath::Loopback && kind != Kind::TcpStream;
    let mut params = resolved(params, key::PATH, |_| path.as_str());
    params = resolved(params, key::PLACEMENT, |_| if apart { word::APART } else { word::FREE });
    if kind == Kind::UdpStream {
        params = resolved(params, key::BLOCK_SIZE, |_| largest_datagram(host));
    }
    if params.is_auto(key::MODE) {
        return [word::BLOCK, word::POLL].map(|mode| params.clone().with(key::MODE, mode)).into();
    }
    vec![params]
}

/// Returns the payload bytes of the largest datagram that reaches the server in one packet. Over
/// loopback it is the largest possible one.
fn largest_datagram(host: &Host) -> u64 {
    let Some(network) = host.network.get() else { return DATAGRAM_V4 };
    let v6 = network.is_v6();
    let (most, headers) = if v6 { (DATAGRAM_V6, HEADERS_V6) } else { (DATAGRAM_V4, HEADERS_V4) };
    match network.path {
        NetworkPath::Loopback => most,
        NetworkPath::Peer => {
            let ends = [network.interface.get(), network.server_interface.as_ref()];
            let mtu = ends.into_iter().flatten().map(|i| i.mtu).min().unwrap_or(MTU);
            mtu.saturating_sub(headers).clamp(1, most)
        }
    }
}

#[cfg(test)]
mod tests;
