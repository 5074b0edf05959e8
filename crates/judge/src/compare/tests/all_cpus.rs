//! Tests of machines that do not have as many CPUs.

use proofmark_model::{Point, key};

use super::prices::with_prices;
use super::*;

/// A run on a machine with so many CPUs: these results, at `factor` times the usual rate per thread.
fn on(cpus: u32, mut all: Vec<Measurement>) -> Run {
    let used = |m: &Measurement| m.params.threads().clamp(1, 2) as f64;
    for m in &mut all {
        let per_thread = m.params.threads() as f64 / used(m);
        *m = scaled(m.clone(), per_thread);
    }
    let mut run = alone(run(all));
    run.host.limits.usable_cpus = (0..cpus).collect();
    run
}

/// What a profile with one thread and all CPUs measures.
fn usual(cpus: u64) -> Vec<Measurement> {
    let mut all = vec![flops(1), stream("triad", cpus), linpack(500, cpus)];
    all.extend((cpus > 1).then(|| flops(cpus)));
    all
}

fn faster(run: Run, factor: f64) -> Run {
    with(run, |_, m| scaled(m, factor))
}

fn pairs_on_all(c: &Comparison) -> Vec<(&str, &str, f64)> {
    let all = c.points.iter().filter(|p| p.all_cpus.is_some());
    all.map(|p| {
        let value = p.headline.as_ref().map_or(f64::NAN, |h| h.value);
        (p.workload.as_str(), p.name.as_str(), (100.0 * value).round() / 100.0)
    })
    .collect()
}

#[test]
fn all_cpus_of_each_machine_are_compared() {
    let (a, b) = (on(2, usual(2)), faster(on(1, usual(1)), 0.8));
    let c = compared(&a, &b);
    assert!(c.points.iter().all(|p| !p.gone() && p.a.is_some()), "{:?}", c.points);
    assert_eq!(
        pairs_on_all(&c),
        [
            ("memory.triad", "all CPUs", 0.4),
            ("cpu.linpack", "all CPUs, n 500", 0.4),
            ("cpu.flops", "all CPUs", 0.4)
        ]
    );
    let flops: Vec<_> = c.points.iter().filter(|p| p.workload == "cpu.flops").collect();
    assert_eq!((flops.len(), flops[0].name.as_str(), flops[0].all_cpus), (2, "1 CPU", None));
    assert!((flops[0].headline.as_ref().unwrap().value - 0.8).abs() < 1e-3, "{flops:?}");
    assert_eq!(flops[1].all_cpus, Some([2, 1]));
    let reason = "the CPU counts differ; all CPUs of each: 2 in A, 1 in B";
    assert_eq!(flops[1].reason, reason);
    assert_eq!(
        c.sentence,
        "B delivers 0.40 of A's CPU and 0.40 of A's memory; the CPU counts differ (2 in A, 1 in B), \
         so the results on all CPUs of each are compared."
    );
    // The other way round, and to more CPUs.
    let c = compared(&b, &a);
    assert!(c.points.iter().all(|p| !p.gone()), "{:?}", c.points);
    assert_eq!(pairs_on_all(&c).iter().map(|p| p.2).collect::<Vec<_>>(), [2.5; 3]);
    assert!(c.sentence.starts_with("B delivers 2.5 of A's CPU and 2.5 of A's memory;"), "{c:?}");
    let c = compared(&a, &on(4, usual(4)));
    assert!(c.points.iter().all(|p| !p.gone() && p.a.is_some()), "{:?}", c.points);
    assert_eq!(pairs_on_all(&c).iter().map(|p| p.2).collect::<Vec<_>>(), [2.0; 3]);
    assert_eq!(c.decision(), Decision::Met);
    // As many CPUs are compared as before.
    assert_eq!(pairs_on_all(&compared(&a, &a)), []);
}

