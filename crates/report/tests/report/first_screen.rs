//! The first screen: the results that answer for the machine, each with its limit and its doubt.

use proofmark_model::{
    FigureKind, Finding, Measurement, Precision, Probe, Run, Severity, StorageKind, Summary,
    Verdict,
};
use proofmark_report::view::{FirstScreen, ScreenRow, View};
use proofmark_report::{Options, find, terminal};

use super::fixture;
use super::reading::{column, each};

fn first(run: &Run) -> FirstScreen {
    View::from_run(run).first
}

fn rows(run: &Run, part: &str) -> Vec<ScreenRow> {
    let parts = first(run).parts;
    parts.into_iter().find(|p| p.subsystem == part).map_or_else(Vec::new, |p| p.rows)
}

fn names(run: &Run, part: &str) -> Vec<String> {
    let name = |r: ScreenRow| format!("{} {}", r.title, r.configuration).trim().to_owned();
    rows(run, part).into_iter().map(name).collect()
}

fn brief(run: &Run, width: usize) -> String {
    terminal::brief(run, &Options { width, color: false })
}

#[test]
fn the_rows_are_those_that_workloads_declare() {
    let run = fixture::published();
    assert_eq!(
        names(&run, "cpu"),
        [
            "FP peak 1 CPU, avx2",
            "FP peak 4 CPUs, avx2",
            "Integer peak 1 CPU",
            "Integer peak 4 CPUs",
            "LINPACK 2 CPUs",
        ]
    );
    assert_eq!(
        names(&run, "memory"),
        ["Memory copy 4 CPUs", "Memory triad 4 CPUs", "Memory latency 1.9 GiB"]
    );
    assert_eq!(
        names(&run, "disk"),
        [
            "Sequential read 1 MiB, depth 8, 2 threads",
            "Sequential write 1 MiB, depth 8, 2 threads",
            "Random read 4 KiB, depth 1",
            "Random read 4 KiB, depth 32, 4 threads",
            "Random write 4 KiB, depth 8",
            "Random write 4 KiB, depth 8, 2 threads",
        ]
    );
    assert_eq!(
        names(&run, "network"),
        ["TCP 1 stream", "TCP 4 streams", "UDP", "TCP round trip 1 stream"]
    );
    let view = View::from_run(&run);
    for row in view.first.parts.iter().flat_map(|p| &p.rows) {
        assert_eq!(view.workloads[row.at].id, row.workload);
    }
}

#[test]
fn a_run_of_few_results_shows_all_of_them() {
    let mut run = fixture::run();
    run.measurements.retain(|m| m.workload == "cpu.mix.int");
    assert_eq!(names(&run, "cpu").len(), run.measurements.len());
    assert!(names(&run, "cpu")[0].contains("1 thread"), "{:?}", names(&run, "cpu"));
    let sampled = rows(&fixture::endured(), "cpu");
    assert_eq!(sampled[0].workload, "cpu.mix.float over time");
}

#[test]
fn a_subsystem_without_a_declared_row_has_one_a_workload() {
    let mut run = fixture::run();
    run.measurements.retain(|m| m.workload.starts_with("cpu.mix"));
    let more = run.measurements.clone().into_iter().cycle().take(3 * run.measurements.len());
    run.measurements = more.collect();
    let named: Vec<String> = rows(&run, "cpu").into_iter().map(|r| r.workload).collect();
    assert_eq!(named, ["cpu.mix.float", "cpu.mix.int"]);
}

