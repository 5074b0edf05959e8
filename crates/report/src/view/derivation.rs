//! How ceilings were derived: one entry per formula, one row per point.

use proofmark_model::{Ceiling, Measurement, Provenance};
use serde::Serialize;

use super::keyed::{caption, keyed, keys, why_no_ceiling};
use super::label::Group;
use super::num::{Scale, percent, with_unit};
use super::table::{Cell, Table};
use super::text::{and_list, clean};

/// Different notes of one input that are printed.
const NOTES: usize = 6;

/// One input of a formula.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InputView {
    /// Name in the formula.
    pub name: String,
    /// `measured`, `reported`, `assumed` or `declared`.
    pub source: &'static str,
    /// How it was measured, or the source of the table's row; distinct ones.
    pub notes: Vec<String>,
}

/// One formula with its inputs and its values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Derivation {
    /// Id of the ceiling.
    pub id: String,
    /// The formula, in the names of the inputs.
    pub formula: String,
    /// `1.0 %`: how far off the ceiling itself may be.
    pub uncertainty: String,
    /// The inputs.
    pub inputs: Vec<InputView>,
    /// Points, values of the inputs, ceiling.
    pub table: Table,
}

/// The word for where an input comes from.
pub fn provenance(source: Provenance) -> &'static str {
    match source {
        Provenance::Measured => "measured",
        Provenance::Reported => "reported",
        Provenance::Assumed => "assumed",
        Provenance::Declared => "declared",
    }
}

/// The derivations of one workload's ceilings.
pub fn for_workload(group: &Group, scale: &Scale) -> Vec<Derivation> {
    let mut formulas: Vec<Vec<(&Measurement, &Ceiling)>> = Vec::new();
    for m in &group.all {
        let Some(c) = &m.ceiling else { continue };
        let shape = shape(c);
        let like = |f: &&mut Vec<(&Measurement, &Ceiling)>| {
            f.first().is_some_and(|(_, first)| self::shape(first) == shape)
        };
        match formulas.iter_mut().find(like) {
            Some(members) => members.push((m, c)),
            None => formulas.push(vec![(m, c)]),
        }
    }
    formulas.iter().filter_map(|members| one(group, scale, members)).collect()
}

/// What has no ceiling at all, and why, each reason once.
pub fn lacking(groups: &[Group]) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for group in groups.iter().filter(|g| g.all.iter().all(|m| m.ceiling.is_none())) {
        for m in group.all.iter().filter(|m| m.summary.is_some()) {
            let why = why_no_ceiling(m);
            match reasons.iter_mut().find(|(known, _)| *known == why) {
                Some((_, workloads)) if !workloads.contains(&group.id) => workloads.push(group.id),
                Some(_) => {}
                None => reasons.push((why, vec![group.id])),
            }
        }
    }
    let sentence = |(why, workloads): (String, Vec<&str>)| match workloads.len() == groups.len() {
        true => format!("No ceiling is known: {why}."),
        false => format!("No ceiling is known for {}: {why}.", clean(&and_list(&workloads))),
    };
    reasons.into_iter().map(sentence).collect()
}

/// What the ceilings of one table share.
fn shape(c: &Ceiling) -> (&str, &str, Vec<(&str, &str, Provenance)>) {
    let inputs = c.inputs.iter().map(|i| (i.name.as_str(), i.unit.as_str(), i.source)).collect();
    (&c.id, &c.formula, inputs)
}

fn one(group: &Group, scale: &Scale, members: &[(&Measurement, &Ceiling)]) -> Option<Derivation> {
    let (_, first) = members.first()?;
    let inputs = first.inputs.iter().enumerate().map(|(at, input)| {
        let mut notes: Vec<String> = Vec::new();
        for note in members.iter().filter_map(|(_, c)| c.inputs.get(at)).map(|i| clean(&i.note)) {
            if !note.is_empty() && !notes.contains(&note) {
                notes.push(note);
            }
        }
        if notes.len() > NOTES {
            let more = notes.len() - NOTES;
            notes.truncate(NOTES);
            notes.push(format!("and {more} more, in the run file"));
        }
        InputView { name: clean(&input.name), source: provenance(input.source), notes }
    });
    let mut table = keyed(group, caption(group, "inputs of the ceiling"), &[]);
    for input in &first.inputs {
        table = table.number(clean(&input.name));
    }
    table = table.measured("ceiling", scale.label()).spare(1);
    for (m, c) in members {
        let mut cells = keys(group, m, &mut table, &[]);
        cells.extend(c.inputs.iter().map(|i| Cell::text(with_unit(i.value, &clean(&i.unit)))));
        let value = scale.number(c.value);
        cells.push(table.maybe(value, || "not a finite number".to_owned()));
        table.push(cells);
    }
    let worst = members.iter().map(|(_, c)| c.uncertainty).fold(0.0, f64::max);
    Some(Derivation {
        id: clean(&first.id),
        formula: clean(&first.formula),
        uncertainty: percent(worst).map_or_else(|| "unknown".to_owned(), |p| format!("{p} %")),
        inputs: inputs.collect(),
        table,
    })
}
