//! JUnit XML of a check: a suite per subsystem, a test case per result.

use proofmark_model::{ComparedPoint, Comparison, FigureKind, Subsystem};

use super::words::{failure, moved, ratio, values};
use crate::junit::document::{self, Case, Ending, Outcome, Suite};
use crate::junit::text;

/// A failure for each point that is slower or gone, with its cause; skipped for what cannot be
/// compared; all else passes. Where too little could be judged, that is a failure of its own.
pub fn junit(comparison: &Comparison, more: Option<Suite>) -> String {
    let mut suites = Vec::from_iter(more);
    for subsystem in Subsystem::ALL {
        let points = comparison.points.iter().filter(|p| p.subsystem == subsystem);
        let cases: Vec<Case> = points.map(case).collect();
        if !cases.is_empty() {
            suites.push(Suite { name: subsystem.as_str().to_owned(), cases, ..Suite::default() });
        }
    }
    if let Some(why) = comparison.too_little() {
        let case = Case {
            name: "half of the baseline can be judged".to_owned(),
            outcome: Some(Outcome::new(Ending::Failure, "too little", why)),
            ..Case::default()
        };
        suites.push(Suite { name: "comparison".to_owned(), cases: vec![case], ..Suite::default() });
    }
    let name = format!("{} against {}", text(&comparison.b.name), text(&comparison.a.name));
    document::write(&name, &suites)
}

fn case(p: &ComparedPoint) -> Case {
    let message = Some(text(&p.reason));
    let outcome = match p.judged() {
        _ if p.fails() => Some(Outcome {
            ending: Ending::Failure,
            kind: Some(failure(p).to_owned()),
            message,
            text: figures(p),
        }),
        false => {
            Some(Outcome { ending: Ending::Skipped, kind: None, message, text: String::new() })
        }
        true => None,
    };
    Case {
        name: if p.name.is_empty() { text(&p.workload) } else { text(&p.name) },
        class: Some(text(&p.workload)),
        outcome,
        ..Case::default()
    }
}

/// Both headline figures; ratio, interval and margin of the figure compared, and of delivered if it changed.
fn figures(p: &ComparedPoint) -> String {
    let [a, b] = values(p).map(|m| m.unwrap_or_else(|| "no result".to_owned()));
    let mut out = format!("A {a}; B {b}");
    if let Some(h) = &p.headline {
        let kind = p.figure.map_or("", FigureKind::as_str);
        out.push_str(&format!("; {kind} B / A {}", ratio(h)));
    }
    if let Some(d) = moved(p) {
        out.push_str(&format!("; delivered B / A {}", ratio(d)));
    }
    out
}
