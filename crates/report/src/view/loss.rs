//! What arrives and what is lost, over the rate that is offered.

use proofmark_model::{Measurement, Unit, Verdict};

use super::chart::{Axis, Chart, Mark, Series, Spot};
use super::label::{self, Group};
use super::latency::describe;
use super::network::{loss, offered};
use super::num::{Scale, percent};
use super::series::title;
use super::series::value::on_axis;
use super::verdict_mark;

/// The parameter that the points of a chart differ in.
const RATE: &str = "rate";
/// Charts of one workload.
const CHARTS: usize = 4;

/// A chart each of the points that differ in the rate asked for alone.
pub fn charts(group: &Group) -> Vec<Chart> {
    let with_rate: Vec<&Measurement> =
        group.all.iter().copied().filter(|m| offered(m).is_some()).collect();
    let sweeps = label::series(&with_rate, &[RATE]);
    sweeps.iter().filter(|s| s.len() > 1).filter_map(|s| chart(group, s)).take(CHARTS).collect()
}

fn chart(group: &Group, members: &[&Measurement]) -> Option<Chart> {
    let mut members: Vec<(f64, &Measurement)> =
        members.iter().filter_map(|m| Some((offered(m)?, *m))).collect();
    members.sort_by(|a, b| a.0.total_cmp(&b.0));
    let first = members.first()?.1;
    let scale = Scale::for_largest(members.iter().map(|(sent, _)| *sent), Unit::BitPerSecond);
    let line = |name: &str, lost: bool| -> Option<Series> {
        let spot = |(sent, m): &(f64, &Measurement)| {
            let share = percent(loss(m)?)?;
            // Without loss, the line at zero needs no labels.
            let label = if lost && share != "0.0" { format!("{share} %") } else { String::new() };
            let got = m.summary.as_ref()?.value();
            let about = format!(
                "requested {}: {} sent, {} received, {share} % of the datagrams lost, {}",
                group.text(m, RATE)?,
                scale.with_label(*sent)?,
                scale.with_label(got)?,
                verdict_mark(m.verdict)
            );
            let value =
                on_axis(&scale, if lost { sent - got } else { got }).filter(|v| *v >= 0.0)?;
            let verdict = if lost { Verdict::Valid } else { m.verdict };
            let mark = Mark { value, about, verdict, ..Mark::default() };
            Some(Spot { at: on_axis(&scale, *sent)?, mark, label, ..Spot::default() })
        };
        Some(Series::along(name, members.iter().map(spot).collect::<Option<_>>()?))
    };
    let series = vec![line("received", false)?, line("lost", true)?];
    let sent = series[0].line.iter().map(|at| at[0]);
    let x = Axis::linear(&format!("offered, {}", scale.label()), sent);
    let title = title(group, "loss by offered rate", &group.short_without(first, &[RATE]));
    Some(Chart {
        description: format!("Received and lost rate by sent rate. {}.", describe(&series[..1])),
        key: "Labels: share of datagrams lost.".to_owned(),
        ..Chart::new(title, x, [scale.label(), "rate"], false, series)
    })
}
