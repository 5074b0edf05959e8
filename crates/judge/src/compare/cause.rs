//! Cause of a difference between two results, from findings and facts.
//!
//! A cause is named only if its size can explain the difference (`effect`): 3 % of the clock costs
//! no load 16 %. Sizes are those of factors, so they add up as logarithms. The causes named together
//! explain at least half of the difference, each at least a quarter. What is smaller only differs.
//! If the known sizes do not explain it, a finding of unknown size is named as a possible cause. A
//! limit that the worse result reached, and the better one exceeds, is the cause alone.

use std::borrow::Cow;
use std::collections::BTreeSet;

use proofmark_model::{
    AT_LIMIT, Better, CpuPlacement, FigureKind, Finding, Measurement, Severity, check_id,
};

use super::effect::{self, Effect, share};
use super::facts::list;
use crate::checks;
use crate::checks::weight::LEFT_OUT;
use crate::statistics::middle_readings;

/// Checks of causes that take time, which explain a lower result; the clearest first.
const TOOK: [&str; 9] = [
    check_id::THROTTLED,
    check_id::STEAL,
    check_id::OTHER_CPU,
    check_id::CLOCK_DROP,
    check_id::OVERSUBSCRIBED,
    check_id::CORE_SHARED,
    check_id::SHARED_DEVICE,
    check_id::IO_DURING_LOAD,
    check_id::SWAP,
];
/// Checks that only report how trials differ, not why.
const SHAPE: [&str; 3] = [check_id::TREND, check_id::CLUSTERS, check_id::FALLING_RATE];
/// Number of causes that are reported.
const MOST_SHOWN: usize = 2;
/// Smallest difference of the clock that is named.
const CLOCK: f64 = 0.02;
/// Part of the time of its rounds from which on a placement is that of a result.
const MAIN_PLACEMENT: f64 = 0.5;
/// What follows of a placement of virtual CPUs.
const BY_HYPERVISOR: &str = ", chosen by the hypervisor: it may be another next time";
/// Factor by which a share must exceed the other side's to explain a difference.
const MORE: f64 = 2.0;
/// Smallest part of a difference that the named causes together explain.
const TOGETHER: f64 = 0.5;
/// Smallest part of a difference that each named cause explains.
const EACH: f64 = 0.25;

/// The figure whose difference is to be explained.
#[derive(Debug, Clone, Copy)]
pub(super) struct Differing {
    pub(super) kind: FigureKind,
    /// True if the figure leaves taken time out.
    pub(super) windows: bool,
    /// Logarithm of the factor between the two results, above 0.
    pub(super) log: f64,
    /// True if both machines are virtual.
    pub(super) are_virtual: bool,
    /// True if both results are of one machine.
    pub(super) same_machine: bool,
}

/// What the findings and clocks of two results say about their difference.
#[derive(Debug, Default)]
pub(super) struct Causes {
    /// The cause; empty if none is known.
    pub(super) named: String,
    /// What differs too, but is too small to explain the difference.
    pub(super) too_small: Vec<String>,
    /// True if a placement that is not the machine's own is among the named ones: the hypervisor
    /// chose it, or the two results ran on other CPUs.
    pub(super) by_placement: bool,
    /// The checks of the named findings, if all that is named is what others did to the worse result.
    pub(super) disturbances: Vec<String>,
}

/// A candidate for the cause.
struct Candidate {
    text: String,
    effect: Effect,
    /// The check that found what others did.
    by_others: Option<String>,
}

impl Candidate {
    /// What is no doing of others.
    fn new(text: String, effect: Effect) -> Self {
        Self { text, effect, by_others: None }
    }

    /// Names it where the effect is not known to be large enough.
    fn possible(self) -> Self {
        let text = format!("{} (a possible cause: its effect is not known)", self.text);
        Self { text, ..self }
    }
}

