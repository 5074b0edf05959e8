//! One published figure, and the CSV that holds them.

use std::io::Read;

use proofmark_model::{Subsystem, clean_excerpt};
use serde::Serialize;

use crate::InputError;

/// Most rows that are read: some thousand times the largest report known.
const MOST_ROWS: u64 = 4_000_000;
/// Longest text in a cell, in bytes.
const LONGEST_CELL: usize = 1000;
/// A device moves whole sectors, of 512 bytes at the least.
const SECTOR: f64 = 512.0;
/// Columns that must be there, once; others are ignored.
pub(crate) const COLUMNS: [&str; 11] = [
    "subsystem",
    "tool",
    "operation",
    "metric",
    "block_size_bytes",
    "threads",
    "trial",
    "value",
    "unit_as_written",
    "value_si",
    "si_unit",
];

/// What kind of quantity a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Operations per second.
    Rate,
    /// Bytes or bits per second.
    Throughput,
    /// Time of one operation.
    Latency,
    /// Anything else, such as the time of a whole trial, jitter or loss.
    Other,
}

/// Which of a point's numbers a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Statistic {
    /// The trial of that number.
    Trial(u64),
    /// Mean (or median) over the trials.
    Mean,
    /// Standard deviation over the trials.
    Deviation,
    /// Minimum, maximum, or not stated.
    Other,
}

/// One row of a published table, whose columns are its fields in JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Place among the figures of the file, from 0.
    #[serde(skip)]
    pub(crate) index: usize,
    /// Line of the file, from 1.
    pub line: u64,
    /// Part of the machine.
    pub subsystem: Subsystem,
    /// Program, as the report calls it.
    pub tool: String,
    /// Operation, such as `seq_read`; lower case.
    pub operation: String,
    /// Metric as written.
    #[serde(rename = "metric")]
    pub metric_name: String,
    /// Kind of quantity.
    #[serde(skip)]
    pub metric: Metric,
    /// Bytes of one operation; `None`: not said.
    #[serde(rename = "block_size_bytes")]
    pub block: Option<u64>,
    /// Threads or streams; `None`: not said.
    pub threads: Option<u64>,
    /// Which of the numbers it is, as the column `trial` says it.
    #[serde(rename = "trial")]
    pub statistic_name: String,
    /// Which of the point's numbers it is.
    #[serde(skip)]
    pub statistic: Statistic,
    /// The number as printed, in `unit`.
    pub value: f64,
    /// The unit as printed.
    #[serde(rename = "unit_as_written")]
    pub unit: String,
    /// The number in `si_unit`; `None`: not convertible.
    #[serde(rename = "value_si")]
    pub si: Option<f64>,
    /// `bytes/s`, `bits/s`, `ops/s` or `seconds`; empty: none.
    pub si_unit: String,
}

/// Reads figures from CSV with the header that the module's `COLUMNS` list, in any order; else the
/// first line that is not as it must be, and why.
pub fn read_figures(input: impl Read) -> Result<Vec<Figure>, InputError> {
    read_at_most(input, MOST_ROWS)
}

fn read_at_most(input: impl Read, most: u64) -> Result<Vec<Figure>, InputError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(input);
    let headers = reader.headers().map_err(|e| row_error(&e))?;
    let mut places = [0; COLUMNS.len()];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        let mut named = headers.iter().zip(0..).filter(|(header, _)| *header == column);
        *place = match (named.next(), named.next()) {
            (Some((_, place)), None) => place,
            (found, _) => {
                let what = if found.is_some() { "there twice" } else { "missing" };
                let list = COLUMNS.join(",");
                let why =
                    format!("line 1: column '{column}' is {what}; the header must name {list}");
                return Err(InputError(why));
            }
        };
    }
    let mut figures = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| row_error(&e))?;
        let line = record.position().map_or(0, csv::Position::line);
        if figures.len() as u64 >= most {
            return Err(InputError(format!("line {line}: more than {most} figures")));
        }
        figures.push(figure(places.map(|place| &record[place]), line, figures.len())?);
    }
    match figures.is_empty() {
        true => Err(InputError("no figures after the header".to_owned())),
        false => Ok(figures),
    }
}

