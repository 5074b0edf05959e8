//! Values of parameters that replace those of a profile.

use std::collections::BTreeMap;

use proofmark_model::Params;

use super::select::{known_parameter, named};
use super::values::list;
use crate::error::Usage;
use crate::registry::all;
use crate::request::PlanRequest;

/// Values as they are typed, by workload id (or any) and parameter.
#[derive(Debug, Default)]
pub(super) struct Overrides {
    pub(super) any: BTreeMap<&'static str, Vec<String>>,
    pub(super) by_workload: BTreeMap<(String, String), Vec<String>>,
}

/// Those that a run asks for.
pub(super) fn overrides(request: &PlanRequest) -> Result<Overrides, Usage> {
    let mut overrides = Overrides::default();
    if let Some(threads) = &request.threads {
        overrides.any.extend(Params::THREADS.map(|parameter| (parameter, list(threads))));
    }
    if !request.block_sizes.is_empty() {
        if !all().any(|k| k.spec().parameter("block_size").is_some()) {
            return Err(Usage::new("--block-size: none of the workloads has a block size"));
        }
        let sizes = request.block_sizes.iter().map(u64::to_string).collect();
        overrides.any.insert("block_size", sizes);
    }
    for text in &request.set {
        let form = || {
            Usage::new(format!(
                "--set {text}: write WORKLOAD.PARAMETER=VALUE, as in cpu.flops.isa=avx2"
            ))
        };
        let (path, values) = text.split_once('=').ok_or_else(form)?;
        let (workload, parameter) = path.rsplit_once('.').ok_or_else(form)?;
        known_parameter(named(workload)?.spec(), parameter)?;
        overrides.by_workload.insert((workload.to_owned(), parameter.to_owned()), list(values));
    }
    Ok(overrides)
}
