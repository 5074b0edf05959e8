//! The run file itself, indented: schema `proofmark.run/2`.

use proofmark_model::{Run, read_run};

use crate::{Options, RenderError};

/// Writes the run, and reads it back: the JSON writer silently replaces NaN and infinity by null.
pub(crate) fn render(run: &Run, _: &Options) -> Result<String, RenderError> {
    let mut text = serde_json::to_string_pretty(run)?;
    read_run(&text)?;
    text.push('\n');
    Ok(text)
}
