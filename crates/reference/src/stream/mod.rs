//! STREAM by John D. McCalpin: its own listing (5.10, and 5.9 before it), and the one in the
//! output of HPC Challenge, whose STREAM is derived from it.

mod program;
mod runner;
#[cfg(test)]
mod tests;

use proofmark_model::{Params, Printed, Subsystem, Trial, Unit};

use crate::rated::{rated, took};
use crate::text::{columns, each_line, number, positive, whole, wrong_if};
use crate::{Description, Figure, Malformed, Output, Tool, same_work};

pub(crate) struct Stream;

impl Tool for Stream {
    fn description(&self) -> &Description {
        &Description {
            id: "stream",
            printed: Printed::Mean,
            title: "STREAM, John D. McCalpin",
            package: "compiled as stream or stream_c, or Debian: opa-basic-tools",
            same_work: const {
                &[
                    same_work("Copy", "memory.copy"),
                    same_work("Scale", "memory.scale"),
                    same_work("Add", "memory.add"),
                    same_work("Triad", "memory.triad"),
                ]
            },
            about: "Reads the text that STREAM 5.9 and 5.10 print, and STREAM in HPC Challenge's \
                    hpccoutf.txt. MB is 10^6 bytes, GB 10^9. STREAM counts the bytes that the loop \
                    reads and writes: 16 an element for Copy and Scale, 24 for Add and Triad. It \
                    does not count what the hardware reads before it overwrites. STREAM's rate is \
                    that of its fastest iteration after the first; it becomes the one trial of its \
                    loop. The mean and the slowest become stream.copy_mean, stream.copy_slowest \
                    and so on, where STREAM prints their times with 4 digits or more. proofmark \
                    refuses an output whose validation failed, or whose minimum time contradicts \
                    its rate. In an hpccoutf.txt, StarSTREAM reports one process while all others \
                    run the same; it becomes stream.star.copy and so on. SingleSTREAM is one \
                    process alone. proofmark recognises an hpccoutf.txt as HPL's: name the tool to \
                    read its STREAM.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        let table = |line: &str| line.starts_with("Function ") && line.contains(" Rate");
        text.lines().any(table) && !text.contains("HPLinpack")
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let mut listing = Listing::default();
        let last = each_line(text, |at, line| listing.line(at, line))?;
        if let Some(at) = listing.unproven {
            return Err(Malformed::at(at, "no 'Solution Validates' follows: it ends too early"));
        }
        wrong_if(listing.output.figures.is_empty(), last, "no table of STREAM's rates")?;
        Ok(listing.output)
    }
}

/// A loop of STREAM: its label and its arrays.
struct Loop {
    label: &'static str,
    arrays: u64,
}

static LOOPS: [Loop; 4] = [
    Loop { label: "Copy", arrays: 2 },
    Loop { label: "Scale", arrays: 2 },
    Loop { label: "Add", arrays: 3 },
    Loop { label: "Triad", arrays: 3 },
];

/// Whether it has a loop of that label.
fn has(label: &str) -> bool {
    LOOPS.iter().any(|l| l.label == label)
}

/// What ends the name of a loop by the mean time of its iterations.
const MEAN: &str = "_mean";

/// Fewer digits than these leave a time unsure by more than a tenth of a percent.
const DIGITS: usize = 4;

#[derive(Clone, Copy, Default, PartialEq)]
enum Section {
    /// In no section: STREAM's own output, or hpcc's preface.
    #[default]
    None,
    /// Every process runs STREAM.
    Star,
    /// One process runs STREAM.
    Single,
    Other,
}

#[derive(Default)]
struct Listing {
    output: Output,
    section: Section,
    word_bytes: Option<u64>,
    elements: Option<u64>,
    runs: Option<u64>,
    threads: Option<u64>,
    /// Bytes a second of the rate's unit, and the rows still to come, while in a table.
    table: Option<(f64, &'static [Loop])>,
    /// Line of the table whose result is not yet validated.
    unproven: Option<usize>,
}

impl Listing {
    fn line(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        if let Some(name) = line.strip_prefix("Begin of ") {
            self.section = match name.split(' ').next() {
                Some("StarSTREAM") => Section::Star,
                Some("SingleSTREAM") => Section::Single,
                _ => Section::Other,
            };
        }
        if self.section == Section::Other {
            return Ok(());
        }
        if self.table.is_some_and(|(_, rows)| !rows.is_empty()) {
            return self.row(at, line);
        }
        if let Some(rest) = line.strip_prefix("STREAM version $Revision: ") {
            self.output.version = rest.split(' ').next().map(str::to_owned);
        } else if let Some(rest) = line.strip_prefix("This system uses ") {
            self.word_bytes = Some(leading(rest, at)?);
        } else if let Some(rest) = line.strip_prefix("Array size = ") {
            self.elements = Some(leading(rest, at)?);
        } else if let Some(rest) = line.strip_prefix("Each kernel will be executed ") {
            self.runs = Some(leading(rest, at)?);
        } else if let Some(rest) = line.strip_prefix("Each test is run ") {
            self.runs = Some(leading(rest, at)?);
        } else if let Some(rest) = line.strip_prefix("Number of Threads counted = ") {
            self.threads = Some(leading(rest, at)?);
        } else if line.starts_with("Function ") {
            self.header(at, line)?;
        } else if line.starts_with("Failed Validation") {
            let what = format!("wrong result, no figure: {}", Malformed::excerpt(line));
            return Err(Malformed::at(at, what));
        } else if line.starts_with("Solution Validates") {
            self.unproven = None;
        } else if let Some(rest) = line.strip_prefix("Node(s) with error ") {
            wrong_if(leading(rest, at)? > 0, at, "a process found its result wrong: no figure")?;
        } else if let Some(rest) = line.strip_prefix("Single STREAM ") {
            self.single(at, rest)?;
        }
        Ok(())
    }

