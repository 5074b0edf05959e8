//! A row of the table: its cells are numbers and known words, or the figure is refused.

use proofmark_model::{clean_excerpt, did_you_mean};

use crate::InputError;
use crate::figure::{Figure, Metric};
use crate::table::COLUMNS;
use crate::units::{self, Base, Written};
use crate::words::{self, nearest};

/// Longest text in a cell, in bytes.
const LONGEST_CELL: usize = 1000;

/// A row, whose cells are in the order of [`COLUMNS`].
pub(crate) struct Row<'a> {
    pub line: u64,
    pub cells: [&'a str; COLUMNS.len()],
    /// Whether a number may have a decimal comma.
    pub comma: bool,
}

impl Row<'_> {
    /// The figure, which has that place among all; or the first cell that is not as it must be.
    pub fn figure(&self, index: usize) -> Result<Figure, InputError> {
        let long = COLUMNS.iter().zip(self.cells).find(|(_, text)| text.len() > LONGEST_CELL);
        if let Some((column, text)) = long {
            return Err(self.wrong(column, text, "expected a text of at most 1000 bytes"));
        }
        let [subsystem, tool, operation, kind, block, threads, trial, value, unit, si, si_unit] =
            self.cells;
        let subsystem = self.word("subsystem", subsystem, &words::subsystems())?;
        let metric = self.word("metric", kind, words::METRICS)?;
        let statistic = words::statistic(trial).ok_or_else(|| {
            let near = nearest(trial, words::STATISTICS.iter().map(|(word, _)| *word));
            let hint = format!("expected the number of a trial, or a word such as mean; {near}");
            self.wrong("trial", trial, &hint)
        })?;
        let written = self.unit(unit, metric, kind)?;
        let si = (!si.is_empty()).then(|| self.number("value_si", si)).transpose()?;
        let base = self.base(si_unit, metric, kind, si)?;
        let packets = [unit, si_unit].iter().any(|unit| units::is_packets(unit))
            || kind.eq_ignore_ascii_case("pps")
            || operation.to_ascii_lowercase().contains("packet");
        Ok(Figure {
            index,
            line: self.line,
            subsystem,
            tool: tool.to_owned(),
            operation: operation.to_ascii_lowercase(),
            metric_name: kind.to_owned(),
            metric,
            block: self.count("block_size_bytes", block)?,
            threads: self.count("threads", threads)?,
            statistic_name: trial.to_owned(),
            statistic,
            value: self.number("value", value)?,
            unit: unit.to_owned(),
            written,
            si,
            si_unit: si_unit.to_owned(),
            base,
            packets: packets && metric == Metric::Rate,
        })
    }

    fn wrong(&self, column: &str, found: &str, hint: &str) -> InputError {
        let found = shown(found);
        InputError(format!("line {}: column '{column}' holds '{found}'; {hint}", self.line))
    }

    fn word<T: Copy>(&self, column: &str, text: &str, list: &[(&str, T)]) -> Result<T, InputError> {
        words::meaning(list, text).ok_or_else(|| {
            let known: Vec<&str> = list.iter().map(|(word, _)| *word).collect();
            let near = did_you_mean(&text.to_ascii_lowercase(), known.clone());
            let near = near.map_or_else(String::new, |near| format!("; {near}"));
            self.wrong(column, text, &format!("expected one of {}{near}", known.join(", ")))
        })
    }

    fn unit(&self, unit: &str, metric: Metric, kind: &str) -> Result<Written, InputError> {
        let usual = units::usual(metric);
        match units::written(unit) {
            Some(written) if written.fits(metric) => Ok(written),
            Some(written) => {
                let of = match written {
                    Written::Of(base, _) => base.metric().as_str(),
                    Written::TimePerByte => "latency",
                    Written::Share | Written::Unconverted => "loss",
                };
                let why = format!("which is a unit of the metric {of}, not of {kind}");
                Err(self.wrong("unit_as_written", unit, &why))
            }
            // Of what no rule reads any unit will do.
            None if metric == Metric::Other => Ok(Written::Unconverted),
            None => {
                let near = nearest(unit, usual.iter().map(String::as_str));
                let why = format!("which is no known unit of the metric {kind}; {near}");
                Err(self.wrong("unit_as_written", unit, &why))
            }
        }
    }

    fn base(
        &self,
        word: &str,
        metric: Metric,
        kind: &str,
        si: Option<f64>,
    ) -> Result<Option<Base>, InputError> {
        let fits = |base: Base| metric == Metric::Other || base.metric() == metric;
        let fitting = words::BASES.iter().filter(|(_, base)| fits(*base)).map(|(word, _)| *word);
        match words::base(word) {
            Some(base) if fits(base) => Ok(Some(base)),
            None if metric == Metric::Other || word.is_empty() && si.is_none() => Ok(None),
            found => {
                let fitting: Vec<&str> = fitting.collect();
                let known = fitting.join(", ");
                let near = did_you_mean(word, fitting);
                let why = match (found, near) {
                    (Some(base), _) => {
                        let other = base.metric().as_str();
                        format!("a unit of the metric {other}; of {kind} it is one of {known}")
                    }
                    (None, Some(near)) => near,
                    (None, None) => format!("expected, of the metric {kind}, one of {known}"),
                };
                Err(self.wrong("si_unit", word, &why))
            }
        }
    }

    fn count(&self, column: &str, text: &str) -> Result<Option<u64>, InputError> {
        match text {
            "" => Ok(None),
            text => match text.parse::<u64>() {
                Ok(n) if n > 0 => Ok(Some(n)),
                _ => Err(self.wrong(column, text, "expected a whole number above 0")),
            },
        }
    }

    fn number(&self, column: &str, text: &str) -> Result<f64, InputError> {
        let point = match self.comma && !text.contains('.') {
            true => text.replacen(',', ".", 1),
            false => text.to_owned(),
        };
        match point.parse::<f64>() {
            Ok(n) if n.is_finite() && n >= 0.0 => Ok(n),
            _ => {
                let hint = "expected a finite number of at least 0, with no separator of thousands";
                Err(self.wrong(column, text, hint))
            }
        }
    }
}

/// A cell for an error message: short, and without what would steer a terminal.
pub(crate) fn shown(text: &str) -> String {
    let mut out: String = clean_excerpt(text, 40);
    if out.len() < text.len() {
        out.push_str("...");
    }
    out
}