/// A row that is no CSV, is cut off, or is not UTF-8; line 0 where the reader does not know it.
fn row_error(error: &csv::Error) -> InputError {
    let line = error.position().map_or(0, csv::Position::line);
    let reason = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} cells, but the header has {expected_len}")
        }
        csv::ErrorKind::Io(e) => return InputError(format!("cannot read the figures: {e}")),
        csv::ErrorKind::Utf8 { .. } => "not UTF-8".to_owned(),
        _ => error.to_string(),
    };
    InputError(format!("line {line}: {reason}"))
}

/// The figure of a row, whose cells are in the order of [`COLUMNS`].
fn figure(cells: [&str; 11], line: u64, index: usize) -> Result<Figure, InputError> {
    let wrong = |column: &str, found: &str, wanted: &str| {
        let found = shown(found);
        InputError(format!("line {line}: column '{column}' holds '{found}', expected {wanted}"))
    };
    if let Some((column, text)) = COLUMNS.iter().zip(cells).find(|(_, t)| t.len() > LONGEST_CELL) {
        return Err(wrong(column, text, "a text of at most 1000 bytes"));
    }
    let [subsystem, tool, operation, kind, block, threads, trial, value, unit, si, si_unit] = cells;
    let known = Subsystem::ALL.into_iter().find(|s| s.as_str().eq_ignore_ascii_case(subsystem));
    let subsystem =
        known.ok_or_else(|| wrong("subsystem", subsystem, "cpu, memory, disk or network"))?;
    let count = |column, text: &str| match text {
        "" => Ok(None),
        text => match text.parse::<u64>() {
            Ok(n) if n > 0 => Ok(Some(n)),
            _ => Err(wrong(column, text, "a whole number above 0")),
        },
    };
    let number = |column, text: &str| match text.parse::<f64>() {
        Ok(n) if n.is_finite() && n >= 0.0 => Ok(n),
        _ => Err(wrong(column, text, "a finite number of at least 0")),
    };
    Ok(Figure {
        index,
        line,
        subsystem,
        tool: tool.to_owned(),
        operation: operation.to_ascii_lowercase(),
        metric_name: kind.to_owned(),
        metric: metric(kind),
        block: count("block_size_bytes", block)?,
        threads: count("threads", threads)?,
        statistic_name: trial.to_owned(),
        statistic: statistic(trial),
        value: number("value", value)?,
        unit: unit.to_owned(),
        si: (!si.is_empty()).then(|| number("value_si", si)).transpose()?,
        si_unit: si_unit.to_owned(),
    })
}

fn metric(text: &str) -> Metric {
    match text.to_ascii_lowercase().as_str() {
        "rate" | "iops" => Metric::Rate,
        "throughput" | "bandwidth" => Metric::Throughput,
        "latency" => Metric::Latency,
        _ => Metric::Other,
    }
}

fn statistic(text: &str) -> Statistic {
    match text.to_ascii_lowercase().as_str() {
        "mean" | "average" | "avg" | "median" => Statistic::Mean,
        "sd" | "std" | "stddev" | "stdev" | "std dev" | "deviation" => Statistic::Deviation,
        other => other.parse().map_or(Statistic::Other, Statistic::Trial),
    }
}

/// A cell for an error message: short, and without what would steer a terminal.
fn shown(text: &str) -> String {
    let mut out: String = clean_excerpt(text, 40);
    if out.len() < text.len() {
        out.push_str("...");
    }
    out
}

impl Figure {
    /// The figure in base units, unless it is a deviation: that is no rate and no time of an
    /// operation, so limits of these do not hold for it.
    pub(crate) fn level(&self) -> Option<f64> {
        self.si.filter(|_| self.statistic != Statistic::Deviation)
    }

    /// What a disk would have to carry for it, in B/s: of a rate of operations their blocks; a
    /// latency is the rate of one operation at a time.
    pub(crate) fn device_rate(&self) -> Option<f64> {
        if self.subsystem != Subsystem::Disk {
            return None;
        }
        let (level, block) = (self.level()?, self.block.map(|b| b as f64));
        let random = self.operation.contains("rand");
        let sectors = block.filter(|b| random && *b < SECTOR).map_or(1.0, |b| SECTOR / b);
        match self.metric {
            Metric::Throughput => Some(level * sectors),
            Metric::Rate => Some(level * block? * sectors),
            Metric::Latency if level > 0.0 => Some(block? / level),
            _ => None,
        }
    }

