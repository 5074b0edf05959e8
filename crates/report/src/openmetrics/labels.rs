//! Labels: names that both text formats allow, values of bounded length, and unique sets.

use std::collections::HashSet;

use proofmark_model::{Measurement, Params, Run, clean_excerpt};

use crate::view::plain_spaces;

pub type Label = (String, String);

pub type Labels = Vec<Label>;

/// Maximum length of a label's value, in characters. Only untrusted input is longer.
const LONGEST: usize = 200;

pub fn label(name: &str, text: &str) -> Label {
    (name.to_owned(), clean_excerpt(&plain_spaces(text), LONGEST))
}

/// Returns the labels of every series of a run: those that let one collector hold the files of
/// several machines.
pub fn for_run(run: &Run) -> Labels {
    let host = run.host.os.host_name.get().map(|name| label("host", name));
    host.into_iter().chain(run.label.as_ref().map(|text| label("label", text))).collect()
}

pub fn for_measurement(run: &Labels, m: &Measurement) -> Labels {
    let mut labels = run.clone();
    labels.extend([label("workload", &m.workload), label("subsystem", m.subsystem.as_str())]);
    parameters(&mut labels, &m.params);
    labels
}

/// Adds each parameter after `param_`. Where names become equal, the later ones get a number.
fn parameters(labels: &mut Labels, params: &Params) {
    for (name, parameter) in &params.0 {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = name.chars().take(LONGEST).map(plain).collect();
        let mut unique = format!("param_{name}");
        let mut number = 1;
        while labels.iter().any(|(taken, _)| *taken == unique) {
            number += 1;
            unique = format!("param_{name}_{number}");
        }
        labels.push(label(&unique, &parameter.to_string()));
    }
}

/// Makes labels unique: the repeated configuration of an import gets `repeat`. A reader refuses a
/// file in which two series have the same labels.
#[derive(Default)]
pub struct Unique(HashSet<Labels>);

impl Unique {
    /// Returns the labels, with one more of this name if they are in use.
    pub fn distinct(&mut self, labels: Labels, repeat: &str) -> Labels {
        let mut unique = labels.clone();
        let mut number = 1;
        while !self.0.insert(unique.clone()) {
            number += 1;
            unique.clone_from(&labels);
            unique.push((repeat.to_owned(), number.to_string()));
        }
        unique
    }
}
