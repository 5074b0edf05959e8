//! The verdict on a comparison, in a few sentences.

use proofmark_model::{
    Comparability, ComparedFigure, ComparedPoint, Comparison, Difference, FactId, Toward, Verdict,
    format_factor,
};

use super::words::resolution;
use crate::view::{Rich, Tone, agree, and_list, capital, clean, counted, joined};

/// The number of results with each outcome.
#[derive(Debug, Clone, Copy)]
pub struct Tally {
    pub points: usize,
    pub compared: usize,
    pub slower: usize,
    /// Those of the slower ones that others disturbed, which fail no check.
    pub disturbed: usize,
    pub faster: usize,
    pub alike: usize,
    /// Those without a shown difference that are perhaps slower.
    pub perhaps_slower: usize,
    pub undecided: usize,
    /// Results that cannot be compared, apart from those that are gone or not measured.
    pub not_comparable: usize,
    /// Results that B's time limit left out.
    pub not_measured: usize,
    pub gone: usize,
}

impl Tally {
    pub fn count(c: &Comparison) -> Self {
        let count = |keep: fn(&ComparedPoint) -> bool| c.points.iter().filter(|p| keep(p)).count();
        Self {
            points: c.points.len(),
            compared: count(ComparedPoint::judged),
            slower: count(|p| p.change() == Comparability::Slower),
            disturbed: count(ComparedPoint::disturbed),
            faster: count(|p| p.change() == Comparability::Faster),
            alike: count(|p| p.change() == Comparability::NoDifferenceShown),
            perhaps_slower: count(|p| p.perhaps() == Some(Toward::Slower)),
            undecided: count(ComparedPoint::undecided),
            not_comparable: count(ComparedPoint::not_comparable),
            not_measured: count(ComparedPoint::is_left_out),
            gone: count(ComparedPoint::gone),
        }
    }

    /// Returns each count with its sign, in the colour that repeats it.
    pub fn counts(&self) -> Rich {
        let not_measured = match self.not_measured {
            0 => String::new(),
            n => format!("  {n} not measured"),
        };
        let tone = |verdict, count| if count > 0 { Tone::Verdict(verdict) } else { Tone::Plain };
        let bad = |count: usize| tone(Verdict::Invalid, count);
        Rich::toned(bad(self.slower), format!("▼ {} slower", self.slower))
            .and(tone(Verdict::Valid, self.faster), format!("  ▲ {} faster", self.faster))
            .and(Tone::Plain, format!("  {} no difference shown", self.alike))
            .and(Tone::Plain, format!("  ? {} undecided", self.undecided))
            .and(bad(self.gone), format!("  ✗ {} gone", self.gone))
            .and(Tone::Plain, format!("  {} not comparable{not_measured}", self.not_comparable))
    }
}

/// Returns the counts in a sentence, and at most three more: what moved, what is gone, and what is not
/// detectable.
pub(super) fn sentences(c: &Comparison, t: &Tally) -> String {
    let unseen = resolution(&c.subsystems).filter(|_| t.compared > 0);
    let sentences = [
        Some(counts(c, t)),
        smaller_share(c),
        gone(c, t),
        unseen.map(|unseen| format!("In the median result, {unseen}.")),
    ];
    joined(sentences.into_iter().flatten(), " ")
}

/// Returns what else is to be known, each in a sentence or two.
pub(super) fn notes(c: &Comparison, t: &Tally) -> Vec<String> {
    let too_little = c.too_little().filter(|_| t.compared > 0);
    let notes = [
        unequal(c),
        which_moved(c),
        slow_operations(c),
        disturbed_advice(c).map(str::to_owned),
        too_little.map(|why| format!("Too little for a check: {why}.")),
        Some(clean(&c.between_runs)).filter(|text| !text.is_empty()),
    ];
    notes.into_iter().flatten().collect()
}

/// Returns `B is slower in 41 of 58 compared results; 2 results are undecided.`
fn counts(c: &Comparison, t: &Tally) -> String {
    let b = c.b.letter;
    let of = counted(t.compared as u64, "compared result");
    let first = match (t.slower, t.faster) {
        _ if t.points == 0 => "Neither run measured anything".to_owned(),
        _ if t.compared == 0 => "No results can be compared".to_owned(),
        (0, 0) if t.compared == 1 => "No difference is shown in the one compared result".to_owned(),
        (0, 0) => format!("No difference is shown in any of {of}"),
        (n, 0) => format!("{b} is slower in {n} of {of}"),
        (0, n) => format!("{b} is faster in {n} of {of}"),
        (n, m) => format!("{b} is slower in {n} and faster in {m} of {of}"),
    };
    let is = |n: usize| agree(n as u64, ["is", "are"]);
    let perhaps = c.points.iter().filter(|p| p.perhaps().is_some()).count();
    let of_which = match (t.slower + t.faster, t.compared) {
        (0, 1) => "it".to_owned(),
        (0, _) => format!("{perhaps} of them"),
        _ => format!("{perhaps} of the others"),
    };
    let perhaps =
        (perhaps > 0).then(|| format!("{of_which} {} perhaps slower or faster", is(perhaps)));
    let result = |n: usize| counted(n as u64, "result");
    let undecided = t.undecided;
    let undecided =
        (undecided > 0).then(|| format!("{} {} undecided", result(undecided), is(undecided)));
    let not_comparable = (t.not_comparable > 0 && t.compared > 0)
        .then(|| format!("{} cannot be compared", result(t.not_comparable)));
    let all = [Some(first), perhaps, undecided, not_comparable];
    joined(all.into_iter().flatten(), "; ") + "."
}

