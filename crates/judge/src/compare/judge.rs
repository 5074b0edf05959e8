//! Judges the matched results of a comparison.

use std::collections::BTreeSet;

use proofmark_model::{
    Better, Comparability, ComparedFigure, ComparedPoint, ComparedRuns, MainResult, Margin,
    Measurement, Number, clean, clean_excerpt, margin_bounds,
};

use super::comparable::{Compared, Figured, NotCompared};
use super::decide::Decided;
use super::facts::Fact;
use super::margin::Margins;
use super::names::Names;
use super::pairs::{Match, Pair, spec_of};
use super::reason::{self, JudgedFigure};
use super::{Named, all_cpus, percentiles, prices};

/// Most characters of a reason.
pub(super) const LONGEST: usize = 600;

pub(super) struct Judge<'a> {
    pub(super) a: Named<'a>,
    pub(super) b: Named<'a>,
    /// Rows of A's first screen.
    pub(super) rows: Vec<MainResult<'a>>,
    /// Results of A that have a pair of their own instruction set, or none, and whether that is of
    /// all CPUs of each. That of the best sets takes no row from them.
    pub(super) of_same_set: BTreeSet<(*const Measurement, bool)>,
    /// Results of A that have a pair of all CPUs of each.
    pub(super) on_all: BTreeSet<*const Measurement>,
    /// The numbers of CPUs of A and of B, if they differ.
    pub(super) cpus: Option<[u64; 2]>,
    pub(super) names: Names<'a>,
    pub(super) margins: Margins,
    /// Margins of delivered figures next to another headline.
    pub(super) delivered_margins: Margins,
    pub(super) facts: &'a [Fact],
    /// How often an end of an interval with the variation between runs misses.
    pub(super) misses: f64,
    /// True if both machines are virtual.
    pub(super) are_virtual: bool,
    /// True if both runs are of one machine.
    pub(super) same_machine: bool,
}