/// Returns the causes of a difference, for the worse side and the better one.
pub(super) fn find(
    worse: (char, &Measurement),
    better: (char, &Measurement),
    figure: Differing,
) -> Causes {
    let ((name, w), (other, o)) = (worse, better);
    if let Some(limit) = limit(worse, o, figure) {
        return Causes { named: limit, ..Causes::default() };
    }
    let windows = figure.windows;
    let clocks = middle_clocks(w).zip(middle_clocks(o));
    // The clocks that both measured include what one lost.
    let is_counted = |f: &&Finding| clocks.is_none() || f.check != check_id::CLOCK_DROP;
    let findings = one_sided(w, o, windows).into_iter().filter(is_counted).map(|f| Candidate {
        text: format!("in {name} {}", about(f, windows)),
        effect: effect::of_finding(f, w, o),
        by_others: checks::is_by_others(&f.check).then(|| f.check.to_string()),
    });
    let clock = clocks.and_then(|([_, slow], [fast, _])| clock([name, other], slow, fast));
    let other_cpus = figure.same_machine.then(|| on_other_cpus(worse, better)).flatten();
    let chosen = other_cpus.or_else(|| figure.are_virtual.then(|| BY_HYPERVISOR.to_owned()));
    let placed = placement(worse, better).map(|text| text + chosen.as_deref().unwrap_or_default());
    let candidates = findings.chain(clock);
    let other_place = placed.clone().map(|text| Candidate::new(text, Effect::UNKNOWN));
    let (causes, too_small) = explain(candidates.chain(other_place).collect(), figure.log);
    // What may be the cause excuses nothing: its size must be known.
    let known: f64 = causes.iter().filter(|c| c.effect.is_bounded).map(|c| c.effect.log).sum();
    let by_others = causes.iter().map(|c| c.by_others.clone()).collect::<Option<Vec<_>>>();
    let by_others = by_others.filter(|_| known >= TOGETHER * figure.log);
    let mut named: Vec<String> = causes.into_iter().map(|c| c.text).take(MOST_SHOWN).collect();
    let is_named = placed.is_some_and(|text| named.iter().any(|one| one.starts_with(&text)));
    let by_placement = chosen.is_some() && is_named;
    if named.is_empty() {
        let caveat = one_sided(o, w, windows).into_iter().find(|f| f.severity >= Severity::Suspect);
        named.extend(caveat.map(|f| format!("{other} itself is suspect: {}", about(f, windows))));
    }
    let disturbances = by_others.unwrap_or_default();
    Causes { named: named.join("; "), too_small, by_placement, disturbances }
}

/// Divides candidates for a difference of that size into those to name, and those that are too
/// small. Where the known effects explain it, they are the cause; else it may be one that has no
/// bound.
fn explain(all: Vec<Candidate>, log: f64) -> (Vec<Candidate>, Vec<String>) {
    let (large, rest): (Vec<Candidate>, Vec<Candidate>) =
        all.into_iter().partition(|c| c.effect.log >= EACH * log);
    let (open, small): (Vec<Candidate>, Vec<Candidate>) =
        rest.into_iter().partition(|c| !c.effect.is_bounded);
    let known: f64 = large.iter().map(|c| c.effect.log).sum();
    let is_open = !open.is_empty() || large.iter().any(|c| !c.effect.is_bounded);
    let texts = |all: Vec<Candidate>| all.into_iter().map(|c| c.text).collect::<Vec<_>>();
    let (named, mut small) = match () {
        () if known >= TOGETHER * log => (large, texts(small)),
        () if is_open => {
            let mark = |c: Candidate| if c.effect.is_bounded { c } else { c.possible() };
            let (bounded, unbounded): (Vec<Candidate>, Vec<Candidate>) =
                large.into_iter().chain(open).partition(|c| c.effect.is_bounded);
            (bounded.into_iter().chain(unbounded).map(mark).collect(), texts(small))
        }
        () => (Vec::new(), texts(large.into_iter().chain(small).collect())),
    };
    small.truncate(MOST_SHOWN);
    (named, small)
}

/// The limit that the worse result reached and the better one exceeds by enough: that of a cgroup,
/// a declared one, or that of a link.
fn limit((name, w): (char, &Measurement), o: &Measurement, figure: Differing) -> Option<String> {
    let (ceiling, bottleneck) = (w.ceiling.as_ref()?, w.bottleneck.as_ref()?);
    let is_quota = bottleneck.resource == effect::QUOTA;
    let explained = match is_quota {
        true if figure.windows => return None,
        // The ceiling is also that of the cores, which may differ.
        true => effect::of_quotas(w, o)?,
        false => f64::INFINITY,
    };
    let is_limit = is_quota || effect::LIMITS.contains(&&*ceiling.id);
    let reached = w.efficiency? >= AT_LIMIT && w.better == Better::Higher;
    let better = o.summary.as_ref()?.figure(figure.kind).value?;
    let explained = explained.min((better / ceiling.value).ln());
    (is_limit && reached && explained >= TOGETHER * figure.log)
        .then(|| format!("in {name} the limit is {}: {}", bottleneck.resource, bottleneck.evidence))
}

/// Returns where the CPUs of two results were for most of their rounds, if that differs.
fn placement(worse: (char, &Measurement), better: (char, &Measurement)) -> Option<String> {
    let main = |m: &'_ Measurement| -> Option<CpuPlacement> {
        let mut known = m.cpu_placements.iter().filter(|p| p.is_known());
        known.find(|p| p.share > MAIN_PLACEMENT).cloned()
    };
    let ((name, w), (other, o)) = (worse, better);
    let (of_w, of_o) = (main(w)?, main(o)?);
    let differ = !of_w.is_like(&of_o);
    let words = format!("vCPU placement {} in {name}, {} in {other}", of_w.name, of_o.name);
    differ.then_some(words)
}

