//! Outputs within other JSON: an object of a list or of a larger object, the text in a string, and
//! numbers that JSON does not have.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::parts::{Form, PROGRAMS, Part, is_repetition, parts};

/// The long texts that begin as JSON and are none before the search ends.
const ATTEMPTS: usize = 64;

/// The bytes of a text that is not long.
const SHORT: usize = 64;

/// The maximum depth of the objects around an output.
const DEPTH: usize = 128;

/// The keys of an output in the result of a command.
const FIELDS: [&str; 8] =
    ["content", "data", "log", "message", "msg", "output", "stderr", "stdout"];

/// The texts that JSON has as another word: no number, and those without an end.
const NO_NUMBERS: [&str; 5] = ["-nan", "nan", "-inf", "inf", "NaN"];

/// Returns the forms of a text without the JSON around an output.
pub(crate) fn without_containers(text: &str) -> Vec<Form> {
    let finite = finite(text).map(Form::whole);
    [finite, objects(text), strings(text)].into_iter().flatten().collect()
}

/// Returns the text with `null` for each value that is no number.
fn finite(text: &str) -> Option<String> {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once(':') {
        let value = after.trim_start();
        let is_word = |word: &&str| {
            let end = value.strip_prefix(word).map(str::trim_start);
            end.is_some_and(|end| end.starts_with([',', '}']))
        };
        let is_key = before.trim_end().ends_with('"');
        let word = NO_NUMBERS.into_iter().filter(|_| is_key).find(is_word);
        out.push_str(before);
        out.push(':');
        out.push_str(after.get(..after.len() - value.len())?);
        out.push_str(if word.is_some() { "null" } else { "" });
        rest = value.get(word.map_or(0, str::len)..)?;
    }
    out.push_str(rest);
    (out != text).then_some(out)
}

/// An object of a tool, with the keys of the objects around it.
struct Found<'a> {
    keys: Vec<&'a str>,
    /// The lines before it.
    line: usize,
    json: &'a str,
}

/// Returns the objects that begin with a tool's first key, each at the start of a line, and if
/// possible of its own line. Those with other keys around them are parts. `None` if all begin a line
/// already, and there is one part.
fn objects(text: &str) -> Option<Form> {
    let (mut scan, mut line, mut counted) = (Scan::new(text), 0, 0);
    let (mut all, mut moved) = (Vec::new(), false);
    while let Some((start, keys)) = scan.next_object() {
        let json = text.get(start..)?;
        line += text.get(counted..start)?.matches('\n').count();
        counted = start;
        moved |= !(start == 0 || text.as_bytes().get(start - 1) == Some(&b'\n'));
        let mut values = serde_json::Deserializer::from_str(json).into_iter::<IgnoredAny>();
        let end = values.next()?.map_or(json.len(), |_| values.byte_offset());
        all.push(Found { keys, line, json: json.get(..end)? });
        scan.skip(start + end);
    }
    let groups = grouped(all.iter().map(|found| (found.keys.clone(), found)));
    let lines = groups.len() <= PROGRAMS;
    let parts = |groups: Groups<'_, &Found<'_>>| {
        named(groups.into_iter().map(|(keys, found)| (keys, joined(&found, lines))).collect())
    };
    let is_form = !all.is_empty() && (moved || groups.len() > 1);
    is_form
        .then(|| Form { text: joined(&all.iter().collect::<Vec<_>>(), true), parts: parts(groups) })
}

