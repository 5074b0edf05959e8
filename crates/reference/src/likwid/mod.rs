//! likwid-bench of LIKWID, by the RRZE of Erlangen: loops written in assembly, one for each
//! instruction set and kind of store, timed as they are.

mod name;
mod runner;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use proofmark_model::{Params, Printed, Subsystem, Unit};

use crate::rated::{rated, took};
use crate::text::{Labels, lines, positive, whole, wrong_if};
use crate::{Description, Figure, Malformed, Output, Tool, same_work, same_work_where};
use name::Name;

pub(crate) struct LikwidBench;

impl Tool for LikwidBench {
    fn description(&self) -> &Description {
        &Description {
            id: "likwid-bench",
            printed: Printed::Mean,
            title: "likwid-bench, RRZE Erlangen",
            package: "Debian: likwid",
            same_work: const {
                &[
                    same_work_where("load", "memory.sweep", ("op", "read")),
                    same_work_where("store", "memory.sweep", ("op", "write")),
                    same_work_where("copy", "memory.sweep", ("op", "copy")),
                    same_work("copy", "memory.copy"),
                    same_work("stream", "memory.triad"),
                    same_work("load", "memory.read"),
                    same_work("store", "memory.write"),
                ]
            },
            about: "Reads the text that likwid-bench prints for one test. MByte is 10^6 bytes. \
                    likwid-bench counts the bytes that the loop reads and writes, not what the \
                    hardware reads before it overwrites. The rate is that of all iterations \
                    together, over the time of the slowest thread. proofmark splits the names of \
                    the loops copy, load, store and stream (STREAM's Triad) of 64-bit numbers. The \
                    instruction set and the kind of store become parameters; array_size is one \
                    array over all threads. likwid's own triad has four arrays: it and every other \
                    test become likwid-bench.NAME, those of peakflops in operations a second.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(|line| line == TITLE)
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let report = Report::read(text)?;
        let (_, test) = report.labels.need("Test")?;
        let name = Name::read(test);
        // Of a test that only computes, the bytes that it loads meanwhile say nothing.
        let (what, rate, work) = match test.starts_with("peakflops") {
            true => ((Subsystem::Cpu, Unit::FlopPerSecond), "MFlops/s", "Number of Flops"),
            false => ((Subsystem::Memory, Unit::BytePerSecond), "MByte/s", "Data volume (Byte)"),
        };
        let (at, rate) = report.labels.need(rate)?;
        let rate = positive(rate, at)? * 1e6;
        let trial = rated(what.1, report.labels.whole(work)? as f64, rate, at)?;
        let (at, time) = report.labels.need("Time")?;
        let seconds = time.strip_suffix(" sec");
        let seconds = seconds.ok_or_else(|| Malformed::quoting(at, time, "does not end in sec"))?;
        took(&trial, seconds, at)?;
        let params = report.params(name.as_ref())?;
        let own: Cow<'static, str> = match &name {
            Some(name) => name.of.name.into(),
            None => Malformed::excerpt(test).into(),
        };
        let title = format!("likwid-bench {}", Malformed::excerpt(test));
        let figures = vec![Figure::rate(own, title, what, params, trial)];
        Ok(Output { version: None, started: None, figures })
    }
}

const TITLE: &str = "LIKWID MICRO BENCHMARK";

struct Report<'a> {
    labels: Labels<'a>,
    threads: Option<u64>,
}

impl<'a> Report<'a> {
    fn read(text: &'a str) -> Result<Self, Malformed> {
        let mut report = Self { labels: Labels::default(), threads: None };
        let mut begun = false;
        for (at, line) in lines(text) {
            report.labels.last = at;
            if line == TITLE {
                wrong_if(begun, at, "a second report; one at a time")?;
                begun = true;
            } else if line.starts_with("ERROR") {
                return Err(Malformed::at(at, Malformed::excerpt(line)));
            } else if let Some(threads) =
                line.strip_prefix("Using ").and_then(|l| l.strip_suffix(" threads"))
            {
                report.threads = Some(whole(threads, at)?);
            } else if let (true, Some((label, value))) = (begun, line.split_once(':')) {
                report.labels.insert(label, at, value);
            }
        }
        if begun {
            Ok(report)
        } else {
            Err(Malformed::at(report.labels.last.max(1), "no report of likwid-bench"))
        }
    }

    fn params(&self, name: Option<&Name>) -> Result<Params, Malformed> {
        let size = self.labels.whole("Size (Byte)")?;
        let iterations = self.labels.whole("Iterations per thread")?;
        let params =
            Params::default().with("iterations", iterations).known("threads", self.threads);
        let Some(name) = name else { return Ok(params.with("size", size)) };
        let stores = if name.nontemporal { "nontemporal" } else { "temporal" };
        Ok(params
            .with("isa", name.isa)
            .with("array_size", size / name.of.arrays)
            .known("stores", name.of.stores.then_some(stores))
            .known("fma", name.fused.then_some("on")))
    }
}
