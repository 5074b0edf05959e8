//! Intel's LINPACK for shared memory (`xlinpack_xeon64`, `runme_xeon64`).

mod runner;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use proofmark_model::{Params, Printed, Solution, Trial, Unit, key};

use crate::dense::operations;
use crate::figure::FLOPS;
use crate::printed::{Rounded, agree, rated, took};
use crate::text::{columns, each_line, need, number, positive, whole, wrong_if};
use crate::{Description, Figure, Malformed, Output, Tool, same_work};

const TEST: &str = "LINPACK";

pub(crate) struct Linpack;

impl Tool for Linpack {
    fn description(&self) -> &Description {
        &Description {
            id: "linpack",
            printed: Printed::Problem,
            title: "Intel Optimized LINPACK Benchmark",
            package: "Intel: onemkl-benchmarks (xlinpack_xeon64)",
            reads: "its text",
            same_work: const { &[same_work("LINPACK", "cpu.linpack")] },
            about: "Reads the text of Intel's LINPACK for shared memory, with and without the column \
                    Check. Each line of the table is a solve. Lines with the same size, leading \
                    dimension and alignment are trials of one figure, those of several listings \
                    too. proofmark counts 2/3 n^3 + 2 n^2 operations; a GFlop is 10^9 of them. \
                    LINPACK reports the alignment in units of 1024 bytes. Each trial has its \
                    residual and its normalised residual. proofmark refuses a file whose summary \
                    has other averages or maxima than its solves, or whose Time(s) contradicts its \
                    GFlops. It also refuses one that passes or fails a solution against its \
                    normalised residual (limit 16, as in HPL). The reader was written from \
                    published listings, not tested with a real output.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(is_head)
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let mut listing = Listing::default();
        let last = each_line(text, |at, line| listing.line(at, line))?;
        listing.end(last)?;
        wrong_if(listing.done.is_empty(), last, "no line of the table of solves")?;
        Ok(Output { figures: named(listing.done), ..Output::default() })
    }
}

/// The head of the table of solves; older versions have no column of checks.
const HEAD: [&str; 7] =
    ["Size", "LDA", "Align.", "Time(s)", "GFlops", "Residual", "Residual(norm)"];
const CHECK: &str = "Check";

/// Returns true if a line is the head of the table of solves.
fn is_head(line: &str) -> bool {
    let mut words = line.split_whitespace();
    HEAD.iter().all(|head| words.next() == Some(head)) && words.all(|word| word == CHECK)
}

/// The bytes of a unit of the alignment.
const ALIGNMENT: u64 = 1024;

#[derive(Default)]
enum Part {
    #[default]
    Parameters,
    Solves,
    Summary,
}

/// The values that distinguish the lines of one figure from those of another.
#[derive(Clone, Copy)]
struct Shape {
    n: u64,
    lda: u64,
    align: u64,
}

#[derive(Default)]
struct Listing {
    /// The figures of the listings that have been read to their end.
    done: Vec<Figure>,
    /// The figures of the current listing.
    figures: Vec<Figure>,
    part: Part,
    /// True if the table has a column of checks.
    checked: bool,
    threads: Option<u64>,
    /// The number of figures that the summary has named.
    summed: usize,
}

/// Removes the leading dimension and the alignment from the parameters if the sizes alone
/// distinguish the figures. The solutions contain both.
fn named(mut figures: Vec<Figure>) -> Vec<Figure> {
    let shape =
        |f: &Figure| [key::MATRIX_SIZE.name(), "LDA", "Align"].map(|name| f.params.number(name));
    let shapes: BTreeSet<_> = figures.iter().map(shape).collect();
    let sizes: BTreeSet<_> = shapes.iter().map(|[n, ..]| n).collect();
    if sizes.len() == shapes.len() {
        for figure in &mut figures {
            figure.params.0.retain(|name, _| name != "LDA" && name != "Align");
        }
    }
    figures
}

impl Listing {
    fn line(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        if is_head(line) {
            self.end(at)?;
            (self.part, self.checked) = (Part::Solves, line.trim_end().ends_with(CHECK));
        } else if line.starts_with("Performance Summary") {
            wrong_if(!line.contains("(GFlops)"), at, "the summary is not in GFlops")?;
            self.part = Part::Summary;
        } else if let Some(rest) = line.strip_prefix("Number of threads:") {
            self.threads = Some(whole(rest.trim(), at)?);
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            match self.part {
                Part::Parameters => {}
                Part::Solves => self.solve(at, line)?,
                Part::Summary => self.summary(at, line)?,
            }
        } else if let Some(checks) = line.strip_prefix("Residual checks ") {
            self.checks(at, checks.trim())?;
        }
        Ok(())
    }

