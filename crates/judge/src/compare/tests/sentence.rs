//! Tests of the sentence, of prices, of letters and of the best instruction sets.

use proofmark_model::{Price, Subsystem, key};

use super::*;

/// The sentence about results of A and of B.
fn sentence(a: Vec<Measurement>, b: Vec<Measurement>) -> String {
    compared(&run(a), &run(b)).sentence
}

/// CPU, memory, disk and network results at `factors` times their usual speeds.
fn machine(factors: [f64; 5]) -> Vec<Measurement> {
    let all = [flops(1), iops(1), stream("triad", 1), rand_read(1), tcp(1, "loopback")];
    all.into_iter().zip(factors).map(|(m, factor)| scaled(m, factor)).collect()
}

#[test]
fn the_sentence_has_a_range_for_each_subsystem() {
    let a = || machine([1.0; 5]);
    assert_eq!(
        sentence(a(), machine([0.581, 0.619, 1.0, 0.5, 1.0])),
        "B delivers 0.58 to 0.62 of A's CPU and 0.50 of A's disk; no difference shown in memory and \
         network."
    );
    assert_eq!(
        sentence(a(), a()),
        "No difference between A and B is shown in CPU, memory, disk and network."
    );
    // A result that does not differ belongs to the range; 1.0 is none of A's faster CPU.
    let text = sentence(a(), machine([3.0, 1.0, 1.0, 1.0, 1.0]));
    assert!(text.starts_with("B delivers 1.00 to 3.0 of A's CPU; "), "{text}");
    // A time has the figure of its row: half the latency is no rate of 2.
    let time = |s: f64| vec![latency(1 << 20, s)];
    assert_eq!(sentence(time(5e-9), time(2.5e-9)), "B takes 0.50 of A's time in memory.");
    let with_time = |factor: f64, s: f64| [machine([factor; 5]), time(s)].concat();
    let text = sentence(with_time(1.0, 5e-9), with_time(0.5, 15e-9));
    let parts = "B delivers 0.50 of A's CPU, 0.50 of A's memory (1 of 2 results), 0.50 of A's disk \
                 and 0.50 of A's network, and takes 3.0 of A's time in memory (1 of 2 results).";
    assert_eq!(text, parts);
    assert_eq!(sentence(vec![], vec![]), "A and B have no result in common.");
    assert_eq!(sentence(vec![], a()), "A and B have no result in common.");
}

#[test]
fn what_does_not_count_is_left_out_and_counted() {
    let a = || machine([1.0; 5]);
    let mut b = machine([0.5; 5]);
    b[1] = suspect(b[1].clone(), "steal", 0.5);
    b[2] = found(b[2].clone(), "page_cache", Severity::Invalid, 0.9);
    (b[3].trials, b[3].summary) = (Vec::new(), None);
    assert_eq!(
        sentence(a(), b.clone()),
        "B delivers 0.50 of A's CPU (1 of 2 results) and 0.50 of A's network; no result counts \
         in memory and disk; 3 of 5 results are left out: 1 suspect, 1 invalid and 1 missing."
    );
    // It counts on either side, and once.
    let mut a = a();
    a[0] = suspect(a[0].clone(), "steal", 0.5);
    a[1] = suspect(a[1].clone(), "steal", 0.5);
    a.truncate(2);
    // What they show is said: the tables count them as slower.
    let text = "No result counts in CPU (1 suspect result is slower); 2 of 2 results are left out: \
                2 suspect.";
    assert_eq!(sentence(a, b), text);
}

/// Trials from 0.7 to 1.3 times `factor`, in another order: the interval of a ratio is wide.
fn uneven(factor: f64, from: usize) -> Measurement {
    let mut m = at(factor);
    let n = m.trials.len();
    for (i, t) in m.trials.iter_mut().enumerate() {
        t.value *= 0.7 + 0.6 * ((i + from) % n) as f64 / n as f64;
    }
    m
}

#[test]
fn an_interval_that_reaches_beyond_the_margin_decides_nothing() {
    let (a, b) = (uneven(1.0, 0), uneven(0.9, 3));
    let p = one(a.clone(), b.clone());
    assert_eq!(p.outcome(), NoDifferenceShown, "{p:?}");
    assert!(!p.headline.unwrap().is_within_margin());
    // In the words of the counts: it is not undecided.
    let text = "No difference between A and B is shown in CPU, but one is possible.";
    assert_eq!(sentence(vec![a], vec![b]), text);
    // Within the margin it decides.
    let p = one(at(1.0), at(0.97));
    assert!(p.headline.unwrap().is_within_margin());
}

