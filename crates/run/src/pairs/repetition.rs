//! One tool's pairs for one configuration: how far they are, and what they gave.

use proofmark_model::{
    Finding, First, Params, PlannedReference, RawMeasurement, RawReference, Severity, Trial, fnv1a,
    format_seconds,
};
use proofmark_reference::{Installed, Tool};

use super::{FAILED, NO_TIME};
use crate::registry::find;

/// One tool's pairs for one configuration.
pub(super) struct Repetition {
    pub(super) tool: &'static dyn Tool,
    pub(super) installed: Installed,
    /// Order of the two runs, for each possible pair.
    pub(super) first: Vec<First>,
    pub(super) run_s: f64,
    /// Seconds of its last pair.
    pub(super) last_s: Option<f64>,
    /// Trials of proofmark and of the tool, one of each per pair.
    pub(super) ours: Vec<Trial>,
    pub(super) theirs: Vec<Trial>,
    pub(super) params: Params,
    pub(super) version: Option<String>,
    pub(super) command: Option<String>,
    pub(super) stage: Stage,
    /// True if the plan has no time for all of its pairs.
    pub(super) is_further: bool,
    /// True if the plan has time for none of them.
    pub(super) left_out: bool,
}

/// How far one tool's pairs are.
pub(super) enum Stage {
    /// It takes pairs, or has just taken the last.
    Open,
    /// It ended, which is not announced yet.
    Ended(End),
    /// Its end was announced; without a reason it has taken all pairs.
    Announced(Option<End>),
}

/// Why a tool runs no more.
pub(super) enum End {
    Failed(String),
    /// There was no time for a pair of so many seconds. It may run in the time that remains in the end.
    NoTime(f64),
    /// There is nothing to compare.
    NoTrials,
}

impl End {
    /// True if there was no time.
    pub(super) fn waits(&self) -> bool {
        matches!(self, Self::NoTime(_))
    }
}

/// Returns which of the two runs first in each pair: A B B A, so that drift and leftovers of either
/// affect both alike. A last pair without a counterpart has either order.
fn orders(pairs: usize, seed: u64) -> Vec<First> {
    let first = |pair: usize| match pair {
        last if pairs % 2 == 1 && last + 1 == pairs => {
            [First::Proofmark, First::Tool][seed as usize % 2]
        }
        even if even % 2 == 0 => First::Proofmark,
        _ => First::Tool,
    };
    (0..pairs).map(first).collect()
}

/// A number that differs between tools and configurations, and is the same in every run of a plan.
fn seed(tool: &str, point: usize) -> u64 {
    // The lowest bit alone would be the parity of the bytes.
    fnv1a(tool.bytes().chain(point.to_le_bytes())) >> 32
}

impl Repetition {
    pub(super) fn new(
        tool: &'static dyn Tool,
        installed: &Installed,
        pairs: &PlannedReference,
    ) -> Self {
        Self {
            tool,
            installed: installed.clone(),
            first: orders(pairs.runs as usize, seed(tool.id(), pairs.point)),
            run_s: pairs.run_s,
            last_s: None,
            ours: Vec::new(),
            theirs: Vec::new(),
            params: Params::default(),
            version: None,
            command: None,
            stage: Stage::Open,
            is_further: false,
            left_out: false,
        }
    }

    pub(super) fn failure(&self) -> String {
        match self.end() {
            Some(End::Failed(why)) => why.clone(),
            Some(End::NoTime(run_s)) => {
                format!(
                    "the time limit left no time for a pair of about {}",
                    format_seconds(*run_s)
                )
            }
            Some(End::NoTrials) => "the configuration has no result".to_owned(),
            None => "it did not run".to_owned(),
        }
    }

    /// True if it takes pairs.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Open)
    }

    /// True if it has not ended, or only for lack of time.
    pub(super) fn may_run(&self) -> bool {
        self.end().is_none_or(End::waits)
    }

    pub(super) fn has_failed(&self) -> bool {
        matches!(self.end(), Some(End::Failed(_)))
    }

    /// Why it runs no more; `None`: it may run, or has taken all pairs.
    pub(super) fn end(&self) -> Option<&End> {
        match &self.stage {
            Stage::Open => None,
            Stage::Ended(end) => Some(end),
            Stage::Announced(end) => end.as_ref(),
        }
    }

    /// The runs of the tool; `None` without a pair.
    pub(super) fn reference(&self, m: &RawMeasurement) -> Option<RawReference> {
        (!self.theirs.is_empty()).then(|| RawReference {
            tool: self.tool.id().to_owned(),
            version: self.version.clone().unwrap_or_else(|| self.installed.version.clone()),
            command: self.command.clone().unwrap_or_default(),
            trials: self.theirs.iter().map(|t| t.value).collect(),
            paired: self.ours.clone(),
            first: self.first[..self.ours.len()].to_vec(),
            printed: self.tool.description().printed,
            counts: self.counts(m).unwrap_or_default().to_owned(),
            params: self.params.clone(),
            evidence: self.theirs.clone(),
            findings: Vec::new(),
        })
    }

    /// The work that its figure counts.
    fn counts(&self, m: &RawMeasurement) -> Option<&'static str> {
        let spec = find(&m.workload)?.spec();
        self.tool.counts(self.tool.test_for(spec, &m.params)?)
    }

    pub(super) fn finding(&self) -> Option<Finding> {
        let tool = self.tool.id();
        let (check, message, advice) = match self.end()? {
            End::Failed(why) => {
                let command = self.command.as_deref().unwrap_or(tool);
                let advice = format!("run it by hand to see more: {command}");
                (FAILED, format!("{tool} failed: {why}"), advice)
            }
            End::NoTime(_) => {
                let (taken, of) = (self.theirs.len(), self.first.len());
                let why = self.failure();
                let advice = "raise --budget, or name fewer tools or workloads".to_owned();
                (NO_TIME, format!("{taken} of {of} pairs with {tool}: {why}"), advice)
            }
            End::NoTrials => return None,
        };
        Some(Finding::new(check, Severity::Note, message, advice))
    }
}
