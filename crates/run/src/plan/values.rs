//! The values of a workload's parameters, from the typed texts.

use std::collections::BTreeMap;

use proofmark_model::{Host, Param, Parameter, Params, WorkloadSpec, key};

use super::select::{known_parameter, named};
use crate::error::Usage;
use crate::meant::meant_parameter;
use crate::parameter;
use crate::registry::find;
use crate::request::TypedParameters;

/// Typed values, by workload id (or any) and parameter.
#[derive(Debug, Default)]
pub(super) struct Overrides {
    pub(super) any: BTreeMap<&'static str, Vec<String>>,
    pub(super) by_workload: BTreeMap<(String, String), Vec<String>>,
}

/// The typed values for these workloads; each must set a parameter that one of them has.
pub(super) fn overrides(typed: &TypedParameters, measured: &[&str]) -> Result<Overrides, Usage> {
    let some_have = |option: &str, has: fn(&WorkloadSpec) -> bool| {
        let mut specs = measured.iter().filter_map(|id| find(id)).map(|workload| workload.spec());
        let why = || match measured {
            [only] => Usage(format!("{option}: {only} has no such parameter")),
            _ => Usage(format!("{option}: no workload of this run has such a parameter")),
        };
        specs.any(has).then_some(()).ok_or_else(why)
    };
    let mut overrides = Overrides::default();
    if let Some(threads) = &typed.threads {
        some_have("--threads", |spec| Params::THREADS.iter().any(|key| spec.has(*key)))?;
        overrides.any.extend(Params::THREADS.map(|key| (key.name(), list(threads))));
    }
    if let Some(sizes) = &typed.block_size {
        some_have("--block-size", |spec| spec.has(key::BLOCK_SIZE))?;
        overrides.any.insert(key::BLOCK_SIZE.name(), list(sizes));
    }
    for text in &typed.set {
        let (workload, parameter, values) = split_set(text, measured)?;
        known_parameter(named(workload)?.spec(), parameter)?;
        if !measured.contains(&workload) {
            return Err(Usage(format!("--set {text}: this run measures no {workload}")));
        }
        overrides.by_workload.insert((workload.to_owned(), parameter.to_owned()), values);
    }
    Ok(overrides)
}

/// Splits `WORKLOAD.PARAMETER=VALUE,...`. The workload may be left out where only one is measured.
fn split_set<'a>(
    text: &'a str,
    measured: &[&'a str],
) -> Result<(&'a str, &'a str, Vec<String>), Usage> {
    let only = <[_; 1]>::try_from(measured).ok().map(|[id]| id);
    let form = || {
        let form = match (only, with_workload(text, measured)) {
            (Some(id), _) => format!("PARAMETER=VALUE, as in isa=avx2, or {id}.PARAMETER=VALUE"),
            (None, Some(meant)) => format!("WORKLOAD.PARAMETER=VALUE, as in {meant}"),
            _ => "WORKLOAD.PARAMETER=VALUE, as in cpu.flops.isa=avx2".to_owned(),
        };
        Usage(format!("--set {text}: write {form}"))
    };
    let (path, values) = text.split_once('=').ok_or_else(form)?;
    let (workload, parameter) = match (path.trim().rsplit_once('.'), only) {
        (Some(both), _) => both,
        (None, Some(only)) => (only, path.trim()),
        (None, None) => return Err(form()),
    };
    Ok((workload, parameter, list(values)))
}

/// Returns the text with the first of these workloads that has the parameter, by proofmark's name
/// for it.
fn with_workload(text: &str, measured: &[&str]) -> Option<String> {
    let (name, value) = text.split_once('=')?;
    let name = meant_parameter(name.trim()).unwrap_or(name.trim());
    let has = |id: &&&str| find(id).is_some_and(|w| w.spec().parameter(name).is_some());
    measured.iter().find(has).map(|id| format!("{id}.{name}={}", value.trim()))
}

/// Splits a typed list.
pub(super) fn list(text: &str) -> Vec<String> {
    text.split(',').map(|v| v.trim().to_owned()).collect()
}

/// Every requested combination of the workload's parameters.
pub(super) fn combinations(
    spec: &WorkloadSpec,
    profile: &BTreeMap<String, Vec<String>>,
    overrides: &Overrides,
    host: &Host,
) -> Result<Vec<Params>, Usage> {
    let mut combinations = vec![Params::default()];
    for parameter in spec.parameters.iter() {
        let name = parameter.name.as_ref();
        let default = vec![parameter.default.to_string()];
        let texts = overrides
            .by_workload
            .get(&(spec.id.to_string(), name.to_owned()))
            .or_else(|| overrides.any.get(name))
            .or_else(|| profile.get(name))
            .unwrap_or(&default);
        let values = values(spec, parameter, texts, host)?;
        combinations = combinations
            .iter()
            .flat_map(|c| values.iter().map(|v| c.clone().with_named(name, v.clone())))
            .collect();
    }
    Ok(combinations)
}

/// The values of a parameter from the typed texts, each once.
fn values(
    spec: &WorkloadSpec,
    parameter: &Parameter,
    texts: &[String],
    host: &Host,
) -> Result<Vec<Param>, Usage> {
    let mut all = Vec::new();
    for text in texts {
        let values = parameter::values(parameter, text, Some(host))
            .map_err(|e| Usage(format!("{}.{}: {e}", spec.id, parameter.name)))?;
        for value in values {
            if !all.contains(&value) {
                all.push(value);
            }
        }
    }
    Ok(all)
}

/// Checks that a workload has the parameter and that the value is allowed.
pub fn check_value(spec: &WorkloadSpec, name: &str, text: &str) -> Result<(), Usage> {
    let parameter = known_parameter(spec, name)?;
    let checked = parameter::value(parameter, text);
    checked.map(|_| ()).map_err(|e| Usage(format!("{}.{name}: {e}", spec.id)))
}

/// The parameter and the values of a `--set` for one workload: `isa=avx2,scalar`, or the same as a
/// run takes it, `cpu.flops.isa=avx2,scalar`. The parameter may be one that the workload lacks.
pub fn typed_parameter<'a>(
    workload: &'a str,
    text: &'a str,
) -> Result<(&'a str, Vec<String>), Usage> {
    let (named, parameter, values) = split_set(text, &[workload])?;
    if named != workload {
        return Err(Usage(format!(
            "--set {text}: the workload is {workload}, not '{named}'; write PARAMETER=VALUE or \
             {workload}.PARAMETER=VALUE"
        )));
    }
    Ok((parameter, values))
}
