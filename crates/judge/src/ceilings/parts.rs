//! Shared parts of the ceilings: inputs, the workload's parameters, and bottlenecks.

use proofmark_model::{
    Bottleneck, Ceiling, Host, Input, Isa, Measurement, Provenance, Trial, Unit, format_quantity,
    key, word,
};

use super::CeilingRule;
use crate::capacity::{Bound, Capacity};
use crate::from_windows;
use crate::microarchitecture::{self, Row};
use crate::statistics::median;
use crate::words::{self, counted};

/// Name of the input for the clock, to which a ceiling is proportional.
pub(crate) const CLOCK_INPUT: &str = "clock";
/// Name of the input for the number of cores.
const CORES_INPUT: &str = "cores";
/// Name of the input for the run's own latency of memory.
pub(crate) const LATENCY_INPUT: &str = "latency";

/// Smallest uncertainty of a measured clock: the calibration chain, its branch and the timer calls.
const CLOCK_FLOOR: f64 = 0.005;
/// Uncertainty of a measured clock if the spread of its readings is unknown.
const CLOCK_NO_SPREAD: f64 = 0.02;
/// How far a clock under load may be above one that was measured when idle, or above the reported
/// boost clock: turbo steps are that large.
const ABOVE_ELSEWHERE: f64 = 0.05;
/// How far it may be below: many cores with wide vectors run a third slower. Recorded for dense
/// matrices: 16 to 34 %.
const BELOW_ELSEWHERE: f64 = 0.35;

/// The purpose of a ceiling, which decides how far a clock that was not measured may be off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Purpose {
    /// A share of it: the clock may be lower, too.
    Share,
    /// A bound: only a higher clock lets a result exceed it.
    Bound,
}

/// Returns an input; the unit may be empty.
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
    /// A formula of one input.
    pub(crate) fn from_input(first: Input) -> Self {
        Self { value: first.value, text: first.name.clone(), inputs: vec![first] }
    }

    pub(crate) fn times(self, factor: Input) -> Self {
        self.times_all(Self::from_input(factor))
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
    /// Returns the ceiling of this rule for a result, in its unit.
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

/// Finite values of one condition of the trials, in order.
fn known(m: &Measurement, value: impl Fn(&proofmark_model::Conditions) -> Option<f64>) -> Vec<f64> {
    m.trials.iter().filter_map(|t| value(&t.conditions)).filter(|v| v.is_finite()).collect()
}

/// The clock of each trial that reports it.
pub(crate) fn clocks(m: &Measurement) -> Vec<f64> {
    known(m, |c| c.clock_hz).into_iter().filter(|hz| *hz > 0.0).collect()
}

/// The clocks of the rounds in the headline; none if the headline is not made of windows.
fn clocks_of_rounds(m: &Measurement) -> Vec<f64> {
    if !from_windows(m) {
        return Vec::new();
    }
    let in_headline = m.in_headline();
    let hz = m.all_rounds().filter(|r| in_headline(r)).filter_map(|r| r.clock_hz);
    hz.filter(|hz| hz.is_finite() && *hz > 0.0).collect()
}

/// The mean clock of the trials over time: that of all work over all time.
fn mean_clock(m: &Measurement) -> Option<f64> {
    let of = |t: &Trial| Some((t.seconds, t.conditions.clock_hz?));
    let is_usable =
        |(seconds, hz): &(f64, f64)| [seconds, hz].iter().all(|v| v.is_normal() && **v > 0.0);
    let each: Vec<(f64, f64)> = m.trials.iter().filter_map(of).filter(is_usable).collect();
    // Of equal clocks it is exactly that clock.
    let (_, first) = *each.first()?;
    let beyond = each.iter().map(|(seconds, hz)| seconds * (hz - first)).sum::<f64>();
    Some(first + beyond / each.iter().map(|(seconds, _)| seconds).sum::<f64>())
}

/// The clock of the headline, and from what it is: of windows the median of their rounds, else the
/// mean over time.
fn clock_under_load(m: &Measurement) -> Option<(f64, String)> {
    let of_rounds = clocks_of_rounds(m);
    if let Some(hz) = median(&of_rounds) {
        let rounds = counted(of_rounds.len(), "round");
        return Some((hz, format!("median over {rounds}, within each")));
    }
    let trials = counted(clocks(m).len(), "trial");
    let how = format!("mean over the time of {trials}, within each, or right before and after it");
    Some((mean_clock(m)?, how))
}

/// Returns the clock as an input, with its uncertainty. Fails if it was neither measured nor
/// reported.
pub(crate) fn clock(
    host: &Host,
    m: &Measurement,
    purpose: Purpose,
) -> Result<(Input, f64), String> {
    if let Some((hz, how)) = clock_under_load(m) {
        let spread = median(&known(m, |c| c.clock_spread));
        let uncertainty = spread.map_or(CLOCK_NO_SPREAD, |s| s.abs().max(CLOCK_FLOOR));
        let note = format!("{how}: chains of dependent instructions under the workload's load");
        return Ok((input(CLOCK_INPUT, hz, "Hz", Provenance::Measured, note), uncertainty));
    }
    let elsewhere = match purpose {
        Purpose::Share => BELOW_ELSEWHERE,
        Purpose::Bound => ABOVE_ELSEWHERE,
    };
    let positive = |p: &proofmark_model::Probe<f64>| p.get().copied().filter(|hz| *hz > 0.0);
    let clocks = &host.cpu.clock;
    if let Some(hz) = positive(&clocks.measured_hz) {
        let note = "measured on an idle core; no clock was measured under this load";
        return Ok((input(CLOCK_INPUT, hz, "Hz", Provenance::Measured, note), elsewhere));
    }
    if let Some(hz) = positive(&clocks.boost_hz) {
        let note = format!("highest clock as reported ({})", clocks.boost_hz.origin());
        return Ok((input(CLOCK_INPUT, hz, "Hz", Provenance::Reported, note), elsewhere));
    }
    Err("the clock was not measured, and no boost clock is reported".to_owned())
}

/// The input of a tool's ceiling that proofmark's loops measured, where another loop may find
/// another value. That is the clock, unless the tool's trials report their own, or the latency of
/// memory.
pub(crate) fn input_of_our_loops<'c>(
    ceiling: &'c Ceiling,
    theirs: &Measurement,
) -> Option<&'c Input> {
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

