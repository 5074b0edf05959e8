//! Compares two runs result by result: faster, slower, no difference shown, or the reason why they
//! are not comparable.
//!
//! If both have rounds, the headline and the delivered figure are compared. Time that windows leave
//! out, such as that of a quota, shows only in delivered (`reason`). A difference is shown only if
//! the whole interval of B / A (`rank`) is beyond a margin (`margin`). Without an interval, all
//! ratios of B and A must be. It comes with its cause, if the findings of both runs and the facts
//! about both machines name one (`cause`, `facts`).

mod cause;
mod circumstances;
mod comparable;
pub(crate) mod facts;
mod margin;
pub(crate) mod names;
mod pairs;
mod rank;
mod reason;
mod sums;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;

use proofmark_model::{
    Better, COMPARISON_SCHEMA, Comparability, ComparedFigure, ComparedPoint, ComparedRow,
    Comparison, MainResult, Measurement, Number, Run, Side, Subsystem, clean, clean_excerpt,
    contradicts, format_factor, format_percent,
};

use crate::words::counted;
use comparable::{Compared, Figured};
use facts::Fact;
pub use facts::changes;
use margin::{Margins, Speed};
use names::Names;
use pairs::Pair;
use rank::{FEWEST, RatioEstimate};
use reason::JudgedFigure;

/// Most characters of a reason.
const LONGEST: usize = 600;

/// Options of a comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Options {
    /// The margin of every result, a share such as 0.03. `None`: derived by subsystem, from the
    /// differences between the results of both runs and from the variation of each.
    pub margin: Option<f64>,
}

/// A run and its source.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// File or id that it was read from.
    pub name: &'a str,
    /// The run.
    pub run: &'a Run,
}

/// Compares B with A.
pub fn compare(a: Named, b: Named, options: Options) -> Comparison {
    let mut facts = facts::differences(a.run, b.run);
    facts.extend(circumstances::differences(a.run, b.run));
    let names = Names::collect(a.run, b.run);
    let mut ranks = rank::Ranks::default();
    let judged: Vec<(Pair, Result<Compared, String>)> = pairs::pairs(a.run, b.run)
        .into_iter()
        .map(|pair| {
            let compared = comparable::compared((a.run, b.run), &pair, &mut ranks);
            (pair, compared)
        })
        .collect();
    let margins =
        |figure: Which| Margins::new(a.run, b.run, &speeds(&judged, figure), options.margin);
    let (margins, delivered_margins) =
        (margins(|c| Some(&c.headline)), margins(|c| c.delivered.as_ref()));
    let rows = a.run.main_results().into_iter().flat_map(|(_, rows)| rows).collect();
    let judge =
        Judge { a: a.run, b: b.run, rows, names, margins, delivered_margins, facts: &facts };
    let points: Vec<ComparedPoint> =
        judged.into_iter().map(|(pair, compared)| judge.point(&pair, compared)).collect();
    Comparison {
        schema: Cow::Borrowed(COMPARISON_SCHEMA),
        a: side(a),
        b: side(b),
        subsystems: sums::all(&points, |s| judge.margins.for_subsystem(s)),
        differences: facts.iter().map(|f| f.difference.clone()).collect(),
        points,
    }
}

fn side(named: Named) -> Side {
    let run = named.run;
    Side {
        name: clean(named.name),
        started: run.started,
        version: clean(&run.tool.version),
        machine: run.words(),
        profile: clean(&run.plan.profile),
    }
}

/// Logarithm of B's speed over A's: above 0 where B is better.
fn speed(better: Better, ratio: f64) -> f64 {
    match better {
        Better::Higher => ratio.ln(),
        Better::Lower => -ratio.ln(),
    }
}

/// Selects one of the compared figures.
type Which = for<'c, 'a> fn(&'c Compared<'a>) -> Option<&'c Figured>;

/// Speeds of the results that show noise: not those of which a quota took time on one side only.
fn speeds<'a>(
    judged: &[(Pair, Result<Compared<'a>, String>)],
    which: Which,
) -> BTreeMap<Subsystem, Vec<Speed<'a>>> {
    let mut out: BTreeMap<Subsystem, Vec<Speed>> = BTreeMap::new();
    for compared in judged.iter().filter_map(|(_, compared)| compared.as_ref().ok()) {
        let (a, b) = (compared.a, compared.b);
        let Some(Figured { windows, estimate, .. }) = which(compared) else { continue };
        if estimate.ends.is_some() && (*windows || !cause::throttled_on_one_side(a, b)) {
            let (workload, threads) = (a.workload.as_str(), a.params.threads());
            let log = speed(a.better, estimate.ratio.median);
            out.entry(a.subsystem).or_default().push(Speed { workload, threads, log });
        }
    }
    out
}

