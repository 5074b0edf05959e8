//! The report on reference tools of unusual runs.

use proofmark_model::{
    Finding, Measurement, Param, PlannedReference, Ratio, Reference, Run, Severity, Trial, Verdict,
    testing,
};
use proofmark_report::{ALL, Options};

use super::dump::Dump;
use super::fixture;
use super::reading::{csv_rows, each, render};

/// Every result of a tool for a workload.
fn tools<'a>(run: &'a mut Run, id: &str) -> impl Iterator<Item = &'a mut Reference> {
    each(run, id).flat_map(|m| &mut m.references)
}

#[test]
fn without_them_no_format_speaks_of_them() {
    let run = fixture::alone();
    for format in ALL {
        let text = format.render(&run, &Options::default()).unwrap();
        let page = text.split("<script>").next().unwrap();
        for said in ["eside other tools", "eside the tools", "tool result", "tool_version"] {
            assert!(!page.contains(said), "{said} in {}", format.id);
        }
    }
    let [with, without] = [fixture::beside(), run].map(|run| csv_rows(&run));
    let ours = with.into_iter().filter(|r| r["tool"] == "proofmark").map(|mut r| {
        r.retain(|column, _| !["tool", "tool_version", "command"].contains(&&**column));
        r
    });
    assert_eq!(ours.collect::<Vec<_>>(), without, "our own rows are the same");
}

#[test]
fn tables() {
    let mut out = Dump::default();
    let table = ["cpu.linpack comparison", "* references"];
    let mut run = fixture::beside();
    each(&mut run, "cpu.linpack").for_each(|m| m.verdict = Verdict::Suspect);
    for r in tools(&mut run, "cpu.linpack") {
        (r.value, r.ratio.median, r.efficiency) = (f64::NAN, f64::INFINITY, None);
    }
    out.says("suspect, and the tool's figures are not finite", &run, &table);
    // The pairs hold trials of their own.
    let mut run = fixture::beside();
    let trial = |value| Trial { value, ..Trial::default() };
    tools(&mut run, "cpu.linpack").for_each(|r| r.paired = [3e10, 5e10].map(trial).into());
    out.says("pairs of 30 and 50 GFLOP/s", &run, &table);
    tools(&mut run, "cpu.linpack").for_each(|r| r.paired.clear());
    out.says("no pair", &run, &table);
    let mut run = fixture::beside();
    let message = "the hypervisor took 50 % (fixture)";
    for r in tools(&mut run, "cpu.linpack") {
        r.paired_findings.push(Finding::new("steal", Severity::Suspect, message, ""));
        r.paired.iter_mut().for_each(|t| t.conditions.steal_s = Some(0.5));
    }
    let parts = ["cpu.linpack comparison", "cpu.linpack pairs"];
    out.says("the pairs were disturbed", &run, &parts);
    let reference = tools(&mut run, "memory.triad").next().unwrap().clone();
    let mut run = fixture::memory();
    for (i, m) in each(&mut run, "memory.sweep").take(2).enumerate() {
        testing::rescale(m.summary.as_mut().unwrap(), 1.0 + i as f64);
        m.references.push(reference.clone());
    }
    out.says("a tool at lesser points only", &run, &["* references"]);
    insta::assert_snapshot!(out.text);
}

/// A run whose pairs had half of the machine, and whose regular trials had all of it.
fn slower_in_pairs() -> Run {
    let mut run = fixture::beside();
    let trial = |value| Trial { value, ..Trial::default() };
    for r in tools(&mut run, "cpu.linpack") {
        r.trials = vec![20e9; 8];
        (r.value, r.paired) = (20e9, vec![trial(30e9); 8]);
        r.ratio = Ratio { median: 1.5, ci95: Some([1.4, 1.6]) };
    }
    run
}

#[test]
fn bars_rows_and_ratio_are_of_the_same_pairs() {
    let run = slower_in_pairs();
    let mut out = Dump::default();
    let parts = ["cpu.linpack comparison", "cpu.linpack bars", "* theory"];
    out.says("30 GFLOP/s in the pairs", &run, &parts);
    insta::assert_snapshot!("pairs", out.text);
    let compared = |m: &&Measurement| m.workload == "cpu.linpack" && !m.references.is_empty();
    let m = run.measurements.iter().find(compared).unwrap();
    let (own, ceiling) = (m.summary.as_ref().unwrap().value(), m.ceiling.as_ref().unwrap().value);
    assert!(own > 35e9, "the regular trials are faster: {own}");
    let share = format!("{:.1} % of the ceiling", 100.0 * 30e9 / ceiling);
    assert!(out.text.contains(&share), "{share} in {}", out.text);
    for format in ALL {
        let text = format.render(&run, &Options::default()).unwrap();
        assert!(!text.contains("pairs 1.500"), "{}: decided", format.id);
    }
    let page = render("html", &run);
    assert!(page.contains("proofmark in the pairs with hpl"), "bars of the pairs");
}