/// Fails in a virtual machine with the text `wrong`, and if it is unknown whether this is one.
pub(crate) fn on_bare_metal(host: &Host, wrong: &str) -> Result<(), String> {
    match (host.is_virtual(), host.hypervisor()) {
        (Some(false), _) => Ok(()),
        (_, Some(vm)) => Err(format!("under {vm} {wrong}")),
        (_, None) => Err("it is unknown whether this is a virtual machine".to_owned()),
    }
}

/// Returns the row of the host's core design. Fails if there is none; `what` names the table.
fn find_row(host: &Host, what: &str) -> Result<&'static Row, String> {
    let found = words::known(&host.cpu.microarchitecture, "the core's design")?;
    microarchitecture::find(&found.id)
        .ok_or_else(|| format!("no table of {what} for {}", found.name))
}

pub(crate) fn row(host: &Host) -> Result<&'static Row, String> {
    find_row(host, "execution ports")
}

pub(crate) fn memory_row(host: &Host) -> Result<&'static Row, String> {
    find_row(host, "caches and memory")
}

/// Returns a figure of caches or memory from the table as an input, with the row and its source.
pub(crate) fn tabled(name: &str, value: f64, unit: &str, row: &Row) -> Input {
    let note = format!("table row {}: {}", row.id, row.memory_source);
    input(name, value, unit, Provenance::Assumed, note)
}

/// Returns a throughput from the table as an input, with the row and its source.
pub(crate) fn assumed(name: &str, value: f64, row: &Row) -> Input {
    let mut note = format!("table row {}: {}", row.id, row.source);
    if !row.note.is_empty() {
        note.push_str("; ");
        note.push_str(row.note);
    }
    input(name, value, "", Provenance::Assumed, note)
}

/// Bits of the result's number type, from `type`. Fails if it is absent or unknown.
pub(crate) fn bits(m: &Measurement) -> Result<u32, String> {
    match m.params.get(key::NUMBER_TYPE) {
        Some(word::F64 | "i64") => Ok(64),
        Some("f32" | "i32") => Ok(32),
        Some(other) => Err(format!("type {other} is unknown")),
        None => Err("the configuration has no type".to_owned()),
    }
}

/// Instruction set of the result, from `isa`. Fails if it is absent or unknown.
pub(crate) fn isa(m: &Measurement) -> Result<Isa, String> {
    let name = m.params.get(key::ISA).ok_or("the configuration has no isa")?;
    Isa::named(name).ok_or_else(|| format!("isa {name} is unknown"))
}

/// The clock of a ceiling, as the end of a text: ` at 4.000 GHz`.
pub(crate) fn at_clock(ceiling: &Ceiling) -> String {
    input_of(ceiling, CLOCK_INPUT)
        .map_or(String::new(), |i| format!(" at {}", format_quantity(i.value, Unit::Hertz)))
}

/// Returns the CPU quota as the bottleneck, if it bounds a ceiling that counts cores.
pub(crate) fn quota(ceiling: &Ceiling, capacity: &Capacity, share: &str) -> Option<Bottleneck> {
    input_of(ceiling, CORES_INPUT)?;
    let quota = capacity.quota.filter(|_| capacity.bound == Bound::Quota)?;
    let evidence = format!("{share} of {}{}", counted(quota, "CPU"), at_clock(ceiling));
    Some(Bottleneck::new("CPU quota", evidence))
}

/// Returns the execution ports as the bottleneck, or the cores if these are fewer than the threads.
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
