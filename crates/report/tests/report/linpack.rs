//! What a report says of systems of equations, and of rates by the size of a problem.

use proofmark_model::{Measurement, Run, Verdict};
use proofmark_report::view::{LineChart, Spot, Table};
use proofmark_report::{Options, find};

use super::fixture;
use super::reading::{column, each, workload};
use super::rows::csv_rows;

const SOLVER: &str = "cpu.linpack";
const PRODUCT: &str = "cpu.dgemm";

/// The row of a point in the summary.
fn row<'a>(table: &'a Table, size: &str, threads: &str, isa: &str, title: &str) -> &'a str {
    let at = |title| column(table, title);
    let (sizes, all, isas) = (at("Size"), at("threads"), at("isa"));
    let found = (0..sizes.len()).find(|i| (sizes[*i], all[*i], isas[*i]) == (size, threads, isa));
    at(title)[found.unwrap()]
}

fn notes(table: &Table, at: usize) -> Vec<&str> {
    let cells = &table.rows[at].cells;
    cells.iter().filter_map(|c| c.note).map(|n| table.notes[n - 1].as_str()).collect()
}

#[test]
fn the_listing_is_as_published() {
    let view = workload(&fixture::one_solve(), SOLVER);
    let [listing] = &view.published[..] else { panic!("one listing") };
    let heads: Vec<&str> = listing.columns.iter().map(|c| c.title.as_str()).collect();
    let published =
        ["Size", "LDA", "Align", "Time", "GFLOP/s", "Residual", "Residual(norm)", "Check"];
    assert_eq!(heads, published);
    assert_eq!(listing.caption, "LINPACK: every solve (avx2+fma, 2 threads in every row)");
    let first: Vec<&str> = listing.rows[0].cells.iter().map(|c| c.text.as_str()).collect();
    let found = ["7.96583", "83.72", "8.731117e-12", "3.010730e-02", "pass"];
    assert_eq!(
        first,
        ["10\u{202f}000", "10\u{202f}008", "64"].iter().chain(&found).copied().collect::<Vec<_>>()
    );
    assert_eq!(listing.rows.len(), 6, "a row a trial");
}

#[test]
fn the_listing_is_by_size_and_then_by_trial() {
    let run = fixture::linpack();
    let view = workload(&run, SOLVER);
    let listing = &view.published[0];
    let sizes: Vec<u64> = column(listing, "Size")
        .iter()
        .map(|s| s.replace('\u{202f}', "").parse().unwrap())
        .collect();
    assert!(sizes.is_sorted(), "{sizes:?}");
    assert_eq!(column(listing, "threads")[..7], ["1", "1", "1", "1", "1", "1", "2"]);
    assert_eq!(column(listing, "Residual(norm)")[..2], ["3.010730e-02", "2.634389e-02"]);
    let trials: usize = each(&mut run.clone(), SOLVER).map(|m| m.trials.len().max(1)).sum();
    assert_eq!(listing.rows.len(), trials);
}

#[test]
fn a_failed_residual_fails_in_the_listing_the_summary_and_the_terminal() {
    let run = fixture::linpack();
    let view = workload(&run, SOLVER);
    let checks = column(&view.published[0], "Check");
    assert_eq!(checks.iter().filter(|c| **c == "FAIL").count(), 2);
    let summary = &view.solves.summary;
    let here = |title| row(summary, "2\u{202f}000", "1", "avx2+fma", title);
    assert_eq!((here("Check"), here("Residual(norm)")), ("FAIL", "4.000000e+07"));
    assert_eq!(row(summary, "2\u{202f}000", "2", "avx2+fma", "Check"), "pass");
    let fails = summary.rows.iter().position(|r| r.cells.iter().any(|c| c.text == "FAIL"));
    assert_eq!(notes(summary, fails.unwrap()), ["Residual(norm) is not below 16 in 2 of 6 trials"]);
    for format in ["html", "markdown", "terminal"] {
        let text = find(format).unwrap().render(&run, &Options::default()).unwrap();
        assert!(text.contains("FAIL") && text.contains("4.000000e+07"), "{format}");
    }
    // The worst of a point, and of points that fail only.
    let [worst] = &view.solves.brief[..] else { panic!("{:?}", view.solves.brief) };
    assert_eq!(column(worst, "Residual(norm)"), ["4.000000e+07"]);
    let mut fair = run;
    fair.measurements.retain(|m| m.verdict == Verdict::Valid);
    assert!(workload(&fair, SOLVER).solves.brief.iter().all(|t| !t.caption.contains("fail")));
}

