//! What a number of the network subsystem is about: which way it went, how much of it was
//! lost, how long an answer took, and how busy both ends were.

use proofmark_model::{
    AUTO, Direction, End, EndTraffic, Host, Measurement, NetworkPath, Param, Unit, format_count,
    format_size, key, word,
};

use super::num::{Scale, median, percent};
use super::operation;
use super::text::{clean, joined};

/// The parameter that says whether packets leave the machine; it is printed with every result.
pub const PATH: &str = key::PATH.name();
// As patterns.
const RATE: &str = key::RATE.name();
const BLOCK_SIZE: &str = key::BLOCK_SIZE.name();
const MODE: &str = key::MODE.name();
const DIRECTION: &str = key::DIRECTION.name();
const PLACEMENT: &str = key::PLACEMENT.name();
const NO_DELAY: &str = key::NO_DELAY.name();
/// Bytes of a block from which on nobody wants to read each of them.
const MANY: u64 = 1 << 20;

pub fn is_network(m: &Measurement) -> bool {
    m.subsystem.info().has_server
}

/// Whether blocks stream, so that what counts is their bits.
pub fn streams(m: &Measurement) -> bool {
    is_network(m) && m.unit == Unit::BitPerSecond
}

/// Whether each block waits for the one before to come back.
pub fn round_trips(m: &Measurement) -> bool {
    is_network(m) && m.unit == Unit::OpPerSecond && m.params.has(key::BLOCK_SIZE)
}

/// Whether both ends are this machine.
pub fn over_loopback(m: &Measurement) -> bool {
    is_network(m) && m.params.get(key::PATH) == Some(NetworkPath::Loopback.as_str())
}

/// `loopback`, or `to ` and the name of the server.
pub fn path(host: &Host, m: &Measurement) -> Option<String> {
    let word = m.params.get(key::PATH).filter(|_| is_network(m))?;
    let peer = host.network.get().filter(|n| n.path == NetworkPath::Peer);
    Some(match peer.filter(|_| word == NetworkPath::Peer.as_str()) {
        Some(network) => format!("to {}", network.server.name),
        None => word.to_owned(),
    })
}

/// The value of one of the network's own parameters in a cell.
pub fn parameter_value(name: &str, value: &Param) -> Option<String> {
    Some(match (name, value) {
        (RATE, Param::Int(rate)) => bits(*rate),
        (RATE, Param::Text(word)) if word == AUTO => "unpaced".to_owned(),
        (BLOCK_SIZE, Param::Int(bytes)) => exact(*bytes),
        _ => return None,
    })
}

/// The same in a sentence.
pub fn parameter_phrase(name: &str, value: &Param) -> Option<String> {
    let words = |word: &str| match (name, word) {
        (MODE, word::BLOCK) => Some("blocking".to_owned()),
        (MODE, word::POLL) => Some("polling".to_owned()),
        (DIRECTION, "both") => Some("both ways".to_owned()),
        (PLACEMENT, word::APART) => Some("threads pinned apart".to_owned()),
        (PLACEMENT, word::FREE) => Some("threads not pinned".to_owned()),
        (NO_DELAY, _) => Some(format!("{name} {}", clean(word))),
        _ => None,
    };
    match (name, value) {
        (RATE, Param::Int(rate)) => Some(format!("{} offered", bits(*rate))),
        (_, Param::Text(word)) if word != AUTO => words(word),
        _ => None,
    }
}

/// `1 Gbit/s`: a rate that was asked for, without digits that say nothing.
fn bits(rate: u64) -> String {
    let scale = Scale::for_largest([rate as f64], Unit::BitPerSecond);
    format!("{} {}", scale.scaled(rate as f64), scale.label())
}

/// A block to the byte: 65 507 B are not 64 KiB.
fn exact(bytes: u64) -> String {
    match bytes {
        b if b > 1024 && b < MANY && !b.is_multiple_of(1024) => format!("{} B", format_count(b)),
        b => format_size(b),
    }
}

/// Share of the datagrams of all trials that never came, 0 to 1.
pub fn loss(m: &Measurement) -> Option<f64> {
    m.datagrams().filter(|d| d.sent > 0).map(|d| d.loss())
}

/// Bits of payload a second that were sent, where datagrams may be lost.
pub fn offered(m: &Measurement) -> Option<f64> {
    let rate = m.summary.as_ref()?.value() / (1.0 - loss(m).filter(|_| streams(m))?);
    rate.is_finite().then_some(rate)
}

/// CPUs that something of an end kept busy: the median over the trials.
pub fn cpus(m: &Measurement, end: End, read: fn(&EndTraffic) -> Option<f64>) -> Option<f64> {
    median(m.traffics().filter_map(|(t, n)| Some(read(end.of(n))? / m.account_s(t)?)))
}

/// Bytes that an end's interface carried as a share of the payload that went by it: the
/// median over the trials.
pub fn carried(m: &Measurement, end: End) -> Option<f64> {
    let way = match end {
        // The interface of a loopback takes in what it sends: one of the two is all of it.
        End::ClientSide if over_loopback(m) => Direction::Forward,
        End::ServerSide if over_loopback(m) => Direction::Reverse,
        _ => Direction::of(&m.params).unwrap_or(Direction::Both),
    };
    median(m.traffics().filter_map(|(_, n)| {
        // What is lost on the way has left the sender and never reaches the receiver.
        let payload = match (way.sends(end), way.receives(end)) {
            (true, false) => n.sent_bytes as f64,
            (false, true) => n.received_bytes as f64,
            _ => (n.sent_bytes as f64).midpoint(n.received_bytes as f64),
        };
        Some(end.of(n).carried(way, end)? as f64 / payload)
    }))
}

/// What is printed with a network result: what was lost, how long an answer took.
pub fn extra(m: &Measurement) -> Option<String> {
    if !is_network(m) {
        return None;
    }
    let lost = loss(m).filter(|_| streams(m)).and_then(percent);
    let lost = lost.map(|p| format!("lost {p}\u{a0}%"));
    let parts = joined([lost, operation::phrase(m)].into_iter().flatten(), "; ");
    (!parts.is_empty()).then_some(parts)
}
