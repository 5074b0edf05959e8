//! The first screen: few numbers, each with its limit and its doubt; and what was measured.

use proofmark_model::{FigureKind, Measurement, Precision, Run, Summary, Verdict};
use proofmark_report::view::{AnswerGroup, Table, View};
use proofmark_report::{Options, find, terminal};

use super::fixture;
use super::reading::{column, each};

fn workloads(groups: &[AnswerGroup]) -> Vec<Vec<&str>> {
    groups.iter().map(|g| g.answers.iter().map(|a| a.workload.as_str()).collect()).collect()
}

fn text(run: &Run, width: usize) -> String {
    find("terminal").unwrap().render(run, &Options { width, color: false }).unwrap()
}

#[test]
fn each_subsystem_is_answered_in_at_most_three_numbers() {
    let view = View::from_run(&fixture::published());
    assert_eq!(
        workloads(&view.answers),
        [
            ["cpu.flops", "cpu.linpack", "cpu.iops"],
            ["memory.triad", "memory.latency", "memory.copy"],
            ["disk.seq_read", "disk.seq_write", "disk.rand_read"],
            ["network.tcp.stream", "network.tcp.rtt", "network.udp.stream"],
        ]
    );
    for answer in view.answers.iter().flat_map(|g| &g.answers) {
        assert_eq!(view.workloads[answer.at].id, answer.workload);
        assert_eq!(view.workloads[answer.at].headline, answer.headline);
    }
    assert_eq!(view.answer_table.rows.len(), 12);
}

#[test]
fn a_workload_that_nobody_asks_for_answers_where_it_is_alone() {
    let mut run = fixture::disk();
    run.measurements.retain(|m| m.workload == "disk.fsync");
    run.plan.points.retain(|p| p.workload == "disk.fsync");
    assert_eq!(workloads(&View::from_run(&run).answers), [["disk.fsync"]]);
    assert_eq!(
        workloads(&View::from_run(&fixture::endured()).answers),
        [["cpu.mix.float over time"]]
    );
}

#[test]
fn the_answer_names_what_held_it_back_and_the_tool() {
    let view = View::from_run(&fixture::beside());
    let table = &view.answer_table;
    let at = column(table, "workload").iter().position(|w| *w == "LINPACK").unwrap();
    assert_eq!(column(table, "bottleneck")[at], "execution ports");
    assert_eq!(column(table, "reference tool")[at], "1.064 times hpl (1.053 to 1.077)");
    let alone = View::from_run(&fixture::alone()).answer_table;
    assert!(alone.columns.iter().all(|c| c.title != "reference tool"));
    assert!(alone.rows.iter().all(|r| r.cells.len() == alone.columns.len()));
}

#[test]
fn no_tool_is_named_whose_number_does_not_stand() {
    let mut run = fixture::beside();
    let of = |run: &Run| View::from_run(run).answers[0].answers[0].reference.clone();
    assert!(of(&run).is_some());
    each(&mut run, "cpu.linpack")
        .flat_map(|m| &mut m.references)
        .for_each(|r| r.verdict = Verdict::Invalid);
    assert_eq!(of(&run), None);
}

#[test]
fn a_number_that_does_not_stand_is_a_reason_instead() {
    let mut run = fixture::run();
    each(&mut run, "cpu.flops").for_each(|m| m.verdict = Verdict::Invalid);
    let table = View::from_run(&run).answer_table;
    assert_eq!(column(&table, "figure")[0], "-");
    assert!(table.notes.iter().any(|n| n.contains("every result is invalid")));
    assert_eq!(table.rows[0].cells[7].verdict, Some(Verdict::Invalid));
}

