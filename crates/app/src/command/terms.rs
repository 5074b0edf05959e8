//! Words of reports: id, title and meaning.

/// Verdicts, figures and columns.
pub const TERMS: &[(&str, &str, &str)] = &[
    (
        "valid",
        "Verdict: no check found a problem",
        "The result measures what its name says, and no named cause changed it by more than its \
         precision. How precise it is, is said by \u{b1}; a coarse result may be valid.",
    ),
    (
        "suspect",
        "Verdict: a named cause changed the result, or its claim is unconfirmed",
        "A check names a cause that changed the figure by more than half its 95 % interval and more \
         than the target, or what the name says could not be confirmed. Follow the finding's advice \
         and measure again. With --strict the exit status is 3.",
    ),
    (
        "invalid",
        "Verdict: the result is not what its name says",
        "Independent verification, the ceiling or a counter contradicts the result: a page cache \
         instead of a disk, threads counted twice, work that was not done. Do not use the figure. The \
         exit status is 3.",
    ),
    (
        "attainable",
        "Figure: what the hardware does when it is left alone",
        "Of CPU loads the 95th percentile of the windows of a round, weighted by work; the median over \
         rounds. Put first for CPU loads. Time that other processes, a quota or the hypervisor took is \
         not in it: attainable is the machine, delivered is your share of it.",
    ),
    (
        "typical",
        "Figure: the rate with the gaps taken out",
        "The rate over the windows in which nothing was taken; the median over rounds. Put first for \
         memory loads, and for whole problems (LINPACK), where it is the median solve.",
    ),
    (
        "delivered",
        "Figure: all work divided by all time",
        "What the run got, with all that others took. Put first for disk and network. delivered / \
         attainable is the share of a CPU that was yours.",
    ),
    (
        "att./typical",
        "Column: attainable for CPU loads, typical for memory loads and complete solves",
        "Delivered beside it is all work divided by all time. It may exceed typical, which is a median: \
         a bus that is free for some seconds raises the mean more than the median.",
    ),
    (
        "headline",
        "The figure that is put first",
        "Attainable for CPU loads, typical for memory loads and complete solves, delivered for disk and \
         network. Where the first was not seen, the next one: a finding says so.",
    ),
    (
        "verdict",
        "Column: valid, suspect or invalid",
        "The worst severity of a result's findings. `proofmark explain` has each of the three words.",
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
         confidence, as a share of the figure. It says how precise a figure is, not whether it is true. \
         -: too few rounds for an interval.",
    ),
    (
        "ceiling",
        "Column of ceiling: the result as a share of its theoretical limit",
        "The limit is derived from the machine's design and its clock in the same windows; `proofmark \
         list ceilings` names the rules and report.html has formulas and inputs. -: no limit is known.",
    ),
    (
        "bottleneck",
        "Column bottleneck: the resource that limited the result",
        "Named where a check of the ceiling, the counters or the account of time shows it. not \
         identified: none of them shows it.",
    ),
];
