//! Names of compared results: those of the report, over the results of both runs.

use std::collections::BTreeMap;

use proofmark_model::{Measurement, Params, ResultNames, Run, clean_excerpt};

use super::pairs::spec_of;

/// Most characters of a name.
const LONGEST: usize = 160;

/// The names of the results of two runs, by workload.
#[derive(Debug)]
pub(crate) struct Names<'a>(BTreeMap<&'a str, ResultNames<'a>>);

impl<'a> Names<'a> {
    pub(crate) fn collect(a: &'a Run, b: &'a Run) -> Self {
        let mut workloads: BTreeMap<&str, Vec<&Params>> = BTreeMap::new();
        for m in a.measurements.iter().chain(&b.measurements) {
            workloads.entry(&m.workload).or_default().push(&m.params);
        }
        let cpus = [a, b].map(|run| run.host.limits.usable_cpus.len() as u64);
        // More threads than the smaller machine has CPUs are threads, not CPUs.
        let cpus = cpus[0].min(cpus[1]);
        let names = workloads
            .into_iter()
            .map(|(id, all)| (id, ResultNames::new(spec_of([a, b], id), all, cpus)));
        Self(names.collect())
    }

    /// The name: `2 CPUs, avx2, block size 8 KiB`; empty if no parameter distinguishes the result.
    pub(crate) fn name(&self, m: &Measurement) -> String {
        self.written(m, ResultNames::configuration)
    }

    /// The title: `FP peak, 2 CPUs, avx2`.
    pub(crate) fn title(&self, m: &Measurement) -> String {
        self.written(m, ResultNames::title)
    }

    fn written(
        &self,
        m: &Measurement,
        write: fn(&ResultNames<'a>, &Measurement) -> String,
    ) -> String {
        let text = self.0.get(m.workload.as_str()).map(|names| write(names, m));
        let over_time = m.series.is_some().then(|| "over time".to_owned());
        let parts = [text.filter(|text| !text.is_empty()), over_time];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        clean_excerpt(&parts.join(", "), LONGEST)
    }
}
