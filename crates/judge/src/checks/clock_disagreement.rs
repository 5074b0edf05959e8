//! `clock_disagreement`: two ways to measure the clock do not agree.

use proofmark_model::{Finding, Measurement, Pace, Severity};

use super::{Check, percent};
use crate::Context;
use crate::statistics::median;

/// Two chains on one clock agree within some 0.2 %.
const THRESHOLD: f64 = 0.02;

pub(super) struct ClockDisagreement;

impl Check for ClockDisagreement {
    fn id(&self) -> &'static str {
        "clock_disagreement"
    }

    fn title(&self) -> &'static str {
        "Clock chains disagree"
    }

    fn about(&self) -> &'static str {
        "The clock is measured by two chains of different dependent instructions. If they differ by \
         more than 2 % (median over the trials), one of them does not take the cycles that it is \
         known for on this core, or something else ran meanwhile; the ceiling rests on chains like \
         these, so the measurement is suspect. Look whether the core is shared, and compare with the reported \
         frequency."
    }

    fn examine(&self, ctx: &Context, m: &Measurement) -> Option<Finding> {
        if ctx.work(m).pace != Pace::Core {
            return None;
        }
        let gaps: Vec<f64> =
            m.trials.iter().filter_map(|t| t.conditions.clock_disagreement).collect();
        let gap = median(&gaps)?.abs();
        if gap <= THRESHOLD {
            return None;
        }
        Some(
            Finding::new(
                self.id(),
                Severity::Suspect,
                format!("two chains of instructions measure clocks {} apart", percent(gap)),
                "look whether the core is shared with another busy process or hardware thread, and \
                 compare with the reported frequency",
            )
            .with("disagreement", gap),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{each, flops, severity};

    #[test]
    fn chains_that_disagree_are_suspect_and_one_trial_is_not() {
        let m = each(flops(1), |_, t| t.conditions.clock_disagreement = Some(0.03));
        assert_eq!(severity(&ClockDisagreement, m), Some(Severity::Suspect));
        let m = each(flops(1), |i, t| {
            t.conditions.clock_disagreement = Some(if i == 0 { 0.5 } else { 0.001 });
        });
        assert_eq!(severity(&ClockDisagreement, m), None);
    }
}