struct Judge<'a> {
    a: &'a Run,
    b: &'a Run,
    /// Rows of A's first screen.
    rows: Vec<MainResult<'a>>,
    names: Names<'a>,
    margins: Margins,
    /// Margins of delivered figures next to another headline.
    delivered_margins: Margins,
    facts: &'a [Fact],
}

impl Judge<'_> {
    fn point(&self, pair: &Pair, compared: Result<Compared, String>) -> ComparedPoint {
        let (m, in_a, in_b, sizes) = match pair {
            Pair::Both(a, b, sizes) => (a, Some(a), Some(b), sizes.as_str()),
            Pair::OnlyA(m) => (m, Some(m), None, ""),
            Pair::OnlyB(m) => (m, None, Some(m), ""),
        };
        let spec = self.a.workloads.get(&m.workload).or_else(|| self.b.workloads.get(&m.workload));
        let judged = compared.map(|c| {
            let delivered =
                c.delivered.as_ref().map(|d| self.judge(&c, d, &self.delivered_margins));
            (self.judge(&c, &c.headline, &self.margins), delivered)
        });
        let reason = match &judged {
            Ok((headline, delivered)) => reason::both(headline, delivered.as_ref()),
            Err(reason) => reason.clone(),
        };
        let (headline, delivered) = judged.map_or((None, None), |(h, d)| (Some(h), d));
        let reason = match sizes {
            "" => reason,
            sizes => format!("{reason}; set by the machines: {sizes}"),
        };
        let number =
            |m: &&Measurement| Some(Number { summary: m.summary.clone()?, verdict: m.verdict });
        ComparedPoint {
            workload: clean(&m.workload),
            name: self.names.name(spec, m),
            row: in_a.and_then(|m| self.row(m)),
            subsystem: m.subsystem,
            params: m.params.clone(),
            unit: m.unit,
            random: spec.is_some_and(|s| s.work.is_random()),
            better: m.better,
            a: in_a.and_then(number),
            b: in_b.and_then(number),
            figure: headline.as_ref().map(|h| h.kind),
            headline: headline.map(|h| h.figure),
            delivered: delivered.map(|d| d.figure),
            reason: clean_excerpt(&reason, LONGEST),
        }
    }

    /// Place and title of a result of A on its first screen.
    fn row(&self, m: &Measurement) -> Option<ComparedRow> {
        let place = self.rows.iter().position(|r| std::ptr::eq(r.measurement, m))?;
        let row = &self.rows[place];
        let title = [clean(&row.row?.title), row.configuration(self.a)?];
        let title: Vec<String> = title.into_iter().filter(|part| !part.is_empty()).collect();
        Some(ComparedRow { place, title: title.join(", ") })
    }

    /// Judges one figure.
    fn judge(&self, compared: &Compared, figure: &Figured, margins: &Margins) -> JudgedFigure {
        let (a, b, estimate) = (compared.a, compared.b, &figure.estimate);
        let margin = margins.for_result(a, b, figure);
        let (outcome, why) = self.decide(compared, figure, margin, margins.hidden(a, b, figure));
        let judged = !matches!(outcome, Comparability::NotComparable | Comparability::Undecided);
        let resolution = resolution(a.better, estimate, margin).filter(|_| judged);
        let (value, ratio) = (figure.value, estimate.ratio.clone());
        let compared_figure = ComparedFigure { value, ratio, margin, resolution, outcome };
        JudgedFigure { kind: figure.kind, better: a.better, figure: compared_figure, why }
    }

    /// Decides between faster, slower and neither, with the reason. The figure is not comparable if
    /// too little is known, or if the share `hidden` was taken from both.
    fn decide(
        &self,
        compared: &Compared,
        figure: &Figured,
        margin: f64,
        hidden: Option<f64>,
    ) -> (Comparability, String) {
        let (a, b, estimate) = (compared.a, compared.b, &figure.estimate);
        let Some([low, high]) = estimate.ends else {
            let many = |m: &Measurement, n| match m.has_rounds() {
                _ if m.trials.is_empty() => "only a figure".to_owned(),
                true => counted(n, "round"),
                false => counted(n, "trial"),
            };
            let [of_a, of_b] = figure.counts;
            let reason = format!(
                "{} in A and {} in B are too few to judge; take at least {FEWEST} each, for an \
                 interval 4",
                many(a, of_a),
                many(b, of_b)
            );
            return (Comparability::NotComparable, reason);
        };
        if contradicts(figure.value, [low, high]) {
            return (Comparability::Undecided, undecided(a, figure, [low, high]));
        }
        let [least, most] = bounds(margin);
        let above = low > most;
        if !above && high >= least {
            return match hidden {
                Some(taken) => (Comparability::NotComparable, both_disturbed(taken)),
                None => (Comparability::NoDifferenceShown, within(estimate, [low, high], margin)),
            };
        }
        let faster = above == (a.better == Better::Higher);
        let (outcome, cause) = if faster {
            (Comparability::Faster, cause::find(("A", a), ("B", b), figure.windows))
        } else {
            (Comparability::Slower, cause::find(("B", b), ("A", a), figure.windows))
        };
        let mut reason = self.explained(a.subsystem, cause);
        if estimate.ratio.ci95.is_none() {
            reason = format!(
                "no trial of one run lies within the other's range, but there is no \
                              interval; {reason}"
            );
        }
        (outcome, reason)
    }

    /// The cause, or a sentence that there is none, with the facts that may explain it.
    fn explained(&self, subsystem: Subsystem, cause: String) -> String {
        if !cause.is_empty() {
            return cause;
        }
        let facts: Vec<String> = self
            .facts
            .iter()
            .filter(|f| f.touches(subsystem))
            .take(3)
            .map(|Fact { difference: d, .. }| format!("{} {} in A, {} in B", d.what, d.a, d.b))
            .collect();
        match facts.as_slice() {
            [] => "no finding and no fact about the machines explains it".to_owned(),
            some => format!(
                "no finding explains it; differences between the machines: {}",
                some.join("; ")
            ),
        }
    }
}

