//! The values of a kernel's knobs, from texts as they are typed.

use std::collections::BTreeMap;

use anyhow::Result;
use proofmark_model::{AUTO, Host, KernelSpec, Knob, KnobKind, Param, Params, nearest, parse_size};

use super::Overrides;
use crate::error::Usage;

/// Every combination of the kernel's knobs that was asked for.
pub(super) fn combinations(
    spec: &KernelSpec,
    profile: &BTreeMap<String, Vec<String>>,
    overrides: &Overrides,
    host: &Host,
) -> Result<Vec<Params>> {
    let mut combinations = vec![Params::default()];
    for knob in spec.knobs.iter() {
        let name = knob.name.as_ref();
        let default = vec![knob.default.to_string()];
        let texts = overrides
            .by_kernel
            .get(&(spec.id.to_string(), name.to_owned()))
            .or_else(|| overrides.any.get(name))
            .or_else(|| profile.get(name))
            .unwrap_or(&default);
        let values = values(spec, knob, texts, host)?;
        combinations = combinations
            .iter()
            .flat_map(|c| values.iter().map(|v| c.clone().with(name, v.clone())))
            .collect();
    }
    Ok(combinations)
}

/// The values of a knob from what was typed.
fn values(spec: &KernelSpec, knob: &Knob, texts: &[String], host: &Host) -> Result<Vec<Param>> {
    let mut values = Vec::new();
    for text in texts {
        match (&knob.kind, text.as_str()) {
            (KnobKind::Count { .. }, "all") if Params::THREADS.contains(&&*knob.name) => {
                values.push(Param::Int(host.limits.usable_cpus.len().max(1) as u64));
            }
            (KnobKind::Count { .. }, "all") if knob.name.ends_with("_node") => {
                let nodes = host.cpu.numa_nodes.get().into_iter().flatten();
                values.extend(nodes.map(|n| Param::Int(u64::from(n.id))));
            }
            (KnobKind::Choice(choices), "all") => {
                values.extend(choices.iter().map(|c| Param::from(c.as_ref())));
            }
            (_, AUTO) if knob.default == AUTO => values.push(Param::from(AUTO)),
            _ => values.push(
                value(knob, text)
                    .map_err(|e| Usage::error(format!("{}.{}: {e}", spec.id, knob.name)))?,
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

/// The knob and the values of a `--set` for a kernel that is known: `isa=avx2,scalar`, or the same
/// as a run takes it, `cpu.flops.isa=avx2,scalar`. Whether there is such a knob is not looked at.
///
/// # Errors
/// A [`Usage`] of one line: it has neither form, or names another kernel.
pub fn typed_knob<'a>(kernel: &str, text: &'a str) -> Result<(&'a str, Vec<&'a str>)> {
    let (path, values) = text.split_once('=').ok_or_else(|| {
        Usage::error(format!(
            "--set {text}: write KNOB=VALUE, as in isa=avx2, or {kernel}.KNOB=VALUE"
        ))
    })?;
    let (of, knob) = path.trim().rsplit_once('.').unwrap_or((kernel, path.trim()));
    if of != kernel {
        return Err(Usage::error(format!(
            "--set {text}: the kernel is {kernel}, not '{of}'; write KNOB=VALUE or \
             {kernel}.KNOB=VALUE"
        )));
    }
    Ok((knob, values.split(',').map(str::trim).collect()))
}

/// Whether a knob can have a value, whatever the machine.
///
/// # Errors
/// Why not, in one line.
pub fn check_value(knob: &Knob, text: &str) -> Result<(), String> {
    let is_count = matches!(knob.kind, KnobKind::Count { .. });
    let all = match &knob.kind {
        KnobKind::Choice(_) => true,
        _ => is_count && (Params::THREADS.contains(&&*knob.name) || knob.name.ends_with("_node")),
    };
    if (text == "all" && all) || (text == AUTO && knob.default == AUTO) {
        return Ok(());
    }
    value(knob, text).map(drop)
}

/// One value of a knob, held against its type and range; the error is one line.
fn value(knob: &Knob, text: &str) -> Result<Param, String> {
    let in_range = |n: u64, min: u64, max: u64| {
        if (min..=max).contains(&n) {
            Ok(Param::Int(n))
        } else {
            Err(format!("{text} is out of range; it goes from {min} to {max}"))
        }
    };
    match &knob.kind {
        KnobKind::Count { min, max } => match text.replace('_', "").parse::<u64>() {
            Ok(n) => in_range(n, *min, *max),
            Err(_) => Err(format!("'{text}' is not a whole number from {min} to {max}")),
        },
        KnobKind::Size { min, max } => {
            in_range(parse_size(text).map_err(|e| e.to_string())?, *min, *max)
        }
        KnobKind::Choice(choices) => match choices.iter().find(|c| *c == text) {
            Some(choice) => Ok(Param::from(choice.as_ref())),
            None => {
                let near = nearest(text, choices.iter().map(AsRef::as_ref));
                let near = near.map(|n| format!("; did you mean '{n}'?")).unwrap_or_default();
                Err(format!("'{text}' is none of {}{near}", choices.join(", ")))
            }
        },
    }
}
