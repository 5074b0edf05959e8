//! A linear solver's report of its solution.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A system of linear equations that a trial solved, and the fit of the solution. Both residuals
/// are finite: a workload whose solution is not finite reports a wrong result, and no solution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Solution {
    /// Number of equations, and of unknowns.
    pub n: u64,
    /// Elements in memory from the start of a column to that of the next. For a matrix stored in
    /// groups of columns: from the start of a group to that of the next, divided by the columns in
    /// one.
    pub leading_dimension: u64,
    /// Alignment of the matrix in memory, in bytes.
    pub alignment: u64,
    /// Largest element of |A x - b|, with A and b as they were before the solve.
    pub residual: f64,
    /// The residual over eps (|A| |x| + |b|) n, norms of the largest row sum, eps = 2^-53, as in
    /// HPL.
    pub normalised_residual: f64,
}

impl Solution {
    /// HPL's threshold: a normalised residual below it passes.
    pub const THRESHOLD: f64 = 16.0;

    /// Returns true if the solution solves the system as well as f64 allows.
    pub fn passes(&self) -> bool {
        self.normalised_residual < Self::THRESHOLD
    }
}
