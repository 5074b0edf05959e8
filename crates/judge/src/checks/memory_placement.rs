//! Checks `small_pages`, `wrong_node` and `misplaced_memory`: pages of another size than requested,
//! or on another NUMA node than named or used.

use proofmark_model::{Finding, Measurement, Severity, Unit, check_id, key};

use super::weight::Weight;
use super::{Check, Class, Examine, percent, with_known};
use crate::Context;
use crate::memory::touched_bytes;
use crate::statistics::median_over;
use crate::words::known;

/// Share of huge pages from which page walks no longer count.
const MOSTLY: f64 = 0.9;
/// Smallest share that page walks add to the time of a random load.
const WALKS: f64 = 0.2;
/// Bytes that the first-level translation buffers of all designs cover with base pages (32 entries
/// and more): up to there the page size changes nothing.
const REACH: u64 = 128 << 10;

pub(super) static SMALL_PAGES: Check = Check {
    id: check_id::SMALL_PAGES,
    class: Class::DISTURBANCE,
    title: "Other pages than requested",
    about: "Checks that huge pages back the workload's memory as requested: at least 90 % with \
         pages=huge, at most 10 % with pages=small. With base pages a random load also waits for \
         page walks, 20 % and more. For a latency that part of the other pages is weighed; it is a \
         note for a rate, and if the share is unknown. Sets of up to 128 KiB are within reach of \
         every TLB and are not examined. Check the setting of transparent huge pages and the \
         fragmentation of the memory.",
    examine: Examine::Ours(small_pages),
};

fn small_pages(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let asked = m.params.get(key::PAGES)?;
    if m.trials.is_empty() || touched_bytes(ctx, m).is_some_and(|bytes| bytes <= REACH) {
        return None;
    }
    let huge = median_over(&m.trials, |t| t.conditions.huge_pages);
    let share = percent(huge.unwrap_or_default());
    let weigh = |other: f64| match m.unit {
        Unit::Second => Weight::derive(m).change(WALKS * other),
        _ => Severity::Note,
    };
    let (severity, message) = match (asked, huge) {
        ("huge", Some(huge)) if huge < MOSTLY => {
            (weigh(1.0 - huge), format!("huge pages back only {share} of the memory"))
        }
        ("small", Some(huge)) if huge > 1.0 - MOSTLY => {
            let what = "of the memory, but base pages were requested";
            (weigh(huge), format!("huge pages back {share} {what}"))
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
    let finding = SMALL_PAGES.finding(severity, message, advice);
    Some(with_known(finding, "huge_share", huge))
}

/// Share of remote pages that is reported. A remote line takes up to twice as long, so 1 % changes
/// the result by up to 1 %.
const REMOTE: f64 = 0.01;

/// Share of the pages on another node than intended, for workloads that do or do not name it.
fn elsewhere(ctx: &Context, m: &Measurement, by_name: bool) -> Option<f64> {
    let share = median_over(&m.trials, |t| t.conditions.misplaced_pages).filter(|s| *s > REMOTE)?;
    (ctx.work(m).names_node == by_name).then_some(share)
}

const FREE_NODE: &str = "free memory on the node, and check what moves pages: numa_balancing, \
                         numactl, the cpuset's memory nodes";

pub(super) static WRONG_NODE: Check = Check {
    id: "wrong_node",
    class: Class::CLAIM,
    title: "Another NUMA node than named",
    about: "Compares the node of the workload's pages, as the system reports it, with the node \
         that the configuration of a memory.numa workload names. More than 1 % elsewhere is \
         invalid: another node was measured. Free memory on the node, and check what moves pages \
         (NUMA balancing, a memory policy).",
    examine: Examine::Ours(wrong_node),
};

fn wrong_node(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let share = elsewhere(ctx, m, true)?;
    let message =
        format!("{} of the memory is not on the node that the configuration names", percent(share));
    Some(WRONG_NODE.invalid(message, FREE_NODE).with("misplaced_share", share))
}

pub(super) static MISPLACED_MEMORY: Check = Check {
    id: check_id::MISPLACED_MEMORY,
    class: Class::DISTURBANCE,
    title: "Memory on another NUMA node",
    about: "Compares the node of the workload's pages, as the system reports it, with that of the \
         thread that uses them. More than 1 % elsewhere is a note, and is weighed, since a remote \
         access takes up to twice as long. Free memory on the node, and check what moves pages \
         (NUMA balancing, a memory policy).",
    examine: Examine::Ours(misplaced_memory),
};

fn misplaced_memory(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let share = elsewhere(ctx, m, false)?;
    let message = format!(
        "{} of the memory is on another NUMA node than the thread that uses it",
        percent(share)
    );
    let severity = Weight::derive(m).change(share);
    Some(MISPLACED_MEMORY.finding(severity, message, FREE_NODE).with("misplaced_share", share))
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
        SMALL_PAGES.expect([
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
        SMALL_PAGES.on(&h, &[]).expect([("the setting", m, suspect("set to 'never'$"))]);
    }

    #[test]
    fn remote_pages_are_suspect_and_another_node_is_invalid() {
        let elsewhere = |workload: &str, share| {
            let m = each_condition(stream("read", 1), |_, c| c.misplaced_pages = share);
            Measurement { workload: workload.to_owned(), ..m }
        };
        WRONG_NODE.expect([
            ("another node", elsewhere("memory.numa_read", Some(0.02)), INVALID),
            ("a page here and there", elsewhere("memory.numa_read", Some(0.005)), SILENT),
            ("no node is named", elsewhere("memory.read", Some(0.5)), SILENT),
        ]);
        MISPLACED_MEMORY.expect([
            ("remote", elsewhere("memory.read", Some(0.12)), SUSPECT),
            ("less than the tolerance", elsewhere("memory.read", Some(0.08)), NOTE),
            ("a page here and there", elsewhere("memory.read", Some(0.005)), SILENT),
            ("another node", elsewhere("memory.numa_read", Some(0.5)), SILENT),
            ("not reported", elsewhere("memory.read", None), SILENT),
        ]);
    }
}