/// Trials from 0.7 to 1.3 times `factor`: their interval is wide, and the half-widths of both are
/// the largest margin.
fn wide(m: Measurement, factor: f64) -> Measurement {
    let mut m = scaled(m, factor);
    let n = m.trials.len();
    for (i, t) in m.trials.iter_mut().enumerate() {
        t.value *= 0.7 + 0.6 * i as f64 / n as f64;
    }
    let s = m.summary.as_mut().unwrap();
    let value = s.value();
    proofmark_model::testing::restate(s, value, Some([0.7 * value, 1.3 * value]));
    m
}

#[test]
fn a_result_that_is_lower_in_all_of_its_interval_is_perhaps_slower() {
    let (a, b) = (wide(flops(1), 1.0), wide(flops(1), 0.62));
    let p = one(a.clone(), b.clone());
    let figure = p.headline.as_ref().unwrap();
    assert_eq!((p.outcome(), figure.is_within_margin()), (NoDifferenceShown, false), "{p:?}");
    let [low, high] = figure.ratio.ci95.unwrap();
    assert!(low < 1.0 - figure.margin && high < 1.0, "{figure:?}");
    assert_eq!(figure.leans(), Some(std::cmp::Ordering::Less));
    let why = "the whole interval is below 1, but not beyond the margin of 33.3 %: a difference is \
               possible";
    assert_eq!(p.reason, why);
    let both = |m: &Measurement| vec![m.clone(), iops(1)];
    let text = "B is perhaps slower than A in CPU.";
    assert_eq!(sentence(vec![a.clone()], vec![b.clone()]), text);
    let text = "No difference between A and B is shown in CPU (1 of 2 results); perhaps slower in CPU \
                (1 of 2 results).";
    assert_eq!(sentence(both(&a), both(&b)), text);
    let text = "B is perhaps faster than A in CPU.";
    assert_eq!(sentence(vec![b], vec![a]), text);
    // Of a time, more is worse.
    let time = |factor| wide(latency(1 << 20, 5e-9), factor);
    let text = sentence(vec![time(1.0)], vec![time(1.6)]);
    assert_eq!(text, "B is perhaps slower than A in memory.");
}

#[test]
fn a_reason_says_where_the_interval_is() {
    let why = |low: f64, high: f64| proofmark_model::why_none_shown([low, high], 0.2);
    for (low, high, words) in [
        (0.9, 1.1, "the interval contains 1 and is within the margin of 20.0 %"),
        (0.7, 1.1, "the interval contains 1 and reaches beyond the margin"),
        (0.9, 1.3, "the interval contains 1 and reaches beyond the margin"),
        (0.85, 0.95, "the whole interval is below 1, but within the margin"),
        (1.02, 1.2, "the whole interval is above 1, but within the margin"),
        // Its middle is within the margin, its end is not.
        (1.14, 1.38, "the whole interval is above 1, but not beyond the margin"),
        (0.6, 0.95, "the whole interval is below 1, but not beyond the margin"),
    ] {
        let text = why(low, high);
        assert!(text.starts_with(words), "{low} {high}: {text}");
    }
}

#[test]
fn a_price_decides_what_the_figures_leave_open() {
    // Without its price B is not shown to differ; for a third of the money it does.
    let (a, b) = (run(vec![wide(flops(1), 1.0)]), run(vec![wide(flops(1), 0.8)]));
    assert_eq!(compared(&a, &b).points[0].outcome(), NoDifferenceShown);
    let c = with_prices(&a, &b, [0.3, 0.1]);
    let money = c.points[0].per_price.as_ref().unwrap();
    assert_eq!((money.outcome, money.is_decided()), (Faster, true), "{money:?}");
    assert!(c.sentence.ends_with("per unit of money B delivers 2.4 of A's CPU."), "{}", c.sentence);
    // What is slower may be alike for its price.
    let c = with_prices(&run(vec![at(1.0)]), &run(vec![at(0.5)]), [0.2, 0.1]);
    let money = c.points[0].per_price.as_ref().unwrap();
    assert_eq!((c.points[0].outcome(), money.outcome), (Slower, NoDifferenceShown));
    assert!(
        c.sentence.ends_with("per unit of money B delivers 1.00 of A's CPU."),
        "{}",
        c.sentence
    );
    // Where the price decides nothing either, it says so.
    let (a, b) = (run(vec![uneven(1.0, 0)]), run(vec![uneven(0.9, 3)]));
    let c = with_prices(&a, &b, [0.1, 0.1]);
    assert!(c.sentence.ends_with("nothing is decided per unit of money."), "{}", c.sentence);
}

