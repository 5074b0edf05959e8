//! The audit as CSV: figures, verdicts and reasons. Cells that could be formulas get an apostrophe.

use proofmark_model::clean;

use crate::columns::COLUMNS;
use crate::{Judged, Sheet};

/// Columns after those of the figures, except for the base unit.
const OWN: [&str; 4] = ["verdict", "reason", "reasons", "message"];

/// Renders the audit as CSV.
pub fn render(sheet: &Sheet, judged: &[Judged]) -> Result<Vec<u8>, csv::Error> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let columns = COLUMNS.iter().map(|column| column.name);
    let columns = columns.filter(|name| !["si_unit", "note"].contains(name));
    out.write_record(["line"].into_iter().chain(columns).chain(OWN))?;
    let number = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
    for (f, j) in sheet.figures().iter().zip(judged) {
        let reason = j.reason();
        let ids: Vec<&str> = j.findings.iter().map(|f| f.check.as_ref()).collect();
        let missing = j.missing.first().filter(|_| !j.checked);
        let message = reason.map(|r| r.message.as_str()).or(missing.map(|m| m.what));
        let message = message.map_or_else(String::new, harmless);
        out.write_record([
            f.line.to_string(),
            f.subsystem.as_str().to_owned(),
            harmless(&f.tool),
            harmless(&f.operation),
            harmless(&f.metric_name),
            number(f.block),
            number(f.threads),
            harmless(&f.statistic_name),
            f.value.to_string(),
            harmless(&f.unit),
            f.si.map_or_else(String::new, |v| v.to_string()),
            super::id(j),
            reason.map_or_else(String::new, |r| r.check.to_string()),
            ids.join(" "),
            message,
        ])?;
    }
    out.into_inner().map_err(|e| csv::Error::from(e.into_error()))
}

fn harmless(text: &str) -> String {
    let text = clean(text);
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_formula_is_quoted() {
        assert_eq!(super::harmless("=1+1"), "'=1+1");
        assert_eq!(super::harmless("own"), "own");
    }
}
