//! Shared functions for checks, ceilings and bottlenecks of network workloads and of both ends.

mod frames;

use proofmark_model::{
    Direction, End, Host, Interface, Measurement, Network, NetworkTraffic, Trial, UDP_BUFFER, Unit,
    key, word,
};

pub(crate) use frames::{Frames, Layer, least_headers, packet};

use crate::Context;
use crate::capacity::Capacity;
use crate::statistics::{median_over, ratio_of_sums};
use crate::threads::{connections, threads_here};
use crate::words::known;

/// The direction of a result's blocks; round trips have both.
pub(crate) fn direction(m: &Measurement) -> Direction {
    Direction::from_params(&m.params).unwrap_or(Direction::Both)
}

/// Returns true for a network result that has trials.
pub(crate) fn measured(m: &Measurement) -> bool {
    m.subsystem.info().has_server && !m.trials.is_empty()
}

/// Returns true if both ends are on this machine, by the parameter.
pub(crate) fn over_loopback(m: &Measurement) -> bool {
    m.subsystem.info().has_server && m.params.get(key::PATH) == Some(word::LOOPBACK)
}

/// The machine of an end in words: over loopback both ends have one system.
pub(crate) fn machine_of(m: &Measurement, end: End) -> &'static str {
    match end {
        _ if over_loopback(m) => "this machine",
        End::ClientSide => "the client",
        End::ServerSide => "the server",
    }
}

/// Returns true if threads are pinned, those of a stream's two ends to different CPUs.
pub(crate) fn pinned(m: &Measurement) -> bool {
    m.params.get(key::PLACEMENT) == Some(word::APART)
}

/// Returns true if both ends poll while they wait, so that their CPU time shows nothing.
pub(crate) fn polls(m: &Measurement) -> bool {
    m.params.get(key::MODE) == Some(word::POLL)
}

/// Returns true for streams in one or both directions, which count bits.
pub(crate) fn streams(m: &Measurement) -> bool {
    m.subsystem.info().has_server && m.unit == Unit::BitPerSecond
}

/// Returns true if blocks are sent as datagrams; `None` if no trial reports it.
pub(crate) fn datagrams(m: &Measurement) -> Option<bool> {
    m.traffics().map(|(_, n)| n.datagrams.is_some()).reduce(|a, b| a || b)
}

/// The network of a stream, for its ceiling; fails with the reason why there is no ceiling.
pub(crate) fn network_of_stream<'a>(
    ctx: &Context<'a>,
    m: &Measurement,
) -> Result<&'a Network, String> {
    if !streams(m) {
        return Err("a rate does not limit the time of a round trip or a connection".to_owned());
    }
    let host: &'a Host = ctx.host;
    known(&host.network, "the network")
}

/// Medians over the trials: bytes that a connection carried, and bytes that systems may buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Carried {
    pub(crate) bytes: f64,
    pub(crate) buffer_bytes: f64,
    pub(crate) seconds: f64,
}

impl Carried {
    /// Derives the medians; `None` for a result that is no stream.
    pub(crate) fn median(m: &Measurement) -> Option<Self> {
        if !streams(m) {
            return None;
        }
        let over = |value: &dyn Fn(&Trial) -> f64| median_over(&m.trials, |t| Some(value(t)));
        Some(Self {
            bytes: over(&|t| t.work / 8.0 / connections(m) as f64)?,
            buffer_bytes: over(&|t| buffer_bytes(m, t))?,
            seconds: over(&|t| t.seconds)?,
        })
    }

    /// Returns true if so little was carried that the rate may be that of filling buffers.
    pub(crate) fn only_filled(&self) -> bool {
        self.bytes < FILLS * self.buffer_bytes
    }
}

/// Fewest times that a connection must have filled its window and its buffers.
const FILLS: f64 = 4.0;
/// Largest buffer of a TCP socket in bytes if unknown: Linux's net.ipv4.tcp_wmem.
const TCP_BUFFER: f64 = 4_194_304.0;
/// Factor by which a system may exceed the requested buffer (socket(7)).
const DOUBLED: f64 = 2.0;

/// Bytes that one connection may have in flight: its window, or its buffers if they hold more.
fn buffer_bytes(m: &Measurement, t: &Trial) -> f64 {
    let by_default = (datagrams(m) == Some(true)).then_some(UDP_BUFFER);
    let asked = m.params.get(key::SOCKET_BUFFER).or(by_default).map(|asked| DOUBLED * asked as f64);
    let states = t.network.iter().flat_map(|n| &n.streams).map(|s| s.window_bytes);
    // A tool may report the window once for all its connections.
    let window = states.chain(m.params.get(key::WINDOW)).max().map(|bytes| bytes as f64);
    asked.into_iter().chain(window).max_by(f64::total_cmp).unwrap_or(TCP_BUFFER)
}

/// The known interfaces of both ends.
pub(crate) fn interfaces(network: &Network) -> impl Iterator<Item = &Interface> {
    network.interface.get().into_iter().chain(&network.server_interface)
}

/// CPU time over available time, summed over all trials; `None` unless each trial reports both.
fn share(
    m: &Measurement,
    times: impl Fn(&Trial, &NetworkTraffic) -> Option<(f64, f64)>,
) -> Option<f64> {
    ratio_of_sums(m.trials.iter().map(|t| times(t, t.network.as_ref()?)))
}

/// CPU time of an end's own threads over that available to them: one CPU per thread, at most all
/// CPUs. At most 1, since the duration of an account is known to some percent.
pub(crate) fn own_share(m: &Measurement, end: End) -> Option<f64> {
    let all = share(m, |t, n| {
        let side = end.counters(n);
        let cpus = connections(m).min(side.cpus?) as f64;
        Some((side.own_cpu_s?, m.account_s(t)? * cpus))
    });
    all.filter(|share| *share <= FAR_OFF).map(|share| share.min(1.0))
}

