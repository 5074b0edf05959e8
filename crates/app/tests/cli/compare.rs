//! `compare` and `check` on run files: output, files and exit status.

mod groups;
mod last_good;
mod left_out;
mod prices;
mod requirements;

use std::collections::BTreeMap;

use proofmark_model::{
    Comparison, CpuQuota, Cut, Ending, Finding, Measurement, Params, Plan, Probe, Round, Run,
    Severity, Summary, Verdict, WorkloadSpec, key, summarise_trials, testing,
};

use super::{Folder, proved};

/// A run's name, its results' values, and a change of it.
type Made<'a> = (&'a str, &'a [f64], fn(&mut Run));

fn with(runs: &[Made]) -> Folder {
    let folder = Folder::new();
    for (name, values, change) in runs {
        let mut run = run(values);
        change(&mut run);
        folder.file(&format!("{name}.json"), serde_json::to_vec(&run).unwrap());
    }
    folder
}

fn run(values: &[f64]) -> Run {
    let spec = proofmark_workloads::find("cpu.flops").unwrap().spec().clone();
    let measured = values.iter().enumerate().map(|(i, v)| measurement(&spec, i as u64 + 1, *v));
    Run {
        workloads: BTreeMap::from([("cpu.flops".to_owned(), spec.clone())]),
        plan: Plan { profile: "test".into(), ..Plan::default() },
        ..testing::run(measured.collect())
    }
}

fn measurement(spec: &WorkloadSpec, threads: u64, value: f64) -> Measurement {
    let values: Vec<f64> = (0..8).map(|i| value * (0.997 + 0.001 * f64::from(i))).collect();
    let params = Params::default().with(key::THREADS, threads);
    // Trials without rounds have a wide interval: the next one may stall.
    let verdict = Verdict::Coarse;
    Measurement { verdict, ..proved(testing::measurement(spec, params, &values)) }
}

fn throttled(run: &mut Run) {
    let quota = CpuQuota { cpus: Some(0.5), period_s: Some(0.1), ..CpuQuota::default() };
    run.host.limits.cpu_quota = Probe::known(quota, "made up");
    (run.host.limits.usable_cpus, run.host.limits.usable_cores) = (vec![0, 1], 2);
    for m in &mut run.measurements {
        for t in &mut m.trials {
            t.conditions.throttled_s = Some(0.5 * m.params.threads() as f64 * t.seconds);
        }
        m.verdict = Verdict::Suspect;
    }
}

/// Leaves too few trials for an interval.
fn only(trials: usize, run: &mut Run) {
    for m in &mut run.measurements {
        m.trials.truncate(trials);
        let values: Vec<f64> = m.trials.iter().map(|t| t.value).collect();
        let (summary, verdict) = (Summary::from_values(&values), Verdict::NoInterval);
        *m = proved(Measurement { summary, verdict, ..m.clone() });
    }
}

fn as_it_is(_: &mut Run) {}

/// A text without its line breaks and indentations.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Checks A against B. Returns the exit status and the output.
#[track_caller]
fn checks(folder: &Folder, [a, b]: [&str; 2], code: i32) -> String {
    folder.run(&["check", a, "--against", b]).with(code).quiet()
}

#[test]
fn a_run_and_itself_do_not_differ() {
    let folder = with(&[("a", &[1e9, 2e9, 4e9], as_it_is)]);
    let printed = folder.prints(&["compare", "a.json", "a.json"]);
    let begins = "a.json against a.json\nNo difference between A and B is shown in CPU.\n";
    assert!(printed.starts_with(begins), "{printed}");
    assert!(printed.contains("No difference is shown in any of 3 compared results."), "{printed}");
    let printed = checks(&folder, ["a.json"; 2], 0);
    assert!(printed.contains("\nNone of 3 results is slower"), "{printed}");
}

