//! The title of a result in a checked requirement.

use proofmark_model::{MainResult, MainRow, Measurement, PickedValue, Run, WorkloadSpec, clean};

use crate::compare::names::Names;

/// Returns the title of the result's row with its configuration: `Commit, 4 KiB, fdatasync`. Where
/// another result of the run has the same title, the parameters that distinguish it follow. A
/// workload without a row has its own title.
pub(super) fn title(run: &Run, spec: Option<&WorkloadSpec>, m: &Measurement) -> String {
    let Some(spec) = spec else { return clean(&m.workload) };
    let others = run.measurements.iter().filter(|o| o.workload == m.workload);
    let own = row_title(run, spec, m);
    let mut others = others.filter(|o| o.params != m.params);
    if own.is_some() && others.all(|o| row_title(run, spec, o) != own) {
        return own.unwrap_or_default();
    }
    let name = Names::collect(run, run).name(Some(spec), m);
    let parts = [own.unwrap_or_else(|| clean(&spec.title)), name];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(", ")
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
