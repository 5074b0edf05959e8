//! Checks a requirement with a run.

use proofmark_model::{
    CheckedRequirement, Decision, Ending, Finding, HeadlineFigure, Measurement, OVER_TIME_ONLY,
    Run, Severity, Unit, WorkloadSpec, answer, check_id, clean,
};

use super::decision::decide;
use super::figure::dimension;
use super::title::title;
use super::units::{Amount, amount, has_statistic, no_statistic, no_unit, typed_units};
use super::{Requirement, STATISTICS, Statistic};
use crate::checks::{self, Class};

impl Requirement {
    /// Checks the requirement with a run.
    ///
    /// `declared` is the workload as this program knows it, for a run that does not have it.
    ///
    /// # Errors
    /// Fails if the figure has no such statistic, or no such unit.
    pub fn check(
        &self,
        run: &Run,
        declared: Option<&WorkloadSpec>,
    ) -> Result<Vec<CheckedRequirement>, String> {
        let spec = run.workloads.get(&self.workload).or(declared);
        let asked = self.asked(run, spec).map_err(|why| format!("{}: {why}", self.text))?;
        let measured: Vec<&Measurement> =
            self.results(run).filter(|m| m.series.is_none()).collect();
        let lacking = self.lacking(run, &measured);
        let all: Vec<&Measurement> = measured.into_iter().chain(&lacking).collect();
        let chosen: Vec<&Measurement> = match self.params.is_empty() {
            true => answer(run, &all).into_iter().collect(),
            false => all.into_iter().filter(|m| self.fits(m)).collect(),
        };
        if chosen.is_empty() {
            return Ok(vec![self.check_unmeasured(run, spec, asked)]);
        }
        Ok(chosen.into_iter().map(|m| self.check_result((run, spec), m, asked)).collect())
    }

    /// Reads the statistic and the limit as those of a workload.
    fn asked(&self, run: &Run, spec: Option<&WorkloadSpec>) -> Result<Asked, String> {
        let word = self.statistic.as_str();
        let known = STATISTICS.iter().find(|(known, _)| *known == word).map(|(_, s)| *s);
        let statistic = match (word, known, spec) {
            ("", ..) => Statistic::DEFAULT,
            // A clock's attainable figure answers for it.
            (_, Some(Statistic::Delivered), _) => Statistic::Delivered,
            (_, Some(known), Some(spec)) if has_statistic(known, run, spec) => known,
            (_, Some(known), None) => known,
            (_, _, Some(spec)) => return Err(no_statistic(word, run, spec)),
            (_, None, None) => return Err(format!("no statistic '{word}'")),
        };
        let fitting = typed_units(statistic, spec);
        let limit = amount(self.limit, &self.unit, &fitting)
            .ok_or_else(|| no_unit(&self.unit, statistic, &self.workload, &fitting))?;
        Ok(Asked { statistic, limit })
    }

