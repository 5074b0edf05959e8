//! Requirements and whether a run meets them, for people, for CI, and for programs.

use proofmark_model::{CheckedRequirement, Comparison, REQUIREMENTS_SCHEMA, Verdict};
use serde::Serialize;

use crate::junit::document::{self, Case, Ending, Outcome, Suite};
use crate::view::{Scale, clean, percent, plural};

/// A line each, and how many are met.
pub fn terminal(all: &[CheckedRequirement]) -> String {
    let line = |c: &CheckedRequirement| {
        let mark = if c.met { "✓ met" } else { "✗ missed" };
        let at = configuration(c).map_or_else(String::new, |at| format!(" ({at})"));
        format!("{mark} {}: {}{at}\n", clean(&c.requirement), found(c))
    };
    let met = all.iter().filter(|c| c.met).count();
    let of = plural(all.len() as u64, "requirement");
    all.iter().map(line).collect::<String>() + &format!("{met} of {of} met.\n")
}

/// A suite with a case each.
pub fn suite(all: &[CheckedRequirement]) -> Suite {
    let case = |c: &CheckedRequirement| Case {
        name: match configuration(c) {
            Some(at) => format!("{} ({at})", clean(&c.requirement)),
            None => clean(&c.requirement),
        },
        outcome: (!c.met).then(|| Outcome::new(Ending::Failure, "missed", found(c))),
        ..Case::default()
    };
    let cases = all.iter().map(case).collect();
    Suite { name: "requirements".to_owned(), cases, ..Suite::default() }
}

/// The suite alone.
pub fn junit(run: &str, all: &[CheckedRequirement]) -> String {
    document::write(&format!("requirements of {}", clean(run)), &[suite(all)])
}

/// One object, with the comparison where there is one: schema `proofmark.requirements/1`.
///
/// # Errors
/// If it does not fit into JSON.
pub fn json(
    all: &[CheckedRequirement],
    comparison: Option<&Comparison>,
) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct Checked<'a> {
        schema: &'static str,
        requirements: &'a [CheckedRequirement],
        #[serde(skip_serializing_if = "Option::is_none")]
        comparison: Option<&'a Comparison>,
    }
    let checked = Checked { schema: REQUIREMENTS_SCHEMA, requirements: all, comparison };
    Ok(serde_json::to_string_pretty(&checked)? + "\n")
}

/// What was found: the figure, and why it does not count where it does not.
fn found(c: &CheckedRequirement) -> String {
    let value = c.value.and_then(|v| match c.unit {
        Some(unit) => Scale::for_largest([v], unit).with_label(v),
        None => percent(v).map(|p| format!("{p} %")),
    });
    let value = match (&c.params, value) {
        (None, _) => return "not measured".to_owned(),
        (Some(_), value) => value.unwrap_or_else(|| "no such figure in the result".to_owned()),
    };
    let checks: Vec<String> = c.checks.iter().map(|check| clean(check)).collect();
    match c.verdict {
        Some(verdict) if verdict != Verdict::Valid => {
            format!("{value}, but the result is {verdict} ({})", checks.join(", "))
        }
        _ => value,
    }
}

fn configuration(c: &CheckedRequirement) -> Option<String> {
    let params = c.params.as_ref().filter(|p| !p.0.is_empty())?;
    let one = |(name, value): (&String, &proofmark_model::Param)| format!("{name}={value}");
    Some(clean(&params.0.iter().map(one).collect::<Vec<_>>().join(" ")))
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
        let text = terminal(&all);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "✓ met disk.fsync.p99<10ms: 1.250 ms (threads=1)");
        assert!(lines[1].contains("12.50 ms, but the result is suspect (steal)"), "{text}");
        assert!(
            lines[2].contains("no such figure") && lines[3].ends_with("not measured"),
            "{text}"
        );
        assert_eq!(lines[4], "1 of 4 requirements met.");
        let xml = junit("x", &all);
        assert!(xml.contains("tests=\"4\"") && xml.matches("<failure").count() == 3, "{xml}");
        let json: serde_json::Value = serde_json::from_str(&json(&all, None).unwrap()).unwrap();
        assert_eq!(json["requirements"].as_array().unwrap().len(), 4);
    }
}
