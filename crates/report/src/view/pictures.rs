//! The small pictures of the first screen: load latency by working set, and the distribution of the
//! operation times of each part's last row.

use proofmark_model::{Latency, Measurement, Property, Run, Subsystem, Unit, format_size, key};
use serde::Serialize;

use super::label::{Group, differing_only_in, usable};
use super::num::{Scale, ends, percentage};
use super::text::joined;

/// Number of columns of a distribution.
const COLUMNS: usize = 12;
/// Columns that the text above one of them covers, at the edges too.
const TEXT_COLUMNS: usize = 5;
/// Maximum number of columns of the latency picture.
const STEPS: usize = 8;
/// Minimum height of a column of the latency picture.
const LEAST: f64 = 0.06;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Picture {
    /// The subsystem: `memory`.
    pub subsystem: &'static str,
    pub title: String,
    /// The picture in words.
    pub description: String,
    pub columns: Vec<Column>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// The height, 0 to 1.
    pub height: f64,
    /// The text above the column.
    pub above: String,
    /// The text below the column.
    pub below: String,
    /// The column in words.
    pub about: String,
}

pub fn draw(run: &Run, groups: &[Group]) -> Vec<Picture> {
    let latency_by_working_set = groups.iter().filter_map(latency_by_working_set);
    let parts = run.main_results();
    let timed = parts.iter().filter_map(|(_, rows)| Some(rows.last()?.measurement));
    let distributions = timed.filter_map(|m| {
        usable(m)?;
        let group = groups.iter().find(|g| g.all.iter().any(|one| std::ptr::eq(*one, m)))?;
        distribution(m.subsystem, &group.heading(), m.latency.as_ref()?)
    });
    latency_by_working_set.chain(distributions).collect()
}

/// Draws latency by working set, in the series of the workload's main result.
fn latency_by_working_set(group: &Group) -> Option<Picture> {
    group.spec.filter(|s| s.role.gives(Property::LoadLatency) && !group.over_time)?;
    let all = differing_only_in(&group.all, group.answer()?.0, &[key::WORKING_SET]);
    let mut steps: Vec<(u64, f64)> = all
        .into_iter()
        .filter_map(|m: &Measurement| Some((m.params.get(key::WORKING_SET)?, usable(m)?.1.value())))
        .collect();
    steps.sort_by_key(|(set, _)| *set);
    let skip = steps.len().saturating_sub(STEPS);
    steps.drain(..skip);
    let [least, most] = ends(steps.iter().map(|(_, v)| *v));
    (steps.len() > 1 && least > 0.0 && most > least).then_some(())?;
    let column = |(set, v): &(u64, f64)| {
        let text = Scale::for_largest([*v], Unit::Second).with_label(*v)?;
        let below = format_size(*set);
        let share = (v / least).ln() / (most / least).ln();
        let about = format!("{below}: {text}");
        Some(Column { height: LEAST + (1.0 - LEAST) * share, above: text, below, about })
    };
    let columns = steps.iter().filter_map(column).collect();
    picture(group.spec?.subsystem, "Memory: load latency by working set (log)", columns)
}

/// Draws the operations by time, on a logarithmic axis from the minimum to the 99.9th percentile.
fn distribution(part: Subsystem, name: &str, l: &Latency) -> Option<Picture> {
    let (low, high) = (l.min, l.p999.or(l.p99).unwrap_or(l.max));
    (low > 0.0 && high > low && high.is_finite()).then_some(())?;
    let place = |v: f64| {
        let share = (v / low).ln() / (high / low).ln();
        ((share * COLUMNS as f64) as usize).min(COLUMNS - 1)
    };
    let mut counts = [0.0; COLUMNS];
    for bucket in l.buckets.iter().filter(|b| b.upto > 0.0) {
        counts[place(bucket.upto.clamp(low, high))] += bucket.count as f64;
    }
    let most = counts.iter().copied().fold(0.0, f64::max);
    let total: f64 = counts.iter().sum();
    (most > 0.0).then_some(())?;
    let time = |v: f64| Scale::for_largest([v], Unit::Second).with_label(v).unwrap_or_default();
    let mut marks = vec![(place(l.p50), format!("p50 {}", time(l.p50)))];
    if let Some(p99) = l.p99 {
        let (at, text) = (place(p99), format!("p99 {}", time(p99)));
        match at < marks[0].0 + TEXT_COLUMNS {
            true => marks[0].1 += &format!(", {text}"),
            false => marks.push((at, text)),
        }
    }
    let mark = |i: usize| marks.iter().find(|(at, _)| *at == i).map(|(_, text)| text.clone());
    let edge = |i: usize| low * (high / low).powf(i as f64 / COLUMNS as f64);
    let column = |(i, count): (usize, &f64)| Column {
        height: count / most,
        above: mark(i).unwrap_or_default(),
        below: match i {
            0 => time(low),
            i if i == COLUMNS - 1 => time(high),
            _ => String::new(),
        },
        about: format!(
            "{}: {}",
            [i, i + 1].map(|i| time(edge(i))).join(" to "),
            percentage(count / total).unwrap_or_default()
        ),
    };
    // The picture may be drawn with the results of another part, so its title names the part.
    let title = format!("{}: {name}, operations by time (log)", part.info().title);
    picture(part, &title, counts.iter().enumerate().map(column).collect())
}

fn picture(part: Subsystem, title: &str, columns: Vec<Column>) -> Option<Picture> {
    let description = format!("{}.", joined(columns.iter().map(|c| &c.about), "; "));
    let subsystem = part.as_str();
    let title = title.to_owned();
    (!columns.is_empty()).then_some(Picture { subsystem, title, description, columns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofmark_model::LatencyBucket;

    #[test]
    fn percentiles_whose_texts_would_overlap_share_one() {
        // 12 columns from 1 us to 4.096 ms: each twice the one before.
        let texts = |p50_us: f64, p99_us: f64| -> Vec<(usize, String)> {
            let [min, p50, p99, max] = [1.0, p50_us, p99_us, 4096.0].map(|us| us * 1e-6);
            let bucket = |upto| LatencyBucket { upto, count: 1 };
            let latency = Latency {
                unit: "s".to_owned(),
                count: 4,
                min,
                mean: p50,
                p50,
                p90: None,
                p99: Some(p99),
                p999: Some(max),
                max,
                ci95: proofmark_model::PercentileIntervals::default(),
                buckets: [min, p50, p99, max].map(bucket).to_vec(),
            };
            let picture = distribution(Subsystem::Disk, "x", &latency).unwrap();
            let above = picture.columns.into_iter().map(|c| c.above).enumerate();
            above.filter(|(_, text)| !text.is_empty()).collect()
        };
        let both = |at: usize, text: &str| vec![(at, text.to_owned())];
        assert_eq!(texts(3.0, 3.5), both(1, "p50 3.000 us, p99 3.500 us"), "one column");
        assert_eq!(texts(3.0, 48.0), both(1, "p50 3.000 us, p99 48.00 us"), "close");
        let apart = [(1, "p50 3.000 us"), (6, "p99 96.00 us")].map(|(i, t)| (i, t.to_owned()));
        assert_eq!(texts(3.0, 96.0), apart);
    }
}
