//! Words for counts, and untrusted text.

pub use proofmark_model::clean;

/// `1 trial`, `3 trials`.
pub fn plural(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", proofmark_model::format_count(count), agree(count, ["", "s"]))
}

/// The word for one thing or for several: `is` or `are`.
pub fn agree(count: u64, [one, several]: [&'static str; 2]) -> &'static str {
    if count == 1 { one } else { several }
}

/// A sentence with its full stop.
pub fn stop(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// Text whose first letter is a capital.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

/// `a`, `a and b`, `a, b and c`.
pub fn and_list(items: impl IntoIterator<Item: AsRef<str>>) -> String {
    let mut items: Vec<_> = items.into_iter().collect();
    let last = items.pop();
    let last = last.as_ref().map_or("", AsRef::as_ref);
    if items.is_empty() { last.to_owned() } else { format!("{} and {last}", joined(items, ", ")) }
}

/// The texts that are not empty, one after another.
pub fn joined(parts: impl IntoIterator<Item: AsRef<str>>, between: &str) -> String {
    let mut out = String::new();
    for part in parts {
        let part = part.as_ref();
        out += if out.is_empty() || part.is_empty() { "" } else { between };
        out += part;
    }
    out
}

/// A text within its surroundings; nothing where there is no text.
pub fn enclosed(before: &str, text: &str, after: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{before}{text}{after}") }
}
