//! What became of a value over time: every sample, the levels it stayed at, the changes
//! between them with their causes, the trend, and what the system did meanwhile.

mod meanwhile;
mod spark;
mod words;

use proofmark_model::{
    Host, Measurement, Subsystem, Trial, Verdict, format_factor, format_seconds,
};
use serde::Serialize;

pub use self::meanwhile::SystemCurve;
pub use self::words::in_short;
use super::label::Group;
use super::num::Scale;
use super::series::title;
use super::table::Table;
use super::text::plural;
use super::verdict_mark;

/// Samples that a chart has room for.
const SAMPLES: usize = 2000;
/// Signs of the line of text.
pub const SIGNS: usize = 60;
/// Seconds beyond which a time is none of a measurement.
const LATEST: f64 = 1e9;
/// Values on the axis beyond which a chart shows nothing.
const AXIS: f64 = 1e12;

/// One sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sample {
    /// Its beginning, in the unit of the time axis.
    pub at: f64,
    /// Its value, on the scale of the values' axis.
    pub value: f64,
    /// Time and value in words: `at 12.0 s: 98.40 GFLOP/s`.
    pub about: String,
}

/// A stretch in which the value stayed the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// Its beginning, in the unit of the time axis.
    pub from: f64,
    /// Its end.
    pub until: f64,
    /// The median, on the scale of the values' axis.
    pub value: f64,
    /// Its 95 % interval on that scale.
    pub interval: Option<[f64; 2]>,
    /// In words.
    pub about: String,
}

/// Where one level gave way to the next.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// When, in the unit of the time axis.
    pub at: f64,
    /// The short label of the line: `× 0.52`.
    pub label: String,
    /// In words, with the moment and the cause.
    pub about: String,
}

/// One point over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timeline {
    /// Title.
    pub title: String,
    /// What a reader would see, in words.
    pub description: String,
    /// Label of the values' axis.
    pub unit: String,
    /// Label of the time axis with its unit, such as `time, s`.
    pub axis: String,
    /// Right end of the time axis in that unit; the left end is 0.
    pub until: f64,
    /// Samples by time; of very many neighbours are merged, and `left_out` says so.
    pub samples: Vec<Sample>,
    /// The levels by time.
    pub levels: Vec<Step>,
    /// The changes by time.
    pub changes: Vec<Change>,
    /// Both ends of the trend line: time and value.
    pub trend: Option<[[f64; 2]; 2]>,
    /// What the system did meanwhile; none where the samples do not record it.
    pub system: Vec<SystemCurve>,
    /// The samples as one line of text, such as `▇▇▇▁▁▇▇`, at most 60 signs.
    pub sparkline: String,
    /// What the figures say, a sentence each.
    pub sentences: Vec<String>,
    /// A row per level, with the change that began it; without rows where there is no level.
    pub table: Table,
    /// What is left out and why; empty if nothing is.
    pub left_out: String,
    /// Verdict of the measurement.
    pub verdict: Verdict,
}

/// The unit of a time axis.
#[derive(Debug, Clone, Copy)]
struct Clock {
    seconds: f64,
    label: &'static str,
}

impl Clock {
    /// The unit that suits so many seconds.
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

/// A trial with the seconds from the first sample's start.
struct Timed<'a> {
    at_s: f64,
    t: &'a Trial,
    /// CPUs whose time its counters cover.
    cpus: f64,
}

impl Timeline {
    /// The samples as so many signs, one that holds no sample is empty; and their caption, which says
    /// the values of the lowest and the highest sign.
    pub fn spark(&self, signs: usize) -> [String; 2] {
        let samples = self.samples.iter().map(|s| (s.at, s.value));
        let line = spark::line(samples, self.until, signs);
        let height = line.range.and_then(|i| Scale::as_is(&self.unit).interval(i));
        let caption = match height {
            Some(height) => format!("{}; scale {height} {}", self.title, self.unit),
            None => self.title.clone(),
        };
        [line.signs.trim_end().to_owned(), caption]
    }
}

/// The timelines of one workload.
pub fn draw(group: &Group, scale: &Scale) -> Vec<Timeline> {
    group.all.iter().filter_map(|m| timeline(group, m, scale)).collect()
}

