//! A check as JUnit XML: a suite per subsystem, a test case per result.

use proofmark_model::{Comparability, ComparedPoint, Comparison, FigureKind};

use super::words::{failure, moved, ratio, values};
use crate::junit::{Case, Cause, Ending, Suite, by_subsystem, text};

/// Returns a failure with its cause for each result that is slower or gone. Results that cannot be
/// compared or are undecided are skipped; all others pass. Too few judged results are a failure of
/// its own.
pub(crate) fn suites(comparison: &Comparison) -> Vec<Suite> {
    let mut suites = by_subsystem(&comparison.points, |p| p.subsystem, case);
    suites.extend(comparison.too_little().map(|why| {
        let case = Case {
            name: "at least half of the baseline's results can be compared".to_owned(),
            ending: Some(Ending::Failure(Cause::new("too little", why))),
            ..Case::default()
        };
        Suite::new("comparison", vec![case])
    }));
    suites
}

fn case(p: &ComparedPoint) -> Case {
    let message = text(&p.reason);
    let ending = match p.judged() {
        _ if p.fails() => {
            let cause = Cause::new(failure(p), message);
            Some(Ending::Failure(Cause { more: Some(figures(p)), ..cause }))
        }
        false if p.undecided() => {
            let cause = Cause::new(Comparability::Undecided.as_str(), message);
            Some(Ending::Skipped(Cause { more: Some(figures(p)), ..cause }))
        }
        false => Some(Ending::Skipped(Cause { message, ..Cause::default() })),
        true => None,
    };
    Case {
        name: text(if p.name.is_empty() { &p.workload } else { &p.name }),
        class: Some(text(&p.workload)),
        ending,
        ..Case::default()
    }
}

/// Returns both headline figures, and ratio, interval and margin of the compared figure, and of
/// delivered if it changed.
fn figures(p: &ComparedPoint) -> String {
    let [a, b] = values(p).map(|m| m.unwrap_or_else(|| "no result".to_owned()));
    let kind = p.figure.map_or("", FigureKind::as_str);
    let headline = p.headline.as_ref().map(|h| format!("; {kind} B / A {}", ratio(h)));
    let delivered = moved(p).map(|d| format!("; delivered B / A {}", ratio(d)));
    format!("A {a}; B {b}{}{}", headline.unwrap_or_default(), delivered.unwrap_or_default())
}
