//! How many results are not valid, and the most frequent cause.

use std::collections::BTreeMap;

use proofmark_model::{Measurement, Severity, Verdict};

use super::claim::{self, Claim};
use crate::view::label::Group;
use crate::view::text::{clean, plural};

/// Whether all numbers are suspect, so that none of them is marked as such.
pub fn all_suspect(all: &[(usize, &Group)]) -> bool {
    claim::all_suspect(all.iter().flat_map(|(_, g)| g.all.iter().copied()))
}

/// The sentences on invalid and on suspect numbers.
pub fn claims(all: &[(usize, &Group)]) -> Vec<Claim> {
    let every: Vec<&Measurement> = all.iter().flat_map(|(_, g)| g.all.iter().copied()).collect();
    let said = [
        (Verdict::Invalid, Severity::Invalid, ["do not use it", "do not use them"]),
        (
            Verdict::Suspect,
            Severity::Suspect,
            ["conclusions from it are uncertain", "conclusions from them are uncertain"],
        ),
    ];
    let sentence = |(verdict, severity, [one, more]): (Verdict, Severity, [&str; 2])| {
        let of: Vec<&Measurement> =
            every.iter().copied().filter(|m| m.verdict == verdict).collect();
        (!of.is_empty()).then_some(())?;
        let cause = commonest(&of, severity).map_or_else(String::new, |(check, count)| {
            format!(" Most frequent finding: {check} ({count} of {}).", of.len())
        });
        Some(Claim::doubt(format!(
            "{} of {} {} {verdict}: {}.{cause}",
            of.len(),
            plural(every.len() as u64, "result"),
            if of.len() == 1 { "is" } else { "are" },
            if of.len() == 1 { one } else { more },
        )))
    };
    said.into_iter().filter_map(sentence).collect()
}

/// The check that found a problem in most of these results, and in how many.
fn commonest(of: &[&Measurement], severity: Severity) -> Option<(String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for m in of {
        let mut checks: Vec<&str> =
            m.findings.iter().filter(|f| f.severity == severity).map(|f| &*f.check).collect();
        checks.sort_unstable();
        checks.dedup();
        checks.into_iter().for_each(|c| *counts.entry(c).or_default() += 1);
    }
    let most = counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(a.0)))?;
    Some((clean(most.0), most.1))
}
