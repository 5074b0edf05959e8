//! `swap`: the system swapped during the trials.

use proofmark_model::{Finding, Measurement, Severity};

use super::share::Share;
use super::{Check, Class};
use crate::Context;
use crate::words::counted;

/// Pages a second, 1 MiB/s of 4 KiB pages: the system is short of memory. Less is
/// the odd page that somebody else comes back to.
const THRESHOLD: f64 = 256.0;

pub(super) static CHECK: Check = Check {
    id: "swap",
    class: Class::Disturbance,
    title: "Swapping during the trials",
    about: "Pages per second that the whole system swapped in or out during the trials. More than 256 \
         (1 MiB of 4 KiB pages) is suspect: memory is short, and swapping kept the disk and the \
         kernel busy. Fewer are a note. Free memory, or use a smaller working set.",
    examine,
    examine_reference: Some(examine),
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    let share =
        Share::sum(&m.trials, |t| t.conditions.swapped_pages.map(|n| n as f64), |t| t.seconds)?;
    if share.amount <= 0.0 {
        return None;
    }
    let severity = share.severity(THRESHOLD).unwrap_or(Severity::Note);
    let message = format!(
        "the system swapped {} during the trials, {:.0} per second",
        counted(share.amount, "page"),
        share.all
    );
    let advice = "free memory, or use a smaller working set";
    let finding = CHECK.finding(severity, message, advice).with("pages", share.amount);
    Some(finding.with("pages_per_second", share.all).with("trials_affected", share.affected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn swapping_is_suspect_and_a_few_pages_are_a_note() {
        let swapped =
            |of: fn(usize) -> u64| each_condition(flops(1), |i, c| c.swapped_pages = Some(of(i)));
        CHECK.expect([
            ("many", swapped(|_| 100), SUSPECT),
            ("one page", swapped(|i| u64::from(i == 3)), NOTE),
        ]);
    }
}
