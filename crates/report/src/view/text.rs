//! Joins, completes and cleans words and sentences.

pub use proofmark_model::{agree, and_list, clean, counted};

/// Adds a full stop to a sentence that has none.
pub fn stop(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// Text for a program, which compares byte by byte: every space is the plain one.
pub fn plain_spaces(text: &str) -> String {
    clean(text).replace(['\u{202f}', '\u{a0}'], " ")
}

/// Makes the first letter a capital.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

/// Makes the first letter lower case, within a sentence; an abbreviation keeps its capitals.
pub fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().filter(|c| c.is_uppercase());
    match first.filter(|_| chars.clone().next().is_some_and(char::is_lowercase)) {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => text.to_owned(),
    }
}

/// Joins the texts that are not empty.
pub fn joined(parts: impl IntoIterator<Item: AsRef<str>>, between: &str) -> String {
    let mut out = String::new();
    for part in parts {
        let part = part.as_ref();
        out += if out.is_empty() || part.is_empty() { "" } else { between };
        out += part;
    }
    out
}

/// Puts a text between two others; an empty text remains empty.
pub fn enclosed(before: &str, text: &str, after: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{before}{text}{after}") }
}
