//! proofmark compared with reference tools: one configuration per workload and tool, that of the
//! workload's headline where the tool ran it.

use super::{Compared, OURS, chosen, median_of_pairs, with_ratio};
use crate::view::columns::{Columns, not_finite};
use crate::view::disk;
use crate::view::label::Group;
use crate::view::table::Table;
use crate::view::text::clean;

/// The table; without rows where no tool ran.
pub fn table(groups: &[Group]) -> Table {
    type Row<'g, 'a> = (&'g Group<'a>, Compared<'a>);
    let rows = groups.iter().flat_map(|g| chosen(g).into_iter().map(move |c| (g, c)));
    let table = Columns::new("Comparison with reference tools")
        .column("workload", |(group, _): &Row| clean(group.id))
        .column("configuration", |(group, (m, _))| group.short(m))
        .spare(4)
        .column("tool", |(_, (_, r))| clean(&r.tool))
        .keys()
        .number("proofmark", |(_, (m, r))| {
            median_of_pairs(r, |v| disk::scale(m, &[v]).with_label(v))
        })
        .spare(3)
        .explained(OURS[0], OURS[1])
        .number("tool result", |(_, (m, r))| {
            disk::scale(m, &[r.value]).with_label(r.value).ok_or_else(not_finite)
        })
        .spare(3);
    with_ratio(table, |(_, (_, r))| r, 0).rows(rows)
}
