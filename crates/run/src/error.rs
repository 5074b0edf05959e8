//! Errors that prevent a run.

use proofmark_model::did_you_mean;

use crate::meant::meant_parameter;

/// Invalid argument or input file; one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// Reason why a run is impossible.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Invalid argument or input file.
    #[error(transparent)]
    Usage(#[from] Usage),
    /// The system refused something.
    #[error("{0}")]
    Failed(String),
}

impl RunError {
    pub(crate) fn failed(what: &str, why: &dyn std::fmt::Display) -> Self {
        Self::Failed(format!("{what}: {why}"))
    }
}

/// Returns an error such as `no workload 'cpu.flop'; did you mean 'cpu.flops'?`
pub fn unknown<'a>(
    what: &str,
    typed: &str,
    names: impl Iterator<Item = &'a str>,
    see: &str,
) -> String {
    format!("no {what} '{typed}'; {}", nearest_or(typed, names, see))
}

/// Returns an error such as `cpu.flops has no parameter 'isaa'; did you mean 'isa'?`
pub(crate) fn no_parameter<'a>(
    workload: &str,
    typed: &str,
    names: impl Iterator<Item = &'a str>,
) -> String {
    let names: Vec<&str> = names.collect();
    let meant = meant_parameter(typed).filter(|meant| names.contains(meant));
    let near = match meant {
        Some(meant) => format!("did you mean '{meant}'?"),
        None => nearest_or(typed, names.into_iter(), &format!("proofmark explain {workload}")),
    };
    format!("{workload} has no parameter '{typed}'; {near}")
}

/// Returns `did you mean 'isa'?`, or the command that lists the names if none is near.
fn nearest_or<'a>(typed: &str, names: impl Iterator<Item = &'a str>, see: &str) -> String {
    did_you_mean(typed, names).unwrap_or_else(|| format!("see '{see}'"))
}
