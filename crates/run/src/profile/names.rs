//! Checks the names in a profile's text. An unknown one is refused with its line and the nearest
//! name.

use std::ops::Range;

use proofmark_model::{Subsystem, WorkloadSpec};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{no_parameter, unknown};
use crate::meant::unknown_workload;
use crate::parameter;
use crate::registry::find;

/// Keys of a profile, of its policy, and of points in addition to the parameters of their workload.
const TOP: &[&str] = &["name", "about", "policy", "points"];
const POLICY: &[&str] =
    &["target", "target_of", "min_trials", "max_trials", "trial", "time_of_point", "budget"];
const POINTS: &[&str] = &["workload", "trial", "trials", "reference", "for", "every"];

/// Command that explains the format.
const EXAMPLE: &str = "proofmark explain quick";

/// Refuses the first unknown name: `line 3: no key of a profile 'polcy'; did you mean 'policy'?`.
pub fn check(text: &str) -> Result<(), String> {
    let table = DeTable::parse(text).map_err(|e| one_line(&e, text))?;
    let mut names = Names::default();
    names.top(table.get_ref());
    let first = names.wrong.into_iter().min_by_key(|(at, _)| *at);
    match first {
        None => Ok(()),
        Some((at, why)) => Err(format!("line {}: {why}", line(text, at))),
    }
}

/// Returns the line of a position in a text, starting at 1.
fn line(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or(text).matches('\n').count() + 1
}

/// Returns the error of a TOML parser as one line: `line 3: unknown field ...`.
pub(super) fn one_line(error: &toml::de::Error, text: &str) -> String {
    let message = error.message().replace('\n', " ");
    match error.span() {
        Some(span) => format!("line {}: {message}", line(text, span.start)),
        None => message,
    }
}

/// Errors with their positions.
#[derive(Default)]
struct Names {
    wrong: Vec<(usize, String)>,
}

impl Names {
    fn refuse(&mut self, span: &Range<usize>, why: String) {
        self.wrong.push((span.start, why));
    }

    /// Refuses the unknown keys of a table.
    fn keys(&mut self, table: &DeTable, what: &str, known: &[&str], see: &str) {
        for key in table.keys() {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let why = unknown(what, name, known.iter().copied(), see);
                self.refuse(&key.span(), why);
            }
        }
    }

    fn top(&mut self, top: &DeTable) {
        self.keys(top, "key of a profile", TOP, EXAMPLE);
        if let Some(policy) = top.get("policy").and_then(|p| p.get_ref().as_table()) {
            self.keys(policy, "key of [policy]", POLICY, EXAMPLE);
            let subsystems = Subsystem::ALL.map(Subsystem::as_str);
            for key in ["target_of", "budget"] {
                if let Some(of) = policy.get(key).and_then(|t| t.get_ref().as_table()) {
                    self.keys(of, "subsystem", &subsystems, "proofmark list workloads");
                }
            }
        }
        let points = top.get("points").and_then(|p| p.get_ref().as_array());
        for point in points.into_iter().flat_map(|all| all.iter()) {
            if let Some(table) = point.get_ref().as_table() {
                self.point(table, &point.span());
            }
        }
    }

    fn point(&mut self, table: &DeTable, span: &Range<usize>) {
        let Some(workloads) = table.get("workload") else {
            return self.refuse(span, "[[points]] has no workload".to_owned());
        };
        let mut specs = Vec::new();
        for (name, span) in texts(workloads) {
            match find(&name) {
                Some(workload) => specs.push(workload.spec()),
                None => self.refuse(&span, unknown_workload("workload", &name, &[])),
            }
        }
        for (key, value) in table.iter().filter(|(k, _)| !POINTS.contains(&k.get_ref().as_ref())) {
            for spec in &specs {
                self.parameter(spec, key.get_ref(), &key.span(), value);
            }
        }
        for (name, span) in table.get("reference").map(texts).unwrap_or_default() {
            let ids = || proofmark_reference::ALL.iter().map(|t| t.id());
            if !ids().any(|id| id == name) {
                self.refuse(&span, unknown("tool", &name, ids(), "proofmark list references"));
            }
        }
    }

    fn parameter(
        &mut self,
        spec: &WorkloadSpec,
        name: &str,
        span: &Range<usize>,
        value: &Spanned<DeValue>,
    ) {
        let Some(parameter) = spec.parameter(name) else {
            let names =
                spec.parameters.iter().map(|k| k.name.as_ref()).chain(POINTS.iter().copied());
            return self.refuse(span, no_parameter(&spec.id, name, names));
        };
        for (text, span) in texts(value) {
            if let Err(why) = parameter::values(parameter, &text, None) {
                self.refuse(&span, format!("{}.{name}: {why}", spec.id));
            }
        }
    }
}

/// Returns every word and number of a value or list as typed. Other types are refused when the
/// profile is parsed.
fn texts(value: &Spanned<DeValue>) -> Vec<(String, Range<usize>)> {
    match value.get_ref() {
        DeValue::String(text) => vec![(text.to_string(), value.span())],
        DeValue::Integer(n) if n.radix() == 10 => {
            vec![(n.as_str().trim_start_matches('+').to_owned(), value.span())]
        }
        DeValue::Array(all) => all.iter().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}
