//! `burst_credits`: fast until what was saved up was spent.
//!
//! The shape: a first level, then a lower one that stays to the end, both steady. CPUs of
//! burstable instances get it by steal; volumes and networks by I/Os or packets that wait, with
//! nobody else on the device.

use proofmark_model::{
    Better, Finding, Measurement, Series, Subsystem, format_quantity, format_seconds,
};

use super::{Check, Class, percent};
use crate::Context;
use crate::execution::Execution;
use crate::series::{shares, trials_of};

/// A fall below this is no allowance that ran out.
const LEAST_FALL: f64 = 0.1;
/// Levels after the fall lie this near to each other, as a share of the first.
const SAME: f64 = 0.05;
/// Trials of the level that stays.
const LEAST_TRIALS: u64 = 10;
/// Share of the CPU time that is stolen more after the fall, as a part of the fall.
const OF_FALL: f64 = 0.5;

/// The level after which the value stayed low, if it was higher before and then steady.
fn falls(m: &Measurement, series: &Series) -> Option<(f64, f64, f64)> {
    let rate = |v: f64| if m.better == Better::Lower { 1.0 / v } else { v };
    let rates: Vec<f64> = series.levels.iter().map(|l| rate(l.median)).collect();
    let (first, rest) = rates.split_first()?;
    let last = rest.last()?;
    let fell = 1.0 - last / first;
    let steady = rest.iter().all(|r| (r - last).abs() <= SAME * first);
    let stays: u64 = series.levels.iter().skip(1).map(|l| l.trials).sum();
    (fell >= LEAST_FALL && steady && stays >= LEAST_TRIALS).then_some((*first, *last, fell))
}

/// What shows that the fall is no doing of this machine; `None` if something else explains it.
fn evidence(ctx: &Context, m: &Measurement, series: &Series, fell: f64) -> Option<String> {
    let early = shares(ctx.host, m, trials_of(m, series, 0));
    let late = shares(ctx.host, m, trials_of(m, series, series.levels.len() - 1));
    let more = |before: Option<f64>, after: Option<f64>| Some(after? - before?);
    // A quota of our own is reported by `throttled`.
    if more(early.throttled, late.throttled).is_some_and(|t| t >= LEAST_FALL * fell) {
        return None;
    }
    if Execution::derive(ctx, m).waits() {
        let other = series.changes.iter().filter_map(|c| c.cause.as_deref());
        let what = match m.subsystem {
            Subsystem::Network => "no recorded change at either end explains it",
            _ => "no recorded change of the device explains it",
        };
        return other.into_iter().next().is_none().then(|| what.to_owned());
    }
    let stolen = more(early.steal, late.steal).filter(|s| *s >= OF_FALL * fell)?;
    Some(format!("from then on the hypervisor took {} more of the CPU time", percent(stolen)))
}

pub(super) static CHECK: Check = Check {
    id: "burst_credits",
    class: Class::Disturbance,
    title: "Burst credits used up",
    about: "For series: whether the result has the shape of a burst allowance that runs out. Its last \
         level must be at least 10 % below the first, steady, and last to the end. For CPU and \
         memory the check reports it if steal explains at least half of the fall, as on burstable \
         instances without CPU credits. For disks and networks it reports it if no recorded change \
         explains the fall, as on volumes with I/O credits. Suspect: the first rate does not last. \
         A CPU quota of this system is reported as throttled instead. Quote the sustained rate, \
         and the burst only with its duration.",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let series = m.series.as_ref()?;
    let (first, last, fell) = falls(m, series)?;
    let evidence = evidence(ctx, m, series, fell)?;
    let (burst, sustained) = (series.levels.first()?, series.levels.last()?);
    let [from, to] = [burst, sustained].map(|level| format_quantity(level.median, m.unit));
    let lasted = format_seconds(burst.until_s);
    let message = format!(
        "{from} for {lasted}, then {to} to the end, as when burst credits are used up: {evidence}"
    );
    let advice = "quote the sustained rate; the burst returns when credits have accumulated";
    let finding = CHECK.suspect(message, advice).with("burst", burst.median);
    let finding = finding.with("sustained", sustained.median);
    Some(finding.with("after_s", burst.until_s).with("ratio", last / first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::tests::over_time;
    use crate::testing::*;

    fn fallen(m: Measurement) -> Measurement {
        over_time(m, 300, |i| if i < 100 { 1.0 } else { 0.2 })
    }

    #[test]
    fn cpu_credits_that_are_spent_show_as_steal() {
        let late = |i: usize, after: f64| Some(if i < 100 { 0.0 } else { after });
        let stolen = |s| each_condition(fallen(flops(1)), move |i, c| c.steal_s = late(i, s));
        let quota = each_condition(fallen(flops(1)), |i, c| c.throttled_s = late(i, 0.8));
        CHECK.expect([
            ("stolen", stolen(0.8), suspect("for 1 min 40 s, then ... 80.0 % more")),
            ("nobody took it", fallen(flops(1)), SILENT),
            ("a quota of our own", quota, SILENT),
            ("too little to explain it", stolen(0.05), SILENT),
        ]);
    }

    #[test]
    fn a_volume_without_credits_is_slow_with_nobody_else_on_it() {
        let shared = each_device(fallen(rand_read(1)), |i, d| {
            d.read_bytes *= if i >= 100 { 9 } else { 1 };
        });
        let shares = |share: fn(usize) -> f64| over_time(rand_read(1), 300, share);
        CHECK.expect([
            ("spent", fallen(rand_read(1)), suspect("of the device")),
            ("somebody else was on it", shared, SILENT),
            ("it recovers", shares(|i| if (100..200).contains(&i) { 0.2 } else { 1.0 }), SILENT),
            ("it rises", shares(|i| if i < 100 { 0.2 } else { 1.0 }), SILENT),
            ("it wanders", shares(|i| 1.0 - 0.2 * (i / 100) as f64), SILENT),
            ("it stays", shares(|_| 1.0), SILENT),
        ]);
    }
}
