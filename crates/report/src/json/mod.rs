//! The run file itself, indented: schema `proofmark.run/2`.

use proofmark_model::{Run, read_run};

use crate::{Format, Options, RenderError};

/// See the module.
#[derive(Debug, Clone, Copy)]
pub struct Json;

impl Format for Json {
    fn id(&self) -> &'static str {
        "json"
    }

    fn file(&self) -> Option<&'static str> {
        // The run file is the JSON already.
        None
    }

    fn about(&self) -> &'static str {
        "The whole run, for programs; schema proofmark.run/2."
    }

    /// JSON has no NaN and no infinity, and its writer would put null in their
    /// place without a word; so what was written is read again.
    fn render(&self, run: &Run, _: &Options) -> Result<String, RenderError> {
        let mut text = serde_json::to_string_pretty(run)?;
        read_run(&text)?;
        text.push('\n');
        Ok(text)
    }
}