#[test]
fn half_the_speed_is_slower_with_its_cause_and_ends_with_4() {
    let folder = with(&[("a", &[1e9, 2e9], as_it_is), ("b", &[0.5e9, 1e9], throttled)]);
    // compare is no check, and ends with 0.
    let printed = folder.prints(&["compare", "a.json", "b.json"]);
    let left_out = "No result counts in CPU (2 suspect results are slower); 2 of 2 results are left \
                    out: 2 suspect.\n";
    assert!(printed.contains(left_out), "{printed}");
    assert!(printed.contains("B is slower in 2 of 2 compared results"), "{printed}");
    assert!(printed.contains("in B a CPU quota of 0.5 CPUs throttled"), "{printed}");
    let printed = checks(&folder, ["b.json", "a.json"], 4);
    assert!(printed.lines().all(|l| !l.is_empty()), "{printed}");
    let cause = "✗ slower in 2 results: in B a CPU quota of 0.5 CPUs throttled";
    assert_eq!(one_line(&printed).matches(cause).count(), 1, "{printed}");
    let rows = printed.lines().filter(|l| l.starts_with("  0.500  ") && l.contains("FP peak"));
    assert_eq!(rows.count(), 2, "{printed}");
    // Reversed, nothing is slower, and suspect is no failure.
    checks(&folder, ["a.json", "b.json"], 0);
    checks(&folder, ["b.json"; 2], 0);
}

/// Cuts each trial into a round in which the machine has its rate and the run gets this share of
/// it.
fn in_rounds(run: &mut Run, share: f64) {
    for m in &mut run.measurements {
        for t in &mut m.trials {
            let whole = t.value;
            (t.value, t.work) = (share * whole, share * t.work);
            t.rounds = vec![Round {
                seconds: t.seconds,
                delivered: t.value,
                typical: Some(whole),
                attainable: Some(whole),
                clean_s: 0.05,
                ..Round::default()
            }];
        }
        let summary = summarise_trials(Cut::Core, m.unit, &m.trials, false);
        *m = proved(Measurement { summary, verdict: Verdict::Valid, ..m.clone() });
    }
}

#[test]
fn half_of_the_machine_is_slower_by_what_was_delivered_and_ends_with_4() {
    let under_quota = |run: &mut Run| {
        in_rounds(run, 0.5);
        let quota = CpuQuota { cpus: Some(0.5), ..CpuQuota::default() };
        run.host.limits.cpu_quota = Probe::known(quota, "made up");
    };
    let both = &[1e9, 2e9][..];
    let folder = with(&[("a", both, |run| in_rounds(run, 1.0)), ("b", both, under_quota)]);
    let printed = folder.prints(&["compare", "a.json", "b.json"]);
    let said = "Undisturbed figures show no difference in any of 2 results. Delivered figures are slower \
                in 2 of 2 results.";
    assert!(one_line(&printed).contains(said), "{printed}");
    let printed = checks(&folder, ["b.json", "a.json"], 4);
    let said = "attainable: no difference shown; delivered is 50.0 % lower: no finding explains it; \
                differences between the machines: CPU quota unknown in A, 0.5 CPUs in B";
    assert_eq!(one_line(&printed).matches(said).count(), 1, "{printed}");
    let rows = printed.lines().filter(|l| l.contains("delivered") && l.starts_with("  0.500"));
    assert_eq!(rows.count(), 2, "{printed}");
    checks(&folder, ["a.json", "b.json"], 0);
    checks(&folder, ["b.json"; 2], 0);
}

/// Makes the first round of a result in rounds take this many seconds, at this share of its rate.
fn stalls(seconds: f64, share: f64, run: &mut Run) {
    for m in &mut run.measurements {
        let t = &mut m.trials[0];
        t.rounds[0].seconds = seconds;
        t.rounds[0].delivered *= share;
        (t.seconds, t.value) = (seconds, share * t.value);
        t.work = t.value * seconds;
        let summary = summarise_trials(Cut::Core, m.unit, &m.trials, false);
        *m = proved(Measurement { summary, ..m.clone() });
    }
}

