//! Tests of machines that do not have the same instruction sets.

use proofmark_model::{Subsystem, key};

use super::*;

const WIDE: [&str; 3] = ["avx2", "avx512f", "fma"];
const NARROW: [&str; 2] = ["avx2", "fma"];
const ARM: [&str; 2] = ["neon", "sve"];

/// A run of these instruction sets on a host whose CPU has these features.
fn on(features: &[&str], sets: &[(&str, f64)]) -> Run {
    let mut run = run(sets.iter().map(|(set, factor)| with_set(set, *factor)).collect());
    run.host.cpu.isa = Probe::known(features.iter().map(|f| (*f).to_owned()).collect(), "test");
    if features.contains(&"neon") {
        run.host.cpu.arch = "aarch64".to_owned();
    }
    run
}

/// `cpu.flops` on two threads with that instruction set, at that multiple of the usual rate.
fn with_set(isa: &str, factor: f64) -> Measurement {
    let mut m = scaled(flops(2), factor);
    m.params = m.params.with_named(key::ISA.name(), isa);
    m
}

#[test]
fn the_best_of_each_machines_instruction_sets_are_compared() {
    let wide = on(&WIDE, &[("scalar", 0.25), ("avx2", 1.0), ("avx512", 2.0)]);
    let narrow = on(&NARROW, &[("scalar", 0.25), ("avx2", 1.0)]);
    let arm = on(&ARM, &[("scalar", 0.25), ("neon", 0.5), ("sve", 1.0)]);
    let best = |a: &Run, b: &Run| {
        let c = compared(a, b);
        assert!(c.points.iter().all(|p| !p.reason.contains("only in") && !p.gone()), "{c:?}");
        assert!(c.sentence.contains("the instruction sets differ, so the best of each"), "{c:?}");
        let mut best = c.points.iter().filter_map(|p| Some((p, p.best_of_each.clone()?)));
        let (p, sets) = best.next().unwrap();
        assert!(best.next().is_none(), "{:?}", c.points);
        let set = format!("best instruction set of each: {} in A, {} in B", sets[0], sets[1]);
        assert!(p.reason.contains(&set), "{}", p.reason);
        assert!(p.reason.contains("the instruction sets differ;"), "{}", p.reason);
        assert!(!p.name.contains(&sets[0]), "{}", p.name);
        (sets, (100.0 * p.headline.as_ref().unwrap().value).round(), c.points.len())
    };
    let sets = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
    assert_eq!(best(&wide, &narrow), (sets("avx512", "avx2"), 50.0, 3));
    assert_eq!(best(&narrow, &wide), (sets("avx2", "avx512"), 200.0, 3));
    assert_eq!(best(&wide, &arm), (sets("avx512", "sve"), 50.0, 2));
    // The others are counted and named.
    let left_out = |a: &Run, b: &Run| compared(a, b).sentence.contains("left out since");
    let text = "; 2 results are left out since the other CPU lacks their instruction set (avx2 in \
                A, neon in B).";
    let c = compared(&wide, &arm);
    assert!(c.sentence.ends_with(text), "{}", c.sentence);
    assert!(!left_out(&wide, &narrow) && !left_out(&narrow, &wide));
    // Each run may have its best set alone.
    let best_alone = on(&WIDE, &[("avx512", 2.0)]);
    let narrow_alone = on(&NARROW, &[("avx2", 1.0)]);
    assert_eq!(best(&best_alone, &narrow_alone), (sets("avx512", "avx2"), 50.0, 1));
    assert_eq!(best(&narrow_alone, &best_alone), (sets("avx2", "avx512"), 200.0, 1));
    // Sets that both have are compared as before.
    assert!(compared(&wide, &wide).points.iter().all(|p| p.best_of_each.is_none()));
}

#[test]
fn a_set_that_the_cpu_has_is_missing_and_not_lacked() {
    let all = [("scalar", 0.25), ("avx2", 1.0), ("avx512", 2.0)];
    let whole = on(&WIDE, &all);
    // One host, planned or not: the results are gone, and no other set replaces them.
    for planned in [false, true] {
        let mut part = on(&WIDE, &all[1..2]);
        if planned {
            part.plan.points.extend(whole.measurements.iter().map(Measurement::point));
        }
        let c = compared(&whole, &part);
        assert!(c.decision() == Decision::Missed && c.points.len() == 3, "{c:?}");
        assert!(c.points[0].gone() && c.points[2].gone(), "{c:?}");
        assert!(c.points[2].reason.contains("only in A"), "{}", c.points[2].reason);
        let cpu = c.subsystems.iter().find(|s| s.subsystem == Subsystem::Cpu).unwrap();
        assert_eq!(cpu.gone, 2);
        for c in [c, compared(&part, &whole)] {
            assert!(c.points.iter().all(|p| p.best_of_each.is_none()), "{c:?}");
            assert!(!c.sentence.contains("instruction set"), "{}", c.sentence);
        }
        assert_eq!(compared(&part, &whole).decision(), Decision::Met);
    }
    let scalar = on(&WIDE, &all[..1]);
    let alike = "No difference between A and B is shown in CPU.";
    assert_eq!(compared(&scalar, &whole).sentence, alike);
    // A CPU that lacks one set may have lost the result of another.
    let c = compared(&whole, &on(&NARROW, &all[1..2]));
    let gone: Vec<_> = c.points.iter().filter(|p| p.gone()).map(|p| p.name.as_str()).collect();
    assert_eq!(gone, ["2 CPUs, scalar"]);
    assert!(c.points.iter().any(|p| p.best_of_each.is_some()));
    // Its best set is unknown if it did not measure a faster one.
    let c = compared(&whole, &on(&NARROW, &all[..1]));
    assert!(
        c.decision() == Decision::Missed && c.points.iter().all(|p| p.best_of_each.is_none()),
        "{c:?}"
    );
    assert_eq!(c.points.iter().filter(|p| p.gone()).count(), 2);
}

#[test]
fn the_best_of_each_takes_no_row_from_a_pair_of_one_set() {
    // Enough results for declared rows.
    let with_rows = |host: &[&str], sets: &[(&str, f64)]| {
        let mut run = on(host, sets);
        run.measurements.extend((0..20).map(|i| sweep("read", 1, 4096 << i)));
        run
    };
    let wide = with_rows(&WIDE, &[("avx2", 1.0), ("avx512", 2.0)]);
    let narrow = with_rows(&NARROW, &[("avx2", 1.0)]);
    let rows = |a: &Run, b: &Run| -> Vec<bool> {
        let c = compared(a, b);
        let flops = c.points.iter().filter(|p| p.workload == "cpu.flops" && p.is_main());
        flops.map(|p| p.best_of_each.is_some()).collect()
    };
    assert_eq!(rows(&narrow, &wide), [false]);
    assert_eq!(rows(&wide, &narrow), [true], "the row of a set that B lacks");
    assert_eq!(rows(&wide, &wide), [false]);
}
