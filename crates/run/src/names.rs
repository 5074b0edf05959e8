//! Names that were typed, held against those that there are.

use proofmark_model::nearest;

/// `no workload 'cpu.flop'; did you mean 'cpu.flops'?`
pub fn unknown<'a>(
    what: &str,
    typed: &str,
    names: impl Iterator<Item = &'a str>,
    see: &str,
) -> String {
    match nearest(typed, names) {
        Some(name) => format!("no {what} '{typed}'; did you mean '{name}'?"),
        None => format!("no {what} '{typed}'; see '{see}'"),
    }
}
