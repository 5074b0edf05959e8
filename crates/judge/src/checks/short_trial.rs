//! `short_trial`: a trial was too short for the clock, or shorter than the policy requires.

use proofmark_model::{Finding, Measurement, check_id, format_seconds};

use super::{Check, Class, Examine};
use crate::Context;
use crate::statistics::median_over;

/// Smallest duration of a trial in steps of the clock: an error of 0.1 % at most.
const STEPS: f64 = 1000.0;
/// Smallest duration as a share of the policy's: calibration is not exact.
const ALLOWANCE: f64 = 0.9;

pub(super) static CHECK: Check = Check {
    id: check_id::SHORT_TRIAL,
    class: Class::CLAIM,
    title: "Trial too short for the clock",
    about: "Examines the median duration of the trials. Below 1000 times the timer's resolution it \
         is invalid: one clock step could change the result by more than 0.1 %. Below the policy's \
         trial duration by more than a tenth it is a note: short trials include less of the \
         machine's usual disturbances and of its steady clock. Where a trial is one complete \
         solve, only the clock's steps count. Set more iterations, or a larger problem.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let median = median_over(&m.trials, |t| Some(t.seconds))?;
    let resolution =
        ctx.host.timer.resolution_s.get().copied().filter(|r| r.is_finite()).unwrap_or(0.0);
    let whole = ctx.work(m).whole_problem;
    let advice = if whole {
        "choose a larger problem (n)"
    } else {
        "set more iterations, or a longer trial"
    };
    let asked = ctx.policy.trial_s_for(&m.workload);
    let [lasts, step, least] = [median, resolution, asked].map(format_seconds);
    let finding = if median < STEPS * resolution {
        let what = format!("less than {STEPS} steps of the clock ({step} each)");
        CHECK.invalid(format!("a trial lasts {lasts}, {what}"), advice)
    } else if !whole && median < ALLOWANCE * asked {
        CHECK.note(format!("a trial lasts {lasts}, less than the {least} of the policy"), advice)
    } else {
        return None;
    };
    Some(finding.with("median_s", median).with("resolution_s", resolution))
}

#[cfg(test)]
mod tests {
    use proofmark_model::Probe;

    use super::*;
    use crate::testing::*;

    #[test]
    fn trials_that_are_too_short() {
        let lasting = |s: f64| each(flops(1), |_, t| (t.seconds, t.work) = (s, t.value * s));
        CHECK.expect([
            ("within 1000 steps of the clock", lasting(1e-5), INVALID),
            ("shorter than the policy", lasting(0.05), NOTE),
            ("nearly as long", lasting(0.095), SILENT),
            ("longer", lasting(3.0), SILENT),
            // 4.5 us are less than 1000 steps.
            ("less than the clock can resolve", linpack(70, 1), invalid("larger problem")),
        ]);
        let mut coarse = host();
        coarse.timer.resolution_s = Probe::known(1e-3, "test");
        CHECK.on(&coarse, &[]).expect([("a coarse clock", lasting(0.1), INVALID)]);
    }
}
