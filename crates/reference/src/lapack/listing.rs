//! Reading what `solve.py` prints: lines `key: value`, of one call after another.

use std::collections::BTreeMap;

use proofmark_model::{Params, Solution, Subsystem, Trial, Unit};

use super::{Library, MULTIPLY, SOLVE};
use crate::dense::operations;
use crate::text::{lines, moment, number, positive, whole};
use crate::{Figure, Malformed, Output, trial};

/// The first line of a call.
const FIRST: &str = "library: ";

/// The library whose call comes first.
pub(super) fn library(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix(FIRST)).map(str::trim)
}

/// What the calls came to.
pub(super) fn parse(library: &Library, text: &str) -> Result<Output, Malformed> {
    let mut output = Output::default();
    let mut call = Call::default();
    for (at, line) in lines(text) {
        let Some((key, value)) = line.split_once(": ") else { continue };
        if line.starts_with(FIRST) {
            call.end(library, &mut output)?;
        }
        call.last = at;
        if call.values.insert(key, (at, value.trim())).is_some() {
            let what = format!("a second {:?} of one call", Malformed::excerpt(key));
            return Err(Malformed::at(at, what));
        }
    }
    let last = call.last.max(1);
    call.end(library, &mut output)?;
    if output.figures.is_empty() {
        return Err(Malformed::at(last, format!("no call of {}", library.id)));
    }
    Ok(output)
}

/// The lines of one call, by key.
#[derive(Default)]
struct Call<'a> {
    values: BTreeMap<&'a str, (usize, &'a str)>,
    last: usize,
}

impl Call<'_> {
    /// Adds what it came to, and begins another.
    fn end(&mut self, library: &Library, output: &mut Output) -> Result<(), Malformed> {
        let call = std::mem::take(self);
        if !call.values.contains_key(FIRST.trim_end_matches(": ")) {
            return Ok(());
        }
        let (at, name) = call.get("library")?;
        if name != library.id {
            let name = Malformed::excerpt(name);
            return Err(Malformed::at(at, format!("a call of {name:?}, not of {}", library.id)));
        }
        let version = call.version()?;
        output.add(call.figure(library, &version)?);
        output.version = Some(version);
        let (at, seconds) = call.get("started")?;
        let started = i64::try_from(whole(seconds, at)?).ok().and_then(moment);
        let started = started.ok_or_else(|| Malformed::at(at, "started is out of range"))?;
        output.started.get_or_insert(started);
        Ok(())
    }

    fn get(&self, key: &str) -> Result<(usize, &str), Malformed> {
        let missing = || Malformed::at(self.last.max(1), format!("no {key} of this call"));
        self.values.get(key).copied().ok_or_else(missing)
    }

    fn whole(&self, key: &str) -> Result<u64, Malformed> {
        let (at, value) = self.get(key)?;
        whole(value, at)
    }

    fn number(&self, key: &str) -> Result<f64, Malformed> {
        let (at, value) = self.get(key)?;
        number(value, at)
    }

    /// Of the library, and the core that its loops are written for.
    fn version(&self) -> Result<String, Malformed> {
        let (_, version) = self.get("version")?;
        let (_, core) = self.get("core")?;
        Ok(with_core(version, core))
    }

    fn figure(&self, library: &Library, version: &str) -> Result<Figure, Malformed> {
        let (at, operation) = self.get("operation")?;
        let (n, threads) = (self.whole("n")?, self.whole("threads")?);
        let (test, work) = match operation {
            SOLVE => (SOLVE, operations(n)),
            MULTIPLY => (MULTIPLY, 2.0 * (n as f64).powi(3)),
            other => return Err(Malformed::quoting(at, other, "is neither dgesv nor dgemm")),
        };
        let solution = if test == SOLVE { Some(self.solution(n)?) } else { None };
        let (at, seconds) = self.get("seconds")?;
        let trial = trial(Unit::FlopPerSecond, work, positive(seconds, at)?);
        if !(trial.value.is_finite() && trial.value > 0.0) {
            return Err(Malformed::at(at, "the rate that follows is out of range"));
        }
        let params = Params::default().with("n", n).with("threads", threads);
        let title = format!("{operation} of {} {version}", library.id);
        let what = (Subsystem::Cpu, Unit::FlopPerSecond);
        Ok(Figure::rate(test, title, what, params, Trial { solution, ..trial }))
    }

    fn solution(&self, n: u64) -> Result<Solution, Malformed> {
        Ok(Solution {
            n,
            leading_dimension: self.whole("lda")?,
            alignment: self.whole("alignment")?,
            residual: self.number("residual")?,
            normalised_residual: self.number("normalised residual")?,
        })
    }
}

/// The version, with the core where the library names one.
fn with_core(version: &str, core: &str) -> String {
    let version = Malformed::excerpt(version);
    match core {
        "not told" => version,
        core => format!("{version} ({})", Malformed::excerpt(core)),
    }
}

/// What the program says of a library that it has tried.
pub(super) fn tried(text: &str) -> Option<String> {
    let of = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    Some(with_core(of("version: ")?, of("core: ")?))
}
