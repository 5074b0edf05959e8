//! What STREAM prints, from the trials of the workloads after it: best rate, and the average, least
//! and greatest time of one pass over its arrays.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Unit, format_count, format_size};

use crate::view::declared::rows_of;
use crate::view::label::{Group, why_no_trials};
use crate::view::num::Scale;
use crate::view::table::{Cell, Table};
use crate::view::text::clean;

/// What a time is here.
const TIME: [&str; 2] = [
    "times after STREAM",
    "The bytes of one pass over the arrays, as STREAM counts them, divided by the rate of each trial. \
     The best rate is that of the fastest trial; the report's result is the headline figure.",
];

/// Rows of one function are for the same arrays, threads and stores.
type Key = (u64, u64, String);

fn key(m: &Measurement) -> Option<Key> {
    let stores = m.params.text("stores").map_or_else(String::new, clean);
    Some((m.params.int("array_size")?, m.params.threads(), stores))
}

/// The listing; without rows where fewer than two such workloads were measured.
pub fn listing(all: &[&Group]) -> Table {
    let functions = rows_of(all.iter().copied(), "stream");
    let mut rows: Vec<(Key, usize, &Measurement, f64)> = Vec::new();
    for (at, (group, _)) in functions.iter().enumerate() {
        let arrays = |m: &Measurement| Some(group.spec?.work.traffic(&m.params)?.counted());
        rows.extend(group.all.iter().filter_map(|m| Some((key(m)?, at, *m, arrays(m)?))));
    }
    // One function has its own table already.
    if rows.iter().all(|(_, at, ..)| *at == rows[0].1) {
        rows.clear();
    }
    rows.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    // The caption names what is the same in all rows.
    let arrays: BTreeSet<u64> = rows.iter().map(|(key, ..)| key.0).collect();
    let stores: BTreeSet<&str> = rows.iter().map(|(key, ..)| &*key.2).collect();
    let rate = Scale::for_largest([1e6], Unit::BytePerSecond);
    let mut table = start(&arrays, &stores, &rate);
    for ((array, threads, word), at, m, count) in &rows {
        let mut cells = Vec::new();
        cells.extend((arrays.len() > 1).then(|| Cell::text(format_size(*array))));
        cells.push(Cell::text(format_count(*threads)));
        cells.extend((stores.len() > 1).then(|| Cell::text(word.as_str())));
        cells.push(Cell::text(&functions[*at].1));
        let times = times(m, count * *array as f64, &rate, &mut table);
        cells.extend(times);
        cells.push(Cell::verdict(m.verdict));
        table.push(cells);
    }
    table
}

/// The heads.
fn start(arrays: &BTreeSet<u64>, stores: &BTreeSet<&str>, rate: &Scale) -> Table {
    let mut same = String::new();
    if let (1, Some(bytes)) = (arrays.len(), arrays.first()) {
        same.push_str(&format!(", arrays of {}", format_size(*bytes)));
    }
    if let (1, Some(word)) = (stores.len(), stores.first().filter(|w| !w.is_empty())) {
        same.push_str(&format!(", {word} stores"));
    }
    let caption = format!("After STREAM: best rate and time of one pass, all trials{same}");
    let mut table = Table::new(caption);
    table = if arrays.len() > 1 { table.number("array") } else { table };
    table = table.number("threads");
    table = if stores.len() > 1 { table.column("stores") } else { table };
    table = table.column("function");
    table.keys = table.columns.len();
    table
        .measured("best rate", rate.label())
        .explained(TIME[0], TIME[1])
        .measured("avg time", "s")
        .measured("min time", "s")
        .spare(1)
        .measured("max time", "s")
        .spare(1)
        .column("verdict")
}

/// Best rate, and the average, least and greatest time of one pass of so many bytes.
fn times(m: &Measurement, bytes: f64, rate: &Scale, table: &mut Table) -> Vec<Cell> {
    let values: Vec<f64> =
        m.trials.iter().map(|t| t.value).filter(|v| v.is_finite() && *v > 0.0).collect();
    if values.is_empty() {
        let none = table.missing(why_no_trials(m));
        return vec![none; 4];
    }
    let (least, most) = values.iter().fold((f64::INFINITY, 0.0), |(l, h), v| (v.min(l), v.max(h)));
    let mean = values.iter().map(|v| bytes / v).sum::<f64>() / values.len() as f64;
    let mut cells = vec![table.maybe(rate.number(most), || "not a finite number".to_owned())];
    for time in [mean, bytes / most, bytes / least] {
        cells.push(table.maybe(seconds(time), || "not a finite number".to_owned()));
    }
    cells
}

/// Six decimals as STREAM has them, where they fit.
fn seconds(v: f64) -> Option<String> {
    let text = format!("{v:.6}");
    let text = if text.len() <= 14 && v >= 1e-5 { text } else { format!("{v:.3e}") };
    v.is_finite().then_some(text)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_are_short() {
        assert_eq!(seconds(0.021_345_6).as_deref(), Some("0.021346"));
        assert_eq!(seconds(3e-9).as_deref(), Some("3.000e-9"));
        assert_eq!(seconds(1e300).as_deref(), Some("1.000e300"));
        assert_eq!(seconds(f64::NAN), None);
    }
}
