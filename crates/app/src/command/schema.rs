//! `proofmark schema`: the JSON schema of a run file.

use crate::error::Outcome;
use crate::text::print;

/// Prints the schema.
pub fn run() -> anyhow::Result<Outcome> {
    print(&format!("{}\n", serde_json::to_string_pretty(&proofmark_model::schema())?))?;
    Ok(Outcome::Done)
}
