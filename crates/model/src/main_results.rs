//! The main results, which workloads declare before the run: the rows of a report's first screen.
//! `compare` shows them first as well; `check --require` asks them.
//!
//! Parameters of the plan choose them; of the results, only the speed of an instruction set does.
//! Neither verdict nor precision moves a headline: that choice would put the luckiest configuration
//! first.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Better, Measurement, Params, Run, Subsystem, Summary, WorkloadSpec};

mod choice;
mod words;

pub use choice::{Configured, pick};

/// A row of the first screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MainRow {
    /// Place among the rows of the subsystem, from 1.
    pub place: u32,
    /// Title, such as `Random read`: that of the workload.
    pub title: Cow<'static, str>,
    /// The configuration that fills the row. Other parameters are at their default, and there are
    /// as many threads as CPUs.
    pub picks: Cow<'static, [Pick]>,
}

/// The choice of one of the measured values of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pick {
    /// Name of the parameter.
    pub parameter: Cow<'static, str>,
    /// The value to choose; if it was not measured, any.
    pub value: PickedValue,
}

/// A choice among the measured values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PickedValue {
    /// The given value.
    Is(Cow<'static, str>),
    /// The smallest value.
    Smallest,
    /// The largest value.
    Largest,
    /// One thread per usable CPU, or the next fewer.
    UsableCpus,
    /// The value with the best figure: for instruction sets only.
    Best,
}

/// A main result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MainResult<'a> {
    /// The row that it fills; `None` where the workload declares none.
    pub row: Option<&'a MainRow>,
    /// The result.
    pub measurement: &'a Measurement,
}

/// Maximum number of results for a first screen with all of them.
const FEW: usize = 18;

/// The parameter that names the machine of an imported result, where a file has those of several.
pub const FROM: &str = "from";

impl Run {
    /// Returns the results on the first screen, by subsystem. A run with few results shows all, of
    /// each workload the one that answers for it last. Otherwise it shows the declared rows; a subsystem without rows shows one result per
    /// workload.
    pub fn main_results(&self) -> Vec<(Subsystem, Vec<MainResult<'_>>)> {
        let of = |part: Subsystem| (part, self.main_results_of(part));
        let all = Subsystem::KNOWN.iter().copied().map(of);
        all.filter(|(_, rows): &(_, Vec<_>)| !rows.is_empty()).collect()
    }

