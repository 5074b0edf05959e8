//! The lines of a sysbench run, by their labels.

use std::collections::BTreeMap;

use crate::Malformed;
use crate::labels::Labels;
use crate::printed::Rounded;
use crate::text::{lines, need, number, positive};

/// A value with its line.
pub(super) type Fact<'a> = (usize, &'a str);

pub(super) const MIB: f64 = 1_048_576.0;

/// The maximum relative deviation of a printed rate from events over total time, which includes the
/// start and the end of the threads.
pub(super) const EDGES: f64 = 0.02;

/// The line before the options of a run.
const RUN: &str = "Running the test with following options:";

/// The facts in the report of a run.
#[derive(Default)]
pub(super) struct Facts<'a> {
    pub(super) version: Option<&'a str>,
    pub(super) labels: Labels<'a>,
    /// The lines without a colon, which are sentences, by their first word.
    sentences: BTreeMap<&'a str, Vec<Fact<'a>>>,
    pub(super) warnings: Vec<&'a str>,
}

/// Returns the version in a line: `sysbench 1.0.20 (using ...)`, `sysbench 0.4.12:  multi-threaded
/// ...`.
fn version(line: &str) -> Option<&str> {
    let version = line.strip_prefix("sysbench ")?.split([' ', ':']).next()?;
    version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
}

/// Returns true if a line is one of a run's first.
pub(super) fn begins(line: &str) -> bool {
    let line = line.trim();
    line == RUN || version(line).is_some()
}

/// Returns the runs of a text. Commands such as `prepare` also print a version, but no options.
pub(super) fn runs(text: &str) -> Result<Vec<Facts<'_>>, Malformed> {
    let mut runs: Vec<Facts> = Vec::new();
    let (mut now, mut running, mut last) = (None, false, 1);
    for (at, line) in lines(text) {
        last = at;
        let line = line.trim();
        if line.starts_with("FATAL:") {
            return Err(Malformed::at(at, Malformed::sentence(line)));
        }
        if let Some(version) = version(line) {
            (now, running) = (Some(version), false);
        } else if line == RUN {
            runs.push(Facts { version: now.take(), ..Facts::default() });
            running = true;
        }
        if let Some(run) = runs.last_mut().filter(|_| running) {
            run.labels.last = at;
            run.line(at, line);
        }
    }
    let none = || Malformed::at(last, "no run of sysbench: it begins with 'Running the test'");
    if runs.is_empty() { Err(none()) } else { Ok(runs) }
}

impl<'a> Facts<'a> {
    fn line(&mut self, at: usize, line: &'a str) {
        if line.starts_with("WARNING:") && !line.contains("deprecated") {
            self.warnings.push(line);
        } else if let Some((label, value)) = line.split_once(':') {
            // A later value, such as in the output of another program, does not belong to the
            // report.
            if self.labels.get(label.trim()).is_none() {
                self.labels.insert(label.trim(), at, value);
            }
        } else if let Some(word) = line.split_whitespace().next() {
            self.sentences.entry(word).or_default().push((at, line));
        }
    }

    /// Returns the text between `before` and `after` in a sentence that begins with `before`.
    pub(super) fn between(&self, before: &str, after: &str) -> Option<Fact<'a>> {
        let word = before.split(' ').next()?;
        let mut sentences = self.sentences.get(word)?.iter();
        sentences.find_map(|(at, s)| Some((*at, s.strip_prefix(before)?.strip_suffix(after)?)))
    }

    /// Returns the text before this end of a line without a colon.
    pub(super) fn ending(&self, end: &str) -> Option<Fact<'a>> {
        let mut sentences = self.sentences.values().flatten();
        sentences.find_map(|(at, s)| Some((*at, s.strip_suffix(end)?)))
    }

    /// Returns the seconds of the run; `None` if it does not report them.
    pub(super) fn seconds(&self) -> Result<Option<f64>, Malformed> {
        let labels = ["total time", "time elapsed"];
        let Some((at, text)) = self.labels.any(&labels) else { return Ok(None) };
        positive(need(text.strip_suffix('s'), at, "the time does not end in s")?, at).map(Some)
    }

    /// Returns a time, or another number, if the report has it.
    pub(super) fn value(&self, labels: &[&str], unit: &str) -> Result<Option<f64>, Malformed> {
        self.labels.value(labels, unit).map(|number| number.map(|number| number.value))
    }

    /// Returns the mean per thread from a mean and a deviation, separated by a slash.
    pub(super) fn by_thread(&self, label: &str) -> Result<Option<Rounded>, Malformed> {
        let mean =
            self.labels.get(label).and_then(|(at, text)| Some((text.split_once('/')?.0, at)));
        mean.map(|(mean, at)| Rounded::parse(mean, at)).transpose()
    }

    /// Returns the events of all threads.
    pub(super) fn events(&self) -> Result<Option<u64>, Malformed> {
        const LABEL: &str = "total number of events";
        self.labels.get(LABEL).map(|_| self.labels.whole(LABEL)).transpose()
    }
}

/// Returns the bytes of `16KiB`, of `16Kb` before 1.0, or of `16K`. `None` if the number has a
/// fraction, which sysbench rounds.
pub(super) fn size(fact: Fact) -> Result<Option<u64>, Malformed> {
    let bytes = about(fact)?;
    Ok((!fact.1.contains('.')).then_some(bytes as u64))
}

/// Returns the same with its rounding error.
pub(super) fn about((at, text): Fact) -> Result<f64, Malformed> {
    const UNITS: [[&str; 3]; 5] = [
        ["B", "b", ""],
        ["KiB", "Kb", "K"],
        ["MiB", "Mb", "M"],
        ["GiB", "Gb", "G"],
        ["TiB", "Tb", "T"],
    ];
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let power = UNITS.iter().position(|units| units.contains(&unit));
    let bytes = power.map(|n| Ok::<_, Malformed>(number(digits, at)? * 1024_f64.powi(n as i32)));
    let bytes = bytes.transpose()?.filter(|bytes| *bytes < u64::MAX as f64);
    bytes.ok_or_else(|| Malformed::quoting(at, text, "is no size"))
}
