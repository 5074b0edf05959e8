//! Names the resource that limited a result, with the figures that show it.
//!
//! Taken CPU time comes first, then the inputs of a near ceiling. Other results of the run come
//! last: with more threads, a larger problem, deeper queues. If none of these shows it, no
//! bottleneck is named: a guess is worse than none.

pub(crate) mod disk;
pub(crate) mod network;
mod placement;
mod words;

use std::ops::RangeInclusive;

use proofmark_model::{
    Bottleneck, Finding, Measurement, Pace, Params, Severity, Unit, check_id, format_percent, key,
};

use crate::capacity::Capacity;
use crate::compare::effect;
use crate::execution::Execution;
use crate::memory::{cache_at, from_memory, touched_bytes};
use crate::statistics::{gain, median_over};
use crate::{Context, ceilings, from_windows};

pub use words::WORDS;

/// Share of its ceiling from which the ceiling's resource is the bottleneck.
const NEAR: f64 = 0.9;

/// Ratio of many threads to one below which they gain nothing.
const SHARED: f64 = 1.2;
/// Share of the number of threads from which each thread gains fully.
const OWN: f64 = 0.9;
/// Smallest gain of a larger problem that shows that the size limited this one.
const LARGER: f64 = 1.05;

/// Shares of time lost to interrupts that are reported; a run file is untrusted input.
const REPORTED: RangeInclusive<f64> = 0.001..=1.0;

/// Checks that name what took CPU time, with the name of the resource.
const CONTENTION_CHECKS: &[(&str, &str)] = &[
    (check_id::THROTTLED, "CPU quota"),
    (check_id::OTHER_CPU, "competing processes"),
    (check_id::STEAL, "steal time"),
    (check_id::SWAP, "memory (swapping)"),
];

/// Names the bottleneck once ceiling, efficiency and findings are filled in, or returns the reason
/// why it is unknown.
pub(crate) fn name(ctx: &Context, m: &Measurement) -> Result<Bottleneck, String> {
    if m.trials.is_empty() {
        return Err("no trial was completed".to_owned());
    }
    if let Some(bottleneck) = taken_away(ctx, m) {
        return Ok(bottleneck);
    }
    if m.findings.iter().any(|f| f.severity == Severity::Invalid) {
        return Err("the result is invalid, so it has no bottleneck".to_owned());
    }
    near_the_ceiling(ctx, m).or_else(|reason| by_subsystem(ctx, m, reason))
}

/// Names the bottleneck of a result far from its ceiling; `reason` states why the ceiling names
/// none.
fn by_subsystem(ctx: &Context, m: &Measurement, reason: String) -> Result<Bottleneck, String> {
    match m.subsystem.info() {
        info if info.uses_block_devices => disk::name(ctx, m),
        info if info.has_server => network::name(ctx, m),
        info if info.pace == Pace::Memory => by_scaling(ctx, m).unwrap_or(Err(reason)),
        // No bottleneck without problem sizes.
        _ => by_size(ctx, m).ok_or(reason),
    }
}

/// Names the resource of the ceiling, if the result is near it.
fn near_the_ceiling(ctx: &Context, m: &Measurement) -> Result<Bottleneck, String> {
    let ceiling = m.ceiling.as_ref().ok_or("unknown: no ceiling")?;
    let efficiency = m.efficiency.ok_or("unknown: the ceiling is too vague for a share of it")?;
    let share = format!("{} of the ceiling", format_percent(efficiency));
    if efficiency < NEAR {
        return Err(match translation(ctx, m) {
            Some(why) => format!("{share}; TLB misses may cost the rest: {why}"),
            None => format!("{share}; no check found the bottleneck"),
        });
    }
    let capacity = Capacity::derive(ctx.host, m)?;
    let rule = ceilings::find(&ceiling.id).ok_or_else(|| {
        format!("{share}; the ceiling {} has no rule that names the bottleneck", ceiling.id)
    })?;
    let of_rule = || Some((rule.bottleneck?)(ceiling, &capacity, &share));
    let named = ceilings::quota(ceiling, &capacity, &share).or_else(of_rule);
    let mut bottleneck = named.ok_or_else(|| share.clone())?;
    if let Some(lost) = interrupted(m).filter(|lost| REPORTED.contains(lost)) {
        let lost = format_percent(lost);
        bottleneck.evidence += &format!("; interrupts took {lost} of the threads' time");
    }
    Ok(bottleneck)
}

