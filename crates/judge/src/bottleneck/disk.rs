//! Bottleneck of a disk result that is far from its ceiling.
//!
//! Little's law (Operations Research 9, 1961): I/Os in flight = I/Os per second x the time of each.
//! A device with one I/O at a time shows its latency; a deeper queue shows whether it could do
//! more.

use proofmark_model::{
    Bottleneck, Measurement, Unit, format_count, format_percent, format_quantity, key,
};

use crate::Context;
use crate::disk::{in_flight_at_most, ios, queue_depth, waits};
use crate::execution::cpu_share;
use crate::statistics::{self, GAINED, NOTHING, ratio_of_sums};
use crate::words::counted;

/// Share of their CPU time from which the threads had none left to wait.
const BUSY_CPU: f64 = 0.9;
/// Share of the most I/Os in flight from which they wait at the device; the rest is the path to it.
const WAITING: f64 = 0.8;

/// Share of the I/Os whose latency is that of all: the clock readings of a sample lengthen short ones.
const TIMED: f64 = 0.99;

/// Names the bottleneck of a result that is not at its ceiling. Fails with the reason why it is
/// unknown.
pub(crate) fn name(ctx: &Context, m: &Measurement) -> Result<Bottleneck, String> {
    let cpu = cpu_share(ctx.host, m);
    if let Some(bottleneck) = cpu.filter(|share| *share >= BUSY_CPU).map(|share| by_cpu(m, share)) {
        return Ok(bottleneck);
    }
    if !waits(m) {
        return match cpu {
            None => {
                Ok(Bottleneck::new("CPU", "the page cache serves the file, and the CPU copies it"))
            }
            Some(share) => Err(format!(
                "the page cache serves the file; copying it used only {} of the CPU time",
                format_percent(share)
            )),
        };
    }
    let law = little(m);
    let with_law = |what: String| if law.is_empty() { what } else { format!("{law}; {what}") };
    if let Some((gain, other)) = best(ctx, m, true) {
        let how = differs(m, other);
        if gain > GAINED {
            let deep = queue_depth(other) > queue_depth(m);
            let resource = if deep { "queue depth" } else { "threads" };
            let what = format!("{how} reached {gain:.2} times the rate");
            return Ok(Bottleneck::new(resource, with_law(what)));
        }
        if gain < NOTHING {
            let what = format!("{how} reached only {gain:.2} times the rate");
            return Ok(Bottleneck::new("device", with_law(what)));
        }
    }
    let shallower = best(ctx, m, false).map(|(ratio, other)| (1.0 / ratio, other));
    // A much higher rate with fewer in flight shows that the device can do more.
    let as_fast = |(gain, _): &(f64, _)| (NOTHING.recip()..NOTHING).contains(gain);
    if let Some((gain, other)) = shallower.filter(as_fast) {
        let what = format!("this is only {gain:.2} times the rate of {}", differs(m, other));
        return Ok(Bottleneck::new("device", with_law(what)));
    }
    let most = in_flight_at_most(m);
    match at_device(m) {
        Some(n) if n >= WAITING * most => {
            let what = format!("the device held on average {n:.2} of {most:.0} I/Os in flight");
            Ok(Bottleneck::new("device", with_law(what)))
        }
        Some(n) => Err(with_law(format!(
            "the device held on average {n:.2} of {most:.0} I/Os in flight; no other result of \
             this run has a deeper queue"
        ))),
        None => Err(with_law("no device reports how many I/Os it had in flight".to_owned())),
    }
}

fn by_cpu(m: &Measurement, share: f64) -> Bottleneck {
    let threads = counted(m.params.threads().max(1), "thread");
    let figure = format!("{threads} used {} of their CPU time", format_percent(share));
    let why = if !waits(m) { "; copying the page cache is CPU work" } else { "" };
    Bottleneck::new("CPU", figure + why)
}

/// Little's law in figures; empty where not the latency of each I/O was recorded.
fn little(m: &Measurement) -> String {
    // The mean over all trials, like the latency.
    let (work, seconds) = m.trials.iter().fold((0.0, 0.0), |(w, s), t| (w + t.work, s + t.seconds));
    let rate = ios(m, work / seconds).filter(|r| r.is_finite() && *r > 0.0);
    let each = m.latency.as_ref().map(|l| l.mean).filter(|s| s.is_finite() && *s > 0.0);
    let timed = m.latency.as_ref().map_or(0.0, |l| l.count as f64);
    let all = ios(m, work).filter(|all| timed >= TIMED * all);
    let Some(((rate, each), _)) = rate.zip(each).zip(all) else { return String::new() };
    format!(
        "{} IOPS x {} each = {:.2} in flight of {:.0}",
        format_count(rate.round() as u64),
        format_quantity(each, Unit::Second),
        rate * each,
        in_flight_at_most(m)
    )
}

/// Ratio of another result's rate to this one, if only the number of I/Os in flight differs.
fn gain(m: &Measurement, other: &Measurement) -> Option<f64> {
    let gain = statistics::gain(
        m,
        other,
        &[key::THREADS.name(), key::QUEUE_DEPTH.name(), key::ENGINE.name()],
    );
    gain.filter(|_| other.undisturbed() && m.undisturbed())
}

fn differs(m: &Measurement, other: &Measurement) -> String {
    let (depth, threads) = (queue_depth(other), other.params.threads());
    match (depth == queue_depth(m), threads == m.params.threads()) {
        (false, true) => format!("depth {depth}"),
        (false, false) => format!("depth {depth} on {}", counted(threads, "thread")),
        _ => counted(threads, "thread"),
    }
}

