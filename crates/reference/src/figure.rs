//! The figures in a tool's output.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{
    Better, Finding, Latency, Parameter, ParameterKind, Params, Role, Severity, Subsystem,
    Timestamp, Trial, Unit, Work, WorkloadSpec, key,
};
use serde::Serialize;

use crate::findings::without;
use crate::{Malformed, Task, Tool};

/// The content of a tool's output.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Output {
    /// The version of the tool, where the output reports it.
    pub version: Option<String>,
    /// The start of the run, where the output reports it.
    pub started: Option<Timestamp>,
    /// The figures, in the order of the output; never empty.
    pub figures: Vec<Figure>,
    /// The parts of the output without a figure, each with the reason.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub without_figure: BTreeSet<String>,
}

/// One figure of an output, with its repetitions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// The test, by the tool's own name: `Triad`, `randread`, `stride read`.
    pub test: Cow<'static, str>,
    /// False if options or modes made it other work than that test's, which no workload does.
    pub comparable: bool,
    /// The test's name for people.
    pub title: String,
    /// The part of the machine.
    pub subsystem: Subsystem,
    /// The base unit of the values.
    pub unit: Unit,
    /// The direction that is better.
    pub better: Better,
    /// The parameters that the output reports, by the names that workloads use. A parameter that no
    /// workload has keeps the tool's own name.
    pub params: Params,
    /// The repetitions, with the evidence in the output (device, network, solution).
    pub trials: Vec<Trial>,
    /// The times of single operations, where the output has them.
    pub latency: Option<Latency>,
    /// The proof of the work in the output, where no trial has evidence: `STREAM validated its
    /// arrays`.
    pub proof: Option<&'static str>,
    /// The reason why the output proves nothing, where the subsystem's usual one does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lack: Option<Lack>,
    /// The warnings of the tool about the figure, and contradictions within its output.
    pub findings: Vec<Finding>,
}

/// The reason why nothing in an output proves the work, with the action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lack {
    /// What is missing, or why it proves nothing.
    pub why: String,
    /// What the user of the tool can do.
    pub advice: String,
}

/// The parameters that are sizes in bytes in all tools.
const SIZES: &[&str] = &[
    key::AMOUNT.name(),
    key::ARRAY_SIZE.name(),
    key::BLOCK_SIZE.name(),
    key::FILE_SIZE.name(),
    "request_size",
    "response_size",
    key::SOCKET_BUFFER.name(),
    key::WINDOW.name(),
    key::WORKING_SET.name(),
];

/// The part of the machine and the unit of most figures.
pub(crate) const FLOPS: (Subsystem, Unit) = (Subsystem::Cpu, Unit::FlopPerSecond);
pub(crate) const MEMORY: (Subsystem, Unit) = (Subsystem::Memory, Unit::BytePerSecond);
pub(crate) const DISK: (Subsystem, Unit) = (Subsystem::Disk, Unit::BytePerSecond);

/// The id of the note that runs became trials.
const SEVERAL_RUNS: &str = "several_runs";

impl Output {
    /// Adds the parts that have no figure to all figures' findings. Fails with the first of them if
    /// there is no figure.
    pub(crate) fn with_lost(mut self, lost: &[Malformed]) -> Result<Self, Malformed> {
        if let (true, Some(first)) = (self.figures.is_empty(), lost.first()) {
            return Err(first.clone());
        }
        self.lose(lost);
        Ok(self)
    }

    /// Adds the reasons why other parts have no figure.
    pub(crate) fn lose<T: ToString>(&mut self, reasons: impl IntoIterator<Item = T>) {
        for finding in reasons.into_iter().map(|why| without(&why.to_string())) {
            self.without_figure.insert(finding.message.clone());
            for figure in &mut self.figures {
                figure.findings.push(finding.clone());
            }
        }
    }

    /// Adds the figures of another output of the same tool.
    pub(crate) fn add(&mut self, other: Self) {
        self.figures.extend(other.figures);
        self.without_figure.extend(other.without_figure);
        self.version = self.version.take().or(other.version);
        self.started = self.started.or(other.started);
    }