#[test]
fn a_trial_without_a_solution_passes_nothing() {
    let run = fixture::linpack();
    let view = workload(&run, SOLVER);
    let summary = &view.solves.summary;
    assert_eq!(row(summary, "5\u{202f}000", "1", "avx2+fma", "Check"), "-");
    assert!(summary.notes.iter().any(|n| n == "the run file holds no solution of 1 of 6 trials"));
    assert_eq!(row(summary, "5\u{202f}000", "1", "avx2+fma", "LDA"), "5\u{202f}008");
    let listing = &view.published[0];
    let at = column(listing, "Check").iter().position(|c| *c == "-").unwrap();
    assert_eq!(column(listing, "Size")[at], "5\u{202f}000");
    assert_eq!(notes(listing, at), ["the run file holds no solution of this trial"; 5]);
    assert_eq!(column(listing, "Time")[at], "2.02639", "its time is known");
    // A point without trials has a row that says why.
    assert_eq!(row(summary, "20\u{202f}000", "1", "avx2+fma", "Average"), "-");
    assert!(summary.notes.iter().any(|n| n.starts_with("the matrix takes 3.0 GiB")));
}

#[test]
fn a_workload_without_solutions_keeps_the_table_of_trials() {
    let mut run = fixture::linpack();
    let view = workload(&run, PRODUCT);
    assert!(view.solves.summary.rows.is_empty() && view.solves.brief.is_empty());
    assert!(view.published[0].columns.iter().any(|c| c.title == "Exp 1"));
    for m in each(&mut run, SOLVER) {
        m.trials.iter_mut().for_each(|t| t.solution = None);
    }
    let view = workload(&run, SOLVER);
    assert!(view.solves.summary.rows.is_empty() && view.solves.left_out.is_empty());
    assert!(view.published[0].columns.iter().any(|c| c.title == "Exp 1"));
}

#[test]
fn the_summary_has_the_average_and_the_maximum() {
    let mut run = fixture::one_solve();
    let s = run.measurements[0].summary.as_mut().unwrap();
    (s.trials.mean, s.trials.max, s.trials.sd) = (80e9, 90e9, Some(1e9));
    let summary = workload(&run, SOLVER).solves.summary;
    let here = |title| column(&summary, title)[0];
    assert_eq!([here("Average"), here("Maximal"), here("Std Dev")], ["80.00", "90.00", "1.000"]);
    assert_eq!([here("LDA"), here("Align"), here("trials")], ["10\u{202f}008", "64", "6"]);
    assert_eq!((here("Residual(norm)"), here("Check")), ("3.010730e-02", "pass"));
    assert!(summary.columns.iter().all(|c| !["threads", "isa"].contains(&&*c.title)));
}

#[test]
fn a_terminal_lists_few_solves_and_sums_up_many() {
    let view = workload(&fixture::one_solve(), SOLVER);
    let captions: Vec<&str> = view.solves.brief.iter().map(|t| t.caption.as_str()).collect();
    assert!(captions[0].contains("average and maximum"), "{captions:?}");
    assert!(captions[1].contains("every solve") && captions.len() == 2, "{captions:?}");
    assert_eq!(view.solves.left_out, "");
    let mut run = fixture::linpack();
    let found = workload(&run, SOLVER).solves.left_out;
    let worst = "The largest Residual(norm) of 95 solves is 4.000000e+07. Other formats list all.";
    assert_eq!(found, worst, "17 points are too many");
    run.measurements.retain(|m| m.params.threads() == 2);
    let solves = workload(&run, SOLVER).solves;
    assert_eq!(solves.left_out, "Other formats list every solve.");
    assert_eq!(solves.brief.len(), 1, "only the summary: none fails");
    let options = Options { width: 80, color: false };
    let text = find("terminal").unwrap().render(&run, &options).unwrap();
    assert!(text.lines().count() < 90, "{} lines: {text}", text.lines().count());
    assert!(text.contains("\nResidual(norm): ") && !text.contains("\nResidual: "), "{text}");
    assert!(find("markdown").unwrap().render(&run, &options).unwrap().contains("*Residual*: "));
}

