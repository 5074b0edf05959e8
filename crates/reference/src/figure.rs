//! What a tool's output holds.

use std::borrow::Cow;

use proofmark_model::{Better, Latency, Params, Subsystem, Timestamp, Trial, Unit, WorkloadSpec};
use serde::Serialize;

/// What a tool's output holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Output {
    /// Version of the tool, where the output tells.
    pub version: Option<String>,
    /// When it ran, where the output tells.
    pub started: Option<Timestamp>,
    /// What it measured, in the order of the output; never empty.
    pub figures: Vec<Figure>,
}

/// One figure of an output, with its repetitions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Id of the workload of ours that does the same work, or for others `TOOL.NAME`, such as
    /// `iozone.stride_read`.
    pub workload: Cow<'static, str>,
    /// What was measured, in the tool's own words.
    pub title: String,
    /// Part of the machine.
    pub subsystem: Subsystem,
    /// Base unit of the values.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// The parameters as far as the output tells, by the names that workloads have for them; what has
    /// no such parameter by the tool's own name.
    pub params: Params,
    /// The repetitions, and the evidence that the output holds (device, network,
    /// solution).
    pub trials: Vec<Trial>,
    /// Times of single operations, where the output has them.
    pub latency: Option<Latency>,
}

impl Output {
    /// Adds a figure; one with the workload and the parameters of the last is a repetition of it.
    pub(crate) fn add(&mut self, more: Figure) {
        let same = |f: &&mut Figure| f.workload == more.workload && f.params == more.params;
        match self.figures.last_mut().filter(same) {
            Some(last) => last.trials.extend(more.trials),
            None => self.figures.push(more),
        }
    }
}

impl Figure {
    /// A rate, of which more is better, with one repetition.
    pub(crate) fn rate(
        workload: impl Into<Cow<'static, str>>,
        title: impl Into<String>,
        (subsystem, unit): (Subsystem, Unit),
        params: Params,
        trial: Trial,
    ) -> Self {
        Self {
            workload: workload.into(),
            title: title.into(),
            subsystem,
            unit,
            better: Better::Higher,
            params,
            trials: vec![trial],
            latency: None,
        }
    }

    /// A declaration for what no workload of ours measures.
    pub fn spec(&self) -> WorkloadSpec {
        WorkloadSpec {
            id: self.workload.clone(),
            title: self.title.clone().into(),
            summary: format!("{}, as another tool measured it.", self.title).into(),
            detail: "Imported: what ran and what is counted is the tool's; see its own documents."
                .into(),
            subsystem: self.subsystem,
            unit: self.unit,
            better: self.better,
            parameters: Cow::Borrowed(&[]),
            axis: None,
            ceilings: Cow::Borrowed(&[]),
            interleave: false,
        }
    }
}

/// A repetition of so much work, in the unit of the work, in so many seconds. Where the output
/// tells the rate and one of the two, the other follows. When it began is for who imports it.
pub(crate) fn trial(unit: Unit, work: f64, seconds: f64) -> Trial {
    Trial::new(unit, work, seconds)
}