#[test]
fn a_result_that_is_undecided_by_what_was_delivered_ends_with_5() {
    let both = &[1e9, 2e9][..];
    let folder = with(&[
        ("a", both, |run| in_rounds(run, 0.9)),
        // A quarter of it in the round that took as long as ten others: less, in either way.
        ("less", both, |run| (in_rounds(run, 0.5), stalls(1.0, 0.5, run)).1),
        // The rounds delivered as much as before, but for the one that took most of the time.
        ("torn", both, |run| (in_rounds(run, 0.9), stalls(1.0, 0.2, run)).1),
    ]);
    let printed = one_line(&checks(&folder, ["less.json", "a.json"], 4));
    assert!(printed.contains("2 slower, 0 gone; 0 without a shown difference"), "{printed}");
    let printed = one_line(&checks(&folder, ["torn.json", "a.json"], 5));
    assert!(printed.contains("? undecided in 2 results: attainable: no difference"), "{printed}");
    assert!(printed.contains("0 without a shown difference, 0 faster, 2 undecided"), "{printed}");
    assert!(printed.contains("Whether A or B is faster is undecided in CPU."), "{printed}");
    let junit = ["check", "torn.json", "--against", "a.json", "--format", "junit"];
    let xml = folder.run(&junit).with(5).quiet();
    assert_eq!(xml.matches("type=\"undecided\"").count(), 2, "{xml}");
    let missed = ["check", "torn.json", "--against", "a.json", "--require", "cpu.flops>=9TFLOP/s"];
    folder.run(&missed).with(4).quiet();
}

#[test]
fn what_the_baseline_has_and_is_gone_fails() {
    let crashed = |run: &mut Run| {
        let m = &mut run.measurements[1];
        (m.trials, m.summary, m.verdict) = (Vec::new(), None, Verdict::Invalid);
        m.ending = Ending::Crashed { signal: Some("SIGILL".into()), detail: "gone".into() };
    };
    let both = &[1e9, 2e9][..];
    let folder =
        with(&[("a", both, as_it_is), ("short", &both[..1], as_it_is), ("crashed", both, crashed)]);
    let printed = checks(&folder, ["short.json", "a.json"], 4);
    assert!(printed.contains("✗ gone in 1 result: only in A"), "{printed}");
    assert!(printed.contains("FP peak, 2 CPUs"), "{printed}");
    let json = ["check", "short.json", "--against", "a.json", "--format", "json"];
    let json: serde_json::Value = serde_json::from_str(&folder.run(&json).with(4).stdout).unwrap();
    let gone: Vec<_> =
        json["results"].as_array().unwrap().iter().filter(|r| r["fails"] == true).collect();
    let [gone] = gone[..] else { panic!("{json}") };
    // The parameters and the reason are stated once, in the comparison.
    let keys: Vec<_> = gone.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["fails", "outcome", "point"]);
    let point = &json["comparison"]["points"][gone["point"].as_u64().unwrap() as usize];
    assert_eq!((&gone["outcome"], &point["params"]["threads"]), (&"gone".into(), &2.into()));
    assert_eq!(
        (&point["reason"], &json["counts"]["results"]["gone"]),
        (&"only in A".into(), &1.into())
    );
    checks(&folder, ["a.json", "short.json"], 0);
    let printed = checks(&folder, ["crashed.json", "a.json"], 4);
    assert!(printed.contains("killed by SIGILL"), "{printed}");
}

