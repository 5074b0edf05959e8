//! What the CPU ceilings share: inputs, the workload's parameters, and bottlenecks.

use proofmark_model::{
    Bottleneck, Ceiling, Host, Input, Isa, Measurement, Provenance, Unit, format_quantity, key,
    word,
};

use super::CeilingRule;
use crate::capacity::{Bound, Capacity};
use crate::from_windows;
use crate::microarchitecture::{self, Row};
use crate::statistics::median;
use crate::words::{self, counted};

/// Name of the input that a ceiling grows with when the clock does.
pub(crate) const CLOCK_INPUT: &str = "clock";
/// Name of the input that a ceiling of several cores grows with.
const CORES_INPUT: &str = "cores";
/// Name of the input that is the run's own latency of memory.
pub(crate) const LATENCY_INPUT: &str = "latency";

/// Least uncertainty of a measured clock: the calibration chain, its branch and the timer calls.
const CLOCK_FLOOR: f64 = 0.005;
/// Uncertainty where the clock was measured but the spread of its readings is not known.
const CLOCK_NO_SPREAD: f64 = 0.02;
/// Uncertainty of a clock measured when idle, or of a reported boost: turbo moves by such steps.
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

/// A formula with its value and its inputs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Formula {
    pub(crate) value: f64,
    pub(crate) text: String,
    pub(crate) inputs: Vec<Input>,
}

impl Formula {
    /// An input alone.
    pub(crate) fn of(first: Input) -> Self {
        Self { value: first.value, text: first.name.clone(), inputs: vec![first] }
    }

    pub(crate) fn times(self, factor: Input) -> Self {
        self.times_all(Self::of(factor))
    }

    pub(crate) fn times_all(mut self, factor: Self) -> Self {
        self.inputs.extend(factor.inputs);
        Self { value: self.value * factor.value, text: self.text + " x " + &factor.text, ..self }
    }

    pub(crate) fn over(mut self, divisor: Input) -> Self {
        let (value, text) = (self.value / divisor.value, self.text + " / " + &divisor.name);
        self.inputs.push(divisor);
        Self { value, text, inputs: self.inputs }
    }
}

impl CeilingRule {
    /// The ceiling that this rule gives a measurement, in its unit.
    pub(super) fn ceiling(&self, m: &Measurement, formula: Formula, uncertainty: f64) -> Ceiling {
        let (id, unit) = (self.id.to_owned(), m.unit.to_string());
        let Formula { value, text: formula, inputs } = formula;
        Ceiling { id, value, unit, formula, inputs, uncertainty }
    }
}

/// The input of that name, if the ceiling has it.
pub(crate) fn input_of<'c>(ceiling: &'c Ceiling, name: &str) -> Option<&'c Input> {
    ceiling.inputs.iter().find(|i| i.name == name)
}

/// Positive finite values of a trial's condition, in order.
fn known(m: &Measurement, of: impl Fn(&proofmark_model::Conditions) -> Option<f64>) -> Vec<f64> {
    m.trials.iter().filter_map(|t| of(&t.conditions)).filter(|v| v.is_finite()).collect()
}

/// The clock of each trial that reports it.
pub(crate) fn clocks(m: &Measurement) -> Vec<f64> {
    known(m, |c| c.clock_hz).into_iter().filter(|hz| *hz > 0.0).collect()
}

/// The clocks of the rounds in the headline; none where the headline is not made of windows.
fn clocks_of_rounds(m: &Measurement) -> Vec<f64> {
    if !from_windows(m) {
        return Vec::new();
    }
    let in_headline = m.in_headline();
    let hz = m.all_rounds().filter(|r| in_headline(r)).filter_map(|r| r.clock_hz);
    hz.filter(|hz| hz.is_finite() && *hz > 0.0).collect()
}

/// The clock as an input, and how sure it is; fails if it was neither measured nor reported.
pub(crate) fn clock(host: &Host, m: &Measurement) -> Result<(Input, f64), String> {
    let of_rounds = clocks_of_rounds(m);
    let (readings, each, when) = if of_rounds.is_empty() {
        (clocks(m), "trial", "within each, or right before and after it")
    } else {
        (of_rounds, "round", "within each")
    };
    if let Some(hz) = median(&readings) {
        let spread = median(&known(m, |c| c.clock_spread));
        let uncertainty = spread.map_or(CLOCK_NO_SPREAD, |s| s.abs().max(CLOCK_FLOOR));
        let note = format!(
            "median over {}: chains of dependent instructions under the workload's load, {when}",
            counted(readings.len(), each)
        );
        return Ok((input(CLOCK_INPUT, hz, "Hz", Provenance::Measured, note), uncertainty));
    }
    let positive = |p: &proofmark_model::Probe<f64>| p.get().copied().filter(|hz| *hz > 0.0);
    let clocks = &host.cpu.clock;
    if let Some(hz) = positive(&clocks.measured_hz) {
        let note = "measured on an idle core; no clock was measured under this load";
        return Ok((input(CLOCK_INPUT, hz, "Hz", Provenance::Measured, note), CLOCK_ELSEWHERE));
    }
    if let Some(hz) = positive(&clocks.boost_hz) {
        let note = format!("highest clock as reported ({})", clocks.boost_hz.origin());
        return Ok((input(CLOCK_INPUT, hz, "Hz", Provenance::Reported, note), CLOCK_ELSEWHERE));
    }
    Err("the clock was not measured, and no boost clock is reported".to_owned())
}

