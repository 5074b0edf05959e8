//! One value of a parameter, from text as it is typed.

use proofmark_model::{AUTO, Param, Parameter, ParameterKind, Params, did_you_mean, parse_size};

/// Whether a parameter can have a value, whatever the machine.
pub fn check_value(parameter: &Parameter, text: &str) -> Result<(), String> {
    let all = match &parameter.kind {
        ParameterKind::Choice(_) => true,
        ParameterKind::Count { .. } => {
            Params::THREADS.contains(&&*parameter.name) || parameter.name.ends_with("_node")
        }
        ParameterKind::Size { .. } => false,
    };
    if (text == "all" && all) || (text == AUTO && parameter.default == AUTO) {
        return Ok(());
    }
    value(parameter, text).map(drop)
}

/// One value of a parameter, held against its type and range; the error is one line.
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
