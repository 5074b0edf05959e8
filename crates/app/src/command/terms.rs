//! The terms of reports: id, title and meaning.

/// Verdicts, figures and columns.
pub const TERMS: &[(&str, &str, &str)] = &[
    (
        "valid",
        "Verdict: no check found a problem, and the interval is narrow",
        "The figure follows its definition, and differs from the machine's undisturbed figure by at most \
         the tolerance: CPU 2 %, memory 10 %, disk and network 25 %. Under a limit, such as a quota, \
         the undisturbed figure is that under the limit.",
    ),
    (
        "coarse",
        "Verdict: no check found a problem, but the 95 % interval is wide",
        "An end of the interval differs from the figure by more than five times the target. That is \
         CPU 2.5 %, memory 15 %, disk and network 25 %. Of 3 to 5 complete solves it is the range. Raise --budget, or repeat when other load is gone. The exit \
         status does not change; --precision makes it 3.",
    ),
    (
        "no_interval",
        "Verdict: no check found a problem, but there are too few trials for an interval",
        "8 rounds, or 6 of a fixed number of trials, are needed. Few complete solves, such as LINPACK's, \
         are judged by their range instead. Raise --budget or --trials.",
    ),
    (
        "not_run",
        "Verdict: the configuration could not be run here, or the time limit left no time for it",
        "There is no figure. The configuration needs an instruction set, memory, a device or a limit that \
         is not here, or more time (--budget); the finding has the reason. The exit status does not change, unless nothing at \
         all was measured.",
    ),
    (
        "not_checked",
        "Published figure: no rule could check it",
        "proofmark audit prints why: no limit of the machine is declared, the trials of a deviation are \
         not in the table, or no rule bounds such a figure. It is no verdict: the figure may be right \
         or wrong. The exit status does not change.",
    ),
    (
        "audit",
        "Published figures: the words of the table, the machine's facts, and an example",
        "The columns of the CSV and the facts of the TOML, by an example.",
    ),
    (
        "undecided",
        "Requirement or comparison: neither met nor missed, neither slower nor faster",
        "A comparison is undecided where the ratio of the two figures lies outside the interval of the ratios \
         of their rounds, and the two lead to different conclusions. A result counts by both of its figures: it is \
         slower if one is, else undecided if one is. A requirement: the limit of `check --require` is within the figure's 95 % interval. Without an interval: its trials \
         are on both sides of the limit, or fewer than 4 were taken and the limit is not beyond 3 of them by more than a \
         factor of 1.5. Or the result is invalid, was \
         not run, or is suspect. If a disturbance only slowed a suspect result, a requirement that it meets \
         is met. A slower result, or a figure that misses its limit, is undecided where what others took explains it. Exit status 5, if nothing is slower, gone or missed. What to do: measure again on a quiet machine \
         (run --wait-quiet) or with more trials (run --trials), or set a limit outside the interval.",
    ),
    (
        "suspect",
        "Verdict: a named cause changed the result, or what its name says cannot be confirmed",
        "The change is larger than the tolerance: CPU 2 %, memory 10 %, disk and network 25 %. Follow the \
         finding's advice and measure again. With --strict the exit status is 3.",
    ),
    (
        "invalid",
        "Verdict: the result is not what its name says",
        "Verification, the ceiling or a counter contradicts it: a page cache instead of a disk, threads \
         counted twice, work that was not done. Do not use the figure. The exit status is 3.",
    ),
    (
        "attainable",
        "Figure: what the hardware does when it is left alone",
        "The best clean windows of each round: of CPU loads their 95th percentile, weighted by work; the \
         median over rounds. Of complete solves the best one. The headline of CPU loads. It leaves out \
         the time that other processes, a quota or the hypervisor took.",
    ),
    (
        "typical",
        "Figure: the rate with the gaps taken out",
        "The rate over the clean windows; the median over rounds. Of complete solves the median. The \
         headline of memory loads.",
    ),
    (
        "delivered",
        "Figure: all work divided by all time",
        "The speed of the run, including the time that other processes, a quota or the hypervisor took. \
         The headline of disk, network and complete solves (LINPACK). delivered / attainable \
         holds the share of the CPUs that the run got, and how much the rate itself varied, as with the clock.",
    ),
    (
        "undisturbed",
        "Column: attainable for CPU loads, typical for memory loads",
        "A column of the first screen, with its \u{b1} to the right. A complete solve includes the time that \
         was taken from it, so it has delivered alone there. The column delivered is all work divided by \
         all time, with its 95 % interval to the right. Delivered may exceed typical, which is a median: a \
         bus that is free for some seconds raises the mean more than the median.",
    ),
    (
        "headline",
        "The figure that a report shows first",
        "Attainable for CPU loads, typical for memory loads, delivered for complete solves, disk and \
         network. A result without that figure has no headline: no other figure replaces it.",
    ),
    (
        "verdict",
        "Column: valid, coarse, no interval, suspect, invalid or not run",
        "The worst severity of a result's findings. Without a problem it says how wide the interval is. \
         `proofmark explain` has each of the words.",
    ),
    (
        "iops",
        "Unit IOPS: I/O operations per second",
        "Bytes per second divided by the block size. The first screen shows random I/O in it.",
    ),
    (
        "p50",
        "Column p50: the median time of one operation",
        "Half of the timed operations took at most this long. From a histogram with 1 % resolution.",
    ),
    (
        "p99",
        "Column p99: 99 of 100 operations took at most this long",
        "From a histogram with 1 % resolution. -: fewer than 10 operations lie beyond it.",
    ),
    (
        "precision",
        "Column \u{b1}: half the 95 % interval",
        "Half the width of the interval that holds the median over rounds or trials with 95 % \
         confidence, as a share of the figure to its left. It says how precise a figure is, not whether it is true. \
         -: too few rounds for an interval.",
    ),
    (
        "between_runs",
        "Column between runs: how much earlier runs of this machine differed",
        "Half of the 95 % interval of the machine about the figure of one run, as a share, from earlier runs \
         in the history: same host or label, CPU, memory, kernel, program and method. Their number follows. \
         An interval of one run (\u{b1}) describes its own minute; the larger of the two holds. 2 states: the \
         runs have one of two values.",
    ),
    (
        "ceiling",
        "Column of ceiling: the result as a share of its theoretical limit",
        "Figure / limit, for times limit / figure. The limit is derived from the machine's design and its \
         clock in the same windows or trials; `proofmark list ceilings` names the rules and report.html has \
         formulas and inputs. Assumed: the first input is. Rough: the uncertainty is 30 % or more. Shared: both \
         ends of a connection use it. -: no limit is known, or its uncertainty is 100 % or more.",
    ),
    (
        "bottleneck",
        "Column bottleneck: the resource that limited the result",
        "Named if a check of the ceiling, the counters or the account of time shows it; else: not \
         identified.",
    ),
    (
        "environment",
        "Variables that proofmark reads, and their precedence",
        "What the environment changes: places of files, width, colours and signs of texts.",
    ),
    (
        "progress",
        "What --progress prints on standard error while a run measures",
        "auto: a bar in a terminal, else a line per finished configuration. plain: such lines always. none: \
         warnings and errors only. jsonl: one JSON object per line and nothing else, for programs.",
    ),
    (
        "exit_status",
        "Number with which a command ends",
        "Scripts can tell a failure, a wrong use, an invalid result and a missed requirement apart.",
    ),
    (
        "size",
        "How sizes, durations, rates and shares are typed",
        "Sizes as in fio, by 1024: 4KB, 4k and 4KiB are 4096 bytes. Durations: 250ms, 30s, 5m, 8h, 3d. \
         Rates and figures in the units that reports print, by 1000: 160MB/s, 3000, 100GFLOP/s, 10Gbit/s. \
         Shares: 0.03 or 3%.",
    ),
    (
        "history",
        "Database of past runs: host, label, figures and verdicts",
        "Each run is added to it; trials stay in the run files. proofmark history lists the runs, \
         and with a workload its results over time: a line for each configuration and host, which \
         follows delivered.",
    ),
    (
        "run_id",
        "Field: the start of a run, which identifies it in every format",
        "In UTC with all its digits (RFC 3339). Rows of several files about one run have the same \
         run_id, host and label.",
    ),
];

