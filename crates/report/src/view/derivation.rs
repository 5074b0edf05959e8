//! Derivations of the ceilings: one entry per formula, one row per configuration.

use proofmark_model::{Ceiling, Measurement, Provenance};

use super::block::{Blocks, Details, Item, Rich, Section, Style, Text, Tone};
use super::columns::not_finite;
use super::grouping::{distinct, grouped};
use super::label::Group;
use super::num::{Scale, percentage, with_unit};
use super::shared_parts::{keyed, why_no_ceiling};
use super::table::Table;
use super::text::{and_list, clean, enclosed};

/// Maximum number of different notes that are printed per input.
const NOTES: usize = 6;

/// One input of a formula.
pub struct InputView {
    /// Name in the formula.
    pub name: String,
    /// `measured`, `reported`, `assumed` or `declared`.
    pub source: &'static str,
    /// The way in which the input was measured, or the source of its table row; each text once.
    pub notes: Vec<String>,
}

/// One formula with its inputs and its values.
pub struct Derivation {
    /// Id of the ceiling.
    pub id: String,
    /// The formula, in the names of the inputs.
    pub formula: String,
    /// `1.0 %`: the largest error of the ceiling itself.
    pub uncertainty: String,
    /// The inputs.
    pub inputs: Vec<InputView>,
    /// Configurations, values of the inputs, ceiling.
    pub table: Table,
}

impl Derivation {
    /// The formula with its inputs and values, under the title of its workload.
    pub fn section(self, title: String) -> Section {
        let mut out = Blocks::default();
        let uncertainty = format!(" uncertainty {}", self.uncertainty);
        let formula = Rich::toned(Tone::Code, self.formula).and(Tone::Quiet, uncertainty);
        out.add("formula", Text::new(Style::Plain, [formula]));
        let input = |i: InputView| {
            let notes = enclosed(": ", &i.notes.join("; "), "");
            let name = Rich::toned(Tone::Code, i.name).and(Tone::Plain, format!(", {}", i.source));
            Item::from(name.and(Tone::Quiet, notes))
        };
        out.add("inputs", self.inputs.into_iter().map(input).collect::<Vec<Item>>());
        out.add(
            "values",
            Details::new("Values per configuration", |of| {
                of.add("values", self.table);
            }),
        );
        Section { title, code: self.id, blocks: out.0, ..Section::default() }
    }
}

pub fn provenance(source: Provenance) -> &'static str {
    match source {
        Provenance::Measured => "measured",
        Provenance::Reported => "reported",
        Provenance::Assumed => "assumed",
        Provenance::Declared => "declared",
    }
}

pub fn for_workload(group: &Group, scale: &Scale) -> Vec<Derivation> {
    let ceilings = group.all.iter().filter_map(|m| Some((*m, m.ceiling.as_ref()?)));
    let formulas = grouped(ceilings.map(|(m, c)| (shape(c), (m, c))));
    formulas.into_iter().filter_map(|(_, members)| derivation(group, scale, members)).collect()
}

/// Names the workloads without any ceiling, grouped by reason.
pub fn without_ceiling(groups: &[Group]) -> Vec<String> {
    let unbounded = groups.iter().filter(|g| g.all.iter().all(|m| m.ceiling.is_none()));
    let reasons = unbounded.flat_map(|g| {
        let measured = g.all.iter().filter(|m| m.summary.is_some());
        measured.map(|m| (why_no_ceiling(m), g.heading()))
    });
    let sentence = |(why, workloads): (String, Vec<String>)| {
        let workloads = distinct(workloads);
        match workloads.len() == groups.len() {
            true => format!("No ceiling is known: {why}."),
            false => format!("No ceiling is known for {}: {why}.", and_list(workloads)),
        }
    };
    grouped(reasons).into_iter().map(sentence).collect()
}

/// The properties that the ceilings of one table share.
fn shape(c: &Ceiling) -> (&str, &str, Vec<(&str, &str, Provenance)>) {
    let inputs = c.inputs.iter().map(|i| (i.name.as_str(), i.unit.as_str(), i.source)).collect();
    (&c.id, &c.formula, inputs)
}

fn derivation(
    group: &Group,
    scale: &Scale,
    members: Vec<(&Measurement, &Ceiling)>,
) -> Option<Derivation> {
    let (_, first) = *members.first()?;
    let inputs = first.inputs.iter().enumerate().map(|(at, input)| {
        let notes = members.iter().filter_map(|(_, c)| Some(clean(&c.inputs.get(at)?.note)));
        let mut notes = distinct(notes.filter(|note| !note.is_empty()));
        if notes.len() > NOTES {
            let more = notes.len() - NOTES;
            notes.truncate(NOTES);
            notes.push(format!("and {more} more, in the run file"));
        }
        InputView { name: clean(&input.name), source: provenance(input.source), notes }
    });
    let inputs = inputs.collect();
    let worst = members.iter().map(|(_, c)| c.uncertainty).fold(0.0, f64::max);
    let mut table = keyed(group, "inputs of the ceiling");
    for (at, input) in first.inputs.iter().enumerate() {
        table = table.number(&clean(&input.name), move |(_, c): &(_, &Ceiling)| {
            with_unit(c.inputs[at].value, &clean(&c.inputs[at].unit))
        });
    }
    let table = table
        .measured("ceiling", scale.label(), |(_, c)| scale.number(c.value).ok_or_else(not_finite))
        .spare(1)
        .rows(members);
    Some(Derivation {
        id: clean(&first.id),
        formula: clean(&first.formula),
        uncertainty: percentage(worst).unwrap_or_else(|| "unknown".to_owned()),
        inputs,
        table,
    })
}
