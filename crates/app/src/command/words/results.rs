//! Words of results, of the account of time and of values over time.

use crate::command::ids::Words;

/// Id, title and meaning of the words.
pub const RESULTS: &[Words] = &[
    // Results.
    (
        "moved",
        "Column: rate of all bytes that the hardware transfers",
        "It includes the lines that an ordinary store reads before it overwrites them (write-allocate). The figure counts only the bytes that the program requested, as STREAM does.",
    ),
    (
        "load_moved",
        "Column: rate at which the other threads read meanwhile",
        "The median over the trials of a workload that measures latency under load.",
    ),
    (
        "device",
        "Column: bytes of the block devices as a share of the bytes requested",
        "The devices' own counters, during the trials. At 0 % the page cache served all of it. Above 100 % the rest is whole sectors, read-ahead and the file system's own data.",
    ),
    (
        "lost",
        "Column: datagrams that were sent and did not arrive",
        "A share of the datagrams sent. The rate counts only those that arrived, each once.",
    ),
    (
        "statistic",
        "Column: which figure a row shows",
        "attainable, typical or delivered; `proofmark explain` has each. The headline is shown unless a part of the machine's time was too disturbed for it.",
    ),
    (
        "mean",
        "Statistic: the sum of all values divided by their number",
        "latency_mean of jsonl and disk.fsync.mean of a requirement: the mean time of all timed operations, which rare long ones raise. p50 is their median. In a published table, trial=mean marks a row that is the average of its trials.",
    ),
    (
        "exp",
        "Column Exp 1, Exp 2, ...: single trials, as published tables number them",
        "One column per trial, for each number of threads; Average and Std Dev follow. report.html and `proofmark report --format markdown --all` have these tables.",
    ),
    (
        "i_o",
        "Column I/O: how a disk's file is read and written",
        "direct (past the page cache) or buffered, with a warm or a cold page cache, and whether the time includes the flush to the device. The columns engine and queue depth say how many I/Os are sent at once.",
    ),
    (
        "giops",
        "GIOPS: 10^9 integer operations per second",
        "Published tables call Gop/s of integer workloads GIOPS. IOPS of a disk are something else: I/O operations per second.",
    ),
    (
        "gflops",
        "GFLOPS: 10^9 floating-point operations per second",
        "The same unit as GFLOP/s. A fused multiply-add counts as two operations, as in LINPACK.",
    ),
    (
        "lanes",
        "Word of ceilings: numbers that a vector instruction computes at once, or wire pairs of a link",
        "avx2 has 4 lanes of 64 bits, avx512 has 8. A PCIe link such as x4 has 4 lanes, each with the rate of its generation.",
    ),
    (
        "channels",
        "Word of ceilings: memory channels of the machine",
        "Each channel moves 8 bytes per transfer. The DRAM ceiling is channels x transfers per second x 8 bytes. A virtual machine hides the modules, so the number of channels is then assumed from the CPU's design.",
    ),
    (
        "lines_in_flight",
        "Word of ceilings: cache lines that a core can wait for at once",
        "From a table by core design: the greater of what its L1 and its L2 cache track. The ceiling memory.core divides them by the latency of memory.",
    ),
    (
        "transfers",
        "Word of ceilings: transfers per second of a memory channel",
        "DDR5-6400 makes 6400 million transfers per second, of 8 bytes each per channel.",
    ),
    (
        "loopback",
        "Network within one machine: client and server are processes of the same system",
        "No packet reaches a wire, so the rate is that of the CPUs and of memory copies. To measure a network, run `proofmark serve` on another machine and name it with --peer.",
    ),
    (
        "budget",
        "Option --budget: the time that a run may take",
        "Within a smaller budget, proofmark takes fewer trials, shorter series and fewer configurations, and the findings plan.budget list what it left out. --dry-run prints the plan with its time.",
    ),
    (
        "reference",
        "Reference tool: a known program that does the same work, in turn with proofmark",
        "--reference fio,stream names tools, --reference all takes all that fit. `proofmark list references` has the tools, `proofmark explain TOOL` the workloads of each. The ratio of each pair shows whether both agree.",
    ),
    (
        "load_average",
        "Line of `proofmark info`: mean number of running tasks over 1, 5 and 15 minutes (load average)",
        "From /proc/loadavg, before the run.",
    ),
    ("min", "Column: the shortest time of one operation", "Of all timed operations of the trials."),
    (
        "max",
        "Column: the longest time of one operation",
        "Of all timed operations of the trials: one rare pause decides it. p99 is steadier.",
    ),
    (
        "p90",
        "Column p90: 90 of 100 operations took at most this long",
        "From a histogram with 1 % resolution.",
    ),
    (
        "p99.9",
        "Column p99.9: 999 of 1000 operations took at most this long",
        "From a histogram with 1 % resolution. -: fewer than 10 operations lie beyond it.",
    ),
    (
        "count",
        "Column: number of timed operations",
        "Over all trials. Percentiles need at least 10 operations beyond them.",
    ),
    (
        "configuration",
        "Column: a workload with a value for each parameter",
        "Parameters that are the same in every row are in the table's caption.",
    ),
    (
        "result",
        "Column: a measured configuration",
        "Its row in the report. One configuration gives one result.",
    ),
    (
        "workload",
        "Column: what is measured, by its id",
        "`proofmark list workloads` has all, `proofmark explain cpu.flops` one.",
    ),
    ("subsystem", "Column: part of the machine", "CPU, memory, disk or network."),
    ("value", "Column: the figure of one trial or round", "In the unit of the column."),
    (
        "trial",
        "Column: number of a timed repetition",
        "proofmark takes several of each configuration; the spread of their values gives the interval.",
    ),
    (
        "trials",
        "Timed repetitions of a configuration",
        "One trial is one timed repetition. Loads that can be cut take rounds, others whole pieces of work.",
    ),
    (
        "rounds",
        "Trials of loads that can be cut, or passes over a fleet",
        "In a run: a trial of a CPU or memory load, visited in turn with the others. In a fleet: a task that every node measures.",
    ),
    (
        "work",
        "Column: amount of work of a trial",
        "In the unit of the workload without the time: operations, bytes.",
    ),
    (
        "wall_time",
        "Column: time that a trial took",
        "From the first thread's start to the last one's end.",
    ),
    (
        "utc",
        "Column: time of day in UTC",
        "The start of a run or trial, or the moment of a change.",
    ),
    (
        "reason",
        "Column: why a comparison has its verdict",
        "The figure, the interval or the margin that decided.",
    ),
    (
        "verification",
        "Column: the independent account of the work",
        "How proofmark counted the work a second time, after the trial.",
    ),
    (
        "counted_claimed",
        "Columns claimed, counted and counted / claimed: proof that the work was done",
        "Claimed is the work by the program's own account, counted that by an independent one. A result whose accounts differ is invalid.",
    ),
    (
        "note",
        "Severity: worth knowing, no doubt about the result",
        "A finding of severity note does not change the verdict.",
    ),
    (
        "placement",
        "Where the CPUs of two threads are: near or far",
        "SMT siblings share a core. Otherwise it is the time that a cache line takes to the other CPU and back. Of several such times in a run, the shortest is near and the longest far, as on another chip or socket. A hypervisor may move vCPUs at any time, so proofmark measures it before and after each round.",
    ),
    (
        "of_the_time",
        "Column: share of the run with a placement",
        "By the time of the rounds during which it was seen.",
    ),
    (
        "by_rate",
        "Columns over time and by rate: small pictures of the rounds",
        "Over time: the rate of each round, in four blocks. By rate: how often windows had which share of the attainable figure: below 65 %, then in steps of 5 %, from 95 % on.",
    ),
    // Where the time went.
    (
        "at_work",
        "Time during which the threads ran",
        "The rest of their time was taken by the causes listed with it.",
    ),
    (
        "other_processes",
        "Cause: time during which other programs used the CPUs",
        "Counted by the scheduler: the threads were ready and had no CPU.",
    ),
    (
        "stopped",
        "Cause: time during which the threads were stopped",
        "By a signal, a debugger or a suspended machine.",
    ),
    (
        "interrupts",
        "Cause: time that interrupts of the kernel took",
        "Slices that are longer than those around them.",
    ),
    (
        "unexplained",
        "Cause: time that no counter explains",
        "What is left of the time of the threads.",
    ),
    (
        "waiting_for_a_cpu",
        "Cause: time during which threads were ready and had no CPU",
        "Other processes, or a quota, had the CPUs.",
    ),
    (
        "time",
        "Column: what took the time, or how long it took",
        "In the account of time: a cause. In a table of tools: the time over which the tool measured, or of its whole run where it reports none.",
    ),
    ("of_all", "Column: share of all time of the threads", "Threads times wall time is 100 %."),
    (
        "counted_by",
        "Column: the counter of a cause, with its error",
        "Where proofmark reads the time that was taken.",
    ),
    // Over time.
    (
        "trend",
        "Change of a value over time",
        "The robust straight line through all samples (Theil and Sen) with its 95 % interval. Beyond the tolerance it is the conclusion of `proofmark endure`.",
    ),
    (
        "level",
        "Period with a constant value, or a place in the memory hierarchy",
        "Over time: from one change to the next. In a roofline: a cache or the memory.",
    ),
    (
        "levels",
        "Periods with a constant value, in order",
        "`proofmark endure` finds when a value changed, and what changed with it.",
    ),
    (
        "from",
        "Columns from and until: start and end of a level",
        "In seconds after the first sample.",
    ),
    ("others", "Column: CPU time of other programs in a run", "100 % is one CPU."),
    ("took", "Column: duration of a run", "From its start to its last trial, without the reports."),
    ("samples", "Column: values of a series", "`proofmark endure` takes one per --every."),
    ("median", "Column: the middle value", "Half of the values are above it."),
    (
        "previous",
        "Column × previous: a level divided by the one before",
        "Its footnote says what else changed at that time.",
    ),
];
