//! Finds workloads and parameters by their typed names.

use proofmark_engine::Workload;
use proofmark_model::{Parameter, Subsystem, WorkloadSpec};

use crate::error::{Usage, no_parameter};
use crate::meant::unknown_workload;
use crate::registry::{all, find, ids};

/// The command that lists the names.
const SEE: &str = "proofmark list workloads";

/// The ids of the named workloads and of all in named subsystems; all ids without a name.
pub(super) fn chosen(names: &[String]) -> Result<Vec<String>, Usage> {
    if names.is_empty() {
        return Ok(ids().map(str::to_owned).collect());
    }
    let mut chosen = Vec::new();
    for name in names {
        if let Some(subsystem) = Subsystem::KNOWN.iter().find(|s| s.as_str() == name) {
            let members = all().map(|k| k.spec()).filter(|s| s.subsystem == *subsystem);
            chosen.extend(members.map(|s| s.id.to_string()));
        } else {
            let subsystems: Vec<_> = Subsystem::KNOWN.iter().map(|s| s.as_str()).collect();
            let wrong = || match name.contains(',') {
                true => {
                    let apart = name.split(',').map(str::trim).collect::<Vec<_>>().join(" ");
                    Usage(format!("'{name}' is several names in one; write them apart: {apart}"))
                }
                false => Usage(unknown_workload("workload or subsystem", name, &subsystems)),
            };
            chosen.push(find(name).ok_or_else(wrong)?.spec().id.to_string());
        }
    }
    Ok(chosen)
}

/// Finds the workload of an id; the error names the nearest. A subsystem is not a workload.
pub(crate) fn named(id: &str) -> Result<&'static dyn Workload, Usage> {
    if Subsystem::KNOWN.iter().any(|s| s.as_str() == id) {
        let why = format!("'{id}' is a subsystem; name one of its workloads, see '{SEE}'");
        return Err(Usage(why));
    }
    find(id).ok_or_else(|| Usage(unknown_workload("workload", id, &[])))
}

pub(super) fn known_parameter<'a>(
    spec: &'a WorkloadSpec,
    name: &str,
) -> Result<&'a Parameter, Usage> {
    spec.parameter(name).ok_or_else(|| {
        let names = spec.parameters.iter().map(|k| k.name.as_ref());
        Usage(no_parameter(&spec.id, name, names))
    })
}
