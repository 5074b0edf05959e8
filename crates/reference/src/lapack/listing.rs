//! The reader of the output of `solve.py`: lines `key: value`, one call after another.

use proofmark_model::{Params, Solution, Trial, Unit, is_quantity, key};

use super::{Library, MULTIPLY, SOLVE};
use crate::dense::operations;
use crate::figure::FLOPS;
use crate::labels::Labels;
use crate::text::{lines, moment, need, positive, whole};
use crate::{Figure, Malformed, Output};

const FIRST: &str = "library: ";

pub(super) fn library(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix(FIRST)).map(str::trim)
}

pub(super) fn parse(library: &Library, text: &str) -> Result<Output, Malformed> {
    let mut output = Output::default();
    let mut call = Call::default();
    for (at, line) in lines(text) {
        let Some((key, value)) = line.split_once(": ") else { continue };
        if line.starts_with(FIRST) {
            call.end(library, &mut output)?;
        }
        call.0.last = at;
        if !call.0.insert(key, at, value) {
            let what = format!("a call has a second {:?}", Malformed::excerpt(key));
            return Err(Malformed::at(at, what));
        }
    }
    let last = call.0.last.max(1);
    call.end(library, &mut output)?;
    if output.figures.is_empty() {
        return Err(Malformed::at(last, format!("no call of {}", library.description.id)));
    }
    Ok(output)
}

#[derive(Default)]
struct Call<'a>(Labels<'a>);

impl Call<'_> {
    /// Adds the call's figure to the output, and begins another call.
    fn end(&mut self, library: &Library, output: &mut Output) -> Result<(), Malformed> {
        let call = std::mem::take(self);
        let Some((at, name)) = call.0.get(FIRST.trim_end_matches(": ")) else { return Ok(()) };
        if name != library.description.id {
            let name = Malformed::excerpt(name);
            return Err(Malformed::at(
                at,
                format!("this is a call of {name:?}, not of {}", library.description.id),
            ));
        }
        let version = call.version()?;
        output.figures.push(call.figure(library, &version)?);
        output.version = Some(version);
        let (at, seconds) = call.0.need("started")?;
        let started = i64::try_from(whole(seconds, at)?).ok().and_then(moment);
        let started = need(started, at, "started is out of range")?;
        output.started.get_or_insert(started);
        Ok(())
    }

    /// Returns the version of the library, with the core that its loops are written for.
    fn version(&self) -> Result<String, Malformed> {
        let (_, version) = self.0.need("version")?;
        let (_, core) = self.0.need("core")?;
        Ok(with_core(version, core))
    }

    fn figure(&self, library: &Library, version: &str) -> Result<Figure, Malformed> {
        let (at, operation) = self.0.need("operation")?;
        let (n, threads) = (self.0.whole("n")?, self.0.whole("threads")?);
        let (test, work) = match operation {
            SOLVE => (SOLVE, operations(n)),
            MULTIPLY => (MULTIPLY, 2.0 * (n as f64).powi(3)),
            other => return Err(Malformed::quoting(at, other, "is neither dgesv nor dgemm")),
        };
        let solution = if test == SOLVE { Some(self.solution(n)?) } else { None };
        let (at, seconds) = self.0.need("seconds")?;
        let trial = Trial::new(Unit::FlopPerSecond, work, positive(seconds, at)?);
        if !(is_quantity(trial.value) && trial.value > 0.0) {
            return Err(Malformed::at(at, "the rate is out of range"));
        }
        let params = Params::default().with(key::MATRIX_SIZE, n).with(key::THREADS, threads);
        let title = format!("{operation} of {} {version}", library.description.id);
        Ok(Figure::rate(test, title, FLOPS, params, Trial { solution, ..trial }))
    }

    fn solution(&self, n: u64) -> Result<Solution, Malformed> {
        Ok(Solution {
            n,
            leading_dimension: self.0.whole("lda")?,
            alignment: self.0.whole("alignment")?,
            residual: self.0.number("residual", "")?.1,
            normalised_residual: self.0.number("normalised residual", "")?.1,
        })
    }
}

/// Returns the version, with the core if the library names one.
fn with_core(version: &str, core: &str) -> String {
    let version = Malformed::excerpt(version);
    match core {
        "unknown" => version,
        core => format!("{version} ({})", Malformed::excerpt(core)),
    }
}

/// Reads the version of a library from the output of `solve.py try`.
pub(super) fn probe(text: &str) -> Option<String> {
    let of = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    Some(with_core(of("version: ")?, of("core: ")?))
}
