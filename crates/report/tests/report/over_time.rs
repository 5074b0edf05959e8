//! The report on a configuration over time of unusual runs.

use proofmark_model::{Finding, Measurement, Run, Series, Severity, Trend};
use proofmark_report::Options;

use super::dump::Dump;
use super::fixture;
use super::reading::{MORE, render};

const ID: &str = "cpu.mix.float over time";

fn edit(run: &mut Run, change: impl Fn(&mut Measurement)) {
    run.measurements.iter_mut().filter(|m| m.series.is_some()).for_each(change);
}

fn edit_series(run: &mut Run, change: impl Fn(&mut Series)) {
    edit(run, |m| change(m.series.as_mut().unwrap()));
}

/// Sets the slope of a trend to this share of its start per second, with this interval.
fn trend(run: &mut Run, slope: f64, interval: [f64; 2]) {
    edit_series(run, |s| {
        let start = s.trend.as_ref().unwrap().start;
        let ci95 = Some(interval.map(|share| share * start));
        s.trend = Some(Trend { start, slope: slope * start, ci95 });
    });
}

/// A trend is shown where its interval excludes zero, over the measured time.
#[test]
fn trends() {
    let mut out = Dump::default();
    let mut run = fixture::endured();
    let sentence = ["cpu.mix.float over time course"];
    for (what, slope, interval) in [
        ("the interval holds zero", -1e-4, [-2e-4, 1e-4]),
        ("it excludes zero", -1e-4, [-2e-4, -1e-5]),
        ("less than is printed", -1e-7, [-2e-7, -1e-8]),
        ("falls by more than all of it", -1e-4, [-0.9, 0.9]),
    ] {
        trend(&mut run, slope, interval);
        out.says(what, &run, &sentence);
    }
    edit(&mut run, |m| m.trials.last_mut().unwrap().started = fixture::moment(2 * 3_600_000));
    trend(&mut run, -1e-5, [-2e-5, -1e-6]);
    out.says("over two hours", &run, &sentence);
    insta::assert_snapshot!(out.text);
}

/// A disk's random reads over time, 30 000 per second.
fn random_reads() -> Run {
    let mut run = fixture::disk();
    run.measurements.retain(|m| m.workload == "disk.rand_read");
    run.measurements.truncate(1);
    let rate = 30e3 * 4096.0;
    let series = fixture::endured().measurements[0].series.clone();
    let m = &mut run.measurements[0];
    m.summary = proofmark_model::Summary::from_values(&[rate; 8]);
    m.series = series;
    edit_series(&mut run, |s| {
        let share = rate / s.levels[0].median;
        for level in &mut s.levels {
            level.median *= share;
            level.ci95 = level.ci95.map(|ends| ends.map(|end| end * share));
        }
    });
    run
}

#[test]
fn a_load_over_time_has_one_unit_in_all_of_its_rows_and_sentences() {
    let run = random_reads();
    for format in ["terminal", "markdown"] {
        let text = render(format, &run);
        assert!(text.contains("IOPS") && text.contains("15000"), "{format}: {text}");
        for other in ["MB/s", "kop/s", "GB/s"] {
            // Links and limits of the machine are in bytes.
            let words = ["over time", "level", "median", "delivered", "scale"];
            let is_of_load = |line: &&str| words.iter().any(|word| line.contains(word));
            let mut lines = text.lines().filter(is_of_load);
            let line = lines.find(|line| line.contains(other));
            assert!(line.is_none(), "{format}: {line:?}");
        }
    }
}

/// A fall whose moment shows no cause has that of the whole time; a trend has that of its check.
#[test]
fn a_fall_names_the_cause_that_the_checks_know() {
    let others = "a competing process took 31.0 % of the trials' CPU time";
    let note = |check: &'static str| Finding::new(check, Severity::Note, others, "stop it");
    let said = |run: &Run| {
        let text = render("markdown", run).replace(['\u{a0}', '\u{202f}'], " ");
        let of = |line: &&str| line.contains("it fell") || line.contains("the rate fell by");
        text.lines().find(of).unwrap().to_owned()
    };
    let mut run = fixture::endured();
    edit_series(&mut run, |s| s.changes.iter_mut().for_each(|c| c.cause = None));
    assert!(said(&run).contains("no recorded condition changed with it."), "{}", said(&run));
    edit(&mut run, |m| m.findings.push(note("oversubscribed")));
    assert!(said(&run).contains("no recorded condition changed with it."), "{}", said(&run));
    edit(&mut run, |m| m.findings.push(note("other_cpu")));
    let whole = format!("no recorded condition changed with it. Over the whole time {others}.");
    assert!(said(&run).contains(&whole), "{}", said(&run));
    edit_series(&mut run, |s| {
        s.levels.truncate(1);
        s.changes.clear();
    });
    trend(&mut run, -1e-3, [-1.1e-3, -9e-4]);
    assert!(said(&run).contains(&format!("Over the whole time {others}.")), "{}", said(&run));
    let cause = "CPU time stolen by the hypervisor: 0.0 % of the time before, 60.0 % after";
    edit(&mut run, |m| m.findings.push(note("drift").with("cause", cause)));
    assert!(said(&run).contains(&format!(": {cause}.")), "{}", said(&run));
    assert!(!said(&run).contains("Over the whole time"), "{}", said(&run));
}

