//! The headline figures of a workload by vCPU placement: a row per configuration and placement.

use proofmark_model::CpuPlacement;

use super::keyed::{caption, keyed, keys};
use super::label::{Group, figure_word};
use super::num::{Scale, percent};
use super::table::{Cell, Table};

const PLACEMENT: &str = "Where the CPUs of two threads were before and after a round: SMT siblings, or so far \
    apart that a cache line takes so long to the other CPU and back. A hypervisor may move them at \
    any time.";

/// A table without rows where no configuration saw several.
pub(super) fn table(group: &Group, scale: &Scale) -> Table {
    let kinds = group.all.iter().filter_map(|m| Some(m.summary.as_ref()?.headline));
    let figure = figure_word(kinds);
    let mut table = keyed(group, caption(group, "by vCPU placement"), &[])
        .column("placement")
        .explained("placement", PLACEMENT)
        .measured("of the time", "%")
        .number("rounds")
        .measured(figure, scale.label())
        .measured("±", "%");
    let of_each = group.all.iter().flat_map(|m| m.cpu_placements.iter().map(move |p| (m, p)));
    for (m, placement) in of_each.filter(|(m, _)| m.cpu_placements.len() > 1) {
        let mut cells = keys(group, m, &mut table, &[]);
        cells.push(Cell::text(super::clean(&placement.name)));
        cells.push(table.maybe(percent(placement.share), || "not a share".to_owned()));
        cells.push(Cell::text(placement.rounds.to_string()));
        let value = placement.figure.as_ref().and_then(|f| scale.number(f.value?));
        cells.push(table.maybe(value, || why(placement)));
        let half = placement.figure.as_ref().and_then(|f| percent(f.half_width()?));
        cells.push(table.maybe(half, || why(placement)));
        table.push(cells);
    }
    table
}

fn why(placement: &CpuPlacement) -> String {
    let missing = placement.figure.as_ref().and_then(|f| f.missing.clone());
    missing.unwrap_or_else(|| "the pairs of CPUs had no one placement".to_owned())
}