    /// Merges the repetitions of a figure into its trials: the runs with the same test, title and
    /// parameters.
    pub(crate) fn merge_runs(mut self) -> Self {
        let mut places = BTreeMap::new();
        let (mut figures, mut runs): (Vec<Figure>, Vec<usize>) = (Vec::new(), Vec::new());
        for figure in self.figures {
            let title = figure.title.clone();
            let key = (figure.test.clone(), title, figure.comparable, figure.params.clone());
            let next = figures.len();
            let place = *places.entry(key).or_insert(next);
            match figures.get_mut(place).zip(runs.get_mut(place)) {
                Some((first, runs)) => {
                    first.repeat(figure);
                    *runs += 1;
                }
                None => {
                    figures.push(figure);
                    runs.push(1);
                }
            }
        }
        for (figure, runs) in figures.iter_mut().zip(runs).filter(|(_, runs)| *runs > 1) {
            let what = format!("{runs} runs in the file are taken as made one after another");
            let advice = "if they ran at the same time, their sum is the figure";
            figure.findings.push(Finding::new(SEVERAL_RUNS, Severity::Note, what, advice));
        }
        for finding in figures.iter_mut().flat_map(|figure| &mut figure.findings) {
            *finding = finding.clone().found_in_output();
        }
        self.figures = figures;
        self
    }
}

impl Figure {
    /// Creates a rate with one repetition. Higher is better.
    pub(crate) fn rate(
        test: impl Into<Cow<'static, str>>,
        title: impl Into<String>,
        (subsystem, unit): (Subsystem, Unit),
        params: Params,
        trial: Trial,
    ) -> Self {
        Self {
            test: test.into(),
            comparable: true,
            title: title.into(),
            subsystem,
            unit,
            better: Better::Higher,
            params,
            trials: vec![trial],
            latency: None,
            proof: None,
            lack: None,
            findings: Vec::new(),
        }
    }

    /// Adds the trials of a repetition. Percentiles of several runs cannot be merged.
    fn repeat(&mut self, more: Self) {
        self.trials.extend(more.trials);
        self.latency = None;
        self.proof = self.proof.and(more.proof);
        for finding in more.findings {
            if !self.findings.contains(&finding) {
                self.findings.push(finding);
            }
        }
    }

    /// Returns the figure as one of the task's test.
    pub(crate) fn with_test_of(self, task: &Task) -> Self {
        Self { test: task.test.to_owned().into(), comparable: true, ..self }
    }

    /// Returns the declaration of the first of these workloads that does the same work in every
    /// configuration. Other work gets its own declaration, with an id such as `iozone.stride_read`.
    pub fn declaration<'a>(
        &self,
        tool: &dyn Tool,
        workloads: impl IntoIterator<Item = &'a WorkloadSpec>,
    ) -> Cow<'a, WorkloadSpec> {
        let is_measured = |spec: &&WorkloadSpec| tool.measures(&spec.id, &self.test);
        let same = workloads.into_iter().find(is_measured).filter(|_| self.comparable);
        same.map_or_else(|| Cow::Owned(self.own_declaration(tool)), Cow::Borrowed)
    }

    /// Declares the sizes among the parameters, so that they are shown as sizes.
    fn sizes(&self) -> Vec<Parameter> {
        let size = |name: &&&str| self.params.number(name).is_some();
        let declared = |name: &&'static str| Parameter {
            name: Cow::Borrowed(name),
            about: Cow::Borrowed("As the output reports it."),
            kind: ParameterKind::Size { min: 0, max: u64::MAX },
            default: Cow::Borrowed(""),
        };
        SIZES.iter().filter(size).map(declared).collect()
    }

    /// Returns a declaration for work that no workload does.
    fn own_declaration(&self, tool: &dyn Tool) -> WorkloadSpec {
        let test = self.test.replace(' ', "_").to_lowercase();
        let pace = self.subsystem.info().pace;
        WorkloadSpec {
            id: format!("{}.{test}", tool.family()).into(),
            title: self.title.clone().into(),
            summary: format!("{}, as another tool measured it.", self.title).into(),
            detail: "Imported: what ran and what is counted is the tool's; see its own documents."
                .into(),
            method: 1,
            subsystem: self.subsystem,
            unit: self.unit,
            better: self.better,
            parameters: Cow::Owned(self.sizes()),
            axis: None,
            ceilings: Cow::Borrowed(&[]),
            interleave: false,
            work: Work { pace, ..Work::CORE },
            role: Role::NONE,
        }
    }
}
