//! Tests of figures per unit of money.

use proofmark_model::Price;

use super::figures::uneven as undecided;
use super::sentence::{machine, undisturbed, uneven, wide};
use super::*;

#[test]
fn a_price_decides_what_the_figures_leave_open() {
    // Without its price B is not shown to differ; for a third of the money it does.
    let (a, b) = (run(vec![wide(flops(1), 1.0)]), run(vec![wide(flops(1), 0.8)]));
    assert_eq!(compared(&a, &b).points[0].outcome(), NoDifferenceShown);
    let c = with_prices(&a, &b, [0.3, 0.1]);
    let money = c.points[0].per_price.as_ref().unwrap();
    assert_eq!(money.compared.outcome, Faster, "{money:?}");
    assert!(
        c.sentence.ends_with("per unit of money, of the same results, B delivers 2.4 of A's CPU."),
        "{}",
        c.sentence
    );
    // What is slower may be alike for its price.
    let c = with_prices(&run(vec![at(1.0)]), &run(vec![at(0.5)]), [0.2, 0.1]);
    let money = c.points[0].per_price.as_ref().unwrap();
    assert_eq!((c.points[0].outcome(), money.compared.outcome), (Slower, NoDifferenceShown));
    assert!(
        c.sentence
            .ends_with("per unit of money, of the same results, B shows no difference in CPU."),
        "{}",
        c.sentence
    );
    // Where the price decides nothing either, it says so.
    let (a, b) = (run(vec![uneven(1.0, 0)]), run(vec![uneven(0.9, 3)]));
    let c = with_prices(&a, &b, [0.1, 0.1]);
    assert!(c.sentence.ends_with("nothing is decided per unit of money."), "{}", c.sentence);
}

#[test]
fn figures_that_contradict_their_rounds_are_undecided_per_unit_of_money_too() {
    let steady = || undecided(|i| [0.1, 10e9 + 1e7 * i as f64]);
    let stalled =
        || undecided(|i| if i == 3 { [2.0, 1e9] } else { [0.1, 10.6e9 + 1e7 * i as f64] });
    let c = with_prices(&run(vec![steady()]), &run(vec![stalled()]), [0.1, 0.1]);
    let money = c.points[0].per_price.as_ref().unwrap();
    assert_eq!((money.compared.outcome, money.leaning()), (Undecided, None), "{money:?}");
    assert!(c.sentence.ends_with("nothing is decided per unit of money."), "{}", c.sentence);
    // Beside a subsystem that differs it is named.
    let [slow, fast] = [1.0, 2.0].map(|factor| scaled(stream("triad", 1), factor));
    let c = with_prices(&run(vec![steady(), slow]), &run(vec![stalled(), fast]), [0.1, 0.1]);
    assert!(c.sentence.ends_with(", and is undecided in CPU."), "{}", c.sentence);
}

fn price(per_hour: f64) -> Price {
    Price { per_hour, currency: "$".to_owned() }
}