    /// Whether it is of that subsystem and kind.
    pub(crate) fn is(&self, subsystem: Subsystem, metric: Metric) -> bool {
        self.subsystem == subsystem && self.metric == metric
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "subsystem,tool,operation,metric,block_size_bytes,threads,trial,value,unit_as_written,value_si,si_unit\n";

    struct Fails;

    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("gone"))
        }
    }

    fn error(rows: &str) -> String {
        read_figures(format!("{HEADER}{rows}").as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn a_row_becomes_a_figure() {
        let rows = " Disk ,fio,SEQ_READ,throughput, 4096,,std dev, 1.5,MB/s,,bytes/s\n";
        let all = read_figures(format!("{HEADER}{rows}").as_bytes()).unwrap();
        let [f] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((f.line, f.block, f.threads, f.si), (2, Some(4096), None, None));
        assert_eq!((f.operation.as_str(), f.statistic), ("seq_read", Statistic::Deviation));
        assert_eq!(f.metric, Metric::Throughput);
    }

    #[test]
    fn errors_name_line_column_and_what_is_wanted() {
        let good = "disk,fio,seq_read,throughput,4096,1,1,1.5,MB/s,1.5e6,bytes/s\n";
        let long = format!("disk,{},r,rate,,,,1,x,1,y\n", "t".repeat(1001));
        for (row, says) in [
            ("tape,fio,r,rate,,,,1,x,1,y\n", "line 3: column 'subsystem' holds 'tape'"),
            ("disk,fio,r,rate,-1,,,1,x,1,y\n", "line 3: column 'block_size_bytes' holds '-1'"),
            ("disk,fio,r,rate,,0,,1,x,1,y\n", "line 3: column 'threads' holds '0'"),
            ("disk,fio,r,rate,,,,NaN,x,1,y\n", "line 3: column 'value' holds 'NaN'"),
            ("disk,fio,r,rate,,,,-3,x,1,y\n", "line 3: column 'value' holds '-3'"),
            ("disk,fio,r,rate,,,,,x,1,y\n", "line 3: column 'value' holds ''"),
            ("disk,fio,r,rate,,,,1,x,inf,y\n", "line 3: column 'value_si' holds 'inf'"),
            ("disk,fio,r,rate,,,,1\n", "line 3: 8 cells, but the header has 11"),
            (&long, "line 3: column 'tool'"),
        ] {
            let text = error(&format!("{good}{row}"));
            assert!(text.starts_with(says), "{text}");
        }
        let bad = format!("disk,f,r,rate,,,,\u{1b}[2J{},x,1,y\n", "9".repeat(60));
        let text = error(&bad);
        assert!(!text.contains('\u{1b}') && text.contains("...") && text.len() < 120, "{text}");
        let three = format!("{HEADER}{}", good.repeat(3));
        assert_eq!(read_at_most(three.as_bytes(), 3).unwrap().len(), 3);
        let text = read_at_most(three.as_bytes(), 2).unwrap_err().to_string();
        assert_eq!(text, "line 4: more than 2 figures");
    }

    #[test]
    fn a_file_without_figures_is_refused() {
        let text = |input: &mut dyn Read| read_figures(input).unwrap_err().to_string();
        assert_eq!(text(&mut HEADER.as_bytes()), "no figures after the header");
        let missing = text(&mut "subsystem,tool\n".as_bytes());
        assert!(missing.starts_with("line 1: column 'operation' is missing"), "{missing}");
        let twice = text(&mut format!("tool,{HEADER}").as_bytes());
        assert!(twice.starts_with("line 1: column 'tool' is there twice"), "{twice}");
        assert!(text(&mut &b"\xff\xfe\n"[..]).contains("UTF-8"));
        assert_eq!(text(&mut Fails), "cannot read the figures: gone");
    }

    #[test]
    fn words_of_reports_are_understood() {
        for (words, is) in [
            (&["throughput", "Bandwidth"][..], Metric::Throughput),
            (&["rate", "IOPS"], Metric::Rate),
            (&["latency"], Metric::Latency),
            (&["jitter", ""], Metric::Other),
        ] {
            assert!(words.iter().all(|w| metric(w) == is), "{words:?}");
        }
        for (words, is) in [
            (&["mean", "Average", "avg", "median"][..], Statistic::Mean),
            (&["sd", "std", "stddev", "stdev", "Std Dev", "deviation"], Statistic::Deviation),
            (&["7", "007"], Statistic::Trial(7)),
            (&["max", "", "-1"], Statistic::Other),
        ] {
            assert!(words.iter().all(|w| statistic(w) == is), "{words:?}");
        }
    }
}
