//! A point over time: its picture, its sentences and its table say the same.

use proofmark_model::{Measurement, Run};
use proofmark_report::view::{Timeline, View};
use proofmark_report::{Options, find};

use super::fixture;
use super::reading::{column, workload};

const ID: &str = "cpu.mix.float over time";

fn timeline(run: &Run) -> Timeline {
    workload(run, ID).timelines.into_iter().next().unwrap()
}

fn edit(run: &mut Run, change: impl Fn(&mut Measurement)) {
    run.measurements.iter_mut().filter(|m| m.series.is_some()).for_each(change);
}

#[test]
fn every_sample_has_its_place() {
    let t = timeline(&fixture::endured());
    assert_eq!((t.axis.as_str(), t.until.round()), ("time, s", 600.0));
    assert_eq!(t.samples.len(), 600);
    assert!(t.samples.is_sorted_by(|a, b| a.at <= b.at));
    assert_eq!(t.samples[90].at, 90.0);
    assert_eq!(t.samples[90].about, "at 1 min 30 s: 31.32 Gop/s");
    assert_eq!(t.levels.len(), 3);
    assert_eq!([t.levels[1].from, t.levels[1].until], [200.0, 400.0]);
    assert_eq!(t.left_out, "");
    let spark: Vec<char> = t.sparkline.chars().collect();
    assert_eq!((spark.len(), spark[0], spark[30], spark[59]), (60, '▇', '▁', '▇'));
}

#[test]
fn what_the_system_did_is_on_the_same_axis() {
    let t = timeline(&fixture::endured());
    let names: Vec<&str> = t.system.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["clock", "steal", "throttled by the quota", "temperature"]);
    assert!(t.system.iter().flat_map(|b| &b.points).all(|p| p[0] <= t.until));
    let last = t.sentences.last().unwrap();
    assert!(last.contains("throttled by the quota 0 to 50 % of the CPUs' time"), "{last}");
    assert!(last.ends_with("zero: throttled by heat."), "{last}");
}

#[test]
fn the_factor_is_that_of_the_levels_in_the_table() {
    let mut run = fixture::endured();
    edit(&mut run, |m| m.series.as_mut().unwrap().changes[0].ratio = 7.0);
    let t = timeline(&run);
    assert_eq!(column(&t.table, "× before"), ["", "0.500", "2.00"]);
    assert_eq!(t.changes[0].label, "× 0.500");
    assert!(t.changes[0].about.contains("it fell to 0.500 times the level before, from 31.20"));
    assert_eq!(column(&t.table, "UTC"), ["", "08:56:42", "09:00:02"]);
    assert_eq!(t.table.notes[1], "no recorded condition changed with it");
}

fn trend(run: &mut Run, slope: f64, interval: [f64; 2]) -> String {
    edit(run, |m| {
        let trend = m.series.as_mut().unwrap().trend.as_mut().unwrap();
        let each = |share: f64| share * trend.start;
        let (slope, interval) = (each(slope), interval.map(each));
        (trend.slope, trend.ci95) = (slope, Some(interval));
    });
    timeline(run).sentences.into_iter().find(|s| s.contains("rend of the rate")).unwrap()
}

#[test]
fn a_trend_is_shown_where_its_interval_excludes_zero() {
    let mut run = fixture::endured();
    let said = trend(&mut run, -1e-4, [-2e-4, 1e-4]);
    assert!(said.starts_with("No trend of the rate is shown"), "{said}");
    let said = trend(&mut run, -1e-4, [-2e-4, -1e-5]);
    assert!(said.starts_with("Trend of the rate"), "{said}");
    let said = trend(&mut run, -1e-7, [-2e-7, -1e-8]);
    assert!(said.starts_with("No trend of the rate is shown"), "less than is printed: {said}");
}

#[test]
fn a_trend_is_told_over_the_time_that_was_measured() {
    let mut run = fixture::endured();
    let said = trend(&mut run, -1e-4, [-2e-4, -1e-5]);
    assert!(said.ends_with(": -6.0 % over 10 min (-12.0 to -0.6 %)."), "{said}");
    let said = trend(&mut run, -1e-4, [-0.9, 0.9]);
    assert!(said.contains("(-100.0 to "), "a rate falls by no more than all of it: {said}");
    edit(&mut run, |m| {
        let last = m.trials.len() - 1;
        m.trials[last].started = fixture::moment(2 * 3_600_000);
    });
    let said = trend(&mut run, -1e-5, [-2e-5, -1e-6]);
    assert!(said.ends_with(": -3.6 % an hour (-7.2 to -0.4 %)."), "{said}");
}

#[test]
fn a_small_step_is_seen_in_the_line() {
    let mut run = fixture::endured();
    edit(&mut run, |m| {
        let held = |i: usize| (200..400).contains(&i);
        m.trials.iter_mut().enumerate().filter(|(i, _)| held(*i)).for_each(|(_, t)| t.value *= 1.9);
    });
    let [signs, caption] = timeline(&run).spark(60);
    let signs: Vec<char> = signs.chars().collect();
    assert!(signs[0] > signs[30] && signs[59] > signs[30], "{signs:?}");
    assert!(caption.ends_with("every sample (4 threads); scale 28.90 to 31.94 Gop/s"), "{caption}");
}

