//! The configuration of a main result in words.

use super::MainResult;
use crate::{ResultNames, Run, clean};

impl MainResult<'_> {
    /// Returns the title with the configuration: `FP peak, 2 CPUs, avx2`; `None` without a row.
    pub fn title(&self, run: &Run) -> Option<String> {
        let title = [clean(&self.row?.title), self.configuration(run)?];
        let title: Vec<String> = title.into_iter().filter(|part| !part.is_empty()).collect();
        Some(title.join(", "))
    }

    /// Describes the configuration, as every table and list does; `None` without a row.
    pub fn configuration(&self, run: &Run) -> Option<String> {
        self.row?;
        Some(ResultNames::of_run(run, &self.measurement.workload).configuration(self.measurement))
    }
}
