//! What lies around an output before a tool's reader sees it: the encoding of its text, and what other
//! programs put before each line (mpirun, srun, kubectl, docker, Ansible, loggers). Lines keep their numbers.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::{Malformed, Output, Tool};

/// A text from a file of any origin: UTF-8 or UTF-16, with or without a mark; bytes that are neither are
/// taken as Latin-1.
pub fn decoded(bytes: &[u8]) -> String {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => decoded(rest),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => match zeros(bytes) {
            [even, odd] if odd > TIMES_THE_ZEROS * even.max(1) => utf16(bytes, u16::from_le_bytes),
            [even, odd] if even > TIMES_THE_ZEROS * odd.max(1) => utf16(bytes, u16::from_be_bytes),
            _ => latin1(bytes),
        },
    }
}

/// Of a text that is mostly ASCII, UTF-16 has so many times the zeros at one place of each pair.
const TIMES_THE_ZEROS: usize = 10;
/// Bytes by which the encoding is told.
const SAMPLE: usize = 4096;

fn zeros(bytes: &[u8]) -> [usize; 2] {
    let sample = bytes.get(..SAMPLE).unwrap_or(bytes);
    [0, 1].map(|place| sample.iter().skip(place).step_by(2).filter(|b| **b == 0).count())
}

fn utf16(bytes: &[u8], of: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| of([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn latin1(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| char::from(*byte)));
    }
    text
}

/// Larger texts, in bytes, are not tried without prefixes.
const LARGEST: usize = 4 << 20;

/// What a text holds, read by the tool of these whose output it is: the first form of it that can be read,
/// as it is or without prefixes; where none can, why the first that looks like a tool's cannot. `None` if
/// it looks like none's, or several's.
pub(crate) fn read<'t>(
    text: &str,
    tool_of: impl Fn(&str) -> Option<&'t dyn Tool>,
) -> Option<(&'t dyn Tool, Result<Output, Malformed>)> {
    let mut first = None;
    let mut look = |text: &str| {
        let tool = tool_of(text)?;
        let output = tool.parse(text);
        if output.is_ok() {
            return Some((tool, output));
        }
        first.get_or_insert((tool, output));
        None
    };
    let found = look(text).or_else(|| {
        let once = if text.len() > LARGEST { Vec::new() } else { without_prefixes(text) };
        let mut twice = once.iter().flat_map(|text| without_prefixes(text));
        once.iter().find_map(|text| look(text)).or_else(|| twice.find_map(|text| look(&text)))
    });
    found.or(first)
}

/// How much of a line is a prefix; `None` if it has none of that kind.
type Prefix = fn(&str) -> Option<usize>;

const PREFIXES: &[Prefix] = &[tag, bracketed, time, syslog, column, rank, mail];

/// Depths of indentation that are tried.
const DEPTHS: usize = 8;

/// The text without each kind of prefix that half of its lines have.
fn without_prefixes(text: &str) -> Vec<String> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let half = lines().count().div_ceil(2).max(1);
    let mut found: Vec<String> = PREFIXES
        .iter()
        .filter(|prefix| lines().filter(|line| prefix(line).is_some()).count() >= half)
        .map(|prefix| {
            each(text, |line| line.get(prefix(line).unwrap_or(0)..).unwrap_or(line).into())
        })
        .collect();
    if lines().filter(|line| quoted(line).is_some()).count() >= half {
        found.push(each(text, |line| quoted(line).map_or_else(|| line.into(), Cow::Owned)));
    }
    let depths: BTreeSet<usize> = lines().map(indentation).filter(|depth| *depth > 0).collect();
    found.extend(depths.into_iter().take(DEPTHS).map(|depth| {
        each(text, |line| line.get(depth.min(indentation(line))..).unwrap_or(line).into())
    }));
    found
}

fn each<'a>(text: &'a str, change: impl Fn(&'a str) -> Cow<'a, str>) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        out.push_str(&change(line));
        out.push('\n');
    }
    out
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// So many bytes, and one space if there is one.
fn and_space(line: &str, at: usize) -> Option<usize> {
    let rest = line.get(at..)?;
    Some(at + usize::from(rest.starts_with(' ')))
}

/// `[1,0]<stdout>:` of mpirun.
fn tag(line: &str) -> Option<usize> {
    let (_, rest) = line.strip_prefix('[')?.split_once("]<std")?;
    let rest = rest.strip_prefix("out>:").or_else(|| rest.strip_prefix("err>:"))?;
    and_space(line, line.len() - rest.len())
}

