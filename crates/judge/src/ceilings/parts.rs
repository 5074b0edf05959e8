//! What the CPU ceilings share: cores and clock as inputs, and the kernel's knobs.

use proofmark_model::{Host, Input, Measurement, Provenance};

use crate::capacity::{Bound, Capacity};
use crate::microarchitecture::{self, Row};
use crate::statistics::median;

/// Name of the input that a ceiling grows with when the clock does.
pub const CLOCK_INPUT: &str = "clock";

/// The least uncertainty of a measured clock: what the calibration chain itself,
/// its loop branch and the timer calls leave.
const CLOCK_FLOOR: f64 = 0.005;
/// Uncertainty where the clock was measured but the spread of its readings is not known.
const CLOCK_NO_SPREAD: f64 = 0.02;
/// Uncertainty where the clock was not measured under this load but when idle, or
/// is the boost that the machine reports: turbo moves by such steps.
const CLOCK_ELSEWHERE: f64 = 0.05;

/// An input that is a plain number or has a unit.
pub(crate) fn input(
    name: &str,
    value: f64,
    unit: &str,
    source: Provenance,
    note: impl Into<String>,
) -> Input {
    Input { name: name.to_owned(), value, unit: unit.to_owned(), source, note: note.into() }
}

/// Positive finite values of a trial's condition, in order.
fn known(m: &Measurement, of: impl Fn(&proofmark_model::Conditions) -> Option<f64>) -> Vec<f64> {
    m.trials.iter().filter_map(|t| of(&t.conditions)).filter(|v| v.is_finite()).collect()
}

/// The clock as an input, and how sure it is.
///
/// # Errors
/// If it was neither measured nor reported.
pub(crate) fn clock(host: &Host, m: &Measurement) -> Result<(Input, f64), String> {
    let readings: Vec<f64> = known(m, |c| c.clock_hz).into_iter().filter(|hz| *hz > 0.0).collect();
    if let Some(hz) = median(&readings) {
        let spread = median(&known(m, |c| c.clock_spread));
        let uncertainty = spread.map_or(CLOCK_NO_SPREAD, |s| s.abs().max(CLOCK_FLOOR));
        let note = format!(
            "median over {} trials, by a chain of dependent instructions right before and after \
             each trial, under its load",
            readings.len()
        );
        return Ok((input(CLOCK_INPUT, hz, "Hz", Provenance::Measured, note), uncertainty));
    }
    let of = |p: &proofmark_model::Probe<f64>| p.get().copied().filter(|hz| *hz > 0.0);
    let clocks = &host.cpu.clock;
    if let Some(hz) = of(&clocks.measured_hz) {
        let note = "measured on an idle core; no clock was measured under this load";
        return Ok((input(CLOCK_INPUT, hz, "Hz", Provenance::Measured, note), CLOCK_ELSEWHERE));
    }
    if let Some(hz) = of(&clocks.boost_hz) {
        let note = format!("highest clock as reported ({})", clocks.boost_hz.origin());
        return Ok((input(CLOCK_INPUT, hz, "Hz", Provenance::Reported, note), CLOCK_ELSEWHERE));
    }
    Err("the clock was not measured and no boost clock is reported".to_owned())
}

/// The cores as an input.
pub(crate) fn cores(host: &Host, capacity: &Capacity) -> Input {
    let Capacity { threads, physical, cpus, .. } = capacity;
    let (source, why) = match (capacity.bound, capacity.quota) {
        (Bound::Quota, Some(quota)) => (
            Provenance::Reported,
            format!("the CPU quota allows {quota} CPUs ({})", host.limits.cpu_quota.origin()),
        ),
        (Bound::Cores, _) => (
            Provenance::Reported,
            format!(
                "{threads} threads share {physical} usable physical core(s), {cpus} logical CPU(s)"
            ),
        ),
        _ => (
            Provenance::Reported,
            format!("{threads} thread(s) on {physical} usable physical core(s)"),
        ),
    };
    input("cores", capacity.cores, "", source, why)
}

/// The row of the host's core design.
///
/// # Errors
/// If the design is not known or has no row.
pub(crate) fn row(host: &Host) -> Result<&'static Row, String> {
    match host.cpu.microarchitecture.get() {
        None => {
            Err(format!("the core's design is not known ({})", host.cpu.microarchitecture.origin()))
        }
        Some(found) => microarchitecture::find(&found.id)
            .ok_or_else(|| format!("no table of execution ports for {}", found.name)),
    }
}

/// A throughput from the table as an input, with the row and its source.
pub(crate) fn assumed(name: &str, value: f64, row: &Row) -> Input {
    let mut note = format!("table row {}: {}", row.id, row.source);
    if !row.note.is_empty() {
        note.push_str("; ");
        note.push_str(row.note);
    }
    input(name, value, "", Provenance::Assumed, note)
}

/// Bits of the point's number type.
pub(crate) struct Bits;

impl Bits {
    /// Of the `type` knob.
    ///
    /// # Errors
    /// If it is absent or unknown.
    pub(crate) fn of(m: &Measurement) -> Result<u32, String> {
        match m.params.text("type") {
            Some("f64" | "i64") => Ok(64),
            Some("f32" | "i32") => Ok(32),
            Some(other) => Err(format!("type {other} is not known here")),
            None => Err("the point has no type".to_owned()),
        }
    }
}

/// Whether an `isa` value means the portable path: one number an instruction, as
/// far as the language promises.
pub(crate) fn is_portable(isa: &str) -> bool {
    matches!(isa, "scalar" | "portable")
}