/// Bytes that 64 base pages of 4 KiB hold: as many as the first level of a TLB translates at least.
const TRANSLATED: u64 = 64 << 12;
/// Share of huge pages below which memory is in base pages.
const HUGE: f64 = 0.5;

/// Returns why loads that depend on each other may wait for a TLB below its first level. A guest does
/// not see the size of its host's pages, and a TLB holds the smaller of both.
fn translation(ctx: &Context, m: &Measurement) -> Option<&'static str> {
    let waits = m.unit == Unit::Second && ctx.work(m).pace == Pace::Memory;
    let large = touched_bytes(ctx, m).is_some_and(|bytes| bytes > TRANSLATED);
    if !waits || !large {
        return None;
    }
    match median_over(&m.trials, |t| t.conditions.huge_pages) {
        Some(huge) if huge < HUGE => Some("its memory is in base pages"),
        _ if ctx.host.is_virtual() == Some(false) => None,
        _ => Some("a guest cannot see whether the host backs its huge pages with huge pages"),
    }
}

/// Share of the threads' time that interrupts took; `None` where nothing observed it.
fn interrupted(m: &Measurement) -> Option<f64> {
    let all = m.trials.iter().filter_map(|t| t.time_account).reduce(|a, b| a + b)?;
    (all.wall_s > 0.0).then(|| all.interrupted_s / all.wall_s)
}

/// Names the bottleneck of a memory rate by the same configuration on one thread, or on the most
/// threads with a core each. An error is the reason why the two name none; `None` if they show
/// nothing.
fn by_scaling(ctx: &Context, m: &Measurement) -> Option<Result<Bottleneck, String>> {
    if m.unit != Unit::BytePerSecond {
        return None;
    }
    let cores = Capacity::derive(ctx.host, m).ok().filter(|c| c.quota.is_none())?.physical;
    let threads = m.params.get(key::THREADS).filter(|t| *t <= cores)?;
    let (one, many) =
        if threads == 1 { (m, ctx.on_most_threads(m, cores)?) } else { (ctx.on_one_thread(m)?, m) };
    let threads = many.params.threads() as f64;
    let ratio = gain(one, many, &Params::THREADS)?;
    if threads < 2.0 || !one.undisturbed() || !many.undisturbed() {
        return None;
    }
    let evidence = format!("{threads} threads reach {ratio:.2} times the rate of 1");
    if ratio > OWN * threads {
        return Some(Ok(Bottleneck::new("core", evidence)));
    }
    let resource = if ratio < SHARED { shared(ctx, m)? } else { return None };
    Some(match ctx.host.is_virtual() == Some(false) {
        true => Ok(Bottleneck::new(resource, evidence)),
        false => placement::of_shared(ctx, one, many)
            .map(|place| Bottleneck::new(resource, format!("{evidence}, on vCPUs {place}")))
            .map_err(|why| format!("{evidence}; {why}")),
    })
}

/// Names the problem size as the bottleneck, if a larger problem has a higher rate. In a small one,
/// work that counts no operation, or that the threads cannot share, weighs more.
fn by_size(ctx: &Context, m: &Measurement) -> Option<Bottleneck> {
    let size = m.params.get(key::MATRIX_SIZE)?;
    let larger = |o: &Measurement| o.params.get(key::MATRIX_SIZE).filter(|n| *n > size);
    let sound = ctx.others.iter().filter(|o| o.undisturbed());
    let each = sound.filter_map(|o| Some((gain(m, o, &[key::MATRIX_SIZE])?, larger(o)?)));
    let (gain, n) = each.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let is_faster = gain >= LARGER && m.undisturbed();
    let evidence = format!(
        "{} = {n} instead of {size} reaches {gain:.2} times this rate",
        key::MATRIX_SIZE.name()
    );
    is_faster.then(|| Bottleneck::new("problem size", evidence))
}

/// The resource that all threads share, if the data reaches it.
fn shared(ctx: &Context, m: &Measurement) -> Option<&'static str> {
    if from_memory(ctx, m).is_ok() {
        // The threads show no part of it alone: the channels, or a link of their cores.
        return Some("path to memory");
    }
    let data = ctx.work(m).data.as_ref().filter(|data| data.any_level)?;
    let set = m.params.number(&data.parameter)?;
    cache_at(ctx.host, 2).is_some_and(|l2| set > l2.size_bytes).then_some("shared cache")
}

