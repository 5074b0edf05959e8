//! Reading what likwid-bench prints: a label and a value a line.

use std::borrow::Cow;

use proofmark_model::{Params, Subsystem, Unit};

use super::name::Name;
use crate::rated::{rated, took};
use crate::text::{Labels, lines, positive, whole};
use crate::{Figure, Malformed, Output};

/// The line above each report.
pub(super) const TITLE: &str = "LIKWID MICRO BENCHMARK";

/// What a report says.
struct Report<'a> {
    labels: Labels<'a>,
    threads: Option<u64>,
}

/// What the listing holds.
pub(super) fn parse(text: &str) -> Result<Output, Malformed> {
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

impl<'a> Report<'a> {
    fn read(text: &'a str) -> Result<Self, Malformed> {
        let mut report = Self { labels: Labels::default(), threads: None };
        let mut begun = false;
        for (at, line) in lines(text) {
            report.labels.last = at;
            if line == TITLE {
                if begun {
                    return Err(Malformed::at(at, "a second report; one at a time"));
                }
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
        let mut params = Params::default().with("iterations", iterations);
        if let Some(threads) = self.threads {
            params = params.with("threads", threads);
        }
        let Some(name) = name else { return Ok(params.with("size", size)) };
        params = params.with("isa", name.isa).with("array_size", size / name.of.arrays);
        if name.of.stores {
            params =
                params.with("stores", if name.nontemporal { "nontemporal" } else { "temporal" });
        }
        if name.fused {
            params = params.with("fma", "on");
        }
        Ok(params)
    }
}
