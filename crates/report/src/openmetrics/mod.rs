//! Gauges in the text form of OpenMetrics, for node_exporter's textfile collector: write it as
//! `proofmark.prom`, beside and then moved into the collector's folder.
//!
//! That collector reads Prometheus's older text form, to which `# UNIT` and `# EOF` are comments; it
//! refuses a file with timestamps, and a type that the older form does not have, such as `info`.
//! So all is a gauge and nothing has a timestamp: `proofmark_run_start_timestamp_seconds` says how
//! old the figures are. What both forms read is what is written.
//!
//! One family for each unit: `proofmark_measurement_bytes_per_second` is the median, its labels
//! the workload and, after `param_`, every parameter. Beside it the interval, the ceiling, the efficiency,
//! percentiles of the latency, and tools that ran beside it. A verdict is a set of states: one
//! series for each of `valid`, `suspect` and `invalid`, of which one is 1. A value that is missing,
//! or not finite, has no series. The collector adds which machine it is (`instance`).

mod families;
mod labels;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use proofmark_model::Run;

use self::families::Family;
use crate::{Format, Options, RenderError};

/// See the module.
#[derive(Debug, Clone, Copy)]
pub struct OpenMetrics;

impl Format for OpenMetrics {
    fn id(&self) -> &'static str {
        "openmetrics"
    }

    fn file(&self) -> Option<&'static str> {
        None
    }

    fn about(&self) -> &'static str {
        "Gauges as OpenMetrics text, for node_exporter's textfile collector (write proofmark.prom)."
    }

    fn render(&self, run: &Run, _: &Options) -> Result<String, RenderError> {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Whole(families::of(run))));
        let mut text = String::new();
        encode(&mut text, &registry)?;
        Ok(text)
    }
}

/// Every family, in the order of the output.
#[derive(Debug)]
struct Whole(Vec<Family>);

impl Collector for Whole {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), std::fmt::Error> {
        for family in self.0.iter().filter(|f| !f.series.is_empty()) {
            let unit = family.unit.map(|u| Unit::Other(u.to_owned()));
            let gauge = MetricType::Gauge;
            let mut all =
                encoder.encode_descriptor(&family.name, family.help, unit.as_ref(), gauge)?;
            for (labels, value) in &family.series {
                ConstGauge::new(*value).encode(all.encode_family(labels)?)?;
            }
        }
        Ok(())
    }
}
