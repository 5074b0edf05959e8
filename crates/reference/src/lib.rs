//! The tools that people already trust: what their outputs hold, in our words.
//!
//! One folder a tool; its `captured/` holds outputs as the tool printed them, by version; those
//! named `made-` were written after published ones.

#[cfg(test)]
mod captured;
mod data;
mod dense;
mod disk;
mod documents;
mod envelope;
mod figure;
mod findings;
mod fio;
mod formats;
mod hpl;
mod iozone;
mod iperf;
mod iperf3;
mod labels;
mod lapack;
mod likwid;
mod linpack;
mod lmbench;
mod malformed;
mod netperf;
mod network;
mod nuttcp;
mod place;
mod prefixes;
mod printed;
mod program;
mod qperf;
mod runner;
mod sockperf;
mod stream;
mod sysbench;
#[cfg(test)]
mod testing;
mod text;

use std::borrow::Cow;

use proofmark_model::key::{Choice, Key};
use proofmark_model::{Params, Printed, When, WorkloadSpec};

pub use envelope::decoded;
pub use figure::{Figure, Output};
pub use formats::{beside, unread};
pub use malformed::Malformed;
pub(crate) use program::{on_path, path};
pub use runner::{Installed, Invocation, Ready, ReferenceRunner, Task};
pub(crate) use runner::{ask, refuse_if};

/// What a tool is.
#[derive(Debug, Clone, Copy)]
pub struct Description {
    /// Name, as it is typed: `fio`.
    pub id: &'static str,
    /// What its figure is: proofmark compares it with the same figure of its own trials.
    pub printed: Printed,
    /// Name and author, for people.
    pub title: &'static str,
    /// What brings it: `Debian: fio`.
    pub package: &'static str,
    /// The tests of it that do the work of workloads: of those of one workload that apply to a
    /// point, the first is run.
    pub same_work: &'static [SameWork],
    /// Which outputs are read, and what the tool's figures count: bytes read and written or copied
    /// once, which end of a connection, what a MB is.
    pub about: &'static str,
}

/// A test of a tool that does the work of a workload.
#[derive(Debug, Clone)]
pub struct SameWork {
    /// The test, by the tool's own name of it: `Triad`.
    pub test: &'static str,
    /// The workload's id.
    pub workload: &'static str,
    /// The points that this holds for; `None`: all.
    pub when: Option<When>,
}

pub(crate) const fn same_work(test: &'static str, workload: &'static str) -> SameWork {
    SameWork { test, workload, when: None }
}

/// At the points whose parameter has that value.
pub(crate) const fn same_work_where(
    test: &'static str,
    workload: &'static str,
    (key, value): (Key<Choice>, &'static str),
) -> SameWork {
    let when = When { parameter: Cow::Borrowed(key.name()), value: Cow::Borrowed(value) };
    SameWork { test, workload, when: Some(when) }
}

impl SameWork {
    /// Whether the test does the work of a point with these parameters.
    pub(crate) fn holds(&self, workload: &str, params: &Params) -> bool {
        self.workload == workload && self.when.as_ref().is_none_or(|when| when.holds(params))
    }
}

/// A tool that can be run, and whose output can be read.
pub trait Tool: ReferenceRunner {
    /// What it is.
    fn description(&self) -> &Description;

    /// What the ids of its own tests begin with: the programs of one suite share it.
    fn family(&self) -> &'static str {
        self.description().id
    }

    /// Whether a text looks like this tool's output, so that nobody has to name the tool.
    fn recognises(&self, text: &str) -> bool;

    /// The figures of an output, those of each run for themselves, or what is wrong with it, and
    /// where.
    fn read(&self, text: &str) -> Result<Output, Malformed>;

    /// What an output holds: of several runs, those of the same work are trials of one figure.
    fn parse(&self, text: &str) -> Result<Output, Malformed> {
        self.read(text).map(Output::together)
    }
}

impl<'t> dyn Tool + 't {
    /// Name, as it is typed: `fio`.
    pub fn id(&self) -> &'static str {
        self.description().id
    }

    /// The first of its tests that does the work of a point with these parameters, and that it can
    /// be run for.
    pub fn test_for(&self, spec: &WorkloadSpec, params: &Params) -> Option<&'static str> {
        let mut tests = self.description().same_work.iter().filter(|t| t.holds(&spec.id, params));
        tests.find(|t| self.counts(t.test).is_some()).map(|t| t.test)
    }

    /// Whether that test does that workload's work at every point.
    fn measures(&self, workload: &str, test: &str) -> bool {
        let same = |t: &SameWork| t.workload == workload && t.test == test && t.when.is_none();
        self.description().same_work.iter().any(same)
    }
}

/// All tools, in the order in which `list` shows them; of several that can repeat a point, the
/// first that is installed is run if none is named.
pub const ALL: &[&dyn Tool] = &[
    &fio::Fio,
    &iozone::Iozone,
    &stream::Stream,
    &likwid::LikwidBench,
    &lmbench::Latency,
    &lmbench::Bandwidth,
    &lmbench::Stream,
    &linpack::Linpack,
    &lapack::MKL,
    &lapack::OPENBLAS,
    &lapack::BLIS,
    &hpl::Hpl,
    &sysbench::Sysbench,
    &iperf3::Iperf3,
    &iperf::Iperf,
    &netperf::Netperf,
    &sockperf::Sockperf,
    &nuttcp::Nuttcp,
    &qperf::Qperf,
];

/// The tool of that name.
pub fn find(id: &str) -> Option<&'static dyn Tool> {
    ALL.iter().copied().find(|t| t.id() == id)
}

/// The tool whose output this is, and what it holds, whatever other programs put before each line. `None` if
/// it looks like none's, or like several's.
pub fn read(text: &str) -> Option<(&'static dyn Tool, Result<Output, Malformed>)> {
    envelope::read(text, |text| {
        let mut like = ALL.iter().copied().filter(|t| t.recognises(text));
        like.next().filter(|_| like.next().is_none())
    })
}

/// What an output of this tool holds.
pub fn read_as(tool: &'static dyn Tool, text: &str) -> Result<Output, Malformed> {
    let found = envelope::read(text, |text| Some(tool).filter(|tool| tool.recognises(text)));
    found.map_or_else(|| tool.parse(text), |(_, output)| output)
}
