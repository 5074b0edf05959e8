//! Outputs within other JSON: an object of a list or of a larger object, the text in a string, and
//! numbers that JSON does not have.

use std::collections::BTreeSet;

use serde_json::Value;

/// The first keys of the tools' JSON, each with the text that follows its name in any layout.
const FIRST_KEYS: [(&str, &str); 3] =
    [("\"fio version\"", ":\""), ("\"start\"", ":{"), ("\"event\"", ":\"")];

/// The braces at which a search for JSON begins. Most texts with more are no JSON.
const ATTEMPTS: usize = 64;

/// The texts that JSON has as another word: no number, and those without an end.
const NO_NUMBERS: [&str; 5] = ["-nan", "nan", "-inf", "inf", "NaN"];

/// Returns the forms of a text without the JSON around an output.
pub(crate) fn without_containers(text: &str) -> Vec<String> {
    [finite(text), objects(text), strings(text)].into_iter().flatten().collect()
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

/// Returns the objects that begin with a key of [`FIRST_KEYS`], each at the start of a line, and if
/// possible of its own line. `None` if all do already.
fn objects(text: &str) -> Option<String> {
    let (mut out, mut at, mut lines, mut moved) = (String::new(), 0, 0, false);
    while let Some(start) = next_object(text, at) {
        let (before, json) = text.split_at_checked(start)?;
        let line = before.matches('\n').count();
        moved |= !(before.is_empty() || before.ends_with('\n'));
        if !out.is_empty() {
            out.push('\n');
            lines += 1;
        }
        while lines < line {
            out.push('\n');
            lines += 1;
        }
        let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
        let end = values.next()?.map_or(json.len(), |_| values.byte_offset());
        let object = json.get(..end)?;
        lines += object.matches('\n').count();
        out.push_str(object);
        at = start + end;
    }
    moved.then_some(out)
}

/// Returns the place of the brace of the first such object from `at` on.
fn next_object(text: &str, at: usize) -> Option<usize> {
    let all = FIRST_KEYS.iter().filter_map(|(key, after)| first_key(text, at, key, after));
    all.min()
}

fn first_key(text: &str, at: usize, key: &str, after: &str) -> Option<usize> {
    let mut from = at;
    loop {
        let found = from + text.get(from..)?.find(key)?;
        let before = text.get(at..found)?.trim_end();
        let rest = text.get(found + key.len()..)?;
        let mut follows = rest.chars().filter(|c| !c.is_whitespace());
        if before.ends_with('{') && after.chars().all(|c| follows.next() == Some(c)) {
            return Some(at + before.len() - 1);
        }
        from = found + key.len();
    }
}

/// Returns the text of all strings of several lines in the text's JSON, each once. The log of a
/// container has a string for each line. Lines lose their numbers.
fn strings(text: &str) -> Option<String> {
    let (mut out, mut seen) = (String::new(), BTreeSet::new());
    let (mut rest, mut attempts) = (text, 0);
    while let Some((_, json)) = rest.find(['{', '[']).and_then(|at| rest.split_at_checked(at)) {
        let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
        let end = match values.next() {
            Some(Ok(value)) => {
                collect(&value, &mut out, &mut seen);
                values.byte_offset()
            }
            _ if attempts < ATTEMPTS => 1,
            _ => break,
        };
        attempts += usize::from(end == 1);
        rest = json.get(end..)?;
    }
    (!out.is_empty()).then_some(out)
}

fn collect(value: &Value, out: &mut String, seen: &mut BTreeSet<String>) {
    match value {
        // A line of a log may be there several times.
        Value::String(text) if text.trim_end().contains('\n') && !seen.insert(text.clone()) => {}
        Value::String(text) if text.contains('\n') => {
            out.push_str(text);
            if !text.ends_with('\n') {
                out.push('\n');
            }
        }
        Value::Array(all) => all.iter().for_each(|value| collect(value, out, seen)),
        Value::Object(all) => all.values().for_each(|value| collect(value, out, seen)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_keep_their_lines_and_words_that_are_no_numbers_become_null() {
        let one = "{\n \"fio version\" : \"fio-3.33\"\n}";
        assert_eq!(objects(one), None, "as it is");
        let text = format!("[\n {one},\n {{\"start\": {{\"version\": \"iperf 3.12\"}}}}\n]");
        let found = objects(&text).unwrap();
        assert_eq!(found, format!("\n{one}\n{{\"start\": {{\"version\": \"iperf 3.12\"}}}}"));
        assert_eq!(objects("{\"sum\": {\"start\": 0, \"end\": 1}}"), None);
        let numbers = "{\n\"a\": -nan,\n\"b\": 1, \"c\":inf}";
        assert_eq!(finite(numbers).unwrap(), "{\n\"a\": null,\n\"b\": 1, \"c\":null}");
        assert_eq!(finite("a: nan"), None);
    }

    #[test]
    fn strings_of_several_lines_are_joined() {
        let play = r#"node1 | CHANGED => {"rc": 0, "stdout": "a\nb", "stdout_lines": ["a", "b"]}"#;
        assert_eq!(strings(play).unwrap(), "a\nb\n");
        let log = "{\"log\":\"a\\n\"}\n{\"log\":\"\\n\"}\n{\"log\":\"a\\n\"}\n";
        assert_eq!(strings(log).unwrap(), "a\n\na\n");
        assert_eq!(strings("[pod] { no JSON"), None);
    }
}
