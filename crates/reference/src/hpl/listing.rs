//! Reading the lines of HPL's listing.

use std::collections::BTreeMap;

use proofmark_model::{Params, Severity, Unit, key};

use super::TEST;
use crate::figure::FLOPS;
use crate::findings::{differ, warned};
use crate::printed::{rated, took};
use crate::text::{columns, each_line, moment, need, number, positive, whole, wrong_if};
use crate::{Figure, Malformed, Output};

/// The rounding error of a threshold printed with one decimal.
const ROUNDED: f64 = 0.05;

/// The parameters that a run lists, and that each solve repeats.
const NAMES: [&str; 4] = ["N", "NB", "P", "Q"];

/// Returns true if a line is the head of a table of solves.
pub(super) fn is_head(line: &str) -> bool {
    line.starts_with('T')
        && line.split_whitespace().eq(["T/V", "N", "NB", "P", "Q", "Time", "Gflops"])
}

/// Returns true if a line begins with a variant, such as `WR11C2R4`.
pub(super) fn is_solve(line: &str) -> bool {
    let mut chars = line.chars();
    chars.next() == Some('W')
        && matches!(chars.next(), Some('R' | 'C'))
        && chars.next().is_some_and(|c| c.is_ascii_digit())
}

pub(super) fn read(text: &str) -> Result<Output, Malformed> {
    let mut listing = Listing::default();
    let last = each_line(text, |at, line| listing.line(at, line))?;
    listing.proven()?;
    wrong_if(
        listing.output.figures.is_empty(),
        last,
        "HPL solved nothing: it ended before the first line of its table",
    )?;
    let aborted = |line: &&str| ABORTED.iter().any(|words| line.contains(words));
    if let Some(line) = text.lines().find(aborted) {
        let what = format!("a run in the file was aborted: {}", Malformed::excerpt(line));
        let found = warned(Severity::Note, what);
        listing.output.figures.iter_mut().for_each(|f| f.findings.push(found.clone()));
    }
    Ok(listing.output)
}

/// The messages of HPL and launchers about a run that ended early.
const ABORTED: [&str; 4] = ["HPL ERROR", "MPI_ABORT was", "exited on signal", "BAD TERMINATION"];

#[derive(Default)]
struct Listing<'a> {
    output: Output,
    /// The threshold below which residuals pass, with one decimal as printed. At 0 or less, HPL
    /// checks none.
    threshold: Option<f64>,
    /// The line of the solve whose residual has not been read yet.
    unproven: Option<usize>,
    /// True if a solve has been read.
    solved: bool,
    /// The values of the parameters that the run lists, and the parameter whose list may continue.
    listed: BTreeMap<&'static str, Vec<&'a str>>,
    listing: Option<&'static str>,
    /// The number of figures of the runs before this one.
    earlier: usize,
}

impl<'a> Listing<'a> {
    fn line(&mut self, at: usize, line: &'a str) -> Result<(), Malformed> {
        let listing = self.listing.take();
        if let Some(rest) = line.strip_prefix("HPLinpack ") {
            self.proven()?;
            let version = rest.split_whitespace().next().map(str::to_owned);
            let earlier = self.output.figures.len();
            let output = std::mem::take(&mut self.output);
            *self = Self { output: Output { version, ..output }, earlier, ..Self::default() };
        } else if let Some(rest) = line.strip_prefix("Current time (") {
            self.started(at, rest)?;
        } else if let Some(rest) = line.strip_prefix("- Computational tests pass if ") {
            let word = rest.split_whitespace().last().unwrap_or_default();
            let threshold = word.parse().ok().filter(|t: &f64| t.is_finite());
            let no_number = || Malformed::quoting(at, word, "is no threshold");
            self.threshold = Some(threshold.ok_or_else(no_number)?);
        } else if is_solve(line) {
            self.proven()?;
            self.row(at, line)?;
        } else if line.contains(" ...... ") {
            self.residual(at, line)?;
        } else if let Some(passed) =
            line.trim().strip_suffix("tests completed and passed residual checks,")
        {
            self.summary(at, passed.trim())?;
        } else {
            self.parameter(listing, line);
        }
        Ok(())
    }

    fn started(&mut self, at: usize, rest: &str) -> Result<(), Malformed> {
        if self.output.started.is_none() {
            // Seconds since 1970, up to a bracket.
            let seconds = rest.split(')').next().and_then(|word| word.parse().ok());
            let none = || Malformed::quoting(at, rest, "is no time in seconds");
            self.output.started = Some(seconds.and_then(moment).ok_or_else(none)?);
        }
        Ok(())
    }

