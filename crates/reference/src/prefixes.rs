//! The prefixes that other programs put before each line of an output: mpirun, srun, pdsh, kubectl,
//! docker, Ansible, loggers, mails. Lines keep their numbers.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::common::without_common;
use crate::parts::{Form, Part, by_line, each};

/// Returns the length of a prefix of this kind in a line; `None` if the line has none.
type Prefix = fn(&str) -> Option<usize>;

/// What a kind of prefix names.
#[derive(Clone, Copy, PartialEq)]
enum Names {
    Nothing,
    /// The program that printed the line. The lines of each are an output.
    Program,
    /// The same, with the machine, the container or the run.
    Place,
    /// The same, with the number of a task. The tasks of a launcher run at once.
    Task,
}

/// The kinds of prefixes.
const PREFIXES: &[(Prefix, Names)] = &[
    (tag, Names::Task),
    (pod, Names::Place),
    (bracketed, Names::Nothing),
    (label, Names::Program),
    (angled, Names::Place),
    (step, Names::Nothing),
    (time, Names::Nothing),
    (syslog, Names::Nothing),
    (program, Names::Program),
    (column, Names::Place),
    (rank, Names::Task),
    (counted, Names::Nothing),
    (host, Names::Place),
    (mail, Names::Nothing),
    (comment, Names::Nothing),
];

/// The maximum number of indentation depths that are tried.
const DEPTHS: usize = 8;

/// Returns the text without each kind of prefix that half of its lines have.
pub(crate) fn without_prefixes(text: &str) -> Vec<Form> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let half = lines().count().div_ceil(2).max(1);
    let most = |(prefix, _): &&(Prefix, Names)| {
        lines().filter(|line| prefix(line).is_some()).count() >= half
    };
    let mut found: Vec<Form> = PREFIXES
        .iter()
        .filter(most)
        .map(|(prefix, names)| Form {
            text: each(text, |line| line.get(prefix(line).unwrap_or(0)..).unwrap_or(line).into()),
            parts: (*names != Names::Nothing).then(|| by_name(text, *prefix, *names)).flatten(),
        })
        .collect();
    if lines().filter(|line| quoted(line).is_some()).count() >= half {
        found.push(Form::whole(each(text, |line| {
            quoted(line).map_or_else(|| line.into(), Cow::Owned)
        })));
    }
    let depths: BTreeSet<usize> = lines().map(indentation).filter(|depth| *depth > 0).collect();
    found.extend(depths.into_iter().take(DEPTHS).map(|depth| {
        Form::whole(each(text, |line| {
            line.get(depth.min(indentation(line))..).unwrap_or(line).into()
        }))
    }));
    // The lines of several programs are not one output, whatever they have in common.
    if found.iter().all(|form| form.parts.is_none()) {
        found.extend(without_common(text));
    }
    found
}

/// Returns the lines of each name; see [`by_line`].
fn by_name(text: &str, prefix: Prefix, kind: Names) -> Option<Vec<Part>> {
    let split = |line| {
        let (found, rest) = str::split_at_checked(line, prefix(line)?)?;
        Some((found.trim_end().into(), rest))
    };
    by_line(text, split, |name| match kind {
        Names::Place => name.to_owned(),
        Names::Task => task(name),
        Names::Program | Names::Nothing => String::new(),
    })
}

