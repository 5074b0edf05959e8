//! `proofmark schema`: the JSON schemas of what proofmark writes.

use proofmark_model::{
    comparison_schema, fleet_report_schema, group_schema, history_schema, schema,
};

use crate::cli::SchemaOf;
use crate::error::Outcome;
use crate::text::print_data;

pub fn run(object: SchemaOf) -> anyhow::Result<Outcome> {
    let schema = match object {
        SchemaOf::Run => schema(),
        SchemaOf::History => history_schema(),
        SchemaOf::Comparison => comparison_schema(),
        SchemaOf::Group => group_schema(),
        SchemaOf::FleetReport => fleet_report_schema(),
    };
    print_data(&format!("{}\n", serde_json::to_string_pretty(&schema)?))?;
    Ok(Outcome::Done)
}
