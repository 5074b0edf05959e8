//! Why an output cannot be read, and where.

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Malformed {
    /// Line, from 1.
    pub line: usize,
    /// What was expected and what is there; of the file no more than [`Malformed::excerpt`] shows.
    pub what: String,
}

impl Malformed {
    /// At that line, from 1.
    pub fn at(line: usize, what: impl Into<String>) -> Self {
        Self { line, what: what.into() }
    }

    /// At that line, of a text from outside, which is quoted: `"x" is not a number`.
    pub(crate) fn quoting(line: usize, text: &str, what: &str) -> Self {
        Self::at(line, format!("{:?} {what}", Self::excerpt(text)))
    }

    /// The first characters of a text from outside, made printable, for a message.
    pub fn excerpt(text: &str) -> String {
        printable(text, 40)
    }

    /// The same of a whole sentence.
    pub(crate) fn sentence(text: &str) -> String {
        printable(text, 120)
    }
}

fn printable(text: &str, most: usize) -> String {
    let mut shown: String = text.trim().chars().take(most).flat_map(char::escape_default).collect();
    if text.trim().chars().count() > most {
        shown.push_str("...");
    }
    shown
}

impl From<serde_json::Error> for Malformed {
    fn from(error: serde_json::Error) -> Self {
        if error.is_eof() {
            let what = "the JSON ends before it is complete: import all that the tool printed";
            return Self::at(error.line().max(1), what);
        }
        let text = error.to_string();
        let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
        Self::at(error.line().max(1), what)
    }
}
