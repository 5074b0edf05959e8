//! Gauges in the text form of OpenMetrics, for node_exporter's textfile collector: write it as
//! `proofmark.prom` in another folder, then move it into the collector's.
//!
//! That collector reads Prometheus's older text form, to which `# UNIT` and `# EOF` are comments; it
//! refuses a file with timestamps, and a type that the older form does not have, such as `info`.
//! So all is a gauge and nothing has a timestamp: `proofmark_run_start_timestamp_seconds` says how
//! old the figures are. What both forms read is what is written.
//!
//! One family for each unit: `proofmark_measurement_bytes_per_second` is the headline figure, its labels
//! the workload and, after `param_`, every parameter. Further families hold the interval, the ceiling, the
//! efficiency, percentiles of the latency, and reference tools. A verdict is a set of states: one
//! series for each of `valid`, `suspect` and `invalid`, of which one is 1. A value that is missing,
//! or not finite, has no series. The collector adds which machine it is (`instance`).

mod families;
mod labels;

use proofmark_model::Run;

use self::families::Family;
use self::labels::Labels;
use crate::{Options, RenderError};

pub(crate) fn render(run: &Run, _: &Options) -> Result<String, RenderError> {
    let families = families::from_run(run);
    let families = families.iter().filter(|f| !f.series.is_empty()).map(write);
    Ok(families.collect::<String>() + "# EOF\n")
}

fn write(family: &Family) -> String {
    let Family { name, help, unit, series } = family;
    let (name, unit) = match unit {
        Some(unit) => {
            (format!("proofmark_{name}_{unit}"), format!("# UNIT proofmark_{name}_{unit} {unit}\n"))
        }
        None => (format!("proofmark_{name}"), String::new()),
    };
    let line = |(labels, value): &(Labels, f64)| format!("{name}{{{}}} {value:?}\n", join(labels));
    let lines: String = series.iter().map(line).collect();
    format!("# HELP {name} {help}\n# TYPE {name} gauge\n{unit}{lines}")
}

/// `name="value",...`, escaped.
fn join(labels: &Labels) -> String {
    let escape = |v: &str| v.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let labels = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value)));
    labels.collect::<Vec<_>>().join(",")
}
