//! `small_pages`: the memory has not the pages that were asked for.

use proofmark_model::{Finding, Measurement, Severity, Unit};

use super::{Check, Class, percent};
use crate::Context;
use crate::memory::touched_bytes;
use crate::statistics::median;

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
    let shares: Vec<f64> = m.trials.iter().filter_map(|t| t.conditions.huge_pages).collect();
    let huge = median(&shares);
    let (severity, message) = match (asked, huge) {
        ("huge", Some(share)) if share < MOSTLY => {
            (weight(m), format!("huge pages back only {} of the memory", percent(share)))
        }
        ("small", Some(share)) if share > 1.0 - MOSTLY => (
            weight(m),
            format!(
                "huge pages back {} of the memory, but base pages were requested",
                percent(share)
            ),
        ),
        ("huge", None) => (
            Severity::Note,
            "the system does not report how much of the memory huge pages back".to_owned(),
        ),
        _ => return None,
    };
    let setting = &ctx.host.memory.transparent_huge_pages;
    let setting = match setting.get() {
        Some(word) => format!("transparent huge pages are set to '{word}'"),
        None => {
            format!("the setting of transparent huge pages is unknown ({})", setting.origin())
        }
    };
    let finding = Finding::new(
        CHECK.id,
        severity,
        format!("{message}; {setting}"),
        "set /sys/kernel/mm/transparent_hugepage/enabled to madvise, free or compact memory, \
         or set pages=small",
    );
    Some(match huge {
        Some(share) => finding.with("huge_share", share),
        None => finding,
    })
}

fn weight(m: &Measurement) -> Severity {
    if m.unit == Unit::Second { Severity::Suspect } else { Severity::Note }
}

#[cfg(test)]
mod tests {
    use proofmark_model::Probe;

    use super::*;
    use crate::testing::{each, found_on, host_with_caches, latency, severity, stream};

    fn backed(m: Measurement, share: Option<f64>) -> Measurement {
        each(m, |_, t| t.conditions.huge_pages = share)
    }

    #[test]
    fn a_latency_with_small_pages_is_suspect_and_a_rate_a_note() {
        let m = backed(latency(1 << 30, 1e-7), Some(0.0));
        assert_eq!(severity(&CHECK, m), Some(Severity::Suspect));
        let m = backed(stream("read", 1), Some(0.5));
        assert_eq!(severity(&CHECK, m), Some(Severity::Note));
        let m = backed(latency(1 << 30, 1e-7), None);
        assert_eq!(severity(&CHECK, m), Some(Severity::Note));
    }

    #[test]
    fn huge_pages_under_the_name_of_small_ones_are_found() {
        let mut m = latency(1 << 30, 1e-7);
        m.params = m.params.with("pages", "small");
        assert_eq!(severity(&CHECK, m.clone()), Some(Severity::Suspect));
        assert_eq!(severity(&CHECK, backed(m, Some(0.0))), None);
    }

    #[test]
    fn the_setting_of_the_system_is_told() {
        let mut h = host_with_caches();
        h.memory.transparent_huge_pages = Probe::known("never".to_owned(), "test");
        let m = backed(latency(1 << 30, 1e-7), Some(0.0));
        let finding = found_on(&h, &CHECK, m, &[]).unwrap();
        assert!(finding.message.ends_with("set to 'never'"), "{}", finding.message);
    }

    #[test]
    fn what_was_asked_for_and_what_is_in_reach_are_silent() {
        assert_eq!(severity(&CHECK, backed(stream("read", 1), Some(0.95))), None);
        assert_eq!(severity(&CHECK, backed(latency(64 << 10, 2e-9), Some(0.0))), None);
        assert_eq!(severity(&CHECK, crate::testing::flops(1)), None);
    }
}
