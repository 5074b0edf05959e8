//! The audit as text: counts, then flagged figures by fault and operation, or every figure.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use proofmark_model::{Finding, Subsystem, Verdict, clean, counted};

use super::summary;
use crate::{Figure, Judged, Missing, Sheet};

/// Renders the audit as text; `all` prints every figure on its own line.
pub fn render(sheet: &Sheet, judged: &[Judged], all: bool) -> String {
    let mut out = counts(judged);
    if all {
        for (figure, judged) in sheet.figures().iter().zip(judged) {
            out.push_str(&line(figure, judged));
        }
    } else {
        out.push_str(&groups(sheet, judged));
    }
    out
}

fn counts(judged: &[Judged]) -> String {
    let s = summary(judged);
    let mut out = format!(
        "{}: {} valid, {} not checked, {} suspect, {} invalid\n",
        counted(s.figures as u64, "figure"),
        s.valid,
        s.not_checked,
        s.suspect,
        s.invalid
    );
    if !s.reasons.is_empty() {
        out.push_str("\n  first  found  reason\n");
    }
    for r in s.reasons {
        let _ = writeln!(out, "{:>7}{:>7}  {} ({})", r.first, r.found, r.title, r.rule);
    }
    if !s.missing.is_empty() {
        out.push_str("\n  not checked  passed other rules  missing\n");
    }
    for gap in s.missing {
        let (none, some) = (gap.not_checked, gap.passed_others);
        let rule = gap.missing.rule.map_or_else(String::new, |rule| format!(" ({rule})"));
        let _ = writeln!(out, "{none:>13}{some:>20}  {}{rule}", gap.missing.what);
    }
    out.push('\n');
    out
}

/// Properties that the figures of a group share.
type Shared<'a> = (&'a str, Subsystem, &'a str, &'a str, &'a str);

struct Group<'a> {
    verdict: Verdict,
    count: usize,
    worst: (&'a Figure, &'a Finding),
}

fn groups(sheet: &Sheet, judged: &[Judged]) -> String {
    let mut groups: BTreeMap<Shared, Group> = BTreeMap::new();
    for (figure, judged) in sheet.figures().iter().zip(judged) {
        let Some(finding) = judged.reason().filter(|_| judged.verdict != Verdict::Valid) else {
            continue;
        };
        let key: Shared = (
            &finding.check,
            figure.subsystem,
            &figure.tool,
            &figure.operation,
            &figure.metric_name,
        );
        let group = groups.entry(key).or_insert(Group {
            verdict: judged.verdict,
            count: 0,
            worst: (figure, finding),
        });
        group.count += 1;
        group.verdict = group.verdict.max(judged.verdict);
        if judged.verdict == group.verdict && figure.si > group.worst.0.si {
            group.worst = (figure, finding);
        }
    }
    let mut out = String::new();
    for rule in crate::rules::ALL {
        let mine: Vec<_> = groups.iter().filter(|(key, _)| key.0 == rule.id).collect();
        let Some((_, first)) = mine.first() else { continue };
        let _ = writeln!(out, "{}: {}", rule.id, rule.title);
        for ((_, subsystem, tool, operation, metric), group) in &mine {
            let (figure, finding) = group.worst;
            let _ = writeln!(
                out,
                "  {:>5} {:<7}  {subsystem} {} {} {}; such as line {}: {}",
                group.count,
                group.verdict,
                clean(tool),
                clean(operation),
                clean(metric),
                figure.line,
                clean(&finding.message)
            );
        }
        let _ = writeln!(out, "  advice: {}\n", first.worst.1.advice);
    }
    out
}

fn line(figure: &Figure, judged: &Judged) -> String {
    let or_dash = |n: Option<u64>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let mut out = format!(
        "{:>6}  {:<11}  {} {} {} {}, block {}, threads {}, trial {}: {} {}",
        figure.line,
        judged.verdict_word(),
        figure.subsystem,
        clean(&figure.tool),
        clean(&figure.operation),
        clean(&figure.metric_name),
        or_dash(figure.block),
        or_dash(figure.threads),
        clean(&figure.statistic_name),
        figure.value,
        clean(&figure.unit)
    );
    for finding in &judged.findings {
        let _ = write!(out, "\n{:>21}{}: {}", "", finding.check, clean(&finding.message));
    }
    for Missing { rule, what } in &judged.missing {
        let rule = rule.map_or_else(String::new, |rule| format!("{rule}: "));
        let _ = write!(out, "\n{:>21}{rule}{what}", "");
    }
    out.push('\n');
    out
}
