//! The reader of STREAM's listing, run by run.

use proofmark_model::{Finding, Params, Trial, Unit, key};

use super::{DIGITS, LOOPS, Loop, MEAN};
use crate::figure::MEMORY;
use crate::findings::differ_unless;
use crate::printed::{Rounded, agree, rated, took};
use crate::text::{columns, each_line, need, number, positive, whole, wrong_if};
use crate::{Figure, Malformed, Output};

/// Returns true if a line is the head of a table of rates.
pub(super) fn is_head(line: &str) -> bool {
    line.trim_start().starts_with("Function ") && line.contains(" Rate")
}

pub(super) fn read(text: &str) -> Result<Output, Malformed> {
    let mut listing = Listing::default();
    let last = each_line(text, |at, line| listing.line(at, line.trim_start()))?;
    listing.run.proven()?;
    wrong_if(listing.output.figures.is_empty(), last, "no table of STREAM's rates")?;
    Ok(listing.output)
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Section {
    /// Outside of all sections: STREAM's own output, or hpcc's preface.
    #[default]
    None,
    /// Every process runs STREAM.
    Star,
    /// One process runs STREAM.
    Single,
    Other,
}

type Field = fn(&mut Run) -> &mut Option<u64>;

/// The relative error of a mean time, from rounding.
const ROUNDED: f64 = 0.01;

/// The text before a number in the lines above a table.
const FACTS: [(&str, Field); 11] = [
    ("This system uses ", |run| &mut run.word_bytes),
    ("Assuming ", |run| &mut run.word_bytes),
    ("Array size = ", |run| &mut run.elements),
    ("Total Aggregate Array size = ", |run| &mut run.elements),
    ("Each kernel will be executed ", |run| &mut run.times),
    ("Each test is run ", |run| &mut run.times),
    ("You are running each test ", |run| &mut run.times),
    ("Data is distributed across ", |run| &mut run.ranks),
    ("Number of Threads requested ", |run| &mut run.requested),
    ("Number of Threads counted ", |run| &mut run.counted),
    ("Number of Threads = ", |run| &mut run.counted),
];

/// The text before the memory of all arrays.
const TOTALS: [&str; 3] = [
    "Total memory required = ",
    "Total Aggregate memory required = ",
    "The total memory requirement is ",
];

/// Words of programs whose loops run on other hardware and print the same table.
const DEVICES: [&str; 4] = ["CUDA", "GPU", "OpenCL", "ROCm"];

/// The state of a run after the lines so far. STREAM validates its arrays after the table.
#[derive(Default)]
struct Run {
    word_bytes: Option<u64>,
    elements: Option<u64>,
    times: Option<u64>,
    ranks: Option<u64>,
    requested: Option<u64>,
    counted: Option<u64>,
    device: Option<&'static str>,
    /// The bytes per second of the rate's unit, and the remaining rows, while in a table.
    table: Option<(f64, &'static [Loop])>,
    /// The line of the table whose result is not yet validated, then its figures.
    unproven: Option<usize>,
    figures: Vec<Figure>,
    findings: Vec<Finding>,
}

impl Run {
    fn proven(&self) -> Result<(), Malformed> {
        let what = "no 'Solution Validates' follows: the output ends too early";
        self.unproven.map_or(Ok(()), |at| Err(Malformed::at(at, what)))
    }

    /// Returns the bytes of an array over all processes.
    fn array_bytes(&self) -> Option<u64> {
        self.elements?.checked_mul(self.word_bytes?)
    }

    /// Returns the threads of all processes.
    fn threads(&self) -> Option<u64> {
        match self.ranks {
            Some(ranks) => ranks.checked_mul(self.counted.unwrap_or(1)),
            None => self.counted,
        }
    }

    /// Returns the bytes that an iteration of the loop counts.
    fn work(&self, this: &Loop, at: usize) -> Result<f64, Malformed> {
        let array = self.array_bytes().ok_or_else(|| {
            let what = "no 'Array size' and 'bytes per array element' above, or too large";
            Malformed::at(at, format!("{what}: give all that STREAM prints"))
        })?;
        Ok(array as f64 * this.arrays as f64)
    }

    /// Compares the printed memory of three arrays with their size.
    fn memory(&mut self, printed: &str, at: usize) {
        let mut words = printed.split_whitespace();
        // Fortran truncates the number.
        let printed_total = words.next().and_then(|word| Rounded::parse(word, at).ok());
        let printed_total =
            printed_total.map(|printed_total| printed_total.within(printed_total.off));
        let unit = words.next().unwrap_or_default().trim_end_matches('.');
        let bytes = match unit {
            "MB" | "MiB" => 1_u32 << 20,
            "GB" | "GiB" => 1 << 30,
            _ => return,
        };
        let is = self.array_bytes().map(|array| 3.0 * array as f64 / f64::from(bytes));
        let Some((printed_total, is)) = printed_total.zip(is) else { return };
        self.findings.extend(differ_unless(agree(printed_total, is, 0.0), || {
            format!(
                "the arrays have {is:.3} {unit} by their size, but {} by the total",
                printed_total.value
            )
        }));
    }
}

#[derive(Default)]
struct Listing {
    output: Output,
    section: Section,
    run: Run,
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
        if self.run.table.is_some_and(|(_, rows)| !rows.is_empty()) {
            return self.row(at, line);
        }
        if let Some(rest) = line.strip_prefix("STREAM version $Revision: ") {
            self.begin()?;
            self.output.version = rest.split(' ').next().map(str::to_owned);
        } else if line.starts_with("This system uses ") && self.run.word_bytes.is_some() {
            self.begin()?;
        }
        if is_head(line) {
            self.header(at, line)?;
        } else if line.starts_with("Failed Validation") {
            let what = "wrong result, no figure";
            return Err(Malformed::at(at, format!("{what}: {}", Malformed::excerpt(line))));
        } else if line.starts_with("Solution Validates") {
            self.validated();
        } else if let Some(rest) = line.strip_prefix("Node(s) with error ") {
            wrong_if(leading(rest, at)? > 0, at, "a process found its result wrong: no figure")?;
        } else if let Some(rest) = line.strip_prefix("Single STREAM ") {
            self.single(at, rest)?;
        } else {
            self.fact(at, line)?;
        }
        Ok(())
    }

    /// Begins a run.
    fn begin(&mut self) -> Result<(), Malformed> {
        self.run.proven()?;
        self.run = Run::default();
        Ok(())
    }

    fn fact(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        if let Some((rest, field)) =
            FACTS.iter().find_map(|(before, field)| Some((line.strip_prefix(before)?, field)))
        {
            // The MPI version prints `counted for rank 0 = 2`, others `counted = 2`.
            let threads = line.starts_with("Number of Threads ");
            let rest = if threads { rest.rsplit(' ').next().unwrap_or_default() } else { rest };
            *field(&mut self.run) = Some(leading(rest.trim_start(), at)?);
        } else if let Some(rest) = TOTALS.iter().find_map(|before| line.strip_prefix(before)) {
            self.run.memory(rest, at);
        } else if let Some(device) = DEVICES.into_iter().find(|device| line.contains(device)) {
            self.run.device = Some(device);
        }
        Ok(())
    }

    /// Reads the line above a table: the unit of its rates, and its columns.
    fn header(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        let run = &mut self.run;
        run.proven()?;
        let device = run.device.unwrap_or_default();
        let what = format!("this STREAM uses {device}: proofmark has no workload for GPUs");
        wrong_if(run.device.is_some(), at, &what)?;
        let units = [("MB/s", 1e6), ("GB/s", 1e9)];
        let unit = units.into_iter().find(|(unit, _)| line.contains(unit)).map(|(_, bytes)| bytes);
        let unit = need(unit, at, "the rates are neither in MB/s nor in GB/s")?;
        let (_, times) = line.split_once("/s").unwrap_or_default();
        let words = times.trim_start_matches(')').split_whitespace();
        let is_known = words.eq(["Avg", "time", "Min", "time", "Max", "time"]);
        wrong_if(
            !is_known,
            at,
            "these are not STREAM's columns: Rate, Avg time, Min time, Max time",
        )?;
        if let Some((asked, counted)) = run.requested.zip(run.counted) {
            let what = || format!("{asked} threads were requested, but {counted} were counted");
            run.findings.extend(differ_unless(asked == counted, what));
        }
        (run.table, run.unproven) = (Some((unit, &LOOPS[..])), Some(at));
        Ok(())
    }

    /// Reads a row: label, rate, and the mean, minimum and maximum time in seconds.
    fn row(&mut self, at: usize, line: &str) -> Result<(), Malformed> {
        let Some((unit, [this, rest @ ..])) = self.run.table else { return Ok(()) };
        self.run.table = Some((unit, rest));
        let expected = format!("expected the row of {}, with 4 numbers", this.label);
        let [label, rate, mean, fastest, slowest] = need(columns(line), at, &expected)?;
        let shown = Malformed::excerpt(label);
        let what =
            format!("these are not STREAM's loops: expected {}:, found {shown:?}", this.label);
        wrong_if(label.strip_suffix(':') != Some(this.label), at, &what)?;
        let work = self.run.work(this, at)?;
        let best = rated(Unit::BytePerSecond, work, positive(rate, at)? * unit, at)?;
        took(&best, fastest, at)?;
        let [least, middle, most] = [fastest, mean, slowest].map(|time| number(time, at));
        let (least, middle, most) = (least?, middle?, most?);
        let ordered = least <= middle && middle <= most;
        wrong_if(!ordered, at, "the mean time is not between the minimum and the maximum")?;
        // All other iterations took the minimum at least. STREAM leaves out the first.
        let is_long = |times: u64| {
            let (all, others) = (times as f64, times.saturating_sub(2) as f64);
            most + others * least > all * middle * (1.0 + ROUNDED)
        };
        let is_too_long = digits(mean) >= DIGITS && self.run.times.is_some_and(is_long);
        wrong_if(is_too_long, at, "the maximum time is longer than the mean allows")?;
        self.figure(this, "", "fastest iteration", best);
        for (time, seconds, suffix, words) in
            [(mean, middle, MEAN, "mean time"), (slowest, most, "_slowest", "slowest iteration")]
        {
            if digits(time) >= DIGITS && seconds > 0.0 {
                let trial = rated(Unit::BytePerSecond, work, work / seconds, at)?;
                self.figure(this, suffix, words, trial);
            }
        }
        Ok(())
    }

    /// Reads hpcc's line of a single process: loop, unit, rate.
    fn single(&mut self, at: usize, rest: &str) -> Result<(), Malformed> {
        let (Some([label, "GB/s", rate]), Section::Single) = (columns(rest), self.section) else {
            return Err(Malformed::at(at, "expected a loop of SingleSTREAM and its GB/s"));
        };
        let what = format!("STREAM has no loop {:?}", Malformed::excerpt(label));
        let this = need(LOOPS.iter().find(|l| l.label == label), at, &what)?;
        let work = self.run.work(this, at)?;
        let best = rated(Unit::BytePerSecond, work, positive(rate, at)? * 1e9, at)?;
        self.figure(this, "", "fastest iteration", best);
        // hpcc counts the processes with wrong results before it prints the rates.
        self.validated();
        Ok(())
    }

    /// Adds the figures of a run whose arrays STREAM has validated.
    fn validated(&mut self) {
        self.run.unproven = None;
        for figure in self.run.figures.drain(..) {
            let findings = self.run.findings.clone();
            let proof = Some("STREAM validated its arrays");
            self.output.figures.push(Figure { proof, findings, ..figure });
        }
    }

    fn figure(&mut self, this: &Loop, suffix: &'static str, words: &str, trial: Trial) {
        let (prefix, kind) = match self.section {
            Section::Star => ("star.", "StarSTREAM "),
            Section::Single => ("", "SingleSTREAM "),
            _ => ("", "STREAM "),
        };
        let test = format!("{prefix}{}{suffix}", this.label);
        let params = Params::default()
            .known(key::ARRAY_SIZE, self.run.array_bytes())
            .known(key::THREADS, self.run.threads())
            .known_named("processes", self.run.ranks)
            .known_named("NTIMES", self.run.times)
            .known(key::NUMBER_TYPE, (self.run.word_bytes == Some(4)).then_some("f32"));
        let title = format!("{kind}{}, {words}", this.label);
        let figure = Figure::rate(test, title, MEMORY, params, trial);
        // proofmark's loops use 64-bit numbers.
        let comparable = self.run.word_bytes == Some(8);
        self.run.figures.push(Figure { comparable, ..figure });
    }
}

/// Returns the whole number that a text begins with.
fn leading(text: &str, at: usize) -> Result<u64, Malformed> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    whole(text.split_at(end).0, at)
}

/// Returns the number of significant digits of a printed number.
fn digits(word: &str) -> usize {
    let digits = word.chars().filter(char::is_ascii_digit);
    digits.skip_while(|c| *c == '0').count()
}
