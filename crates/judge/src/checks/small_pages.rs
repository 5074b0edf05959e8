//! `small_pages`: the memory has not the pages that were asked for.

use proofmark_model::{Finding, Measurement, Severity, Unit};

use super::{Check, Class, percent, with_known};
use crate::Context;
use crate::memory::touched_bytes;
use crate::statistics::typical;
use crate::words::known;

/// Share of huge pages from which on page walks no longer count.
const MOSTLY: f64 = 0.9;
/// A set that the first-level translation buffers of all designs reach with pages of
/// 4 KiB (32 entries and more), in bytes: there the size of the pages changes nothing.
const REACH: u64 = 128 << 10;

pub(super) static CHECK: Check = Check {
    id: "small_pages",
    class: Class::Disturbance,
    title: "Other pages than requested",
    about: "Whether huge pages back the workload's memory as requested: at least 90 % with \
         pages=huge, at most 10 % with pages=small. With base pages a random load also waits for \
         page walks, 20 % and more: suspect for a latency, a note for a rate, and a note if the \
         share is unknown. Sets of up to 128 KiB are within reach of every TLB and are not \
         examined. Check the setting of transparent huge pages and the fragmentation of the \
         memory.",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let asked = m.params.text("pages")?;
    if m.trials.is_empty() || touched_bytes(ctx, m).is_some_and(|bytes| bytes <= REACH) {
        return None;
    }
    let huge = typical(&m.trials, |t| t.conditions.huge_pages);
    let share = percent(huge.unwrap_or_default());
    let (severity, message) = match (asked, huge) {
        ("huge", Some(huge)) if huge < MOSTLY => {
            (weight(m), format!("huge pages back only {share} of the memory"))
        }
        ("small", Some(huge)) if huge > 1.0 - MOSTLY => {
            let what = "of the memory, but base pages were requested";
            (weight(m), format!("huge pages back {share} {what}"))
        }
        ("huge", None) => {
            let what = "the system does not report how much of the memory huge pages back";
            (Severity::Note, what.to_owned())
        }
        _ => return None,
    };
    let setting = match known(
        &ctx.host.memory.transparent_huge_pages,
        "the setting of transparent huge pages",
    ) {
        Ok(word) => format!("transparent huge pages are set to '{word}'"),
        Err(unknown) => unknown,
    };
    let message = format!("{message}; {setting}");
    let advice = "set /sys/kernel/mm/transparent_hugepage/enabled to madvise, free or compact memory, \
                  or set pages=small";
    let finding = CHECK.finding(severity, message, advice);
    Some(with_known(finding, "huge_share", huge))
}

fn weight(m: &Measurement) -> Severity {
    if m.unit == Unit::Second { Severity::Suspect } else { Severity::Note }
}

#[cfg(test)]
mod tests {
    use proofmark_model::Probe;

    use super::*;
    use crate::testing::*;

    #[test]
    fn other_pages_than_requested() {
        let backed = |m, share| each_condition(m, |_, c| c.huge_pages = share);
        let chase = || latency(1 << 30, 1e-7);
        let small = || with_param(chase(), "pages", "small");
        CHECK.expect([
            ("a latency", backed(chase(), Some(0.0)), SUSPECT),
            ("a rate", backed(stream("read", 1), Some(0.5)), NOTE),
            ("not reported", backed(chase(), None), NOTE),
            ("huge pages under the name of small ones", small(), SUSPECT),
            ("small ones", backed(small(), Some(0.0)), SILENT),
            ("mostly huge", backed(stream("read", 1), Some(0.95)), SILENT),
            ("in reach", backed(latency(64 << 10, 2e-9), Some(0.0)), SILENT),
        ]);
        let mut h = host_with_caches();
        h.memory.transparent_huge_pages = Probe::known("never".to_owned(), "test");
        let m = backed(chase(), Some(0.0));
        CHECK.on(&h, &[]).expect([("the setting", m, suspect("set to 'never'$"))]);
    }
}
