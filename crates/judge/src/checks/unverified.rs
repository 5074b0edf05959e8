//! `unverified`: the result is wrong, or the verification counted something else.

use proofmark_model::{Ending, Finding, Measurement, Unit};

use super::{Check, Class, with_known};
use crate::Context;
use crate::execution::Execution;

/// Relative difference between claim and count that is rounding: both are sums of
/// integers in f64, exact to 2^53.
const ROUNDING: f64 = 1e-9;

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
        let message = format!("the workload's own check failed: {reason}");
        let advice = "repeat it; if it fails only on this machine, test the hardware";
        return Some(CHECK.invalid(message, advice).with("reason", reason.as_str()));
    }
    let w = m.verification.as_ref().filter(|_| Execution::derive(ctx, m).exact_verification)?;
    let larger = w.claimed.abs().max(w.counted.abs());
    if (w.claimed - w.counted).abs() <= ROUNDING * larger {
        return None;
    }
    let compared = match w.note.as_str() {
        "" => String::new(),
        note => format!(" ({note})"),
    };
    let message = format!(
        "{} counted {} {}, but the workload claims {}{compared}",
        w.kind,
        count(w.counted),
        work(m.unit),
        count(w.claimed)
    );
    let advice = "do not use this result; report it as a defect of the workload if it repeats";
    let finding = CHECK.invalid(message, advice).with("verification", w.kind.as_str());
    let finding = with_known(finding, "claimed", Some(w.claimed));
    Some(with_known(finding, "counted", Some(w.counted)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn a_wrong_result_or_a_count_that_differs_is_invalid() {
        let wrong = |m, reason: &str| {
            let ending = Ending::Unverified { reason: reason.to_owned() };
            Measurement { ending, ..m }
        };
        let counted = |mut m: Measurement, factor: f64, note: &str| {
            let verification = m.verification.as_mut().unwrap();
            verification.counted *= factor;
            verification.note = note.to_owned();
            m
        };
        let with_counts = |factor| counted(flops(1), factor, "");
        let note = "claimed against proved";
        let bytes = invalid("bytes, but ... (claimed against proved)$");
        let operations = invalid("operations ... (claimed against proved)$");
        CHECK.expect([
            ("a wrong result", wrong(flops(1), "expected 2, got 3"), invalid("got 3")),
            ("fewer", with_counts(0.999), INVALID),
            ("more", with_counts(1.001), INVALID),
            ("none", with_counts(0.0), INVALID),
            ("no number", with_counts(f64::NAN), INVALID),
            ("bytes", counted(stream("copy", 1), 0.5, note), bytes),
            ("operations", counted(latency(1 << 20, 5e-9), 0.5, note), operations),
            ("the sectors of a disk", counted(rand_read(1), 1.1, ""), SILENT),
            ("its data", wrong(rand_read(1), "block 7 holds other data"), INVALID),
            ("rounding", with_counts(1.0 + 1e-12), SILENT),
            ("no verification", Measurement { verification: None, ..flops(1) }, SILENT),
        ]);
    }
}
