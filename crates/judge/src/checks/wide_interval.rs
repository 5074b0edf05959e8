//! `wide_interval`: the budget ran out before the interval was narrow enough.

use proofmark_model::{Ending, Finding, Measurement, Severity};

use super::{Check, percent};
use crate::Context;
use crate::words::counted;

/// Times the target from which on a number is unsure even if nobody asked for more trials.
const FAR: f64 = 5.0;

pub(super) struct WideInterval;

impl Check for WideInterval {
    fn id(&self) -> &'static str {
        "wide_interval"
    }

    fn title(&self) -> &'static str {
        "Interval wider than the target"
    }

    fn about(&self) -> &'static str {
        "Half the 95 % interval of the median, as a share of the median, against the policy's target \
         (2 %, for disks 5 %, unless asked otherwise). Wider when the budget ran out: suspect, the median is not as \
         sure as was asked for. Wider where the number of trials was fixed: a note, since nobody asked \
         for more; suspect beyond five times the target. Fewer than 6 trials cannot give an interval by \
         order statistics: suspect when the budget cut them short. Raise the budget or the number of trials, or quieten the machine."
    }

    fn examine(&self, ctx: &Context, m: &Measurement) -> Option<Finding> {
        let cut_short = match m.ending {
            Ending::Budget => true,
            Ending::Complete => false,
            _ => return None,
        };
        let summary = m.summary.as_ref()?;
        let advice = "raise the budget or the number of trials, or quieten the machine";
        if summary.ci95.is_none() {
            return cut_short.then(|| {
                Finding::new(
                    self.id(),
                    Severity::Suspect,
                    format!(
                        "the budget ended after {}, too few for a 95 % interval",
                        counted(m.trials.len(), "trial")
                    ),
                    advice,
                )
                .with("trials", m.trials.len())
            });
        }
        let target = ctx.policy.target_for(m.subsystem);
        let half = summary.half_width().filter(|half| *half > target)?;
        let (severity, why) = if cut_short {
            (Severity::Suspect, "when the budget ran out")
        } else if half > FAR * target {
            (Severity::Suspect, "after the fixed number of trials")
        } else {
            (Severity::Note, "after the fixed number of trials")
        };
        Some(
            Finding::new(
                self.id(),
                severity,
                format!(
                    "the median is sure to within {} {why}; the target is {}",
                    percent(half),
                    percent(target)
                ),
                advice,
            )
            .with("half_width", half)
            .with("target", target)
            .with("trials", m.trials.len()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{flops, severity};

    fn with_interval(width: f64, ending: Ending) -> Measurement {
        let mut m = flops(1);
        let s = m.summary.as_mut().unwrap();
        s.ci95 = Some([s.median * (1.0 - width), s.median * (1.0 + width)]);
        m.ending = ending;
        m
    }

    #[test]
    fn far_too_wide_is_suspect_even_after_a_fixed_number() {
        let near = with_interval(0.05, Ending::Complete);
        assert_eq!(severity(&WideInterval, near), Some(Severity::Note));
        let far = with_interval(0.15, Ending::Complete);
        assert_eq!(severity(&WideInterval, far), Some(Severity::Suspect));
    }

    #[test]
    fn wide_at_the_end_of_the_budget_is_suspect() {
        let m = with_interval(0.05, Ending::Budget);
        assert_eq!(severity(&WideInterval, m), Some(Severity::Suspect));
        let m = with_interval(0.05, Ending::Complete);
        assert_eq!(severity(&WideInterval, m), Some(Severity::Note));
    }

    #[test]
    fn too_few_trials_are_said() {
        let mut m = flops(1);
        m.ending = Ending::Budget;
        m.trials.truncate(4);
        m.summary.as_mut().unwrap().ci95 = None;
        assert_eq!(severity(&WideInterval, m.clone()), Some(Severity::Suspect));
        m.ending = Ending::Complete;
        assert_eq!(severity(&WideInterval, m), None);
    }

    #[test]
    fn narrow_is_silent() {
        assert_eq!(severity(&WideInterval, with_interval(0.019, Ending::Budget)), None);
    }
}