/// Names the CPUs of two results of one machine, if they ran on other ones: an affinity mask or a
/// cpuset chose them, and no hypervisor needs to have moved anything.
fn on_other_cpus(worse: (char, &Measurement), better: (char, &Measurement)) -> Option<String> {
    let pairs = |m: &Measurement| -> BTreeSet<[u32; 2]> {
        let pairs = m.trials.iter().flat_map(|t| &t.pairs);
        pairs.map(|pair| pair.cpus).map(|[a, b]| [a.min(b), a.max(b)]).collect()
    };
    let (of_w, of_o) = (pairs(worse.1), pairs(better.1));
    let cpus = |pairs: &BTreeSet<[u32; 2]>| {
        let all: BTreeSet<u32> = pairs.iter().flatten().copied().collect();
        list(&all.into_iter().collect::<Vec<_>>())
    };
    (of_w != of_o && !of_w.is_empty() && !of_o.is_empty()).then(|| {
        let [w, o] = [(worse.0, &of_w), (better.0, &of_o)]
            .map(|(name, pairs)| format!("{} in {name}", cpus(pairs)));
        format!(", on other CPUs: {w}, {o}")
    })
}

/// The message of a finding about this figure. For delivered it does not end with the words that
/// the headline leaves the time out.
fn about(f: &Finding, windows: bool) -> Cow<'_, str> {
    match f.message.strip_suffix(LEFT_OUT).filter(|_| !windows) {
        Some(message) => message.into(),
        None => (&*f.message).into(),
    }
}

/// Returns true if a quota limited one side only.
pub(super) fn throttled_on_one_side(a: &Measurement, b: &Measurement) -> bool {
    let throttled = |m, o| one_sided(m, o, false).iter().any(|f| f.check == check_id::THROTTLED);
    throttled(a, b) || throttled(b, a)
}

/// The findings of one side that the other has not, or has with a smaller share: the worst first,
/// then those that explain most. Taken time counts even as a note, since windows that leave it out
/// make it one. Findings that trials differ are reported only if no other explains why.
fn one_sided<'a>(m: &'a Measurement, other: &Measurement, windows: bool) -> Vec<&'a Finding> {
    let rank = |f: &Finding| TOOK.iter().position(|c| *c == f.check).unwrap_or(TOOK.len());
    let took = |f: &Finding| rank(f) < TOOK.len();
    let counts = |f: &&Finding| {
        let matters = f.severity >= Severity::Suspect || took(f);
        let there = other.findings.iter().find(|o| o.check == f.check);
        let left_out =
            windows && checks::find(&f.check).is_some_and(|c| c.class.removed_by_windows());
        matters && !left_out && there.is_none_or(|o| more((f, m), (o, other)))
    };
    let mut found: Vec<&Finding> = m.findings.iter().filter(counts).collect();
    let shape = |f: &Finding| SHAPE.contains(&&*f.check);
    let weight = |f: &Finding| if took(f) { f.severity.max(Severity::Suspect) } else { f.severity };
    found.sort_by_key(|f| (std::cmp::Reverse(weight(f)), shape(f), rank(f)));
    if found.iter().any(|f| !shape(f) && weight(f) >= Severity::Suspect) {
        found.retain(|f| !shape(f));
    }
    found
}

/// Compares by share if both sides have one: the same share may be a note in one run and suspect in
/// the other. Of a device it compares the cost, since others with most I/Os in flight may cost little.
fn more((f, m): (&Finding, &Measurement), (other, o): (&Finding, &Measurement)) -> bool {
    let costs = || Some((effect::lost(f, m)?.log, effect::lost(other, o)?.log));
    if let Some((cost, of_other)) = costs().filter(|_| f.check == check_id::SHARED_DEVICE) {
        return cost > MORE * of_other;
    }
    match (share(f), share(other)) {
        (Some(f), Some(o)) => f > MORE * o,
        _ => f.severity > other.severity,
    }
}

/// Returns a lower clock of the first of two runs as a candidate.
fn clock([name, other]: [char; 2], slow: f64, fast: f64) -> Option<Candidate> {
    (slow < fast * (1.0 - CLOCK)).then(|| {
        let [slow_ghz, fast_ghz] = [slow, fast].map(|hz| format!("{:.2} GHz", hz / 1e9));
        let text = format!("in {name} the cores ran at {slow_ghz}, in {other} at {fast_ghz}");
        Candidate::new(text, Effect::bounded((fast / slow).ln()))
    })
}

/// The two middle ones of the clocks of a result's trials: no trial ran between two states.
fn middle_clocks(m: &Measurement) -> Option<[f64; 2]> {
    let read = m.trials.iter().filter_map(|t| t.conditions.clock_hz);
    // Values outside this range are no core's clock.
    middle_readings(&read.filter(|hz| (1e6..1e11).contains(hz)).collect::<Vec<_>>())
}
