//! GIOPS and GFLOPS of the instruction mixes by threads, integers and floating point together.

use proofmark_model::format_count;

use crate::view::chart::{Chart, LINES};
use crate::view::declared::rows_of;
use crate::view::grouping::grouped;
use crate::view::label::Group;
use crate::view::series::workloads::{About, Line, Value, chart};
use crate::view::text::{clean, enclosed, joined};

/// One chart, or one a mix where one would hold too many lines.
pub fn lines(all: &[&Group]) -> Vec<Chart> {
    let mixes = rows_of(all.iter().copied(), "instruction_mixes");
    let lines: Vec<Line> =
        mixes.iter().flat_map(|(group, counted)| lines_for(group, counted)).collect();
    if lines.len() <= LINES {
        return draw(&lines, "").into_iter().collect();
    }
    let mix = |l: &Line| l.points.first().and_then(|(_, m)| m.params.text("mix")).map(clean);
    let mut by_mix = grouped(lines.into_iter().map(|l| (mix(&l), l)));
    by_mix.sort_by(|a, b| a.0.cmp(&b.0));
    let chart = |(mix, lines): &(Option<String>, Vec<Line>)| {
        draw(lines, &enclosed(" (", mix.as_deref().unwrap_or_default(), ")"))
    };
    by_mix.iter().filter_map(chart).collect()
}

fn draw(lines: &[Line], name: &str) -> Option<Chart> {
    let about = About {
        title: &format!("GIOPS and GFLOPS by threads{name}"),
        axis: "threads",
        place: format_count,
        value: Value::Rate,
        key: "",
    };
    chart(&about, lines)
}

/// A line a combination of the other parameters.
fn lines_for<'g, 'a>(group: &'g Group<'a>, counted: &str) -> Vec<Line<'g, 'a>> {
    let measured = group.all.iter().copied().filter(|m| m.summary.is_some());
    let named = measured.map(|m| {
        // Where all points have the same mix, the name of it is none of what varies.
        let name = joined([counted, &group.short_without(m, &["threads"])], ", ");
        (name, (m.params.threads(), m))
    });
    grouped(named).into_iter().map(|(name, points)| Line { name, group, points }).collect()
}
