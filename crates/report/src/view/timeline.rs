//! A value over time: samples, levels, the changes between levels with their causes, the trend, and
//! the system conditions.

mod conditions;
mod words;

use proofmark_model::{Host, Measurement, Trial, format_factor, format_seconds, median};
use serde::Serialize;

pub use self::words::sentence;
use super::chart::{Axis, Chart, Kind, Mark, Rule, RuleKind, Series, Spot, doubt};
use super::label::Group;
use super::num::Scale;
use super::series::{both_on_axis, on_axis, title};
use super::table::Table;
use super::text::counted;
use super::verdict_mark;
use super::workload_figure::result_scale;
use crate::spark::{Spark, spark};

/// Maximum number of samples in a chart.
const SAMPLES: usize = 2000;
/// Signs in the line of text.
pub const SIGNS: usize = 60;
/// In place of an invalid value.
const INVALID: char = '✗';
/// Seconds beyond which a time cannot belong to a measurement.
const LATEST: f64 = 1e9;

/// The chart of one configuration over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timeline {
    /// The trend, the levels and the samples by time. Very many samples are merged, and `left_out`
    /// reports it. System conditions are below, where the samples record them. Past runs are a line
    /// through their values.
    pub chart: Chart,
    /// The unit of the values.
    pub unit: String,
}

/// One configuration over time: chart, sentences and levels.
pub struct Course {
    pub timeline: Timeline,
    /// The sentences on the figures.
    pub sentences: Vec<String>,
    /// A row per level, with the change that began it; without rows where there is no level.
    pub table: Table,
}

#[derive(Debug, Clone, Copy)]
struct Clock {
    seconds: f64,
    label: &'static str,
}

impl Clock {
    /// The unit that suits a span of so many seconds.
    fn for_span(until_s: f64) -> Self {
        let units = [(86_400.0, "d", 4.0), (3600.0, "h", 6.0), (60.0, "min", 60.0)];
        let found = units.into_iter().find(|(seconds, _, least)| until_s >= seconds * least);
        let (seconds, label) = found.map_or((1.0, "s"), |(seconds, label, _)| (seconds, label));
        Self { seconds, label }
    }

    fn at(self, seconds: f64) -> f64 {
        seconds / self.seconds
    }
}

/// A trial with its start in seconds after the first sample's start.
struct Timed<'a> {
    at_s: f64,
    t: &'a Trial,
    /// The number of CPUs that its counters cover.
    cpus: f64,
}

impl Timeline {
    /// The samples by time.
    pub fn samples(&self) -> &[Spot] {
        let samples = self.chart.series.iter().find(|s| s.kind == Kind::Samples);
        samples.map_or(&[], |s| &s.spots)
    }

    /// Returns the values as so many signs at most, empty without any; and their caption with the
    /// range of the signs.
    pub fn spark(&self, signs: usize) -> [String; 2] {
        let (line, merged) = match self.samples() {
            [] => self.one_by_one(signs),
            samples => (self.by_time(samples, signs), String::new()),
        };
        let height = line.range.and_then(|i| Scale::as_is(&self.unit).interval(i));
        let scale = height.map_or_else(String::new, |h| format!("; scale {h} {}", self.unit));
        let left_out = match self.chart.left_out.as_str() {
            "" => String::new(),
            lacking => format!(". {lacking}"),
        };
        let caption = format!("{}{scale}{merged}{left_out}", self.chart.title);
        [line.signs.trim_end().to_owned(), caption]
    }

    /// Returns a sign for each value, or for the median of as many neighbours as fit. Invalid values
    /// do not count.
    fn one_by_one(&self, signs: usize) -> (Spark, String) {
        let line = self.chart.series.iter().find(|s| s.kind == Kind::Line);
        let spots = line.map_or(&[][..], |s| &s.spots);
        let each = spots.len().div_ceil(signs.max(1)).max(1);
        let values = spots.chunks(each).map(|some| {
            let usable = some.iter().map(|s| &s.mark).filter(|m| m.verdict.is_usable());
            median(&usable.map(|m| m.value).collect::<Vec<_>>())
        });
        let merged = match each {
            1 => String::new(),
            each => format!("; each sign is the median of up to {each} values"),
        };
        (spark(values, INVALID), merged)
    }

    /// Returns samples as signs that are each the mean of a share of the time.
    fn by_time(&self, samples: &[Spot], signs: usize) -> Spark {
        let mut sums = vec![(0.0, 0_u32); signs];
        for sample in samples {
            let place = (self.chart.x.place(sample.at) * signs as f64) as usize;
            if let Some((sum, count)) = sums.get_mut(place.min(signs.saturating_sub(1))) {
                (*sum, *count) = (*sum + sample.mark.value, *count + 1);
            }
        }
        let means = sums.iter().map(|(sum, count)| (*count > 0).then(|| sum / f64::from(*count)));
        spark(means, ' ')
    }
}

/// The courses of a workload's results, each in the unit of the result.
pub fn courses(group: &Group) -> Vec<Course> {
    let of = |m: &&Measurement| {
        let value = m.summary.as_ref().map(|s| s.value()).filter(|v| v.is_finite());
        course(group, m, &result_scale(group, m, value.as_slice()))
    };
    group.all.iter().filter_map(of).collect()
}