/// The first finding that names what took CPU time.
fn taken_away(ctx: &Context, m: &Measurement) -> Option<Bottleneck> {
    let lost = |check: &str| check == check_id::SWAP || !is_at_disk_ceiling(ctx, m);
    CONTENTION_CHECKS.iter().filter(|(check, _)| lost(check)).find_map(|(check, resource)| {
        let is_here = |f: &&Finding| {
            f.check == *check && (f.severity >= Severity::Suspect || is_set_by_quota(f, m))
        };
        let finding = m.findings.iter().find(is_here).filter(|f| explains_the_gap(f, m))?;
        Some(Bottleneck::new(*resource, finding.message.as_str()))
    })
}

/// Returns true if a quota stopped the threads for a part of the figure that matters. Under a known
/// quota that is no fault of the figure, so the finding is a note.
fn is_set_by_quota(f: &Finding, m: &Measurement) -> bool {
    let matters = effect::share(f).is_some_and(|share| share > m.subsystem.info().tolerance);
    f.check == check_id::THROTTLED && matters && !from_windows(m)
}

/// Returns false if what the finding cost is known, and less than half of what the result lacks of
/// its ceiling.
fn explains_the_gap(f: &Finding, m: &Measurement) -> bool {
    let Some(gap) = m.efficiency.filter(|e| *e > 0.0).map(|e| -e.ln()) else { return true };
    effect::lost(f, m).is_none_or(|cost| !cost.is_bounded || cost.log >= 0.5 * gap)
}