/// Returns the objects, one below the other, with empty lines before those on later lines.
fn joined(all: &[&Found<'_>], keep_lines: bool) -> String {
    let (mut out, mut lines) = (String::new(), 0);
    for found in all {
        if !out.is_empty() {
            out.push('\n');
            lines += 1;
        }
        let missing = found.line.saturating_sub(lines) * usize::from(keep_lines);
        out.extend(std::iter::repeat_n('\n', missing));
        out.push_str(found.json);
        lines += missing + found.json.matches('\n').count();
    }
    out
}

/// A pass over JSON in other text, with the keys of the objects around each place.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    keys: Vec<&'a str>,
    /// The last string, which is the key of a value that follows.
    last: &'a str,
    /// The end of the last outermost value.
    ended: usize,
    first_keys: Vec<(&'static str, &'static str)>,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Self {
        let first_keys = crate::ALL.iter().flat_map(|tool| tool.first_keys()).copied().collect();
        Self { text, at: 0, keys: Vec::new(), last: "", ended: 0, first_keys }
    }

    /// Returns the place of the next object of a tool, and the keys around it.
    fn next_object(&mut self) -> Option<(usize, Vec<&'a str>)> {
        while let Some(sign) = self.text.as_bytes().get(self.at) {
            let start = self.at;
            self.at += 1;
            match sign {
                b'"' => self.string(),
                b'{' | b'[' => {
                    let key = match self.keys.is_empty() {
                        true => host(self.text.get(self.ended..start).unwrap_or_default()),
                        false => self.last,
                    };
                    self.last = "";
                    if *sign == b'{' && self.is_first(self.text.get(self.at..)?) {
                        let around = self.keys.get(self.keys.len().saturating_sub(DEPTH)..)?;
                        return Some((start, [around, &[key]].concat()));
                    }
                    self.keys.push(key);
                }
                b'}' | b']' => {
                    self.keys.pop();
                    self.skip(self.at);
                }
                b',' => self.last = "",
                _ => {}
            }
        }
        None
    }

    /// Passes over a value that ends here.
    fn skip(&mut self, end: usize) {
        (self.at, self.last) = (end, "");
        if self.keys.is_empty() {
            self.ended = end;
        }
    }

    /// Passes over a string. One that is no JSON ends with its line.
    fn string(&mut self) {
        let from = self.at;
        while let Some(sign) = self.text.as_bytes().get(self.at) {
            match sign {
                b'"' | b'\n' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.last = self.text.get(from..self.at.min(self.text.len())).unwrap_or_default();
        self.at += 1;
    }

    /// Returns true if the inside of an object begins with a tool's first key.
    fn is_first(&self, inside: &str) -> bool {
        let Some(name) = inside.trim_start().strip_prefix('"') else { return false };
        self.first_keys.iter().any(|(key, after)| {
            let rest = name.strip_prefix(key).and_then(|rest| rest.strip_prefix('"'));
            let follows = |rest: &str| {
                let mut follows = rest.chars().filter(|c| !c.is_whitespace());
                after.chars().all(|c| follows.next() == Some(c))
            };
            rest.is_some_and(follows)
        })
    }
}

/// Returns the machine of Ansible's `node1 | CHANGED => ` or `ok: [node1] => ` at the end of a text
/// before JSON; empty for other text.
fn host(before: &str) -> &str {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let Some((head, _)) = line.split_once("=>") else { return "" };
    match head.split_once(" | ") {
        Some((name, _)) => name.trim(),
        None => head.rsplit('[').next().unwrap_or_default().trim_end().trim_end_matches(']'),
    }
}

/// Values by the keys of the objects around them, in the order of the first of each.
type Groups<'a, T> = Vec<(Vec<&'a str>, Vec<T>)>;

/// Groups values by the keys around them. Fields of a result, lists and the keys of repetitions make
/// no difference.
fn grouped<'a, T>(all: impl Iterator<Item = (Vec<&'a str>, T)>) -> Groups<'a, T> {
    let (mut groups, mut places): (Groups<'a, T>, _) = (Vec::new(), BTreeMap::new());
    for (mut keys, value) in all {
        keys.pop_if(|key| FIELDS.contains(key));
        keys.retain(|key| !key.is_empty() && !is_repetition(key));
        let next = groups.len();
        match groups.get_mut(*places.entry(keys.clone()).or_insert(next)) {
            Some((_, group)) => group.push(value),
            None => groups.push((keys, vec![value])),
        }
    }
    groups
}

