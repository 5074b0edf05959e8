//! The listing that STREAM prints: best rate, and average, minimum and maximum time of one pass
//! over the arrays. Only passes that were made count: a trial may hold less than one, and a time
//! derived from its rate was never measured.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Unit, format_count, format_size, key};

use crate::view::columns::{Columns, not_finite};
use crate::view::declared::rows_of;
use crate::view::label::{Group, why_no_trials};
use crate::view::num::Scale;
use crate::view::table::Table;
use crate::view::text::{clean, enclosed};

const TIME: [&str; 2] = [
    "times as in STREAM",
    "Time of one whole pass over the arrays, derived from the trials. Consecutive trials are added \
     until they hold a whole pass; of several passes in one trial it is their mean. The best rate \
     is the bytes of a pass, as STREAM counts them, divided by the minimum time: the best of so many \
     passes. The report's result is typical, the median over rounds. It leaves out the time that \
     was taken from the threads, which even the best whole pass includes, so it may be above the \
     best rate.",
];

/// Array size, threads and stores: the rows of one key can be compared.
type Key = (u64, u64, String);

/// A key, the function's place in the listing, the result, and the arrays that one pass counts.
type Row<'a> = (Key, usize, &'a Measurement, f64);

fn key(m: &Measurement) -> Option<Key> {
    let stores = m.params.get(key::STORES).map_or_else(String::new, clean);
    Some((m.params.get(key::ARRAY_SIZE)?, m.params.threads(), stores))
}

/// The listing; without rows where fewer than two such workloads were measured.
pub fn listing(all: &[&Group]) -> Table {
    let functions = rows_of(all.iter().copied(), "stream");
    let mut rows: Vec<Row> = Vec::new();
    for (at, (group, _)) in functions.iter().enumerate() {
        let arrays = |m: &Measurement| Some(group.spec?.work.traffic(&m.params)?.counted());
        rows.extend(group.all.iter().filter_map(|m| Some((key(m)?, at, *m, arrays(m)?))));
    }
    // A single function has its own table already.
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
            seconds(read(&passes(m, counted * key.0 as f64)?)).ok_or_else(not_finite)
        }
    };
    let least = |all: &[f64]| all.iter().copied().fold(f64::INFINITY, f64::min);
    Columns::new(format!("STREAM listing: best rate and time of one whole pass{same}"))
        .when(arrays.len() > 1, |table| table.number("array", |(key, ..): &Row| format_size(key.0)))
        .number("threads", |(key, ..)| format_count(key.1))
        .when(stores.len() > 1, |table| table.column("stores", |(key, ..)| key.2.clone()))
        .column("function", |(_, at, ..)| functions[*at].1.clone())
        .keys()
        .measured("best rate", rate.label(), |(key, _, m, counted)| {
            let bytes = counted * key.0 as f64;
            rate.number(bytes / least(&passes(m, bytes)?)).ok_or_else(not_finite)
        })
        .explained(TIME[0], TIME[1])
        .measured("avg time", "s", time(|all| all.iter().sum::<f64>() / all.len() as f64))
        .measured("min time", "s", time(least))
        .spare(1)
        .measured("max time", "s", time(|all| all.iter().copied().fold(0.0, f64::max)))
        .spare(1)
        .column("verdict", |(_, _, m, _)| m.verdict)
        .rows(rows)
}

/// Seconds of each whole pass in the trials, in order; `bytes` is the size of a pass.
fn passes(m: &Measurement, bytes: f64) -> Result<Vec<f64>, String> {
    if m.trials.is_empty() {
        return Err(why_no_trials(m));
    }
    let (mut all, mut moved, mut took) = (Vec::new(), 0.0, 0.0);
    for t in m.trials.iter().filter(|t| t.value.is_finite() && t.seconds.is_finite()) {
        (moved, took) = (moved + t.value * t.seconds, took + t.seconds);
        if moved >= bytes * (1.0 - ROUNDED) && moved > 0.0 {
            all.push(took * (bytes / moved).min(1.0));
            (moved, took) = (0.0, 0.0);
        }
    }
    if all.is_empty() {
        return Err("all trials together hold less than one whole pass".to_owned());
    }
    Ok(all)
}

/// Relative rounding error of a pass's bytes, computed from rate and time.
const ROUNDED: f64 = 1e-9;

/// Seconds with six decimals as in STREAM, where they fit.
fn seconds(v: f64) -> Option<String> {
    let text = format!("{v:.6}");
    let text = if text.len() <= 14 && v >= 1e-5 { text } else { format!("{v:.3e}") };
    v.is_finite().then_some(text)
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Params, Trial, testing};

    use super::*;

    fn with_trials(trials: &[[f64; 2]]) -> Measurement {
        let spec = testing::spec("memory.scale", Unit::BytePerSecond);
        let mut m = Measurement::new(&spec, Params::default());
        let trial = |[bytes, seconds]: &[f64; 2]| Trial::new(m.unit, *bytes, *seconds);
        m.trials = trials.iter().map(trial).collect();
        m
    }

    #[test]
    fn only_passes_that_were_made_have_a_time() {
        let of = |trials: &[[f64; 2]]| passes(&with_trials(trials), 512.0);
        // Two passes in one trial, and one.
        assert_eq!(of(&[[1024.0, 0.5], [512.0, 0.5]]).unwrap(), [0.25, 0.5]);
        // A starved trial is a part of a pass: at its rate one would take 10 minutes.
        let all = of(&[[0.02, 0.025], [500.0, 0.02], [500.0, 0.02], [512.0, 0.02]]).unwrap();
        assert_eq!(all.len(), 2, "{all:?}");
        assert!((all[0] - 0.065 * 512.0 / 1000.02).abs() < 1e-9 && all[1] == 0.02, "{all:?}");
        assert!(all.iter().sum::<f64>() < 0.085, "no longer than all trials");
        let why = of(&[[0.02, 0.025], [300.0, 0.02]]).unwrap_err();
        assert!(why.contains("less than one whole pass"), "{why}");
        assert!(of(&[]).is_err());
    }

    #[test]
    fn times_are_short() {
        assert_eq!(seconds(0.021_345_6).as_deref(), Some("0.021346"));
        assert_eq!(seconds(3e-9).as_deref(), Some("3.000e-9"));
        assert_eq!(seconds(1e300).as_deref(), Some("1.000e300"));
        assert_eq!(seconds(f64::NAN), None);
    }
}