#[test]
fn a_price_buys_all_cpus() {
    let (a, b) = (on(2, usual(2)), faster(on(1, usual(1)), 0.8));
    let c = with_prices(&a, &b, [0.2, 0.08]);
    assert!(
        c.sentence.contains(
            "per unit of money, of the same results, B shows no difference in CPU and memory"
        ),
        "{}",
        c.sentence
    );
    let c = with_prices(&a, &b, [0.2, 0.125]);
    let says = "per unit of money, of the same results, B delivers 0.64 of A's CPU and 0.64 of A's memory;";
    assert!(c.sentence.contains(says), "{}", c.sentence);
    let priced: Vec<_> = c.points.iter().map(|p| p.per_price.is_some()).collect();
    assert_eq!(priced, [false, true, true, true], "one thread of two CPUs buys nothing");
    let flops = c.points[3].per_price.as_ref().unwrap();
    let b_value = c.points[3].b.as_ref().unwrap().summary.value();
    assert!((flops.compared.value - 0.64).abs() < 1e-3 && (flops.b - b_value / 0.125).abs() < 1.0);
    // A device is no CPU.
    let disk = |cpus| on(cpus, vec![rand_read(1)]);
    assert!(with_prices(&disk(2), &disk(1), [0.2, 0.1]).points[0].per_price.is_some());
    // As many CPUs: any number of threads.
    let c = with_prices(&a, &a, [0.2, 0.1]);
    assert!(c.points.iter().all(|p| p.per_price.is_some()));
}

#[test]
fn a_check_of_fewer_cpus_is_slower_and_not_gone() {
    let (a, b) = (on(2, usual(2)), on(1, usual(1)));
    let c = compared(&a, &b);
    let fails: Vec<_> = c.points.iter().filter(|p| p.fails()).collect();
    assert_eq!((c.decision(), fails.len()), (Decision::Missed, 3));
    assert!(fails.iter().all(|p| p.change() == Slower && !p.gone()));
    // Twice as fast CPUs do as much with half of them; a slower one of the results fails.
    let fast = faster(on(1, usual(1)), 2.0);
    assert_eq!(compared(&a, &fast).decision(), Decision::Met);
    let one_slow = with(fast, |_, m| if m.workload == "cpu.linpack" { scaled(m, 0.7) } else { m });
    let c = compared(&a, &one_slow);
    let fails: Vec<_> = c.points.iter().filter(|p| p.fails()).map(|p| &*p.workload).collect();
    assert_eq!((c.decision(), fails), (Decision::Missed, vec!["cpu.linpack"]));
    // What B did not measure at all, or what crashed, is gone.
    let none = on(1, usual(1).into_iter().filter(|m| m.workload != "cpu.linpack").collect());
    let crash = with(on(1, usual(1)), |_, m| match m.workload.as_str() {
        "cpu.linpack" => Measurement { trials: Vec::new(), summary: None, ..m },
        _ => m,
    });
    for b in [none, crash] {
        let c = compared(&a, &b);
        let gone: Vec<_> = c.points.iter().filter(|p| p.gone()).map(|p| &*p.workload).collect();
        assert_eq!(gone, ["cpu.linpack"]);
    }
}

#[test]
fn what_a_plan_left_out_on_all_of_its_cpus_is_not_gone() {
    let few = |cpus| on(cpus, vec![flops(cpus.into())]);
    let mut b = few(1);
    b.plan.policy.budget_s = Some(45.0);
    let point = |threads| Point { params: linpack(500, threads).params, ..linpack(500, 1).point() };
    let mut a = few(2);
    a.measurements.push(linpack(500, 2));
    assert!(compared(&a, &b).points[1].gone());
    b.plan.left_out.push(point(1));
    let c = compared(&a, &b);
    assert!(c.points[1].is_left_out() && !c.points[1].gone(), "{:?}", c.points[1]);
}

