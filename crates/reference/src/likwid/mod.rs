//! likwid-bench of LIKWID (RRZE Erlangen): assembly loops, one for each instruction set and kind of
//! store.

mod name;
mod runner;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use proofmark_model::{Finding, Params, Printed, key, word};

use crate::figure::{FLOPS, MEMORY};
use crate::findings::differ_unless;
use crate::labels::Labels;
use crate::printed::{Rounded, agree, rated, took};
use crate::text::{lines, need, number, positive, whole, wrong_if};
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
            reads: "its text",
            same_work: const {
                &[
                    same_work_where("load", "memory.sweep", (key::OPERATION, word::READ)),
                    same_work_where("store", "memory.sweep", (key::OPERATION, word::WRITE)),
                    same_work_where("copy", "memory.sweep", (key::OPERATION, word::COPY)),
                    same_work("copy", "memory.copy"),
                    same_work("stream", "memory.triad"),
                    same_work("load", "memory.read"),
                    same_work("store", "memory.write"),
                ]
            },
            about: "Reads the text that likwid-bench 4 and 5 print. Runs of a test with the same \
                    parameters are trials. MByte is 10^6 bytes. likwid-bench counts the bytes that the loop reads and writes, not what the \
                    hardware reads before it overwrites. The rate is that of all iterations \
                    together, over the time of the slowest thread. proofmark splits the names of \
                    the loops copy, load, store and stream (STREAM's Triad) of 64-bit numbers. The \
                    instruction set and the kind of store become parameters; array_size is one \
                    array over all threads. likwid's own triad has four arrays: it and every other \
                    test become likwid-bench.NAME, those of peakflops in operations a second. So do \
                    work groups (-w) with sets of several sizes, of which it prints the sum. \
                    proofmark refuses a rate that contradicts its time, and warns if cycles, \
                    iterations or operations do.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(|line| line == TITLE)
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let reports = reports(text)?;
        let figures = reports.iter().map(Report::figure).collect::<Result<_, _>>()?;
        Ok(Output { figures, ..Output::default() })
    }
}

const TITLE: &str = "LIKWID MICRO BENCHMARK";

/// The relative error of a time or a rate printed with six digits.
const SHARE: f64 = 1e-3;

/// A run.
#[derive(Default)]
struct Report<'a> {
    labels: Labels<'a>,
    groups: Option<u64>,
    threads: Option<u64>,
}

/// Splits a text into reports, each from its title on.
fn reports(text: &str) -> Result<Vec<Report<'_>>, Malformed> {
    let mut all: Vec<Report> = Vec::new();
    for (at, line) in lines(text) {
        if line == TITLE {
            all.push(Report::default());
        } else if line.starts_with("ERROR") {
            return Err(Malformed::at(at, Malformed::excerpt(line)));
        }
        let Some(report) = all.last_mut() else { continue };
        report.labels.last = at;
        if let Some(used) = line.strip_prefix("Using ") {
            if let Some(threads) = used.strip_suffix(" threads") {
                report.threads = Some(whole(threads, at)?);
            } else if let Some(groups) = used.strip_suffix(" work groups") {
                report.groups = Some(whole(groups, at)?);
            }
        } else if let Some((label, value)) = line.split_once(':') {
            // A later value, such as in the next command, does not belong to the report.
            if report.labels.get(label).is_none() {
                report.labels.insert(label, at, value);
            }
        }
    }
    wrong_if(all.is_empty(), text.lines().count().max(1), "no report of likwid-bench")?;
    Ok(all)
}

