//! Checks `bytes_lost` and `short_transfer`: sent, received and claimed bytes differ, a transfer
//! only filled buffers, or one direction ended long before the other.
//!
//! A published report printed 18.7 Gbit/s for 128 KB that a socket's buffer had taken.

use proofmark_model::{Finding, Measurement, NetworkTraffic, Trial, check_id, format_seconds, key};

use super::{Check, Class, Examine, percent, size};
use crate::Context;
use crate::network::Carried;
use crate::statistics::median_over;
use crate::words::counted;

/// Largest relative difference between claim and count that rounding explains.
const ROUNDING: f64 = 1e-6;

/// Describes counts of a trial that contradict each other, if there are any. A trial of ours ends
/// with the last byte; a tool's counts may be of two moments, and its reader compares them.
fn fault(m: &Measurement, t: &Trial, n: &NetworkTraffic, ours: bool) -> Option<String> {
    let (sent, received) = (n.sent_bytes, n.received_bytes);
    match n.datagrams {
        None if ours && sent != received => {
            return Some(format!("{sent} B sent over TCP, but {received} B received"));
        }
        Some(d) if d.received > d.sent => {
            return Some(format!("{} datagrams sent, but {} received", d.sent, d.received));
        }
        _ => {}
    }
    if received == 0 {
        return Some("the receivers got nothing".to_owned());
    }
    let claimed_too_much = m.stretch(t).is_some_and(|s| s < 1.0 - ROUNDING);
    claimed_too_much.then(|| format!("the result claims more work than the {received} B received"))
}

pub(super) static BYTES_LOST: Check = Check {
    id: "bytes_lost",
    class: Class::CLAIM,
    title: "Bytes sent, received and counted differ",
    about: "Compares the senders' and the receivers' counts in each trial. TCP delivers every byte \
         or fails, so a difference after a trial makes the result invalid (not for tools, which may \
         stop with bytes in flight). So do more datagrams received than sent, and more work claimed \
         than received: the rate must be the receivers', not the senders', and not multiplied by \
         the threads. Lost datagrams are reported by udp_loss.",
    examine: Examine::Each(
        |ctx, m| bytes_lost(m, !ctx.imported),
        |_, theirs| bytes_lost(theirs, false),
    ),
};

fn bytes_lost(m: &Measurement, ours: bool) -> Option<Finding> {
    let faults: Vec<String> = m.traffics().filter_map(|(t, n)| fault(m, t, n, ours)).collect();
    let first = faults.first()?;
    let message = format!("{} of {}: {first}", faults.len(), counted(m.trials.len(), "trial"));
    let advice = "do not use this result; report it as a defect if it repeats";
    let finding = BYTES_LOST.invalid(message, advice);
    Some(finding.with("trials", faults.len()))
}

/// Fewest round trips that a stream must last: its window grows by them.
const ROUND_TRIPS: f64 = 10.0;
/// Smallest duration of one of two simultaneous directions, as a share of the other's.
const TOGETHER: f64 = 0.9;
/// Share of the policy's duration below which a trial is short.
const ALLOWANCE: f64 = 0.9;

/// Duration of the direction that ended first, as a share of the other's.
fn together(t: &Trial) -> Option<f64> {
    let [forward, reverse] = t.network.as_ref()?.ways_s?;
    let share = forward.min(reverse) / forward.max(reverse);
    (share.is_finite() && share >= 0.0).then_some(share)
}

/// The longest round trip of a trial's connections. It excludes the queue that they fill
/// themselves, where that is known: a slow link answers after its own queue, however long a
/// transfer lasts.
fn round_trip(t: &Trial) -> Option<f64> {
    let states = t.network.iter().flat_map(|n| &n.streams);
    states
        .map(|s| s.least_rtt_s.unwrap_or(s.rtt_s))
        .filter(|s| s.is_finite() && *s > 0.0)
        .max_by(f64::total_cmp)
}

