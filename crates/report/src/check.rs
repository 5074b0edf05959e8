//! A check in CI: what is slower than in the baseline, and whether requirements are met.

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
        let met = self.requirements.iter().filter(|c| c.met).count();
        let of = plural(self.requirements.len() as u64, "requirement");
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
    let value = c.value.and_then(|v| match c.unit {
        Some(unit) => Scale::for_largest([v], unit).with_label(v),
        None => percent(v).map(|p| format!("{p} %")),
    });
    if c.params.is_none() || c.verdict.is_none() {
        return "not measured".to_owned();
    }
    let value = value.unwrap_or_else(|| "no such figure in the result".to_owned());
    match c.verdict {
        Some(verdict) if verdict != Verdict::Valid => {
            let checks: Vec<String> = c.checks.iter().map(|check| clean(check)).collect();
            format!("{value}, but the result is {verdict} ({})", checks.join(", "))
        }
        _ => value,
    }
}

/// ` (threads=1)`; empty without parameters.
fn configuration(c: &CheckedRequirement) -> String {
    let params = c.params.iter().flat_map(|p| &p.0);
    let params: Vec<String> = params.map(|(name, value)| format!("{name}={value}")).collect();
    if params.is_empty() { String::new() } else { clean(&format!(" ({})", params.join(" "))) }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Params, Unit};

    use super::*;

    fn checked(met: bool, value: Option<f64>, verdict: Verdict) -> CheckedRequirement {
        CheckedRequirement {
            requirement: "disk.fsync.p99<10ms".into(),
            met,
            params: Some(Params::default().with("threads", 1)),
            value,
            unit: Some(Unit::Second),
            verdict: Some(verdict),
            checks: if verdict == Verdict::Valid { vec![] } else { vec!["steal".into()] },
        }
    }

    #[test]
    fn each_form_says_what_was_found() {
        let all = [
            checked(true, Some(1.25e-3), Verdict::Valid),
            checked(false, Some(1.25e-2), Verdict::Suspect),
            checked(false, None, Verdict::Valid),
            CheckedRequirement { params: None, ..checked(false, None, Verdict::Valid) },
        ];
        let check = Check::new("x", None, &all);
        insta::assert_snapshot!(check.terminal() + &check.markdown() + &check.junit().unwrap());
        let json: serde_json::Value = serde_json::from_str(&check.json().unwrap()).unwrap();
        assert_eq!(json["requirements"].as_array().unwrap().len(), 4);
    }
}
