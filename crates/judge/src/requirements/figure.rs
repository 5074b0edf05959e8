//! The number of a result that a requirement is about.

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

/// The number, or why there is none.
pub(super) fn number(statistic: Statistic, m: &Measurement) -> Result<f64, String> {
    let summary = m.summary.as_ref();
    let found = match statistic {
        Statistic::Delivered => return of_figure(summary.map(|s| &s.delivered)),
        Statistic::Attainable => return of_figure(summary.map(|s| &s.attainable)),
        Statistic::Typical => return of_figure(summary.map(|s| &s.typical)),
        Statistic::Efficiency => m.efficiency,
        Statistic::Iops => {
            let rate = of_figure(summary.map(|s| &s.delivered))?;
            operations(m, rate)
        }
        _ => {
            let latency = m.latency.as_ref().ok_or_else(|| NO_FIGURE.to_owned())?;
            of_latency(statistic, latency, m)?
        }
    };
    found.filter(|v| v.is_finite()).ok_or_else(|| NO_FIGURE.to_owned())
}

const NO_FIGURE: &str = "no such figure in the result";

fn of_figure(figure: Option<&Figure>) -> Result<f64, String> {
    let missing = figure.and_then(|f| f.missing.clone());
    let value = figure.and_then(|f| f.value).filter(|v| v.is_finite());
    value.ok_or_else(|| missing.unwrap_or_else(|| NO_FIGURE.to_owned()))
}

/// So much work in operations; `None` where the size of one is not known.
fn operations(m: &Measurement, work: f64) -> Option<f64> {
    match m.unit {
        Unit::BytePerSecond => Some(work / m.params.block_bytes()?),
        Unit::OpPerSecond => Some(work),
        _ => None,
    }
}

/// An import has rates: its work is rounded.
const ALL: f64 = 0.999;

fn of_latency(
    statistic: Statistic,
    latency: &Latency,
    m: &Measurement,
) -> Result<Option<f64>, String> {
    Ok(match statistic {
        Statistic::Mean => Some(latency.mean),
        Statistic::P50 => Some(latency.p50),
        Statistic::P90 => latency.p90,
        Statistic::P99 => latency.p99,
        Statistic::P999 => latency.p999,
        _ => {
            let all = operations(m, m.trials.iter().map(|t| t.work).sum());
            let all = all.filter(|all| all.is_finite() && (latency.count as f64) < ALL * all);
            if let Some(all) = all {
                let [timed, all] = [latency.count, all as u64].map(format_count);
                return Err(format!("only {timed} of {all} operations were timed: no maximum"));
            }
            Some(latency.max)
        }
    })
}
