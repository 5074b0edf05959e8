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
mod fio;
mod formats;
mod hpl;
mod iozone;
mod iperf;
mod iperf3;
mod lapack;
mod likwid;
mod linpack;
mod lmbench;
mod malformed;
mod netperf;
mod network;
mod place;
mod program;
mod rated;
mod runner;
mod sockperf;
mod stream;
mod sysbench;
#[cfg(test)]
mod testing;
mod text;

use proofmark_model::{Params, Printed, WorkloadSpec};

pub use envelope::decoded;
pub use figure::{Figure, Output};
pub use formats::unread;
pub use malformed::Malformed;
pub use program::{OWN_VARIABLES, raise_open_files, spawn};
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
    /// Which outputs are read, and what the tool's figures count: bytes read and written or copied
    /// once, which end of a connection, what a MB is.
    pub about: &'static str,
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

    /// What an output holds, or what is wrong with it, and where.
    fn parse(&self, text: &str) -> Result<Output, Malformed>;
}

impl<'t> dyn Tool + 't {
    /// Name, as it is typed: `fio`.
    pub fn id(&self) -> &'static str {
        self.description().id
    }

    /// The first of its tests that does the work of a point with these parameters, and that it can
    /// be run for, as the workload declares.
    pub fn test_for<'a>(&self, spec: &'a WorkloadSpec, params: &'a Params) -> Option<&'a str> {
        let id = self.id();
        spec.role.tests_of(id, params).find(|test| self.counts(test).is_some())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Packages of a text such as `Debian: hpcc`, `compiled, or Debian: lmbench (non-free)`.
    fn debian_packages(package: &str) -> Vec<&str> {
        let named = package.split_once("Debian: ").map_or("", |(_, named)| named);
        let words = named.split(',').filter_map(|part| part.split_whitespace().next());
        words.collect()
    }

    #[test]
    fn the_packages_of_debian_are_those_of_the_script() {
        const SCRIPT: &str =
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/references"));
        let wanted = SCRIPT.lines().find_map(|line| line.strip_prefix("wanted=\"")).unwrap();
        let wanted: Vec<&str> = wanted.trim_end_matches('"').split(' ').collect();
        let named: Vec<&str> =
            ALL.iter().flat_map(|t| debian_packages(t.description().package)).collect();
        assert!(named.len() > ALL.len(), "{named:?}");
        for package in &named {
            // Its licence is Intel's, so nobody but the user installs it.
            assert!(wanted.contains(package) || *package == "libmkl-rt", "{package}");
        }
        for package in wanted {
            assert!(named.contains(&package), "{package} is for no tool");
        }
    }
}
