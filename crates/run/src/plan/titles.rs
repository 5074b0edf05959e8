//! The titles of planned configurations, as the report will print them.

use std::collections::BTreeMap;

use proofmark_model::{Measurement, Params, Plan, Point, ResultNames};

use crate::registry::find;

/// The title of a planned configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title {
    /// The workload's title: `FP peak`.
    pub workload: String,
    /// The title of the result: `FP peak, 2 CPUs, avx2`.
    pub whole: String,
}

/// Returns the title of each configuration of a plan, then of each that it leaves out, on a machine with so many usable CPUs.
pub fn titles(plan: &Plan, usable_cpus: u64) -> Vec<Title> {
    let mut all: BTreeMap<&str, Vec<&Params>> = BTreeMap::new();
    let points = || plan.points.iter().chain(&plan.left_out);
    for point in points() {
        all.entry(&point.workload).or_default().push(&point.params);
    }
    let names = |(id, params)| {
        let spec = find(id).map(|w| w.spec());
        (id, (spec, ResultNames::new(spec, params, usable_cpus)))
    };
    let names: BTreeMap<&str, _> = all.into_iter().map(names).collect();
    let title = |point: &Point| match names.get(point.workload.as_str()) {
        Some((Some(spec), names)) => Title {
            workload: spec.title.to_string(),
            whole: names.title(&Measurement::new(spec, point.params.clone())),
        },
        _ => Title { workload: point.workload.clone(), whole: point.to_string() },
    };
    points().map(title).collect()
}
