//! Decides whether two results are comparable, and derives their ratio.

use proofmark_model::{FigureKind, LeftOut, MISSES, Measurement, Ratio, Run, Severity};

use super::left_out;
use super::pairs::Pair;
use super::rank::{Ranks, RatioEstimate};
use super::several::methods;
use super::side_runs::SideRuns;
use super::variation::{Prior, Variation, variation};
use crate::words::why_no_result;

/// Fails if the workload uses another method in one of the runs, so that its figures are not
/// comparable.
fn same_method(runs: [&Run; 2], letters: [char; 2], workload: &str) -> Result<(), String> {
    match methods(runs, workload) {
        [Some(a), Some(b)] if a != b => {
            let [name_a, name_b] = letters;
            Err(format!(
                "{name_a} was measured by method {a} of {workload}, {name_b} by method {b}: their \
                 figures are not comparable; measure {name_a} again with the program that measured \
                 {name_b}"
            ))
        }
        _ => Ok(()),
    }
}

/// The reason why run `has` has a result that run `lacks` has not.
fn only((has, own): (char, &Run), (lacks, other): (char, &Run), m: &Measurement) -> String {
    if left_out::by_plan([own, other], m).is_some() {
        return format!("only in {has}: {lacks} left it out for its {}", left_out::limit(other));
    }
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

/// Why two results are not compared.
pub(super) struct NotCompared {
    pub(super) reason: String,
    /// When the time limit of B left out a usable result of A.
    pub(super) left_out: Option<LeftOut>,
}

impl From<String> for NotCompared {
    fn from(reason: String) -> Self {
        Self { reason, left_out: None }
    }
}

/// Two comparable results.
pub(super) struct Compared<'a> {
    pub(super) a: &'a Measurement,
    pub(super) b: &'a Measurement,
    pub(super) headline: Figured,
    /// The delivered figure, if the headline is made of windows.
    pub(super) delivered: Option<Figured>,
    /// True if the two ran different instruction sets, each the best of its machine.
    pub(super) best_of_each: bool,
    /// The numbers of CPUs of the two, if they ran on all of each and these differ.
    pub(super) cpus: Option<[u64; 2]>,
}

/// B / A of one figure.
pub(super) struct Figured {
    pub(super) kind: FigureKind,
    /// True if windows leave taken time out of it, in both runs.
    pub(super) windows: bool,
    pub(super) estimate: RatioEstimate,
    /// B / A of the displayed figures.
    pub(super) value: f64,
    /// Number of rounds of A and of B, or of trials where there are no rounds.
    pub(super) counts: [usize; 2],
    /// How the ratio varies between runs; `None` if nothing shows it.
    pub(super) variation: Option<Variation>,
}

impl Figured {
    /// Widens the interval by the variation between runs; each end misses so often. Of two single runs
    /// the larger counts of this and of the interval of their rounds.
    fn widen(&mut self, misses: f64) {
        let Some(variation) = &self.variation else { return };
        let several = variation.is_of_several();
        let middle = if several { variation.log } else { self.estimate.ratio.median.ln() };
        let own = match self.estimate.ends {
            Some(ends) if !several => ends,
            _ => [self.value; 2],
        };
        let [low, high] = variation.ends(middle, misses);
        let ends = [own[0].min(low), own[1].max(high)];
        let median = middle.exp().clamp(f64::MIN_POSITIVE, f64::MAX);
        self.estimate.ratio = Ratio { median, ci95: Some(ends) };
        self.estimate.ends = Some(ends);
    }
}

impl Compared<'_> {
    fn figures(&mut self) -> impl Iterator<Item = &mut Figured> {
        [Some(&mut self.headline), self.delivered.as_mut()].into_iter().flatten()
    }
}

/// Widens all intervals by the variation between runs. Returns how often an end of one misses.
pub(super) fn widen<'a, 'm: 'a>(all: impl Iterator<Item = &'a mut Compared<'m>>) -> f64 {
    let mut all: Vec<&mut Compared> = all.collect();
    let known = all.iter_mut().flat_map(|one| one.figures()).filter(|f| f.variation.is_some());
    let misses = MISSES / 2.0 / known.count().max(1) as f64;
    all.iter_mut().flat_map(|one| one.figures()).for_each(|figured| figured.widen(misses));
    misses
}