#[test]
fn what_was_delivered_is_beside_what_the_machine_can_do() {
    let mut run = fixture::run();
    let titles =
        |table: &Table| -> Vec<String> { table.columns.iter().map(|c| c.title.clone()).collect() };
    let alone = View::from_run(&run);
    assert!(!titles(&alone.answer_table).contains(&"delivered".to_owned()));
    each(&mut run, "cpu.flops").for_each(|m| {
        let Some(s) = &mut m.summary else { return };
        (s.headline, s.attainable) = (FigureKind::Attainable, s.delivered.clone());
        s.delivered.value = s.delivered.value.map(|value| 0.25 * value);
    });
    let view = View::from_run(&run);
    assert_eq!(column(&view.answer_table, "delivered")[..2], ["98.40 GFLOP/s", "48.80 Gop/s"]);
    let page = find("html").unwrap().render(&run, &Options { width: 100, color: false }).unwrap();
    assert!(page.contains("Delivered: <strong>98.40</strong> GFLOP&#x2f;s"), "{page}");
    let flops = view.workloads.iter().find(|w| w.id == "cpu.flops").unwrap();
    let [attainable, delivered] = ["attainable", "delivered"].map(|c| column(&flops.table, c)[0]);
    assert_eq!((attainable, delivered), ("24.60", "6.150"));
}

#[test]
fn the_first_screen_of_a_terminal_holds_the_answer() {
    let text = text(&fixture::published(), 80);
    let lines: Vec<&str> = text.lines().take(36).collect();
    for what in ["Floating-point peak", "Triad", "Sequential read", "TCP throughput"] {
        let line = lines.iter().find(|l| l.contains(what));
        // The fastest configuration is put first, here one that is suspect.
        let mark = if what == "TCP throughput" { "! suspect" } else { "✓ valid" };
        assert!(line.is_some_and(|l| l.ends_with(mark)), "{what}: {lines:#?}");
    }
    assert!(lines.iter().any(|l| l.contains("bottleneck")), "{lines:#?}");
}

#[test]
fn the_design_says_what_was_measured_and_how() {
    let view = View::from_run(&fixture::published());
    let of = |title: &str| view.design.iter().find(|d| d.title == title).unwrap();
    let cpu = of("CPU").sentences.join(" ");
    for said in [
        "5 workloads, 28 measured configurations: threads 1, 2 and 4.",
        "Each configuration has 3 trials, each planned for",
        "Strong scaling: the iterations of cpu.mix.float and cpu.mix.int are divided",
        "1 configuration sampled over time, for 10 min every 1.0 s.",
        "Independent verification of the work: checked arithmetic (27 configurations).",
        "Reference tools that ran the same work: hpl 2.3 (4 configurations).",
    ] {
        assert!(cpu.contains(said), "{said}: {cpu}");
    }
    let disk = of("Disk").sentences.join(" ");
    assert!(disk.contains("file size 16 MiB, 128 MiB and 1 GiB"), "{disk}");
    let network = of("Network").sentences.join(" ");
    assert!(network.contains("30 configurations over loopback (no network), 30 to another"));
    let loopback = View::from_run(&fixture::loopback()).design;
    assert!(loopback[0].sentences.join(" ").contains("All over loopback"));
    assert_eq!(
        of("CPU").workloads[0],
        "Floating-point peak (cpu.flops): A workload of the fixture; no machine ran it."
    );
}

#[test]
fn points_that_were_not_measured_are_told() {
    let mut run = fixture::run();
    run.measurements.truncate(3);
    let said = View::from_run(&run).design[0].sentences[0].clone();
    assert!(said.starts_with("5 workloads, 3 measured configurations of 24 planned"), "{said}");
}

#[test]
fn a_trial_of_fixed_work_has_no_length_that_was_asked_for() {
    let run = fixture::published();
    let cpu = View::from_run(&run).design[0].sentences.join(" ");
    let fixed =
        "those of cpu.linpack, cpu.mix.float and cpu.mix.int last as long as their work takes.";
    assert!(cpu.contains("each planned for 100.0 ms or more; ") && cpu.contains(fixed), "{cpu}");
    let mut run = run;
    run.measurements.retain(|m| m.workload == "cpu.linpack");
    run.plan.points.retain(|p| p.workload == "cpu.linpack");
    run.plan.series.clear();
    let cpu = View::from_run(&run).design[0].sentences.join(" ");
    assert!(!cpu.contains("planned for"), "{cpu}");
    let sampled = View::from_run(&fixture::endured()).design[0].sentences.join(" ");
    assert!(!sampled.contains("planned for"), "{sampled}");
}

