//! Cause of a level change: the conditions before it compared with those after it.

use proofmark_model::{Better, Host, Measurement, Trial, Unit, format_percent, format_quantity};

use crate::Context;
use crate::capacity::Capacity;
use crate::checks::own_times;
use crate::disk::Way;
use crate::execution::{Execution, others};
use crate::network::{retransmitted, segments};
use crate::statistics::median_over;

/// Most trials before and after a change that are compared.
const WINDOW: usize = 30;
/// Smallest change of a share of the time that is a cause.
const LEAST_SHARE: f64 = 0.01;
/// Smallest change as a part of the effect to be explained: a hundredth more of others' CPU time
/// does not halve a rate.
const OF_CHANGE: f64 = 0.1;
/// Smallest change of the clock, as a share.
const LEAST_CLOCK: f64 = 0.02;
/// Smallest change of the temperature in degrees.
const LEAST_C: f64 = 5.0;
/// Smallest change of others' traffic at a device, relative to our own.
const LEAST_TRAFFIC: f64 = 0.05;
/// Smallest change of the share of retransmitted segments: fewer do not slow a connection.
const LEAST_AGAIN: f64 = 1e-4;

/// Shares of the trials' CPU time that disturbances took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Share {
    pub(crate) throttled: Option<f64>,
    pub(crate) steal: Option<f64>,
    pub(crate) others: Option<f64>,
}

/// Shares for some trials of a result, over their wall time on each CPU that they used. Throttled
/// time is a sum over CPUs, like the others.
pub(crate) fn shares(host: &Host, m: &Measurement, trials: &[Trial]) -> Share {
    let Ok(capacity) = Capacity::derive(host, m) else { return Share::default() };
    let had: f64 = trials.iter().map(|t| capacity.cpu_seconds(t)).sum();
    let share = |taken_s: &dyn Fn(&Trial) -> Option<f64>| {
        let amount = trials.iter().map(taken_s).sum::<Option<f64>>()?;
        Some(amount / had).filter(|s| s.is_finite())
    };
    Share {
        throttled: share(&|t| t.conditions.throttled_s),
        steal: share(&|t| t.conditions.steal_s),
        others: share(&|t| others(&capacity, m, t)),
    }
}

/// The direction and size of a change whose cause is sought.
#[derive(Clone, Copy)]
struct Effect {
    /// 1 if the result got worse, so that more of a disturbance explains it; else -1.
    more: f64,
    /// Share of the better side that the worse side lacks, 0 to 1.
    size: f64,
}

impl Effect {
    /// Returns true if the shares before and after explain enough of it.
    fn is_explained_by(self, was: f64, is: f64, least: f64) -> bool {
        (is - was) * self.more >= least.max(OF_CHANGE * self.size)
    }
}

/// The conditions of the trials that explain this ratio, or a fair part of it.
pub(super) fn find(
    ctx: &Context,
    m: &Measurement,
    [before, after]: [&[Trial]; 2],
    ratio: f64,
) -> Option<String> {
    let before = &before[before.len().saturating_sub(WINDOW)..];
    let after = &after[..after.len().min(WINDOW)];
    find_in_all(ctx, m, [before, after], ratio)
}

/// The conditions of all these trials that explain this ratio, or a fair part of it.
pub(super) fn find_in_all(
    ctx: &Context,
    m: &Measurement,
    [before, after]: [&[Trial]; 2],
    ratio: f64,
) -> Option<String> {
    if before.is_empty() || after.is_empty() {
        return None;
    }
    let worse = (ratio < 1.0) != (m.better == Better::Lower);
    let effect =
        Effect { more: if worse { 1.0 } else { -1.0 }, size: 1.0 - ratio.min(1.0 / ratio) };
    let mut found: Vec<String> = Vec::new();
    let (was, is) = (shares(ctx.host, m, before), shares(ctx.host, m, after));
    for (what, was, is) in [
        ("throttled by a CPU quota", was.throttled, is.throttled),
        ("CPU time stolen by the hypervisor", was.steal, is.steal),
        ("CPU time taken by other processes", was.others, is.others),
    ] {
        if let (Some(was), Some(is)) = (was, is)
            && effect.is_explained_by(was, is, LEAST_SHARE)
        {
            found.push(format!(
                "{what}: {} of the time before, {} after",
                format_percent(was),
                format_percent(is)
            ));
        }
    }
    found.extend(states(ctx, m, before, after, effect));
    found.extend(traffic(ctx, m, before, after, effect));
    (!found.is_empty()).then(|| found.join("; "))
}

