//! `below_one_cycle`: an operation faster than one tick of the processor.

use proofmark_model::{Finding, Severity, Unit, format_quantity};

use super::Rule;
use crate::{Metric, Sheet};

/// No processor was ever run at 10 GHz: the record under liquid helium is 9.1 GHz.
const NO_CLOCK: f64 = 10e9;

pub(super) struct BelowOneCycle;

impl Rule for BelowOneCycle {
    fn id(&self) -> &'static str {
        "below_one_cycle"
    }

    fn title(&self) -> &'static str {
        "latency below one clock cycle"
    }

    fn about(&self) -> &'static str {
        "An operation that a processor starts and waits for takes a cycle at the least: \
         1 / clock, with the higher of the nominal and the running clock, or with 10 GHz, \
         which no processor reaches, where no clock is known."
    }

    fn examine(&self, sheet: &Sheet, index: usize) -> Option<Finding> {
        let figure = sheet.figure(index)?;
        let latency = figure.level().filter(|_| figure.metric == Metric::Latency)?;
        let cycle = 1.0 / sheet.machine().clock().unwrap_or(NO_CLOCK);
        (latency < cycle).then(|| {
            Finding::new(
                self.id(),
                Severity::Invalid,
                format!(
                    "{latency:.3e} s are {:.4} of a cycle of {}",
                    latency / cycle,
                    format_quantity(cycle, Unit::Second)
                ),
                "look at the unit, and at what was divided by what: time one operation that \
                 waits for the one before it",
            )
            .with("cycle_s", cycle)
            .with("latency_s", latency)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, flagged};

    #[test]
    fn less_than_a_cycle_is_no_latency() {
        let rows = "memory,x,read,latency,8,1,1,0.4,ns,4e-10,seconds\n\
                    memory,x,read,latency,8,1,1,0.6,ns,6e-10,seconds\n\
                    memory,x,read,latency,8,1,sd,0.4,ns,4e-10,seconds\n\
                    memory,x,read,jitter,8,1,1,0,ns,0,seconds\n\
                    network,x,tcp,latency,8,1,1,0.05,ns,5e-11,seconds\n";
        assert_eq!(flagged(&BelowOneCycle, MACHINE, rows), [true, false, false, false, true]);
        assert_eq!(flagged(&BelowOneCycle, "[m]\n", rows), [false, false, false, false, true]);
    }
}