/// The trials by time; those without a place on the axis are left out.
fn timed<'a>(host: &Host, m: &'a Measurement) -> Option<Vec<Timed<'a>>> {
    let start = m.series.as_ref()?.started;
    let threads = m.params.threads().max(1) as f64;
    let cpus = match (host.limits.usable_cpus.len() as f64, m.subsystem) {
        (0.0, _) => threads,
        // More threads than CPUs share them; those of disks and networks may run on any.
        (cpus, Subsystem::Cpu | Subsystem::Memory) => threads.min(cpus),
        (cpus, _) => cpus,
    };
    let mut all: Vec<Timed> = m
        .trials
        .iter()
        .map(|t| {
            let at_s = t.started.0.duration_since(start.0).as_secs_f64().max(0.0);
            Timed { at_s, t, cpus }
        })
        .filter(|s| s.at_s < LATEST && s.t.seconds.is_finite())
        .collect();
    all.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    Some(all)
}

fn timeline(group: &Group, m: &Measurement, scale: &Scale) -> Option<Timeline> {
    let series = m.series.as_ref()?;
    let timed = timed(&group.run.host, m)?;
    let ends = timed.iter().map(|s| s.at_s + s.t.seconds.max(0.0));
    let levels = series.levels.iter().map(|l| l.until_s);
    let until_s = ends.chain(levels).filter(|v| *v < LATEST).fold(1e-9, f64::max);
    let clock = Clock::for_span(until_s);
    let on_axis = |v: f64| Some(scale.scaled(v)).filter(|v| v.is_finite() && v.abs() < AXIS);
    let each = timed.len().div_ceil(SAMPLES).max(1);
    let samples: Vec<Sample> =
        timed.chunks(each).filter_map(|few| sample(m, few, scale, clock)).collect();
    let steps = series.levels.iter().filter_map(|l| {
        let [from, until] = [l.from_s, l.until_s].map(|v| clock.at(v.clamp(0.0, until_s)));
        let interval = l.ci95.and_then(|[a, b]| Some([on_axis(a)?, on_axis(b)?]));
        Some(Step {
            from,
            until,
            value: on_axis(l.median)?,
            interval,
            about: words::level(l, scale)?,
        })
    });
    let changes = words::changes(m, scale);
    let found = changes.iter().filter(|c| (0.0..=until_s).contains(&c.at_s));
    let marked = found.map(|c| Change {
        at: clock.at(c.at_s),
        label: format!("\u{d7} {}", format_factor(c.factor)),
        about: c.sentence.clone(),
    });
    let trend = series.trend.as_ref().and_then(|t| {
        Some([[0.0, on_axis(t.start)?], [clock.at(until_s), on_axis(t.start + t.slope * until_s)?]])
    });
    let mut out = Timeline {
        title: title(group, "every sample", &group.short(m)),
        description: String::new(),
        unit: scale.label().to_owned(),
        axis: format!("time, {}", clock.label),
        until: clock.at(until_s),
        levels: steps.collect(),
        changes: marked.collect(),
        trend,
        system: meanwhile::curves(&timed, each, clock),
        sparkline: String::new(),
        sentences: words::sentences(m, scale, &timed),
        table: words::table(group, m, scale),
        left_out: match each {
            1 => String::new(),
            _ => format!("Each drawn sample is {each} samples; the run file holds every one."),
        },
        verdict: m.verdict,
        samples,
    };
    [out.sparkline, _] = out.spark(SIGNS);
    out.description = format!(
        "{} in {} from 0 to {}, {}. {}",
        plural(out.samples.len() as u64, "value"),
        scale.label(),
        format_seconds(until_s),
        verdict_mark(m.verdict),
        out.sentences.join(" ")
    );
    Some(out)
}

/// Neighbours as one sample: work and seconds added up.
fn sample(m: &Measurement, few: &[Timed], scale: &Scale, clock: Clock) -> Option<Sample> {
    let first = few.first()?;
    let value = match few {
        [one] => one.t.value,
        _ => {
            let sum = |read: fn(&Trial) -> f64| few.iter().map(|s| read(s.t)).sum::<f64>();
            m.unit.value(sum(|t| t.work), sum(|t| t.seconds))
        }
    };
    let shown = scale.scaled(value);
    (shown.is_finite() && shown.abs() < AXIS).then_some(())?;
    Some(Sample {
        at: clock.at(first.at_s),
        value: shown,
        about: format!("at {}: {}", format_seconds(first.at_s), scale.with_label(value)?),
    })
}
