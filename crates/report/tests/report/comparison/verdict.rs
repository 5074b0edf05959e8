//! The paragraph below the first sentence, and what stands once.

use super::screens::main_results;
use super::*;

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What follows the first sentence, up to the next block.
fn paragraph(c: &Comparison) -> String {
    let text = terminal(c, false, &wide(400));
    text.lines().nth(2).unwrap().to_owned()
}

#[test]
fn the_paragraph_has_the_counts_and_three_sentences() {
    let usual = "B is slower in 2 and faster in 1 of 4 compared results; 1 result is undecided; 1 \
                 result cannot be compared. 1 result of A is gone: missing or invalid in B. In the \
                 median result, slowdowns below 5.2 % (CPU) are not detectable.";
    assert_eq!(paragraph(&comparison()), usual);
    // All of it at once, and an unequal machine whose p99 rose.
    let mut c = comparison();
    c.points.extend(shares().points);
    c.points.extend(main_results().points);
    c.differences[0].what = "CPU".into();
    let p99 = proofmark_model::ComparedPercentile {
        percentile: "p99".into(),
        a: 1e-3,
        b: 5e-3,
        value: 5.0,
    };
    c.points[0].percentiles.push(p99);
    let all = "B is slower in 7 and faster in 2 of 13 compared results; 2 of the others are perhaps \
               slower or faster; 1 result is undecided; 1 result cannot be compared. In 3 results, \
               delivered alone is slower: B got a smaller share of its machine. 1 result of A is \
               gone: missing or invalid in B. In the median result, slowdowns below 5.2 % (CPU) are \
               not detectable.";
    assert_eq!(paragraph(&c), all);
    let text = flat(&terminal(&c, false, &wide(160)));
    let notes = text.split(" Notes ").nth(1).unwrap();
    for note in [
        "The machines are not equal: CPU none in A, 0.5 CPUs in B.",
        "Undisturbed figures are slower in 1 of 5 results, and show no difference in 4.",
        "p99 of single operations is higher by a factor of 5.00 in 1 result",
    ] {
        assert_eq!(notes.matches(note).count(), 1, "{note}: {text}");
    }
}

#[test]
fn a_smaller_share_is_said_only_where_the_machine_shows_no_difference() {
    let says = |c: &Comparison| {
        let text = flat(&terminal(c, true, &wide(160)));
        let share = text.split("In ").find(|part| part.contains("delivered alone is slower"));
        share.map(|part| part.split(',').next().unwrap().to_owned())
    };
    assert_eq!(says(&shares()), Some("3 results".to_owned()));
    let mut c = shares();
    let headline = |c: &mut Comparison, at: usize, outcome, ends| {
        let h = c.points[at].headline.as_mut().unwrap();
        (h.outcome, h.ratio.ci95) = (outcome, Some(ends));
    };
    headline(&mut c, 0, Comparability::Undecided, [0.99, 1.01]);
    assert_eq!(says(&c), Some("2 results".to_owned()));
    headline(&mut c, 1, Comparability::NotComparable, [0.99, 1.01]);
    assert_eq!(says(&c), Some("1 result".to_owned()));
    // The machine itself is perhaps slower, or a difference is possible.
    for ends in [[0.8, 0.97], [0.75, 1.05]] {
        headline(&mut c, 2, Comparability::NoDifferenceShown, ends);
        assert_eq!(says(&c), None);
    }
}

#[test]
fn a_main_result_is_listed_once_unless_all_are_asked_for() {
    let c = main_results();
    let count = |text: &str, title: &str| flat(text).matches(title).count();
    for text in [terminal(&c, false, &wide(120)), markdown(&c)] {
        for title in ["FP peak, 2 CPUs, avx512", "Memory latency, 256 MiB"] {
            assert_eq!(count(&text, title), 1, "{text}");
        }
        assert!(!text.contains("cpu.flops"), "one name: {text}");
    }
    let all = terminal(&c, true, &wide(120));
    assert_eq!(count(&all, "FP peak, 2 CPUs, avx512"), 2, "{all}");
    assert!(!all.contains("cpu.flops"), "one name: {all}");
    // Other results have their table.
    let mut c = main_results();
    c.points.extend(comparison().points);
    let text = terminal(&c, false, &wide(120));
    let (main, others) = text.split_once("Other results that differ").unwrap();
    assert!(main.contains("FP peak, 2 CPUs, avx512") && !others.contains("avx512"), "{text}");
    assert!(others.contains("FP peak, 2 threads, avx2+fma"), "{text}");
    assert!(flat(&text).contains("No difference is shown in 1 other result"), "{text}");
    // Reasons are those of all, so their heading is not of others alone.
    let page = html(&main_results()).unwrap();
    assert!(page.contains(">Results that differ<") && !page.contains("Other results"), "{page}");
}