    /// Checks that the solve before has its residual.
    fn proven(&mut self) -> Result<(), Malformed> {
        match self.unproven.take() {
            Some(at) if self.threshold.is_none_or(|t| t > 0.0) => {
                Err(Malformed::at(at, "this solve has no residual: the output ends too early"))
            }
            _ => Ok(()),
        }
    }

    /// Reads `NB     :      40       80`, and the lines that continue the list.
    fn parameter(&mut self, listing: Option<&'static str>, line: &'a str) {
        let (name, values) = match line.split_once(':') {
            Some((label, values)) => (NAMES.into_iter().find(|n| *n == label.trim()), values),
            None => (listing, line),
        };
        let is_list = !values.trim().is_empty()
            && values.split_whitespace().all(|v| v.bytes().all(|b| b.is_ascii_digit()));
        if let Some(name) = name.filter(|_| is_list) {
            self.listed.entry(name).or_default().extend(values.split_whitespace());
            self.listing = Some(name);
        }
    }

    /// Reads a solve: variant, N, NB, P, Q, seconds, and 10^9 operations per second.
    fn row(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        let [variant, n, nb, p, q, seconds, gflops] =
            need(columns(line), at, "expected T/V, N, NB, P, Q, Time and Gflops")?;
        for (name, value) in NAMES.into_iter().zip([n, nb, p, q]) {
            let lacks = self.listed.get(name).is_some_and(|listed| !listed.contains(&value));
            wrong_if(lacks, at, &format!("{name} {value} is not in the list of parameters above"))?;
        }
        let is_nan = gflops.parse::<f64>().is_ok_and(|rate| !rate.is_finite());
        wrong_if(is_nan, at, &format!("no figure: HPL reports {gflops} Gflops"))?;
        let n = whole(n, at)?;
        let params = Params::default()
            .with_named("T/V", variant)
            .with(key::MATRIX_SIZE, n)
            .with(key::MATRIX_BLOCK, whole(nb, at)?)
            .with_named("P", whole(p, at)?)
            .with_named("Q", whole(q, at)?);
        let (size, rate) = (n as f64, positive(gflops, at)? * 1e9);
        let work = size * size * (2.0 / 3.0 * size + 1.5);
        let trial = rated(Unit::FlopPerSecond, work, rate, at)?;
        took(&trial, seconds, at)?;
        (self.unproven, self.solved) = (Some(at), true);
        let title = format!("HPL {variant}, N = {n}");
        self.output.figures.push(Figure::rate(TEST, title, FLOPS, params, trial));
        Ok(())
    }

    /// Reads a residual of the solve above, with HPL's verdict.
    fn residual(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [.., residual, "......", verdict] = words[..] else {
            return Err(Malformed::at(at, "expected a residual, and PASSED or FAILED"));
        };
        wrong_if(!self.solved, at, "this residual follows no solve")?;
        // `||...||*N)=0.0012` occurs where the number fills its column.
        let residual = residual.rsplit('=').next().unwrap_or_default();
        if verdict == "FAILED" {
            let what = "wrong solution, no figure: its residual is";
            return Err(Malformed::at(at, format!("{what} {}", Malformed::excerpt(residual))));
        }
        let below = |number: f64| self.threshold.is_none_or(|t| number < t + ROUNDED);
        let is_nan = residual.parse().is_ok_and(f64::is_nan);
        if verdict != "PASSED" || is_nan || !below(number(residual, at)?) {
            let threshold = self.threshold.map_or_else(|| "unknown".to_owned(), |t| t.to_string());
            let what =
                format!("of residual {} and threshold {threshold}", Malformed::excerpt(residual));
            return Err(Malformed::quoting(at, verdict, &what));
        }
        self.unproven = None;
        if let Some(figure) = self.output.figures.last_mut() {
            figure.proof = Some("the residual of HPL's solution passed");
        }
        Ok(())
    }

    /// Compares the reported number of passed solves with the table.
    fn summary(&mut self, at: usize, passed: &str) -> Result<(), Malformed> {
        let passed = whole(passed, at)?;
        let figures = self.output.figures.get_mut(self.earlier..).unwrap_or_default();
        let solves = figures.len() as u64;
        if passed != solves {
            let what = format!("HPL reports {passed} solves that passed, but lists {solves}");
            figures.iter_mut().for_each(|f| f.findings.push(differ(what.as_str())));
        }
        Ok(())
    }
}