#[cfg(test)]
mod tests {
    use proofmark_model::{Subsystem, SubsystemInfo, and_list, format_percent};

    use super::*;

    /// Lists a share of each subsystem, as the terms do: `CPU 2 %, memory 10 %, disk and network 25 %`.
    fn by_subsystem(share: fn(&SubsystemInfo) -> f64) -> String {
        let mut alike: Vec<(f64, Vec<&str>)> = Vec::new();
        for info in Subsystem::ALL.map(Subsystem::info) {
            match alike.last_mut().filter(|(last, _)| *last == share(info)) {
                Some((_, words)) => words.push(info.word),
                None => alike.push((share(info), vec![info.word])),
            }
        }
        let one = |(share, words): &(f64, Vec<&str>)| {
            format!("{} {}", and_list(words), format_percent(*share).replace(".0 %", " %"))
        };
        alike.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn the_terms_have_the_limits_of_the_subsystems() {
        let about = |id: &str| TERMS.iter().find(|term| term.0 == id).unwrap().2;
        let tolerance = by_subsystem(|info| info.tolerance);
        assert!(tolerance.starts_with("CPU 2 %, "), "{tolerance}");
        for id in ["valid", "suspect"] {
            assert!(about(id).contains(&tolerance), "{id}: {tolerance}");
        }
        let coarse = by_subsystem(SubsystemInfo::coarse_from);
        assert!(about("coarse").contains(&coarse), "{coarse}");
    }
}
