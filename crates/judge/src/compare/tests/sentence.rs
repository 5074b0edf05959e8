//! Tests of the sentence, and of letters.

use proofmark_model::{Leaning, Toward};

use super::*;

/// The sentence about results of A and of B.
fn sentence(a: Vec<Measurement>, b: Vec<Measurement>) -> String {
    compared(&alone(run(a)), &alone(run(b))).sentence
}

/// CPU, memory, disk and network results at `factors` times their usual speeds.
pub(super) fn machine(factors: [f64; 5]) -> Vec<Measurement> {
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
    // A result that does not differ has no place in the range.
    let text = sentence(a(), machine([3.0, 1.0, 1.0, 1.0, 1.0]));
    let says =
        "B delivers 3.0 of A's CPU (1 of 2 results: FP peak, 1 CPU; no difference shown in 1); ";
    assert!(text.starts_with(says), "{text}");
    // A time has the figure of its row: half the latency is no rate of 2.
    let time = |s: f64| vec![latency(1 << 20, s)];
    assert_eq!(sentence(time(5e-9), time(2.5e-9)), "B takes 0.50 of A's time in memory.");
    let with_time = |factor: f64, s: f64| [machine([factor; 5]), time(s)].concat();
    let text = sentence(with_time(1.0, 5e-9), with_time(0.5, 15e-9));
    let parts = "B delivers 0.50 of A's CPU, 0.50 of A's memory (1 of 2 results: Memory triad, 1 CPU), \
                 0.50 of A's disk and 0.50 of A's network, and takes 3.0 of A's time in memory (1 of 2 \
                 results: Memory latency, local, 1 MiB).";
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
        "B delivers 0.50 of A's CPU (1 of 2 results: FP peak, 1 CPU; 1 suspect result is slower) and 0.50 of A's \
         network; no result counts in memory and disk; 3 of 5 results are left out: 1 suspect, 1 invalid and 1 missing."
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

#[test]
fn suspect_results_that_differ_are_said_wherever_their_subsystem_is() {
    let disk = |of_read: Measurement| {
        let commit = |factor| suspect(scaled(rand_read(4), factor), "steal", 0.5);
        let first = of_read.clone();
        (vec![first, commit(1.0)], vec![of_read, commit(0.07)])
    };
    let alike = disk(rand_read(1));
    let text = "No difference between A and B is shown in disk (1 of 2 results: Random read, 4 KiB, \
                depth 1; 1 suspect result is slower); 1 of 2 results is left out: 1 suspect.";
    assert_eq!(sentence(alike.0, alike.1), text);
    let mut few = rand_read(1);
    few.trials.truncate(3);
    let open = disk(few);
    let text = "No difference between A and B is shown in disk (1 suspect result is slower), but one is \
                possible; 1 of 2 results is left out: 1 suspect.";
    assert_eq!(sentence(open.0, open.1), text);
    let (a, mut b) = disk(rand_read(1));
    b[0] = scaled(rand_read(1), 0.5);
    let text = "B delivers 0.50 of A's disk (1 of 2 results: Random read, 4 KiB, depth 1; 1 suspect \
                result is slower); ";
    assert!(sentence(a, b).starts_with(text));
}

/// Trials from 0.7 to 1.3 times `factor`, in another order: the interval of a ratio is wide.
pub(super) fn uneven(factor: f64, from: usize) -> Measurement {
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
    assert_eq!(p.headline.unwrap().leaning(p.better), Some(Leaning::Possible));
    // In the words of the counts: it is not undecided.
    let text = "No difference between A and B is shown in CPU, but one is possible.";
    assert_eq!(sentence(vec![a], vec![b]), text);
    // Within the margin it decides.
    let p = one(at(1.0), at(0.97));
    assert!(p.headline.unwrap().leaning(p.better).unwrap().is_within_margin());
}

/// Trials from 0.7 to 1.3 times `factor`: their interval is wide, and the half-widths of both are
/// the largest margin.
pub(super) fn wide(m: Measurement, factor: f64) -> Measurement {
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
    assert_eq!(p.outcome(), NoDifferenceShown, "{p:?}");
    let [low, high] = figure.ratio.ci95.unwrap();
    assert!(low < 1.0 - figure.margin && high < 1.0, "{figure:?}");
    assert_eq!(figure.leaning(p.better), Some(Leaning::Perhaps(Toward::Slower)));
    assert_eq!(p.perhaps(), Some(Toward::Slower));
    let why = "the whole interval is below 1, but not beyond the margin of 33.3 % (a ratio of 0.667): \
               perhaps slower";
    assert_eq!(p.reason, why);
    let both = |m: &Measurement| vec![m.clone(), iops(1)];
    let text = "B is perhaps slower than A in CPU.";
    assert_eq!(sentence(vec![a.clone()], vec![b.clone()]), text);
    let text = "B is perhaps slower than A in CPU (1 of 2 results: FP peak, 1 CPU; no difference shown \
                in 1).";
    assert_eq!(sentence(both(&a), both(&b)), text);
    // A subsystem that is faster in one result is not called so alone.
    let faster = |m: &Measurement| vec![m.clone(), scaled(iops(1), 2.0)];
    let text =
        "B delivers 2.0 of A's CPU (1 of 2 results: Integer peak, 1 CPU; perhaps slower in 1).";
    assert_eq!(sentence(both(&a), faster(&b)), text);
    let text = "B is perhaps faster than A in CPU.";
    assert_eq!(sentence(vec![b], vec![a]), text);
    // Of a time, more is worse.
    let time = |factor| wide(latency(1 << 20, 5e-9), factor);
    let text = sentence(vec![time(1.0)], vec![time(1.6)]);
    assert_eq!(text, "B is perhaps slower than A in memory.");
}

#[test]
fn a_reason_says_where_the_interval_is() {
    let why = |low: f64, high: f64| {
        let margin = Margin { share: 0.2, source: MarginSource::Runs };
        Leaning::read(Better::Higher, Some([low, high]), 0.2).why(Better::Higher, margin)
    };
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

/// `cpu.flops` at that multiple of the usual rate, of which even and odd trials delivered these
/// shares.
pub(super) fn undisturbed(factor: f64, shares: [f64; 2]) -> Measurement {
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
    let parts = "B delivers 0.50 of A's CPU (1 of 2 results: Integer peak, 1 CPU), and reaches 0.80 of A's \
                 undisturbed CPU (1 of 2 results: FP peak, 1 CPU).";
    assert_eq!(text, parts);
    let unusable = suspect(iops(2), "steal", 0.5);
    let a = vec![taken(1.0), iops(1), unusable.clone()];
    let text = sentence(a, vec![taken(0.8), scaled(iops(1), 0.5), unusable]);
    let parts = "B delivers 0.50 of A's CPU (1 of 3 results: Integer peak, 1 CPU), and reaches 0.80 of A's \
                 undisturbed CPU (1 of 3 results: FP peak, 1 CPU); ";
    assert!(text.starts_with(parts), "{text}");
}

#[test]
fn a_reason_is_about_the_figure_that_is_perhaps_slower() {
    let of = |delivered| alone(run(vec![undisturbed(1.0, delivered)]));
    let p = compared(&of([1.0; 2]), &of([0.99, 0.9])).points[0].clone();
    assert_eq!((p.change(), p.perhaps()), (NoDifferenceShown, Some(Toward::Slower)), "{p:?}");
    let words = "; delivered: the whole interval is below 1, but not beyond the margin";
    assert!(p.reason.contains(words), "{}", p.reason);
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
