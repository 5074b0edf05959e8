//! The layers around an output: the encoding of its text, the prefixes that other programs put
//! before each line or block of lines, and JSON that contains it. Lines keep their numbers, except in
//! strings of JSON.

use proofmark_model::FROM;

use crate::blocks::blocks;
use crate::containers::without_containers;
use crate::parts::{Form, Part};
use crate::prefixes::without_prefixes;
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
    let run = |text: &str| tool_of(text).map(|tool| (tool, tool.read(text)));
    let below = |text: &str| {
        let within = |form: Form| run(&form.text).filter(|(_, output)| output.is_ok());
        run(text).or_else(|| forms(text).into_iter().find_map(within))
    };
    // The outputs of several machines, one below the other, look like runs of one.
    let of_blocks = blocks(text).and_then(|parts| read_parts(&parts, below));
    let found = look(of_blocks).or_else(|| look(whole(text))).or_else(|| {
        let once = if text.len() > LARGEST { Vec::new() } else { forms(text) };
        let parts = |form: &Form| read_parts(form.parts.as_ref()?, run);
        // The mixed lines of several outputs may look like one output.
        let mut of_form = |form: &Form| look(parts(form).or_else(|| whole(&form.text)));
        if let Some(found) = once.iter().find_map(&mut of_form) {
            return Some(found);
        }
        let unread: Vec<&Form> = once.iter().filter(|form| parts(form).is_none()).collect();
        let deep = |form: &&Form| read_parts(form.parts.as_ref()?, below);
        let found = unread.iter().find_map(deep).filter(|(_, output)| output.is_ok());
        let mut twice = unread.iter().flat_map(|form| forms(&form.text));
        found.or_else(|| twice.find_map(|form| of_form(&form)))
    });
    found.or(first)
}

/// Returns the forms of a text without one layer.
fn forms(text: &str) -> Vec<Form> {
    let mut all = without_prefixes(text);
    all.extend(without_containers(text));
    all
}

/// Reads the outputs of several programs as runs of one tool. Skips those that no tool recognises.
/// Runs in several places are no repetitions.
fn read_parts<'t>(
    parts: &[Part],
    run: impl Fn(&str) -> Option<(&'t dyn Tool, Result<Output, Malformed>)>,
) -> Option<(&'t dyn Tool, Result<Output, Malformed>)> {
    let read: Vec<_> = parts.iter().filter_map(|part| Some((run(&part.text)?, part))).collect();
    let tool = read.first().map(|((tool, _), _)| *tool)?;
    let several = read.len() > 1;
    let mut all: Option<Output> = None;
    for ((other, output), part) in read {
        let mut output = match output {
            _ if other.id() != tool.id() => return None,
            Ok(output) => output,
            Err(found) => return Some((tool, Err(found))),
        };
        if let Some(place) = part.place.as_deref().filter(|_| several) {
            for figure in &mut output.figures {
                figure.params = std::mem::take(&mut figure.params).with_named(FROM, place);
            }
        }
        match &mut all {
            Some(all) => all.add(output),
            None => all = Some(output),
        }
    }
    Some((tool, Ok(all?.merge_runs())))
}

#[cfg(test)]
mod tests;
