//! Raw results, before any conclusion. `proofmark_judge::judge` makes a [`Run`] of a [`RawRun`];
//! nothing else draws conclusions from one.

use std::collections::BTreeMap;

use crate::{
    Better, Ending, Finding, First, Latency, Measurement, Params, Point, Policy, Printed, Ratio,
    Reference, Run, Series, Subsystem, Summary, Timestamp, Trial, Unit, Verdict, Verification,
    WorkloadSpec, summarise, summarise_trials,
};

/// A run without conclusions: without verdicts, figures and findings of checks.
pub type RawRun = Run<RawMeasurement>;

/// The raw result of one configuration. Fields have the same meaning as those of the same name in
/// [`Measurement`].
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // See `Measurement`.
pub struct RawMeasurement {
    pub workload: String,
    pub subsystem: Subsystem,
    pub params: Params,
    pub unit: Unit,
    pub better: Better,
    pub trials: Vec<Trial>,
    pub warmup: Vec<f64>,
    pub latency: Option<Latency>,
    /// The counter of the work, as in [`Verification::kind`]; null without one.
    pub counted_by: Option<String>,
    pub series: Option<RawSeries>,
    pub references: Vec<RawReference>,
    /// Findings of the measurement itself. No check of the judge is among them.
    pub findings: Vec<Finding>,
    /// Reasons why a part is null or empty, where only the measuring code knows them.
    pub missing: BTreeMap<String, String>,
    pub ending: Ending,
}

/// The runs of a tool, in pairs with trials. Fields have the same meaning as those of the same name
/// in [`Reference`].
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)] // See `Reference`.
pub struct RawReference {
    pub tool: String,
    pub version: String,
    pub command: String,
    pub trials: Vec<f64>,
    pub paired: Vec<Trial>,
    pub first: Vec<First>,
    pub printed: Printed,
    pub counts: String,
    pub params: Params,
    pub evidence: Vec<Trial>,
    /// Findings while the tool ran. No check of the judge is among them.
    pub findings: Vec<Finding>,
}

/// The sampling of a configuration over time. Fields have the same meaning as those of the same
/// name in [`Series`].
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // See `Series`.
pub struct RawSeries {
    pub for_s: f64,
    pub every_s: f64,
    pub started: Timestamp,
    pub samples: u64,
    pub merged: u64,
}

impl RawMeasurement {
    /// Makes a raw measurement without results.
    pub fn new(spec: &WorkloadSpec, params: Params) -> Self {
        Self {
            workload: spec.id.to_string(),
            subsystem: spec.subsystem,
            params,
            unit: spec.unit,
            better: spec.better,
            trials: Vec::new(),
            warmup: Vec::new(),
            latency: None,
            counted_by: None,
            series: None,
            references: Vec::new(),
            findings: Vec::new(),
            missing: BTreeMap::new(),
            ending: Ending::Unfinished,
        }
    }

    /// Returns the configuration that was measured.
    pub fn point(&self) -> Point {
        Point { workload: self.workload.clone(), params: self.params.clone() }
    }

    /// Returns statistics of its trials, which were taken under this policy. `None` without a
    /// trial, or if a value is not finite. Without a declaration of the workload they are those of
    /// values.
    pub fn summary(&self, spec: Option<&WorkloadSpec>, policy: &Policy) -> Option<Summary> {
        let Some(spec) = spec else {
            return Summary::from_values(&self.trials.iter().map(|t| t.value).collect::<Vec<_>>());
        };
        // No series is stopped by its interval.
        let stopped_by_interval = self.series.is_none() && !policy.is_fixed(&self.workload);
        summarise_trials(spec.work.cut(), self.unit, &self.trials, stopped_by_interval)
    }

    /// Returns a measurement with these statistics and without other conclusions.
    pub fn unjudged(&self, summary: Option<Summary>) -> Measurement {
        Measurement {
            workload: self.workload.clone(),
            subsystem: self.subsystem,
            params: self.params.clone(),
            unit: self.unit,
            better: self.better,
            trials: self.trials.clone(),
            warmup: self.warmup.clone(),
            summary,
            precision: None,
            latency: self.latency.clone(),
            verification: self.verification(),
            ceiling: None,
            efficiency: None,
            bottleneck: None,
            cpu_placements: Vec::new(),
            series: self.series.as_ref().map(RawSeries::unjudged),
            references: self.references.iter().filter_map(RawReference::unjudged).collect(),
            findings: self.findings.clone(),
            verdict: Verdict::from_findings(&self.findings),
            missing: self.missing.clone(),
            ending: self.ending.clone(),
        }
    }

