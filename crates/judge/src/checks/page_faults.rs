//! Checks `swap` and `page_faults`: the system swapped, or pages were first touched or read from
//! disk in the timed part.

use proofmark_model::{Finding, Measurement, Pace, Severity, Trial, check_id};

use super::share::{Share, worst_tenth};
use super::weight::Weight;
use super::{Check, Class, Examine};
use crate::Context;
use crate::execution::Execution;
use crate::statistics::median_over;
use crate::words::counted;

/// Pages per second (1 MiB/s of base pages) up to which single pages of other programs return.
const PAGES_PER_S: f64 = 256.0;

/// Seconds per swapped page: a short read or write of a disk.
const SWAPPED_S: f64 = 2e-4;

pub(super) static SWAP: Check = Check {
    id: check_id::SWAP,
    class: Class::TAKEN_TIME,
    title: "Swapping during the trials",
    about: "Counts the pages per second that the whole system swapped in or out during the trials. \
         Up to 256 (1 MiB of 4 KiB pages) are a note. The time of more, at 0.2 ms per page, is \
         weighed: memory is short, and swapping kept the disk and the kernel busy. Free memory, or \
         use a smaller working set.",
    examine: Examine::Both(swap),
};

fn swap(_: &Context, m: &Measurement) -> Option<Finding> {
    let share =
        Share::sum(&m.trials, |t| t.conditions.swapped_pages.map(|n| n as f64), |t| t.seconds)?;
    if share.amount <= 0.0 {
        return None;
    }
    let weight = Weight::derive(m);
    let pages_per_s = weight.counted(&share);
    let severity = match pages_per_s > PAGES_PER_S {
        true => weight.lost(pages_per_s * SWAPPED_S),
        false => Severity::Note,
    };
    let message = format!(
        "the system swapped {} during the trials, {:.0} per second",
        counted(share.amount, "page"),
        share.all
    );
    let advice = "free memory, or use a smaller working set";
    let finding = SWAP.finding(severity, message, advice).with("pages", share.amount);
    Some(finding.with("pages_per_second", share.all).with("trials_affected", share.affected))
}

/// Minor faults per trial and thread that are the engine's own, for its counters and its stack.
/// Each costs about a microsecond; one for a huge page of data costs a hundred.
const FEW: f64 = 16.0;
/// Smallest cost of a minor fault in seconds.
const MINOR_S: f64 = 1e-6;
/// Seconds of a minor fault that clears a huge page.
const HUGE_S: f64 = 1e-4;
/// Seconds of a major fault, which waits for a disk.
const MAJOR_S: f64 = 1e-2;
/// Share of huge pages from which a fault counts as one of a huge page.
const MOSTLY: f64 = 0.5;

pub(super) static PAGE_FAULTS: Check = Check {
    id: "page_faults",
    class: Class::TAKEN_TIME,
    title: "Page faults in the timed part",
    about: concat!(
        "Workloads touch their memory before the timed part, so no page fault should be timed. \
         Any major fault, which waits for a disk, is a note; so are more than 16 minor faults \
         per thread and trial, and any in a memory workload: pages were touched for the first \
         time, or taken away meanwhile. Their time is weighed. ",
        worst_tenth!(),
        " It is not weighed where the threads wait for a device. A minor fault counts with 1 us, \
         one that clears a huge page with 0.1 ms, a major fault with 10 ms. Check whether \
         memory is short, and whether the workload touches all of its memory first."
    ),
    examine: Examine::Ours(page_faults),
};

/// Counts the page faults of one kind in a trial.
type Faults = fn(&Trial) -> Option<u64>;
const MAJOR: Faults = |t| t.conditions.major_faults;
const MINOR: Faults = |t| t.conditions.minor_faults;

/// The time of these faults, as a share of the threads' time.
fn time(m: &Measurement, faults: Faults, each_s: f64) -> Option<Share> {
    let threads = m.params.threads().max(1) as f64;
    Share::sum(&m.trials, |t| faults(t).map(|n| n as f64 * each_s), |t| t.seconds * threads)
}

