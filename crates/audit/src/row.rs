//! One row of the table. Its cells are numbers and known words, or the row is refused.

use proofmark_model::{Subsystem, did_you_mean, excerpt};

use crate::InputError;
use crate::columns::COLUMNS;
use crate::figure::{Figure, Order};
use crate::quantity::{Base, Metric};
use crate::units::{self, Unit};
use crate::words::{self, METRICS, STATISTICS, nearest};

/// Longest text in a cell, in bytes.
const LONGEST_CELL: usize = 1000;

/// Cells of a row, in the order of [`COLUMNS`].
pub(crate) struct Row<'a> {
    pub line: u64,
    pub cells: [&'a str; COLUMNS.len()],
    /// True if numbers may have a decimal comma.
    pub comma: bool,
}

impl Row<'_> {
    /// Parses the figure with this index, or returns an error for its first wrong cell.
    pub fn figure(&self, index: usize) -> Result<Figure, InputError> {
        let long = COLUMNS.iter().zip(self.cells).find(|(_, text)| text.len() > LONGEST_CELL);
        if let Some((column, text)) = long {
            return Err(self.wrong(column.name, text, "expected a text of at most 1000 bytes"));
        }
        let [subsystem, tool, operation, kind, block, threads, trial, value, unit, si, si_unit, _] =
            self.cells;
        let subsystem = Subsystem::ALL
            .into_iter()
            .find(|known| known.as_str().eq_ignore_ascii_case(subsystem))
            .ok_or_else(|| {
                let known = Subsystem::ALL.iter().map(|known| known.as_str());
                self.unknown_word("subsystem", subsystem, known)
            })?;
        let metric = words::meaning(METRICS, kind).ok_or_else(|| {
            self.unknown_word("metric", kind, words::all(METRICS).map(|(_, w)| w))
        })?;
        let statistic = words::statistic(trial).ok_or_else(|| {
            let near = nearest(trial, words::all(STATISTICS).map(|(_, word)| word));
            let hint = format!("expected the number of a trial, or a word such as mean; {near}");
            self.wrong("trial", trial, &hint)
        })?;
        let written = self.unit(unit, metric, kind)?;
        let value = self.number("value", value)?;
        let stated = (!si.is_empty()).then(|| self.number("value_si", si)).transpose()?;
        let base = match (si_unit, stated, &written) {
            ("", None, Some(unit)) => Some(unit.base),
            ("", None, None) => None,
            _ => self.base(si_unit, metric, kind)?,
        };
        let base = base.filter(|base| base.si_unit().is_some());
        // The first factor reads prefixes of bytes as powers of 1000.
        let computed = || Some(value * written.as_ref()?.factors(base?)?.first()?);
        let si = stated.or_else(computed);
        let si_unit = match base.and_then(Base::si_unit).filter(|_| si_unit.is_empty()) {
            Some(unit) => unit.to_owned(),
            None => si_unit.to_owned(),
        };
        let bases = [written.as_ref().map(|unit| unit.base), base];
        let packets = bases.contains(&Some(Base::Packets))
            || kind.eq_ignore_ascii_case("pps")
            || operation.to_ascii_lowercase().contains("packet");
        let operation = operation.to_ascii_lowercase();
        let (order, work) = Order::read(tool, &operation);
        Ok(Figure {
            index,
            line: self.line,
            subsystem,
            tool: tool.to_owned(),
            operation,
            metric_name: kind.to_owned(),
            metric,
            block: self.count("block_size_bytes", block)?,
            threads: self.count("threads", threads)?,
            statistic_name: trial.to_owned(),
            statistic,
            value,
            unit: unit.to_owned(),
            written,
            si,
            si_unit,
            base,
            packets: packets && metric == Metric::Rate,
            requests: bases.contains(&Some(Base::Requests)),
            order,
            work,
        })
    }

    fn wrong(&self, column: &str, found: &str, hint: &str) -> InputError {
        let found = shown(found);
        InputError(format!("line {}: column '{column}' holds '{found}'; {hint}", self.line))
    }

    /// Returns the error for an unknown word.
    fn unknown_word<'a>(
        &self,
        column: &str,
        found: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> InputError {
        let known: Vec<&str> = known.collect();
        let near = did_you_mean(&found.to_ascii_lowercase(), known.iter().copied());
        let near = near.map_or_else(String::new, |near| format!("; {near}"));
        self.wrong(column, found, &format!("expected one of {}{near}", known.join(", ")))
    }

    fn unit(&self, unit: &str, metric: Metric, kind: &str) -> Result<Option<Unit>, InputError> {
        let why = match Unit::read(unit) {
            Some(unit) if metric == Metric::Other || unit.base.metric() == metric => {
                return Ok(Some(unit));
            }
            Some(unit) => {
                let metric = unit.base.metric().as_str();
                format!("it is a unit of the metric {metric}, not of {kind}")
            }
            // Any unit is accepted for a metric that no rule reads.
            None if unit.is_empty() || metric == Metric::Other => return Ok(None),
            None if units::is_bits_or_bytes(unit) => {
                "it may mean bits or bytes; write MB/s or Mbit/s".to_owned()
            }
            None => {
                let near = nearest(unit, units::usual(metric).iter().map(String::as_str));
                format!("it is not a known unit of the metric {kind}; {near}")
            }
        };
        Err(self.wrong("unit_as_written", unit, &why))
    }

    fn base(&self, word: &str, metric: Metric, kind: &str) -> Result<Option<Base>, InputError> {
        let fits = |base: &Base| metric == Metric::Other || base.metric() == metric;
        let base = Unit::read_base(word).filter(fits);
        if base.is_some() || metric == Metric::Other {
            return Ok(base);
        }
        let bases = words::UNITS.iter().map(|(base, _)| *base).filter(fits);
        let known: Vec<&str> = bases.filter_map(Base::si_unit).collect();
        let near = did_you_mean(word, known.iter().copied());
        let near = near.map_or_else(String::new, |near| format!("; {near}"));
        let why = format!("for the metric {kind} expected one of {}{near}", known.join(", "));
        Err(self.wrong("si_unit", word, &why))
    }

    fn count(&self, column: &str, text: &str) -> Result<Option<u64>, InputError> {
        match text.parse::<u64>() {
            _ if text.is_empty() => Ok(None),
            Ok(n) if n > 0 => Ok(Some(n)),
            _ => Err(self.wrong(column, text, "expected a whole number above 0, such as 4096")),
        }
    }

    fn number(&self, column: &str, text: &str) -> Result<f64, InputError> {
        let point = match self.comma && !text.contains('.') {
            true => text.replacen(',', ".", 1),
            false => text.to_owned(),
        };
        let number = point.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
        let hint = "expected a finite number of at least 0, without a unit or thousands separators";
        number.ok_or_else(|| self.wrong(column, text, hint))
    }
}

/// Returns a cell for an error message: shortened, without control characters.
pub(crate) fn shown(text: &str) -> String {
    excerpt(text, 40)
}
