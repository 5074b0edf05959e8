//! `random_faster`: random order was faster than sequential order.
//!
//! Published reports show random accesses up to 72 times faster than sequential ones without
//! comment. The sequential pass met first-touch page faults, or left the data in a cache for the
//! random one.

use proofmark_model::{
    CpuPlacement, Finding, Measurement, Pace, Severity, Summary, Verdict, check_id, key,
    placement_words,
};

use super::{Check, Class, Examine, found_before, percent};
use crate::memory::array_bytes;
use crate::statistics::median_over;
use crate::words::counted;
use crate::{Context, from_windows};

/// Largest block in bytes: in larger ones the first line, the only one at a random place, is one of
/// many.
const LARGEST_BLOCK: u64 = 1 << 20;
/// Gain that a disk may have from random order: scattered blocks may be on more chips or servers.
const SCATTERED: f64 = 1.25;
/// Page faults per trial that explain a slow sequential pass.
const FAULTS: f64 = 16.0;
/// Part of the rounds at like vCPU placements below which these explain a difference.
const ALIKE: f64 = 0.75;
/// Share of the ratio of the figures from which that of the median trials is much the same.
const ALIKE_RATIO: f64 = 0.98;
/// Difference between the shares of huge pages that explains a difference in rates.
const HUGE: f64 = 0.1;

/// The gain that random order may have in a subsystem, with cause and advice for more.
struct Rule {
    /// Largest ratio without a finding.
    least: f64,
    /// Returns the recorded cause in the random and the sequential result.
    why: fn(&Context, &Measurement, &Measurement) -> Option<String>,
    advice: &'static str,
}

const MEMORY: Rule = Rule {
    least: 1.0,
    why: in_memory,
    advice: "alternate the two, with more data and memory touched in advance; do not quote this \
             ratio as a property of the machine",
};
const DISK: Rule = Rule {
    least: SCATTERED,
    why: |_, _, sequential| disturbed(sequential),
    advice: "alternate the two, and check whether the volume's credits or cache changed between them",
};

/// What a result usually does: its headline, or where that holds each trial that stalled, the median
/// trial.
fn usual(m: &Measurement) -> Option<f64> {
    let s = m.summary.as_ref()?;
    Some(if from_windows(m) { s.value() } else { s.trials.median })
}

/// Which few trials moved the figures apart: the order whose figure is farther from its median trial.
fn few_trials(random: &Measurement, sequential: &Measurement) -> Option<String> {
    let moved = |m: &Measurement| Some(m.summary.as_ref()?.value() / usual(m)?);
    if moved(random)? * moved(sequential)? > 1.0 {
        return Some("in random order a few trials were fast".to_owned());
    }
    let stalled = found_before(sequential, check_id::STALLS, Severity::Note);
    let what = if stalled { "trials stalled (stalls)" } else { "a few trials were slow" };
    Some(format!("in sequential order {what}"))
}

/// The interval of the median, or the range if there is no interval.
fn interval(s: &Summary) -> [f64; 2] {
    s.ci95().unwrap_or([s.trials.min, s.trials.max])
}

/// Names the finding that makes the sequential result suspect or invalid.
fn disturbed(sequential: &Measurement) -> Option<String> {
    // `imported` marks output without proof, which is no disturbance.
    let disturbs = |f: &&Finding| f.severity >= Severity::Suspect && f.check != check_id::IMPORTED;
    let found = sequential.findings.iter().find(disturbs)?;
    let is = Verdict::from_findings(std::slice::from_ref(found));
    Some(format!("the sequential result itself is {is} ({})", found.check))
}

/// The recorded cause that would make the random order of memory the faster one.
fn in_memory(ctx: &Context, random: &Measurement, sequential: &Measurement) -> Option<String> {
    let usual = |m: &Measurement, value: &dyn Fn(&proofmark_model::Conditions) -> Option<f64>| {
        median_over(&m.trials, |t| value(&t.conditions))
    };
    let faults = |m: &Measurement| {
        let minor = usual(m, &|c| c.minor_faults.map(|n| n as f64)).unwrap_or(0.0);
        minor + usual(m, &|c| c.major_faults.map(|n| n as f64)).unwrap_or(0.0)
    };
    if faults(sequential) > FAULTS + faults(random) {
        let each = counted(faults(sequential), "page fault");
        return Some(format!("the sequential trials had {each} each"));
    }
    let huge = |m: &Measurement| usual(m, &|c| c.huge_pages);
    if let (Some(r), Some(s)) = (huge(random), huge(sequential))
        && r > s + HUGE
    {
        return Some(format!(
            "huge pages back {} of the random workload's memory and {} of the sequential \
             one's",
            percent(r),
            percent(s)
        ));
    }
    let cache = ctx.host.usable_cache()?;
    if array_bytes(ctx, random)? < cache.saturating_mul(4) {
        return Some("the data is less than 4 times the last-level cache".to_owned());
    }
    placed_apart(random, sequential).or_else(|| disturbed(sequential))
}