/// The input of a tool's ceiling that was measured of loops of ours, where another loop may find
/// another value: the clock, unless the tool's trials report their own, or the latency of memory.
pub(crate) fn of_our_loops<'c>(ceiling: &'c Ceiling, theirs: &Measurement) -> Option<&'c Input> {
    let measured = |i: &&Input| i.source == Provenance::Measured;
    ceiling.inputs.iter().filter(measured).find(|i| match i.name.as_str() {
        CLOCK_INPUT => clocks(theirs).is_empty(),
        LATENCY_INPUT => true,
        _ => false,
    })
}

pub(crate) fn cores(host: &Host, capacity: &Capacity) -> Input {
    let Capacity { threads, physical, cpus, .. } = capacity;
    let threads = counted(*threads, "thread");
    let physical = counted(*physical, "usable physical core");
    let why = match (capacity.bound, capacity.quota) {
        (Bound::Quota, Some(quota)) => format!(
            "the CPU quota allows {} ({})",
            counted(quota, "CPU"),
            host.limits.cpu_quota.origin()
        ),
        (Bound::Cores, _) => {
            format!("{threads} share {physical}, {}", counted(*cpus, "logical CPU"))
        }
        _ => format!("{threads} on {physical}"),
    };
    input(CORES_INPUT, capacity.cores, "", Provenance::Reported, why)
}

/// Fails in a virtual machine, with what is wrong there, and where it is not known to be none.
pub(crate) fn on_bare_metal(host: &Host, wrong: &str) -> Result<(), String> {
    match (host.is_virtual(), host.hypervisor()) {
        (Some(false), _) => Ok(()),
        (_, Some(vm)) => Err(format!("under {vm} {wrong}")),
        (_, None) => Err("it is unknown whether this is a virtual machine".to_owned()),
    }
}

/// The row of the host's core design, for what a ceiling needs of it; fails if there is none.
fn row_of(host: &Host, what: &str) -> Result<&'static Row, String> {
    let found = words::known(&host.cpu.microarchitecture, "the core's design")?;
    microarchitecture::find(&found.id)
        .ok_or_else(|| format!("no table of {what} for {}", found.name))
}

pub(crate) fn row(host: &Host) -> Result<&'static Row, String> {
    row_of(host, "execution ports")
}

pub(crate) fn memory_row(host: &Host) -> Result<&'static Row, String> {
    row_of(host, "caches and memory")
}

/// A figure of caches or memory from the table as an input, with the row and its source.
pub(crate) fn tabled(name: &str, value: f64, unit: &str, row: &Row) -> Input {
    let note = format!("table row {}: {}", row.id, row.memory_source);
    input(name, value, unit, Provenance::Assumed, note)
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

/// Bits of the point's number type, from `type`; fails if that is absent or unknown.
pub(crate) fn bits(m: &Measurement) -> Result<u32, String> {
    match m.params.get(key::NUMBER_TYPE) {
        Some(word::F64 | "i64") => Ok(64),
        Some("f32" | "i32") => Ok(32),
        Some(other) => Err(format!("type {other} is unknown")),
        None => Err("the configuration has no type".to_owned()),
    }
}

/// The point's instruction set, from `isa`; fails if that is absent or unknown.
pub(crate) fn isa(m: &Measurement) -> Result<Isa, String> {
    let name = m.params.get(key::ISA).ok_or("the configuration has no isa")?;
    Isa::named(name).ok_or_else(|| format!("isa {name} is unknown"))
}

/// The clock that a ceiling was derived with, as words that follow others.
pub(crate) fn at_clock(ceiling: &Ceiling) -> String {
    input_of(ceiling, CLOCK_INPUT)
        .map_or(String::new(), |i| format!(" at {}", format_quantity(i.value, Unit::Hertz)))
}

/// The CPU quota as the bottleneck, where it is what bounds a ceiling of so many cores.
pub(crate) fn quota(ceiling: &Ceiling, capacity: &Capacity, share: &str) -> Option<Bottleneck> {
    input_of(ceiling, CORES_INPUT)?;
    let quota = capacity.quota.filter(|_| capacity.bound == Bound::Quota)?;
    let evidence = format!("{share} of {}{}", counted(quota, "CPU"), at_clock(ceiling));
    Some(Bottleneck::new("CPU quota", evidence))
}

/// The execution ports as the bottleneck, or the cores that have too few of them for all threads.
pub(crate) fn ports(ceiling: &Ceiling, capacity: &Capacity, share: &str) -> Bottleneck {
    let clock = at_clock(ceiling);
    if capacity.bound != Bound::Cores {
        let on = counted(capacity.cores, "core");
        return Bottleneck::new("execution ports", format!("{share}{clock} on {on}"));
    }
    let (threads, cores) =
        (counted(capacity.threads, "thread"), counted(capacity.physical, "core"));
    let evidence = format!("{share}{clock}: {threads} share the execution ports of {cores}");
    Bottleneck::new("physical cores", evidence)
}