/// The trials by time; those without a place on the axis are left out.
fn timed<'a>(host: &Host, m: &'a Measurement) -> Option<Vec<Timed<'a>>> {
    let start = m.series.as_ref()?.started;
    let threads = m.params.threads().max(1) as f64;
    let cpus = match (host.limits.usable_cpus.len() as f64, m.subsystem.info().pins_threads) {
        (0.0, _) => threads,
        // More threads than CPUs share them; threads of disks and networks may run on any CPU.
        (cpus, true) => threads.min(cpus),
        (cpus, _) => cpus,
    };
    let timed = |t: &'a Trial| {
        let at_s = t.started.0.duration_since(start.0).as_secs_f64().max(0.0);
        (at_s < LATEST && t.seconds.is_finite()).then_some(Timed { at_s, t, cpus })
    };
    let mut all: Vec<Timed> = m.trials.iter().filter_map(timed).collect();
    all.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    Some(all)
}

fn course(group: &Group, m: &Measurement, scale: &Scale) -> Option<Course> {
    let series = m.series.as_ref()?;
    let timed = timed(&group.run.host, m)?;
    let ends = timed.iter().map(|s| s.at_s + s.t.seconds.max(0.0));
    let levels = series.levels.iter().map(|l| l.until_s);
    let until_s = ends.chain(levels).filter(|v| *v < LATEST).fold(1e-9, f64::max);
    let clock = Clock::for_span(until_s);
    let each = timed.len().div_ceil(SAMPLES).max(1);
    let (below, conditions) = conditions::draw(&timed, each, clock);
    let sentences: Vec<String> =
        words::sentences(m, scale, &timed).into_iter().chain(conditions).collect();

    let samples = timed.chunks(each).filter_map(|few| sample(m, few, scale, clock)).collect();
    let samples = Series::along(&format!("samples{}", doubt(m.verdict)), samples);
    let samples = Series { kind: Kind::Samples, ..samples };
    let count = samples.spots.len() as u64;
    let at = |s: f64| clock.at(s.clamp(0.0, until_s));
    let mut lines = trend(m, scale, until_s, clock).into_iter().collect::<Vec<_>>();
    lines.extend(series.levels.iter().filter_map(|l| {
        let (value, about) = (on_axis(scale, l.median)?, words::level(l, scale)?);
        let mark = Mark {
            value,
            about,
            interval: l.ci95.and_then(|i| both_on_axis(scale, i)),
            ..Mark::default()
        };
        let spots = vec![Spot { at: at(l.from_s), mark, ..Spot::default() }];
        let line = vec![[at(l.from_s), value], [at(l.until_s), value]];
        let name = "level with its 95 % interval".to_owned();
        Some(Series { name, kind: Kind::Level, line, spots, ..Series::default() })
    }));
    lines.extend((count > 0).then_some(samples));

    let changes = words::changes(m, scale).into_iter();
    let rules = changes.filter(|c| (0.0..=until_s).contains(&c.at_s)).map(|c| Rule {
        at: clock.at(c.at_s),
        label: format!("\u{d7} {}", format_factor(c.factor)),
        about: c.sentence,
        kind: RuleKind::Change,
    });
    let left_out = match each {
        1 => String::new(),
        _ => format!("Each drawn sample is {each} samples; the run file holds every one."),
    };
    let description = format!(
        "{} in {} from 0 to {}, {}. {}",
        counted(count, "value"),
        scale.label(),
        format_seconds(until_s),
        verdict_mark(m.verdict),
        sentences.join(" ")
    );
    let until = clock.at(until_s);
    let x = Axis::linear(&format!("time, {}", clock.label), [until].into_iter()).until(until);
    let title = title(group, "every sample", &group.short(m));
    let chart = Chart::new(title, x, [scale.label(), "time"], false, lines);
    let chart = Chart { description, rules: rules.collect(), below, left_out, ..chart };
    let (table, unit) = (words::table(group, m, scale), scale.label().to_owned());
    Some(Course { timeline: Timeline { chart, unit }, sentences, table })
}

/// The trend as a straight line from end to end.
fn trend(m: &Measurement, scale: &Scale, until_s: f64, clock: Clock) -> Option<Series> {
    let trend = m.series.as_ref()?.trend.as_ref()?;
    let end = on_axis(scale, trend.start + trend.slope * until_s)?;
    let line = vec![[0.0, on_axis(scale, trend.start)?], [clock.at(until_s), end]];
    Some(Series { name: "trend".to_owned(), kind: Kind::Trend, line, ..Series::default() })
}

/// Merges neighbouring trials into one sample: work and seconds are added.
fn sample(m: &Measurement, few: &[Timed], scale: &Scale, clock: Clock) -> Option<Spot> {
    let first = few.first()?;
    let value = match few {
        [one] => one.t.value,
        _ => {
            let sum = |read: fn(&Trial) -> f64| few.iter().map(|s| read(s.t)).sum::<f64>();
            m.unit.value(sum(|t| t.work), sum(|t| t.seconds))
        }
    };
    let about = format!("at {}: {}", format_seconds(first.at_s), scale.with_label(value)?);
    let mark = Mark { value: on_axis(scale, value)?, about, ..Mark::default() };
    Some(Spot { at: clock.at(first.at_s), mark, ..Spot::default() })
}
