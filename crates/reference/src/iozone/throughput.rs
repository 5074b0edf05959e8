//! The throughput mode: several processes, each with its own file.

use proofmark_model::Unit;

use super::work::{KB, Mode, Sizes};
use crate::findings::differ;
use crate::printed::{agree, rated};
use crate::text::{need, positive, wrong_if};
use crate::{Figure, Malformed, Output};

/// The tests by the name of their processes, with their names in the matrix.
const TESTS: &[(&str, &str)] = &[
    ("initial writers", "write"),
    ("rewriters", "rewrite"),
    ("readers", "read"),
    ("re-readers", "reread"),
    ("reverse readers", "bkwd read"),
    ("stride readers", "stride read"),
    ("random readers", "random read"),
    ("mixed workload", "mixed workload"),
    ("random writers", "random write"),
    ("pwrite writers", "pwrite"),
    ("pread readers", "pread"),
    ("fwriters", "fwrite"),
    ("freaders", "fread"),
];

/// A test whose lines have not all been read.
struct Open {
    line: usize,
    test: &'static str,
    processes: u64,
    /// The rate of all processes in bytes per second.
    children: f64,
    parent: Option<f64>,
}

/// The state of the throughput mode after the lines so far.
#[derive(Default)]
pub(super) struct Throughput {
    /// The bytes of each file and of a record.
    sizes: Option<(u64, Option<u64>)>,
    open: Option<Open>,
    /// The processes and the rate of the test whose mean follows.
    done: Option<(u64, f64)>,
    /// True if the files have been written.
    written: bool,
}

/// The relative error between a sum and its mean times its number, from rounding.
const ROUNDED: f64 = 1e-3;

/// The maximum ratio of the parent's rate to the children's. It should be below 1: the parent's
/// time includes theirs.
const ABOVE: f64 = 1.05;

impl Throughput {
    /// Reads a line without its indentation; `false` if it does not belong to this mode.
    pub(super) fn line(
        &mut self,
        mode: &Mode,
        text: &str,
        at: usize,
        output: &mut Output,
    ) -> Result<bool, Malformed> {
        let after_sign = text.split_once('=').map_or("", |(_, rest)| rest);
        if text.starts_with("Each ") && text.contains(" writes a ") {
            self.sizes = Some(sizes(text, at)?);
        } else if let Some(rest) = text.strip_prefix("Children see throughput for ") {
            self.end()?;
            let (processes, test, rest) = named(rest, at)?;
            let children = self.rate(rest, at)?;
            self.open = Some(Open { line: at, test, processes, children, parent: None });
        } else if let Some(rest) = text.strip_prefix("Parent sees throughput for ") {
            let (processes, test, rest) = named(rest, at)?;
            let parent = self.rate(rest, at)?;
            let open = self.open.as_mut().filter(|o| (o.processes, o.test) == (processes, test));
            let open = need(open, at, "no 'Children see' of the same test before it")?;
            open.parent = Some(parent);
        } else if text.starts_with("Max throughput per ") {
            let fastest = self.rate(after_sign, at)?;
            output.figures.extend(self.close(mode, fastest, at)?);
        } else if text.starts_with("Avg throughput per ") {
            let mean = self.rate(after_sign, at)?;
            if let Some((processes, sum)) = self.done.take() {
                let off = !agree(mean * processes as f64, sum, ROUNDED);
                wrong_if(
                    off,
                    at,
                    "the mean times the processes is not the rate of 'Children see'",
                )?;
            }
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Checks that no test lacks its last lines.
    pub(super) fn end(&self) -> Result<(), Malformed> {
        match &self.open {
            Some(open) => Err(Malformed::at(open.line, "no 'Max throughput' follows")),
            None => Ok(()),
        }
    }

    /// Returns the figures of a test whose fastest process moved this many bytes per second. When
    /// that process has finished its file, IOzone stops the others, so until then all of them
    /// worked.
    fn close(&mut self, mode: &Mode, fastest: f64, at: usize) -> Result<Vec<Figure>, Malformed> {
        let (Some(open), Some((file, record))) = (self.open.take(), self.sizes) else {
            return Err(Malformed::at(at, "no 'Children see' before it"));
        };
        let sizes = Sizes { file, record, processes: open.processes };
        let bytes = open.children * (file as f64 / fastest);
        let trial = |rate| rated(Unit::BytePerSecond, bytes, rate, at);
        self.done = Some((open.processes, open.children));
        let figure =
            |rate| trial(rate).map(|trial| mode.figure(open.test, sizes, trial, self.written));
        let mut figures = vec![figure(open.children)?];
        if let Some(parent) = open.parent {
            let figure = figure(parent)?;
            let test = format!("{}.parent", open.test).into();
            let title = format!("{}, as the parent sees it", open.test);
            figures.push(Figure { test, title, ..figure });
            if parent > ABOVE * open.children {
                let message =
                    "the parent's rate is above the children's, although its time includes theirs";
                figures.iter_mut().for_each(|f| f.findings.push(differ(message)));
            }
        }
        self.written |= open.test.contains("write");
        Ok(figures)
    }

    /// Returns the bytes per second of `6994177.50 kB/sec` or `8474.42 ops/sec`.
    fn rate(&self, text: &str, at: usize) -> Result<f64, Malformed> {
        let mut words = text.split_whitespace();
        let value = positive(words.next().unwrap_or_default(), at)?;
        let unit = words.next().unwrap_or_default();
        let record = self.sizes.and_then(|(_, record)| record);
        let bytes = match (unit, record) {
            ("kB/sec" | "KB/sec", _) => KB,
            ("ops/sec", Some(record)) => record,
            _ => return Err(Malformed::quoting(at, unit, "is no unit of a rate here")),
        };
        Ok(value * bytes as f64)
    }
}

/// Returns the processes and the test of `2 initial writers = ...`, and the text after the sign.
fn named(text: &str, at: usize) -> Result<(u64, &'static str, &str), Malformed> {
    let found = text.split_once('=').and_then(|(name, rest)| {
        let (processes, name) = name.trim().split_once(' ')?;
        let processes = processes.parse().ok().filter(|n: &u64| *n > 0)?;
        let (_, test) = TESTS.iter().find(|(called, _)| *called == name.trim())?;
        Some((processes, *test, rest))
    });
    found.ok_or_else(|| Malformed::quoting(at, text, "is no test of IOzone"))
}

/// Returns the bytes of the file and of a record in `Each process writes a 512 kByte file in 64
/// kByte records`, or `in telemetry controlled records`.
fn sizes(text: &str, at: usize) -> Result<(u64, Option<u64>), Malformed> {
    let words: Vec<&str> = text.split_whitespace().take(11).collect();
    let bytes = |place: usize| {
        let kb: u64 = words.get(place)?.parse().ok()?;
        let unit = words.get(place + 1).filter(|unit| unit.eq_ignore_ascii_case("kbyte"));
        unit.and(kb.checked_mul(KB)).filter(|bytes| *bytes > 0)
    };
    match (bytes(4), bytes(8), words.get(8)) {
        (Some(file), Some(record), _) => Ok((file, Some(record))),
        (Some(file), None, Some(&"telemetry")) => Ok((file, None)),
        _ => Err(Malformed::at(at, "no sizes of file and record in kByte")),
    }
}