/// Returns true if the threads waited for a disk that reached its ceiling within the uncertainty.
fn is_at_disk_ceiling(ctx: &Context, m: &Measurement) -> bool {
    let (Some(ceiling), Some(efficiency)) = (&m.ceiling, m.efficiency) else { return false };
    let waits = m.subsystem.info().uses_block_devices && Execution::derive(ctx, m).waits();
    waits && efficiency >= (1.0 - ceiling.uncertainty).max(NEAR)
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Subsystem, TimeAccount};

    use super::*;
    use crate::testing::*;

    #[test]
    fn time_lost_to_interrupts_is_reported() {
        let with = |interrupted_s: f64, waiting_s: f64| {
            let m = each(flops(1), |_, t| {
                let account =
                    TimeAccount { wall_s: 1.0, interrupted_s, waiting_s, ..Default::default() };
                t.time_account = Some(account);
            });
            judged(&host(), m, &[]).bottleneck.unwrap().evidence
        };
        // Other processes are no interrupts.
        let evidence = with(0.009, 0.3);
        assert!(evidence.contains("interrupts took 0.9 % of the threads' time"), "{evidence}");
        for none in [0.0, 1.1, f64::MAX] {
            assert!(!with(none, 0.0).contains("interrupts"), "{}", with(none, 0.0));
        }
    }

    #[test]
    fn the_size_limits_a_small_system_if_a_larger_one_shows_it() {
        let expect =
            |m, others: &[Measurement], words| expect_bottleneck(&host(), m, others, words);
        let small = |share: f64| at_rate(linpack(1000, 2), share * 128e9);
        let large = [linpack(2000, 2), at_rate(linpack(10_000, 2), 0.92 * 128e9)];
        let size = "^problem size$ n = 10000 instead of 1000 reaches 1.84 times this rate";
        expect(small(0.5), &large, size);
        // At most 1.05 times, other threads and a smaller system show nothing.
        expect(small(0.89), &large, "^none$");
        expect(small(0.3), &[linpack(10_000, 1)], "^none$");
        expect(at_rate(linpack(10_000, 2), 0.5 * 128e9), &[small(0.8)], "^none$");
        expect(small(0.95), &large, "^execution ports$");
    }

    #[test]
    fn near_a_ceiling_it_is_the_resource_of_the_ceiling() {
        let near = |m, limit: f64| with_values(m, &around(0.99 * limit));
        let division = || mix(true, "arith17", "scalar");
        for (m, words) in [
            (
                near(flops(1), 64e9),
                "^execution ports$ 99.0 % of the ceiling at 4.000 GHz on 1 core",
            ),
            (
                near(flops(8), 128e9),
                "^physical cores$ 99.0 % of the ceiling at 4.000 GHz: 8 threads share the execution \
                 ports of 2 cores",
            ),
            (
                near(division(), 8.5e9),
                "^divider unit$ 99.0 % of the ceiling at 4.000 GHz: 8 cycles of division per iteration",
            ),
            (with_values(flops(1), &around(0.85 * 64e9)), "^none$ ... 85.0 %"),
            (with_values(flops(1), &around(1.5 * 64e9)), "^none$ ... invalid"),
        ] {
            expect_bottleneck(&host(), m, &[], words);
        }
        let quota = "^CPU quota$ 99.0 % of the ceiling of 0.5 CPUs at 4.000 GHz";
        // Ten periods bound the rest of one before them.
        let long = each(near(flops(1), 32e9), |_, t| (t.seconds, t.work) = (1.0, t.value));
        expect_bottleneck(&with_quota(host(), 0.5), long, &[], quota);
        for whole in [host(), with_quota(host(), 0.5)] {
            expect_bottleneck(&bare(whole), clock(4.1e9), &[], "^clock$ ... reported boost");
        }
        let slow = latency(32 << 10, 5e-9);
        expect_bottleneck(&host_with_caches(), slow, &[], "^none$ ... 25.0 % ... no check found");
        // 128 base pages are more than the first level of the TLB holds.
        let translated = || latency(512 << 10, 6e-9);
        let hidden = "^none$ ... of the ceiling ... whether the host backs its huge pages";
        expect_bottleneck(&host_with_caches(), translated(), &[], hidden);
        let own = bare(host_with_caches());
        expect_bottleneck(&own, translated(), &[], "^none$ ... no check found the bottleneck");
        let base = || each_condition(translated(), |_, c| c.huge_pages = Some(0.0));
        let misses = "^none$ ... TLB misses may cost the rest: its memory is in base pages";
        for host in [&own, &host_with_caches()] {
            expect_bottleneck(host, base(), &[], misses);
        }
    }

    #[test]
    fn taken_cpu_time_comes_first() {
        let busy = each_condition(flops(1), |_, c| c.other_cpu_s = Some(0.05));
        expect_bottleneck(&host(), busy, &[], "^competing processes$");
        // 5 % of the time is not why a solve reaches half of its ceiling.
        let at = |share: f64| {
            let m = at_rate(linpack(10_000, 2), share * 128e9);
            each(m, |_, t| t.conditions.other_cpu_s = Some(0.06 * t.seconds))
        };
        expect_bottleneck(&host(), at(0.9), &[], "^competing processes$");
        expect_bottleneck(&host(), at(0.5), &[], "^none$");
        let stolen = each_condition(flops(1), |_, c| c.steal_s = Some(0.05));
        expect_bottleneck(&host(), stolen, &[], "^steal time$");
        let half = with_values(flops(1), &around(0.49 * 64e9));
        let held = each_condition(half, |_, c| c.throttled_s = Some(0.05));
        expect_bottleneck(&with_quota(host(), 0.5), held, &[], "^CPU quota$");
    }

    /// Asserts the bottleneck of a configuration on one thread and on two, the second at `ratio`
    /// times the rate.
    fn expect_scaled(point: impl Fn(u64) -> Measurement, ratio: f64, words: [&str; 2]) {
        let one = with_values(point(1), &around(1e10));
        let two = with_values(point(2), &around(ratio * 1e10));
        let others = [one.clone(), two.clone()];
        for (m, words) in [one, two].into_iter().zip(words) {
            expect_bottleneck(&bare(host_with_caches()), m, &others, words);
        }
    }

    #[test]
    fn the_gain_of_threads_shows_the_shared_resource() {
        // It shows that each core has its own limit, and not which.
        let core = "^core$ 2 threads reach 1.98 times the rate of 1";
        expect_scaled(|threads| stream("read", threads), 1.98, [core; 2]);
        let bytes = |threads| with_param(blocks("read_write", 1), "threads", threads);
        expect_scaled(bytes, 2.0, ["^core$"; 2]);
        let swept = |set: u64, words| {
            expect_scaled(|threads| sweep("read", threads, set), 1.1, ["", words]);
        };
        swept(1 << 30, "^path to memory$");
        swept(16 << 20, "^shared cache$");
        swept(1 << 20, "^none$"); // A cache of each core's own is not shared.
    }

    #[test]
    fn intermediate_gains_and_disturbed_results_name_no_bottleneck() {
        expect_scaled(|threads| stream("read", threads), 1.5, ["^none$"; 2]);
        let one = suspected(stream("read", 1), "clusters");
        let two = with_values(stream("read", 2), &around(2e10));
        expect_bottleneck(&host_with_caches(), two, &[one], "^none$");
        // Only memory results are explained by threads.
        let of_a_network =
            |threads| Measurement { subsystem: Subsystem::Network, ..stream("read", threads) };
        expect_scaled(of_a_network, 2.0, ["^none$"; 2]);
    }
}
