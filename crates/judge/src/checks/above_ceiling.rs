//! `above_ceiling`: more than the machine can do.

use proofmark_model::{Finding, Measurement, Severity};

use super::{Check, percent};
use crate::Context;

pub(super) struct AboveCeiling;

impl Check for AboveCeiling {
    fn id(&self) -> &'static str {
        "above_ceiling"
    }

    fn title(&self) -> &'static str {
        "Above its ceiling"
    }

    fn about(&self) -> &'static str {
        "A number above its theoretical ceiling by more than the ceiling's own uncertainty is \
         invalid: either it does not measure what its name says, or an input of the ceiling is wrong. \
         The inputs stand beside it with their sources. The efficiency that is compared is the median \
         over the trials, each against the ceiling at its own clock."
    }

    fn examine(&self, _: &Context, m: &Measurement) -> Option<Finding> {
        let (ceiling, efficiency) = (m.ceiling.as_ref()?, m.efficiency?);
        if efficiency <= 1.0 + ceiling.uncertainty {
            return None;
        }
        Some(
            Finding::new(
                self.id(),
                Severity::Invalid,
                format!(
                    "it reaches {} of its ceiling, which is sure to within {}",
                    percent(efficiency),
                    percent(ceiling.uncertainty)
                ),
                "compare the ceiling's inputs with the machine: the core design, the number of \
                 cores, the clock; if they hold, the kernel did not do the work that it counts",
            )
            .with("efficiency", efficiency)
            .with("uncertainty", ceiling.uncertainty)
            .with("ceiling", ceiling.value),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{around, flops, severity, with_values};

    #[test]
    fn more_than_the_ports_can_start_is_invalid() {
        let m = with_values(flops(1), &around(1.02 * 64e9));
        assert_eq!(severity(&AboveCeiling, m), Some(Severity::Invalid));
    }

    #[test]
    fn within_the_uncertainty_is_silent() {
        let m = with_values(flops(1), &around(1.003 * 64e9));
        assert_eq!(severity(&AboveCeiling, m), None);
    }
}