/// Returns `1 result of A is gone: missing or invalid in B.`
fn gone(c: &Comparison, t: &Tally) -> Option<String> {
    let results = counted(t.gone as u64, "result");
    let is = agree(t.gone as u64, ["is", "are"]);
    (t.gone > 0).then(|| format!("{results} of A {is} gone: missing or invalid in {}.", c.b.letter))
}

/// Returns `36 results of A were left out in B for its time limit`; `None`: nothing was.
pub(super) fn not_measured(c: &Comparison) -> Option<String> {
    let n = c.points.iter().filter(|p| p.is_left_out()).count() as u64;
    let was = agree(n, ["was", "were"]);
    let results = counted(n, "result");
    (n > 0).then(|| format!("{results} of A {was} left out in {} for its time limit", c.b.letter))
}

/// What to do about results for which the run had no time left.
const NO_TIME: &str = "Not measured: the run had planned these results, and no time was left for \
    them; they may have become slower. Give the run more time (run --budget), or compare it with a \
    run of the same time limit that lacks them.";

/// Returns what to do about results that no time was left for, if there are any.
pub(super) fn no_time_advice(c: &Comparison) -> Option<&'static str> {
    let ran_out = |p: &ComparedPoint| p.is_left_out() && p.leaves_open();
    c.points.iter().any(ran_out).then_some(NO_TIME)
}

/// What a disturbed result is, and what to do about it.
const DISTURBED: &str = "Disturbed: what others took explains that these results are slower, so they do \
    not show whether the machine is. Measure again on a quiet machine (run --wait-quiet).";

/// Returns what to do about slower results that others disturbed, if there are any.
pub(super) fn disturbed_advice(c: &Comparison) -> Option<&'static str> {
    c.points.iter().any(ComparedPoint::disturbed).then_some(DISTURBED)
}

/// What an undecided result is, and what to do about it.
const UNDECIDED: &str = "Undecided: the ratio of the two figures and the median ratio over all pairs of \
    their rounds or trials lead to different conclusions. A few slow or fast rounds may make up much \
    of one figure. Repeat both runs on a quiet machine (run --wait-quiet) or with more trials (run \
    --trials).";
/// What to do about results of too few runs.
const TOO_FEW_RUNS: &str = "Undecided: a side without a history needs at least 4 runs. Measure more \
    runs, alternating A and B.";
/// What to do about results with too few trials.
const TOO_FEW: &str = "Too few: a result needs at least 3 trials in each run, and 4 for an interval \
    (run --trials).";

/// Returns what an undecided result is, if there is one.
pub(super) fn undecided_advice(c: &Comparison) -> Option<&'static str> {
    let undecided = || c.points.iter().filter(|p| p.undecided());
    let figures = || undecided().flat_map(|p| p.headline.iter().chain(&p.delivered));
    match () {
        () if undecided().next().is_none() => None,
        () if figures().any(ComparedFigure::has_too_few_runs) => Some(TOO_FEW_RUNS),
        () => Some(UNDECIDED),
    }
}

/// Returns what to do about results with too few trials, if there are any.
pub(super) fn too_few_advice(c: &Comparison) -> Option<&'static str> {
    let figures = c.points.iter().flat_map(|p| p.headline.iter().chain(&p.delivered));
    figures.into_iter().any(ComparedFigure::has_too_few).then_some(TOO_FEW)
}

/// Returns the facts by which the machines are not equal; `None` if they may be.
fn unequal(c: &Comparison) -> Option<String> {
    let b = c.b.letter;
    const MACHINE: [FactId; 5] =
        [FactId::Cpu, FactId::CoreDesign, FactId::Sockets, FactId::Cores, FactId::Memory];
    let known = |d: &&Difference| d.a != "unknown" && d.b != "unknown";
    let is_of_machine = |d: &&Difference| MACHINE.iter().any(|id| id.as_str() == d.what);
    let of_machine = c.differences.iter().filter(is_of_machine).filter(known);
    let named: Vec<String> = of_machine
        .map(|d| format!("{} {} in A, {} in {b}", clean(&d.what), clean(&d.a), clean(&d.b)))
        .collect();
    (!named.is_empty()).then(|| format!("The machines are not equal: {}.", named.join("; ")))
}