    /// The line above a table: the unit of its rates.
    fn header(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        let unit = if line.contains("MB/s") {
            1e6
        } else if line.contains("GB/s") {
            1e9
        } else {
            return Err(Malformed::at(at, "the rates are neither in MB/s nor in GB/s"));
        };
        self.table = Some((unit, &LOOPS));
        self.unproven = Some(at);
        Ok(())
    }

    /// A row: label, rate, and the mean, least and greatest time in seconds.
    fn row(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        let Some((unit, [this, rest @ ..])) = self.table else { return Ok(()) };
        self.table = Some((unit, rest));
        let [label, rate, mean, fastest, slowest] = columns(line).ok_or_else(|| {
            Malformed::at(at, format!("expected the row of {}, with 4 numbers", this.label))
        })?;
        if label.strip_suffix(':') != Some(this.label) {
            let what = format!("expected {}:, not {:?}", this.label, Malformed::excerpt(label));
            return Err(Malformed::at(at, what));
        }
        let work = self.work(this, at)?;
        let best = rated(Unit::BytePerSecond, work, positive(rate, at)? * unit, at)?;
        took(&best, fastest, at)?;
        self.figure(this, "", "fastest iteration", best);
        for (time, suffix, words) in
            [(mean, MEAN, "mean time"), (slowest, "_slowest", "slowest iteration")]
        {
            let seconds = number(time, at)?;
            if digits(time) >= DIGITS && seconds > 0.0 {
                let trial = rated(Unit::BytePerSecond, work, work / seconds, at)?;
                self.figure(this, suffix, words, trial);
            }
        }
        Ok(())
    }

    /// hpcc's line of a process alone: loop, unit, rate.
    fn single(&mut self, at: usize, rest: &str) -> Result<(), Malformed> {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let ([label, "GB/s", rate], Section::Single) = (&words[..], self.section) else {
            return Err(Malformed::at(at, "expected a loop of SingleSTREAM and its GB/s"));
        };
        let Some(this) = LOOPS.iter().find(|l| l.label == *label) else {
            let what = format!("STREAM has no loop {:?}", Malformed::excerpt(label));
            return Err(Malformed::at(at, what));
        };
        let work = self.work(this, at)?;
        let best = rated(Unit::BytePerSecond, work, positive(rate, at)? * 1e9, at)?;
        self.figure(this, "", "fastest iteration", best);
        Ok(())
    }

    /// Bytes that an iteration of the loop counts.
    fn work(&self, this: &Loop, at: usize) -> Result<f64, Malformed> {
        let array = self.array_bytes().ok_or_else(|| {
            Malformed::at(at, "no 'Array size' and 'bytes per array element' above, or too large")
        })?;
        Ok(array as f64 * this.arrays as f64)
    }

    fn array_bytes(&self) -> Option<u64> {
        self.elements?.checked_mul(self.word_bytes?)
    }

    fn figure(&mut self, this: &Loop, suffix: &'static str, words: &str, trial: Trial) {
        let (prefix, kind) = match self.section {
            Section::Star => ("star.", "StarSTREAM "),
            Section::Single => ("", "SingleSTREAM "),
            _ => ("", "STREAM "),
        };
        let test = format!("{prefix}{}{suffix}", this.label);
        let params = Params::default()
            .known("array_size", self.array_bytes())
            .known("threads", self.threads)
            .known("NTIMES", self.runs)
            .known("type", (self.word_bytes == Some(4)).then_some("f32"));
        let title = format!("{kind}{}, {words}", this.label);
        let what = (Subsystem::Memory, Unit::BytePerSecond);
        let figure = Figure::rate(test, title, what, params, trial);
        // Each loop is one of numbers of 64 bits.
        let comparable = self.word_bytes == Some(8);
        self.output.figures.push(Figure { comparable, ..figure });
    }
}

/// The whole number that a text begins with.
fn leading(text: &str, at: usize) -> Result<u64, Malformed> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    whole(text.split_at(end).0, at)
}

/// Significant digits of a number, as it is printed.
fn digits(word: &str) -> usize {
    let digits = word.chars().filter(char::is_ascii_digit);
    digits.skip_while(|c| *c == '0').count()
}
