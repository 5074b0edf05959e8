//! `unverified`: the result is wrong, or the verification counted something else.

use proofmark_model::{Ending, Finding, Measurement, Severity, Unit};

use super::{Check, Class};
use crate::Context;
use crate::execution::Execution;

/// Relative difference between claim and count that is rounding: both are sums of
/// integers in f64, exact to 2^53.
const ROUNDING: f64 = 1e-9;

/// A count as a person reads it.
fn count(value: f64) -> String {
    if value.is_finite() { format!("{value:e}") } else { "no number of".to_owned() }
}

/// What a workload's work is counted in.
fn work(unit: Unit) -> &'static str {
    match unit {
        Unit::BytePerSecond => "bytes",
        Unit::BitPerSecond => "bits",
        Unit::Second => "dependent operations",
        Unit::FlopPerSecond | Unit::OpPerSecond | Unit::Hertz => "units of work",
    }
}

pub(super) static CHECK: Check = Check {
    id: "unverified",
    class: Class::Claim,
    title: "Result not verified",
    about: "After each trial the workload checks its own result, and an independent verification \
         counts the work. A wrong result, or a count that differs from the workload's by more than \
         rounding (1 in 10^9), is invalid: the work was not done, or was done wrongly. A fault \
         that occurs only sometimes and only on one machine suggests its hardware or overclocking. \
         For disks and networks page_cache and interface_disagreement examine the verification, \
         since device and interface counters also count sectors, headers and other programs.",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if let Ending::Unverified { reason } = &m.ending {
        return Some(
            Finding::new(
                CHECK.id,
                Severity::Invalid,
                format!("the workload's own check failed: {reason}"),
                "repeat it; if it fails only on this machine, test the hardware",
            )
            .with("reason", reason.as_str()),
        );
    }
    let w = m.verification.as_ref().filter(|_| Execution::of(ctx, m).exact_verification)?;
    let larger = w.claimed.abs().max(w.counted.abs());
    if (w.claimed - w.counted).abs() <= ROUNDING * larger {
        return None;
    }
    let compared = match w.note.as_str() {
        "" => String::new(),
        note => format!(" ({note})"),
    };
    let mut finding = Finding::new(
        CHECK.id,
        Severity::Invalid,
        format!(
            "{} counted {} {}, but the workload claims {}{compared}",
            w.kind,
            count(w.counted),
            work(m.unit),
            count(w.claimed)
        ),
        "do not use this result; report it as a defect of the workload if it repeats",
    )
    .with("verification", w.kind.as_str());
    for (name, value) in [("claimed", w.claimed), ("counted", w.counted)] {
        if value.is_finite() {
            finding = finding.with(name, value);
        }
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{flops, found, latency, rand_read, severity, stream};

    #[test]
    fn a_wrong_result_is_invalid() {
        let mut m = flops(1);
        m.ending = Ending::Unverified { reason: "expected 2, got 3".to_owned() };
        let (severity, message) = found(&CHECK, m).unwrap();
        assert_eq!(severity, Severity::Invalid);
        assert!(message.contains("got 3"));
    }

    #[test]
    fn a_verification_that_counted_less_is_invalid() {
        for factor in [0.999, 1.001, 0.0, f64::NAN] {
            let mut m = flops(1);
            m.verification.as_mut().unwrap().counted *= factor;
            assert_eq!(severity(&CHECK, m), Some(Severity::Invalid), "{factor}");
        }
    }

    #[test]
    fn what_was_compared_is_told_in_the_workloads_own_measure() {
        for (mut m, word) in
            [(stream("copy", 1), "bytes, but"), (latency(1 << 20, 5e-9), "operations")]
        {
            let verification = m.verification.as_mut().unwrap();
            verification.counted *= 0.5;
            verification.note = "claimed against proved".to_owned();
            let (severity, message) = found(&CHECK, m).unwrap();
            assert_eq!(severity, Severity::Invalid);
            assert!(message.contains(word), "{message}");
            assert!(message.ends_with("(claimed against proved)"), "{message}");
        }
    }

    #[test]
    fn a_disk_is_held_to_the_data_and_not_to_the_sectors() {
        let mut m = rand_read(1);
        m.verification.as_mut().unwrap().counted *= 1.1;
        assert_eq!(severity(&CHECK, m.clone()), None);
        m.ending = Ending::Unverified { reason: "block 7 holds other data".to_owned() };
        assert_eq!(severity(&CHECK, m), Some(Severity::Invalid));
    }

    #[test]
    fn rounding_and_no_verification_are_silent() {
        let mut m = flops(1);
        m.verification.as_mut().unwrap().counted *= 1.0 + 1e-12;
        assert_eq!(severity(&CHECK, m), None);
        let mut m = flops(1);
        m.verification = None;
        assert_eq!(severity(&CHECK, m), None);
    }
}