/// Compares a pair; fails with the reason why it is not comparable.
pub(super) fn compared<'a>(
    runs: [&Run; 2],
    letters: [char; 2],
    pair: &Pair<'a>,
    (sides, prior): ([&SideRuns; 2], Prior),
    ranks: &mut Ranks,
) -> Result<Compared<'a>, NotCompared> {
    let ([a, b], [letter_a, letter_b]) = (runs, letters);
    if let Some(omission) = left_out::in_b(runs, pair) {
        let reason = omission.reason(letter_b, b);
        return Err(NotCompared { reason, left_out: Some(omission.when) });
    }
    let (m, n, best_of_each, cpus) = match *pair {
        Pair::Both(m, n, ref how) => (m, n, how.best.is_some(), how.cpus),
        Pair::OnlyA(m) => return Err(only((letter_a, a), (letter_b, b), m).into()),
        Pair::OnlyB(n) => return Err(only((letter_b, b), (letter_a, a), n).into()),
    };
    let both = [(letter_a, m), (letter_b, n)];
    for (name, m) in both {
        number(name, m)?;
    }
    same_work([m, n], letters)?;
    same_method(runs, letters, &m.workload)?;
    for (name, m) in both {
        if !m.verdict.is_usable() {
            return Err(format!("{name} is invalid: {}", worst(m)).into());
        }
    }
    for (name, m) in both {
        if let Some(levels) = m.series.as_ref().map(|s| s.levels.len()).filter(|n| *n > 1) {
            let why = format!("{name} has several levels over time ({levels})");
            return Err(format!("{why}, so no single value describes it").into());
        }
    }
    let (kind, windows) = headline(m, n);
    let mut figured = |kind, windows| {
        let (of_a, of_b) = (m.figure_values(kind), n.figure_values(kind));
        let estimate = ranks.estimate(&of_a, &of_b)?;
        let shown = |m: &Measurement| m.summary.as_ref().and_then(|s| s.figure(kind).value);
        let value = shown(n).zip(shown(m)).map(|(b, a)| b / a).filter(|v| v.is_normal());
        let value = value.unwrap_or(estimate.ratio.median);
        // Two single runs with too few trials are not made better by others.
        let is_enough = |v: &Variation| v.is_of_several() || estimate.ends.is_some();
        let variation = variation(sides, [m, n], kind, prior).filter(is_enough);
        Ok(Figured { kind, windows, estimate, value, counts: [of_a.len(), of_b.len()], variation })
    };
    let headline = figured(kind, windows)?;
    let delivered = (windows && m.unit.is_work()).then(|| figured(FigureKind::Delivered, false));
    let delivered = delivered.and_then(|found: Result<Figured, String>| found.ok());
    Ok(Compared { a: m, b: n, headline, delivered, best_of_each, cpus })
}

/// The figure that is compared first, and true if it is made of windows. It is the headline of A,
/// or of B, that the rounds of both have. Without rounds, the headline of both.
fn headline(m: &Measurement, n: &Measurement) -> (FigureKind, bool) {
    let own = |m: &Measurement| m.summary.as_ref().map_or(FigureKind::Delivered, |s| s.headline);
    let has = |m: &Measurement, kind| {
        let seen = m.summary.as_ref().is_some_and(|s| s.figure(kind).value.is_some());
        seen && !m.figure_values(kind).is_empty()
    };
    match [m, n].map(Measurement::has_rounds) {
        [true, true] => [own(m), own(n), FigureKind::Typical]
            .into_iter()
            .find(|k| *k != FigureKind::Delivered && has(m, *k) && has(n, *k))
            .map_or((FigureKind::Delivered, false), |kind| (kind, true)),
        [false, false] if own(m) == own(n) => (own(m), false),
        _ => (FigureKind::Delivered, false),
    }
}

fn number(name: char, m: &Measurement) -> Result<(), String> {
    if m.summary.is_some() {
        return Ok(());
    }
    Err(format!("{name} has no result: {}", why_no_result(m)))
}

/// Fails if the two count different work: another unit or direction. The workload's text does not
/// matter.
fn same_work([m, n]: [&Measurement; 2], letters: [char; 2]) -> Result<(), String> {
    if m.unit != n.unit {
        let [a, b] = letters;
        return Err(format!("{a} is in {}, {b} in {}", m.unit, n.unit));
    }
    if m.better != n.better || m.subsystem != n.subsystem {
        return Err("the two runs disagree on whether more or less is better".to_owned());
    }
    Ok(())
}

/// The message of the first invalid finding.
fn worst(m: &Measurement) -> String {
    let invalid = m.findings.iter().find(|f| f.severity == Severity::Invalid);
    invalid.map_or_else(|| "no reason was recorded".to_owned(), |f| f.message.clone())
}