/// Returns `task 3` for `3`, `1,3]<stdout`.
fn task(name: &str) -> String {
    let mut parts = name.split(|c: char| !c.is_ascii_digit());
    format!("task {}", parts.rfind(|part| !part.is_empty()).unwrap_or_default())
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Returns the place `at`, or after one space that follows.
fn and_space(line: &str, at: usize) -> Option<usize> {
    let rest = line.get(at..)?;
    Some(at + usize::from(rest.starts_with(' ')))
}

/// Matches `[1,0]<stdout>:` of mpirun.
fn tag(line: &str) -> Option<usize> {
    let (_, rest) = line.strip_prefix('[')?.split_once("]<std")?;
    let rest = rest.strip_prefix("out>:").or_else(|| rest.strip_prefix("err>:"))?;
    and_space(line, line.len() - rest.len())
}

/// Matches `[pod/iperf3-client/main] ` of kubectl.
fn pod(line: &str) -> Option<usize> {
    let (inner, rest) = line.strip_prefix("[pod/")?.split_once("] ")?;
    (!inner.contains(' ')).then(|| line.len() - rest.len())
}

/// Matches `[2024-01-02T03:04:05.678Z] ` of a build server.
fn bracketed(line: &str) -> Option<usize> {
    let (inner, rest) = line.strip_prefix('[')?.split_once("] ")?;
    time(&format!("{inner} ")).map(|_| line.len() - rest.len())
}

/// Matches `[stdout] ` of a script.
fn label(line: &str) -> Option<usize> {
    let (inner, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let is_word = !inner.is_empty() && inner.bytes().all(|b| b.is_ascii_alphabetic());
    is_word.then(|| line.len() - rest.len())
}

/// Matches `<h2>: ` of an emulated network.
fn angled(line: &str) -> Option<usize> {
    let (inner, rest) = line.strip_prefix('<')?.split_once(">:")?;
    let is_name = !inner.is_empty() && !inner.contains([' ', '<']);
    is_name.then(|| and_space(line, line.len() - rest.len())).flatten()
}

/// Matches ` * `, `// ` and `# ` of a comment in a program.
fn comment(line: &str) -> Option<usize> {
    let text = line.trim_start();
    let mark = ["*", "//", "#"].into_iter().find(|mark| text.starts_with(mark))?;
    and_space(line, line.len() - text.len() + mark.len())
}

/// Matches `job<TAB>step<TAB>2024-01-02T03:04:05.678Z ` of a build server's command line.
fn step(line: &str) -> Option<usize> {
    let (_, rest) = line.split_once('\t')?;
    let (_, rest) = rest.split_once('\t')?;
    Some(line.len() - rest.len() + time(rest)?)
}

/// Matches `2024-01-02T03:04:05.678Z ` of docker, kubectl and many loggers.
fn time(line: &str) -> Option<usize> {
    let date = line.get(..10)?.bytes().enumerate().all(|(i, b)| match i {
        4 | 7 => b == b'-',
        _ => b.is_ascii_digit(),
    });
    let rest = line.get(11..).filter(|_| date && matches!(line.as_bytes()[10], b'T' | b' '))?;
    let clock = rest.split(' ').next()?;
    (clock.len() >= 8 && clock.as_bytes().get(2) == Some(&b':')).then_some(())?;
    and_space(line, 11 + clock.len())
}

/// Matches `Jan  2 03:04:05 host program[123]: `.
fn syslog(line: &str) -> Option<usize> {
    let clock = line.get(7..15)?;
    let is_clock = clock.bytes().enumerate().all(|(i, b)| match i {
        2 | 5 => b == b':',
        _ => b.is_ascii_digit(),
    });
    let (head, rest) = line.get(16..).filter(|_| is_clock)?.split_once(": ")?;
    (head.split(' ').count() <= 2).then(|| line.len() - rest.len())
}

/// Matches `host program[123]: `, after a time of any form.
fn program(line: &str) -> Option<usize> {
    let (head, rest) = line.split_once("]: ")?;
    let (name, number) = head.rsplit_once('[')?;
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    (is_number && name.split(' ').count() <= 2).then(|| line.len() - rest.len())
}

/// Matches `client-1  | ` of docker compose, `host | ` of a launcher.
fn column(line: &str) -> Option<usize> {
    let (name, rest) = line.split_once('|')?;
    let name = name.trim_end();
    let is_name = !name.is_empty() && !name.contains([' ', '\t']);
    is_name.then(|| and_space(line, line.len() - rest.len())).flatten()
}

/// Matches `0: ` of srun --label.
fn rank(line: &str) -> Option<usize> {
    let (number, rest) = line.split_once(':')?;
    let is_number = !number.trim().is_empty() && number.trim().bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| and_space(line, line.len() - rest.len())).flatten()
}

/// Matches `     7<TAB>` of cat -n.
fn counted(line: &str) -> Option<usize> {
    let (number, rest) = line.split_once('\t')?;
    let number = number.trim_start();
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| line.len() - rest.len())
}

/// Matches `node01: ` of pdsh, `run 3: ` of a script: the name ends in a digit.
fn host(line: &str) -> Option<usize> {
    let (name, rest) = line.split_once(':')?;
    let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '#' | ' ');
    let is_name = name.len() <= LONGEST_NAME
        && name.split(' ').count() <= 2
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.ends_with(|c: char| c.is_ascii_digit())
        && name.chars().all(of_name);
    is_name.then(|| and_space(line, line.len() - rest.len())).flatten()
}

/// The maximum bytes of the name of a host or a run.
const LONGEST_NAME: usize = 64;

/// Matches `> ` and `> > ` of quoted mails.
fn mail(line: &str) -> Option<usize> {
    let (mut at, mut quoted) = (0, line);
    while let Some(rest) = quoted.strip_prefix('>') {
        at = and_space(line, line.len() - rest.len())?;
        quoted = line.get(at..)?;
    }
    (at > 0).then_some(at)
}

/// Reads a line of a JSON list, as Ansible prints `stdout_lines`.
fn quoted(line: &str) -> Option<String> {
    let line = line.trim();
    serde_json::from_str(line.strip_suffix(',').unwrap_or(line)).ok()
}