/// Changes of clock, temperature and counts of throttling. Heat slows a core by its clock: if the
/// clock stayed, heat is no cause.
fn states(
    ctx: &Context,
    m: &Measurement,
    before: &[Trial],
    after: &[Trial],
    effect: Effect,
) -> Vec<String> {
    let mut found = Vec::new();
    let both = |value: fn(&Trial) -> Option<f64>| {
        Some((median_over(before, value)?, median_over(after, value)?))
    };
    let clocks = both(|t| t.conditions.clock_hz)
        .filter(|(was, is)| *was > 0.0 && *is > 0.0 && !Execution::derive(ctx, m).waits());
    if let Some((was, is)) = clocks {
        let most = was.max(is);
        // A lower clock has the sign of more disturbance.
        if !effect.is_explained_by(-was / most, -is / most, LEAST_CLOCK) {
            return found;
        }
        let quantity = |hz| format_quantity(hz, Unit::Hertz);
        found.push(format!("core clock: {} before, {} after", quantity(was), quantity(is)));
    }
    if let Some((was, is)) = both(|t| t.conditions.temperature_c)
        && (is - was) * effect.more >= LEAST_C
    {
        found.push(format!("temperature: {was:.0} °C before, {is:.0} °C after"));
    }
    let sum = |trials: &[Trial]| {
        trials.iter().map(|t| t.conditions.thermal_throttles).sum::<Option<u64>>()
    };
    if let (Some(was), Some(is)) = (sum(before), sum(after))
        && (is as f64 / after.len() as f64 - was as f64 / before.len() as f64) * effect.more > 0.0
    {
        found.push(format!("thermal throttlings: {was} before, {is} after"));
    }
    found
}

/// Changes of others' traffic at the devices and of retransmitted segments. What a journal may write
/// for the load is the load's own.
fn traffic(
    ctx: &Context,
    m: &Measurement,
    before: &[Trial],
    after: &[Trial],
    effect: Effect,
) -> Vec<String> {
    let mut found = Vec::new();
    let beyond = |way, moved: u64, asked: u64| {
        Some((moved as f64 - own_times(ctx, m, way)? * asked as f64).max(0.0))
    };
    let others = |t: &Trial| {
        let (device, file) = (t.device.as_ref()?, t.file.as_ref()?);
        let read = beyond(Way::Read, device.read_bytes, file.asked_read_bytes)?;
        let written = beyond(Way::Written, device.written_bytes, file.asked_written_bytes)?;
        Some((read + written) / t.seconds)
    };
    let own = |t: &Trial| {
        let file = t.file.as_ref()?;
        Some((file.asked_read_bytes as f64 + file.asked_written_bytes as f64) / t.seconds)
    };
    if let (Some(was), Some(is)) = (median_over(before, others), median_over(after, others))
        && let Some(base) =
            median_over(before, own).into_iter().chain(median_over(after, own)).reduce(f64::max)
        && effect.is_explained_by(was / base, is / base, LEAST_TRAFFIC)
        && is != was
    {
        let rate = |v| format_quantity(v, Unit::BytePerSecond);
        found.push(format!("the device's other traffic: {} before, {} after", rate(was), rate(is)));
    }
    let again = |t: &Trial| Some(retransmitted(m, t)? / segments(m, t)?);
    if let (Some(was), Some(is)) = (median_over(before, again), median_over(after, again))
        && (is - was) * effect.more >= LEAST_AGAIN
    {
        let [was, is] = [was, is].map(|share| share * 100.0);
        found.push(format!("retransmitted segments: {was:.3} % before, {is:.3} % after"));
    }
    found
}
