//! The report in short, at most two screens of text.

use std::collections::BTreeSet;

use proofmark_model::Run;

use super::Page;
use crate::view::{FindingGroup, Short, and_list, counted};
use crate::{More, Options};

/// Lines of two screens.
const LINES: usize = 100;

/// Lines that conclusions may take from further problems.
const FOR_CONCLUSIONS: usize = 16;

/// Machine, main results, problems and conclusions, and where the rest is.
pub(crate) fn short(run: &Run, options: &Options, more: &More) -> String {
    let Short { head, findings, conclusions, .. } = Short::from_run(run);
    let (problems, notes): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(FindingGroup::is_problem);
    let results = results_left_out(run);
    let end = |left: [usize; 3]| end(options, more, results.as_deref(), left);
    // As long as the end of a text that leaves out everything.
    let most = end([problems.len(), conclusions.len(), notes.len()]).lines().count();
    let most = LINES.saturating_sub(most);
    let mut out = Page::new(options).document(&head);
    if out.lines().count() > most {
        out = out.lines().take(most).map(|line| format!("{line}\n")).collect();
    }
    let problems: Vec<String> = problems.iter().map(|p| problem(options, p)).collect();
    let conclusions: Vec<String> = conclusions.iter().map(|c| item(options, c)).collect();
    let room = |out: &str| most.saturating_sub(out.lines().count());
    let kept = lines_of(&conclusions).min(FOR_CONCLUSIONS);
    let for_problems = room(&out).saturating_sub(kept);
    let without_problems = add(&mut out, options, "Problems found", &problems, for_problems);
    let for_conclusions = room(&out);
    let without_conclusions = add(&mut out, options, "Conclusions", &conclusions, for_conclusions);
    out + &end([without_problems, without_conclusions, notes.len()])
}

/// The results without a row, of how many; `None` if all have one. Series have their own part.
fn results_left_out(run: &Run) -> Option<String> {
    let main = run.main_results();
    let shown: BTreeSet<_> = main
        .iter()
        .flat_map(|(_, rows)| rows)
        .map(|row| std::ptr::from_ref(row.measurement))
        .collect();
    let all = || run.measurements.iter().filter(|m| m.series.is_none());
    let left = all().filter(|m| !shown.contains(&std::ptr::from_ref(*m))).count();
    (left > 0).then(|| format!("{left} of {}", counted(all().count() as u64, "result")))
}

/// Lines of a section: an empty one, its heading and its parts.
fn lines_of(parts: &[String]) -> usize {
    let all: usize = parts.iter().map(|part| part.lines().count()).sum();
    if parts.is_empty() { 0 } else { 2 + all }
}

/// Adds the parts that fit into that many lines below a heading. Returns how many do not.
fn add(out: &mut String, options: &Options, title: &str, parts: &[String], room: usize) -> usize {
    let mut used = 2;
    let fits = |part: &&String| {
        used += part.lines().count();
        used <= room
    };
    let fitting = parts.iter().take_while(fits).count();
    if fitting > 0 {
        let mut page = Page::new(options);
        page.title(title);
        *out += &format!("\n{}{}", page.out, parts[..fitting].concat());
    }
    parts.len() - fitting
}

fn problem(options: &Options, problem: &FindingGroup) -> String {
    let mut page = Page::new(options);
    page.finding(problem);
    page.out
}

fn item(options: &Options, text: &str) -> String {
    let mut page = Page::new(options);
    page.wrap("- ", 2, text);
    page.out
}

/// The last lines: what is left out, and where it is.
fn end(
    options: &Options,
    more: &More,
    results: Option<&str>,
    [problems, conclusions, notes]: [usize; 3],
) -> String {
    let count = |n: usize, noun: &str| (n > 0).then(|| counted(n as u64, noun));
    let left = [
        results.map(str::to_owned),
        count(problems, "more problem"),
        count(conclusions, "more conclusion"),
        count(notes, "note"),
        Some("the tables of each workload".to_owned()),
    ];
    let left = and_list(left.into_iter().flatten());
    let mut page = Page::new(options);
    page.wrap("", 2, &format!("Left out: {left}."));
    page.wrap("", 2, &format!("All: {} --all", more.command));
    if let Some(path) = more.page {
        page.wrap("", 2, &format!("Page with charts: {path}"));
    }
    format!("\n{}", page.out)
}
