//! GIOPS and GFLOPS of the instruction mixes by threads, integers and floating point together.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, format_count};

use crate::view::chart::{Chart, LINES};
use crate::view::declared::rows_of;
use crate::view::label::Group;
use crate::view::series::workloads::{About, Line, Value, chart};

/// One chart, or one a mix where one would hold too many lines.
pub fn lines(all: &[&Group]) -> Vec<Chart> {
    let mixes = rows_of(all.iter().copied(), "instruction_mixes");
    let mut lines: Vec<Line> =
        mixes.iter().flat_map(|(group, counted)| lines_for(group, counted)).collect();
    let mix =
        |l: &Line| -> Option<String> { Some(l.points.first()?.1.params.text("mix")?.to_owned()) };
    if lines.len() <= LINES {
        return draw(&lines, "").into_iter().collect();
    }
    let mixes: BTreeSet<Option<String>> = lines.iter().map(mix).collect();
    let mut out = Vec::new();
    for one in mixes {
        let (here, rest): (Vec<Line>, Vec<Line>) = lines.into_iter().partition(|l| mix(l) == one);
        let name = one.map_or_else(String::new, |m| format!(" ({})", crate::view::clean(&m)));
        out.extend(draw(&here, &name));
        lines = rest;
    }
    out
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
    let mut lines: Vec<Line> = Vec::new();
    for m in group.all.iter().copied().filter(|m| m.summary.is_some()) {
        let named = |m: &Measurement| match group.short_without(m, &["threads"]) {
            // Where all points have the same mix, the name of it is none of what varies.
            rest if rest.is_empty() => counted.to_owned(),
            rest => format!("{counted}, {rest}"),
        };
        let (name, point) = (named(m), (m.params.threads(), m));
        match lines.iter_mut().find(|l| l.name == name) {
            Some(line) => line.points.push(point),
            None => lines.push(Line { name, group, points: vec![point] }),
        }
    }
    lines
}
