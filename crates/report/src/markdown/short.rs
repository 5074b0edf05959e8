//! The report in short, for an issue: as much as its text field takes. The answer is open: main results,
//! problems and conclusions. Notes and the rows of all results are folded, since most readers of an
//! issue need none of them.

use proofmark_model::Run;

use super::{blocks, escape, facts_line, finding, line, table};
use crate::view::{FindingGroup, Short, Table, and_list, counted};
use crate::{More, Options};

/// Characters of the text. GitHub takes 65 536 in an issue or a comment.
const MOST: usize = 60_000;

/// Characters for problems, notes and conclusions; results get the rest.
const FOR_FINDINGS: usize = 14_000;
const FOR_NOTES: usize = 6_000;
const FOR_CONCLUSIONS: usize = 6_000;

/// Machine, main results, findings, conclusions and one row per result, and where the rest is.
pub(crate) fn short(run: &Run, _: &Options, _: &More) -> String {
    let short = Short::from_run(run);
    let written = |group: &&FindingGroup| {
        let mut out = String::new();
        finding(&mut out, group);
        out
    };
    let (problems, notes): (Vec<_>, Vec<_>) = short.findings.iter().partition(|g| g.is_problem());
    let [problems, notes]: [Vec<String>; 2] =
        [problems, notes].map(|groups| groups.iter().map(written).collect());
    let conclusions = short.conclusions.iter().map(|text| format!("- {}\n", escape(text)));
    let conclusions: Vec<String> = conclusions.collect();
    let rows = short.results.rows.len();
    let all = [short.findings.len(), conclusions.len(), rows];
    let most = MOST.saturating_sub(end(all).chars().count());
    let mut out = String::new();
    line(&mut out, &format!("# {}", escape(&short.head.title)));
    line(&mut out, &facts_line(&short.head));
    blocks(&mut out, &short.head.blocks, 2);
    let out = &mut cut(&out, most);
    let room = |out: &str, own: usize| own.min(most.saturating_sub(out.chars().count()));
    let problems_only = room(out, FOR_FINDINGS);
    let without_problems = add(out, &open("Problems"), &problems, problems_only);
    let for_conclusions = room(out, FOR_CONCLUSIONS);
    let without_conclusions = add(out, &open("Conclusions"), &conclusions, for_conclusions);
    let for_notes = room(out, FOR_NOTES);
    let title = counted(notes.len() as u64, "note");
    let without_notes = add(out, &folded(&title), &notes, for_notes);
    let for_results = room(out, MOST);
    let without_rows = add_rows(out, &short.results, for_results);
    out.to_owned() + &end([without_problems + without_notes, without_conclusions, without_rows])
}

/// What begins and ends a part.
type Frame = [String; 2];

/// A part below a heading.
fn open(title: &str) -> Frame {
    [format!("## {title}\n\n"), "\n".to_owned()]
}

/// A part that a reader opens.
fn folded(title: &str) -> Frame {
    let begin = format!("<details>\n<summary>{title}</summary>\n\n");
    [begin, "\n</details>\n\n".to_owned()]
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

/// Adds the parts that fit into a frame. Returns how many do not.
fn add(out: &mut String, [begin, end]: &Frame, parts: &[String], room: usize) -> usize {
    let mut used = begin.len() + end.len();
    let fits = |part: &&String| {
        used += part.chars().count();
        used <= room
    };
    let fitting = parts.iter().take_while(fits).count();
    if fitting > 0 {
        *out += &format!("{begin}{}{end}", parts[..fitting].concat());
    }
    parts.len() - fitting
}

/// Adds the rows that fit, with their footnotes. Returns how many do not.
fn add_rows(out: &mut String, results: &Table, room: usize) -> usize {
    let all = results.rows.len();
    let [begin, end] = folded(&format!("{} ({all})", results.caption));
    let mut count = all;
    while count > 0 {
        let mut text = String::new();
        table(&mut text, &Table { caption: String::new(), ..results.first_rows(count) });
        let text = format!("{begin}{}{end}", text.trim_end());
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
