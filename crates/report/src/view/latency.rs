//! Times of single operations: percentiles, distributions, and latency by throughput as the queue
//! gets deeper.

use std::collections::BTreeSet;

use proofmark_model::{Latency, Measurement, key};

use super::chart::{AXIS, Axis, Chart, LINES, Mark, Series, Spot, left_out, wide};
use super::label::{Group, differing_only_in, series, why_missing, why_no_trials};
use super::num::Scale;
use super::series::value::on_axis;
use super::series::{follows, title};
use super::shared_parts::keyed;
use super::table::Table;
use super::text::joined;
use super::verdict_mark;
use super::{disk, network, operation};

/// Minimum step of the cumulative share, in percent, that a line draws.
const STEP: f64 = 0.1;
/// Maximum number of latency-throughput curves per workload.
const CURVES: usize = 4;

const IO_TIME: &str = "The time of one I/O from before its submission until its completion is \
    seen, over all trials. With several in flight, it includes waiting for the others.";

const ROUND_TRIP: &str = "The time from before the message is sent until its whole answer has \
    arrived, over all trials. It is the full round trip, not half of it.";

const CONNECTION: &str =
    "The time from before the socket is created until the server's first byte arrives.";

/// The term for a workload's times and its meaning.
fn meaning(group: &Group) -> Option<(&'static str, &'static str)> {
    let m = group.all.first()?;
    match m.subsystem.info() {
        info if info.uses_block_devices => Some(("p50 and the other times", IO_TIME)),
        _ if network::round_trips(m) => Some(("times of round trips", ROUND_TRIP)),
        info if info.has_server => Some(("times of connections", CONNECTION)),
        _ => None,
    }
}

/// Reason why a configuration has no times of single operations.
pub const NOT_TIMED: &str = "its operations were not timed individually";

const INTERVAL: &str = "Half the 95 % interval of the percentile, as a share of it. It comes from the \
    differences between the trials: one disturbance makes many operations of a trial slow.";

/// Reason why a percentile has no interval.
const FEW: &str = "fewer than 6 trials, too few operations, or trials that differ too much";

type Time = fn(&Latency) -> Option<f64>;
type Interval = fn(&Latency) -> Option<String>;

fn has_interval(l: &Latency) -> bool {
    l.ci95.p50.is_some()
}

fn latency(m: &Measurement) -> Result<&Latency, String> {
    m.latency.as_ref().ok_or_else(|| match m.summary {
        None => why_no_trials(m),
        Some(_) => why_missing(m, "latency", NOT_TIMED),
    })
}

/// Percentiles of all configurations; without rows where none was timed.
pub fn table(group: &Group) -> Table {
    let scale = &operation::scale(group.all.iter().filter_map(|m| m.latency.as_ref()));
    let times: [(_, _, Time); 7] = [
        // A narrow page always shows p50 and p99.
        ("min", 4, |l| Some(l.min)),
        ("mean", 3, |l| Some(l.mean)),
        ("p50", 0, |l| Some(l.p50)),
        ("p90", 4, |l| l.p90),
        ("p99", 0, |l| l.p99),
        ("p99.9", 1, |l| l.p999),
        ("max", 1, |l| Some(l.max)),
    ];
    let mut table = keyed(group, "times of single operations");
    let intervals: [(_, _, Interval); 2] = [
        ("p50", "± p50", |l| operation::half_width(Some(l.p50), l.ci95.p50)),
        ("p99", "± p99", |l| operation::half_width(l.p99, l.ci95.p99)),
    ];
    let has_intervals = group.all.iter().any(|m| m.latency.as_ref().is_some_and(has_interval));
    for (name, spare, read) in times {
        let time = move |m: &&Measurement| {
            let time = read(latency(m)?).and_then(|v| scale.number(v));
            time.ok_or_else(|| "too few operations for this percentile".to_owned())
        };
        table = table.measured(name, scale.label(), time).spare(spare);
        if let Some((term, about)) = meaning(group).filter(|_| name == "p50") {
            table = table.explained(term, about);
        }
        let own = intervals.iter().find(|(of, ..)| *of == name).filter(|_| has_intervals);
        if let Some((_, title, read)) = own {
            let half = |m: &&Measurement| read(latency(m)?).ok_or_else(|| FEW.to_owned());
            table = table.number(title, half).spare(2);
        }
    }
    if has_intervals {
        table = table.explained("± p50, ± p99", INTERVAL);
    }
    let timed = group.all.iter().any(|m| m.latency.is_some());
    table
        .number("count", |m| latency(m).map(|l| proofmark_model::format_count(l.count)))
        .spare(3)
        .rows(group.all.iter().copied().filter(|_| timed))
}

