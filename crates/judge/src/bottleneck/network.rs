//! Bottleneck of a network result that is far from its ceiling.
//!
//! Bandwidth x delay (RFC 7323, 1): a connection has at most its window in flight, so its rate is
//! at most window / round trip.

use proofmark_model::{
    Bottleneck, End, Key, Measurement, NetworkTraffic, Unit, and_list, format_percent,
    format_quantity, key, word,
};

use crate::Context;
use crate::network::{
    BUSY, datagrams, machine_of, over_loopback, own_share, polls, retransmitted, segments, streams,
    system_share,
};
use crate::statistics::{self, GAINED, NOTHING, median, ratio_of_sums};
use crate::words::counted;

/// Share of the requested rate from which pacing sets the rate.
const PACED: f64 = 0.98;
/// Share of lost datagrams from which the loss shows which end could not keep up.
const LOST: f64 = 0.001;
/// Share of retransmitted segments from which congestion control sets the rate.
const RESENT: f64 = 1e-4;
/// Ratio of the rate to window / round trip within which the window limits it.
const WINDOW: std::ops::RangeInclusive<f64> = 0.8..=1.25;

/// Names the bottleneck of a result that is not at its ceiling. Fails with the reason why it is
/// unknown.
pub(crate) fn name(ctx: &Context, m: &Measurement) -> Result<Bottleneck, String> {
    if let Some(bottleneck) = paced(m).or_else(|| overflown(m)) {
        return Ok(bottleneck);
    }
    if let Some(bottleneck) = by_cpu(m) {
        return Ok(bottleneck);
    }
    if !streams(m) {
        return by_waking(ctx, m);
    }
    let more = on_more_streams(ctx, m);
    if datagrams(m) == Some(false) {
        if let Some(bottleneck) = by_losses(m) {
            return Ok(bottleneck);
        }
        // If more streams gain nothing, they share a bottleneck.
        let shared = more.as_ref().is_some_and(|(gain, _)| *gain < NOTHING);
        if let Some(bottleneck) = by_window(m).filter(|_| !shared) {
            return Ok(bottleneck);
        }
    }
    let what = if over_loopback(m) { "CPUs of both ends" } else { "path between the ends" };
    match more {
        Some((gain, how)) if gain < NOTHING => {
            Ok(Bottleneck::new(what, format!("{how} reach only {gain:.2} times the rate")))
        }
        Some((gain, how)) if gain > GAINED => {
            Ok(Bottleneck::new("streams", format!("{how} reach {gain:.2} times the rate")))
        }
        more => Err(unnamed(m, more)),
    }
}

