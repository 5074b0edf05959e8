//! proofmark compared with reference tools: one configuration per workload and tool, that of the
//! workload's headline where the tool ran it.

use super::{
    OURS, RATIO, chosen, median_of_paired, ratio, ratio_interval, why_no_paired, why_no_ratio,
};
use crate::view::disk;
use crate::view::label::Group;
use crate::view::table::{Cell, Table};
use crate::view::text::clean;

/// The table; without rows where no tool ran.
pub fn table(groups: &[Group]) -> Table {
    let mut table = Table::new("Comparison with reference tools")
        .column("workload")
        .column("configuration")
        .spare(4)
        .column("tool")
        .number("proofmark")
        .spare(3)
        .explained(OURS[0], OURS[1])
        .number("tool result")
        .spare(3)
        .number("proofmark / tool")
        .explained("proofmark / tool", RATIO)
        .number("95 % interval")
        .column("tool verdict");
    table.keys = 3;
    for group in groups {
        for (m, r) in chosen(group) {
            let scale = |value: f64| disk::scale(m, &[value]);
            let finite = || "not a finite number".to_owned();
            let ours = median_of_paired(r).and_then(|v| scale(v).with_label(v));
            let ours = table.maybe(ours, || why_no_paired(r));
            let theirs = table.maybe(scale(r.value).with_label(r.value), finite);
            let quotient = table.maybe(ratio(r.ratio.median), finite);
            let interval = r.ratio.ci95.and_then(ratio_interval);
            let interval = table.maybe(interval, || why_no_ratio(r));
            table.push(vec![
                Cell::text(clean(group.id)),
                Cell::text(group.short(m)),
                Cell::text(clean(&r.tool)),
                ours,
                theirs,
                quotient,
                interval,
                Cell::verdict(r.verdict),
            ]);
        }
    }
    table
}
