//! `inconsistent`: the parts of the number contradict each other.
//!
//! Published reports multiplied threads into a result that already held them, or
//! divided by CPU time. Here value, work and wall time are all on file, so anybody
//! can divide again; this check does.

use proofmark_model::{Ending, Finding, Measurement, Trial, Unit};

use super::{Check, Class};
use crate::Context;
use crate::words::counted;

/// Relative difference between value and work / seconds that is rounding.
const ROUNDING: f64 = 1e-6;

/// What is wrong with a trial, if anything.
fn fault(t: &Trial, unit: Unit) -> Option<&'static str> {
    let positive = |v: f64| v.is_finite() && v > 0.0;
    if !positive(t.value) {
        return Some("a value that is not a positive number");
    }
    if !positive(t.seconds) {
        return Some("a duration that is not a positive number");
    }
    if !positive(t.work) {
        return Some("an amount of work that is not a positive number");
    }
    let quotient = unit.value(t.work, t.seconds);
    let apart = (t.value - quotient).abs() > ROUNDING * t.value.max(quotient);
    apart.then_some(match unit {
        Unit::Second => "a value that is not its wall time / its work",
        _ => "a value that is not its work / its wall time",
    })
}

pub(super) static CHECK: Check = Check {
    id: "inconsistent",
    class: Class::Claim,
    title: "Values contradict each other",
    about: "A rate is total work / wall time, over all threads together. A time is the wall time of \
         dependent operations / their number. Value, work and duration of a trial must be positive \
         numbers, and the value must be the quotient of the other two. Otherwise the result is \
         invalid. It is also invalid if it is marked complete without a trial. This finds rates \
         multiplied by the threads, CPU time used as a clock, and edited files. Later checks \
         ignore such values.",
    examine,
    examine_reference: Some(examine),
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    let done = matches!(m.ending, Ending::Complete | Ending::Budget);
    if m.trials.is_empty() {
        return done.then(|| {
            CHECK.invalid(
                "it is marked complete but has no trial",
                "repeat the measurement; raise the budget if it ended before the first trial",
            )
        });
    }
    let faults: Vec<_> = m.trials.iter().filter_map(|t| fault(t, m.unit)).collect();
    let first = faults.first()?;
    let message = format!("{} of {}: {first}", faults.len(), counted(m.trials.len(), "trial"));
    let advice = "do not use this result; if proofmark wrote it, report it as a defect";
    Some(CHECK.invalid(message, advice).with("trials", faults.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn values_that_contradict_each_other_are_found() {
        let lasting =
            |bad: f64| each(flops(1), |i, t| t.seconds = if i == 4 { bad } else { t.seconds });
        let empty = |ending| Measurement { ending, trials: Vec::new(), summary: None, ..flops(1) };
        CHECK.expect([
            ("threads counted twice", each(flops(2), |_, t| t.value *= 2.0), INVALID),
            ("no time", lasting(0.0), INVALID),
            ("less than none", lasting(-1.0), INVALID),
            ("no number", lasting(f64::NAN), INVALID),
            ("for ever", lasting(f64::INFINITY), INVALID),
            ("complete without a trial", empty(Ending::Complete), INVALID),
            ("refused", empty(Ending::Refused { reason: String::new() }), SILENT),
            ("rounding", each(flops(1), |_, t| t.work *= 1.0 + 1e-9), SILENT),
        ]);
    }
}