/// The smallest and the largest ratio within the margin: a speed lower by the margin, and the same
/// for the other side.
fn bounds(margin: f64) -> [f64; 2] {
    [1.0 - margin, 1.0 / (1.0 - margin)]
}

/// The reason why the comparison is undecided: the figures contradict the pairs that they are made
/// of.
fn undecided(a: &Measurement, figure: &Figured, [low, high]: [f64; 2]) -> String {
    let [value, pairs, low, high] =
        [figure.value, figure.estimate.ratio.median, low, high].map(format_factor);
    let what = if a.has_rounds() { "rounds" } else { "trials" };
    format!(
        "the figures give {value}, but all pairs of {what} {pairs} ({low} to {high}): a few {what} \
         make one of the figures; repeat both runs on a quiet machine or with more {what}"
    )
}

fn both_disturbed(taken: f64) -> String {
    format!(
        "both were disturbed: other programs took at least {} of the CPU time of either, \
         enough to hide a factor of {}",
        format_percent(taken),
        format_factor(bounds(taken)[1])
    )
}

/// Slowdown of B from which it would be reported as slower. The noise reaches from the ratio to the
/// end of the interval at which a slowdown shows.
fn resolution(better: Better, estimate: &RatioEstimate, margin: f64) -> Option<f64> {
    let [low, high] = estimate.ends?;
    let reach = match better {
        Better::Higher => high / estimate.ratio.median,
        Better::Lower => estimate.ratio.median / low,
    };
    Some(1.0 - bounds(margin)[0] / reach).filter(|share| share.is_finite())
}

/// The reason why no difference is shown.
fn within(estimate: &RatioEstimate, [low, high]: [f64; 2], margin: f64) -> String {
    let [least, most] = bounds(margin);
    let inside = |r: f64| (least..=most).contains(&r);
    let ends = if estimate.ratio.ci95.is_some() { "interval" } else { "range of so few trials" };
    let why = match (inside(estimate.ratio.median), low <= 1.0 && 1.0 <= high) {
        (true, true) => format!("the {ends} contains 1"),
        (true, false) => "the difference is within the margin".to_owned(),
        (false, _) => format!("the {ends} reaches into the margin"),
    };
    format!("{why} (margin {})", format_percent(margin))
}
