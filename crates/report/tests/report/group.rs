//! Several runs as one report.

use proofmark_model::{
    Better, Difference, FigureKind, GROUP_SCHEMA, GroupChange, GroupedResult, GroupedRun,
    LevelShift, OverRuns, Params, RunGroup, RunLevel, RunState, RunValue, Subsystem, Timestamp,
    Unit, Verdict, VerdictCounts,
};
use proofmark_report::Options;
use proofmark_report::group::{FORMATS, GroupOptions};

const RUNS: usize = 7;

/// A result with these values, in GFLOP/s, and the runs that have one.
fn result(name: &str, values: [f64; RUNS], over_runs: OverRuns) -> GroupedResult {
    let value = |v: f64| (v > 0.0).then_some(RunValue { value: 1e9 * v, verdict: Verdict::Valid });
    GroupedResult {
        workload: "cpu.flops".into(),
        name: name.into(),
        title: format!("FP peak, {name}"),
        main_row: None,
        subsystem: Subsystem::Cpu,
        params: Params::default(),
        unit: Unit::FlopPerSecond,
        random: false,
        better: Better::Higher,
        figure: FigureKind::Attainable,
        values: values.map(value).into(),
        within: Some(0.004),
        over_runs: Some(over_runs),
        level_changes: Vec::new(),
    }
}

fn group() -> RunGroup {
    let run = |i: i64| GroupedRun {
        name: format!("all/run-{:02}", i + 1),
        started: Timestamp::from_millis(1_760_000_000_000 + 1_200_000 * i).unwrap(),
        seconds: Some(41.0),
        label: None,
        machine: "A CPU, 2 CPUs, 16 GiB".into(),
        verdicts: VerdictCounts { valid: 30, suspect: 2, ..VerdictCounts::default() },
        clock_hz: Some(3.7e9),
        placements: (i > 0).then(|| "near (72 ns) 100.0 %".into()),
        at_work: Some(0.98),
        others_of_one_cpu: None,
    };
    let level = RunLevel {
        median: 100e9,
        ci95: Some([97e9, 102e9]),
        runs: 6,
        deviation: 0.018,
        successive: None,
    };
    let state = |median: f64, places: &[usize]| RunState {
        median,
        runs: places.len() as u64,
        share: places.len() as f64 / RUNS as f64,
        places: places.to_vec(),
    };
    let two = OverRuns::Two { states: [state(46e9, &[1, 4, 6]), state(80e9, &[0, 2, 3, 5])] };
    let kernel = Difference { what: "kernel".into(), a: "6.1".into(), b: "6.2\u{1b}[31m".into() };
    RunGroup {
        schema: GROUP_SCHEMA.into(),
        runs: (0..RUNS as i64).map(run).collect(),
        changes: vec![GroupChange { run: 3, differences: vec![kernel] }],
        results: vec![
            result("1 CPU", [100.0, 99.0, 97.0, 102.0, 101.0, 100.0, 0.0], OverRuns::One(level)),
            result("2 CPUs", [80.0, 46.0, 81.0, 79.5, 46.3, 80.2, 45.8], two),
        ],
    }
}

fn written(format: &str, group: &RunGroup) -> String {
    let layout = Options { width: 100, color: false };
    let format = FORMATS.iter().find(|f| f.id == format).unwrap();
    (format.write)(group, &GroupOptions { layout, all: false }).unwrap()
}

#[test]
fn each_format_has_levels_states_changes_and_runs() {
    insta::assert_snapshot!("group_terminal", written("terminal", &group()));
    insta::assert_snapshot!("group_markdown", written("markdown", &group()));
    let page = written("html", &group());
    // A chart for each result, and no control character of a file.
    assert_eq!(page.matches("<figure").count(), 2, "{page}");
    assert!(!page.contains('\u{1b}'));
    let read: RunGroup = serde_json::from_str(&written("json", &group())).unwrap();
    assert_eq!(read, group());
}

#[test]
fn a_group_of_one_or_no_run_is_reported_too() {
    let mut one = group();
    one.runs.truncate(1);
    one.changes.clear();
    for r in &mut one.results {
        r.values.truncate(1);
        (r.over_runs, r.within) = (None, None);
    }
    let text = written("terminal", &one);
    assert!(text.contains("1 run from") && text.contains("100.0 GFLOP/s"), "{text}");
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    one.runs.clear();
    one.results.clear();
    for format in FORMATS.iter().filter(|format| format.id != "html") {
        assert!(!written(format.id, &one).contains("NaN"), "{}", format.id);
    }
    written("html", &one);
}

#[test]
fn a_change_of_level_is_named_with_its_run() {
    let mut group = group();
    assert!(!written("terminal", &group).contains("Changes of level"));
    let level = LevelShift { run: 4, medians: [100e9, 72e9], runs: [4, 3] };
    group.results[0].level_changes = vec![level];
    let text = written("terminal", &group).split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "from run-05 on (2025-10-09 10:13): median 100.0 GFLOP/s in 4 runs before, 72.00 GFLOP/s \
                 in 3 runs after (ratio 0.720)";
    assert!(text.contains("Changes of level") && text.contains(words), "{text}");
    assert!(text.contains("The level of 1 result changed during the runs"), "{text}");
}

#[test]
fn runs_close_to_each_other_say_so() {
    let mut group = group();
    assert!(written("terminal", &group).contains("The runs span 2 h"));
    for (hour, run) in (0..).zip(&mut group.runs) {
        run.started = Timestamp::from_millis(3_600_000 * hour).unwrap();
    }
    assert!(!written("terminal", &group).contains("The runs span"));
}
