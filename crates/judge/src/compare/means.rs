//! The mean over the results of a subsystem as one more result: the geometric mean of rates and of
//! inverted times, one value of each run. Noise of single results counts less in it, so that it shows
//! smaller differences. It needs the variation between runs.

use std::collections::BTreeMap;

use proofmark_model::{
    Better, Comparability, ComparedFigure, ComparedPoint, FigureKind, LEAST_MARGIN, MISSES,
    Measurement, Params, Ratio, Severity, Subsystem, counted, format_factor, margin_bounds,
};

use super::all_cpus;
use super::comparable::Compared;
use super::decide::beyond;
use super::reason;
use super::side_runs::SideRuns;
use super::variation::{Prior, Variation, of_subsystem};
use crate::checks::is_by_others;
use crate::statistics::most_frequent;

/// The results of one subsystem, with one figure of each.
type Results<'a> = Vec<([&'a Measurement; 2], FigureKind)>;

/// What the means are made with.
pub(super) struct Means<'a> {
    pub(super) sides: [&'a SideRuns<'a>; 2],
    pub(super) prior: Prior,
    /// The numbers of CPUs of A and of B, if they differ.
    pub(super) cpus: Option<[u64; 2]>,
    /// The margin that the user gave.
    pub(super) margin: Option<f64>,
}

/// The mean of one subsystem before it is judged.
struct Mean<'a> {
    subsystem: Subsystem,
    results: Results<'a>,
    headline: Variation,
    delivered: Option<Variation>,
}

impl Means<'_> {
    /// Returns a compared result for each subsystem of which a mean is known.
    pub(super) fn points<'a>(
        &self,
        compared: impl Iterator<Item = &'a Compared<'a>>,
    ) -> Vec<ComparedPoint> {
        let mut by_subsystem: BTreeMap<Subsystem, Vec<&Compared>> = BTreeMap::new();
        for c in compared.filter(|c| !self.is_of_a_part(c) && !is_disturbed(c)) {
            by_subsystem.entry(c.a.subsystem).or_default().push(c);
        }
        let means = by_subsystem.into_iter().filter_map(|(s, results)| self.mean(s, &results));
        let means: Vec<Mean> = means.collect();
        let figures: usize = means.iter().map(|m| 1 + usize::from(m.delivered.is_some())).sum();
        let misses = MISSES / 2.0 / figures.max(1) as f64;
        means.iter().map(|mean| self.point(mean, misses)).collect()
    }

    fn is_of_a_part(&self, c: &Compared) -> bool {
        all_cpus::is_partial_rate(c.a, self.cpus, c.cpus.is_some())
    }

    fn mean<'a>(&self, subsystem: Subsystem, all: &[&Compared<'a>]) -> Option<Mean<'a>> {
        let headline = all.iter().map(|c| ([c.a, c.b], c.headline.kind));
        let delivered = all.iter().map(|c| {
            let figure = c.delivered.as_ref().unwrap_or(&c.headline);
            ([c.a, c.b], figure.kind)
        });
        let of = |results: &Results<'a>, delivered| {
            of_subsystem(self.sides, (subsystem, delivered), results, self.prior)
        };
        let (results, delivered): (Results, Results) = (headline.collect(), delivered.collect());
        let has_both = all.iter().any(|c| c.delivered.is_some());
        let delivered = if has_both { of(&delivered, true) } else { None };
        Some(Mean { subsystem, headline: of(&results, false)?, results, delivered })
    }

    fn point(&self, mean: &Mean, misses: f64) -> ComparedPoint {
        let (m, _) = mean.results[0];
        let headline = self.figure(&mean.headline, misses);
        let delivered = mean.delivered.as_ref().map(|v| self.figure(v, misses));
        let count = mean.headline.results as u64;
        let kinds = mean.results.iter().map(|(_, kind)| *kind);
        let name = format!("mean of {}", counted(count, "result"));
        let mut point = ComparedPoint {
            workload: mean.subsystem.as_str().to_owned(),
            title: format!("{}, {name}", mean.subsystem.info().title),
            name,
            main_row: None,
            subsystem: mean.subsystem,
            params: Params::default(),
            unit: m[0].unit,
            random: false,
            better: Better::Higher,
            a: None,
            b: None,
            figure: Some(most_frequent(kinds)),
            reason: String::new(),
            per_price: None,
            headline: Some(headline),
            delivered,
            mean_of: Some(count),
            best_of_each: None,
            all_cpus: None,
            percentiles: Vec::new(),
            left_out: None,
            disturbances: Vec::new(),
        };
        point.reason = why(&point);
        point
    }

    fn figure(&self, v: &Variation, misses: f64) -> ComparedFigure {
        let margin = self.margin.unwrap_or(LEAST_MARGIN);
        let value = v.log.exp().clamp(f64::MIN_POSITIVE, f64::MAX);
        let ends = v.ends(v.log, misses);
        let is_far = || beyond([value; 2], margin).is_some();
        let outcome = match beyond(ends, margin) {
            _ if v.has_too_few_runs() && is_far() => Comparability::Undecided,
            Some(side) if side.is_gt() => Comparability::Faster,
            Some(_) => Comparability::Slower,
            None => Comparability::NoDifferenceShown,
        };
        let resolution = 1.0 - margin_bounds(margin)[0] / v.half(misses).exp();
        let needs = v.needs(v.log, margin, misses).filter(|_| !outcome.differs());
        ComparedFigure {
            value,
            ratio: Ratio { median: value, ci95: Some(ends) },
            margin,
            margin_given: self.margin.is_some(),
            between_runs: Some(v.compared_runs(needs)),
            resolution: Some(resolution).filter(|r| r.is_finite()),
            outcome,
        }
    }
}

/// The reason: that of the figure which decides.
fn why(point: &ComparedPoint) -> String {
    let Some((_, figure)) = point.deciding() else { return String::new() };
    let why = match figure.outcome {
        Comparability::Slower | Comparability::Faster => format!(
            "the geometric mean of the results, one value of each run, is {} of that in A",
            format_factor(figure.value)
        ),
        Comparability::Undecided => {
            let ends = figure.ratio.ci95.unwrap_or([figure.value; 2]);
            reason::too_few_runs(figure.between_runs.as_ref(), ends)
        }
        _ => {
            let leaning = figure.leaning(point.better);
            leaning.map_or_else(String::new, |l| l.why(point.better, figure.margin()))
        }
    };
    why + &reason::needed(figure.between_runs.as_ref())
}

/// True if others disturbed a result on either side: it says little about the machine.
fn is_disturbed(c: &Compared) -> bool {
    let mut findings = c.a.findings.iter().chain(&c.b.findings);
    findings.any(|f| f.severity == Severity::Suspect && is_by_others(&f.check))
}