#[test]
fn a_row_of_the_answer_is_not_told_again_in_a_sentence() {
    let run = fixture::published();
    let hero = View::from_run(&run).conclusions[0].claims[0].clone();
    assert!(hero.in_answer && hero.text.contains("of its ceiling"), "{hero:?}");
    for format in ["terminal", "markdown"] {
        let options = Options { width: 10_000, color: false };
        let text = find(format).unwrap().render(&run, &options).unwrap();
        assert!(!text.contains(&hero.text), "{format}");
    }
    let table = View::from_run(&run).answer_table;
    assert_eq!(column(&table, "configuration")[0], "avx2, 4 threads");
}

#[test]
fn a_number_over_loopback_is_told_as_such_however_narrow_the_terminal_is() {
    for width in [40, 80, 120, 200, 10_000] {
        let brief = terminal::brief(&fixture::loopback(), &Options { width, color: false });
        let brief = brief.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(brief.contains("loopback, forward, 4 streams"), "{width}: {brief}");
    }
}

#[test]
fn what_ends_a_run_is_short_and_holds_the_answer_and_the_findings() {
    let run = fixture::published();
    let options = Options { width: 80, color: false };
    let (brief, all) = (terminal::brief(&run, &options), text(&run, 80));
    assert!(brief.lines().count() * 4 < all.lines().count(), "{brief}");
    assert!(brief.contains("\nSummary\n") && brief.contains("\nFindings\n"), "{brief}");
    assert!(!brief.contains("A workload of the fixture"));
    for line in brief.lines() {
        assert!(all.contains(line), "{line}");
    }
}

/// The fixture with that verdict and half-width of its fastest `cpu.flops`.
fn with_best(verdict: Verdict, half_width: f64) -> Run {
    let mut run = fixture::run();
    let value = |m: &Measurement| m.summary.as_ref().map_or(0.0, Summary::value);
    let flops = run.measurements.iter_mut().filter(|m| m.workload == "cpu.flops");
    let best = flops.max_by(|a, b| value(a).total_cmp(&value(b))).unwrap();
    best.verdict = verdict;
    best.precision = Some(Precision { half_width, target: 0.005, reached: half_width <= 0.005 });
    run
}

#[test]
fn neither_verdict_nor_precision_moves_a_headline() {
    let headline = |run: &Run| {
        let all = View::from_run(run).workloads;
        let flops = all.into_iter().find(|w| w.id == "cpu.flops").unwrap();
        (flops.headline.value, flops.headline.verdict)
    };
    let (best, verdict) = headline(&with_best(Verdict::Valid, 0.001));
    assert_eq!(verdict, Some(Verdict::Valid));
    let coarse = headline(&with_best(Verdict::Suspect, 0.2));
    assert_eq!(coarse, (best.clone(), Some(Verdict::Suspect)));
    assert_ne!(headline(&with_best(Verdict::Invalid, 0.001)).0, best);
}

#[test]
fn one_line_says_how_precise_a_run_is() {
    let narrow = View::from_run(&with_best(Verdict::Valid, 0.001)).trust.precision.unwrap();
    let said =
        "Precision: 1 of 1 interval is as narrow as the target; the widest is ± 0.1 % (cpu.flops ";
    assert!(narrow.starts_with(said), "{narrow}");
    let coarse = with_best(Verdict::Valid, 0.2);
    for format in ["terminal", "markdown", "html"] {
        let text = find(format).unwrap().render(&coarse, &Options::default()).unwrap();
        let text = text.replace('\n', " ");
        assert!(text.contains("Precision: 0 of 1 interval"), "{format}");
        assert!(text.contains("± 20.0 %"), "{format}");
    }
    assert_eq!(View::from_run(&fixture::run()).trust.precision, None, "it was not judged");
}
