//! HPL, the High-Performance Linpack of the TOP500, alone or in the output of HPC Challenge.

mod runner;
#[cfg(test)]
mod tests;

use proofmark_model::{Params, Printed, Subsystem, Unit};

use crate::rated::{rated, took};
use crate::text::{each_line, moment, need, number, positive, whole, wrong_if};
use crate::{Description, Figure, Malformed, Output, Tool, same_work};

/// Its only test: the function that it times.
const TEST: &str = "HPL_pdgesv";

pub(crate) struct Hpl;

impl Tool for Hpl {
    fn description(&self) -> &Description {
        &Description {
            id: "hpl",
            printed: Printed::Problem,
            title: "HPL, Petitet, Whaley, Dongarra and Cleary",
            package: "Debian: hpcc",
            same_work: const { &[same_work("HPL_pdgesv", "cpu.linpack")] },
            about: "Reads the text that HPL 1.0 to 2.3 print, and HPL's section of HPC Challenge's \
                    hpccoutf.txt. Each line of the table is a solve by P x Q processes. HPL does \
                    not report how many threads each process has. proofmark counts 2/3 n^3 + 3/2 \
                    n^2 operations; 1 Gflops is 10^9 a second. Lines with the same variant, N, NB, \
                    P and Q are trials of one figure. proofmark refuses a file with a solve whose \
                    residual FAILED, is missing or contradicts its PASSED. It also refuses one \
                    whose Time contradicts its Gflops. Figures have no residual: HPL reports \
                    neither the leading dimension nor, of a solve that passed, |Ax - b|. proofmark \
                    does not read HPC Challenge's other tests (DGEMM, STREAM, ...) as HPL's.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(|line| line.starts_with("HPLinpack "))
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let mut listing = Listing::default();
        let last = each_line(text, |at, line| listing.line(at, line))?;
        listing.proven()?;
        wrong_if(listing.output.figures.is_empty(), last, "no line of HPL's table")?;
        Ok(listing.output)
    }
}

/// What is lost of a threshold of which one digit behind the point is printed.
const ROUNDED: f64 = 0.05;

#[derive(Default)]
struct Listing {
    output: Output,
    /// Residuals below it pass, as it is printed: with one digit behind the point. At 0 or less
    /// HPL checks none.
    threshold: Option<f64>,
    /// Line of the solve whose residual is not yet seen.
    unproven: Option<usize>,
    solve: Option<usize>,
}

impl Listing {
    fn line(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        if let Some(rest) = line.strip_prefix("HPLinpack ") {
            self.output.version = rest.split_whitespace().next().map(str::to_owned);
        } else if let Some(rest) = line.strip_prefix("Current time (") {
            if self.output.started.is_none() {
                // Seconds since 1970, up to a bracket.
                let seconds = rest.split(')').next().and_then(|word| word.parse().ok());
                let none = || Malformed::quoting(at, rest, "is no moment in seconds");
                self.output.started = Some(seconds.and_then(moment).ok_or_else(none)?);
            }
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
        }
        Ok(())
    }

    /// Whether the solve before has its residual.
    fn proven(&mut self) -> Result<(), Malformed> {
        match self.unproven.take() {
            Some(at) if self.threshold.is_none_or(|t| t > 0.0) => {
                Err(Malformed::at(at, "no residual of this solve: it ends too early"))
            }
            _ => Ok(()),
        }
    }

    /// A solve: variant, N, NB, P, Q, seconds, and operations a second in 10^9.
    fn row(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        let words: Vec<&str> = line.split_whitespace().collect();
        // Some builds add the rate of each accelerator, in brackets.
        let [variant, n, nb, p, q, seconds, gflops, ..] = words[..] else {
            return Err(Malformed::at(at, "expected T/V, N, NB, P, Q, Time and Gflops"));
        };
        let n = whole(n, at)?;
        let params = Params::default()
            .with("T/V", variant)
            .with("n", n)
            .with("nb", whole(nb, at)?)
            .with("P", whole(p, at)?)
            .with("Q", whole(q, at)?);
        let (size, rate) = (n as f64, positive(gflops, at)? * 1e9);
        let work = size * size * (2.0 / 3.0 * size + 1.5);
        let trial = rated(Unit::FlopPerSecond, work, rate, at)?;
        took(&trial, seconds, at)?;
        self.unproven = Some(at);
        self.solve = Some(at);
        let (title, what) =
            (format!("HPL {variant}, N = {n}"), (Subsystem::Cpu, Unit::FlopPerSecond));
        self.output.figures.push(Figure::rate(TEST, title, what, params, trial));
        Ok(())
    }

    /// A residual of the solve above, with what HPL says of it.
    fn residual(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [.., residual, "......", said] = words[..] else {
            return Err(Malformed::at(at, "expected a residual, and PASSED or FAILED"));
        };
        // `||...||*N)=0.0012` where the number fills its column.
        let residual = number(residual.rsplit('=').next().unwrap_or_default(), at)?;
        wrong_if(self.solve.is_none(), at, "a residual of no solve")?;
        let threshold = need(self.threshold, at, "no threshold of the residuals above")?;
        if said == "FAILED" {
            let what = format!("wrong solution, no figure: its residual is {residual}");
            return Err(Malformed::at(at, what));
        }
        if said != "PASSED" || residual >= threshold + ROUNDED {
            let what = format!("of residual {residual} and threshold {threshold}");
            return Err(Malformed::quoting(at, said, &what));
        }
        self.unproven = None;
        Ok(())
    }
}

/// Whether a line begins with a variant, such as `WR11C2R4`.
fn is_solve(line: &str) -> bool {
    let mut chars = line.chars();
    chars.next() == Some('W')
        && matches!(chars.next(), Some('R' | 'C'))
        && chars.next().is_some_and(|c| c.is_ascii_digit())
}