/// Busy time of an end's CPUs over their total time; `None` if far above it.
pub(crate) fn system_share(m: &Measurement, end: End) -> Option<f64> {
    let all = share(m, |t, n| {
        let side = end.counters(n);
        Some((side.busy_s?, m.account_s(t)? * side.cpus? as f64))
    });
    all.filter(|share| *share <= 1.0 + ROUGH).map(|share| share.min(1.0))
}

/// Share of an end's own threads in the busy time of the CPUs that it may use.
pub(crate) fn own_of_system(m: &Measurement, end: End) -> Option<f64> {
    share(m, |_, n| Some((end.counters(n).own_cpu_s?, end.counters(n).busy_s?)))
}

/// CPU time of the result's threads on this machine, over that of the CPUs on which they could run.
pub(crate) fn share_here(m: &Measurement) -> Option<f64> {
    share(m, |t, n| {
        let server = if over_loopback(m) { n.server.own_cpu_s? } else { 0.0 };
        let cpus = threads_here(m).min(n.client.cpus?) as f64;
        Some((n.client.own_cpu_s? + server, m.account_s(t)? * cpus))
    })
}

/// CPU time that others took from a trial. To a peer it is that of other processes; `None` if there
/// are more threads than CPUs.
///
/// Over loopback, threads wait for a CPU that the other end uses. There it is the time that the
/// usable CPUs were busy with neither end, if that was read for as many CPUs. If each thread has a
/// CPU, it is at least the time that they waited for one, as far as the ends left time.
pub(crate) fn others(capacity: &Capacity, m: &Measurement, t: &Trial) -> Option<f64> {
    if !over_loopback(m) {
        return t.conditions.other_cpu_s.filter(|_| !capacity.oversubscribed());
    }
    let n = t.network.as_ref()?;
    n.client.cpus.filter(|cpus| *cpus == capacity.cpus)?;
    let (busy, cpus) = (n.client.busy_s?, capacity.cpus as f64);
    let own = n.client.own_cpu_s? + n.server.own_cpu_s?;
    // Others also ran while the ends had nothing to do. Files of older versions lack that time.
    let least_s = busy / cpus;
    let counted_s = n.client.counted_s.or_else(|| Some(m.account_s(t)?.max(least_s)))?;
    let waited = waited_over_loopback(t, n).filter(|_| !capacity.oversubscribed());
    let all = (busy - own).max(waited.unwrap_or(0.0)).min(cpus * counted_s - own).max(0.0);
    Some(all * t.seconds / counted_s)
}

/// Time that the threads of both ends waited for a CPU without a quota's pauses. An end without
/// such a count counts like the other.
fn waited_over_loopback(t: &Trial, n: &NetworkTraffic) -> Option<f64> {
    let throttled = t.conditions.throttled_s.unwrap_or(0.0);
    let here = (n.client.waiting_s? - throttled).max(0.0);
    Some(here + n.server.waiting_s.map_or(here, |there| (there - throttled).max(0.0)))
}

/// Fewest TCP segments, or messages of round trips, for a trial's payload.
pub(crate) fn segments(m: &Measurement, t: &Trial) -> Option<f64> {
    let n = t.network.as_ref()?;
    let largest = n.streams.iter().map(|s| s.segment_bytes).max().filter(|s| *s > 0);
    let bytes = n.sent_bytes as f64;
    let block = m.params.block_bytes().unwrap_or(1.0);
    // A datagram is one packet or several.
    if datagrams(m) == Some(true) && streams(m) {
        return Some(bytes / block.min(USUAL_SEGMENT));
    }
    let each = if streams(m) { USUAL_SEGMENT } else { block };
    let largest = largest.map_or(each, |largest| largest as f64);
    Some(bytes / if streams(m) { largest } else { largest.min(each) })
}

/// Retransmitted TCP segments of a trial: by the connections' account if known, else by the
/// systems'.
pub(crate) fn retransmitted(m: &Measurement, t: &Trial) -> Option<f64> {
    let n = t.network.as_ref()?;
    if n.streams.is_empty() {
        let all: Vec<u64> =
            End::BOTH.iter().filter_map(|end| end.counters(n).retransmits).collect();
        return (!all.is_empty()).then(|| all.iter().map(|c| *c as f64).sum());
    }
    let at = m.trials.iter().position(|other| std::ptr::eq(other, t))?;
    let before = m.trials.get(at.checked_sub(1)?)?.network.as_ref()?;
    n.retransmits()?.checked_sub(before.retransmits()?).map(|more| more as f64)
}

/// Bytes of a segment if the connection is unknown: that of Ethernet.
const USUAL_SEGMENT: f64 = 1448.0;

/// Share of the available CPU time from which a CPU is saturated.
pub(crate) const BUSY: f64 = 0.9;

/// Share of CPU time above which the account is wrong.
const FAR_OFF: f64 = 1.5;

/// Tolerance of a share for ticks of 10 ms and for the time between the counters' readings.
const ROUGH: f64 = 0.1;

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn data_sent_before_a_trial_lengthens_its_account() {
        for m in [tcp(1, "peer"), udp(1, "peer"), round_trips("tcp", "block")] {
            let ahead = each_network(m, |n| n.received_bytes += n.received_bytes / 8);
            let s = ahead.account_s(&ahead.trials[0]).unwrap();
            assert!((s - 0.1125).abs() < 1e-3, "{}: {s}", ahead.workload);
        }
    }
}
