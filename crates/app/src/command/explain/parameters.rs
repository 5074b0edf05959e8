//! Parameters of workloads and their values in words.

use proofmark_model::{Parameter, ParameterKind, WorkloadSpec, format_size};

use super::{paragraph, width};
use crate::command::words;
use crate::text::wrap;

/// Returns every parameter with its workload.
pub fn parameters() -> impl Iterator<Item = (&'static str, &'static WorkloadSpec)> {
    let specs = proofmark_workloads::ALL.iter().map(|workload| workload.spec());
    specs.flat_map(|spec| spec.parameters.iter().map(move |p| (p.name.as_ref(), spec)))
}

/// Explains a parameter: each meaning with the workloads that have it.
pub fn explain_parameter(name: &str) -> Option<String> {
    let mut meanings: Vec<(&str, Vec<&str>)> = Vec::new();
    for (_, spec) in parameters().filter(|(known, _)| *known == name) {
        let about = &*spec.parameter(name)?.about;
        match meanings.iter_mut().find(|(known, _)| *known == about) {
            Some((_, workloads)) => workloads.push(&spec.id),
            None => meanings.push((about, vec![&spec.id])),
        }
    }
    let each = |(about, workloads): &(&str, Vec<&str>)| {
        paragraph(about) + &wrap(&format!("  of {}\n", workloads.join(", ")), width(), "    ")
    };
    let all: String = meanings.iter().map(each).collect();
    (!all.is_empty())
        .then(|| format!("{name}: Parameter, set with --set WORKLOAD.{name}=VALUE\n\n{all}"))
}

/// Explains a value of a parameter, such as `nontemporal`, by each parameter that has it.
pub fn explain_choice(value: &str) -> Option<String> {
    let mut meanings: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, spec) in parameters() {
        let Some(parameter) = spec.parameter(name) else { continue };
        let ParameterKind::Choice(choices) = &parameter.kind else { continue };
        if choices.iter().all(|choice| words::normal(choice) != value) {
            continue;
        }
        let about = format!("{name}: {}\n", parameter.about);
        match meanings.iter_mut().find(|(known, _)| *known == about) {
            Some((_, workloads)) => workloads.push(&spec.id),
            None => meanings.push((about, vec![&spec.id])),
        }
    }
    let each = |(about, workloads): &(String, Vec<&str>)| {
        let of = format!("  of {}\n", workloads.join(", "));
        wrap(about, width(), "  ") + &wrap(&of, width(), "    ")
    };
    let all: String = meanings.iter().map(each).collect();
    (!all.is_empty()).then(|| format!("{value}: Value of a parameter\n\n{all}"))
}

pub fn default(parameter: &Parameter) -> String {
    match (&parameter.kind, parameter.default.parse()) {
        (ParameterKind::Size { .. }, Ok(bytes)) => format_size(bytes),
        _ => parameter.default.to_string(),
    }
}

pub fn range(parameter: &Parameter) -> String {
    match &parameter.kind {
        ParameterKind::Count { min, max } => format!("{min} to {max}"),
        ParameterKind::Size { min, max } => {
            format!("{} to {}", format_size(*min), format_size(*max))
        }
        ParameterKind::Choice(choices) => choices.join(", "),
    }
}