impl Judge<'_> {
    pub(super) fn point(
        &self,
        pair: &Pair,
        compared: Result<Compared, NotCompared>,
    ) -> ComparedPoint {
        let alone = Match::default();
        let (m, in_a, in_b, how) = match pair {
            Pair::Both(a, b, how) => (a, Some(*a), Some(*b), how),
            Pair::OnlyA(m) => (m, Some(*m), None, &alone),
            Pair::OnlyB(m) => (m, None, Some(*m), &alone),
        };
        let spec = spec_of([self.a.run, self.b.run], &m.workload);
        let judged = compared.map(|c| {
            let delivered =
                c.delivered.as_ref().map(|d| self.judge(&c, d, &self.delivered_margins));
            (self.judge(&c, &c.headline, &self.margins), delivered)
        });
        let (reason, left_out) = match &judged {
            Ok((headline, delivered)) => (reason::both(headline, delivered.as_ref()), None),
            Err(why) => (why.reason.clone(), why.left_out),
        };
        let disturbances = match &judged {
            Ok((headline, delivered)) => reason::disturbances(headline, delivered.as_ref()),
            Err(_) => Vec::new(),
        };
        let (headline, delivered) = judged.map_or((None, None), |(h, d)| (Some(h), d));
        let reason = self.with_match(reason, how);
        let number =
            |m: &Measurement| Some(Number { summary: m.summary.clone()?, verdict: m.verdict });
        let is_of_a_part = all_cpus::is_partial_rate(m, self.cpus, how.cpus.is_some());
        let (main_row, title) = in_a.and_then(|m| self.row(m, how)).unzip();
        let prices = [self.a, self.b].map(|side| side.price.filter(|_| !is_of_a_part));
        ComparedPoint {
            workload: clean(&m.workload),
            name: shared_name(self.names.name(m), m, how),
            title: shared_name(title.unwrap_or_else(|| self.names.title(m)), m, how),
            main_row,
            subsystem: m.subsystem,
            params: m.params.clone(),
            unit: m.unit,
            random: spec.is_some_and(|s| s.work.is_random()),
            better: m.better,
            a: in_a.and_then(number),
            b: in_b.and_then(number),
            figure: headline.as_ref().map(|h| h.kind),
            per_price: prices::per_price(prices, [in_a, in_b], &headline, &delivered),
            headline: headline.map(|h| h.figure),
            delivered: delivered.map(|d| d.figure),
            mean_of: None,
            best_of_each: how.best.clone(),
            all_cpus: how.cpus,
            percentiles: percentiles::compared([in_a, in_b]),
            left_out,
            disturbances,
            reason: clean_excerpt(&reason, LONGEST),
        }
    }

    /// Place and title of a result of A on its first screen.
    fn row(&self, m: &Measurement, how: &Match) -> Option<(usize, String)> {
        let (own, on_all) = (std::ptr::from_ref(m), how.cpus.is_some());
        if how.best.is_some() && self.of_same_set.contains(&(own, on_all)) {
            return None;
        }
        let place = self.rows.iter().position(|r| std::ptr::eq(r.measurement, m))?;
        // The row of all CPUs is for the pair of all; that of one CPU may be the same result.
        if !on_all && self.on_all.contains(&own) && !all_cpus::is_row_of_one(self.rows[place].row?)
        {
            return None;
        }
        Some((place, self.rows[place].title(self.a.run)?))
    }

    /// Adds to a reason how the two results were matched.
    fn with_match(&self, reason: String, how: &Match) -> String {
        let mut out = reason;
        if let Some([of_a, of_b]) = &how.best {
            let (a, b) = (self.a.letter, self.b.letter);
            out += &format!("; best instruction set of each: {of_a} in {a}, {of_b} in {b}");
        }
        if let Some(cpus) = how.cpus {
            let letters = [self.a.letter, self.b.letter];
            out += &format!("; all CPUs of each: {}", all_cpus::words(cpus, letters));
        }
        if !how.sizes.is_empty() {
            out += &format!("; set by the machines: {}", how.sizes);
        }
        out
    }

    /// Judges one figure.
    fn judge(&self, compared: &Compared, figure: &Figured, margins: &Margins) -> JudgedFigure {
        let (a, b, estimate) = (compared.a, compared.b, &figure.estimate);
        let share = margins.for_result(a, b, figure);
        let runs = figure
            .variation
            .as_ref()
            .map(|v| v.compared_runs(v.needs(estimate.ratio.median.ln(), share, self.misses)));
        let margin = Margin::new(share, margins.is_given(), figure.variation.is_some());
        let hidden = margins.hidden(a, b, figure);
        let Decided { outcome, why, by_placement, disturbances } =
            self.decide(compared, figure, margin, hidden, runs.as_ref());
        let compared = outcome != Comparability::NotComparable;
        let needed =
            |r: ComparedRuns| ComparedRuns { needs: r.needs.filter(|_| !outcome.differs()), ..r };
        let resolution = resolution(a.better, figure, share).filter(|_| compared);
        let compared_figure = ComparedFigure {
            value: figure.value,
            ratio: estimate.ratio.clone(),
            margin: share,
            margin_given: margins.is_given(),
            resolution,
            between_runs: runs.map(needed),
            outcome,
        };
        let ends = estimate.ends;
        let (kind, better) = (figure.kind, a.better);
        let figure = compared_figure;
        JudgedFigure { kind, better, figure, ends, why, by_placement, disturbances }
    }
}

/// A title or name of a result of A without what B has otherwise: its instruction set, and its number
/// of CPUs.
fn shared_name(text: String, m: &Measurement, how: &Match) -> String {
    let text = match &how.best {
        Some([set, _]) => without_part(&text, set),
        None => text,
    };
    if how.cpus.is_some() { all_cpus::named(&text, m) } else { text }
}

/// A title or name without one of its parts, such as an instruction set.
fn without_part(text: &str, part: &str) -> String {
    text.split(", ").filter(|one| *one != part).collect::<Vec<_>>().join(", ")
}

/// Slowdown of B from which it would be reported as slower. The noise reaches from the ratio to the
/// end of the interval at which a slowdown shows, or to the ratio of the figures beyond it.
fn resolution(better: Better, figure: &Figured, margin: f64) -> Option<f64> {
    let (value, middle) = (figure.value, figure.estimate.ratio.median);
    let [low, high] = figure.estimate.ends?;
    let reach = match better {
        Better::Higher => high.max(value) / middle,
        Better::Lower => middle / low.min(value),
    };
    Some(1.0 - margin_bounds(margin)[0] / reach).filter(|share| share.is_finite())
}
