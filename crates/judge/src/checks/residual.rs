//! `residual`: what a solver found does not solve its system.
//!
//! The test of HPL (Petitet, Whaley, Dongarra and Cleary, *HPL: A Portable Implementation of
//! the High-Performance Linpack Benchmark*): the residual as a multiple of what rounding
//! alone leaves, which passes below 16.

use proofmark_model::{Finding, Measurement, Solution};

use super::{Check, Class};
use crate::Context;
use crate::words::counted;

pub(super) static CHECK: Check = Check {
    id: "residual",
    class: Class::Claim,
    title: "Residual above the HPL threshold",
    about: "After each solve of a linear system proofmark generates the matrix and the right side \
         again. It computes the residual |A x - b| / (eps (|A| |x| + |b|) n), eps = 2^-53. \
         Rounding alone keeps it below 16, the threshold of HPL. A larger residual in any trial is \
         invalid: the computed x is not a solution. A solution that is not finite is reported by \
         unverified. A fault that occurs only sometimes and only on one machine suggests its \
         memory, its cores or overclocking.",
    examine,
    examine_reference: Some(examine),
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    let failed: Vec<&Solution> =
        m.trials.iter().filter_map(|t| t.solution.as_ref()).filter(|s| !s.passes()).collect();
    let n = failed.first()?.n;
    let worst = failed.iter().map(|s| s.normalised_residual).fold(0.0, f64::max);
    let message = format!(
        "n = {n}: the largest normalised residual in {} is {worst:.3e}, but must be below {}; \
         {} failed",
        counted(m.trials.len(), "trial"),
        Solution::THRESHOLD,
        failed.len()
    );
    let advice = "do not use this result; repeat it, and if it fails only on this machine, \
                  test its memory, its cores and its overclocking";
    let finding = CHECK.invalid(message, advice).with("n", n).with("trials_failed", failed.len());
    Some(finding.with("threshold", Solution::THRESHOLD).with("worst_normalised_residual", worst))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    /// The trials of these numbers with that residual.
    fn with(trials: &[usize], residual: f64) -> Measurement {
        each(linpack(1000, 2), |i, t| {
            let solution = t.solution.as_mut().unwrap();
            if trials.contains(&i) {
                solution.normalised_residual = residual;
            }
        })
    }

    #[test]
    fn a_residual_above_the_threshold_is_invalid() {
        let one = "^n = 1000: the largest normalised residual in 10 trials is 2.500e4, but must be \
                   below 16; 1 failed$";
        let mut worse = with(&[1, 4], 20.0);
        worse.trials[6].solution.as_mut().unwrap().normalised_residual = 300.0;
        CHECK.expect([
            ("one trial of ten", with(&[7], 2.5e4), invalid(one)),
            ("the threshold itself", with(&[0], 16.0), INVALID),
            ("two", with(&[2, 3], 16.0), invalid("2 failed$")),
            ("the worst is reported", worse, invalid("in 10 trials is 3.000e2")),
            ("none", with(&[], 0.0), SILENT),
            ("below the threshold", with(&[3], 15.9), SILENT),
        ]);
        let findings = judged(&host(), with(&[7], 2.5e4), &[]).findings;
        assert_eq!(findings.len(), 1, "no other finding: {findings:?}");
    }
}
