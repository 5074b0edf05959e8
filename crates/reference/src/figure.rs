//! What a tool's output holds.

use std::borrow::Cow;

use proofmark_model::{
    Better, Conditions, KernelSpec, Latency, Params, Subsystem, Timestamp, Trial, Unit,
};
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
    /// Id of the kernel of ours that does the same work, or for others `TOOL.NAME`, such as
    /// `iozone.stride_read`.
    pub kernel: Cow<'static, str>,
    /// What was measured, in the tool's own words.
    pub title: String,
    /// Part of the machine.
    pub subsystem: Subsystem,
    /// Base unit of the values.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// The knobs as far as the output tells, by the names that kernels have for them; what has
    /// no such knob by the tool's own name.
    pub params: Params,
    /// The repetitions: with [`trial`], and the evidence that the output holds (device, network,
    /// solution).
    pub trials: Vec<Trial>,
    /// Times of single operations, where the output has them.
    pub latency: Option<Latency>,
}

impl Figure {
    /// A declaration for what no kernel of ours measures.
    pub fn spec(&self) -> KernelSpec {
        KernelSpec {
            id: self.kernel.clone(),
            title: self.title.clone().into(),
            summary: format!("{}, as another tool measured it.", self.title).into(),
            detail: "Imported: what ran and what is counted is the tool's; see its own documents."
                .into(),
            subsystem: self.subsystem,
            unit: self.unit,
            better: self.better,
            knobs: Cow::Borrowed(&[]),
            axis: None,
            ceilings: Cow::Borrowed(&[]),
            interleave: false,
        }
    }
}

/// A repetition of so much work, in the unit of the work, in so many seconds. Where the output
/// tells the rate and one of the two, the other follows. When it began is for who imports it.
pub fn trial(unit: Unit, work: f64, seconds: f64) -> Trial {
    Trial {
        value: unit.value(work, seconds),
        seconds,
        work,
        moved: None,
        background: None,
        started: Timestamp::default(),
        conditions: Conditions::default(),
        device: None,
        file: None,
        network: None,
        solution: None,
    }
}