/// `[pod/iperf3-client/main] ` of kubectl, `[2024-01-02T03:04:05.678Z] ` of a build server.
fn bracketed(line: &str) -> Option<usize> {
    let (inner, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let is_pod = inner.starts_with("pod/") && !inner.contains(' ');
    (is_pod || time(&format!("{inner} ")).is_some()).then(|| line.len() - rest.len())
}

/// `2024-01-02T03:04:05.678Z `, as docker, kubectl and many loggers have it.
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

/// `Jan  2 03:04:05 host program[123]: `.
fn syslog(line: &str) -> Option<usize> {
    let clock = line.get(7..15)?;
    let is_clock = clock.bytes().enumerate().all(|(i, b)| match i {
        2 | 5 => b == b':',
        _ => b.is_ascii_digit(),
    });
    let (head, rest) = line.get(16..).filter(|_| is_clock)?.split_once(": ")?;
    (head.split(' ').count() <= 2).then(|| line.len() - rest.len())
}

/// `client-1  | ` of docker compose, `host | ` of a launcher.
fn column(line: &str) -> Option<usize> {
    let (name, rest) = line.split_once('|')?;
    let name = name.trim_end();
    let is_name = !name.is_empty() && !name.contains([' ', '\t']);
    is_name.then(|| and_space(line, line.len() - rest.len())).flatten()
}

/// `0: ` of srun --label.
fn rank(line: &str) -> Option<usize> {
    let (number, rest) = line.split_once(':')?;
    let is_number = !number.trim().is_empty() && number.trim().bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| and_space(line, line.len() - rest.len())).flatten()
}

/// `> ` and `> > ` of mails that quote one.
fn mail(line: &str) -> Option<usize> {
    let (mut at, mut quoted) = (0, line);
    while let Some(rest) = quoted.strip_prefix('>') {
        at = and_space(line, line.len() - rest.len())?;
        quoted = line.get(at..)?;
    }
    (at > 0).then_some(at)
}

/// A line of a list in JSON, as Ansible prints `stdout_lines`.
fn quoted(line: &str) -> Option<String> {
    let line = line.trim();
    serde_json::from_str(line.strip_suffix(',').unwrap_or(line)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read as read_by_any;

    const HPL: &str = include_str!("hpl/captured/2.0-hpcc-1.5.0-debian13-1-process.txt");

    fn read(text: &str) -> Option<usize> {
        let (tool, output) = read_by_any(text)?;
        assert_eq!(tool.id(), "hpl");
        Some(output.unwrap().figures.len())
    }

    #[test]
    fn encodings_are_told_apart() {
        let text = "Grösse: 5 µs\nsecond\n";
        let units: Vec<u16> = text.encode_utf16().collect();
        let of =
            |bytes: fn(u16) -> [u8; 2]| units.iter().flat_map(|u| bytes(*u)).collect::<Vec<u8>>();
        let (little, big) = (of(u16::to_le_bytes), of(u16::to_be_bytes));
        let latin1: Vec<u8> = text.chars().map(|c| c as u8).collect();
        for bytes in [
            text.as_bytes().to_vec(),
            [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
            [b"\xFF\xFE", &little[..]].concat(),
            [b"\xFE\xFF", &big[..]].concat(),
            little,
            big,
            latin1,
        ] {
            assert_eq!(decoded(&bytes), text, "{bytes:?}");
        }
        assert_eq!(decoded(b""), "");
    }

    #[test]
    fn what_other_programs_put_before_each_line_is_left_out() {
        let figures = read(HPL).unwrap();
        let before = |prefix: &str| -> String {
            HPL.lines().map(|line| format!("{prefix}{line}\n")).collect()
        };
        for prefix in [
            "[1,0]<stdout>:",
            "[prterun-node1-77@1,0]<stdout>: ",
            "[pod/hpl-0/main] ",
            "2024-01-02T03:04:05.678901234Z ",
            "2024-01-02 03:04:05 ",
            "[2024-01-02T03:04:05Z] ",
            "Jan  2 03:04:05 node1 hpl[77]: ",
            "hpl-1  | ",
            "3: ",
            "> ",
            "> > ",
            ">> ",
            "        ",
            "\t",
            "2024-01-02T03:04:05.678Z [1,0]<stdout>:",
            "    0: ",
        ] {
            assert_eq!(read(&before(prefix)), Some(figures), "{prefix:?}");
        }
        let list: String = HPL
            .lines()
            .map(|line| format!("    {},\n", serde_json::to_string(line).unwrap()))
            .collect();
        assert_eq!(
            read(&format!("ok: [node1] => {{\n  \"stdout_lines\": [\n{list}  ]\n}}\n")),
            Some(figures)
        );
        let play = format!("TASK [Results] ***\nok: [node1] =>\n  stdout: |-\n{}", before("    "));
        assert_eq!(read(&play), Some(figures));
        assert_eq!(read("nothing\n"), None);
    }

    #[test]
    fn every_captured_output_is_found_behind_prefixes() {
        for (folder, path) in crate::captured::folders() {
            for (name, text) in crate::captured::outputs(&path) {
                let Some((tool, output)) = read_by_any(&text) else { continue };
                for prefix in ["node-1  | ", "[1,0]<stdout>:", "      "] {
                    let behind: String =
                        text.lines().map(|line| format!("{prefix}{line}\n")).collect();
                    let found = read_by_any(&behind).unwrap_or_else(|| panic!("{folder}/{name}"));
                    assert_eq!(found.0.id(), tool.id(), "{folder}/{name} behind {prefix:?}");
                    assert_eq!(found.1, output, "{folder}/{name} {prefix:?}");
                }
            }
        }
    }
}