#[test]
fn the_speed_of_a_subsystem_has_both_figures() {
    let all = |share| (0..2).map(|_| undisturbed(1.0, [share; 2])).collect::<Vec<_>>();
    let of = |a: Vec<Measurement>, b: Vec<Measurement>| {
        let cpu = compared(&run(a), &run(b)).subsystems[0].clone();
        let rounded = |r: Option<proofmark_model::Ratio>| r.map(|r| (100.0 * r.median).round());
        (rounded(cpu.speed), rounded(cpu.delivered_speed))
    };
    assert_eq!(of(all(1.0), all(0.65)), (Some(100.0), Some(65.0)));
    assert_eq!(of(vec![flops(1)], vec![flops(1)]), (Some(100.0), None));
}

/// `cpu.flops` at that multiple of the usual rate, of which even and odd trials delivered these
/// shares.
fn undisturbed(factor: f64, shares: [f64; 2]) -> Measurement {
    let mut m = scaled(flops(1), factor);
    for (i, t) in m.trials.iter_mut().enumerate() {
        t.rounds = vec![Round {
            seconds: t.seconds,
            delivered: shares[i % 2] * t.value,
            typical: Some(t.value),
            attainable: Some(t.value),
            clean_s: 0.05,
            ..Round::default()
        }];
    }
    m.summary =
        proofmark_model::summarise_trials(proofmark_model::Cut::Core, m.unit, &m.trials, false);
    m
}

#[test]
fn a_machine_that_differs_undisturbed_is_called_so() {
    // The attainable figure differs by a tenth, and so much was taken from both that delivered
    // shows nothing.
    let taken = |factor: f64| undisturbed(factor, [0.95, 0.3]);
    let text = sentence(vec![taken(1.0)], vec![taken(0.8)]);
    assert_eq!(text, "B reaches 0.80 of A's undisturbed CPU.");
    // Of several results only that one is undisturbed.
    let text = sentence(vec![taken(1.0), iops(1)], vec![taken(0.8), scaled(iops(1), 0.5)]);
    let parts = "B delivers 0.50 of A's CPU (1 of 2 results), and reaches 0.80 of A's undisturbed CPU \
                 (1 of 2 results).";
    assert_eq!(text, parts);
    let unusable = suspect(iops(2), "steal", 0.5);
    let a = vec![taken(1.0), iops(1), unusable.clone()];
    let text = sentence(a, vec![taken(0.8), scaled(iops(1), 0.5), unusable]);
    let parts = "B delivers 0.50 of A's CPU (1 of 3 results), and reaches 0.80 of A's undisturbed CPU \
                 (1 of 3 results); ";
    assert!(text.starts_with(parts), "{text}");
}

fn price(per_hour: f64) -> Price {
    Price { per_hour, currency: "$".to_owned() }
}

fn with_prices(a: &Run, b: &Run, prices: [f64; 2]) -> Comparison {
    let [of_a, of_b] = prices.map(price);
    compare(
        Named { price: Some(&of_a), ..Named::new('A', "a", a) },
        Named { price: Some(&of_b), ..Named::new('B', "b", b) },
        Options::default(),
    )
}

#[test]
fn prices_give_figures_per_unit_of_money_of_rates_alone() {
    let mut a = machine([1.0; 5]);
    let mut b = machine([0.5, 0.5, 1.0, 0.5, 1.0]);
    a.push(latency(1 << 20, 5e-9));
    b.push(latency(1 << 20, 10e-9));
    let (a, b) = (run(a), run(b));
    let c = with_prices(&a, &b, [0.4, 0.1]);
    let flops = c.points[0].per_price.as_ref().unwrap();
    let value = |n: &Option<Number>| n.as_ref().unwrap().summary.value();
    assert!((flops.a - value(&c.points[0].a) / 0.4).abs() < 1.0, "{flops:?}");
    assert!((flops.b - value(&c.points[0].b) / 0.1).abs() < 1.0, "{flops:?}");
    assert!((flops.value - 2.0).abs() < 1e-6, "half the speed for a quarter of the money");
    let [low, high] = flops.ci95.unwrap();
    assert!(low <= 2.0 && 2.0 <= high, "{flops:?}");
    let time = c.points.iter().find(|p| p.workload == "memory.latency").unwrap();
    assert_eq!((time.better, &time.per_price), (Better::Lower, &None));
    assert!(
        c.sentence.contains(
            "; per unit of money B delivers 2.0 of A's CPU, 4.0 of A's memory, 2.0 of A's disk and \
             4.0 of A's network"
        ),
        "{}",
        c.sentence
    );
    assert_eq!(c.b.price, Some(price(0.1)));
    let without = compared(&a, &b);
    assert!(without.points.iter().all(|p| p.per_price.is_none()));
    assert!(!without.sentence.contains("money"));
    let nothing = with_prices(&run(vec![]), &b, [0.4, 0.1]).sentence;
    assert!(!nothing.contains("money"), "{nothing}");
}