#[test]
fn a_check_with_too_little_to_judge_is_undecided() {
    let both = &[1e9, 2e9][..];
    let reworded = |run: &mut Run| {
        run.workloads.get_mut("cpu.flops").unwrap().summary = "worded anew".into();
        only(3, run);
    };
    let folder = with(&[
        ("a", both, as_it_is),
        ("empty", &[], as_it_is),
        ("few", both, |run| only(1, run)),
        ("slow", &[0.5e9, 1e9], reworded),
        ("three", both, |run| only(3, run)),
    ]);
    let printed = checks(&folder, ["few.json", "a.json"], 5);
    let few = "? too little to pass: only 0 of 2 results of the baseline could be judged";
    let printed = one_line(&printed);
    assert!(printed.contains(few) && printed.contains("too few to judge"), "{printed}");
    let json = ["check", "few.json", "--against", "a.json", "--format", "json"];
    let json: serde_json::Value = serde_json::from_str(&folder.run(&json).with(5).stdout).unwrap();
    assert_eq!((&json["outcome"], &json["exit_status"]), (&"undecided".into(), &5.into()));
    assert!(json["too_little"].as_str().unwrap().starts_with("only 0 of 2"), "{json}");
    let printed = checks(&folder, ["a.json", "empty.json"], 5);
    assert!(printed.contains("baseline has no usable result"), "{printed}");
    // Another help text is not another workload, and three of three trials are slower.
    let printed = checks(&folder, ["slow.json", "three.json"], 4);
    let printed = one_line(&printed);
    assert!(printed.contains("2 slower, 0 gone") && printed.contains("but there is no interval"));
    checks(&folder, ["three.json"; 2], 0);
}

#[test]
fn a_margin_that_is_asked_for_decides() {
    let folder = with(&[("a", &[1e9], as_it_is), ("b", &[0.97e9], as_it_is)]);
    let check = ["check", "b.json", "--against", "a.json", "--margin"];
    checks(&folder, ["b.json", "a.json"], 0);
    for (margin, code) in [("0.01", 4), ("1%", 4), ("3.5 %", 0)] {
        folder.run(&[&check[..], &[margin]].concat()).with(code);
    }
    for bad in ["1.5", "NaN", "inf", "101%", "%"] {
        folder.refuses(&[&check[..], &[bad]].concat(), "a fraction from 0 to 1");
    }
}

#[test]
fn every_format_is_written_where_it_is_asked_for() {
    let folder = with(&[("a", &[1e9, 2e9], as_it_is), ("b", &[0.5e9, 1e9], throttled)]);
    let read = |json: String| serde_json::from_str::<Comparison>(&json).unwrap();
    let comparison = read(folder.prints(&["compare", "a.json", "b.json", "--format", "json"]));
    assert_eq!((comparison.points.len(), comparison.b.name.as_str()), (2, "b.json"));
    let check = ["check", "b.json", "--against", "a.json", "--format"];
    let checked = folder.run(&[&check[..], &["json"]].concat()).with(4).stdout;
    let checked: serde_json::Value = serde_json::from_str(&checked).unwrap();
    let same = read(checked["comparison"].to_string());
    assert_eq!(same, comparison, "check holds the run against the baseline");
    assert_eq!((&checked["outcome"], &checked["exit_status"]), (&"missed".into(), &4.into()));
    let results = checked["results"].as_array().unwrap();
    let slower = |r: &serde_json::Value| r["fails"] == true && r["outcome"] == "slower";
    assert!(results.len() == 2 && results.iter().all(slower), "{results:?}");
    assert_eq!(checked["counts"]["results"]["slower"], 2);
    let junit = folder.run(&[&check[..], &["junit", "--out", "r.xml"]].concat()).with(4);
    assert_eq!(junit.stdout, "");
    assert!(folder.text("r.xml").contains("failures=\"2\""));
    let page = ["compare", "a.json", "b.json", "--format", "html", "--out", "c.html"];
    assert_eq!(folder.prints(&page), "");
    assert!(folder.text("c.html").starts_with("<!doctype html>"));
}

#[test]
fn what_is_mistyped_is_told_in_a_line() {
    let folder = with(&[("a", &[1e9], as_it_is)]);
    folder.file("torn.json", "{\"schema\": ");
    for (arguments, word) in [
        (&["compare", "a.json", "a.json", "--format", "htm"][..], "did you mean 'html'?"),
        (&["check", "a.json", "--against", "a.json", "--format", "xml"], "check --help"),
        (&["compare", "a.json", "none.json"], "none.json"),
        (&["compare", "torn.json", "a.json"], "torn.json"),
        (&["check", "a.json"], "--against"),
    ] {
        folder.refuses(arguments, word);
    }
}