/// Returns `Undisturbed figures show no difference in 30 of 31 results. Delivered figures are slower
/// in 12.` Only where both figures were compared, and one of them moved.
fn which_moved(c: &Comparison) -> Option<String> {
    use Comparability::{Faster, NoDifferenceShown, NotComparable, Slower, Undecided};
    let of_point = |p: &ComparedPoint| Some((p.outcome(), p.delivered.as_ref()?.outcome));
    let both: Vec<_> = c.points.iter().filter_map(of_point).collect();
    let count = |keep: &dyn Fn(Comparability, Comparability) -> bool| {
        both.iter().filter(|(headline, delivered)| keep(*headline, *delivered)).count()
    };
    let moved = |of: fn(Comparability, Comparability) -> Comparability| {
        let each = [Slower, Faster, Undecided, NotComparable]
            .map(|outcome| (count(&|h, d| of(h, d) == outcome), outcome.as_str()));
        let each = each.iter().filter(|(n, _)| *n > 0);
        each.map(|(n, word)| format!("{word} in {n}")).collect::<Vec<_>>()
    };
    let (headlines, delivered) = (moved(|h, _| h), moved(|_, d| d));
    if headlines.is_empty() && delivered.is_empty() {
        return None;
    }
    let all = counted(both.len() as u64, "result");
    let says = |moved: &[String], alike: usize| match (moved.is_empty(), alike) {
        (true, _) => format!("show no difference in any of {all}"),
        (false, 0) => format!("are {} of {all}", and_list(moved)),
        (false, n) => format!("are {} of {all}, and show no difference in {n}", and_list(moved)),
    };
    Some(format!(
        "Undisturbed figures {}. Delivered figures {}.",
        says(&headlines, count(&|h, _| h == NoDifferenceShown)),
        says(&delivered, count(&|_, d| d == NoDifferenceShown)),
    ))
}

/// Returns `In 9 results, delivered alone is slower: B got a smaller share of its machine; in 1 more
/// the machine may be slower, too.` The headline, which is that of the machine, is within the margin
/// in the first.
fn smaller_share(c: &Comparison) -> Option<String> {
    let b = c.b.letter;
    let each = [(Comparability::Slower, "smaller"), (Comparability::Faster, "larger")];
    let each = each.into_iter().filter_map(|(outcome, share)| {
        let word = outcome.as_str();
        let moved = |p: &ComparedPoint| p.delivered.as_ref().is_some_and(|d| d.outcome == outcome);
        let here = c.points.iter().filter(|p| moved(p));
        let leanings = here.filter_map(|p| p.headline.as_ref()?.leaning(p.better));
        let (alone, open): (Vec<_>, Vec<_>) = leanings.partition(|l| l.is_within_margin());
        let more = match open.len() {
            0 => String::new(),
            n => format!("; in {n} more the machine may be {word}, too"),
        };
        let results = counted(alone.len() as u64, "result");
        (!alone.is_empty()).then(|| {
            format!(
                "in {results}, delivered alone is {word}: {b} got a {share} share of its \
                 machine{more}"
            )
        })
    });
    let all = joined(each, "; ");
    (!all.is_empty()).then(|| capital(&all) + ".")
}

/// Factor of p99 from which on a sentence names it.
const TAIL: f64 = 1.5;

/// Returns `p99 of single operations is higher by a factor of 2.1 to 56 in 3 results; it is not
/// judged.`
fn slow_operations(c: &Comparison) -> Option<String> {
    let all = c.points.iter().flat_map(|p| &p.percentiles).filter(|p| p.percentile == "p99");
    let changed = |of: fn(f64) -> f64| {
        let factors = all.clone().map(|p| of(p.value)).filter(|f| *f > TAIL);
        let factors: Vec<f64> = factors.collect();
        let [low, high] = [
            factors.iter().copied().fold(f64::INFINITY, f64::min),
            factors.iter().copied().fold(0.0, f64::max),
        ]
        .map(format_factor);
        let range = if low == high { low } else { format!("{low} to {high}") };
        (!factors.is_empty()).then(|| {
            format!("by a factor of {range} in {}", counted(factors.len() as u64, "result"))
        })
    };
    let higher = changed(|v| v).map(|how| format!("higher {how}"));
    let lower = changed(f64::recip).map(|how| format!("lower {how}"));
    let how = and_list(higher.into_iter().chain(lower).collect::<Vec<_>>());
    (!how.is_empty()).then(|| format!("p99 of single operations is {how} (shown, not judged)."))
}