/// The vCPU placements of the two, if most of their rounds were at different ones.
fn placed_apart(random: &Measurement, sequential: &Measurement) -> Option<String> {
    let [r, s] = [&random.cpu_placements, &sequential.cpu_placements];
    let share_in_s =
        |p: &CpuPlacement| s.iter().filter(|o| o.is_like(p)).map(|o| o.share).sum::<f64>();
    let alike: f64 = r.iter().map(|p| p.share.min(share_in_s(p))).sum();
    (!r.is_empty() && !s.is_empty() && alike < ALIKE).then(|| {
        let [r, s] = [r, s].map(|all| placement_words(all));
        format!("the vCPU placements differ: {r} in random order, {s} in sequential order")
    })
}

pub(super) static CHECK: Check = Check {
    id: check_id::RANDOM_FASTER,
    class: Class::claim("one of the two results is wrong, and it is unknown which"),
    title: "Random order faster than sequential",
    about: "Compares a workload of random order with the same operation in sequential order, with \
         the same parameters and blocks up to 1 MiB. Prefetchers, open DRAM rows and lines shared \
         by neighbouring blocks all favour sequential order. So a random result that is faster \
         beyond both intervals is suspect; within them, but by more than the target, it is a note. \
         The finding names the recorded cause: page faults in the sequential trials, fewer huge \
         pages there, data that a cache may have held, other vCPU placements, or a suspect or invalid sequential result. For disks \
         from 1.25 times on, since scattered blocks may lie on more chips or servers than \
         neighbouring ones. Where the median trials of both do not differ so far, a few trials decided \
         it: then it is a note that names them.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let partner = ctx.spec(m)?.role.in_order()?;
    let rule = if ctx.work(m).pace == Pace::Device { DISK } else { MEMORY };
    if m.params.get(key::BLOCK_SIZE)? > LARGEST_BLOCK {
        return None;
    }
    let sequential = ctx.others.iter().find(|o| o.workload == partner && o.params == m.params)?;
    let (random, other) = (m.summary.as_ref()?, sequential.summary.as_ref()?);
    let ratio = random.value() / other.value();
    if !ratio.is_finite() || ratio <= rule.least {
        return None;
    }
    let of_usual = usual(m)? / usual(sequential)?;
    let by_few_trials = of_usual <= rule.least;
    let beyond = interval(random)[0] > interval(other)[1];
    let severity = match beyond {
        _ if by_few_trials => Severity::Note,
        true => Severity::Suspect,
        false if ratio > 1.0 + ctx.policy.target_for(m.subsystem) => Severity::Note,
        false => return None,
    };
    let (explained, advice) = match by_few_trials {
        true => (
            few_trials(m, sequential),
            "look for what happened to the device then, and repeat both",
        ),
        false => ((rule.why)(ctx, m, sequential), rule.advice),
    };
    let reason = explained.clone().unwrap_or_else(|| "no recorded fact explains it".to_owned());
    let within = if beyond { "" } else { ", within the intervals" };
    let in_median = match of_usual < ALIKE_RATIO * ratio {
        true => format!(", {of_usual:.2} times in the median trials"),
        false => String::new(),
    };
    let message = format!(
        "random order is {ratio:.2} times as fast as {partner}{in_median}{within}: {reason}"
    );
    let finding = CHECK.finding(severity, message, advice);
    Some(finding.with("ratio", ratio).with("explained", explained.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const BLOCK: u64 = 8192;

    fn sequential() -> Measurement {
        blocks("seq_read", BLOCK)
    }

    /// Random reads of memory at `factor` times the sequential rate.
    fn random(factor: f64) -> Measurement {
        let m = with_values(blocks("rand_read", BLOCK), &around(factor * 1e10));
        each_condition(m, |_, c| c.huge_pages = Some(1.0))
    }

    #[test]
    fn every_pair_is_compared() {
        let point = |id: &str| match id.split_once('.').unwrap() {
            ("disk", name) => disk(name, 4096, "none"),
            (_, name) => blocks(name, 8),
        };
        let specs = proofmark_workloads::ALL.iter().map(|w| w.spec());
        let pairs: Vec<(&str, &str)> =
            specs.filter_map(|s| Some((&*s.id, s.role.in_order()?))).collect();
        assert_eq!(pairs.len(), 5, "{pairs:?}");
        for (random, partner) in pairs {
            let m = with_values(point(random), &around(2e10));
            CHECK.on(&host_with_caches(), &[point(partner)]).expect([(random, m, SUSPECT)]);
        }
    }

    #[test]
    fn a_disk_may_be_somewhat_faster_in_random_order() {
        let seq = disk("seq_read", 4096, "none");
        let rate = seq.summary.as_ref().unwrap().value();
        let at_factor = |factor: f64, cache| {
            with_values(disk("rand_read", 4096, cache), &around(factor * rate))
        };
        CHECK.on(&host_with_caches(), &[seq]).expect([
            ("somewhat", at_factor(1.2, "none"), SILENT),
            ("more", at_factor(1.5, "none"), suspect("1.50 times ... volume")),
            ("direct and buffered are not compared", at_factor(1.5, "cold"), SILENT),
        ]);
        // Nine of ten trials are alike; the figures hold the time that one of them lost.
        let stalled = |m: Measurement| {
            let mut m = each(m, |i, t| {
                if i == 4 {
                    (t.seconds, t.value) = (10.0 * t.seconds, t.value / 10.0);
                }
            });
            m.summary.as_mut().unwrap().delivered.value = Some(rate / 1.9);
            m
        };
        let mut noted = stalled(disk("seq_read", 4096, "none"));
        noted.findings.push(Finding::new("stalls", Severity::Note, "", ""));
        let by_stall =
            "1.90 times ... 1.00 times in the median trials ... in sequential order trials stalled";
        CHECK.on(&host_with_caches(), &[noted]).expect([
            ("a stall", at_factor(1.0, "none"), note(by_stall)),
            (
                "more than the stall",
                at_factor(1.5, "none"),
                suspect("2.85 times ... 1.50 times in the median"),
            ),
        ]);
        let mut cached = disk("seq_read", 4096, "none");
        cached.findings.push(Finding::new("page_cache", Severity::Invalid, "", ""));
        let named = suspect("the sequential result itself is invalid (page_cache)");
        CHECK.on(&host_with_caches(), &[cached]).expect([("of it", at_factor(1.5, "none"), named)]);
    }

    #[test]
    fn memory_that_is_faster_in_random_order_is_suspect_and_the_cause_named() {
        let disturbed = suspected(sequential(), "steal");
        let small = |m| with_param(m, "data_size", 64 << 20);
        let large = with_values(blocks("rand_read", 8 << 20), &around(2e10));
        let placed = |m: Measurement, name: &str, ns: f64| {
            let round_trip_s = Some(1e-9 * ns);
            let place = CpuPlacement { round_trip_s, share: 1.0, ..CpuPlacement::default() };
            let cpu_placements = vec![CpuPlacement { name: name.to_owned(), ..place }];
            Measurement { cpu_placements, ..m }
        };
        let [near, far] = [placed(sequential(), "near", 70.0), placed(random(1.5), "far", 310.0)];
        let alike = placed(random(1.5), "near", 72.0);
        for (name, m, other, expected) in [
            ("none", random(1.1), sequential(), suspect("1.10 times ... no recorded fact")),
            (
                "page faults",
                random(72.0),
                each_condition(sequential(), |_, c| c.minor_faults = Some(1000)),
                suspect("1\u{202f}000 page faults"),
            ),
            (
                "base pages",
                random(1.5),
                each_condition(sequential(), |_, c| c.huge_pages = Some(0.0)),
                suspect("100.0 %"),
            ),
            ("placed apart", far, near.clone(), suspect("the vCPU placements differ: far")),
            ("placed alike", alike, near, suspect("no recorded fact")),
            ("disturbed", random(1.5), disturbed, suspect("(steal)")),
            ("cached", small(random(2.0)), small(sequential()), suspect("last-level cache")),
            ("slower", random(0.9), sequential(), SILENT),
            ("within the intervals", random(1.0005), sequential(), SILENT),
            ("other threads", random(1.5), with_param(sequential(), "threads", 2), SILENT),
            ("large blocks", large, blocks("seq_read", 8 << 20), SILENT),
        ] {
            CHECK.on(&host_with_caches(), &[other]).expect([(name, m, expected)]);
        }
    }
}
