//! The report on systems of equations of unusual runs.

use proofmark_model::{Measurement, Run, Verdict, key, testing};

use super::dump::Dump;
use super::fixture;
use super::reading::each;

const SOLVER: &str = "cpu.linpack";

fn of_size(run: &mut Run, n: u64) -> &mut Measurement {
    each(run, SOLVER).find(|m| m.params.get(key::MATRIX_SIZE) == Some(n)).unwrap()
}

fn rate(run: &mut Run, n: u64, rate: f64) {
    let s = of_size(run, n).summary.as_mut().unwrap();
    testing::restate(s, rate, s.ci95());
}

#[test]
fn solves() {
    let mut out = Dump::default();
    let brief = ["cpu.linpack solves", "cpu.linpack solves-in-brief", "cpu.linpack left-out"];
    let mut run = fixture::linpack();
    run.measurements.retain(|m| m.verdict == Verdict::Valid);
    out.says("none fails", &run, &brief);
    run.measurements.retain(|m| m.params.threads() == 2);
    out.says("2 threads", &run, &brief);
    each(&mut run, SOLVER).flat_map(|m| &mut m.trials).for_each(|t| t.solution = None);
    out.says("no solution", &run, &["cpu.linpack solves", "cpu.linpack published/0"]);
    let mut run = fixture::one_solve();
    let s = run.measurements[0].summary.as_mut().unwrap();
    (s.trials.mean, s.trials.max, s.trials.sd) = (80e9, 90e9, Some(1e9));
    out.says("mean, maximum and deviation", &run, &["cpu.linpack solves"]);
    run.measurements[0].trials[0].seconds = 2.5e-7;
    out.says("a solve of less than a millisecond", &run, &brief);
    insta::assert_snapshot!(out.text);
}

/// The rate saturates at the smallest size with 95 % of the best one.
#[test]
fn saturation() {
    let mut out = Dump::default();
    let said = ["cpu.linpack sentences"];
    let mut run = fixture::linpack();
    run.measurements.retain(|m| m.params.get(key::ISA) != Some("sse2") && m.params.threads() == 2);
    out.says("at 5000", &run, &said);
    let best = each(&mut run, SOLVER).last().unwrap().summary.as_ref().unwrap().value();
    rate(&mut run, 2000, 0.949 * best);
    out.says("2000 has 94.9 %", &run, &said);
    rate(&mut run, 2000, 0.951 * best);
    out.says("2000 has 95.1 %", &run, &said);
    of_size(&mut run, 2000).verdict = Verdict::Invalid;
    out.says("2000 is invalid", &run, &said);
    rate(&mut run, 1000, best);
    out.says("the smallest is as fast as the best", &run, &said);
    let mut run = fixture::linpack();
    each(&mut run, "cpu.dgemm").for_each(|m| m.ceiling = None);
    out.says("no ceiling", &run, &["cpu.dgemm sentences"]);
    run.host.limits.usable_cpus.truncate(1);
    out.says("1 CPU", &run, &said);
    let mut run = fixture::linpack();
    let one: Vec<Measurement> =
        each(&mut run, SOLVER).filter(|m| m.params.threads() == 1).map(|m| m.clone()).collect();
    for (threads, m) in [3, 4].into_iter().flat_map(|threads| one.iter().map(move |m| (threads, m)))
    {
        let params = m.params.clone().with(key::THREADS, threads);
        run.measurements.push(Measurement { params, ..m.clone() });
    }
    out.says("many series", &run, &said);
    insta::assert_snapshot!(out.text);
}

#[test]
fn sizes_far_apart_are_on_a_logarithmic_axis() {
    let mut run = fixture::linpack();
    each(&mut run, "cpu.dgemm")
        .filter(|m| m.params.get(key::MATRIX_SIZE) == Some(1000))
        .for_each(|m| m.params = m.params.clone().with(key::MATRIX_SIZE, 10));
    let mut out = Dump::default();
    out.says("10 to 4000", &run, &["cpu.dgemm charts/0"]);
    insta::assert_snapshot!(out.text);
}

/// One size alone is named unless it is the default: another n is another measurement.
#[test]
fn a_size_that_is_not_the_default_is_in_the_name() {
    let named = |n: u64| {
        let mut run = fixture::one_solve();
        let m = &mut run.measurements[0];
        m.params = m.params.clone().with(key::MATRIX_SIZE, n);
        super::reading::render("summary", &run).replace('\u{202f}', " ")
    };
    assert!(named(2000).contains("- LINPACK, 2 CPUs, n 2 000: "), "{}", named(2000));
    assert!(named(5000).contains("- LINPACK, 2 CPUs: "), "{}", named(5000));
}