    /// Returns the verification of all trials together; `None` without a count.
    pub fn verification(&self) -> Option<Verification> {
        let first = self.trials.first()?;
        let all = self.trials.iter().filter_map(|t| t.verified).reduce(|a, b| a + b)?;
        Some(Verification {
            kind: self.counted_by.clone()?,
            claimed: all.claimed,
            counted: all.counted,
            note: note(first).to_owned(),
        })
    }
}

impl RawSeries {
    fn unjudged(&self) -> Series {
        let RawSeries { for_s, every_s, started, samples, merged } = *self;
        let (levels, changes) = (Vec::new(), Vec::new());
        Series { for_s, every_s, started, samples, merged, levels, changes, trend: None }
    }
}

/// Describes the comparison.
fn note(trial: &Trial) -> &'static str {
    match (&trial.network, &trial.file) {
        (Some(_), _) => {
            "payload that the receivers got against bytes that the interfaces of both ends took in, \
             headers, acknowledgements and others' packets included, over all trials"
        }
        (None, Some(_)) => "bytes asked for against bytes that the devices moved, over all trials",
        (None, None) => {
            "work claimed by the workload against work that its verified results prove, over all \
             trials"
        }
    }
}

impl RawReference {
    /// Returns proofmark's figure / the tool's, of each pair.
    pub fn ratios(&self) -> Vec<f64> {
        ratios_of_pairs(&self.paired, &self.trials)
    }

    /// Returns the tool's runs with their statistics; `None` without a pair.
    fn unjudged(&self) -> Option<Reference> {
        let (summary, ratio) = (summarise(&self.trials)?, summarise(&self.ratios())?);
        Some(Reference {
            tool: self.tool.clone(),
            version: self.version.clone(),
            command: self.command.clone(),
            value: summary.median,
            trials: self.trials.clone(),
            paired: self.paired.clone(),
            first: self.first.clone(),
            printed: self.printed,
            ratio: Ratio { median: ratio.median, ci95: ratio.ci95 },
            summary: Some(summary),
            counts: self.counts.clone(),
            params: self.params.clone(),
            evidence: self.evidence.clone(),
            efficiency: None,
            findings: self.findings.clone(),
            paired_findings: Vec::new(),
            verdict: Verdict::from_findings(&self.findings),
        })
    }
}

/// Returns proofmark's figure / the tool's, of each pair.
pub(crate) fn ratios_of_pairs(ours: &[Trial], theirs: &[f64]) -> Vec<f64> {
    ours.iter().zip(theirs).map(|(ours, theirs)| ours.value / theirs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{spec, trial};
    use crate::{Account, FileState, NetworkTraffic};

    #[test]
    fn the_verification_is_the_sum_of_the_trials_and_says_what_was_compared() {
        let own = Some(Account { claimed: 3.0, counted: 2.0 });
        let proved = |account| Trial { verified: account, ..trial(1.0, 1.0) };
        let verification = |trials: Vec<Trial>| {
            let spec = spec("test.x", Unit::OpPerSecond);
            let m = RawMeasurement::new(&spec, Params::default());
            RawMeasurement { trials, counted_by: Some("x".to_owned()), ..m }.verification()
        };
        let all = verification(vec![proved(own), proved(None), proved(own)]).unwrap();
        assert_eq!((all.kind.as_str(), all.claimed, all.counted), ("x", 6.0, 4.0));
        assert!(all.note.starts_with("work claimed by the workload"), "{}", all.note);
        assert_eq!(verification(vec![]), None);
        assert_eq!(verification(vec![proved(None)]), None);
        let file = Trial { file: Some(FileState::default()), ..proved(own) };
        assert!(verification(vec![file.clone()]).unwrap().note.contains("devices"));
        let network = Trial { network: Some(NetworkTraffic::default()), ..file };
        assert!(verification(vec![network]).unwrap().note.contains("interfaces"));
    }
}