fn page_faults(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let threads = m.params.threads().max(1) as f64;
    let weight = Weight::derive(m);
    let waits = Execution::derive(ctx, m).waits();
    let weigh = |took: Option<Share>, weigh_share: &dyn Fn(f64) -> Severity| match took {
        Some(took) if !waits => weigh_share(weight.counted(&took)),
        _ => Severity::Note,
    };
    let advice = "check whether memory is short, and whether the workload touches all of its \
                  memory before the timed part";
    let major = Share::sum(&m.trials, |t| MAJOR(t).map(|n| n as f64), |_| 1.0);
    if let Some(major) = major.filter(|major| major.amount > 0.0) {
        let (faults, trials) =
            (counted(major.amount, "page fault"), counted(major.trials, "trial"));
        let message = format!("{faults} waited for a disk, in {} of {trials}", major.affected);
        let severity = weigh(time(m, MAJOR, MAJOR_S), &|share| weight.lost(share));
        let finding =
            PAGE_FAULTS.finding(severity, message, advice).with("major_faults", major.amount);
        return Some(finding.with("trials_affected", major.affected));
    }
    let memory = ctx.work(m).pace == Pace::Memory;
    let minor = Share::sum(&m.trials, |t| MINOR(t).map(|n| n as f64), |_| threads)?;
    let few = if memory { minor.amount <= 0.0 } else { minor.usual <= FEW };
    if few {
        return None;
    }
    let huge =
        median_over(&m.trials, |t| t.conditions.huge_pages).is_some_and(|share| share > MOSTLY);
    // Faults are too short for windows to leave out: if each page faults, every slice has one.
    let took = time(m, MINOR, if huge { HUGE_S } else { MINOR_S });
    let severity = weigh(took, &|share| weight.change(share));
    let message = format!("{:.1} page faults per thread and trial were timed", minor.all);
    Some(PAGE_FAULTS.finding(severity, message, advice).with("minor_faults", minor.amount))
}

#[cfg(test)]
mod tests {
    use proofmark_model::FigureKind;

    use super::*;
    use crate::testing::*;

    #[test]
    fn swapping_is_suspect_and_a_few_pages_are_a_note() {
        let swapped = |value: fn(usize) -> u64| {
            each_condition(flops(1), |i, c| c.swapped_pages = Some(value(i)))
        };
        SWAP.expect([
            ("many", swapped(|_| 100), SUSPECT),
            ("one page", swapped(|i| u64::from(i == 3)), NOTE),
        ]);
    }

    #[test]
    fn timed_page_faults() {
        let major = |value: fn(usize) -> bool| {
            each_condition(flops(1), |i, c| c.major_faults = Some(u64::from(value(i))))
        };
        let several = each_condition(flops(1), |i, c| c.major_faults = Some(u64::from(i == 1) * 3));
        let minor = |m, n: u64| each_condition(m, |_, c| c.minor_faults = Some(n));
        let write = || stream("write", 2);
        let windows = || headed(in_windows(flops(1)), FigureKind::Attainable, 0.001);
        let once = each_condition(write(), |i, c| c.minor_faults = Some(u64::from(i == 3) * 100));
        PAGE_FAULTS.expect([
            ("major", major(|_| true), SUSPECT),
            ("major in one trial", major(|i| i == 1), NOTE),
            // 30 ms of the second that the figure divides by.
            ("several in one trial of a delivered figure", several, SUSPECT),
            ("many minor", minor(flops(1), 300), NOTE),
            ("more than the tolerance", minor(flops(1), 2400), SUSPECT),
            ("few", minor(flops(2), 20), SILENT),
            // 1.6 GB in pages of 4 KiB, on two threads: 0.4 s of 11.6 CPU-seconds.
            ("a matrix is first touched", minor(linpack(10_000, 2), 390_000), SUSPECT),
            ("a part of it", minor(linpack(10_000, 2), 25_000), NOTE),
            ("in every slice of windows", minor(windows(), 2400), SUSPECT),
            ("all but nothing", minor(linpack(10_000, 2), 30), SILENT),
            ("it waits for the disk", minor(rand_read(1), 195_000), NOTE),
            ("memory, none", minor(write(), 0), SILENT),
            ("memory, one a thread", minor(write(), 2), NOTE),
            ("memory, many", minor(write(), 100), NOTE),
            ("memory, a tenth of its time", minor(write(), 20_000), SUSPECT),
            ("memory, one trial", once, NOTE),
        ]);
    }
}