pub(super) static SHORT_TRANSFER: Check = Check {
    id: check_id::SHORT_TRANSFER,
    class: Class::claim("how much of the transfer only filled buffers is unknown"),
    title: "Transfer that only filled buffers",
    about: "Compares the bytes per connection of a stream's trial with what the systems can \
         buffer: TCP's window, or twice the requested socket buffer if that is more. The default \
         is 4 MiB, for UDP without socket_buffer and for TCP where nothing is reported. A fixed \
         amount below 4 times that, in a trial shorter than the policy's, is suspect: it went into \
         buffers at memory speed. So is a trial of less than 10 of the shortest round trips seen, \
         since a window grows by round trips. With both directions at once, it is also suspect if \
         one direction ended in less than 90 % of the other's time. All use the median over the \
         trials. Send more (parameter amount), or for longer.",
    examine: Examine::Both(short_transfer),
};

fn short_transfer(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let carried = Carried::median(m)?;
    let Carried { bytes, buffer_bytes, seconds } = carried;
    let trip = median_over(&m.trials, round_trip);
    let short = seconds < ALLOWANCE * ctx.policy.trial_s_for(&m.workload);
    let is_set = |key| m.params.get(key).is_some();
    // A tool ends early when its amount is sent, whether its output has the amount or not.
    let fixed = short && (ctx.imported || is_set(key::AMOUNT) || is_set(key::WINDOW));
    let message = if fixed && carried.only_filled() {
        format!(
            "a connection carried {} per trial, and its buffers alone can hold {}: the rate \
             may be that of filling them",
            size(bytes),
            size(buffer_bytes)
        )
    } else if let Some(share) = median_over(&m.trials, together).filter(|share| *share < TOGETHER) {
        format!(
            "one direction ended after {} of the other's time: they did not run together, but \
             the rate is that of both over the longer time",
            percent(share)
        )
    } else {
        let trip = trip.filter(|trip| seconds < ROUND_TRIPS * trip)?;
        format!(
            "a trial lasts {}, less than {ROUND_TRIPS} round trips of {}: the window did not \
             grow to its full size",
            format_seconds(seconds),
            format_seconds(trip)
        )
    };
    let advice = "send more per trial (parameter amount), or take longer trials";
    let finding = SHORT_TRANSFER.suspect(message, advice);
    Some(finding.with("bytes", bytes).with("held_bytes", buffer_bytes).with("seconds", seconds))
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Severity, key};

    use super::*;
    use crate::testing::*;

    #[test]
    fn counts_that_contradict_each_other_are_invalid() {
        let lost = |m| each(m, |i, t| t.network.as_mut().unwrap().sent_bytes += u64::from(i == 3));
        let datagrams = |spoil: fn(&mut NetworkTraffic)| each_network(udp(1, "peer"), spoil);
        let more = datagrams(|n| n.datagrams.as_mut().unwrap().received += 1);
        let fewer = datagrams(|n| {
            n.sent_bytes *= 2;
            n.datagrams.as_mut().unwrap().sent *= 2;
        });
        let nothing = each_network(tcp(1, "peer"), |n| (n.sent_bytes, n.received_bytes) = (0, 0));
        BYTES_LOST.expect([
            ("a byte of a stream", lost(tcp(1, "peer")), invalid("^1 of 10 trials: ")),
            ("of a round trip", lost(round_trips("tcp", "block")), invalid("^1 of 10 trials: ")),
            ("datagrams from nowhere", more, invalid("datagrams sent")),
            ("datagrams that were lost", fewer, SILENT),
            ("nothing", nothing, invalid("nothing")),
        ]);
    }

    #[test]
    fn a_rate_that_the_receivers_did_not_see_is_invalid() {
        for m in healthy_network("loopback").into_iter().chain(healthy_network("peer")) {
            let name = m.workload.clone();
            let twice = each(m, |_, t| (t.work, t.value) = (2.0 * t.work, 2.0 * t.value));
            BYTES_LOST.expect([(name, twice, invalid("claims more work"))]);
        }
    }

    /// The result with a fixed amount of `bytes` per trial at the usual rate.
    fn carrying(m: Measurement, bytes: u64) -> Measurement {
        each(with_param(m, "amount", bytes), |_, t| {
            t.work = bytes as f64 * 8.0;
            t.seconds = t.work / t.value;
            let n = t.network.as_mut().unwrap();
            (n.sent_bytes, n.received_bytes) = (bytes, bytes);
        })
    }

    fn stream(bytes: u64) -> Measurement {
        carrying(tcp(1, "loopback"), bytes)
    }

    #[test]
    fn a_short_transfer_of_another_tool_only_filled_buffers() {
        let host = host();
        let ctx = Context { imported: true, ..context_on(&host) };
        let severity = |bytes: u64| {
            let mut m = stream(bytes);
            m.params.0.remove(key::AMOUNT.name());
            short_transfer(&ctx, &m).map(|f| f.severity)
        };
        assert_eq!((severity(64 << 10), severity(256 << 20)), (Some(Severity::Suspect), None));
    }

    #[test]
    fn an_amount_that_a_buffer_takes_is_suspect() {
        // The window of the healthy connection is 250 KB.
        let asked = with_param(stream(4 << 20), "socket_buffer", 2 << 20);
        let imported = |window: u64, bytes: u64| {
            let mut m = with_param(stream(bytes), "window", window);
            m.params.0.remove(key::AMOUNT.name());
            each(m, |_, t| t.network = None)
        };
        let unknown = each(stream(8 << 20), |_, t| t.network = None);
        let small = with_param(stream(128 << 10), "window", 1000);
        // 100 KB in 0.1 s.
        let slow = each(tcp(1, "loopback"), |_, t| (t.work, t.value) = (8e5, 8e6));
        let few = suspect("^a connection carried 128 KiB per trial");
        SHORT_TRANSFER.expect([
            ("little", stream(128 << 10), few),
            ("more", stream(4 << 20), SILENT),
            ("little on four", carrying(tcp(4, "loopback"), 128 << 10), SUSPECT),
            ("a larger buffer", asked, suspect("can hold 4 MiB")),
            ("a tool's window", imported(2_500_000, 128 << 10), suspect("128 KiB per trial")),
            ("more than that", imported(2_500_000, 8 << 20), SUSPECT),
            ("a small window", imported(250_000, 8 << 20), SILENT),
            ("the larger of two", small, few),
            ("nothing is reported", unknown, suspect("can hold 4 MiB")),
            ("small blocks only take long", slow, SILENT),
        ]);
    }

    #[test]
    fn datagrams_fill_the_buffers_that_the_program_asks_for() {
        let datagrams = |bytes| carrying(udp(1, "loopback"), bytes);
        let filled = suspect("30 MiB per trial, and its buffers alone can hold 8 MiB");
        let asked = with_param(datagrams(30 << 20), "socket_buffer", 1 << 20);
        // The amount lasts less time than when proofmark chose it.
        let fast = with_param(datagrams(30 << 20), "amount", "auto");
        SHORT_TRANSFER.expect([
            ("filled", datagrams(30 << 20), filled),
            ("by the machine's own choice", fast, SILENT),
            ("more", datagrams(33 << 20), SILENT),
            ("small buffers", asked, SILENT),
        ]);
    }

    #[test]
    fn ways_that_are_not_at_once_and_few_round_trips_are_suspect() {
        let ways = |ways| each_network(tcp(1, "loopback"), |n| n.ways_s = ways);
        let trip = |rtt: f64| {
            each_network(tcp(1, "peer"), |n| n.streams.iter_mut().for_each(|s| s.rtt_s = rtt))
        };
        let early = suspect("^one direction ended after 50.0 % of the other's time");
        SHORT_TRANSFER.expect([
            ("not reported", ways(None), SILENT),
            ("together", ways(Some([0.95, 1.0])), SILENT),
            ("the other first", ways(Some([1.0, 0.95])), SILENT),
            ("one early", ways(Some([0.5, 1.0])), early),
            ("the other early", ways(Some([1.0, 0.85])), SUSPECT),
            ("no time", ways(Some([0.0, 0.0])), SILENT),
            ("no number", ways(Some([f64::NAN, 1.0])), SILENT),
            ("few trips", trip(0.02), suspect("less than 10 round trips of 20.00 ms")),
            ("enough", trip(0.009), SILENT),
        ]);
    }
}
