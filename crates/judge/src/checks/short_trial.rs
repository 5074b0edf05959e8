//! `short_trial`: too short for the clock, or shorter than the policy asks.

use proofmark_model::{Finding, Measurement, Severity, format_seconds};

use super::{Check, Class};
use crate::Context;
use crate::execution::Execution;
use crate::statistics::median;

/// Steps of the clock that a trial must last: 0.1 % of error at most.
const STEPS: f64 = 1000.0;
/// A trial may be this much shorter than the policy asks: calibration is not exact.
const ALLOWANCE: f64 = 0.9;

pub(super) static CHECK: Check = Check {
    id: "short_trial",
    class: Class::Precision,
    title: "Trial too short for the clock",
    about: "The median duration of the trials. Below 1000 times the timer's resolution it is invalid: \
         one clock step could change the result by more than 0.1 %. Below the policy's trial \
         duration by more than a tenth it is a note: short trials include less of the machine's \
         usual disturbances and of its steady clock. Where a trial is one complete solve, only the \
         clock's steps count. Set more iterations, or a larger problem.",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let seconds: Vec<f64> = m.trials.iter().map(|t| t.seconds).collect();
    let typical = median(&seconds)?;
    let resolution =
        ctx.host.timer.resolution_s.get().copied().filter(|r| r.is_finite()).unwrap_or(0.0);
    let whole = Execution::of(ctx, m).whole;
    let advice = if whole {
        "choose a larger problem (n)"
    } else {
        "set more iterations, or a longer trial"
    };
    let (severity, message) = if typical < STEPS * resolution {
        (
            Severity::Invalid,
            format!(
                "a trial lasts {}, less than {STEPS} steps of the clock ({} each)",
                format_seconds(typical),
                format_seconds(resolution)
            ),
        )
    } else if !whole && typical < ALLOWANCE * ctx.policy.trial_s_for(&m.workload) {
        (
            Severity::Note,
            format!(
                "a trial lasts {}, less than the {} of the policy",
                format_seconds(typical),
                format_seconds(ctx.policy.trial_s_for(&m.workload))
            ),
        )
    } else {
        return None;
    };
    Some(
        Finding::new(CHECK.id, severity, message, advice)
            .with("median_s", typical)
            .with("resolution_s", resolution),
    )
}

#[cfg(test)]
mod tests {
    use proofmark_model::Probe;

    use super::*;
    use crate::testing::{dgemm, each, flops, found_on, host, linpack, severity};

    fn lasting(seconds: f64) -> Measurement {
        each(flops(1), |_, t| {
            t.seconds = seconds;
            t.work = t.value * seconds;
        })
    }

    #[test]
    fn a_trial_within_a_thousand_steps_is_invalid() {
        assert_eq!(severity(&CHECK, lasting(1e-5)), Some(Severity::Invalid));
        let mut h = host();
        h.timer.resolution_s = Probe::known(1e-3, "test");
        let finding = found_on(&h, &CHECK, lasting(0.1), &[]).unwrap();
        assert_eq!(finding.severity, Severity::Invalid);
    }

    #[test]
    fn a_whole_problem_lasts_as_long_as_it_takes_but_not_less_than_the_clock_can_tell() {
        // 11.6 ms where the policy asks for 100 ms; 4.5 us are less than 1000 steps.
        assert_eq!(severity(&CHECK, linpack(1000, 1)), None);
        assert_eq!(severity(&CHECK, dgemm(500, 2)), None);
        let finding = found_on(&host(), &CHECK, linpack(70, 1), &[]).unwrap();
        assert_eq!(finding.severity, Severity::Invalid);
        assert!(finding.advice.contains("larger problem"), "{}", finding.advice);
    }

    #[test]
    fn shorter_than_the_policy_is_a_note_and_nearly_as_long_is_silent() {
        assert_eq!(severity(&CHECK, lasting(0.05)), Some(Severity::Note));
        assert_eq!(severity(&CHECK, lasting(0.095)), None);
        assert_eq!(severity(&CHECK, lasting(3.0)), None);
    }
}
