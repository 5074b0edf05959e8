//! The values of a workload's parameters, from texts as they are typed.

use std::collections::BTreeMap;

use anyhow::Result;
use proofmark_model::{
    AUTO, Host, Param, Parameter, ParameterKind, Params, WorkloadSpec, nearest, parse_size,
};

use super::Overrides;
use crate::error::Usage;

/// Every combination of the workload's parameters that was asked for.
pub(super) fn combinations(
    spec: &WorkloadSpec,
    profile: &BTreeMap<String, Vec<String>>,
    overrides: &Overrides,
    host: &Host,
) -> Result<Vec<Params>> {
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
            .flat_map(|c| values.iter().map(|v| c.clone().with(name, v.clone())))
            .collect();
    }
    Ok(combinations)
}

/// The values of a parameter from what was typed.
fn values(
    spec: &WorkloadSpec,
    parameter: &Parameter,
    texts: &[String],
    host: &Host,
) -> Result<Vec<Param>> {
    let mut values = Vec::new();
    for text in texts {
        match (&parameter.kind, text.as_str()) {
            (ParameterKind::Count { .. }, "all") if Params::THREADS.contains(&&*parameter.name) => {
                values.push(Param::Int(host.limits.usable_cpus.len().max(1) as u64));
            }
            (ParameterKind::Count { .. }, "all") if parameter.name.ends_with("_node") => {
                let nodes = host.cpu.numa_nodes.get().into_iter().flatten();
                values.extend(nodes.map(|n| Param::Int(u64::from(n.id))));
            }
            (ParameterKind::Choice(choices), "all") => {
                values.extend(choices.iter().map(|c| Param::from(c.as_ref())));
            }
            (_, AUTO) if parameter.default == AUTO => values.push(Param::from(AUTO)),
            _ => values.push(
                value(parameter, text)
                    .map_err(|e| Usage::error(format!("{}.{}: {e}", spec.id, parameter.name)))?,
            ),
        }
    }
    let mut seen = Vec::new();
    values.retain(|v| {
        let new = !seen.contains(v);
        seen.push(v.clone());
        new
    });
    Ok(values)
}

/// The parameter and the values of a `--set` for a workload that is known: `isa=avx2,scalar`, or the same
/// as a run takes it, `cpu.flops.isa=avx2,scalar`. Whether there is such a parameter is not looked at.
///
/// # Errors
/// A [`Usage`] of one line: it has neither form, or names another workload.
pub fn typed_parameter<'a>(workload: &str, text: &'a str) -> Result<(&'a str, Vec<&'a str>)> {
    let (path, values) = text.split_once('=').ok_or_else(|| {
        Usage::error(format!(
            "--set {text}: write PARAMETER=VALUE, as in isa=avx2, or {workload}.PARAMETER=VALUE"
        ))
    })?;
    let (of, parameter) = path.trim().rsplit_once('.').unwrap_or((workload, path.trim()));
    if of != workload {
        return Err(Usage::error(format!(
            "--set {text}: the workload is {workload}, not '{of}'; write PARAMETER=VALUE or \
             {workload}.PARAMETER=VALUE"
        )));
    }
    Ok((parameter, values.split(',').map(str::trim).collect()))
}

/// Whether a parameter can have a value, whatever the machine.
///
/// # Errors
/// Why not, in one line.
pub fn check_value(parameter: &Parameter, text: &str) -> Result<(), String> {
    let is_count = matches!(parameter.kind, ParameterKind::Count { .. });
    let all = match &parameter.kind {
        ParameterKind::Choice(_) => true,
        _ => {
            is_count
                && (Params::THREADS.contains(&&*parameter.name)
                    || parameter.name.ends_with("_node"))
        }
    };
    if (text == "all" && all) || (text == AUTO && parameter.default == AUTO) {
        return Ok(());
    }
    value(parameter, text).map(drop)
}

/// One value of a parameter, held against its type and range; the error is one line.
fn value(parameter: &Parameter, text: &str) -> Result<Param, String> {
    let in_range = |n: u64, min: u64, max: u64| {
        if (min..=max).contains(&n) {
            Ok(Param::Int(n))
        } else {
            Err(format!("{text} is out of range; it goes from {min} to {max}"))
        }
    };
    match &parameter.kind {
        ParameterKind::Count { min, max } => match text.replace('_', "").parse::<u64>() {
            Ok(n) => in_range(n, *min, *max),
            Err(_) => Err(format!("'{text}' is not a whole number from {min} to {max}")),
        },
        ParameterKind::Size { min, max } => {
            in_range(parse_size(text).map_err(|e| e.to_string())?, *min, *max)
        }
        ParameterKind::Choice(choices) => match choices.iter().find(|c| *c == text) {
            Some(choice) => Ok(Param::from(choice.as_ref())),
            None => {
                let near = nearest(text, choices.iter().map(AsRef::as_ref));
                let near = near.map(|n| format!("; did you mean '{n}'?")).unwrap_or_default();
                Err(format!("'{text}' is not one of {}{near}", choices.join(", ")))
            }
        },
    }
}
