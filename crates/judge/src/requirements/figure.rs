//! The value of a requirement's statistic.

use proofmark_model::{Figure, Latency, Measurement, Unit, format_count};

use super::{Dimension, Statistic};

pub(super) fn dimension(statistic: Statistic, m: &Measurement) -> Dimension {
    match statistic {
        Statistic::Delivered | Statistic::Attainable | Statistic::Typical => Some(m.unit),
        Statistic::Efficiency => None,
        Statistic::Iops => Some(Unit::OpPerSecond),
        _ => Some(Unit::Second),
    }
}

/// The value, or the reason why there is none.
pub(super) fn number(statistic: Statistic, m: &Measurement) -> Result<f64, String> {
    let summary = m.summary.as_ref();
    let found = match statistic {
        Statistic::Delivered => return figure_value(summary.map(|s| &s.delivered)),
        Statistic::Attainable => return figure_value(summary.map(|s| &s.attainable)),
        Statistic::Typical => return figure_value(summary.map(|s| &s.typical)),
        Statistic::Efficiency => return m.efficiency.ok_or_else(|| no_share(m)).and_then(finite),
        Statistic::Iops => {
            let rate = figure_value(summary.map(|s| &s.delivered))?;
            operations(m, rate).ok_or(NO_SIZE)
        }
        Statistic::Mean
        | Statistic::P50
        | Statistic::P90
        | Statistic::P99
        | Statistic::P999
        | Statistic::Max => match &m.latency {
            Some(latency) => return latency_value(statistic, latency, m),
            None => Err(NO_LATENCY),
        },
    };
    finite(found.map_err(str::to_owned)?)
}

const NO_FIGURE: &str = "no such figure in the result";
const NO_CEILING: &str = "no ceiling is known; see proofmark info";
const NO_SIZE: &str = "the size of one operation is unknown";
const NO_LATENCY: &str = "this workload records no operation times";

/// The reason why a result has no share of a ceiling.
fn no_share(m: &Measurement) -> String {
    let recorded = m.missing.get("efficiency").filter(|_| m.ceiling.is_some());
    recorded.map_or(NO_CEILING, String::as_str).to_owned()
}

fn finite(value: f64) -> Result<f64, String> {
    Some(value).filter(|v| v.is_finite()).ok_or_else(|| NO_FIGURE.to_owned())
}

fn figure_value(figure: Option<&Figure>) -> Result<f64, String> {
    let missing = figure.and_then(|f| f.missing.clone());
    let value = figure.and_then(|f| f.value).filter(|v| v.is_finite());
    value.ok_or_else(|| missing.unwrap_or_else(|| NO_FIGURE.to_owned()))
}

/// Work in operations; `None` if the size of one is unknown.
fn operations(m: &Measurement, work: f64) -> Option<f64> {
    match m.unit {
        Unit::BytePerSecond => Some(work / m.params.block_bytes()?),
        Unit::OpPerSecond => Some(work),
        _ => None,
    }
}

/// Share of the operations that counts as all: the work of an import is rounded.
const NEARLY_ALL: f64 = 0.999;

fn latency_value(statistic: Statistic, latency: &Latency, m: &Measurement) -> Result<f64, String> {
    let percentile = |value: Option<f64>, name: &str| {
        let few =
            || format!("too few operations for a {name}: 10 must be beyond it; measure longer");
        value.ok_or_else(few)
    };
    let found = match statistic {
        Statistic::P50 => latency.p50,
        Statistic::P90 => percentile(latency.p90, "p90")?,
        Statistic::P99 => percentile(latency.p99, "p99")?,
        Statistic::P999 => percentile(latency.p999, "p999")?,
        Statistic::Max => {
            let all = operations(m, m.trials.iter().map(|t| t.work).sum());
            let all =
                all.filter(|all| all.is_finite() && (latency.count as f64) < NEARLY_ALL * all);
            if let Some(all) = all {
                let [timed, all] = [latency.count, all as u64].map(format_count);
                return Err(format!("only {timed} of {all} operations were timed: no maximum"));
            }
            latency.max
        }
        _ => latency.mean,
    };
    finite(found)
}