/// The sentences about saturation.
fn saturation(run: &Run, id: &str) -> Vec<String> {
    let all = workload(run, id).sentences;
    all.into_iter().filter(|s| s.contains("satur")).collect()
}

fn rate(run: &mut Run, id: &str, n: u64, rate: f64) {
    let of = |m: &&mut Measurement| m.params.int("n") == Some(n);
    let m = each(run, id).find(of).unwrap();
    let s = m.summary.as_mut().unwrap();
    proofmark_model::testing::restate(s, rate, s.ci95());
}

#[test]
fn it_saturates_at_the_smallest_size_with_95_percent_of_the_best_rate() {
    let mut run = fixture::linpack();
    run.measurements.retain(|m| m.params.text("isa") != Some("sse2") && m.params.threads() == 2);
    let at = |n: &str| {
        format!(
            "With 2 threads the rate saturates at n\u{a0}=\u{a0}{n} (95 % of the best). The best is 86.9 % \
             of its ceiling."
        )
    };
    assert_eq!(saturation(&run, SOLVER), [at("5\u{202f}000")]);
    let best = each(&mut run, SOLVER).last().unwrap().summary.as_ref().unwrap().value();
    rate(&mut run, SOLVER, 2000, 0.949 * best);
    assert_eq!(saturation(&run, SOLVER), [at("5\u{202f}000")]);
    rate(&mut run, SOLVER, 2000, 0.951 * best);
    assert_eq!(saturation(&run, SOLVER), [at("2\u{202f}000")]);
    // What is invalid shows nothing.
    let of = |m: &&mut Measurement| m.params.int("n") == Some(2000);
    each(&mut run, SOLVER).find(of).unwrap().verdict = Verdict::Invalid;
    assert_eq!(saturation(&run, SOLVER), [at("5\u{202f}000")]);
    rate(&mut run, SOLVER, 1000, best);
    assert_eq!(
        saturation(&run, SOLVER),
        [
            "With 2 threads the rate is saturated at the smallest n measured, 1\u{202f}000 (95 % of the \
             best). The best is 86.9 % of its ceiling."
        ]
    );
}

#[test]
fn at_the_largest_size_alone_nothing_shows_that_it_saturates() {
    let mut run = fixture::linpack();
    let open = "With 2 threads the rate may not have saturated yet: only the largest n, 4\u{202f}000, \
                reaches 95 % of the best. The best is 81.9 % of its ceiling.";
    assert_eq!(saturation(&run, PRODUCT), [open]);
    assert!(ringed(&workload(&run, PRODUCT).lines[0]).is_empty());
    for m in each(&mut run, PRODUCT) {
        m.ceiling = None;
    }
    let short = open.replace(" The best is 81.9 % of its ceiling.", "");
    assert_eq!(saturation(&run, PRODUCT), [short]);
    // One size shows nothing at all.
    assert!(saturation(&fixture::one_solve(), SOLVER).is_empty());
    assert!(saturation(&fixture::memory(), "memory.sweep").is_empty());
}

#[test]
fn series_beyond_the_cpus_and_beyond_a_few_are_not_told() {
    let mut run = fixture::linpack();
    assert_eq!(saturation(&run, SOLVER).len(), 3, "one a series");
    run.host.limits.usable_cpus.truncate(1);
    let found = saturation(&run, SOLVER);
    assert!(
        found.len() == 1 && found[0].starts_with("With avx2+fma, 1 thread the rate "),
        "{found:?}"
    );
    let mut run = fixture::linpack();
    let more: Vec<Measurement> = each(&mut run, SOLVER)
        .filter(|m| m.params.threads() == 1)
        .flat_map(|m| {
            [3, 4].map(|threads| Measurement {
                params: m.params.clone().with("threads", threads),
                ..m.clone()
            })
        })
        .collect();
    run.measurements.extend(more);
    let found = saturation(&run, SOLVER);
    assert!(found.len() <= 1, "of many series only that which answers: {found:?}");
}

/// Name of each line and the size at its ring.
fn ringed(chart: &LineChart) -> Vec<(&str, &str)> {
    let ring = |s: &&Spot| s.saturates;
    let rings = chart.series.iter().filter_map(|s| Some((s, s.spots.iter().find(ring)?)));
    rings.map(|(s, spot)| (s.name.as_str(), spot.x.as_str())).collect()
}