    /// Ends a listing, whose summary must have named every size.
    fn end(&mut self, at: usize) -> Result<(), Malformed> {
        let missing = self.summed < self.figures.len();
        wrong_if(missing, at, "the performance summary is missing: the output ends too early")?;
        self.done.append(&mut self.figures);
        (self.summed, self.part) = (0, Part::Parameters);
        Ok(())
    }

    /// Compares LINPACK's verdict on all residuals with the residuals.
    fn checks(&mut self, at: usize, verdict: &str) -> Result<(), Malformed> {
        let trials = self.figures.iter().flat_map(|f| &f.trials);
        let pass = trials.filter_map(|t| t.solution.as_ref()).all(Solution::passes);
        let what = match verdict {
            "PASSED" => "residual checks passed, but a residual above did not",
            _ => "residual checks failed, but no residual above did",
        };
        // The next listing may not report its threads.
        self.threads = None;
        wrong_if(pass != (verdict == "PASSED"), at, what)
    }

    /// Reads size, leading dimension, alignment, seconds, GFlops, two residuals, and `pass` or not.
    fn solve(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        let (solve, check) = match line.trim_end().rsplit_once(char::is_whitespace) {
            Some((solve, check)) if self.checked => (solve, Some(check)),
            _ => (line, None),
        };
        let expected = if self.checked { 8 } else { 7 };
        let expected = format!("expected the {expected} columns of a solve");
        let [n, lda, align, seconds, gflops, residual, normalised] =
            need(columns(solve), at, &expected)?;
        let shape = Shape::parse([n, lda, align], at)?;
        let rate = positive(gflops, at)? * 1e9;
        let alignment = shape.align.checked_mul(ALIGNMENT);
        let solution = Solution {
            n: shape.n,
            leading_dimension: shape.lda,
            alignment: need(alignment, at, "the alignment is out of range")?,
            residual: number(residual, at)?,
            normalised_residual: number(normalised, at)?,
        };
        if let Some(check) = check.filter(|check| (*check == "pass") != solution.passes()) {
            let what = format!("of a normalised residual of {}", solution.normalised_residual);
            return Err(Malformed::quoting(at, check, &what));
        }
        let trial = rated(Unit::FlopPerSecond, operations(shape.n), rate, at)?;
        took(&trial, seconds, at)?;
        self.trial(shape, Trial { solution: Some(solution), ..trial });
        Ok(())
    }

    fn trial(&mut self, shape: Shape, trial: Trial) {
        let params = shape.params().known(key::THREADS, self.threads);
        let title = format!("LINPACK, {} equations", shape.n);
        match self.figures.last_mut().filter(|last| last.params == params) {
            Some(last) => last.trials.push(trial),
            None => self.figures.push(Figure::rate(TEST, title, FLOPS, params, trial)),
        }
    }

    /// Compares a line of the summary (size, leading dimension, alignment, mean and maximum GFlops)
    /// with its solves.
    fn summary(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        let [n, lda, align, mean, most] =
            need(columns(line), at, "expected the 5 columns of the summary")?;
        let params = Shape::parse([n, lda, align], at)?.params();
        let figure = self.figures.get(self.summed);
        let figure = figure.filter(|f| f.params.differs_only_in(&params, &[key::THREADS]));
        let figure = need(figure, at, "the table has no such solves")?;
        self.summed += 1;
        let rates = || figure.trials.iter().map(|t| t.value / 1e9);
        let trials = figure.trials.len() as f64;
        for (text, is) in
            [(mean, rates().sum::<f64>() / trials), (most, rates().fold(0.0, f64::max))]
        {
            let what =
                format!("the summary reports {}, but the solves {is}", Malformed::excerpt(text));
            wrong_if(!agree(Rounded::parse(text, at)?.within(1e-4), is, 1e-6), at, &what)?;
        }
        Ok(())
    }
}

impl Shape {
    fn parse(words: [&str; 3], at: usize) -> Result<Self, Malformed> {
        let [n, lda, align] = words;
        Ok(Self { n: whole(n, at)?, lda: whole(lda, at)?, align: whole(align, at)? })
    }

    fn params(self) -> Params {
        Params::default()
            .with(key::MATRIX_SIZE, self.n)
            .with_named("LDA", self.lda)
            .with_named("Align", self.align)
    }
}
