//! Properties of network results: direction, loss, round-trip times, and the load of both ends.

use proofmark_model::{
    AUTO, Direction, End, EndTraffic, Host, Measurement, NetworkPath, Param, Unit, key, word,
};

use super::num::{Scale, median, percentage};
use super::operation;
use super::text::{clean, joined};

/// The parameter that says whether packets leave the machine; it is printed with every result.
pub const PATH: &str = key::PATH.name();
// Constants, so that they can be used as patterns.
const RATE: &str = key::RATE.name();
const MODE: &str = key::MODE.name();
const DIRECTION: &str = key::DIRECTION.name();
const PLACEMENT: &str = key::PLACEMENT.name();
const NO_DELAY: &str = key::NO_DELAY.name();

pub fn is_network(m: &Measurement) -> bool {
    m.subsystem.info().has_server
}

/// Returns true if blocks are streamed, so that the result is a bit rate.
pub fn streams(m: &Measurement) -> bool {
    is_network(m) && m.unit == Unit::BitPerSecond
}

/// Returns true if each block waits for the answer to the one before it.
pub fn round_trips(m: &Measurement) -> bool {
    is_network(m) && m.unit == Unit::OpPerSecond && m.params.has(key::BLOCK_SIZE)
}

/// Returns true if both ends run on this machine.
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

/// The value of a network parameter for a cell.
pub fn parameter_value(name: &str, value: &Param) -> Option<String> {
    Some(match (name, value) {
        (RATE, Param::Int(rate)) => bits(*rate),
        (RATE, Param::Text(word)) if word == AUTO => "unpaced".to_owned(),
        _ => return None,
    })
}

/// The value of a network parameter in a sentence.
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

/// `1 Gbit/s`: a requested rate without trailing zeros.
fn bits(rate: u64) -> String {
    let scale = Scale::for_largest([rate as f64], Unit::BitPerSecond);
    format!("{} {}", scale.scaled(rate as f64), scale.label())
}

/// Share of the datagrams of all trials that were lost, 0 to 1.
pub fn loss(m: &Measurement) -> Option<f64> {
    m.datagrams().filter(|d| d.sent > 0).map(|d| d.loss())
}

/// That share of a bit rate's datagrams: `3.1 %`.
pub fn loss_of_rate(m: &Measurement) -> Option<String> {
    loss(m).filter(|_| streams(m)).and_then(percentage)
}

/// Payload sent in bits per second, where datagrams may be lost.
pub fn offered(m: &Measurement) -> Option<f64> {
    let rate = m.summary.as_ref()?.value() / (1.0 - loss(m).filter(|_| streams(m))?);
    rate.is_finite().then_some(rate)
}

/// Average number of CPUs that one end kept busy: the median over the trials.
pub fn cpus(m: &Measurement, end: End, read: fn(&EndTraffic) -> Option<f64>) -> Option<f64> {
    median(m.traffics().filter_map(|(t, n)| Some(read(end.counters(n))? / m.account_s(t)?)))
}

/// Bytes that the interface of one end counted as a share of its payload: the median over the
/// trials.
pub fn carried(m: &Measurement, end: End) -> Option<f64> {
    let way = match end {
        // A loopback interface receives what it sends, so one direction is all of the traffic.
        End::ClientSide if over_loopback(m) => Direction::Forward,
        End::ServerSide if over_loopback(m) => Direction::Reverse,
        _ => Direction::from_params(&m.params).unwrap_or(Direction::Both),
    };
    median(m.traffics().filter_map(|(_, n)| {
        // Lost data left the sender but did not reach the receiver.
        let payload = match (way.sends(end), way.receives(end)) {
            (true, false) => n.sent_bytes as f64,
            (false, true) => n.received_bytes as f64,
            _ => (n.sent_bytes as f64).midpoint(n.received_bytes as f64),
        };
        Some(end.counters(n).carried(way, end)? as f64 / payload)
    }))
}

/// Details of a network result: loss and times of single operations.
pub fn extra(m: &Measurement) -> Option<String> {
    if !is_network(m) {
        return None;
    }
    let lost = loss_of_rate(m).map(|share| format!("lost {share}"));
    let parts = joined([lost, operation::phrase(m)].into_iter().flatten(), "; ");
    (!parts.is_empty()).then_some(parts)
}