    fn main_results_of<'a>(&'a self, part: Subsystem) -> Vec<MainResult<'a>> {
        let here: Vec<&Measurement> =
            self.measurements.iter().filter(|m| m.subsystem == part).collect();
        if self.measurements.len() <= FEW {
            let alone = |measurement| MainResult { row: None, measurement };
            return self.answers_last(here).into_iter().map(alone).collect();
        }
        let declared = self.declared(&here);
        if !declared.is_empty() {
            return declared;
        }
        let mut seen: Vec<&str> = Vec::new();
        for m in &here {
            if !seen.contains(&&*m.workload) {
                seen.push(&m.workload);
            }
        }
        let of_workload = |id: &str| {
            let all: Vec<_> = here.iter().copied().filter(|m| m.workload == id).collect();
            let measurement = answer(self, &all)?;
            Some(MainResult { row: None, measurement })
        };
        seen.into_iter().filter_map(of_workload).take(FEW).collect()
    }

    /// Moves the result that answers for each workload below the others of it, so that it is the
    /// last row in a run with few results, too.
    fn answers_last<'a>(&'a self, mut rows: Vec<&'a Measurement>) -> Vec<&'a Measurement> {
        for id in self.workloads.keys() {
            let one = |m: &&Measurement| m.workload == *id && m.series.is_none();
            let all: Vec<_> = rows.iter().copied().filter(one).collect();
            let chosen = answer(self, &all);
            let at = chosen.and_then(|c| rows.iter().position(|m| std::ptr::eq(*m, c)));
            let last = rows.iter().rposition(|m| m.workload == *id);
            if let Some((at, last)) = at.zip(last) {
                rows[at..=last].rotate_left(1);
            }
        }
        rows
    }

    /// Returns the declared rows of each machine whose results are in the run, as many machines as a
    /// first screen holds.
    fn declared<'a>(&'a self, here: &[&'a Measurement]) -> Vec<MainResult<'a>> {
        let mut machines: Vec<Option<&str>> = Vec::new();
        for m in here {
            let machine = m.params.word(FROM);
            if machines.len() < FEW && !machines.contains(&machine) {
                machines.push(machine);
            }
        }
        let of_machine = |machine: &Option<&str>| {
            let all: Vec<_> =
                here.iter().copied().filter(|m| m.params.word(FROM) == *machine).collect();
            self.declared_of_machine(&all)
        };
        let mut found: Vec<MainResult> = Vec::new();
        for rows in machines.iter().map(of_machine) {
            if found.is_empty() || found.len() + rows.len() <= FEW {
                found.extend(rows);
            }
        }
        found
    }

    /// Returns the results of the declared rows in their order, each once.
    fn declared_of_machine<'a>(&'a self, here: &[&'a Measurement]) -> Vec<MainResult<'a>> {
        let rows = |spec: &'a WorkloadSpec| spec.role.main_rows.iter().map(move |row| (spec, row));
        let mut rows: Vec<_> = self.workloads.values().flat_map(rows).collect();
        rows.sort_by_key(|(_, row)| row.place);
        let mut found: Vec<MainResult> = Vec::new();
        for (spec, row) in rows {
            let all: Vec<_> = here
                .iter()
                .copied()
                .filter(|m| m.workload == spec.id && m.series.is_none())
                .collect();
            let cpus = self.host.limits.usable_cpus.len() as u64;
            let Some(measurement) = pick((Some(spec), cpus), &row.picks, all) else { continue };
            if found.iter().all(|h| !std::ptr::eq(h.measurement, measurement)) {
                found.push(MainResult { row: Some(row), measurement });
            }
        }
        found
    }
}

/// Returns the main result of one workload among these: that of its last row, as with all CPUs or
/// the deepest queue. A workload without a row answers as others of its family do;
/// without these the defaults decide. Of several that fit, it is the first of the run, as on the
/// first screen, in whatever order they are given.
pub fn answer<'a>(run: &'a Run, all: &[&'a Measurement]) -> Option<&'a Measurement> {
    let spec = run.workloads.get(&all.first()?.workload);
    let row = spec.and_then(|s| s.role.main_rows.last().or_else(|| family_row(run, s)));
    let places = run.measurements.iter().enumerate().map(|(i, m)| (std::ptr::from_ref(m), i));
    let places: BTreeMap<*const Measurement, usize> = places.collect();
    let mut all = all.to_vec();
    // Results that the run does not hold, such as a missing one, come last.
    all.sort_by_key(|m| places.get(&std::ptr::from_ref(*m)).copied().unwrap_or(usize::MAX));
    let cpus = run.host.limits.usable_cpus.len() as u64;
    pick((spec, cpus), row.map_or(&[], |r| &r.picks), all)
}

/// Returns the first row of the workloads in the same published table that have the same parameters,
/// as STREAM's four: figures that a reader holds against each other are of one configuration.
fn family_row<'a>(run: &'a Run, spec: &WorkloadSpec) -> Option<&'a MainRow> {
    let names = |s: &WorkloadSpec| -> Vec<String> {
        s.parameters.iter().map(|p| p.name.to_string()).collect()
    };
    let in_a_table = |other: &WorkloadSpec| {
        let tables = || spec.role.tables.iter().map(|t| &t.table);
        other.role.tables.iter().any(|t| tables().any(|own| *own == t.table))
    };
    let family = run.workloads.values().filter(|s| in_a_table(s) && names(s) == names(spec));
    family.flat_map(|s| s.role.main_rows.iter()).min_by_key(|row| row.place)
}

/// Returns the result with the best headline, whatever its verdict. Where none has a headline it is the
/// one that delivered most, else the first.
pub fn best<'a>(all: &[&'a Measurement]) -> Option<&'a Measurement> {
    let by_headline = best_by(all, |s| s.value());
    let by_delivered = || best_by(all, |s| s.delivered.value.unwrap_or(f64::NAN));
    by_headline.or_else(by_delivered).or_else(|| all.first().copied())
}

fn best_by<'a>(
    all: &[&'a Measurement],
    figure: impl Fn(&Summary) -> f64,
) -> Option<&'a Measurement> {
    let value = |m: &Measurement| m.summary.as_ref().map(&figure).filter(|v| v.is_finite());
    let rated = all.iter().copied().filter_map(|m| Some((m, value(m)?)));
    let better = |a: (&'a Measurement, f64), b: (&'a Measurement, f64)| {
        let wins = match a.0.better {
            Better::Higher => b.1 > a.1,
            Better::Lower => b.1 < a.1,
        };
        if wins { b } else { a }
    };
    rated.reduce(better).map(|(m, _)| m)
}

impl Configured for &Measurement {
    fn params(&self) -> &Params {
        &self.params
    }

    fn best(all: &[Self]) -> Option<Self> {
        best(all)
    }
}

#[cfg(test)]
mod tests;
