//! Parameters and their values in words.

use proofmark_model::{Param, ParameterKind, WorkloadSpec, format_count, format_size, key};

use crate::view::disk::IO_PATH;
use crate::view::network;
use crate::view::text::{clean, counted};

/// Sort key of a parameter's value: choices as declared, then numbers by size.
pub fn rank<'m>(
    spec: Option<&WorkloadSpec>,
    name: &str,
    value: Option<&'m Param>,
) -> (usize, Option<&'m Param>) {
    let declared = match (kind(spec, name), value) {
        (Some(ParameterKind::Choice(words)), Some(Param::Text(text))) => {
            words.iter().position(|w| w == text)
        }
        _ => None,
    };
    (declared.unwrap_or(usize::MAX), value)
}

fn kind<'s>(spec: Option<&'s WorkloadSpec>, name: &str) -> Option<&'s ParameterKind> {
    spec.and_then(|s| s.parameter(name)).map(|k| &k.kind)
}

/// The value of a parameter for a table's cell.
pub fn parameter_value(spec: Option<&WorkloadSpec>, name: &str, value: &Param) -> String {
    if let Some(text) = network::parameter_value(name, value).filter(|_| is_network_spec(spec)) {
        return text;
    }
    match value {
        Param::Int(v) if is_size(spec, name) => format_size(*v),
        Param::Int(v) => format_count(*v),
        other => clean(&other.to_string()),
    }
}

/// The title of a parameter's column.
pub fn title(name: &str) -> String {
    if name == IO_PATH { "I/O".to_owned() } else { clean(name) }
}

/// The name of a parameter in a sentence: `block size`.
pub fn spoken(name: &str) -> String {
    clean(name).replace('_', " ")
}

pub fn is_size(spec: Option<&WorkloadSpec>, name: &str) -> bool {
    matches!(kind(spec, name), Some(ParameterKind::Size { .. }))
}

fn is_network_spec(spec: Option<&WorkloadSpec>) -> bool {
    spec.is_some_and(|s| s.subsystem.info().has_server)
}

/// The value of a parameter in a sentence: `2 threads`, `f64`, `huge pages`, `block size 8 KiB`.
pub fn parameter_phrase(spec: Option<&WorkloadSpec>, name: &str, value: &Param) -> String {
    if let Some(text) = network::parameter_phrase(name, value).filter(|_| is_network_spec(spec)) {
        return text;
    }
    let (text, noun) = (parameter_value(spec, name, value), spoken(name));
    match (name.strip_suffix('s'), value) {
        (_, Param::Int(percent)) if key::READS == name => format!("{percent} % reads"),
        (Some(one), Param::Int(n)) if !is_size(spec, name) => counted(*n, &spoken(one)),
        // A numeric option of a tool: `fsync 16`.
        (_, Param::Text(word)) if word.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{noun} {text}")
        }
        (Some(_), Param::Text(_)) => format!("{text} {noun}"),
        (None, Param::Text(_)) => text,
        _ => format!("{noun} {text}"),
    }
}