#[test]
fn each_text_names_the_run_by_its_letter() {
    let throttled = with(healthy(), |_, m| suspect(scaled(m, 0.5), "throttled", 0.5));
    let mut other = throttled;
    other.measurements.push(stream("copy", 4));
    other.measurements[2] = found(iops(1), "page_cache", Severity::Invalid, 0.9);
    other.measurements[3].trials.truncate(1);
    other.measurements[7] = with_param(stream("triad", 2), "array_size", 1 << 31);
    other.host.os.kernel = Probe::known("Linux 7.1".into(), "uname");
    let a = with(healthy(), |i, m| match i {
        7 => with_param(m, "array_size", 1 << 30),
        _ => m,
    });
    let c = compare(Named::new('A', "a", &a), Named::new('D', "d", &other), Options::default());
    assert_eq!((c.a.letter, c.b.letter), ('A', 'D'));
    let texts = c.points.iter().map(|p| &p.reason).chain([&c.sentence]);
    for text in texts {
        let words = text.split(|c: char| !c.is_alphanumeric());
        assert!(words.into_iter().all(|word| word != "B"), "{text}");
    }
    let all: String = c.points.iter().map(|p| format!("{}\n", p.reason)).collect();
    for part in ["in D throttled", "D is invalid", "in A and 1 trial in D", "only in D"] {
        assert!(all.contains(part), "{part}: {all}");
    }
    assert!(all.contains("array size 1 GiB in A, 2 GiB in D"), "{all}");
}

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
        let flops = c.points.iter().filter(|p| p.workload == "cpu.flops" && p.row.is_some());
        flops.map(|p| p.best_of_each.is_some()).collect()
    };
    assert_eq!(rows(&narrow, &wide), [false]);
    assert_eq!(rows(&wide, &narrow), [true], "the row of a set that B lacks");
    assert_eq!(rows(&wide, &wide), [false]);
}

#[test]
fn per_unit_of_money_the_sentence_has_the_figures_of_the_table() {
    let (a, b) = (undisturbed(1.0, [0.9; 2]), undisturbed(0.8, [0.5; 2]));
    let c = with_prices(&run(vec![a]), &run(vec![b]), [0.2, 0.1]);
    let money = c.points[0].per_price.as_ref().unwrap();
    assert_eq!(money.figure, FigureKind::Delivered);
    assert!((money.value - 2.0 * 0.8 * 0.5 / 0.9).abs() < 1e-6, "{money:?}");
    let text = "per unit of money B delivers 0.89 of A's CPU";
    assert!(c.sentence.contains(text), "{}", c.sentence);
    // Also where the headline alone differs: it would give 8.00.
    let (a, b) = (undisturbed(1.0, [0.95, 0.3]), undisturbed(0.8, [0.95, 0.4]));
    let c = with_prices(&run(vec![a]), &run(vec![b]), [0.2, 0.02]);
    let money = c.points[0].per_price.as_ref().unwrap();
    assert_eq!((money.figure, (10.0 * money.value).round()), (FigureKind::Delivered, 86.0));
    let text = "0.80 of A's undisturbed CPU; per unit of money B delivers 8.6 of A's CPU.";
    assert!(c.sentence.ends_with(text), "{}", c.sentence);
}

#[test]
fn a_clock_has_no_figure_per_unit_of_money() {
    let clock = |factor: f64| {
        let mut m = at(factor);
        m.unit = Unit::Hertz;
        m
    };
    let c = with_prices(&run(vec![clock(1.0)]), &run(vec![clock(0.5)]), [0.4, 0.1]);
    assert_eq!((c.points[0].outcome(), &c.points[0].per_price), (Slower, &None));
    assert!(c.sentence.contains("nothing is decided per unit of money"), "{}", c.sentence);
}