/// Draws distributions: the headline result with those that differ from it along the workload's
/// axis, then others, up to a chart's limit.
pub fn distribution(group: &Group) -> Option<Chart> {
    let is_timed = |m: &&Measurement| m.latency.as_ref().is_some_and(|l| l.buckets.len() > 1);
    let timed: Vec<&Measurement> = group.all.iter().copied().filter(is_timed).collect();
    let scale = operation::scale(timed.iter().filter_map(|m| m.latency.as_ref()));
    let lines = in_order(group, &timed).into_iter();
    let mut series: Vec<Series> = lines.filter_map(|m| cumulative(group, &scale, m)).collect();
    let more = series.len().saturating_sub(LINES);
    series.truncate(LINES);
    let times = series.iter().flat_map(|s| &s.line).map(|at| at[0]);
    let x = Axis::log(&format!("time, {}", scale.label()), times);
    let description = format!("Cumulative share of operations by time. {}.", describe(&series));
    let first = &series.first()?.name;
    let name = if series.len() == 1 { first } else { "" };
    let title = title(group, "distribution of operation times", name);
    Some(Chart {
        description,
        key: "Markers: p50, p99 and p99.9, where there are enough operations.".to_owned(),
        left_out: left_out(more, "distribution", "in the table"),
        ..Chart::new(title, x, ["% of operations", "time"], false, series)
    })
}

/// The values of all lines in words.
pub fn describe(series: &[Series]) -> String {
    let spots = series.iter().flat_map(|s| &s.spots);
    joined(spots.map(|s| &s.mark.about), "; ")
}

