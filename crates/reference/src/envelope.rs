//! The layers around an output: the encoding of its text, the prefixes that other programs put
//! before each line, and JSON that contains it. Lines keep their numbers, except in strings of JSON.

use crate::containers::without_containers;
use crate::prefixes::{Form, Part, without_prefixes};
use crate::{Malformed, Output, Tool};

/// Decodes a text from a file of any origin: UTF-8 or UTF-16, with or without a mark. Other bytes
/// are taken as Latin-1. Removes a terminal's colours and what it overwrote on a line, and decodes the
/// quoted-printable `=3D` of a raw mail.
pub fn decoded(bytes: &[u8]) -> String {
    let text = text_of(bytes);
    let text = if is_quoted_printable(&text) { unquoted(&text) } else { text };
    let text = if text.contains(ESCAPE) { without_escapes(&text) } else { text };
    if text.contains('\r') { without_returns(&text) } else { text }
}

/// Ends lines with a newline alone. Of a line that a program printed several times, such as its
/// progress, the last one remains. A text without any newline has returns instead.
fn without_returns(text: &str) -> String {
    if !text.contains('\n') {
        return text.replace('\r', "\n");
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        out.push_str(line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default());
        out.push_str(end);
    }
    out
}

/// The start of a terminal's commands: `ESC[1;31m`.
const ESCAPE: &str = "\u{1b}[";

fn without_escapes(text: &str) -> String {
    let mut pieces = text.split(ESCAPE);
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |mut out, piece| {
        let parameters = |c: char| c.is_ascii_digit() || matches!(c, ';' | '?');
        let mut rest = piece.trim_start_matches(parameters).chars();
        rest.next();
        out.push_str(rest.as_str());
        out
    })
}

/// Returns true if most `=` of a text are quoted-printable: before two digits, or at the end of a
/// line.
fn is_quoted_printable(text: &str) -> bool {
    let after = || text.split('=').skip(1);
    let own = |rest: &&str| escaped(rest).is_some() || rest.starts_with(['\r', '\n']);
    text.contains("=3D") && 2 * after().filter(own).count() > after().count()
}

/// Returns the byte of two hexadecimal digits that a text begins with, and the rest.
fn escaped(text: &str) -> Option<(u8, &str)> {
    let (digits, rest) = text.split_at_checked(2)?;
    let upper = digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F'));
    upper.then(|| u8::from_str_radix(digits, 16).ok().map(|byte| (byte, rest))).flatten()
}

/// Decodes a text in quoted-printable. Empty lines follow a joined line, so that lines keep their
/// numbers.
fn unquoted(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut ends = 0;
    for line in text.lines() {
        let (line, goes_on) = line.strip_suffix('=').map_or((line, false), |line| (line, true));
        let mut pieces = line.split('=');
        bytes.extend_from_slice(pieces.next().unwrap_or_default().as_bytes());
        for piece in pieces {
            let (byte, rest) = escaped(piece).unwrap_or((b'=', piece));
            bytes.push(byte);
            bytes.extend_from_slice(rest.as_bytes());
        }
        ends += 1;
        if !goes_on {
            bytes.extend(std::iter::repeat_n(b'\n', ends));
            ends = 0;
        }
    }
    latin1(&bytes)
}

fn text_of(bytes: &[u8]) -> String {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => text_of(rest),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => match zeros(bytes) {
            [even, odd] if odd > TIMES_THE_ZEROS * even.max(1) => utf16(bytes, u16::from_le_bytes),
            [even, odd] if even > TIMES_THE_ZEROS * odd.max(1) => utf16(bytes, u16::from_be_bytes),
            _ => latin1(bytes),
        },
    }
}

/// The minimum ratio of zero bytes between the two places of each pair in UTF-16. The text must be
/// mostly ASCII.
const TIMES_THE_ZEROS: usize = 10;
/// The bytes from which the encoding is detected.
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

/// The largest text, in bytes, that is searched for prefixes.
const LARGEST: usize = 4 << 20;

/// Reads a text with the tool that `tool_of` selects. The first form that can be read counts: the
/// text as it is, then without prefixes. If none can, returns the error of the first form that a
/// tool recognises. `None` if no tool recognises it, or several do.
pub(crate) fn read<'t>(
    text: &str,
    tool_of: impl Fn(&str) -> Option<&'t dyn Tool>,
) -> Option<(&'t dyn Tool, Result<Output, Malformed>)> {
    let mut first = None;
    let mut look = |found: Option<(&'t dyn Tool, Result<Output, Malformed>)>| {
        let (tool, output) = found?;
        if output.is_ok() {
            return Some((tool, output));
        }
        first.get_or_insert((tool, output));
        None
    };
    let whole = |text: &str| tool_of(text).map(|tool| (tool, tool.parse(text)));
    let found = look(whole(text)).or_else(|| {
        let once = if text.len() > LARGEST { Vec::new() } else { forms(text) };
        let parts = |form: &Form| form.parts.as_ref().and_then(|parts| read_parts(parts, &tool_of));
        // The mixed lines of several outputs may look like one output.
        let mut of_form = |form: &Form| look(parts(form).or_else(|| whole(&form.text)));
        let unread = |form: &&Form| parts(form).is_none();
        let mut twice = once.iter().filter(unread).flat_map(|form| forms(&form.text));
        once.iter().find_map(&mut of_form).or_else(|| twice.find_map(|form| of_form(&form)))
    });
    found.or(first)
}

/// Returns the forms of a text without one layer.
fn forms(text: &str) -> Vec<Form> {
    let whole = |text| Form { text, parts: None };
    let mut all = without_prefixes(text);
    all.extend(without_containers(text).into_iter().map(whole));
    all
}

