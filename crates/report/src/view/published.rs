//! The table of the published experiments: `Exp 1, Exp 2, ..., Average, Std Dev` by
//! threads, one a combination of the other knobs.

use proofmark_model::Measurement;

use super::kernel::{caption, verdict};
use super::label::{Group, why_missing, why_no_trials};
use super::num::Scale;
use super::table::{Cell, Table};

/// Trials shown one by one; the rest are among the raw trials.
const SHOWN: usize = 10;

/// The tables of one kernel.
pub fn tables(group: &Group, scale: &Scale) -> Vec<Table> {
    let mut combinations: Vec<(String, Vec<&Measurement>)> = Vec::new();
    for m in &group.all {
        let name = group.short_without(&m.params, &["threads"]);
        match combinations.iter_mut().find(|(n, _)| *n == name) {
            Some((_, members)) => members.push(m),
            None => combinations.push((name, vec![m])),
        }
    }
    combinations.iter().map(|(name, members)| one(group, scale, name, members)).collect()
}

fn one(group: &Group, scale: &Scale, name: &str, members: &[&Measurement]) -> Table {
    let most = members.iter().map(|m| m.trials.len()).max().unwrap_or(0);
    let shown = most.min(SHOWN);
    let what = match (name.is_empty(), most > SHOWN) {
        (true, false) => "every trial by threads".to_owned(),
        (false, false) => format!("every trial by threads, {name}"),
        (true, true) => format!("the first {SHOWN} trials by threads"),
        (false, true) => format!("the first {SHOWN} trials by threads, {name}"),
    };
    let all = if most > SHOWN { "; average and deviation are over all trials" } else { "" };
    let mut table = Table::new(format!("{}, in {}{all}", caption(group, &what), scale.label()))
        .number("threads");
    table.keys = 1;
    for i in 1..=shown {
        table = table.number(format!("Exp {i}"));
    }
    table = table.number("Average").number("Std Dev").column("verdict");
    for m in members {
        let mut cells = vec![Cell::text(proofmark_model::format_count(m.params.threads()))];
        for i in 0..shown {
            let value = m.trials.get(i).and_then(|t| scale.number(t.value));
            cells.push(table.maybe(value, || match m.trials.is_empty() {
                true => why_no_trials(m),
                false => "this point took fewer trials".to_owned(),
            }));
        }
        let mean = m.summary.as_ref().and_then(|s| scale.number(s.mean));
        cells.push(table.maybe(mean, || why_no_trials(m)));
        let sd = m.summary.as_ref().and_then(|s| s.sd).and_then(|sd| scale.number(sd));
        cells.push(table.maybe(sd, || match &m.summary {
            None => why_no_trials(m),
            Some(_) => why_missing(m, "summary.sd", "one trial has no deviation"),
        }));
        cells.push(verdict(group, m, &mut table));
        table.push(cells);
    }
    table
}
