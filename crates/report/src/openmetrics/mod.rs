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

use std::fmt::Write as _;

use proofmark_model::Run;

use self::families::Family;
use self::labels::Labels;
use crate::{Options, RenderError};

pub(crate) fn render(run: &Run, _: &Options) -> Result<String, RenderError> {
    let mut text = String::new();
    for family in families::from_run(run).iter().filter(|f| !f.series.is_empty()) {
        write_family(&mut text, family)?;
    }
    text.push_str("# EOF\n");
    Ok(text)
}

fn write_family(text: &mut String, family: &Family) -> std::fmt::Result {
    let unit = family.unit.map_or_else(String::new, |unit| format!("_{unit}"));
    let name = format!("{}{unit}", family.name);
    writeln!(text, "# HELP {name} {}", family.help)?;
    writeln!(text, "# TYPE {name} gauge")?;
    if let Some(unit) = family.unit {
        writeln!(text, "# UNIT {name} {unit}")?;
    }
    for (labels, value) in &family.series {
        writeln!(text, "{name}{{{}}} {value:?}", join(labels))?;
    }
    Ok(())
}

/// `name="value",...`, escaped.
fn join(labels: &Labels) -> String {
    let escape = |v: &str| v.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let labels = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value)));
    labels.collect::<Vec<_>>().join(",")
}
