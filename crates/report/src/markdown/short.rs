//! The report in short, for an issue: as much as its text field takes.

use proofmark_model::Run;

use super::{blocks, escape, facts_line, finding, line, table};
use crate::view::{Short, Table, and_list, counted};
use crate::{More, Options};

/// Characters of the text. GitHub takes 65 536 in an issue or a comment.
const MOST: usize = 60_000;

/// Characters for findings and for conclusions; results get the rest.
const FOR_FINDINGS: usize = 20_000;
const FOR_CONCLUSIONS: usize = 6_000;

/// Machine, main results, findings, conclusions and one row per result, and where the rest is.
pub(crate) fn short(run: &Run, _: &Options, _: &More) -> String {
    let short = Short::from_run(run);
    let findings = short.findings.iter().map(|group| {
        let mut out = String::new();
        finding(&mut out, group);
        out
    });
    let findings: Vec<String> = findings.collect();
    let conclusions = short.conclusions.iter().map(|text| format!("- {}\n", escape(text)));
    let conclusions: Vec<String> = conclusions.collect();
    let rows = short.results.rows.len();
    let most = MOST.saturating_sub(end([findings.len(), conclusions.len(), rows]).chars().count());
    let mut out = String::new();
    line(&mut out, &format!("# {}", escape(&short.head.title)));
    line(&mut out, &facts_line(&short.head));
    blocks(&mut out, &short.head.blocks, 2);
    let out = &mut cut(&out, most);
    let room = |out: &str, own: usize| own.min(most.saturating_sub(out.chars().count()));
    let for_findings = room(out, FOR_FINDINGS);
    let without_findings = add(out, "Findings", &findings, for_findings);
    let for_conclusions = room(out, FOR_CONCLUSIONS);
    let without_conclusions = add(out, "Conclusions", &conclusions, for_conclusions);
    let for_results = room(out, MOST);
    let without_rows = add_rows(out, &short.results, for_results);
    out.to_owned() + &end([without_findings, without_conclusions, without_rows])
}

/// The lines of a text that fit into that many characters.
fn cut(text: &str, most: usize) -> String {
    let mut left = most;
    let fits = |line: &&str| {
        let length = line.chars().count();
        let fits = length <= left;
        left = left.saturating_sub(length);
        fits
    };
    text.split_inclusive('\n').take_while(fits).collect()
}

/// Adds the parts that fit below a heading. Returns how many do not.
fn add(out: &mut String, title: &str, parts: &[String], room: usize) -> usize {
    let heading = format!("## {title}\n\n");
    let mut used = heading.len() + 1;
    let fits = |part: &&String| {
        used += part.chars().count();
        used <= room
    };
    let fitting = parts.iter().take_while(fits).count();
    if fitting > 0 {
        *out += &format!("{heading}{}\n", parts[..fitting].concat());
    }
    parts.len() - fitting
}

/// Adds the rows that fit, with their footnotes. Returns how many do not.
fn add_rows(out: &mut String, results: &Table, room: usize) -> usize {
    let all = results.rows.len();
    let mut count = all;
    while count > 0 {
        let mut text = String::new();
        table(&mut text, &results.first_rows(count));
        let length = text.chars().count();
        if length <= room {
            *out += &text;
            break;
        }
        // Rows are about equally long.
        count = (count - 1).min(count * room / length);
    }
    all - count
}

/// The last line: what is left out, and where it is. It names no path, since the text goes to
/// others.
fn end([findings, conclusions, rows]: [usize; 3]) -> String {
    let count = |n: usize, noun: &str| (n > 0).then(|| counted(n as u64, noun));
    let left = [
        count(findings, "more finding"),
        count(conclusions, "more conclusion"),
        count(rows, "more result"),
        Some("the tables of each workload, ceilings, method and the machine's facts".to_owned()),
    ];
    let left = and_list(left.into_iter().flatten());
    let command = "`proofmark report RUN --format markdown --all`";
    format!(
        "Left out: {left}. {command} prints all, and the run's directory has it as report.md.\n"
    )
}
