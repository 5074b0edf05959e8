//! The headline figures of a workload by the state of the CPUs: a row per configuration and state.

use proofmark_model::CpuState;

use super::label::{Group, figure_word};
use super::num::{Scale, percent};
use super::table::{Cell, Table};
use super::workload::{caption, keyed, keys};

/// What a state is.
const STATE: &str = "Where the CPUs of two threads were before and after a round: on one core, or so far \
    apart that a cache line takes so long to the other one and back. A hypervisor may move them at \
    any time.";

/// A table without rows where no configuration saw several states.
pub(super) fn table(group: &Group, scale: &Scale) -> Table {
    let kinds = group.all.iter().filter_map(|m| Some(m.summary.as_ref()?.headline));
    let figure = figure_word(kinds);
    let mut table = keyed(group, caption(group, "by the state of the CPUs"), &[])
        .column("state")
        .explained("state", STATE)
        .measured("of the time", "%")
        .number("rounds")
        .measured(figure, scale.label())
        .measured("±", "%");
    let of_each = group.all.iter().flat_map(|m| m.cpu_states.iter().map(move |s| (m, s)));
    for (m, state) in of_each.filter(|(m, _)| m.cpu_states.len() > 1) {
        let mut cells = keys(group, m, &mut table, &[]);
        cells.push(Cell::text(super::clean(&state.name)));
        cells.push(table.maybe(percent(state.share), || "not a share".to_owned()));
        cells.push(Cell::text(state.rounds.to_string()));
        let value = state.figure.as_ref().and_then(|f| scale.number(f.value?));
        cells.push(table.maybe(value, || why(state)));
        let half = state.figure.as_ref().and_then(|f| percent(f.half_width()?));
        cells.push(table.maybe(half, || why(state)));
        table.push(cells);
    }
    table
}

fn why(state: &CpuState) -> String {
    let missing = state.figure.as_ref().and_then(|f| f.missing.clone());
    missing.unwrap_or_else(|| "the CPUs were in no one state".to_owned())
}