/// The result with more, or fewer, I/Os in flight that has the highest gain, with that gain.
fn best<'a>(ctx: &Context<'a>, m: &Measurement, more: bool) -> Option<(f64, &'a Measurement)> {
    let beyond = |o: &&Measurement| {
        let (low, high) = if more { (m, *o) } else { (*o, m) };
        queue_depth(low) <= queue_depth(high)
            && low.params.threads() <= high.params.threads()
            && in_flight_at_most(low) < in_flight_at_most(high)
    };
    let points = ctx.others.iter().filter(beyond).filter_map(|o| Some((gain(m, o)?, o)));
    points.max_by(|a, b| a.0.total_cmp(&b.0))
}

/// Mean number of the workload's I/Os that the device had in flight, if all trials report it.
///
/// The device counts requests. If it had more of them than I/Os, it split each, and its figure
/// counts parts.
fn at_device(m: &Measurement) -> Option<f64> {
    let devices = || m.trials.iter().map(|t| Some((t, t.device.as_ref()?)));
    let held = ratio_of_sums(devices().map(|both| both.map(|(t, d)| (d.in_flight_s, t.seconds))));
    let requests = ratio_of_sums(devices().map(|both| {
        let (t, device) = both?;
        Some((device.reads as f64 + device.writes as f64, ios(m, t.work).unwrap_or(f64::NAN)))
    }));
    let parts = requests.map_or(1.0, |each| each.max(1.0));
    Some((held? / parts).min(in_flight_at_most(m)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    fn expect(m: Measurement, others: &[Measurement], words: &str) {
        expect_bottleneck(&host_with_disk(), m, others, words);
    }

    #[test]
    fn other_depths_and_threads_show_whether_the_device_had_more() {
        let others = [rand_read(1), rand_read(4), rand_read(32), rand_read(64)];
        let law = "^queue depth$ 13\u{202f}158 IOPS x 76.00 us each = 1.00 in flight of 1; depth 32 \
                   reached 7.60 times the rate";
        expect(rand_read(1), &others[..3], law);
        expect(rand_read(4), &others[..3], "^queue depth$");
        expect(rand_read(32), &others, "^device$ ... depth 64 reached only 1.00 times the rate");
        expect(rand_read(64), &others, "^device$ ... this is only 1.00 times the rate of depth 32");
        let threads = "^threads$ 4\u{202f}000 IOPS x ... 4 threads reached 4.00 times the rate";
        expect(fsync(1), &[fsync(1), fsync(4)], threads);
    }

    #[test]
    fn alone_the_device_is_named_by_its_ios_in_flight() {
        let held = |depth: u64, in_flight: f64, parts: u64| {
            each(rand_read(depth), |_, t| {
                let device = t.device.as_mut().unwrap();
                device.in_flight_s = in_flight * t.seconds;
                device.reads *= parts;
            })
        };
        expect(rand_read(1), &[], "^device$ ... held on average 0.95 of 1 I/Os in flight");
        expect(held(1, 0.5, 1), &[], "^none$ ... 0.50 of 1");
        let silent = each(rand_read(1), |_, t| t.device = None);
        expect(silent, &[], "^none$ ... no device reports");
        // Parts of split I/Os are not counted as I/Os.
        expect(held(16, 108.41, 8), &[], "held on average 13.55 of 16");
        expect(held(16, 64.0, 8), &[], "held on average 8.00 of 16");
        expect(held(16, 40.0, 1), &[], "held on average 16.00 of 16");
    }

    #[test]
    fn a_cpu_that_has_no_time_left_comes_first() {
        let busy = each(rand_read(1), |_, t| t.conditions.own_cpu_s = Some(0.95 * t.seconds));
        expect(busy, &[rand_read(1), rand_read(32)], "^CPU$ ... 1 thread used 95.0 %");
        // Warm reads are the CPU's work.
        let warm = || disk("seq_read", 4096, "warm");
        expect(warm(), &[], "^CPU$ ... page cache");
        expect(each(warm(), |_, t| t.conditions.own_cpu_s = None), &[], "^CPU$");
        let idle = each(warm(), |_, t| t.conditions.own_cpu_s = Some(0.3 * t.seconds));
        expect(idle, &[], "^none$ ... 30.0 %");
    }

    #[test]
    fn a_device_that_did_more_with_less_in_flight_is_no_bottleneck() {
        let slow = at_rate(rand_read(4), 0.1 * rand_read(1).summary.unwrap().value());
        let slow = each_device(slow, |_, d| d.in_flight_s = 0.0);
        expect(slow, &[rand_read(1)], "^none$");
        // The time of a sample of the I/Os is not that of all.
        let mut sampled = each_device(rand_read(1), |_, d| d.in_flight_s = 0.0);
        sampled.latency.as_mut().unwrap().count /= 61;
        expect(sampled, &[rand_read(32)], "^queue depth$ depth 32 reached 7.60 times the rate");
    }

    #[test]
    fn results_that_differ_in_more_or_are_disturbed_show_nothing() {
        let idle = || each_device(rand_read(1), |_, d| d.in_flight_s = 0.0);
        expect(idle(), &[with_param(rand_read(32), "direct", "off")], "^none$");
        let disturbed = suspected(rand_read(32), "trend");
        expect(idle(), &[disturbed], "^none$");
        expect(idle(), &[rand_read(32)], "^queue depth$");
    }
}
