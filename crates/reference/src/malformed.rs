//! The errors of outputs that cannot be read.

use proofmark_model::excerpt;

/// An error in a file, with its line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Malformed {
    /// The line, from 1.
    pub line: usize,
    /// The expected and the actual text; of the file no more than [`Malformed::excerpt`] returns.
    pub what: String,
}

impl Malformed {
    /// Creates an error at a line, from 1.
    pub fn at(line: usize, what: impl Into<String>) -> Self {
        Self { line, what: what.into() }
    }

    /// Creates an error that quotes untrusted text at a line: `"x" is not a number`.
    pub(crate) fn quoting(line: usize, text: &str, what: &str) -> Self {
        Self::at(line, format!("{:?} {what}", Self::excerpt(text)))
    }

    /// Returns the first 40 characters of an untrusted text for a message.
    pub fn excerpt(text: &str) -> String {
        excerpt(text, 40)
    }

    /// Returns the first 120 characters, for a whole sentence.
    pub(crate) fn sentence(text: &str) -> String {
        excerpt(text, 120)
    }
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