#[test]
fn an_invalid_result_keeps_its_row_and_loses_its_figure() {
    let mut run = fixture::published();
    each(&mut run, "disk.rand_read").for_each(|m| m.verdict = Verdict::Invalid);
    let row = rows(&run, "disk").remove(2);
    assert_eq!((row.value, row.iops, row.verdict), (None, None, Verdict::Invalid));
    assert_eq!(row.why_none, "invalid: do not use it");
    let line = brief(&run, 80).lines().find(|l| l.starts_with("Random read")).unwrap().to_owned();
    assert!(line.ends_with("✗ invalid") && !line.contains("IOPS"), "{line}");
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
fn neither_verdict_nor_precision_moves_a_row() {
    let configurations = |run: &Run| names(run, "cpu");
    let best = configurations(&with_best(Verdict::Valid, 0.001));
    assert_eq!(best[..2], ["FP peak 1 CPU, avx2", "FP peak 8 CPUs, avx2"], "also where it crashed");
    for (verdict, half_width) in
        [(Verdict::Suspect, 0.2), (Verdict::Invalid, 0.001), (Verdict::Invalid, 0.2)]
    {
        assert_eq!(configurations(&with_best(verdict, half_width)), best, "{verdict}");
    }
}

#[test]
fn each_row_has_both_figures_and_the_tool() {
    let mut run = fixture::published();
    each(&mut run, "cpu.flops").for_each(|m| {
        let Some(s) = &mut m.summary else { return };
        (s.headline, s.attainable) = (FigureKind::Attainable, s.delivered.clone());
        s.delivered.value = s.delivered.value.map(|value| 0.25 * value);
        m.findings =
            vec![Finding::new("steal", Severity::Suspect, "taken", "ask for dedicated CPUs")];
        m.verdict = Verdict::Suspect;
    });
    let view = View::from_run(&run);
    let table = &view.first.tables()[0];
    assert_eq!(column(table, "attainable")[0], "98.40 GFLOP/s");
    assert_eq!(column(table, "delivered")[0], "24.60");
    // Of another figure than the column's the row says which it is.
    assert!(column(table, "CPU")[2].ends_with(", delivered"), "{:?}", column(table, "CPU"));
    let cause = view.first.causes.iter().find(|c| c.check == "steal").unwrap();
    assert_eq!(cause.cost.as_deref(), Some("there, up to 75 % of the speed was not delivered"));
    assert_eq!(cause.advice, "ask for dedicated CPUs");
    let linpack = rows(&fixture::beside(), "cpu").pop().unwrap();
    assert_eq!(linpack.reference.as_deref(), Some("1.064 times hpl (1.053–1.077)"));
}

#[test]
fn no_tool_is_named_whose_result_is_not_valid() {
    let mut run = fixture::beside();
    let of = |run: &Run| rows(run, "cpu").pop().unwrap().reference;
    assert!(of(&run).is_some());
    each(&mut run, "cpu.linpack")
        .flat_map(|m| &mut m.references)
        .for_each(|r| r.verdict = Verdict::Invalid);
    assert_eq!(of(&run), None);
}

#[test]
fn memory_is_no_disk_and_loopback_no_network_on_the_first_line() {
    let mut run = fixture::published();
    let mut storage = fixture::disk().host.storage.get().unwrap().clone();
    (storage.kind, storage.devices) = (StorageKind::Memory, vec![]);
    run.host.storage = Probe::known(storage, "fixture");
    assert!(brief(&run, 80).contains("in memory, not on a disk"));
    for width in [40, 80, 120, 200] {
        let brief = brief(&fixture::loopback(), width).replace('\n', " ");
        assert!(brief.contains("loopback, which is not a network"), "{width}: {brief}");
    }
}

#[test]
fn the_end_of_a_run_fits_on_a_screen() {
    let mut run = fixture::published();
    run.measurements.retain(|m| m.series.is_none());
    let brief = brief(&run, 80);
    assert!(brief.lines().count() <= 40, "{}\n{brief}", brief.lines().count());
    for line in brief.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for (title, end) in [("FP peak, 4 CPUs", "✓ valid"), ("TCP, 4 streams", "✓ valid")] {
        let line = brief.lines().find(|l| l.starts_with(title));
        assert!(line.is_some_and(|l| l.ends_with(end)), "{title}: {brief}");
    }
}

#[test]
fn a_summary_has_ten_lines_at_most_beyond_its_causes() {
    let run = fixture::published();
    let text = find("summary").unwrap().render(&run, &Options::default()).unwrap();
    let causes = first(&run).causes.len();
    assert!(text.lines().count() <= 7 + causes, "{text}");
    for said in ["CPU: FP peak", "depth 32, 4 threads 88000 IOPS", "Profile"] {
        assert!(text.contains(said), "{said}: {text}");
    }
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
