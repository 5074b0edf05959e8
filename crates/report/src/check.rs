//! A check in CI: what is slower than in the baseline, and whether requirements are met.

use std::collections::BTreeMap;

use proofmark_model::{CheckedRequirement, Comparison, REQUIREMENTS_SCHEMA, Verdict};
use serde::Serialize;

use crate::RenderError;
use crate::comparison;
use crate::junit::{self, Case, Cause, Ending, Suite};
use crate::markdown::escape;
use crate::view::{Scale, clean, percent, plural};

/// What was checked.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Check<'a> {
    schema: &'static str,
    /// The run's name.
    #[serde(skip)]
    run: &'a str,
    requirements: &'a [CheckedRequirement],
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'a Comparison>,
}

impl<'a> Check<'a> {
    /// Of a run: the comparison with its baseline, if there is one, and its requirements.
    pub fn new(
        run: &'a str,
        comparison: Option<&'a Comparison>,
        requirements: &'a [CheckedRequirement],
    ) -> Self {
        Self { schema: REQUIREMENTS_SCHEMA, run, requirements, comparison }
    }

    /// A line for each result that fails and each requirement. Lines are not wrapped, so that a log
    /// can be searched.
    pub fn terminal(&self) -> String {
        let compared = self.comparison.map_or_else(String::new, comparison::check);
        compared + &self.requirements()
    }

    /// GitHub-flavoured Markdown, for a pull request or a ticket.
    pub fn markdown(&self) -> String {
        let mut out = self.comparison.map_or_else(String::new, comparison::markdown);
        if !self.requirements.is_empty() {
            out += "\n## Requirements\n\n";
            let lines = self.requirements();
            out.extend(lines.lines().map(|one| format!("- {}\n", escape(one))));
        }
        out
    }

    /// JUnit XML: a suite of the requirements, one of each subsystem, a case for each result.
    ///
    /// # Errors
    /// If it does not fit into XML.
    pub fn junit(&self) -> Result<String, RenderError> {
        let mut suites = Vec::new();
        if !self.requirements.is_empty() {
            suites.push(Suite::new("requirements", self.requirements.iter().map(case).collect()));
        }
        let name = match self.comparison {
            Some(c) => {
                suites.extend(comparison::suites(c));
                format!("{} against {}", c.b.name, c.a.name)
            }
            None => format!("requirements of {}", self.run),
        };
        Ok(junit::write(&junit::text(&name), suites)?)
    }

    /// One object: the comparison alone, or with requirements schema `proofmark.requirements/1`.
    ///
    /// # Errors
    /// If it does not fit into JSON.
    pub fn json(&self) -> Result<String, RenderError> {
        match self.comparison.filter(|_| self.requirements.is_empty()) {
            Some(comparison) => comparison::json(comparison),
            None => Ok(serde_json::to_string_pretty(self)? + "\n"),
        }
    }

    /// A line each, and how many are met.
    fn requirements(&self) -> String {
        if self.requirements.is_empty() {
            return String::new();
        }
        let line = |c: &CheckedRequirement| {
            let mark = if c.met { "✓ met" } else { "✗ missed" };
            format!("{mark} {}: {}{}\n", clean(&c.requirement), found(c), configuration(c))
        };
        // A requirement is met only if all its results meet it.
        let mut all: BTreeMap<&str, bool> = BTreeMap::new();
        for c in self.requirements {
            *all.entry(&c.requirement).or_insert(true) &= c.met;
        }
        let met = all.values().filter(|met| **met).count();
        let of = plural(all.len() as u64, "requirement");
        self.requirements.iter().map(line).collect::<String>() + &format!("{met} of {of} met.\n")
    }
}

fn case(c: &CheckedRequirement) -> Case {
    Case {
        name: junit::text(&format!("{}{}", c.requirement, configuration(c))),
        ending: (!c.met).then(|| Ending::Failure(Cause::new("missed", junit::text(&found(c))))),
        ..Case::default()
    }
}