#[test]
fn where_the_pairs_contradict_the_medians_the_row_is_undecided_in_all_formats() {
    let mut run = slower_in_pairs();
    tools(&mut run, "cpu.linpack").for_each(|r| {
        r.ratio = Ratio { median: 0.8, ci95: Some([0.7, 0.9]) };
    });
    for format in ["terminal", "html", "markdown"] {
        let text = render(format, &run);
        assert!(text.contains("1.500; pairs 0.800"), "{format}");
        assert!(!text.contains("1.500 times hpl's result"), "{format}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("undecided: 1.500; pairs 0.800 times"), "{format}");
    }
    let lines = render("jsonl", &run);
    let undecided = lines.lines().filter(|l| l.contains("\"undecided\":true")).count();
    assert!(undecided > 0);
}

#[test]
fn reasons() {
    let mut out = Dump::default();
    let lacking = |id: &str| [format!("{id} lacking"), "* lacking".to_owned()];
    let mut says = |what: &str, run: &Run, id: &str| {
        let parts = lacking(id);
        out.says(what, run, &parts.each_ref().map(String::as_str));
    };
    let mut run = fixture::beside();
    let why = "nothing that is known does it";
    for m in each(&mut run, "memory.triad") {
        m.references.clear();
        m.missing = [("references".to_owned(), why.to_owned())].into();
    }
    says("no tool suits", &run, "memory.triad");
    assert!(!render("terminal", &run).replace('\n', " ").contains(why), "the terminal is short");
    for m in each(&mut run, "network.tcp.stream") {
        m.references.clear();
        m.missing.insert("references".into(), "both failed".into());
        m.missing.insert("references.iperf".into(), "not installed (iperf)".into());
        m.missing.insert("references.iperf3".into(), "it ended with status 1".into());
    }
    says("both tools failed", &run, "network.tcp.stream");
    each(&mut run, "network.tcp.stream").next().unwrap().missing.remove("references.iperf");
    says("one of them not everywhere", &run, "network.tcp.stream");
    let mut run = fixture::alone();
    says("no tool was to run", &run, "disk.fsync");
    let mut asked = run.clone();
    for m in each(&mut asked, "disk.fsync") {
        m.missing.insert("references.sysbench".into(), "not installed".into());
    }
    says("one was asked for", &asked, "disk.fsync");
    let planned = PlannedReference { point: 0, runs: 8, run_s: 1.0, second: false };
    run.plan.references = [("hpl".to_owned(), vec![planned])].into();
    says("another was to run", &run, "disk.fsync");
    let mut run = fixture::published();
    let with = each(&mut run, "cpu.linpack").find(|m| !m.references.is_empty());
    with.unwrap().references.clear();
    says("one result has no reason", &run, "cpu.linpack");
    insta::assert_snapshot!(out.text);
}

#[test]
fn charts() {
    let mut out = Dump::default();
    let mut run = fixture::beside();
    let commits: Vec<&mut Measurement> = each(&mut run, "disk.fsync").collect();
    for (i, m) in commits.into_iter().enumerate() {
        let another = Reference { tool: "another".into(), ..m.references[0].clone() };
        match i {
            0 => m.references.push(another),
            _ => m.references[0].value = f64::NAN,
        }
    }
    out.says("two tools, once without a figure", &run, &["disk.fsync bars"]);
    tools(&mut run, "cpu.linpack").for_each(|r| r.value = f64::NAN);
    out.says("a ceiling alone", &run, &["cpu.linpack bars"]);
    let template = each(&mut run, "network.tcp.stream").last().unwrap().clone();
    for streams in 5..20 {
        let mut m = template.clone();
        m.params.0.insert("streams".into(), Param::Int(streams));
        if streams == 19 {
            testing::rescale(m.summary.as_mut().unwrap(), 2.0);
        }
        run.measurements.push(m);
    }
    out.says("many points, the fastest last", &run, &["network.tcp.stream bars"]);
    insta::assert_snapshot!(out.text);
}

/// With evidence of only some trials, no row can be assigned any.
#[test]
fn evidence_of_some_trials_is_in_no_row() {
    let mut run = fixture::beside();
    tools(&mut run, "cpu.linpack").for_each(|r| r.evidence.truncate(3));
    let rows = csv_rows(&run);
    assert!(rows.iter().filter(|r| r["tool"] == "hpl").all(|r| r["work"].is_empty()));
}

/// Three trials of a tool that differ by more than the two sides do.
#[test]
fn few_pairs_that_differ_among_themselves_decide_nothing() {
    let mut run = fixture::beside();
    let trial = |value| Trial { value, ..Trial::default() };
    let set = |run: &mut Run, tool: [f64; 3]| {
        for r in tools(run, "cpu.linpack") {
            (r.trials, r.value) = (tool.into(), tool[1]);
            r.paired = [30e9, 31e9, 32e9].map(trial).into();
            r.ratio = Ratio { median: 31e9 / tool[1], ci95: None };
        }
        let text = render("markdown", run) + &render("summary", run);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = set(&mut run, [29.15e9, 30.1e9, 47.94e9]);
    assert!(text.contains("undecided: the tool's trials differ by 64.5 %"), "{text}");
    assert!(text.contains("the tool's 3 trials: 29.15 to 47.94"), "{text}");
    let text = set(&mut run, [45e9, 47e9, 48e9]);
    assert!(!text.contains("undecided: the tool's trials"), "{text}");
}

/// The ratio of the medians hides one pair that is far from all others.
#[test]
fn a_pair_far_from_the_others_is_named() {
    let with = |ours: [f64; 5]| {
        let mut run = fixture::beside();
        for r in tools(&mut run, "cpu.linpack") {
            (r.value, r.trials) = (14e9, vec![14e9; 5]);
            r.paired = ours.map(|v| Trial { value: 1e9 * v, ..Trial::default() }).into();
            r.ratio = Ratio { median: ours[0] / 14.0, ci95: None };
        }
        render("markdown", &run)
    };
    let text = with([24.8, 22.8, 23.2, 24.9, 73.0]);
    assert!(text.contains("pair 5: 5.214, the others 1.629"), "{text}");
    assert!(!with([24.8, 22.8, 23.2, 24.9, 27.0]).contains("pair 5:"));
}
