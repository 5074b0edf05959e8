//! Whether two measurements can be held against each other, and the ratio if so.

use proofmark_model::{FigureKind, Measurement, Run, Severity};

use super::pairs::Pair;
use super::rank::{Known, Ranks};
use crate::words::why_no_result;

/// The workload measures by the same method in both runs, so that its figures are comparable.
fn same_method(a: &Run, b: &Run, workload: &str) -> Result<(), String> {
    let method = |run: &Run| run.workloads.get(workload).map(|spec| spec.method);
    match (method(a), method(b)) {
        (Some(a), Some(b)) if a != b => Err(format!(
            "A was measured by method {a} of {workload}, B by method {b}: their figures are not \
             comparable; measure A again with the program that measured B"
        )),
        _ => Ok(()),
    }
}

/// Why only the run of one name has it, and the other lacks it.
fn only(has: &str, (lacks, other): (&str, &Run), m: &Measurement) -> String {
    let is_planned = other.plan.points.iter().enumerate().any(|(i, p)| {
        let over_time = other.plan.series_of(i).is_some();
        p.workload == m.workload && p.params == m.params && over_time == m.series.is_some()
    });
    match &other.interrupted {
        _ if !is_planned => format!("only in {has}"),
        Some(signal) => format!("only in {has}: {lacks} was stopped by {signal} before it"),
        None => format!("only in {has}: {lacks} planned it but has no measurement"),
    }
}

/// Two measurements that can be compared.
pub(super) struct Compared<'a> {
    pub(super) a: &'a Measurement,
    pub(super) b: &'a Measurement,
    pub(super) headline: Figured,
    /// The delivered figure too, where the headline is made of windows.
    pub(super) delivered: Option<Figured>,
}

/// B / A of one figure.
pub(super) struct Figured {
    pub(super) kind: FigureKind,
    /// Whether windows leave out of it what was taken, in both.
    pub(super) windows: bool,
    pub(super) known: Known,
    /// B / A of the figures themselves.
    pub(super) value: f64,
    /// Rounds of A and of B that it was taken from; of what has none its trials.
    pub(super) counts: [usize; 2],
}

/// B / A of a pair; else the reason why there is none.
pub(super) fn compared<'a>(
    (a, b): (&Run, &Run),
    pair: &Pair<'a>,
    ranks: &mut Ranks,
) -> Result<Compared<'a>, String> {
    let (m, n) = match *pair {
        Pair::Both(m, n, _) => (m, n),
        Pair::OnlyA(m) => return Err(only("A", ("B", b), m)),
        Pair::OnlyB(n) => return Err(only("B", ("A", a), n)),
    };
    for (name, m) in [("A", m), ("B", n)] {
        number(name, m)?;
    }
    same_work(m, n)?;
    same_method(a, b, &m.workload)?;
    for (name, m) in [("A", m), ("B", n)] {
        if !m.verdict.is_usable() {
            return Err(format!("{name} is invalid: {}", worst(m)));
        }
    }
    for (name, m) in [("A", m), ("B", n)] {
        if let Some(levels) = m.series.as_ref().map(|s| s.levels.len()).filter(|n| *n > 1) {
            return Err(format!(
                "{name} has several levels over time ({levels}), so no single value describes it"
            ));
        }
    }
    let (kind, windows) = headline(m, n);
    let mut figured = |kind, windows| {
        let (of_a, of_b) = (m.figure_values(kind), n.figure_values(kind));
        let known = ranks.known(&of_a, &of_b)?;
        let shown = |m: &Measurement| m.summary.as_ref().and_then(|s| s.figure(kind).value);
        let value = shown(n).zip(shown(m)).map(|(b, a)| b / a).filter(|v| v.is_normal());
        let value = value.unwrap_or(known.ratio.median);
        Ok(Figured { kind, windows, known, value, counts: [of_a.len(), of_b.len()] })
    };
    let headline = figured(kind, windows)?;
    let delivered = (windows && m.unit.is_work()).then(|| figured(FigureKind::Delivered, false));
    let delivered = delivered.and_then(|found: Result<Figured, String>| found.ok());
    Ok(Compared { a: m, b: n, headline, delivered })
}

/// The figure that is compared first, and whether it is made of windows: the headline of A, or of
/// B, that the rounds of both have. Without rounds, what the trials are values of.
fn headline(m: &Measurement, n: &Measurement) -> (FigureKind, bool) {
    let of = |m: &Measurement| m.summary.as_ref().map_or(FigureKind::Delivered, |s| s.headline);
    let has = |m: &Measurement, kind| {
        let seen = m.summary.as_ref().is_some_and(|s| s.figure(kind).value.is_some());
        seen && !m.figure_values(kind).is_empty()
    };
    match [m, n].map(Measurement::has_rounds) {
        [true, true] => [of(m), of(n), FigureKind::Typical]
            .into_iter()
            .find(|k| *k != FigureKind::Delivered && has(m, *k) && has(n, *k))
            .map_or((FigureKind::Delivered, false), |kind| (kind, true)),
        [false, false] if of(m) == of(n) => (of(m), false),
        _ => (FigureKind::Delivered, false),
    }
}

fn number(name: &str, m: &Measurement) -> Result<(), String> {
    if m.summary.is_some() {
        return Ok(());
    }
    Err(format!("{name} has no result: {}", why_no_result(m)))
}

/// Both count the same work: the unit and its direction. How a workload's text words it is no work.
fn same_work(m: &Measurement, n: &Measurement) -> Result<(), String> {
    if m.unit != n.unit {
        return Err(format!("A is in {}, B in {}", m.unit, n.unit));
    }
    if m.better != n.better || m.subsystem != n.subsystem {
        return Err("the two runs disagree on whether more or less is better".to_owned());
    }
    Ok(())
}

/// The message of what weighs most.
fn worst(m: &Measurement) -> String {
    let invalid = m.findings.iter().find(|f| f.severity == Severity::Invalid);
    invalid.map_or_else(|| "no reason was recorded".to_owned(), |f| f.message.clone())
}
