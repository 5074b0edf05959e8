//! The output formats of the commands that have several.

use anyhow::Result;
use proofmark_report::{Format, check, comparison, fleet, history};
use proofmark_run::unknown;

use crate::error::usage;

/// The formats of `compare`.
pub const COMPARE: [&str; comparison::FORMATS.len()] = ids(comparison::FORMATS);
/// The formats of `check`.
pub const CHECK: [&str; check::FORMATS.len()] = ids(check::FORMATS);
/// The formats of `fleet report`.
pub const FLEET: [&str; fleet::FORMATS.len()] = ids(fleet::FORMATS);
/// The formats of `history`.
pub const HISTORY: [&str; history::FORMATS.len()] = ids(history::FORMATS);

const fn ids<W, const N: usize>(formats: &[Format<W>]) -> [&'static str; N] {
    let mut out = [""; N];
    let mut at = 0;
    while at < N {
        out[at] = formats[at].id;
        at += 1;
    }
    out
}

/// Finds a format by the word after `--format`. Commands call it before they read runs.
pub fn find<'f, W>(formats: &'f [Format<W>], asked: &str, help: &str) -> Result<&'f Format<W>> {
    let ids = formats.iter().map(|format| format.id);
    let known = formats.iter().find(|format| format.id == asked);
    known.ok_or_else(|| usage(unknown("format", asked, ids, help)))
}
