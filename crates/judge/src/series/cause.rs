//! What changed together with a level: the conditions before a change against those after it.

use proofmark_model::{Better, Measurement, Trial, Unit, format_quantity};

use crate::nature::{Nature, threads_here};
use crate::network::retransmitted;
use crate::statistics::median;

/// Trials before and after a change that are held against each other.
const WINDOW: usize = 30;
/// A share of the time that changes by less than this is no cause.
const LEAST_SHARE: f64 = 0.01;
/// A part of the clock, and degrees of the temperature.
const LEAST_CLOCK: f64 = 0.02;
const LEAST_C: f64 = 5.0;
/// Others' traffic at a device, over our own.
const LEAST_TRAFFIC: f64 = 0.05;

/// Which part of the trials' CPU time a disturbance took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Share {
    pub(crate) throttled: Option<f64>,
    pub(crate) steal: Option<f64>,
    pub(crate) others: Option<f64>,
}

/// Of some trials of a measurement.
pub(crate) fn shares(m: &Measurement, trials: &[Trial]) -> Share {
    // A quota holds back all threads at once: its time is the wall's.
    let wall: f64 = trials.iter().map(|t| t.seconds).sum();
    let threads = threads_here(m).max(1) as f64;
    let sum = |of: fn(&Trial) -> Option<f64>| trials.iter().map(of).sum::<Option<f64>>();
    let share = |amount: Option<f64>, of: f64| amount.map(|a| a / of).filter(|s| s.is_finite());
    Share {
        throttled: share(sum(|t| t.conditions.throttled_s), wall),
        steal: share(sum(|t| t.conditions.steal_s), wall * threads),
        others: share(sum(|t| t.conditions.other_cpu_s), wall * threads),
    }
}

/// What of the trials' conditions changed the way that explains this ratio; `None` where nothing
/// that was recorded did.
pub(super) fn of(m: &Measurement, [before, after]: [&[Trial]; 2], ratio: f64) -> Option<String> {
    let before = &before[before.len().saturating_sub(WINDOW)..];
    let after = &after[..after.len().min(WINDOW)];
    if before.is_empty() || after.is_empty() {
        return None;
    }
    let worse = (ratio < 1.0) != (m.better == Better::Lower);
    let more = if worse { 1.0 } else { -1.0 };
    let mut found: Vec<String> = Vec::new();
    let (was, is) = (shares(m, before), shares(m, after));
    for (what, was, is) in [
        ("held back by a CPU quota", was.throttled, is.throttled),
        ("CPU time stolen by the hypervisor", was.steal, is.steal),
        ("CPU time taken by others", was.others, is.others),
    ] {
        if let (Some(was), Some(is)) = (was, is)
            && (is - was) * more >= LEAST_SHARE
        {
            found.push(format!(
                "{what}: {:.1} % of the time before, {:.1} % after",
                was * 100.0,
                is * 100.0
            ));
        }
    }
    found.extend(states(m, before, after, more));
    found.extend(traffic(m, before, after, more));
    (!found.is_empty()).then(|| found.join("; "))
}

/// Median of what the trials tell.
fn typical(trials: &[Trial], of: impl Fn(&Trial) -> Option<f64>) -> Option<f64> {
    median(&trials.iter().filter_map(of).collect::<Vec<_>>())
}

/// Clock, temperature and counts of throttling.
fn states(m: &Measurement, before: &[Trial], after: &[Trial], more: f64) -> Vec<String> {
    let mut found = Vec::new();
    let both = |of: fn(&Trial) -> Option<f64>| Some((typical(before, of)?, typical(after, of)?));
    if let Some((was, is)) = both(|t| t.conditions.clock_hz)
        && was > 0.0
        && (was - is) / was * more >= LEAST_CLOCK
        && !Nature::of(m).waits()
    {
        let quantity = |hz| format_quantity(hz, Unit::Hertz);
        found.push(format!("core clock: {} before, {} after", quantity(was), quantity(is)));
    }
    if let Some((was, is)) = both(|t| t.conditions.temperature_c)
        && (is - was) * more >= LEAST_C
    {
        found.push(format!("temperature: {was:.0} °C before, {is:.0} °C after"));
    }
    let sum = |trials: &[Trial]| {
        trials.iter().map(|t| t.conditions.thermal_throttles).sum::<Option<u64>>()
    };
    if let (Some(was), Some(is)) = (sum(before), sum(after))
        && (is as f64 / after.len() as f64 - was as f64 / before.len() as f64) * more > 0.0
    {
        found.push(format!("throttled for heat: {was} times before, {is} times after"));
    }
    found
}

/// Others' traffic at the devices, and segments sent again.
fn traffic(m: &Measurement, before: &[Trial], after: &[Trial], more: f64) -> Vec<String> {
    let mut found = Vec::new();
    let others = |t: &Trial| {
        let (device, file) = (t.device.as_ref()?, t.file.as_ref()?);
        let moved = device.read_bytes.saturating_add(device.written_bytes);
        let asked = file.asked_read_bytes.saturating_add(file.asked_written_bytes);
        Some(moved.saturating_sub(asked) as f64 / t.seconds)
    };
    let own = |t: &Trial| {
        let file = t.file.as_ref()?;
        Some((file.asked_read_bytes as f64 + file.asked_written_bytes as f64) / t.seconds)
    };
    if let (Some(was), Some(is)) = (typical(before, others), typical(after, others))
        && let Some(base) =
            typical(before, own).into_iter().chain(typical(after, own)).reduce(f64::max)
        && (is - was) * more >= LEAST_TRAFFIC * base
        && is != was
    {
        let rate = |v| format_quantity(v, Unit::BytePerSecond);
        found.push(format!("the device's other traffic: {} before, {} after", rate(was), rate(is)));
    }
    let again = |t: &Trial| Some(retransmitted(m, t)? / t.seconds);
    if let (Some(was), Some(is)) = (typical(before, again), typical(after, again))
        && (is - was) * more >= 1.0
    {
        found.push(format!("segments sent again: {was:.0} a second before, {is:.0} after"));
    }
    found
}