/// Only `endure` has --for: a reader of a profile's series needs the whole command.
#[test]
fn a_series_that_is_too_short_names_the_command_of_a_longer_one() {
    let mut run = fixture::endured();
    edit_series(&mut run, |s| {
        s.levels.truncate(1);
        s.changes.clear();
    });
    trend(&mut run, -1e-4, [-0.9, 0.9]);
    for format in ["terminal", "markdown", "html"] {
        let text = render(format, &run).replace('\u{a0}', " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let options = text.matches("--for ").count();
        let commands =
            text.matches("Measure longer: proofmark endure cpu.mix.float --for ").count();
        assert!(commands > 0 && options == commands, "{format}: {options}, {commands}");
    }
}

#[test]
fn timelines() {
    let mut out = Dump::default();
    let mut says = |what: &str, run: &Run, fields: &[&str]| {
        let parts: Vec<String> = fields.iter().map(|f| format!("{ID} {f}")).collect();
        out.says(what, run, &parts.iter().map(String::as_str).collect::<Vec<_>>());
    };
    let mut run = fixture::endured();
    edit_series(&mut run, |s| s.changes[0].ratio = 7.0);
    says("another ratio than that of the levels", &run, &["levels", "timeline/0/chart/rules"]);
    let mut run = fixture::endured();
    edit(&mut run, |m| m.trials[200..400].iter_mut().for_each(|t| t.value *= 1.9));
    let terminal = render("terminal", &run);
    let signs = ["▆", "▂", "▆"].map(|sign| sign.repeat(20)).concat();
    assert!(terminal.lines().any(|line| line == signs), "{terminal}");
    let mut run = fixture::endured();
    edit(&mut run, |m| m.trials[0].started = fixture::moment(100_000_000_000_000));
    says(
        "a sample of another age",
        &run,
        &[
            "timeline/0/chart/series/4/spots/598",
            "timeline/0/chart/series/4/spots/599",
            "timeline/0/chart/x",
        ],
    );
    let mut run = fixture::endured();
    edit(&mut run, |m| m.trials.truncate(100));
    says("ended early", &run, &["course"]);
    edit(&mut run, |m| m.trials.clear());
    says("no sample", &run, &["course"]);
    let mut run = fixture::endured();
    edit(&mut run, |m| m.trials = [&m.trials[..]; 8].concat());
    says("many samples", &run, &["timeline/0/chart/left_out", "course/0"]);
    let mut run = fixture::endured();
    edit_series(&mut run, |s| {
        s.levels.truncate(1);
        s.changes.clear();
    });
    says("one level", &run, &["figure", "table"]);
    insta::assert_snapshot!(out.text);
}

#[test]
fn a_median_over_several_levels_has_no_interval() {
    let mut run = fixture::endured();
    let bounded = |run: &Run| {
        let bound = [("jsonl", "ci95_low"), ("openmetrics", "bound=\"low\"")];
        bound.map(|(format, bound)| render(format, run).contains(bound))
    };
    assert_eq!(bounded(&run), [false; 2]);
    edit_series(&mut run, |s| {
        s.levels.truncate(1);
        s.changes.clear();
    });
    assert_eq!(bounded(&run), [true; 2]);
}

/// The conclusion of a series of one level is its first sentence: the trend, or that there is none.
#[test]
fn the_first_sentence_is_the_conclusion() {
    let options = Options { width: 400, color: false };
    for (slope, interval, words) in [
        (-4e-4, Some([-6e-4, -3e-4]), "the rate fell by 24.0 % over 10 min, from about "),
        (4e-4, Some([3e-4, 6e-4]), "the rate rose by 24.0 % over 10 min, from about "),
        (-4e-4, Some([-6e-4, -3e-4]), "(95 % interval -36.0 % to -18.0 %)"),
        // A line that leaves the range of the samples: the share is that of the two values.
        (
            -1e-3,
            Some([-1.2e-3, -8e-4]),
            "fell by 50.2 % over 10 min, from about 31.20 Gop/s to 15.54 Gop/s",
        ),
        (-1e-4, Some([-2e-4, 1e-4]), "whether it rose or fell is undecided: -6.0 % over 10 min"),
        (
            -4e-4,
            None,
            "undecided: -24.0 % over 10 min, but neighbouring samples are too much alike",
        ),
        (-1e-6, Some([-1e-5, 1e-5]), ": steady at "),
        // Within the tolerance of 2 %.
        (-2e-5, Some([-1e-4, -1e-5]), "; it changed by -1.2 % over 10 min"),
    ] {
        let mut run = fixture::endured();
        edit_series(&mut run, |s| {
            s.levels.truncate(1);
            s.changes.clear();
            let first = s.trend.as_ref().unwrap().start;
            // The first samples are among the fastest.
            let start = if slope > 0.0 { 0.6 * first } else { first };
            let ci95 = interval.map(|i: [f64; 2]| i.map(|share| share * start));
            s.trend = Some(Trend { start, slope: slope * start, ci95 });
        });
        let text = proofmark_report::terminal::brief(&run, &options, &MORE);
        let first = text.lines().nth(1).unwrap();
        assert!(first.starts_with("Floating-point instruction mix over time"), "{text}");
        assert!(first.contains(words) && !text.contains("no change"), "{words}: {first}");
    }
    let several = proofmark_report::terminal::brief(&fixture::endured(), &options, &MORE);
    assert!(several.lines().nth(1).unwrap().contains("3 levels, "), "{several}");
}