/// The headline result's series first, thinned to a chart's limit, then the rest.
fn in_order<'a>(group: &Group<'a>, timed: &[&'a Measurement]) -> Vec<&'a Measurement> {
    let but = along(group, group.axis);
    let answer = group.answer().map(|(m, _)| m);
    let is_near =
        |m: &&Measurement| answer.is_some_and(|h| m.params.differs_only_in(&h.params, &but));
    let (near, far): (Vec<_>, Vec<_>) = timed.iter().copied().partition(is_near);
    let shown: BTreeSet<usize> = match near.len() {
        few if few <= LINES => (0..few).collect(),
        many => (0..LINES).map(|i| i * (many - 1) / (LINES - 1)).collect(),
    };
    let (first, rest): (Vec<_>, Vec<_>) =
        near.into_iter().enumerate().partition(|(i, _)| shown.contains(i));
    first.into_iter().chain(rest).map(|(_, m)| m).chain(far).collect()
}

/// The parameters that differ along an axis: the axis and the parameter that follows it.
fn along<'a>(group: &Group<'a>, parameter: &'a str) -> Vec<&'a str> {
    let mut parameters = vec![parameter];
    parameters.extend(follows(group, parameter));
    parameters
}

fn cumulative(group: &Group, scale: &Scale, m: &Measurement) -> Option<Series> {
    let l = m.latency.as_ref()?;
    let on_axis = |v: f64| on_axis(scale, v).filter(|v| *v > 1.0 / AXIS);
    let total: f64 = l.buckets.iter().map(|b| b.count as f64).sum();
    let mut line: Vec<[f64; 2]> = on_axis(l.min).map(|x| [x, 0.0]).into_iter().collect();
    let mut below = 0.0;
    for b in &l.buckets {
        below += b.count as f64;
        let share = below / total * 100.0;
        let shown = line.last().map_or(-STEP, |p| p[1]);
        let at_left = line.last().is_some_and(|p| scale.scaled(b.upto) < p[0]);
        if !at_left && (share - shown >= STEP || below >= total) {
            line.extend(on_axis(b.upto).map(|x| [x, share]));
        }
    }
    let name = group.short(m);
    let spots = [("p50", Some(l.p50), 50.0), ("p99", l.p99, 99.0), ("p99.9", l.p999, 99.9)];
    let spot = |(percentile, time, value): (&str, Option<f64>, f64)| {
        let about = format!("{name}: {percentile} {}", scale.with_label(time?)?);
        let mark = Mark { value, about, ..Mark::default() };
        Some(Spot { at: on_axis(time?)?, mark, ..Spot::default() })
    };
    let spots: Vec<Spot> = spots.into_iter().filter_map(spot).collect();
    let spots: Vec<Spot> = spots.into_iter().filter_map(|s| on_curve(&mut line, s)).collect();
    let name = match m.verdict {
        verdict if verdict.is_undoubted() => name,
        other => format!("{name} ({})", verdict_mark(other)),
    };
    (line.len() > 1 && !spots.is_empty()).then(|| Series { name, line, spots, ..Series::default() })
}

/// Makes a percentile a corner of the curve, between the corners with a smaller and a larger share:
/// with few operations per step, a straight line would pass beside it.
fn on_curve(line: &mut Vec<[f64; 2]>, spot: Spot) -> Option<Spot> {
    let share = spot.mark.value;
    let after = line.iter().position(|[_, at]| *at >= share)?;
    let [x, y] = line[after];
    if x == spot.at && y - share < STEP {
        return Some(spot);
    }
    let before = line[..after].last().map_or(line[after][0], |corner| corner[0]);
    let at = spot.at.max(before).min(line[after][0].max(before));
    line.insert(after, [at, share]);
    Some(Spot { at, ..spot })
}

/// Draws latency over throughput, one chart per sweep of the queue depth. The headline result's
/// sweep comes first.
pub fn curves(group: &Group, scale: &Scale) -> Vec<Chart> {
    const DEPTH: &str = key::QUEUE_DEPTH.name();
    let asked: Vec<&Measurement> =
        group.all.iter().copied().filter(|m| disk::distance_from_device(m).is_some()).collect();
    let answer = group.answer().map(|(m, _)| m);
    let but = along(group, DEPTH);
    let first = |s: &Vec<&Measurement>| {
        answer.is_none_or(|answer| differing_only_in(s, answer, &but).is_empty())
    };
    let mut sweeps = series(&asked, &but);
    sweeps.sort_by_key(first);
    sweeps.iter().filter_map(|s| sweep(group, scale, s, &but)).take(CURVES).collect()
}

/// Draws one sweep of the queue depth.
fn sweep(group: &Group, scale: &Scale, members: &[&Measurement], but: &[&str]) -> Option<Chart> {
    let mut members: Vec<(u64, &Measurement)> =
        members.iter().filter_map(|m| Some((m.params.get(key::QUEUE_DEPTH)?, *m))).collect();
    members.sort_by_key(|(depth, _)| *depth);
    let first = members.first()?.1;
    let counted = disk::chart_iops(members.iter().map(|(_, m)| *m));
    let rate = counted(first).unwrap_or_else(|| scale.clone());
    let times = operation::scale(members.iter().filter_map(|(_, m)| m.latency.as_ref()));
    let line = |name: &str, read: Time| {
        let spot = |(depth, m): &(u64, &Measurement)| {
            let (rated, time) = (m.summary.as_ref()?.value(), read(m.latency.as_ref()?)?);
            let about = format!(
                "queue depth {depth}: {name} {} at {}, {}",
                times.with_label(time)?,
                rate.with_label(rated)?,
                verdict_mark(m.verdict)
            );
            let value = on_axis(&times, time)?;
            let mark = Mark { value, about, verdict: m.verdict, ..Mark::default() };
            let label = if name == "p50" { depth.to_string() } else { String::new() };
            Some(Spot { at: on_axis(&rate, rated)?, mark, label, ..Spot::default() })
        };
        Series::along(name, members.iter().filter_map(spot).collect())
    };
    let mut series = vec![line("p50", |l| Some(l.p50)), line("p99", |l| l.p99)];
    series.retain(|s| s.spots.len() > 1);
    let rates = series.first()?.line.iter().map(|at| at[0]);
    let x = Axis::linear(rate.label(), rates);
    let description = format!("Latency as the queue gets deeper. {}.", describe(&series));
    let title = title(group, "latency by throughput", &group.short_without(first, but));
    let log = wide(&series);
    Some(Chart {
        description,
        key: "Labels: I/Os in flight per thread.".to_owned(),
        ..Chart::new(title, x, [times.label(), "throughput"], log, series)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_corner_of_its_curve() {
        let curve = || vec![[1.0, 0.0], [2.0, 20.0], [8.0, 60.0], [10.0, 100.0]];
        let placed = |at: f64, share: f64| {
            let mut line = curve();
            let mark = Mark { value: share, ..Mark::default() };
            let spot = on_curve(&mut line, Spot { at, mark, ..Spot::default() });
            (spot.map(|s| s.at), line)
        };
        let (at, line) = placed(4.6, 50.0);
        assert_eq!(at, Some(4.6));
        assert_eq!(line[2], [4.6, 50.0], "a straight line has 6.5 there");
        assert_eq!(placed(9.0, 50.0).0, Some(8.0), "a curve does not go back");
        assert_eq!(placed(8.0, 60.0), (Some(8.0), curve()), "already a corner");
        assert_eq!(placed(20.0, 101.0).0, None, "beyond the curve");
    }
}
