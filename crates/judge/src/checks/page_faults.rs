//! Memory that was not there: `swap`, the system swapped during the trials; `page_faults`, it was
//! touched for the first time, or read from disk, in the timed region.

use proofmark_model::{Finding, Measurement, Pace, Severity};

use super::share::Share;
use super::{Check, Class, Examine};
use crate::Context;
use crate::execution::Execution;
use crate::words::counted;

/// Pages a second, 1 MiB/s of 4 KiB: less is the odd page that somebody else comes back to.
const PAGES_PER_S: f64 = 256.0;

pub(super) static SWAP: Check = Check {
    id: "swap",
    class: Class::Disturbance,
    title: "Swapping during the trials",
    about: "Pages per second that the whole system swapped in or out during the trials. More than 256 \
         (1 MiB of 4 KiB pages) is suspect: memory is short, and swapping kept the disk and the \
         kernel busy. Fewer are a note. Free memory, or use a smaller working set.",
    examine: Examine::Both(swap),
};

fn swap(_: &Context, m: &Measurement) -> Option<Finding> {
    let share =
        Share::sum(&m.trials, |t| t.conditions.swapped_pages.map(|n| n as f64), |t| t.seconds)?;
    if share.amount <= 0.0 {
        return None;
    }
    let severity = share.severity(PAGES_PER_S).unwrap_or(Severity::Note);
    let message = format!(
        "the system swapped {} during the trials, {:.0} per second",
        counted(share.amount, "page"),
        share.all
    );
    let advice = "free memory, or use a smaller working set";
    let finding = SWAP.finding(severity, message, advice).with("pages", share.amount);
    Some(finding.with("pages_per_second", share.all).with("trials_affected", share.affected))
}

/// Minor faults a trial and thread that are the engine's own: its counters and its
/// stack. Each costs about a microsecond; one for a huge page of data a hundred.
const MINOR: f64 = 16.0;
/// What a minor fault costs at least, in seconds.
const MINOR_S: f64 = 1e-6;
/// Share of the threads' time from which on minor faults move the number: half the target.
const MOVES: f64 = 0.01;

pub(super) static PAGE_FAULTS: Check = Check {
    id: "page_faults",
    class: Class::Disturbance,
    title: "Page faults in the timed part",
    about: "Workloads touch their memory before the timed part, so no page fault should be timed. \
         Major faults, which wait for a disk, are suspect; a note if only the worst tenth of the \
         trials had any. More than 16 minor faults per thread and trial are a note: pages were \
         touched for the first time, or taken away meanwhile. More than 1 % of the threads' time, \
         at 1 us per fault, is suspect if the threads do not wait for a device. For a memory \
         workload any are suspect, since clearing pages was timed; a note if only the worst tenth \
         of the trials had any. Check whether memory is short, and whether the workload touches \
         all of its memory first.",
    examine: Examine::Ours(page_faults),
};

fn page_faults(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let threads = m.params.threads().max(1) as f64;
    let major = Share::sum(&m.trials, |t| t.conditions.major_faults.map(|n| n as f64), |_| 1.0);
    let minor = Share::sum(&m.trials, |t| t.conditions.minor_faults.map(|n| n as f64), |_| threads);
    let advice = "check whether memory is short, and whether the workload touches all of its \
                  memory before the timed part";
    if let Some(major) = major
        && let Some(severity) = major.severity(0.0)
    {
        let (faults, trials) =
            (counted(major.amount, "page fault"), counted(major.trials, "trial"));
        let message = format!("{faults} waited for a disk, in {} of {trials}", major.affected);
        let finding =
            PAGE_FAULTS.finding(severity, message, advice).with("major_faults", major.amount);
        return Some(finding.with("trials_affected", major.affected));
    }
    let memory = ctx.work(m).pace == Pace::Memory;
    let minor = minor?;
    let took = Share::sum(
        &m.trials,
        |t| t.conditions.minor_faults.map(|n| n as f64 * MINOR_S),
        |t| t.seconds * threads,
    );
    let moves = !Execution::derive(ctx, m).waits() && took.is_some_and(|took| took.usual > MOVES);
    let severity = match memory {
        true => minor.severity(0.0)?,
        false if minor.usual <= MINOR => return None,
        false if moves => Severity::Suspect,
        false => Severity::Note,
    };
    let message = format!("{:.1} page faults per thread and trial were timed", minor.all);
    Some(PAGE_FAULTS.finding(severity, message, advice).with("minor_faults", minor.amount))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn swapping_is_suspect_and_a_few_pages_are_a_note() {
        let swapped =
            |of: fn(usize) -> u64| each_condition(flops(1), |i, c| c.swapped_pages = Some(of(i)));
        SWAP.expect([
            ("many", swapped(|_| 100), SUSPECT),
            ("one page", swapped(|i| u64::from(i == 3)), NOTE),
        ]);
    }

    #[test]
    fn timed_page_faults() {
        let major = |of: fn(usize) -> bool| {
            each_condition(flops(1), |i, c| c.major_faults = Some(u64::from(of(i))))
        };
        let minor = |m, n: u64| each_condition(m, |_, c| c.minor_faults = Some(n));
        let write = || stream("write", 2);
        let once = each_condition(write(), |i, c| c.minor_faults = Some(u64::from(i == 3) * 100));
        PAGE_FAULTS.expect([
            ("major", major(|_| true), SUSPECT),
            ("major in one trial", major(|i| i == 1), NOTE),
            ("many minor", minor(flops(1), 500), NOTE),
            ("few", minor(flops(2), 20), SILENT),
            // 800 MB in pages of 4 KiB, on two threads: 0.2 s of 11.6 CPU-seconds.
            ("a matrix is first touched", minor(linpack(10_000, 2), 195_000), SUSPECT),
            ("a part of it", minor(linpack(10_000, 2), 50_000), NOTE),
            ("all but nothing", minor(linpack(10_000, 2), 30), SILENT),
            ("it waits for the disk", minor(rand_read(1), 195_000), NOTE),
            ("memory, none", minor(write(), 0), SILENT),
            ("memory, one a thread", minor(write(), 2), SUSPECT),
            ("memory, many", minor(write(), 100), SUSPECT),
            ("memory, one trial", once, NOTE),
        ]);
    }
}
