//! What arrives and what is lost, over the rate that is offered.

use proofmark_model::{Measurement, Unit};

use super::label::Group;
use super::label::like;
use super::latency::{Along, Curve, LatencyChart, Point};
use super::network::{loss, offered};
use super::num::{Scale, percent};
use super::series::title;
use super::verdict_mark;

/// The parameter that the points of a chart differ in.
const RATE: &str = "rate";
/// Charts of one workload.
const CHARTS: usize = 4;
/// Rates on the axis, in its unit, beyond which a chart shows nothing.
const AXIS: f64 = 1e7;

/// A chart each of the points that differ in the rate asked for alone.
pub fn charts(group: &Group) -> Vec<LatencyChart> {
    let with_rate: Vec<&Measurement> =
        group.all.iter().copied().filter(|m| offered(m).is_some()).collect();
    let mut sweeps: Vec<Vec<&Measurement>> = Vec::new();
    for m in &with_rate {
        if !sweeps.iter().flatten().any(|known| std::ptr::eq(*known, *m)) {
            sweeps.push(like(&with_rate, m, &[RATE]));
        }
    }
    sweeps.iter().filter(|s| s.len() > 1).filter_map(|s| chart(group, s)).take(CHARTS).collect()
}

fn chart(group: &Group, members: &[&Measurement]) -> Option<LatencyChart> {
    let mut members: Vec<(f64, &Measurement)> =
        members.iter().filter_map(|m| Some((offered(m)?, *m))).collect();
    members.sort_by(|a, b| a.0.total_cmp(&b.0));
    let first = members.first()?.1;
    let scale = Scale::for_largest(members.iter().map(|(sent, _)| *sent), Unit::BitPerSecond);
    let curve = |name: &str, lost: bool| -> Option<Curve> {
        let points = members.iter().map(|(sent, m)| {
            let share = percent(loss(m)?)?;
            // Without loss, the line at zero needs no labels.
            let label = if lost && share != "0.0" { format!("{share} %") } else { String::new() };
            let got = m.summary.as_ref()?.value();
            let at = [scale.scaled(*sent), scale.scaled(if lost { sent - got } else { got })];
            at.iter().all(|v| v.is_finite() && (0.0..AXIS).contains(v)).then_some(())?;
            Some(Point {
                at,
                label,
                about: format!(
                    "requested {}: {} sent, {} received, {share} % of the datagrams lost, {}",
                    group.text(m, RATE)?,
                    scale.with_label(*sent)?,
                    scale.with_label(got)?,
                    verdict_mark(m.verdict)
                ),
                verdict: Some(m.verdict).filter(|_| !lost),
            })
        });
        let points: Vec<Point> = points.collect::<Option<_>>()?;
        let line = points.iter().map(|p| p.at).collect();
        Some(Curve { name: name.to_owned(), line, points })
    };
    let curves = vec![curve("received", false)?, curve("lost", true)?];
    let descriptions: Vec<&str> = curves[0].points.iter().map(|p| p.about.as_str()).collect();
    let along = |label: String| Along { label, log: false };
    Some(LatencyChart {
        title: title(group, "loss by offered rate", &group.short_without(first, &[RATE])),
        description: format!("Received and lost rate by sent rate. {}.", descriptions.join(". ")),
        x: along(format!("offered, {}", scale.label())),
        y: along(scale.label().to_owned()),
        curves,
        key: "Labels: share of datagrams lost.".to_owned(),
        left_out: String::new(),
    })
}