#[test]
fn a_change_is_told_twice_at_most() {
    let run = fixture::endured();
    for format in ["terminal", "markdown"] {
        let options = Options { width: 10_000, color: false };
        let text = find(format).unwrap().render(&run, &options).unwrap();
        for said in ["08:56:42", "throttling began", "09:00:02"] {
            let times = text.matches(said).count();
            assert!((1..=2).contains(&times), "{said} {times} times in {format}");
        }
    }
}

#[test]
fn a_series_that_ended_early_says_so() {
    let mut run = fixture::endured();
    edit(&mut run, |m| m.trials.truncate(100));
    let said = timeline(&run).sentences[0].clone();
    assert!(said.starts_with("600 samples in 1 min 40 s of 10 min planned"), "{said}");
    edit(&mut run, |m| m.trials.clear());
    assert!(timeline(&run).sentences[0].starts_with("No sample was taken"));
}

#[test]
fn very_many_samples_are_drawn_as_fewer() {
    let mut run = fixture::endured();
    edit(&mut run, |m| {
        let more: Vec<_> = (0..8).flat_map(|_| m.trials.clone()).collect();
        m.trials = more;
    });
    let t = timeline(&run);
    assert!(t.samples.len() <= 2000, "{}", t.samples.len());
    assert_eq!(t.left_out, "Each drawn sample is 3 samples; the run file holds every one.");
}

#[test]
fn points_over_time_are_no_rows_of_the_same_workload() {
    let run = fixture::published();
    let ids: Vec<String> = View::from_run(&run).workloads.into_iter().map(|k| k.id).collect();
    assert!(ids.contains(&"cpu.mix.float".to_owned()) && ids.contains(&ID.to_owned()));
    assert_eq!(workload(&run, "cpu.mix.float").table.rows.len(), 3);
    let over_time = workload(&run, ID);
    assert_eq!(over_time.table.rows.len(), 1);
    assert!(over_time.published.is_empty(), "600 samples are no experiments");
    assert!(
        over_time.design.starts_with("Sampled over time, not in trials; 1 configuration measured")
    );
}

#[test]
fn a_median_over_several_levels_is_not_called_sure() {
    let mut run = fixture::endured();
    let exports = |run: &Run| {
        ["jsonl", "openmetrics"].map(|f| find(f).unwrap().render(run, &Options::default()).unwrap())
    };
    let view = workload(&run, ID);
    assert_eq!(view.headline.within, None);
    assert_eq!(view.headline.extra.as_deref(), Some("3 levels over time, 15.60 to 31.20"));
    assert!(view.headline.sure.starts_with("no interval (several levels over time"));
    assert_eq!(column(&view.table, "95 % interval"), ["-"]);
    assert!(view.table.notes[0].starts_with("several levels over time"), "{:?}", view.table.notes);
    assert_eq!(View::from_run(&run).first.parts[0].rows[0].within, None);
    let [jsonl, metrics] = exports(&run);
    assert!(!jsonl.contains("ci95_low") && !metrics.contains("bound=\"low\""));
    edit(&mut run, |m| {
        let s = m.series.as_mut().unwrap();
        s.levels.truncate(1);
        s.changes.clear();
    });
    let view = workload(&run, ID);
    assert!(view.headline.within.is_some() && view.headline.extra.is_none());
    assert_eq!(column(&view.table, "95 % interval"), ["31.12–31.15"]);
    let [jsonl, metrics] = exports(&run);
    assert!(jsonl.contains("ci95_low") && metrics.contains("bound=\"low\""));
}

#[test]
fn a_sample_of_another_age_is_left_out() {
    let mut run = fixture::endured();
    edit(&mut run, |m| m.trials[0].started = fixture::moment(100_000_000_000_000));
    let t = timeline(&run);
    assert_eq!((t.samples.len(), t.until.round()), (599, 600.0));
}

#[test]
fn a_strangers_series_breaks_nothing() {
    for value in [f64::MAX, -1.0, 0.0, 5e-324] {
        let mut run = fixture::endured();
        edit(&mut run, |m| {
            let s = m.series.as_mut().unwrap();
            (s.for_s, s.every_s, s.merged, s.samples) = (value, value, u64::MAX, 0);
            s.levels.iter_mut().for_each(|l| {
                (l.from_s, l.until_s, l.median, l.ci95) = (value, value, value, Some([value; 2]));
            });
            s.changes.iter_mut().for_each(|c| (c.at_s, c.ratio) = (value, value));
            let change = s.changes[0].clone();
            s.changes.extend(std::iter::repeat_n(change, 50));
            let trend = s.trend.as_mut().unwrap();
            (trend.start, trend.slope, trend.ci95) = (value, value, Some([value; 2]));
            m.trials.iter_mut().for_each(|t| {
                (t.value, t.seconds) = (value, value);
                t.conditions.steal_s = Some(value);
                t.started = fixture::moment(-9_000_000);
            });
        });
        for format in ["terminal", "markdown"] {
            let text = find(format).unwrap().render(&run, &Options::default()).unwrap();
            assert!(!text.contains("NaN") && !text.contains("inf "), "{format} with {value}");
        }
        let t = timeline(&run);
        assert!(t.samples.iter().all(|s| s.at.is_finite() && s.value.is_finite()));
        assert!(t.until.is_finite() && t.until > 0.0);
    }
}
