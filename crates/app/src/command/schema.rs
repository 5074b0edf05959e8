//! `proofmark schema`: the JSON schema of a run file.

use crate::error::Outcome;
use crate::text::print_data;

pub fn run() -> anyhow::Result<Outcome> {
    print_data(&format!("{}\n", serde_json::to_string_pretty(&proofmark_model::schema())?))?;
    Ok(Outcome::Done)
}
