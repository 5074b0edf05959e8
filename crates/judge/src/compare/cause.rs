//! Why a point differs, as far as the findings and the facts know it.

use std::borrow::Cow;

use proofmark_model::{Finding, Measurement, Severity, check_id};

use crate::checks;
use crate::checks::weight::LEFT_OUT;
use crate::statistics::median_over;

/// Checks of what took time away, which explains a lower number; the plainest first.
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
/// Checks that only say that trials differ, not why.
const SHAPE: [&str; 3] = [check_id::TREND, check_id::CLUSTERS, check_id::FALLING_RATE];
/// Causes that are reported.
const MOST_SHOWN: usize = 2;
/// A clock that differs by less explains nothing.
const CLOCK: f64 = 0.02;
/// A share that both sides have explains a difference where it is so many times the other's.
const MORE: f64 = 2.0;

/// The cause of a difference, for the lower side and the other; empty if nothing names one.
/// `windows`: whether the figure leaves out what was taken.
pub(super) fn find(
    worse: (&str, &Measurement),
    better: (&str, &Measurement),
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

/// What a finding says of a figure: of delivered not that windows leave time out, which is said of the
/// headline.
fn about(f: &Finding, windows: bool) -> Cow<'_, str> {
    match f.message.strip_suffix(LEFT_OUT).filter(|_| !windows) {
        Some(message) => message.into(),
        None => (&*f.message).into(),
    }
}

/// Whether a quota limited one side only.
pub(super) fn throttled_on_one_side(a: &Measurement, b: &Measurement) -> bool {
    let held = |m, o| one_sided(m, o, false).iter().any(|f| f.check == check_id::THROTTLED);
    held(a, b) || held(b, a)
}

/// What was found in one and not as much in the other: worst first, then what explains most. What
/// took time counts as much where it is a note, since windows that leave it out make it one. That
/// trials differ is reported only where nothing says why.
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

/// By the evidence where both have it: the same share may be a note in one run and suspect in the
/// other.
fn more(f: &Finding, other: &Finding) -> bool {
    match (share(f), share(other)) {
        (Some(f), Some(o)) => f > MORE * o,
        _ => f.severity > other.severity,
    }
}

/// The share that a finding rests on, 0 to 1.
pub(super) fn share(f: &Finding) -> Option<f64> {
    f.evidence.get("share")?.as_f64().filter(|s| (0.0..=1.0).contains(s))
}

/// A lower clock, where both sides know theirs.
fn clock(worse: (&str, &Measurement), better: (&str, &Measurement)) -> Option<String> {
    let (slow, fast) = (median_clock(worse.1)?, median_clock(better.1)?);
    (slow < fast * (1.0 - CLOCK)).then(|| {
        let ghz = |hz: f64| format!("{:.2} GHz", hz / 1e9);
        format!("in {} the cores ran at {}, in {} at {}", worse.0, ghz(slow), better.0, ghz(fast))
    })
}

fn median_clock(m: &Measurement) -> Option<f64> {
    // What no core runs at is no clock.
    median_over(&m.trials, |t| t.conditions.clock_hz).filter(|hz| (1e6..1e11).contains(hz))
}