/// Reads the outputs of several programs as runs of one tool. Skips those that no tool recognises.
/// Runs in several places are no repetitions.
fn read_parts<'t>(
    parts: &[Part],
    tool_of: impl Fn(&str) -> Option<&'t dyn Tool>,
) -> Option<(&'t dyn Tool, Result<Output, Malformed>)> {
    let read: Vec<_> = parts.iter().filter_map(|part| Some((tool_of(&part.text)?, part))).collect();
    let (tool, _) = *read.first()?;
    let mut all: Option<Output> = None;
    for (other, part) in &read {
        let mut output = match other.read(&part.text) {
            _ if other.id() != tool.id() => return None,
            Ok(output) => output,
            Err(found) => return Some((tool, Err(found))),
        };
        if let Some(place) = part.place.as_deref().filter(|_| read.len() > 1) {
            for figure in &mut output.figures {
                figure.params = std::mem::take(&mut figure.params).with_named("from", place);
            }
        }
        match &mut all {
            Some(all) => all.figures.extend(output.figures),
            None => all = Some(output),
        }
    }
    Some((tool, Ok(all?.merge_runs())))
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
        let mail = b"> sent =3D 4096 B, tho=\nugh 5 =C2=B5s=20\n> next=\r\n!\nlast\n";
        assert_eq!(decoded(mail), "> sent = 4096 B, though 5 \u{b5}s \n\n> next!\n\nlast\n");
        assert_eq!(decoded(b"a=3D, b=x, c=y\n"), "a=3D, b=x, c=y\n");
        assert_eq!(decoded(b"50 %\r100 %\rdone\r\n\r\r\nnext\r"), "done\n\nnext");
        assert_eq!(decoded(b"old\rlines\r"), "old\nlines\n");
        assert_eq!(decoded(b"\x1b[1;32mok\x1b[0m 5\x1b[K\n\x1b["), "ok 5\n");
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
            "node01: ",
            "run #2: ",
            "> ",
            "> > ",
            "bench\tRun HPL\t2024-01-02T03:04:05.678Z ",
            "2024-01-02T03:04:05+01:00 node1 hpl[77]: ",
            "        ",
            "\t",
            "2024-01-02T03:04:05.678Z [1,0]<stdout>:",
            "    0: ",
            "[STDOUT] ",
            "<h2>: ",
            " * ",
            "// ",
            "03:04:05  ",
            "[03:04:05] ",
            "hpl-0 main ",
            "out.txt:",
            "+",
            "|",
            "2024-01-02T03:04:05.678901234Z stdout F ",
            "2024-01-02T03:04:05.678901Z 01O ",
            "Mon Jan  2 03:04:05 UTC 2024: ",
            "_bk;t=1700000000000\u{7}",
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
    fn outputs_are_found_within_json() {
        let figures = read(HPL).unwrap();
        let quoted = |text: &str| serde_json::to_string(text).unwrap();
        let play = format!("{{\n  \"rc\": 0,\n  \"stdout\": {}\n}}\n", quoted(HPL));
        assert_eq!(read(&play), Some(figures));
        let log: String = HPL
            .lines()
            .map(|line| {
                format!("{{\"log\":{},\"stream\":\"stdout\"}}\n", quoted(&format!("{line}\n")))
            })
            .collect();
        assert_eq!(read(&log), Some(figures));
        const FIO: &str = include_str!("fio/captured/3.33-direct-steady.json");
        let (_, alone) = read_by_any(FIO).unwrap();
        for text in [
            format!("{{\"a\": {{\"b\": {FIO}}}}}"),
            format!("[{FIO}, {FIO}]"),
            format!("{{\"rc\": 0, \"stdout\": {}}}", quoted(FIO)),
            FIO.replace("\"bw_dev\" : 0.000000", "\"bw_dev\" : -nan"),
        ] {
            let (tool, output) = read_by_any(&text).unwrap();
            assert_eq!((tool.id(), output), ("fio", alone.clone()), "{}", &text[..60]);
        }
    }

    #[test]
    fn the_lines_of_each_program_are_an_output() {
        let mixed = |[a, b]: [&str; 2]| -> String {
            HPL.lines().map(|line| format!("{a}{line}\n{b}{line}\n")).collect()
        };
        let trials = |text: &str| -> Vec<usize> {
            let (_, output) = read_by_any(text).unwrap();
            output.unwrap().figures.iter().map(|f| f.trials.len()).collect()
        };
        let alone = trials(HPL);
        for names in [["0: ", "1: "], ["run 1: ", "run 2: "], ["[1,0]<stdout>:", "[1,1]<stdout>:"]]
        {
            let twice: Vec<usize> = alone.iter().map(|n| 2 * n).collect();
            assert_eq!(trials(&mixed(names)), twice, "{names:?}");
        }
        // The results of two machines are no repetitions.
        for names in [["node1 | ", "node2 | "], ["[pod/a/main] ", "[pod/b/main] "]] {
            assert_eq!(trials(&mixed(names)), [&*alone, &*alone].concat(), "{names:?}");
        }
        let (_, output) = read_by_any(&mixed(["node1: ", "node2: "])).unwrap();
        let figures = output.unwrap().figures;
        let places: Vec<_> = figures.iter().filter_map(|f| f.params.word("from")).collect();
        assert_eq!(
            (places.len(), places[0], places[alone.len()]),
            (2 * alone.len(), "node1", "node2")
        );
        // Only the first rank prints a report.
        let ranks: String = HPL.lines().map(|line| format!("0: {line}\n1: warning\n")).collect();
        assert_eq!(trials(&ranks), alone);
        let damaged = mixed(["0: ", "1: "]).replace("1: WR", "1: W");
        assert!(read_by_any(&damaged).is_none_or(|(_, output)| output.is_err()), "of the second");
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
