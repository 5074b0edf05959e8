//! The configuration of a main result in words.

use super::MainResult;
use crate::{ResultNames, Run};

impl MainResult<'_> {
    /// Describes the configuration, as every table and list does; `None` without a row.
    pub fn configuration(&self, run: &Run) -> Option<String> {
        self.row?;
        Some(ResultNames::of_run(run, &self.measurement.workload).configuration(self.measurement))
    }
}
