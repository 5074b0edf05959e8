//! The output formats of the commands that have several.

use anyhow::Result;
pub use proofmark_model::or_list as one_of;
use proofmark_report::{Form, check, comparison, fleet, history};
use proofmark_run::unknown;

use crate::error::usage;

/// The formats of `compare`.
pub const COMPARE: [&str; comparison::FORMS.len()] = ids(comparison::FORMS);
/// The formats of `check`.
pub const CHECK: [&str; check::FORMS.len()] = ids(check::FORMS);
/// The formats of `fleet report`.
pub const FLEET: [&str; fleet::FORMS.len()] = ids(fleet::FORMS);
/// The formats of `history`.
pub const HISTORY: [&str; history::FORMS.len()] = ids(history::FORMS);

const fn ids<W, const N: usize>(forms: &[Form<W>]) -> [&'static str; N] {
    let mut out = [""; N];
    let mut at = 0;
    while at < N {
        out[at] = forms[at].id;
        at += 1;
    }
    out
}

/// Finds a form by the word after `--format`. Commands call it before they read runs.
pub fn find<'f, W>(forms: &'f [Form<W>], asked: &str, help: &str) -> Result<&'f Form<W>> {
    let ids = forms.iter().map(|form| form.id);
    let known = forms.iter().find(|form| form.id == asked);
    known.ok_or_else(|| usage(unknown("format", asked, ids, help)))
}