    /// Parameters that no configuration of the run has, measured or planned.
    pub fn unknown_params<'a>(&'a self, run: &'a Run) -> impl Iterator<Item = (&'a str, &'a str)> {
        let planned = self.planned(run);
        let has = move |name: &str, value: &str| {
            let measured = self.results(run).any(|m| has_value(m, name, value));
            measured || planned.iter().any(|m| has_value(m, name, value))
        };
        let all = self.params.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        all.filter(move |(name, value)| !has(name, value))
    }

    fn results<'a>(&self, run: &'a Run) -> impl Iterator<Item = &'a Measurement> {
        run.measurements.iter().filter(|m| m.workload == self.workload)
    }

    /// The configurations of the workload that were planned, as results without a figure.
    fn planned(&self, run: &Run) -> Vec<Measurement> {
        let Some(spec) = run.workloads.get(&self.workload) else { return Vec::new() };
        let over_time = |at: usize| run.plan.series.iter().any(|s| s.point == at);
        let planned = run.plan.points.iter().enumerate();
        let planned = planned.filter(|(at, p)| p.workload == self.workload && !over_time(*at));
        planned.map(|(_, p)| Measurement::new(spec, p.params.clone())).collect()
    }

    /// Planned configurations without a result: if one of them answers, no result replaces it.
    fn lacking(&self, run: &Run, measured: &[&Measurement]) -> Vec<Measurement> {
        let mut planned = self.planned(run);
        planned.retain(|p| measured.iter().all(|m| m.params != p.params));
        planned
    }

    fn fits(&self, m: &Measurement) -> bool {
        self.params.iter().all(|(name, wanted)| has_value(m, name, wanted))
    }

    /// Undecided: neither planned nor measured, or only over time.
    fn check_unmeasured(
        &self,
        run: &Run,
        spec: Option<&WorkloadSpec>,
        asked: Asked,
    ) -> CheckedRequirement {
        let over_time = self.results(run).any(|m| m.series.is_some() && self.fits(m));
        let reason = if over_time { OVER_TIME_ONLY } else { NOT_MEASURED };
        CheckedRequirement {
            requirement: self.text.clone(),
            decision: Decision::Undecided,
            title: spec.map_or_else(|| clean(&self.workload), |s| clean(&s.title)),
            params: None,
            statistic: asked.statistic.word().to_owned(),
            value: None,
            ci95: None,
            unit: asked.limit.dimension,
            headline: None,
            verdict: None,
            checks: Vec::new(),
            disturbances: Vec::new(),
            reason: Some(reason.to_owned()),
        }
    }

    fn check_result(
        &self,
        (run, spec): (&Run, Option<&WorkloadSpec>),
        m: &Measurement,
        asked: Asked,
    ) -> CheckedRequirement {
        let statistic = statistic_for(asked, spec, m);
        let unit = dimension(statistic, m);
        let measured = m.ending != Ending::Unfinished || !m.trials.is_empty();
        let decided = decide(m, run.imported.is_some(), statistic, |v| {
            self.operator.holds(v, asked.limit.value)
        });
        let known = decided.value.is_some();
        CheckedRequirement {
            requirement: self.text.clone(),
            decision: decided.decision,
            title: title(run, spec, m),
            params: Some(m.params.clone()),
            statistic: statistic.word().to_owned(),
            value: decided.value,
            ci95: decided.ci95,
            unit,
            headline: headline(m).filter(|_| statistic == Statistic::Delivered && known),
            verdict: measured.then_some(m.verdict),
            checks: ids(&m.findings, |f| f.severity > Severity::Note),
            disturbances: ids(&m.findings, |f| disturbs(statistic, f)),
            reason: if measured { decided.reason } else { Some(NOT_MEASURED.to_owned()) },
        }
    }
}

/// The statistic and the limit of a requirement, as those of its workload.
#[derive(Debug, Clone, Copy)]
struct Asked {
    statistic: Statistic,
    limit: Amount,
}

/// The statistic for a result: random I/O is measured in bytes but required in operations.
fn statistic_for(asked: Asked, spec: Option<&WorkloadSpec>, m: &Measurement) -> Statistic {
    let iops = spec.is_some_and(|s| s.work.is_random())
        && m.subsystem.info().uses_block_devices
        && m.unit == Unit::BytePerSecond
        && asked.limit.dimension == Some(Unit::OpPerSecond);
    match asked.statistic {
        Statistic::Delivered if iops => Statistic::Iops,
        // A clock has no delivered figure.
        Statistic::Delivered if !m.unit.is_work() => Statistic::Attainable,
        other => other,
    }
}

const NOT_MEASURED: &str = "not measured";

/// Returns true if a parameter has that value, as typed, or as a report prints a size: `1.9 GiB`.
fn has_value(m: &Measurement, name: &str, wanted: &str) -> bool {
    let Some(value) = m.params.named(name) else { return false };
    let is_size = |bytes: u64| {
        proofmark_model::parse_size(wanted) == Ok(bytes)
            || proofmark_model::format_size(bytes) == wanted
    };
    value.to_string() == wanted || m.params.number(name).is_some_and(is_size)
}

/// The headline figure, if it is not delivered.
fn headline(m: &Measurement) -> Option<HeadlineFigure> {
    let kind = m.summary.as_ref()?.headline;
    let other = HeadlineFigure { figure: kind, value: m.summary.as_ref()?.figure(kind).value? };
    (kind != proofmark_model::FigureKind::Delivered).then_some(other)
}

/// Returns true for a note on a disturbance that the statistic includes: what took a part of the
/// delivered figure, or may have made the longest operations.
fn disturbs(statistic: Statistic, finding: &Finding) -> bool {
    let class = || checks::find(&finding.check).map(|check| check.class);
    finding.severity == Severity::Note
        && match statistic {
            Statistic::Delivered | Statistic::Iops => class().is_some_and(Class::is_disturbance),
            Statistic::P99 | Statistic::P999 | Statistic::Max => {
                finding.check == check_id::DISTURBED_TAIL
            }
            _ => false,
        }
}

/// The checks of these findings, each once.
fn ids(findings: &[Finding], which: impl Fn(&Finding) -> bool) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for finding in findings.iter().filter(|f| which(f)) {
        if ids.iter().all(|id| *id != finding.check) {
            ids.push(finding.check.to_string());
        }
    }
    ids
}
