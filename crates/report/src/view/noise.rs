//! The noise of a run over time: what took time from the threads, and where the CPUs were.

use std::collections::BTreeMap;

use proofmark_model::{
    CpuPlacement, CpuPlacements, Measurement, Run, TimeAccount, TimeCause, Timestamp, Trial,
    format_seconds,
};
use serde::Serialize;

use super::columns::Columns;
use super::num::{percent, percentage};
use super::table::Table;
use super::text::{clean, joined};

/// Columns of time; with the names, they fit in a terminal of 80 columns.
pub const COLUMNS: usize = 52;

/// Causes that took a smaller share of all time are not drawn.
const LEAST: f64 = 5e-4;
/// Maximum number of placements that are drawn.
const PLACEMENTS: usize = 6;
/// Minimum full height of the lanes of taken time, as a share.
const LEAST_TOP: f64 = 0.02;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoiseChart {
    /// `Where the time went, over 3 min`.
    pub title: String,
    /// The chart in words, for assistive technology.
    pub description: String,
    /// The length of the run in seconds.
    pub seconds: f64,
    /// The lanes, grouped by scale.
    pub groups: Vec<Lanes>,
    /// The subsystems that were measured, by columns.
    pub bands: Vec<Band>,
}

/// The noise chart and its table.
pub struct Noise {
    pub chart: NoiseChart,
    /// Each cause, its share of the time, and the counter that measured it.
    pub causes: Table,
}

/// Lanes with one scale, from 0 to `top`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lanes {
    /// `Time taken from the threads; full height 12.0 %`.
    pub caption: String,
    /// The share that fills the height of a lane.
    pub top: f64,
    /// The lanes, the largest share first.
    pub lanes: Vec<Lane>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lane {
    pub name: String,
    /// Share of all time in percent, without the sign.
    pub share: String,
    /// Share of each column's time; `None` where no trial counted it.
    pub columns: Vec<Option<f64>>,
}

/// The subsystem that was measured in some columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Band {
    /// The first column, and the one after the last.
    pub columns: [usize; 2],
    /// The subsystem's name: `memory`.
    pub name: String,
}

/// Draws the noise of a run; `None` where no trial has an account of its time.
pub(super) fn draw(run: &Run) -> Option<Noise> {
    let all = run.time_account().filter(|t| t.wall_s > 0.0)?;
    let time = Time::from_run(run)?;
    let lanes = |top: f64, what: &str, lanes: Vec<Lane>| Lanes {
        caption: format!("{what}; full height {}", percentage(top).unwrap_or_default()),
        top,
        lanes,
    };
    let taken = time.taken(run, &all);
    let highest = taken.iter().flat_map(|l| l.columns.iter().flatten()).copied();
    let top = highest.fold(LEAST_TOP, f64::max).min(1.0);
    let placements = time.placements(run);
    let mut groups = vec![lanes(top, "Time taken from the threads", taken)];
    if placements.len() > 1 {
        groups.push(lanes(1.0, "vCPU placement", placements));
    }
    groups.retain(|g| !g.lanes.is_empty());
    let title = format!("Where the time went, over {}", format_seconds(time.seconds));
    let words = groups.iter().flat_map(|g| &g.lanes);
    let words = joined(words.map(|l| format!("{} {} %", l.name, l.share)), "; ");
    let at_work = percentage(all.at_work())?;
    let chart = NoiseChart {
        description: format!("At work {at_work}; {words}."),
        title,
        seconds: time.seconds,
        groups,
        bands: time.bands(run),
    };
    Some(Noise { chart, causes: causes(&all) })
}

/// A row per cause, including those that took no time.
fn causes(all: &TimeAccount) -> Table {
    type Row = (&'static str, Option<f64>, &'static str);
    let divided = all.divided();
    let causes = all.causes();
    let causes = causes.iter().map(|c| (c.name, (c.seconds)(&divided), c.counted));
    Columns::new("Where the time of the threads went")
        .column("time", |(name, ..): &Row| *name)
        .measured("of all", "%", |(_, seconds, _)| {
            let share = seconds.and_then(|s| percent(s / all.wall_s));
            share.ok_or("this counter could not be read")
        })
        .column("counted by", |(.., counted)| *counted)
        .rows([("at work", Some(all.working_s), "slices")].into_iter().chain(causes))
}

