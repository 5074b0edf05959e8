//! What STREAM prints, from the trials of the workloads after it: best rate, and the average, least
//! and greatest time of one pass over its arrays.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Unit, format_count, format_size};

use crate::view::columns::{Columns, not_finite};
use crate::view::declared::rows_of;
use crate::view::label::{Group, why_no_trials};
use crate::view::num::Scale;
use crate::view::table::Table;
use crate::view::text::{clean, enclosed};

const TIME: [&str; 2] = [
    "times after STREAM",
    "The bytes of one pass over the arrays, as STREAM counts them, divided by the rate of each trial. \
     The best rate is that of the fastest trial; the report's result is the headline figure.",
];

/// Rows of one function are for the same arrays, threads and stores.
type Key = (u64, u64, String);

/// With its function's place among all, and the arrays that one pass counts.
type Row<'a> = (Key, usize, &'a Measurement, f64);

fn key(m: &Measurement) -> Option<Key> {
    let stores = m.params.text("stores").map_or_else(String::new, clean);
    Some((m.params.int("array_size")?, m.params.threads(), stores))
}

/// The listing; without rows where fewer than two such workloads were measured.
pub fn listing(all: &[&Group]) -> Table {
    let functions = rows_of(all.iter().copied(), "stream");
    let mut rows: Vec<Row> = Vec::new();
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
    let stores: BTreeSet<String> = rows.iter().map(|(key, ..)| key.2.clone()).collect();
    let mut same = String::new();
    if let (1, Some(bytes)) = (arrays.len(), arrays.first()) {
        same += &format!(", arrays of {}", format_size(*bytes));
    }
    if let (1, Some(word)) = (stores.len(), stores.first()) {
        same += &enclosed(", ", word, " stores");
    }
    let rate = Scale::for_largest([1e6], Unit::BytePerSecond);
    let time = |read: fn(&[f64]) -> f64| {
        move |(key, _, m, counted): &Row| {
            let bytes = counted * key.0 as f64;
            let times: Vec<f64> = rates(m)?.iter().map(|rate| bytes / rate).collect();
            seconds(read(&times)).ok_or_else(not_finite)
        }
    };
    Columns::new(format!("After STREAM: best rate and time of one pass, all trials{same}"))
        .when(arrays.len() > 1, |table| table.number("array", |(key, ..): &Row| format_size(key.0)))
        .number("threads", |(key, ..)| format_count(key.1))
        .when(stores.len() > 1, |table| table.column("stores", |(key, ..)| key.2.clone()))
        .column("function", |(_, at, ..)| functions[*at].1.clone())
        .keys()
        .measured("best rate", rate.label(), |(_, _, m, _)| {
            let best = rates(m)?.into_iter().fold(0.0, f64::max);
            rate.number(best).ok_or_else(not_finite)
        })
        .explained(TIME[0], TIME[1])
        .measured("avg time", "s", time(|all| all.iter().sum::<f64>() / all.len() as f64))
        .measured("min time", "s", time(|all| all.iter().copied().fold(f64::INFINITY, f64::min)))
        .spare(1)
        .measured("max time", "s", time(|all| all.iter().copied().fold(0.0, f64::max)))
        .spare(1)
        .column("verdict", |(_, _, m, _)| m.verdict)
        .rows(rows)
}

fn rates(m: &Measurement) -> Result<Vec<f64>, String> {
    let rates = m.trials.iter().map(|t| t.value).filter(|v| v.is_finite() && *v > 0.0);
    Some(rates.collect()).filter(|all: &Vec<_>| !all.is_empty()).ok_or_else(|| why_no_trials(m))
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
