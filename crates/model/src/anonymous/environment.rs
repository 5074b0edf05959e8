//! Environment variables without the names of files.

/// The variable that names files.
const FILES: &str = "LD_PRELOAD";

/// Returns the variables, those that name files without their values. A part without a name belongs to
/// such a value.
pub(super) fn without_files(line: &str) -> String {
    let is_variable = |name: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        name.chars().next().is_some_and(|c| c.is_ascii_uppercase()) && name.chars().all(plain)
    };
    let shown = |variable: &str| match variable.split_once('=') {
        Some((FILES, _)) => Some(format!("{FILES}=...")),
        Some((name, _)) if is_variable(name) => Some(variable.to_owned()),
        Some(_) => None,
        // Without any variable it is the word `none`.
        None => (variable == line).then(|| variable.to_owned()),
    };
    line.split(' ').filter_map(shown).collect::<Vec<_>>().join(" ")
}
