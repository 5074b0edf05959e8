//! The verdict on a comparison, in a few sentences.

use proofmark_model::{
    Comparability, ComparedPoint, ComparedSubsystem, Comparison, Difference, FactId, Ratio,
    Verdict, format_factor,
};

use super::words::{interval, is_perhaps, resolution};
use crate::view::{Rich, Tone, agree, and_list, clean, counted};

/// The number of results with each outcome.
#[derive(Debug, Clone, Copy)]
pub struct Tally {
    pub points: usize,
    pub compared: usize,
    pub slower: usize,
    pub faster: usize,
    pub alike: usize,
    pub undecided: usize,
    /// Results that cannot be compared, apart from those that are gone.
    pub not_comparable: usize,
    pub gone: usize,
}

impl Tally {
    pub fn count(c: &Comparison) -> Self {
        let count = |keep: fn(&ComparedPoint) -> bool| c.points.iter().filter(|p| keep(p)).count();
        Self {
            points: c.points.len(),
            compared: count(ComparedPoint::judged),
            slower: count(|p| p.change() == Comparability::Slower),
            faster: count(|p| p.change() == Comparability::Faster),
            alike: count(|p| p.change() == Comparability::NoDifferenceShown),
            undecided: count(ComparedPoint::undecided),
            not_comparable: count(ComparedPoint::not_comparable),
            gone: count(ComparedPoint::gone),
        }
    }

    /// Returns each count with its sign, in the colour that repeats it.
    pub fn counts(&self) -> Rich {
        let (good, bad) = (Tone::Verdict(Verdict::Valid), Tone::Verdict(Verdict::Invalid));
        Rich::toned(bad, format!("▼ {} slower", self.slower))
            .and(good, format!("  ▲ {} faster", self.faster))
            .and(Tone::Plain, format!("  {} no difference shown", self.alike))
            .and(Tone::Plain, format!("  ? {} undecided", self.undecided))
            .and(bad, format!("  ✗ {} gone", self.gone))
            .and(Tone::Plain, format!("  {} not comparable", self.not_comparable))
    }
}

/// Returns `B is slower in 41 of 58 compared results. Median speed of B relative to A: cpu 0.500.`
pub(super) fn sentences(c: &Comparison, t: &Tally) -> String {
    let b = c.b.letter;
    let of = counted(t.compared as u64, "compared result");
    let mut out = match (t.slower, t.faster) {
        _ if t.points == 0 => "Neither run measured anything.".to_owned(),
        _ if t.compared == 0 => "No results can be compared.".to_owned(),
        (0, 0) if t.compared == 1 => {
            "No difference is shown in the one compared result.".to_owned()
        }
        (0, 0) => format!("No difference is shown in any of {of}."),
        (n, 0) => format!("{b} is slower in {n} of {of}."),
        (0, n) => format!("{b} is faster in {n} of {of}."),
        (n, m) => format!("{b} is slower in {n} and faster in {m} of {of}."),
    };
    let perhaps = c.points.iter().filter(|p| is_perhaps(p)).count();
    if perhaps > 0 {
        let [are, their] = if perhaps == 1 { ["is", "its"] } else { ["are", "their"] };
        let results = counted(perhaps as u64, "other result");
        out += &format!(
            " {results} {are} perhaps slower or faster: {their} whole interval is on one side of 1, \
             but not beyond the margin."
        );
    }
    out.extend(which_moved(c));
    out.extend(slow_operations(c));
    out.extend(speeds(c, t));
    if t.gone > 0 {
        let is = agree(t.gone as u64, ["is", "are"]);
        let results = counted(t.gone as u64, "result");
        out += &format!(" {results} of A {is} gone: missing or invalid in {b}.");
    }
    if t.undecided > 0 {
        let [is, its] = if t.undecided == 1 { ["is", "its"] } else { ["are", "their"] };
        let results = counted(t.undecided as u64, "result");
        out +=
            &format!(" {results} {is} undecided: {its} figures and rounds contradict each other.");
    }
    if t.not_comparable > 0 && t.compared > 0 {
        let other = if t.gone > 0 { "other result" } else { "result" };
        out += &format!(" {} cannot be compared.", counted(t.not_comparable as u64, other));
    }
    if let Some(why) = c.too_little().filter(|_| t.compared > 0) {
        out += &format!(" Too little for a check: {why}.");
    }
    if let Some(unseen) = resolution(&c.subsystems).filter(|_| t.compared > 0) {
        out += &format!(" In the median result, {unseen}.");
    }
    out
}

/// Returns the facts by which the machines are not equal; `None` if they may be.
pub(super) fn unequal(c: &Comparison) -> Option<String> {
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
/// in 12. In 12 of these, delivered alone is slower: B got a smaller share of its machine.` Only
/// where both figures were compared, and one of them moved.
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
    let mut out = format!(
        " Undisturbed figures {}. Delivered figures {}.",
        says(&headlines, count(&|h, _| h == NoDifferenceShown)),
        says(&delivered, count(&|_, d| d == NoDifferenceShown)),
    );
    let b = c.b.letter;
    for (outcome, share) in [(Slower, "smaller"), (Faster, "larger")] {
        let alone = count(&|h, d| d == outcome && h != outcome);
        if alone > 0 {
            let word = outcome.as_str();
            out += &format!(
                " In {alone}, delivered alone is {word}: {b} got a {share} share of its machine."
            );
        }
    }
    Some(out)
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
    (!how.is_empty()).then(|| format!(" p99 of single operations is {how} (shown, not judged)."))
}

/// Returns the speeds of subsystems whose results together exclude 1 although no single result shows
/// a difference. Where one does, the table has the medians.
fn speeds(c: &Comparison, t: &Tally) -> Option<String> {
    let b = c.b.letter;
    let excludes_1 = |r: &Ratio| r.ci95.is_some_and(|[low, high]| high < 1.0 || low > 1.0);
    let speed = |s: &ComparedSubsystem| {
        let ratio = s.speed.as_ref().filter(|r| excludes_1(r))?;
        let ends = interval(ratio.ci95).map(|ends| format!(" ({ends})")).unwrap_or_default();
        Some(format!("{} {}{ends}", s.subsystem, format_factor(ratio.median)))
    };
    let speeds: Vec<String> = c.subsystems.iter().filter_map(speed).collect();
    let are_new = t.compared > 0 && t.slower + t.faster == 0 && !speeds.is_empty();
    are_new.then(|| {
        let speeds = speeds.join(", ");
        format!(
            " All results together show a difference: median speed of {b} relative to A: {speeds}."
        )
    })
}