/// What was found: the figure, and why it does not count where it does not.
fn found(c: &CheckedRequirement) -> String {
    let reason = clean(c.reason.as_deref().unwrap_or_default());
    let ids = |ids: &[String]| ids.iter().map(|id| clean(id)).collect::<Vec<_>>().join(", ");
    let value = figure(c);
    match (value, c.verdict.filter(|v| *v != Verdict::Valid)) {
        (value, Some(verdict)) => {
            let value = value.map_or_else(
                || format!("no {}:", clean(&c.statistic)),
                |value| format!("{value}, but"),
            );
            let why = if c.checks.is_empty() { reason } else { ids(&c.checks) };
            format!("{value} the result is {verdict} ({why})")
        }
        (Some(value), None) if !c.disturbances.is_empty() => {
            format!("{value}, disturbed by {}", ids(&c.disturbances))
        }
        (Some(value), None) => value,
        (None, None) => reason,
    }
}

/// `delivered 82.44 GFLOP/s (attainable 118.1)`.
fn figure(c: &CheckedRequirement) -> Option<String> {
    let (value, name) = (c.value?, clean(&c.statistic));
    let Some(unit) = c.unit else { return Some(format!("{name} {} %", percent(value)?)) };
    let scale = Scale::for_largest([value], unit);
    let headline = c.headline.and_then(|h| {
        let number = scale.number(h.value)?;
        Some(format!(" ({} {number})", h.figure.as_str()))
    });
    Some(format!("{name} {}{}", scale.with_label(value)?, headline.unwrap_or_default()))
}

/// ` (threads=1)`; empty without parameters.
fn configuration(c: &CheckedRequirement) -> String {
    let params = c.params.iter().flat_map(|p| &p.0);
    let params: Vec<String> = params.map(|(name, value)| format!("{name}={value}")).collect();
    if params.is_empty() { String::new() } else { clean(&format!(" ({})", params.join(" "))) }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{FigureKind, HeadlineFigure, Params, Unit};

    use super::*;

    fn checked(met: bool, value: Option<f64>, verdict: Verdict) -> CheckedRequirement {
        CheckedRequirement {
            requirement: "disk.fsync.p99<10ms".into(),
            met,
            params: Some(Params::default().with("threads", 1)),
            statistic: "p99".into(),
            value,
            unit: Some(Unit::Second),
            headline: None,
            verdict: Some(verdict),
            checks: if verdict == Verdict::Valid { vec![] } else { vec!["steal".into()] },
            disturbances: Vec::new(),
            reason: value.is_none().then(|| "no such figure in the result".into()),
        }
    }

    #[test]
    fn each_form_says_what_was_found() {
        let all = [
            checked(true, Some(1.25e-3), Verdict::Valid),
            checked(false, Some(1.25e-2), Verdict::Suspect),
            checked(false, None, Verdict::Valid),
            CheckedRequirement {
                params: None,
                verdict: None,
                reason: Some("not measured".into()),
                ..checked(false, None, Verdict::Valid)
            },
            CheckedRequirement {
                checks: Vec::new(),
                reason: Some("the worker was ended by SIGILL: gone".into()),
                ..checked(false, None, Verdict::Invalid)
            },
            CheckedRequirement {
                requirement: "cpu.flops>=100GFLOP/s".into(),
                statistic: "delivered".into(),
                unit: Some(Unit::FlopPerSecond),
                headline: Some(HeadlineFigure { figure: FigureKind::Attainable, value: 118.1e9 }),
                disturbances: vec!["steal".into(), "other_cpu".into()],
                ..checked(false, Some(82.44e9), Verdict::Valid)
            },
        ];
        let check = Check::new("x", None, &all);
        insta::assert_snapshot!(check.terminal() + &check.markdown() + &check.junit().unwrap());
        let json: serde_json::Value = serde_json::from_str(&check.json().unwrap()).unwrap();
        assert_eq!(json["requirements"].as_array().unwrap().len(), 6);
    }

    #[test]
    fn a_requirement_counts_once_and_is_met_by_all_its_results() {
        let met = |requirement: &str, met| CheckedRequirement {
            requirement: requirement.into(),
            ..checked(met, Some(1e-3), Verdict::Valid)
        };
        let all = [met("a<1s", false), met("a<1s", true), met("b<1s", true), met("b<1s", true)];
        let text = Check::new("x", None, &all).terminal();
        assert!(text.ends_with("1 of 2 requirements met.\n"), "{text}");
    }
}