/// Returns a part for each text, named after the keys that are not around all of them. `None` for
/// one.
fn named(all: Vec<(Vec<&str>, String)>) -> Option<Vec<Part>> {
    let (first, _) = all.first().filter(|_| all.len() > 1)?;
    let shortest = all.iter().map(|(keys, _)| keys.len()).min()?;
    let shared = |key: &dyn Fn(&[&'_ str], usize) -> Option<String>, most| {
        let is_shared = |i: &usize| all.iter().all(|(keys, _)| key(keys, *i) == key(first, *i));
        (0..most).take_while(is_shared).count()
    };
    let owned = |key: &&str| (*key).to_owned();
    let before = shared(&|keys, i| keys.get(i).map(owned), shortest);
    let after = shared(&|keys, i| keys.iter().rev().nth(i).map(owned), shortest - before);
    let name = |keys: &[&str]| keys.get(before..keys.len() - after).map(|keys| keys.join("."));
    let names: Vec<String> = all.iter().map(|(keys, _)| name(keys).unwrap_or_default()).collect();
    Some(parts(names.into_iter().zip(all.into_iter().map(|(_, text)| text))))
}

/// Returns the text of all strings of several lines in the text's JSON. The log of a container has a
/// string for each line. Strings with other keys around them are parts, each string once. Lines lose
/// their numbers.
fn strings(text: &str) -> Option<Form> {
    let (mut rest, mut attempts, mut found) = (text, 0, Vec::new());
    let mut from = 0;
    while let Some(at) = rest.find(['{', '[']) {
        let json = rest.get(at..)?;
        let start = text.len() - json.len();
        let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
        let end = match values.next() {
            Some(Ok(value)) => {
                found.push((host(text.get(from..start)?), value));
                from = start + values.byte_offset();
                values.byte_offset()
            }
            Some(Err(error)) if error.line() == 1 && error.column() < SHORT => 1,
            _ if attempts < ATTEMPTS => {
                attempts += 1;
                1
            }
            _ => break,
        };
        rest = json.get(end..)?;
    }
    let mut all = Vec::new();
    for (host, value) in &found {
        collect(value, &mut vec![*host], &mut all);
    }
    let texts: Vec<(Vec<&str>, String)> =
        grouped(all.into_iter()).into_iter().map(|(keys, all)| (keys, once(&all))).collect();
    let text: String = texts.iter().map(|(_, text)| text.as_str()).collect();
    (!text.is_empty()).then(|| Form { text, parts: named(texts) })
}

/// Joins strings, each once. A line of a log may be there several times.
fn once(all: &[&str]) -> String {
    let (mut out, mut seen) = (String::new(), BTreeSet::new());
    for text in all {
        if text.trim_end().contains('\n') && !seen.insert(*text) {
            continue;
        }
        out.push_str(text);
        if !text.ends_with('\n') {
            out.push('\n');
        }
    }
    out
}

/// Adds the strings of several lines in a value, with the keys around each.
fn collect<'a>(value: &'a Value, keys: &mut Vec<&'a str>, out: &mut Vec<(Vec<&'a str>, &'a str)>) {
    match value {
        Value::String(text) if text.contains('\n') => out.push((keys.clone(), text)),
        Value::Array(all) => all.iter().for_each(|value| collect(value, keys, out)),
        Value::Object(all) => {
            for (key, value) in all {
                keys.push(key);
                collect(value, keys, out);
                keys.pop();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_keep_their_lines_and_words_that_are_no_numbers_become_null() {
        let one = "{\n \"fio version\" : \"fio-3.33\"\n}";
        assert!(objects(one).is_none(), "as it is");
        let text = format!("[\n {one},\n {{\"start\": {{\"version\": \"iperf 3.12\"}}}}\n]");
        let found = objects(&text).unwrap().text;
        assert_eq!(found, format!("\n{one}\n{{\"start\": {{\"version\": \"iperf 3.12\"}}}}"));
        assert!(objects("{\"sum\": {\"start\": 0, \"end\": 1}}").is_none());
        let numbers = "{\n\"a\": -nan,\n\"b\": 1, \"c\":inf}";
        assert_eq!(finite(numbers).unwrap(), "{\n\"a\": null,\n\"b\": 1, \"c\":null}");
        assert_eq!(finite("a: nan"), None);
    }

    #[test]
    fn strings_of_several_lines_are_joined() {
        let play = r#"node1 | CHANGED => {"rc": 0, "stdout": "a\nb", "stdout_lines": ["a", "b"]}"#;
        assert_eq!(strings(play).unwrap().text, "a\nb\n");
        let log = "{\"log\":\"a\\n\"}\n{\"log\":\"\\n\"}\n{\"log\":\"a\\n\"}\n";
        assert_eq!(strings(log).unwrap().text, "a\n\na\n");
        assert!(strings("[pod] { no JSON").is_none());
    }
}