pub(super) fn with_prices(a: &Run, b: &Run, prices: [f64; 2]) -> Comparison {
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
    assert!((flops.compared.value - 2.0).abs() < 1e-6, "half the speed for a quarter of the money");
    let [low, high] = flops.compared.ratio.ci95.unwrap();
    assert!(low <= 2.0 && 2.0 <= high, "{flops:?}");
    let time = c.points.iter().find(|p| p.workload == "memory.latency").unwrap();
    assert_eq!((time.better, &time.per_price), (Better::Lower, &None));
    assert!(
        c.sentence.contains(
            "; per unit of money, of the same results, B delivers 2.0 of A's CPU, 4.0 of A's memory, 2.0 of A's disk and \
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
fn per_unit_of_money_the_sentence_has_the_figures_of_the_table() {
    let (a, b) = (undisturbed(1.0, [0.9; 2]), undisturbed(0.8, [0.5; 2]));
    let c = with_prices(&run(vec![a]), &run(vec![b]), [0.4, 0.1]);
    let money = c.points[0].per_price.as_ref().unwrap();
    assert_eq!(money.figure, FigureKind::Delivered);
    assert!((money.compared.value - 4.0 * 0.8 * 0.5 / 0.9).abs() < 1e-6, "{money:?}");
    let text = "per unit of money, of the same results, B delivers 1.78 of A's CPU";
    assert!(c.sentence.contains(text), "{}", c.sentence);
    // Also where the headline alone differs: it would give 8.00.
    let (a, b) = (undisturbed(1.0, [0.95, 0.3]), undisturbed(0.8, [0.95, 0.4]));
    let c = with_prices(&run(vec![a]), &run(vec![b]), [0.2, 0.02]);
    let money = c.points[0].per_price.as_ref().unwrap();
    assert_eq!(
        (money.figure, (10.0 * money.compared.value).round()),
        (FigureKind::Delivered, 86.0)
    );
    let text = "0.80 of A's undisturbed CPU; per unit of money, of the same results, B delivers 8.6 of A's CPU.";
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

#[test]
fn an_open_price_ratio_is_perhaps_slower_in_the_words_of_the_figures() {
    let perhaps = |a: Measurement, b: Measurement, word: &str| {
        let c = with_prices(&run(vec![a, iops(1)]), &run(vec![b, scaled(iops(1), 0.5)]), [0.1; 2]);
        let text = format!(
            "B delivers 0.50 of A's CPU (1 of 2 results: Integer peak, 1 CPU; perhaps {word} in 1); per \
             unit of money, of the same results, B delivers 0.50 of A's CPU."
        );
        assert_eq!(c.sentence, text);
    };
    perhaps(wide(flops(1), 1.0), wide(flops(1), 0.62), "slower");
    perhaps(wide(flops(1), 0.62), wide(flops(1), 1.0), "faster");
    let alone =
        |a: Measurement, b: Measurement| with_prices(&run(vec![a]), &run(vec![b]), [0.1; 2]);
    let c = alone(wide(flops(1), 1.0), wide(flops(1), 0.62));
    let text = "; per unit of money, of the same results, B is perhaps slower than A in CPU.";
    assert!(c.sentence.ends_with(text), "{}", c.sentence);
    // Within the margin none is shown, as of a figure.
    let c = alone(at(1.0), at(0.97));
    let text = "per unit of money, of the same results, B shows no difference in CPU.";
    assert!(c.sentence.ends_with(text), "{}", c.sentence);
    // What is within the margin does not stand for what is perhaps slower.
    let a = run(vec![wide(flops(1), 1.0), iops(1)]);
    let c = with_prices(&a, &run(vec![wide(flops(1), 0.62), iops(1)]), [0.1; 2]);
    let text = "; per unit of money, of the same results, B is perhaps slower than A in CPU.";
    assert!(c.sentence.ends_with(text), "{}", c.sentence);
}

#[test]
fn both_halves_of_the_sentence_are_about_the_same_results() {
    let (a, b) = ([1, 32].map(rand_read), [scaled(rand_read(1), 0.45), rand_read(32)]);
    let (a, b) = (run(a.to_vec()), run(b.to_vec()));
    let says = |prices| with_prices(&a, &b, prices).sentence;
    let first = "B delivers 0.45 of A's disk (1 of 2 results: Random read, 4 KiB, depth 1; no \
                 difference shown in 1); per unit of money, of the same results, ";
    // The other result is faster for its price, and is not the one that the first half is about.
    assert_eq!(says([0.2, 0.09]), format!("{first}B shows no difference in disk."));
    assert_eq!(says([0.9, 0.1]), format!("{first}B delivers 4.0 of A's disk."));
    // What the price leaves open is said, too.
    let a = run(vec![uneven(1.0, 0), rand_read(1)]);
    let b = run(vec![uneven(0.9, 3), scaled(rand_read(1), 0.45)]);
    let last = "B delivers 0.45 of A's disk, and shows no difference in CPU, but one is possible.";
    assert!(with_prices(&a, &b, [0.1; 2]).sentence.ends_with(last));
}

#[test]
fn no_price_settles_what_is_undecided_of_the_figure() {
    let steady = || undecided(|i| [0.1, 10e9 + 1e7 * i as f64]);
    let stalled = || undecided(|i| if i == 3 { [2.0, 1e9] } else { [0.1, 10e9 + 1e7 * i as f64] });
    let (a, b) = (run(vec![steady()]), run(vec![stalled()]));
    let outcome = |prices| {
        let p = with_prices(&a, &b, prices).points.remove(0);
        (p.outcome(), p.per_price.unwrap().compared.outcome)
    };
    assert_eq!(outcome([0.1, 0.1]), (Undecided, Undecided));
    // Only a price by which both ratios show one difference does.
    assert_eq!(outcome([1.0, 0.1]), (Undecided, Faster));
}