/// The time axis of a run, in columns.
struct Time {
    begun: Timestamp,
    seconds: f64,
}

impl Time {
    fn from_run(run: &Run) -> Option<Self> {
        let trials = run.measurements.iter().flat_map(|m| &m.trials);
        let end = |t: &Trial| since(run.started, t) + t.seconds;
        let seconds = trials.map(end).filter(|s| s.is_finite()).reduce(f64::max)?;
        (seconds > 0.0).then_some(Self { begun: run.started, seconds })
    }

    /// Pairs each trial with the column that holds its middle.
    fn placed<'a>(
        &self,
        trials: impl Iterator<Item = &'a Trial>,
    ) -> impl Iterator<Item = (usize, &'a Trial)> {
        trials.filter_map(|t| {
            let at = (since(self.begun, t) + t.seconds / 2.0) / self.seconds;
            let column = ((at * COLUMNS as f64) as usize).min(COLUMNS - 1);
            (0.0..=1.0).contains(&at).then_some((column, t))
        })
    }

    fn taken(&self, run: &Run, all: &TimeAccount) -> Vec<Lane> {
        let mut columns = vec![None; COLUMNS];
        for (at, trial) in self.placed(run.measurements.iter().flat_map(|m| &m.trials)) {
            if let Some(time) = trial.time_account {
                columns[at] = Some(columns[at].map_or(time, |sum: TimeAccount| sum + time));
            }
        }
        let lane = |(share_of_all, cause): (f64, TimeCause)| {
            let share = |t: &Option<TimeAccount>| {
                let t = t.filter(|t| t.wall_s > 0.0)?;
                Some((cause.seconds)(&t.divided())? / t.wall_s)
            };
            Some(Lane {
                name: cause.name.to_owned(),
                share: percent(share_of_all)?,
                columns: columns.iter().map(share).collect(),
            })
        };
        all.taken(LEAST).into_iter().filter_map(lane).collect()
    }

    fn placements(&self, run: &Run) -> Vec<Lane> {
        let trials = || run.measurements.iter().flat_map(|m| &m.trials);
        let placements = CpuPlacements::from_trials(trials());
        let mut seconds: BTreeMap<String, [f64; COLUMNS]> = BTreeMap::new();
        let mut all = [0.0; COLUMNS];
        for (at, trial) in self.placed(trials()) {
            for name in placements.names_of(trial) {
                seconds.entry(name).or_insert([0.0; COLUMNS])[at] += trial.seconds;
                all[at] += trial.seconds;
            }
        }
        let lane = |placement: &CpuPlacement| {
            let here = seconds.get(&placement.name).copied().unwrap_or([0.0; COLUMNS]);
            let share = |(here, all): (f64, &f64)| (*all > 0.0).then(|| here / all);
            Some(Lane {
                name: clean(&placement.name),
                share: percent(placement.share)?,
                columns: here.into_iter().zip(&all).map(share).collect(),
            })
        };
        run.cpu_placements.iter().take(PLACEMENTS).filter_map(lane).collect()
    }

    /// The subsystem that was measured for most of each column's time.
    fn bands(&self, run: &Run) -> Vec<Band> {
        let mut bands: Vec<Band> = Vec::new();
        let seconds = |m: &Measurement| {
            let mut seconds = [0.0; COLUMNS];
            self.placed(m.trials.iter()).for_each(|(at, trial)| seconds[at] += trial.seconds);
            (seconds, m.subsystem.info().word)
        };
        let all: Vec<_> = run.measurements.iter().map(seconds).collect();
        for column in 0..COLUMNS {
            let here = all.iter().map(|(seconds, name)| (seconds[column], *name));
            let most = here.filter(|(s, _)| *s > 0.0).max_by(|a, b| a.0.total_cmp(&b.0));
            let Some((_, name)) = most else { continue };
            match bands.last_mut() {
                Some(last) if last.name == name => last.columns[1] = column + 1,
                _ => bands.push(Band { columns: [column, column + 1], name: name.to_owned() }),
            }
        }
        bands
    }
}

/// Seconds from a time to the start of a trial.
fn since(then: Timestamp, trial: &Trial) -> f64 {
    trial.started.0.duration_since(then.0).as_secs_f64()
}