#[test]
fn a_strangers_run_file_steers_nothing() {
    const EVIL: &str = "\u{1b}[2J<script>alert(1)</script>\u{202e}";
    let evil = |run: &mut Run| {
        run.host.cpu.model_name = Probe::known(EVIL.into(), EVIL);
        run.measurements[0].findings.push(Finding::new(EVIL, Severity::Suspect, EVIL, EVIL));
        run.measurements[0].trials[0].value = -0.0;
        run.plan.profile = EVIL.into();
        run.plan.policy.target = 1e60;
    };
    let folder = with(&[("a", &[1e9], as_it_is), ("evil", &[9e59], evil)]);
    for format in ["terminal", "html", "json"] {
        let ended = folder.run(&["compare", "a.json", "evil.json", "--format", format]).with(0);
        assert_eq!(ended.stderr.lines().count(), 1, "judged again: {}", ended.stderr);
        let text = ended.stdout + &ended.stderr;
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{format}");
        assert!(format != "html" || !text.contains("<script>alert"), "{format}");
    }
}

#[test]
fn several_runs_are_compared_with_the_first() {
    let slower = ("b", &[0.5e9, 1e9][..], throttled as fn(&mut Run));
    let folder = with(&[("a", &[1e9, 2e9], as_it_is), slower, ("c", &[1e9, 4e9], as_it_is)]);
    let printed = folder.prints(&["compare", "a.json", "b.json", "c.json"]);
    let line = printed.lines().find(|l| l.starts_with("FP peak, 2 CPUs")).unwrap();
    let cells: Vec<&str> = line.split("  ").map(str::trim).filter(|c| !c.is_empty()).collect();
    let expected =
        ["FP peak, 2 CPUs", "~ 2.001 GFLOP/s", "! 1.001", "▼ 0.500", "~ 4.002", "▲ 2.00"];
    assert_eq!(cells, expected, "{printed}");
    assert!(printed.contains("\nC: c.json"), "{printed}");
    let json = folder.prints(&["compare", "a.json", "b.json", "c.json", "--format", "json"]);
    let all: Vec<Comparison> = serde_json::from_str(&json).unwrap();
    assert_eq!(all.len(), 2);
    let page = ["compare", "a.json", "b.json", "c.json", "--format", "html"];
    let page = folder.prints(&page);
    assert!(page.starts_with("<!doctype html>") && page.contains("C &#x2f; A"), "{page}");
    let text = folder.prints(&["compare", "a.json", "b.json", "c.json", "--format", "markdown"]);
    assert!(text.contains("| C / A |"), "{text}");
    let csv = folder.prints(&["compare", "a.json", "b.json", "c.json", "--format", "csv"]);
    let runs: Vec<&str> = csv.lines().skip(1).filter_map(|l| l.split(',').next()).collect();
    assert_eq!(runs, ["B", "B", "C", "C"], "{csv}");
    assert_eq!(folder.run(&["compare", "a.json"]).code, Some(2));
}

/// A run file of an earlier version lacks what this one records.
#[test]
fn a_run_file_of_an_earlier_version_is_read_and_judged() {
    let folder = Folder::new();
    folder.file("run.json", include_bytes!("runs/0.2.0-before-quotas.json"));
    let ended = folder.run(&["report", "run.json", "--format", "json"]).with(0);
    assert_eq!(ended.stderr, "", "no verdict differs");
    let run = proofmark_model::read_run(&ended.stdout).unwrap();
    let verdicts: Vec<_> = run.measurements.iter().map(|m| m.verdict).collect();
    assert_eq!(verdicts, [proofmark_model::Verdict::Valid; 2]);
    let lacks = |m: &proofmark_model::Measurement| {
        m.findings.iter().any(|f| f.check == "in_cache" && f.message.contains("older"))
    };
    assert!(run.measurements.iter().any(lacks), "it says what the file does not record");
}