impl Report<'_> {
    fn figure(&self) -> Result<Figure, Malformed> {
        let (_, test) = self.labels.need("Test")?;
        let name = Name::read(test);
        // For a test that only computes, the loaded bytes are no figure.
        let flops = test.starts_with("peakflops");
        let (what, rate, work) = match flops {
            true => (FLOPS, "MFlops/s", "Number of Flops"),
            false => (MEMORY, "MByte/s", "Data volume (Byte)"),
        };
        let (at, rate) = self.labels.need(rate)?;
        let rate = positive(rate, at)? * 1e6;
        let trial = rated(what.1, self.labels.whole(work)? as f64, rate, at)?;
        let (at, seconds) = self.labels.need("Time")?;
        let seconds = seconds.strip_suffix(" sec");
        let seconds = need(seconds, at, "the Time does not end in sec")?;
        took(&trial, seconds, at)?;
        let findings = self.differences(number(seconds, at)?, name.is_some())?;
        let own: Cow<'static, str> = match &name {
            Some(name) => name.base.name.into(),
            None => Malformed::excerpt(test).into(),
        };
        let title = format!("likwid-bench {}", Malformed::excerpt(test));
        let figure = Figure::rate(own, title, what, self.params(name.as_ref())?, trial);
        Ok(Figure { comparable: !self.uneven()?, findings, ..figure })
    }

    /// Returns the bytes of all threads. Versions before 5 name them `Size`.
    fn size(&self) -> Result<u64, Malformed> {
        let (at, size) = self.labels.need_any(&["Size (Byte)", "Size"])?;
        whole(size, at)
    }

    /// Returns true if its work groups have sets of several sizes, of which it prints the first.
    fn uneven(&self) -> Result<bool, Malformed> {
        if self.labels.get("Size per thread").is_none() || self.groups.is_none_or(|n| n < 2) {
            return Ok(false);
        }
        let each = self.labels.whole("Size per thread")?;
        Ok(self.threads.and_then(|n| n.checked_mul(each)) != Some(self.size()?))
    }

    /// Returns contradictions: time and cycles, bytes and iterations, operations and their rate.
    /// Only the known loops use each array once (`once`).
    fn differences(&self, seconds: f64, once: bool) -> Result<Vec<Finding>, Malformed> {
        let value = |labels: &[&str]| {
            self.labels.value(labels, "").map(|number| number.map(|number| number.value))
        };
        let clock = value(&["Cycles"])?.zip(value(&["Cycle Clock", "CPU Clock"])?);
        let size = self.size()? as f64;
        let volume = value(&["Data volume (Byte)"])?.zip(value(&["Iterations per thread"])?);
        let flops = value(&["Number of Flops"])?.zip(value(&["MFlops/s"])?);
        let accounts = [
            (
                clock.map(|(cycles, hertz)| (seconds.into(), cycles / hertz)),
                "the time in s, and the cycles by their clock",
            ),
            (
                volume.filter(|_| once).map(|(bytes, n)| (bytes.into(), n * size)),
                "the data volume in bytes, and size x iterations",
            ),
            (
                flops.map(|(n, rate)| {
                    (Rounded { value: n / 1e6, off: 0.01 * seconds }, rate * seconds)
                }),
                "millions of operations, and rate x time",
            ),
        ];
        let found = accounts.into_iter().filter_map(|(both, what)| {
            let (one, other) = both?;
            differ_unless(agree(one, other, SHARE), || format!("{what}: {} and {other}", one.value))
        });
        Ok(found.collect())
    }

    fn params(&self, name: Option<&Name>) -> Result<Params, Malformed> {
        let size = self.size()?;
        let iterations = self.labels.whole("Iterations per thread")?;
        let params = Params::default()
            .with(key::ITERATIONS, iterations)
            .known(key::THREADS, self.threads)
            .known_named("work_groups", self.groups.filter(|n| *n > 1));
        let Some(name) = name.filter(|_| !self.uneven().unwrap_or(true)) else {
            return Ok(params.with_named("size", size));
        };
        let stores = if name.nontemporal { "nontemporal" } else { "temporal" };
        Ok(params
            .with(key::ISA, name.isa)
            .with(key::ARRAY_SIZE, size / name.base.arrays)
            .known(key::STORES, name.base.stores.then_some(stores))
            .known_named("fma", name.fused.then_some("on")))
    }
}
