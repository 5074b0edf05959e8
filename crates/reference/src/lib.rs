//! The reference tools: readers of their outputs, and their invocations for proofmark's workloads.
//!
//! Each tool has a folder. Its `captured/` contains outputs as the tool printed them, by version;
//! those named `made-` were written after published ones.

mod blocks;
#[cfg(test)]
mod captured;
mod common;
mod containers;
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
mod parts;
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
pub use figure::{Figure, Lack, Output};
pub use formats::{other_format, unread};
pub use malformed::Malformed;
pub(crate) use program::{on_path, path};
pub use runner::{Installed, Invocation, Ready, ReferenceRunner, Task};
pub(crate) use runner::{ask, refuse_if};

/// The description of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Description {
    /// The name as typed: `fio`.
    pub id: &'static str,
    /// The kind of its figure: proofmark compares it with the same figure of its own trials.
    pub printed: Printed,
    /// The name and author for people.
    pub title: &'static str,
    /// The package that contains it: `Debian: fio`.
    pub package: &'static str,
    /// The form of its output that is read: `its JSON (-J)`.
    pub reads: &'static str,
    /// The tests that do the work of workloads. proofmark runs the first of a workload's tests that
    /// applies to a configuration.
    pub same_work: &'static [SameWork],
    /// The outputs that are read, and the meaning of the figures: bytes read and written or copied
    /// once, which end of a connection, the size of a MB.
    pub about: &'static str,
}

/// A test of a tool that does the work of a workload.
#[derive(Debug, Clone)]
pub struct SameWork {
    /// The test, by the tool's own name: `Triad`.
    pub test: &'static str,
    /// The workload's id.
    pub workload: &'static str,
    /// The configurations that it applies to; `None`: all.
    pub when: Option<When>,
}

pub(crate) const fn same_work(test: &'static str, workload: &'static str) -> SameWork {
    SameWork { test, workload, when: None }
}

/// Declares the same work for configurations whose parameter has this value.
pub(crate) const fn same_work_where(
    test: &'static str,
    workload: &'static str,
    (key, value): (Key<Choice>, &'static str),
) -> SameWork {
    let when = When { parameter: Cow::Borrowed(key.name()), value: Cow::Borrowed(value) };
    SameWork { test, workload, when: Some(when) }
}

impl SameWork {
    /// Returns true if the test does the work of a configuration with these parameters.
    pub(crate) fn holds(&self, workload: &str, params: &Params) -> bool {
        self.workload == workload && self.when.as_ref().is_none_or(|when| when.holds(params))
    }
}

/// A tool whose output can be read, and which may be run.
pub trait Tool: ReferenceRunner {
    /// Returns its description.
    fn description(&self) -> &Description;

    /// Returns the prefix of the ids of its own tests, which the programs of one suite share.
    fn family(&self) -> &'static str {
        self.description().id
    }

    /// Returns true if a text looks like this tool's output, so that the user need not name the
    /// tool.
    fn recognises(&self, text: &str) -> bool;

    /// Returns the keys with which an object of the tool's JSON begins, each with the signs that
    /// follow it.
    fn first_keys(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Returns the figures of an output, a figure for each run. Fails with the error and its line.
    fn read(&self, text: &str) -> Result<Output, Malformed>;

    /// Returns the content of an output. Several runs of the same work are trials of one figure.
    fn parse(&self, text: &str) -> Result<Output, Malformed> {
        self.read(text).map(Output::merge_runs)
    }
}

impl<'t> dyn Tool + 't {
    /// Returns the name as typed: `fio`.
    pub fn id(&self) -> &'static str {
        self.description().id
    }

    /// Returns the first test that does the work of a configuration with these parameters, and that
    /// the tool can be run for.
    pub fn test_for(&self, spec: &WorkloadSpec, params: &Params) -> Option<&'static str> {
        let mut tests = self.description().same_work.iter().filter(|t| t.holds(&spec.id, params));
        tests.find(|t| self.counts(t.test).is_some()).map(|t| t.test)
    }

    /// Returns true if proofmark reads the tool's output but runs the tool for no workload.
    pub fn is_only_read(&self) -> bool {
        !self.description().same_work.iter().any(|t| self.counts(t.test).is_some())
    }

    /// Returns true if this test does that workload's work in every configuration.
    fn measures(&self, workload: &str, test: &str) -> bool {
        let same = |t: &SameWork| t.workload == workload && t.test == test && t.when.is_none();
        self.description().same_work.iter().any(same)
    }
}

/// All tools, in the order of `list`. If the user names none, proofmark runs the first installed
/// tool that can run a configuration.
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

/// Returns the tool of that name.
pub fn find(id: &str) -> Option<&'static dyn Tool> {
    ALL.iter().copied().find(|t| t.id() == id)
}

/// Reads an output, with any prefixes of other programs before each line. Returns it with the tool
/// that printed it. `None` if no tool recognises the text, or several do.
pub fn read(text: &str) -> Option<(&'static dyn Tool, Result<Output, Malformed>)> {
    envelope::read(text, |text| {
        let mut like = ALL.iter().copied().filter(|t| t.recognises(text));
        like.next().filter(|_| like.next().is_none())
    })
}

/// Reads an output of this tool.
pub fn read_as(tool: &'static dyn Tool, text: &str) -> Result<Output, Malformed> {
    let found = envelope::read(text, |text| Some(tool).filter(|tool| tool.recognises(text)));
    found.map_or_else(|| tool.parse(text), |(_, output)| output)
}
