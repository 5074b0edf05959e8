//! Requirements on a run's figures: `disk.fsync.p99 < 10ms`, `cpu.flops >= 100 GFLOP/s`.
//!
//! A requirement applies to the result that answers for its workload, or to every result with the
//! parameters in brackets. It is met or missed if the figure's whole interval is on one side of the
//! limit. Else, or without a reliable figure, it is undecided. So is a configuration that was
//! planned but not measured.

mod check;
mod decision;
mod figure;
#[cfg(test)]
mod tests;
mod title;
mod units;

use std::fmt;
use std::str::FromStr;

use proofmark_model::{Run, WorkloadSpec, is_quantity, split_unit};
use units::Dimension;

/// One requirement.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    text: String,
    /// Id of the workload.
    pub workload: String,
    /// Parameters in brackets, by name.
    params: Vec<(String, String)>,
    /// The statistic as typed; empty for the default.
    statistic: String,
    operator: Operator,
    /// The limit in the unit as typed, which [`Requirement::check`] reads as that of the figure.
    limit: f64,
    unit: String,
}

/// The statistic of a result that a requirement limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Statistic {
    Delivered,
    Attainable,
    Typical,
    Efficiency,
    Iops,
    Mean,
    P50,
    P90,
    P99,
    P999,
    Max,
}

impl Statistic {
    /// The statistic of a requirement that names none.
    const DEFAULT: Self = Self::Delivered;
}

/// Statistics by the word after the last full stop of a requirement's figure.
const STATISTICS: [(&str, Statistic); 11] = [
    ("delivered", Statistic::Delivered),
    ("attainable", Statistic::Attainable),
    ("typical", Statistic::Typical),
    ("efficiency", Statistic::Efficiency),
    ("iops", Statistic::Iops),
    ("mean", Statistic::Mean),
    ("p50", Statistic::P50),
    ("p90", Statistic::P90),
    ("p99", Statistic::P99),
    ("p999", Statistic::P999),
    ("max", Statistic::Max),
];

/// Lists the statistics that a requirement may name, without the default.
pub fn named_statistics() -> String {
    let named = STATISTICS.iter().filter(|(_, statistic)| *statistic != Statistic::DEFAULT);
    named.map(|(word, _)| *word).collect::<Vec<_>>().join(", ")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// Operators as typed, the longest first.
const OPERATORS: [(&str, Operator); 4] = [
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("<", Operator::Below),
    (">", Operator::Above),
];

impl Operator {
    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
        }
    }
}

impl Statistic {
    /// The name as typed and printed.
    fn word(self) -> &'static str {
        STATISTICS.iter().find(|(_, s)| *s == self).map_or("", |(word, _)| *word)
    }
}

const FORM: &str = "write FIGURE OPERATOR VALUE, as in disk.fsync.p99<10ms, cpu.flops>=100GFLOP/s or \
                    disk.rand_read[queue_depth=1].p99<=1ms";

impl FromStr for Requirement {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let at = text.find(['<', '>']).ok_or(FORM)?;
        let (figure, rest) = text.split_at(at);
        let is = |(word, _): &&(&str, Operator)| rest.starts_with(word);
        let (word, operator) = OPERATORS.iter().find(is).ok_or(FORM)?;
        let (limit, unit) = parse_limit(rest[word.len()..].trim())?;
        let (workload, params, statistic) = parse_figure(figure.trim())?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Self { text, workload, params, statistic, operator: *operator, limit, unit })
    }
}

impl Requirement {
    /// Returns the message for a statistic that does not exist, where the text before the last full
    /// stop is a workload: `disk.fsync.p98`.
    pub fn misnamed_statistic(
        &self,
        run: &Run,
        declared: impl Fn(&str) -> Option<&'static WorkloadSpec>,
    ) -> Option<String> {
        let (workload, word) = self.workload.rsplit_once('.')?;
        let spec = run.workloads.get(workload).or_else(|| declared(workload))?;
        Some(format!("{}: {}", self.text, units::no_statistic(word, run, spec)))
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Workload, parameters and statistic as typed.
type ParsedFigure = (String, Vec<(String, String)>, String);

/// Parses a figure such as `disk.rand_read[queue_depth=1].p99`.
fn parse_figure(text: &str) -> Result<ParsedFigure, String> {
    let (workload, params, rest) = match text.split_once('[') {
        Some((workload, rest)) => {
            let (inner, rest) = rest.split_once(']').ok_or("] is missing after [")?;
            let pair = |one: &str| {
                let (name, value) = one.split_once('=').ok_or("write [parameter=value,...]")?;
                Ok::<_, &str>((name.trim().to_owned(), value.trim().to_owned()))
            };
            let params = inner.split(',').map(pair).collect::<Result<Vec<_>, _>>()?;
            (workload, params, rest.strip_prefix('.').unwrap_or(rest))
        }
        None => match text.rsplit_once('.') {
            Some((workload, word)) if STATISTICS.iter().any(|(s, _)| *s == word) => {
                (workload, Vec::new(), word)
            }
            _ => (text, Vec::new(), ""),
        },
    };
    if workload.is_empty() {
        return Err(FORM.to_owned());
    }
    Ok((workload.to_owned(), params, rest.to_owned()))
}

/// Parses a number with a unit, whatever the unit is.
fn parse_limit(text: &str) -> Result<(f64, String), String> {
    let (number, unit) = split_unit(text);
    let number: f64 =
        number.parse().map_err(|_| format!("'{text}' is not a number with a unit"))?;
    if !is_quantity(number) {
        return Err(format!("'{text}' is out of range"));
    }
    Ok((number, unit.to_owned()))
}
