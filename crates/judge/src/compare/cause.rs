//! Cause of a difference between two results, from findings and facts.

use std::borrow::Cow;

use proofmark_model::{Finding, Measurement, Severity, check_id};

use crate::checks;
use crate::checks::weight::LEFT_OUT;
use crate::statistics::median_over;

/// Checks of causes that take time, which explain a lower result; the clearest first.
const TOOK: [&str; 8] = [
    check_id::THROTTLED,
    check_id::STEAL,
    check_id::OTHER_CPU,
    check_id::CLOCK_DROP,
    check_id::OVERSUBSCRIBED,
    check_id::CORE_SHARED,
    check_id::SHARED_DEVICE,
    check_id::SWAP,
];
/// Checks that only report how trials differ, not why.
const SHAPE: [&str; 3] = [check_id::TREND, check_id::CLUSTERS, check_id::FALLING_RATE];
/// Number of causes that are reported.
const MOST_SHOWN: usize = 2;
/// Smallest difference of the clock that explains a difference.
const CLOCK: f64 = 0.02;
/// Factor by which a share must exceed the other side's to explain a difference.
const MORE: f64 = 2.0;

/// Returns the cause of a difference, for the worse side and the better one; empty if none is
/// known. `windows` is true if the figure leaves taken time out.
pub(super) fn find(
    worse: (char, &Measurement),
    better: (char, &Measurement),
    windows: bool,
) -> String {
    let ((name, w), (other, o)) = (worse, better);
    let mut causes: Vec<String> = one_sided(w, o, windows)
        .into_iter()
        .take(MOST_SHOWN)
        .map(|f| format!("in {name} {}", about(f, windows)))
        .collect();
    causes.extend(clock(worse, better));
    if causes.is_empty() {
        let caveat = one_sided(o, w, windows).into_iter().find(|f| f.severity >= Severity::Suspect);
        causes.extend(caveat.map(|f| format!("{other} itself is suspect: {}", about(f, windows))));
    }
    causes.join("; ")
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
        matters && !left_out && there.is_none_or(|o| more(f, o))
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
/// the other.
fn more(f: &Finding, other: &Finding) -> bool {
    match (share(f), share(other)) {
        (Some(f), Some(o)) => f > MORE * o,
        _ => f.severity > other.severity,
    }
}

/// The share in a finding's evidence, 0 to 1.
pub(super) fn share(f: &Finding) -> Option<f64> {
    f.evidence.get("share")?.as_f64().filter(|s| (0.0..=1.0).contains(s))
}

/// Reports a lower clock, if both sides measured theirs.
fn clock(worse: (char, &Measurement), better: (char, &Measurement)) -> Option<String> {
    let (slow, fast) = (median_clock(worse.1)?, median_clock(better.1)?);
    (slow < fast * (1.0 - CLOCK)).then(|| {
        let ghz = |hz: f64| format!("{:.2} GHz", hz / 1e9);
        format!("in {} the cores ran at {}, in {} at {}", worse.0, ghz(slow), better.0, ghz(fast))
    })
}

fn median_clock(m: &Measurement) -> Option<f64> {
    // Values outside this range are no core's clock.
    median_over(&m.trials, |t| t.conditions.clock_hz).filter(|hz| (1e6..1e11).contains(hz))
}