#[test]
fn counts_and_instruction_sets_may_differ_at_once() {
    let with_sets = |cpus: u32, sets: &[&str]| {
        let of = |threads: u64, set: &str| {
            let factor = if set == "avx512" { 2.0 } else { 1.0 };
            let mut m = scaled(flops(threads), factor);
            m.params = m.params.with_named(key::ISA.name(), set);
            m
        };
        let threads = [1, cpus.into()].into_iter().take(cpus.min(2) as usize);
        let all = threads.flat_map(|n| sets.iter().map(move |set| of(n, set))).collect();
        let mut run = on(cpus, all);
        let flags = sets.iter().map(|set| if *set == "avx512" { "avx512f" } else { set });
        run.host.cpu.isa = Probe::known(flags.chain(["fma"]).map(str::to_owned).collect(), "test");
        run
    };
    let (wide, narrow) = (with_sets(2, &["avx2", "avx512"]), with_sets(1, &["avx2"]));
    let c = compared(&wide, &narrow);
    assert!(c.points.iter().all(|p| !p.gone() && p.a.is_some() && p.b.is_some()), "{c:?}");
    let best: Vec<_> = c.points.iter().filter(|p| p.best_of_each.is_some()).collect();
    let value = |p: &ComparedPoint| (100.0 * p.headline.as_ref().unwrap().value).round();
    assert_eq!(
        best.iter().map(|p| (p.all_cpus, value(p))).collect::<Vec<_>>(),
        [(None, 50.0), (Some([2, 1]), 25.0)]
    );
    assert_eq!(best[1].name, "all CPUs");
    let reason = "the CPU counts differ; the instruction sets differ; best instruction set of each: \
                  avx512 in A, avx2 in B; all CPUs of each: 2 in A, 1 in B";
    assert_eq!(best[1].reason, reason);
    assert_eq!(pairs_on_all(&c).len(), 2, "that of avx2, and the best of each");
    let c = compared(&narrow, &wide);
    assert!(c.points.iter().all(|p| !p.gone() && p.a.is_some()), "{:?}", c.points);
    assert_eq!(pairs_on_all(&c).iter().map(|p| p.2).collect::<Vec<_>>(), [4.0, 2.0]);
}

#[test]
fn rows_of_the_first_screen_are_those_of_all_cpus() {
    let rows_of = |cpus: u64| {
        let mut all = usual(cpus);
        all.extend((0..20).map(|i| sweep("read", 1, 4096 << i)));
        on(cpus as u32, all)
    };
    let titles = |a: u64, b: u64| -> Vec<String> {
        let c = compared(&rows_of(a), &rows_of(b));
        let mut rows: Vec<_> = c.points.iter().filter(|p| p.is_main()).collect();
        rows.sort_by_key(|p| p.main_row);
        rows.iter().map(|p| p.title.clone()).filter(|t| !t.contains("read")).collect()
    };
    let [both, all] = ["FP peak, 1 CPU", "FP peak, all CPUs"];
    for [a, b] in [[2, 1], [1, 2], [2, 4]] {
        let found = titles(a, b);
        assert_eq!(found[..2], [both, all], "{found:?}");
        assert!(found.iter().filter(|t| t.contains("CPU")).skip(1).all(|t| t.contains("all CPUs")));
        assert!(found.len() >= 4, "LINPACK and memory: {found:?}");
    }
    assert_eq!(titles(2, 2)[1], "FP peak, 2 CPUs");
}

#[test]
fn threads_of_a_device_match_where_they_have_no_counterpart() {
    let threads = |cpus: u32, all: &[u64]| {
        let each = all.iter().map(|n| with_param(rand_read(1), "threads", *n));
        let mut run = run(each.collect());
        run.host.limits.usable_cpus = (0..cpus).collect();
        run
    };
    let c = compared(&threads(2, &[1, 2]), &threads(1, &[1]));
    assert_eq!(c.points.iter().filter(|p| p.all_cpus.is_some()).count(), 1);
    assert!(c.points[1].name.contains("1 thread per CPU"), "{}", c.points[1].name);
    assert!(c.points.iter().all(|p| !p.gone()));
    let c = compared(&threads(4, &[1, 4]), &threads(1, &[1, 4]));
    assert!(c.points.iter().all(|p| p.all_cpus.is_none()), "{:?}", c.points);
}