#[test]
fn what_to_do_is_said_once() {
    let mut c = few();
    for (threads, why) in [(8, "attainable: no"), (16, "in rounds"), (32, "in trials")] {
        let mut p = comparison().points[6].clone();
        p.params = Params::default().with(key::THREADS, threads);
        p.reason = why.into();
        c.points.push(p);
    }
    for p in c.points.iter_mut().filter(|p| p.outcome() == Comparability::NotComparable) {
        p.headline.as_mut().unwrap().ratio.ci95 = None;
    }
    let quiet = "Undecided: the ratio of the two figures and the median ratio over all pairs of \
                 their rounds or trials lead to different conclusions. A few slow or fast rounds \
                 may make up much of one figure. Repeat both runs on a quiet machine (run --wait-quiet) \
                 or with more trials (run --trials).";
    let trials = "Too few: a result needs at least 3 trials in each run, and 4 for an interval (run \
                  --trials).";
    let forms = [terminal(&c, false, &wide(80)), terminal(&c, true, &wide(160)), markdown(&c)];
    for text in forms.iter().chain([&check(&c)]) {
        let text = flat(text).replace('\\', "");
        assert_eq!((text.matches(quiet).count(), text.matches(trials).count()), (1, 1), "{text}");
        assert_eq!(text.matches("--wait-quiet").count(), 1, "{text}");
    }
    let none = check(&shares());
    assert!(!none.contains("--trials") && !none.contains("Undecided:"), "{none}");
}

#[test]
fn a_price_ratio_has_the_words_of_a_figure() {
    let mut c = main_results();
    for side in [&mut c.a, &mut c.b] {
        side.price = Some(Price { per_hour: 0.1, currency: "$".into() });
    }
    let money = |ends: [f64; 2], outcome| PerPrice {
        figure: FigureKind::Delivered,
        a: 1e9,
        b: 1e9,
        compared: figure(ends[0], ends, outcome),
    };
    use Comparability::{Faster, NoDifferenceShown};
    let all =
        [([0.9, 0.98], NoDifferenceShown), ([0.97, 0.99], NoDifferenceShown), ([2.0, 2.1], Faster)];
    for (p, (ends, outcome)) in c.points.iter_mut().zip(all) {
        p.per_price = Some(money(ends, outcome));
    }
    let text = terminal(&c, false, &wide(160));
    let table = text.split("per unit of money").nth(1).unwrap().split("\n\n").next().unwrap();
    let rows: Vec<&str> = table.lines().filter(|l| l.contains("GFLOP/s")).collect();
    for (row, words) in rows.iter().zip(["▽ perhaps slower", "within margin", "▲ faster"]) {
        assert!(row.trim_end().ends_with(words), "{words}: {table}");
    }
    assert_eq!(rows.len(), 3, "{table}");
    let unseen = "In the median result, a value lower by less than 5.2 % (CPU) is not detectable.";
    assert!(flat(&text).contains(unseen), "{text}");
    // A ratio that contradicts its interval has the note of a figure, whatever the outcome.
    let money = c.points[0].per_price.as_mut().unwrap();
    (money.compared.value, money.compared.ratio.median) = (0.786, 0.95);
    for runs in [vec![c.clone()], vec![c.clone(), c]] {
        let text = flat(&several(&runs, &wide(160)));
        let note =
            "the median over all pairs of rounds or trials is 0.950 (0.900–0.980): it leads to";
        assert!(text.contains("0.786[") && text.contains(note), "{text}");
        // Alone, the sign of what is perhaps slower is not that of what is within the margin.
        assert!(
            text.contains("▽ 0.786[") != (runs.len() == 1) && !text.contains("▽ 0.970"),
            "{text}"
        );
    }
}
