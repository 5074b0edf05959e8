//! The run file itself, indented: schema `proofmark.run/2`.

use proofmark_model::{Run, read_run};

use crate::{Options, RenderError};

/// JSON has no NaN and no infinity, and its writer would put null in their
/// place without a word; so what was written is read again.
pub(crate) fn render(run: &Run, _: &Options) -> Result<String, RenderError> {
    let mut text = serde_json::to_string_pretty(run)?;
    read_run(&text)?;
    text.push('\n');
    Ok(text)
}