/// The reason why a stream has no bottleneck: what the counts rule out, what they do not show, and
/// how more streams do.
fn unnamed(m: &Measurement, more: Option<(f64, String)>) -> String {
    let tcp = datagrams(m) != Some(true);
    let lost = if tcp { resent(m) } else { m.datagrams().map(|all| all.lost() as f64) };
    let none_lost = lost.map(|lost| if lost > 0.0 { "" } else { "nothing was lost" });
    let windows = m.traffics().any(|(_, n)| windows(n).is_some());
    let accounts = [
        (cpus_known(m).then_some("no CPU was saturated"), "the load of the CPUs"),
        (if tcp { windows.then_some("no window was full") } else { Some("") }, "the windows"),
        (none_lost, "the losses"),
    ];
    let ruled_out = accounts.iter().filter_map(|(fact, _)| fact.filter(|fact| !fact.is_empty()));
    let unknown = accounts.iter().filter(|(fact, _)| fact.is_none()).map(|(_, what)| what);
    let unknown = Some(and_list(unknown)).filter(|all| !all.is_empty());
    let streams = more.map_or_else(
        || "no other result of this run has more streams".to_owned(),
        |(gain, how)| {
            format!("{how} reach {gain:.2} times the rate, too little to name a bottleneck")
        },
    );
    let parts = [
        Some(and_list(ruled_out)).filter(|all| !all.is_empty()),
        unknown.map(|all| format!("not known: {all}")),
        Some(streams),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Returns true if the counts show how busy a CPU was.
fn cpus_known(m: &Measurement) -> bool {
    End::BOTH.into_iter().any(|end| own_share(m, end).or(system_share(m, end)).is_some())
}

/// The sum of a figure over all trials that report it.
fn sum(m: &Measurement, count: impl Fn(&NetworkTraffic) -> Option<u64>) -> f64 {
    m.traffics().filter_map(|(_, n)| count(n)).map(|count| count as f64).sum()
}

/// Names pacing, if the sender kept the requested rate.
fn paced(m: &Measurement) -> Option<Bottleneck> {
    let asked = m.params.get(key::RATE).filter(|r| *r > 0)? as f64;
    let received = m.summary.as_ref()?.value();
    let kept = received.is_finite() && received >= PACED * asked;
    let figures = [received, asked].map(|rate| format_quantity(rate, Unit::BitPerSecond));
    kept.then(|| {
        Bottleneck::new("pacing", format!("{} of the requested {} arrived", figures[0], figures[1]))
    })
}

/// Names a receiver that did not fetch its datagrams in time, if that explains most of the loss.
fn overflown(m: &Measurement) -> Option<Bottleneck> {
    let all = m.datagrams()?;
    let (sent, lost) = (all.sent as f64, all.lost() as f64);
    if lost <= LOST * sent {
        return None;
    }
    let full = |end: End| sum(m, |n| end.counters(n).full_buffers);
    let (end, count) =
        End::BOTH.map(|e| (e, full(e))).into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if count < lost / 2.0 {
        return None;
    }
    let whose = if over_loopback(m) { "receiving end" } else { end.word() };
    let part = format_percent((count / lost).min(1.0));
    let evidence = format!(
        "{} of the datagrams were lost, {part} of them in full socket buffers",
        format_percent(lost / sent)
    );
    Some(Bottleneck::new(format!("receiver ({whose})"), evidence))
}

/// Names the CPU of an end that had no time left.
fn by_cpu(m: &Measurement) -> Option<Bottleneck> {
    if polls(m) {
        return None;
    }
    let busiest = |share: fn(&Measurement, End) -> Option<f64>| {
        let all = End::BOTH.into_iter().filter_map(|end| Some((share(m, end)?, end)));
        all.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(share, _)| *share >= BUSY)
    };
    if let Some((share, end)) = busiest(own_share) {
        let threads = counted(crate::threads::connections(m), "thread");
        let evidence = format!(
            "{threads} of the {} used {} of their CPU time",
            end.word(),
            format_percent(share)
        );
        return Some(Bottleneck::new(format!("CPU ({})", end.word()), evidence));
    }
    let (share, end) = busiest(system_share)?;
    let name = if over_loopback(m) { "CPU".to_owned() } else { format!("CPU ({})", end.word()) };
    let whose = machine_of(m, end);
    let evidence = format!("the CPUs of {whose} were busy {} of the time", format_percent(share));
    Some(Bottleneck::new(name, evidence))
}

/// Ratio of another result's rate to this one, if only that parameter differs.
fn gain<T>(m: &Measurement, other: &Measurement, key: Key<T>) -> Option<f64> {
    statistics::gain(m, other, &[key]).filter(|_| other.undisturbed())
}

/// Highest gain of a result with more streams, with their number in words.
fn on_more_streams(ctx: &Context, m: &Measurement) -> Option<(f64, String)> {
    let more = ctx.others.iter().filter(|o| o.params.threads() > m.params.threads());
    let points = more.filter_map(|o| Some((gain(m, o, key::STREAMS)?, o)));
    let (gain, best) = points.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((gain, counted(best.params.threads(), "stream")))
}

/// Names the bottleneck of round trips and connections by those without wake-ups of both ends.
fn by_waking(ctx: &Context, m: &Measurement) -> Result<Bottleneck, String> {
    let other = if polls(m) { word::BLOCK } else { word::POLL };
    let point = ctx.others.iter().filter(|o| o.params.get(key::MODE) == Some(other));
    let gains = point.filter_map(|o| gain(m, o, key::MODE)).next();
    // Gain of polling over blocking, whichever this result is.
    match (gains.map(|g| if polls(m) { 1.0 / g } else { g }), polls(m)) {
        (Some(g), false) if g > GAINED => {
            let evidence = format!("polling, without wake-ups, reaches {g:.2} times the rate");
            Ok(Bottleneck::new("wake-ups of both ends", evidence))
        }
        (Some(g), true) if g > GAINED => {
            let evidence = format!("polling avoids wake-ups and gains {g:.2} times");
            Ok(Bottleneck::new("system calls and path", evidence))
        }
        (Some(g), _) if g < NOTHING => {
            let evidence = format!("polling, without wake-ups, reaches only {g:.2} times the rate");
            Ok(Bottleneck::new("system calls and path", evidence))
        }
        (Some(g), _) => Err(format!(
            "polling reaches {g:.2} times the rate, too little to name a \
                                     bottleneck"
        )),
        (None, _) => Err("no other result of this run shows the cost of wake-ups".to_owned()),
    }
}

/// The segments that all trials sent again; `None` if no trial reports them.
fn resent(m: &Measurement) -> Option<f64> {
    m.trials.iter().filter_map(|t| retransmitted(m, t)).reduce(|sum, more| sum + more)
}

/// Names packet loss, if segments were lost so that congestion control slowed the sender. A
/// saturated CPU loses segments too, so its load must be known.
fn by_losses(m: &Measurement) -> Option<Bottleneck> {
    if !cpus_known(m) {
        return None;
    }
    let sent = m.trials.iter().filter_map(|t| Some((retransmitted(m, t)?, segments(m, t)?)));
    let share = ratio_of_sums(sent.map(Some)).filter(|share| *share > RESENT)?;
    let evidence = format!("{:.2} % of the TCP segments were retransmitted", share * 100.0);
    Some(Bottleneck::new("packet loss on the path", evidence))
}

/// Names the window, if the windows of all connections give the rate.
fn by_window(m: &Measurement) -> Option<Bottleneck> {
    let rate = m.summary.as_ref()?.value();
    let all: Vec<(f64, f64, f64)> = m.traffics().filter_map(|(_, n)| windows(n)).collect();
    let mid = |get: fn(&(f64, f64, f64)) -> f64| median(&all.iter().map(get).collect::<Vec<_>>());
    let (most, window, trip) = (mid(|w| w.0)?, mid(|w| w.1)?, mid(|w| w.2)?);
    let share = rate / most;
    if !share.is_finite() || !WINDOW.contains(&share) {
        return None;
    }
    let [most, rate] = [most, rate].map(|bits| format_quantity(bits, Unit::BitPerSecond));
    let (kib, trip) = (window / 1024.0, format_quantity(trip, Unit::Second));
    let evidence = format!(
        "{kib:.0} KiB of window / {trip} per round trip = {most}; {rate} arrived, without \
         retransmission"
    );
    Some(Bottleneck::new("window (bandwidth x delay)", evidence))
}

/// Bits per second that a trial's windows allow, bytes of all windows, and the mean round trip.
fn windows(n: &NetworkTraffic) -> Option<(f64, f64, f64)> {
    let known = n.streams.iter().all(|s| s.rtt_s.is_finite() && s.rtt_s > 0.0);
    if n.streams.is_empty() || !known {
        return None;
    }
    let rate = n.streams.iter().map(|s| s.window_bytes as f64 * 8.0 / s.rtt_s).sum();
    let bytes = n.streams.iter().map(|s| s.window_bytes as f64).sum();
    let trips: f64 = n.streams.iter().map(|s| s.rtt_s).sum();
    Some((rate, bytes, trips / n.streams.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    /// On a path of unknown rate, so that no ceiling is near.
    fn expect(m: Measurement, others: &[Measurement], words: &str) {
        let host = with_network(m.params.get(key::PATH).unwrap(), |n| {
            set_interface(n, |i| i.bits_per_s = None);
            n.server_interface = None;
        });
        expect_bottleneck(&host, m, others, words);
    }

    #[test]
    fn pacing_and_a_receiver_with_full_buffers_are_named() {
        let at = |rate: u64| with_param(udp(1, "peer"), "rate", rate);
        expect(at(950_000_000), &[], "^pacing$ ... of the requested 950.0 Mbit/s arrived");
        expect(at(2_000_000_000), &[], "^none$");
        let losing = |full: u64| {
            each_network(udp(1, "peer"), |n| {
                n.datagrams.as_mut().unwrap().sent += 500;
                n.server.full_buffers = Some(full);
            })
        };
        expect(losing(450), &[], "^receiver (server)$ ... 90.0 % of them in full socket buffers");
        expect(losing(100), &[], "^none$"); // Lost elsewhere.
    }

    #[test]
    fn a_saturated_cpu_is_named_with_its_end() {
        let of =
            |m, spoil: fn(&mut NetworkTraffic), words| expect(each_network(m, spoil), &[], words);
        let server = "^CPU (server)$ 1 thread of the server used 96.0 %";
        of(tcp(1, "peer"), |n| n.server.own_cpu_s = Some(0.096), server);
        of(tcp(1, "loopback"), |n| n.client.own_cpu_s = Some(0.096), "^CPU (client)$");
        let both = |n: &mut NetworkTraffic| {
            (n.client.own_cpu_s, n.server.own_cpu_s) = (Some(0.1), Some(0.09));
            n.client.busy_s = Some(0.195);
        };
        let all = "^CPU$ the CPUs of this machine were busy 97.5 % of the time";
        of(tcp(4, "loopback"), both, all);
        let busy = "CPUs of the server were busy 95.0 %";
        of(tcp(4, "peer"), |n| n.server.busy_s = Some(0.38), busy);
    }

    #[test]
    fn a_full_window_is_bandwidth_times_delay() {
        // A connection on which the window is full all the time.
        let full = || each_network(tcp(1, "peer"), |n| n.streams[0].window_bytes /= 2);
        let window = "^window (bandwidth x delay)$ 23 KiB of window / 200.0 us per round trip = 93";
        let faster = [with_values(tcp(4, "peer"), &around(4e9))];
        expect(full(), &[], window);
        expect(tcp(1, "peer"), &[], "^none$"); // Half of it is free.
        let path = "^path between the ends$ 4 streams reach only 1.00 times the rate";
        expect(full(), &[tcp(4, "peer")], path);
        expect(full(), &faster, window);
        expect(tcp(1, "peer"), &faster, "^streams$");
        // Losses are reported before the window that they made small.
        let lossy = each(full(), |i, t| {
            t.network.as_mut().unwrap().streams[0].retransmits = 4 * i as u64;
        });
        let lost = "^packet loss on the path$ 0.05 % of the TCP segments were retransmitted";
        expect(lossy, &[], lost);
    }

    #[test]
    fn wake_ups_limit_round_trips() {
        let (block, poll) = (round_trips("tcp", "block"), [round_trips("tcp", "poll")]);
        let waking =
            "^wake-ups of both ends$ polling, without wake-ups, reaches 2.00 times the rate";
        expect(block.clone(), &poll, waking);
        expect(block.clone(), &[], "^none$ ... no other result");
        let slow = with_values(round_trips("tcp", "poll"), &around(51e3));
        expect(block.clone(), &[slow], "^system calls and path$");
        let [poll] = poll;
        expect(poll, &[block], "^system calls and path$");
    }

    #[test]
    fn alone_and_idle_no_bottleneck_is_named() {
        let ruled_out =
            "^none$ ... no CPU was saturated, no window was full and nothing was lost; no";
        expect(tcp(1, "loopback"), &[], ruled_out);
        let little = with_values(tcp(2, "loopback"), &around(23e9));
        expect(tcp(1, "loopback"), &[little], "^none$ ... 2 streams reach 1.15 times the rate");
        // As a tool reports it.
        let of_tool = |again| {
            each_network(tcp(1, "peer"), |n| {
                n.streams.clear();
                (n.client.cpus, n.server.cpus) = (None, None);
                n.client.retransmits = Some(again);
                n.server.retransmits = None;
            })
        };
        let unknown = "^none$ ... not known: the load of the CPUs and the windows; no other result";
        expect(of_tool(500), &[], unknown);
        expect(of_tool(0), &[], "^none$ ... nothing was lost; not known: the load");
        let disturbed = suspected(tcp(4, "peer"), "trend");
        expect(tcp(1, "peer"), &[disturbed], "^none$");
        // Near a ceiling it is the resource of the ceiling.
        expect_bottleneck(&host_with_network("peer"), tcp(1, "peer"), &[], "^link$");
    }
}
