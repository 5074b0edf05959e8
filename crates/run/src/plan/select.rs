//! Workloads and parameters by the names that were typed.

use proofmark_engine::Workload;
use proofmark_model::{Parameter, Subsystem, WorkloadSpec};
use proofmark_workloads::{ALL, find};

use crate::error::Usage;
use crate::names::unknown;

/// Ids of the workloads that the names mean; of all, if there are none.
pub(super) fn chosen(names: &[String]) -> Result<Vec<String>, Usage> {
    let ids = || ALL.iter().map(|k| k.spec().id.to_string());
    if names.is_empty() {
        return Ok(ids().collect());
    }
    let mut chosen = Vec::new();
    for name in names {
        if let Some(subsystem) = Subsystem::ALL.iter().find(|s| s.as_str() == name) {
            let before = chosen.len();
            let members = ALL.iter().filter(|k| k.spec().subsystem == *subsystem);
            chosen.extend(members.map(|k| k.spec().id.to_string()));
            if chosen.len() == before {
                return Err(Usage::new(format!(
                    "this version has no {name} workloads; see 'proofmark list workloads'"
                )));
            }
        } else {
            chosen.push(named_or_subsystem(name)?.spec().id.to_string());
        }
    }
    Ok(chosen)
}

/// The workload of that id, or an error with the nearest; a subsystem is none.
pub(super) fn named(id: &str) -> Result<&'static dyn Workload, Usage> {
    const SEE: &str = "proofmark list workloads";
    if Subsystem::ALL.iter().any(|s| s.as_str() == id) {
        let why = format!("'{id}' is a subsystem; name one of its workloads, see '{SEE}'");
        return Err(Usage::new(why));
    }
    let names = ALL.iter().map(|k| k.spec().id.as_ref());
    find(id).ok_or_else(|| Usage::new(unknown("workload", id, names, SEE)))
}

/// The workload of that id; else an error with the nearest of all that could be typed in its place.
fn named_or_subsystem(id: &str) -> Result<&'static dyn Workload, Usage> {
    let names = ALL.iter().map(|k| k.spec().id.as_ref());
    let names = names.chain(Subsystem::ALL.iter().map(|s| s.as_str()));
    let see = "proofmark list workloads";
    find(id).ok_or_else(|| Usage::new(unknown("workload or subsystem", id, names, see)))
}

pub(super) fn known_parameter<'a>(
    spec: &'a WorkloadSpec,
    name: &str,
) -> Result<&'a Parameter, Usage> {
    spec.parameter(name).ok_or_else(|| {
        let names = spec.parameters.iter().map(|k| k.name.as_ref());
        let what = format!("parameter of {}", spec.id);
        Usage::new(unknown(&what, name, names, &format!("proofmark explain {}", spec.id)))
    })
}
