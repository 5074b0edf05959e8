//! The values of a kernel's knobs, from texts as they are typed.

use std::collections::BTreeMap;

use anyhow::Result;
use proofmark_model::{AUTO, Host, KernelSpec, Knob, KnobKind, Param, Params, parse_size};

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
            None => Err(format!("'{text}' is none of {}", choices.join(", "))),
        },
    }
}
