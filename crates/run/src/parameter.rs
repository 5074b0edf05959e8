//! Parses the values of a parameter from text.

use proofmark_model::{
    AUTO, Host, Param, Parameter, ParameterKind, Params, did_you_mean, parse_size,
};

/// Returns the values that a text means. Without a machine, `all` means one CPU and no NUMA node.
pub(crate) fn values(
    parameter: &Parameter,
    text: &str,
    host: Option<&Host>,
) -> Result<Vec<Param>, String> {
    let name = &*parameter.name;
    Ok(match (&parameter.kind, text) {
        (ParameterKind::Count { .. }, "all") if Params::counts_threads(name) => {
            let cpus = host.map_or(1, |host| host.limits.usable_cpus.len().max(1));
            vec![Param::Int(cpus as u64)]
        }
        (ParameterKind::Count { .. }, "all") if name.ends_with("_node") => {
            let nodes = host.and_then(|host| host.cpu.numa_nodes.get()).into_iter().flatten();
            nodes.map(|n| Param::Int(u64::from(n.id))).collect()
        }
        (ParameterKind::Choice(choices), "all") => {
            choices.iter().map(|c| Param::from(c.as_ref())).collect()
        }
        (_, AUTO) if parameter.default == AUTO => vec![Param::from(AUTO)],
        _ => vec![value(parameter, text)?],
    })
}

/// Returns one value of a parameter, checked against its type and range.
pub(crate) fn value(parameter: &Parameter, text: &str) -> Result<Param, String> {
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
                let near = did_you_mean(text, choices.iter().map(AsRef::as_ref));
                let near = near.map(|hint| format!("; {hint}")).unwrap_or_default();
                Err(format!("'{text}' is not one of {}{near}", choices.join(", ")))
            }
        },
    }
}
