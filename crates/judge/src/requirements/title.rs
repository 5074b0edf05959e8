//! The title of a result in a checked requirement.

use proofmark_model::{
    MainResult, MainRow, Measurement, PickedValue, ResultNames, Run, WorkloadSpec, clean,
};

/// Returns the title of the result's row with its configuration: `Commit, 4 KiB, fdatasync`. A
/// workload without a row has its own title.
pub(super) fn title(run: &Run, spec: Option<&WorkloadSpec>, m: &Measurement) -> String {
    let Some(spec) = spec else { return clean(&m.workload) };
    row_title(run, spec, m).unwrap_or_else(|| ResultNames::of_run(run, &m.workload).title(m))
}

fn row_title(run: &Run, spec: &WorkloadSpec, m: &Measurement) -> Option<String> {
    let rows = &spec.role.main_rows;
    // A row for a fixed value, such as a pattern, is that of its value only.
    let fits = |row: &&MainRow| {
        row.picks.iter().all(|pick| match &pick.value {
            PickedValue::Is(wanted) => {
                m.params.named(&pick.parameter).is_some_and(|v| v.to_string() == *wanted)
            }
            _ => true,
        })
    };
    let row = rows.iter().rfind(fits).or(rows.last())?;
    MainResult { row: Some(row), measurement: m }.title(run)
}