#[test]
fn the_rate_is_drawn_over_the_size_with_the_ceiling_as_a_line() {
    let run = fixture::linpack();
    let view = workload(&run, SOLVER);
    let [chart] = &view.lines[..] else { panic!("one chart") };
    assert_eq!(chart.title, "LINPACK: rate by n");
    assert_eq!(chart.axis, "n", "of a solver and of a product alike");
    let names: Vec<&str> = chart.series.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["avx2+fma, 2 threads", "avx2+fma, 1 thread", "sse2, 2 threads"]);
    let rings =
        [(names[0], "5\u{202f}000"), (names[1], "5\u{202f}000"), (names[2], "2\u{202f}000")];
    assert_eq!(ringed(chart), rings);
    assert!(chart.key.starts_with("Ring: the smallest n"), "{}", chart.key);
    assert!(
        chart.description.contains("82.13 at 5\u{202f}000 (saturates)"),
        "{}",
        chart.description
    );
    // At distances as the sizes have them, from zero.
    let ticks: Vec<&str> = chart.ticks.iter().map(|t| t.label.as_str()).collect();
    assert_eq!(ticks, ["0", "5\u{202f}000", "10\u{202f}000", "15\u{202f}000", "20\u{202f}000"]);
    let at: Vec<f64> = chart.series[0].spots.iter().map(|s| s.at).collect();
    let [one, two, five] = [at[0], at[1], at[2]];
    assert!((3.0 * (two - one) - (five - two)).abs() < 1e-9, "{at:?}");
    assert!(chart.joined && !workload(&fixture::run(), "cpu.flops").lines[0].joined);
    let product = workload(&run, PRODUCT);
    assert_eq!(product.lines[0].title, "Matrix product: rate by n");
    assert!(product.lines[0].key.is_empty(), "{}", product.lines[0].key);
    assert!(workload(&fixture::one_solve(), SOLVER).lines.is_empty(), "one size is no line");
}

#[test]
fn sizes_far_apart_are_on_a_logarithmic_axis() {
    let mut run = fixture::linpack();
    for m in each(&mut run, PRODUCT).filter(|m| m.params.int("n") == Some(1000)) {
        m.params = m.params.clone().with("n", 10);
    }
    let chart = &workload(&run, PRODUCT).lines[0];
    assert_eq!(chart.axis, "n, log");
    let ticks: Vec<&str> = chart.ticks.iter().map(|t| t.label.as_str()).collect();
    assert_eq!(ticks, ["10", "100", "1\u{202f}000"]);
    let at: Vec<f64> = chart.ticks.iter().map(|t| t.at).collect();
    assert!((at[2] - at[1] - (at[1] - at[0])).abs() < 1e-9);
}

#[test]
fn instruction_sets_are_compared_at_a_size_that_both_have() {
    let view = workload(&fixture::linpack(), SOLVER);
    let [bars] = &view.bars[..] else { panic!("{:?}", view.bars) };
    assert_eq!(bars.title, "LINPACK: rate by instruction set (2 threads, n 5\u{202f}000)");
    let names: Vec<&str> = bars.bars.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["sse2", "avx2+fma"]);
}

#[test]
fn trials_shorter_than_planned_are_not_called_longer() {
    let run = fixture::linpack();
    let design = workload(&run, SOLVER).design;
    assert!(design.starts_with("proofmark planned 6 to 12 trials per configuration"), "{design}");
    assert!(workload(&fixture::run(), "cpu.flops").design.contains("trials of at least 100.0 ms"));
}

#[test]
fn the_csv_has_each_residual() {
    let rows = csv_rows(&fixture::linpack());
    let of = |passes: &str| rows.iter().filter(|r| r["residual_passes"] == passes).count();
    assert_eq!((of("true"), of("false")), (93, 2));
    let worst = rows.iter().find(|r| r["normalised_residual"] == "40000000").unwrap();
    assert_eq!((&*worst["n"], &*worst["trial"], &*worst["residual"]), ("2000", "4", "0.000464"));
    assert_eq!((&*worst["leading_dimension"], &*worst["alignment_bytes"]), ("2008", "64"));
    let open = rows.iter().find(|r| r["workload"] == SOLVER && r["residual"].is_empty()).unwrap();
    assert_eq!((&*open["n"], &*open["residual_passes"]), ("5000", ""));
    assert!(rows.iter().any(|r| r["workload"] == PRODUCT && r["residual"].is_empty()));
}
