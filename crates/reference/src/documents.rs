//! JSON among other text: warnings before it, and several documents in a row.

use serde::de::DeserializeOwned;

use crate::Malformed;

/// A JSON document in a text.
pub(crate) struct Document<'a, T> {
    pub(crate) value: T,
    pub(crate) text: &'a str,
    /// The line on which it begins, from 1.
    pub(crate) line: usize,
}

impl<T> Document<'_, T> {
    /// Converts an error from a line of the document to the line of the whole text.
    pub(crate) fn placed(&self, found: Malformed) -> Malformed {
        Malformed { line: found.line + self.line - 1, ..found }
    }
}

/// Returns the place of the first line that begins with a brace.
pub(crate) fn opening(text: &str) -> Option<usize> {
    if text.starts_with('{') { Some(0) } else { text.find("\n{").map(|at| at + 1) }
}

/// Returns all documents of a text, in order. Fails if there is none, or one cannot be read.
pub(crate) fn documents<T: DeserializeOwned>(
    text: &str,
) -> Result<Vec<Document<'_, T>>, Malformed> {
    let (mut rest, mut line, mut all) = (text, 1, Vec::new());
    while let Some((before, json)) = opening(rest).and_then(|at| rest.split_at_checked(at)) {
        line += newlines(before);
        let mut values = serde_json::Deserializer::from_str(json).into_iter::<T>();
        let Some(value) = values.next() else { break };
        let value = value.map_err(|e| {
            let found = Malformed::from(e);
            Malformed { line: found.line + line - 1, ..found }
        })?;
        let Some((text, after)) = json.split_at_checked(values.byte_offset()) else { break };
        all.push(Document { value, text, line });
        line += newlines(text);
        rest = after;
    }
    if all.is_empty() {
        return Err(Malformed::at(1, "no line begins with {: this is no JSON"));
    }
    Ok(all)
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|b| *b == b'\n').count()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn documents_are_found_among_other_text_and_keep_their_lines() {
        let text = "warning: {\n{\n\"a\": 1}\nbetween\n{\"a\": 2}{\"a\": 3}\nafter\n";
        let all = documents::<Value>(text).unwrap();
        let found: Vec<(usize, i64)> =
            all.iter().map(|d| (d.line, d.value["a"].as_i64().unwrap())).collect();
        assert_eq!(found, [(2, 1), (5, 2), (5, 3)]);
        assert_eq!(all[1].placed(Malformed::at(1, "x")).line, 5);
        let error = |text| documents::<Value>(text).map(|_| ()).unwrap_err().line;
        assert_eq!([error("none"), error("x\n{\"a\": 1}\n\n{\"a\": ]}")], [1, 4]);
    }
}
