//! Words of comparisons, fleets, the history, reference tools, published forms and networks.

use crate::command::ids::Words;

/// Id, title and meaning of the words.
pub const OTHERS: &[Words] = &[
    (
        "ci95_high",
        "Columns of csv: ends of the 95 % interval",
        "In the unit of the value; empty for too few rounds or trials.",
    ),
    (
        "file_flushed",
        "Column of csv: whether the trial flushed its file",
        "Each write was flushed, or the file at the end of the trial.",
    ),
    ("lines", "Number of configurations that a chart of past runs draws", "One line each."),
    (
        "fleet",
        "Fleet: machines that are measured together",
        "fleet run measures nodes in rounds and compares each with its group. Nodes with the same facts of the first list are a group. The facts of the second list make no group. The report lists those that differ within one, and those that no node reports.",
    ),
    ("nodes_at_a_time", "Fleet: nodes that measure at the same time", "--at-once."),
    ("network_partners", "Fleet: other nodes with which each one measures the network", "--pairs."),
    ("launcher", "Fleet: how the nodes are reached", "ssh, Slurm or Kubernetes."),
    ("subnet", "Fleet: network that --pairs measures", "--subnet."),
    // Comparisons.
    (
        "b_a",
        "Columns A, B and B / A: two runs and their ratio",
        "A is the baseline, the first run. B / A is the ratio of the figures beside it. It has a 95 % interval; the columns delivered A, B and B / A do the same for all work over all time.",
    ),
    (
        "margin",
        "Column: difference that does not count",
        "By subsystem and by the variation within both runs, or --margin. A result differs if its whole interval is beyond the margin.",
    ),
    (
        "slower",
        "Comparison: the whole interval is below 1 by more than the margin",
        "For times: above 1.",
    ),
    (
        "faster",
        "Comparison: the whole interval is above 1 by more than the margin",
        "For times: below 1.",
    ),
    (
        "no_difference_shown",
        "Comparison: the interval of the ratio reaches into the margin, so chance may explain it",
        "A smaller difference may exist; smallest detectable slowdown says how small.",
    ),
    (
        "perhaps_slower",
        "Comparison: no difference shown, but the whole interval is on the slower side of 1 and reaches beyond the margin",
        "`check` passes it, and names it. In its JSON the count is a part of no_difference_shown.",
    ),
    (
        "disturbed",
        "Comparison: a slower result whose only named cause is what others did",
        "Others are other programs, other guests or a debugger (other_cpu, steal, shared_device, ...), and what they took explains the difference. Whether the machine is slower is not known, so `check` does not fail: it is undecided (exit status 5). Measure again on a quiet machine (run --wait-quiet).",
    ),
    (
        "not_comparable",
        "Comparison: the two figures decide nothing",
        "They measure another configuration or by another method, are invalid, have too few trials, or differ too much within a run. The reason is printed.",
    ),
    (
        "difference",
        "Column of a comparison: slower, faster, perhaps slower or faster, within margin, none shown, undecided, gone, not measured or not comparable",
        "By the 95 % interval of the ratio and the margin. Perhaps slower (▽): the whole interval is on one side of 1, but not beyond the margin. Within margin: it is on one side of 1, but two runs of one machine differ as much.",
    ),
    (
        "run_machine",
        "Columns of csv (compare): the run, the baseline A, and their machines",
        "run is the letter of the run; run_name and baseline_name are what the user typed, or the path of a number of the history.",
    ),
    (
        "ratio_ci95_low",
        "Columns of csv (compare): ends of the 95 % interval of a ratio",
        "Of the headline, or with delivered_ before them of all work over all time; empty without an interval.",
    ),
    (
        "per_price",
        "Columns of csv (compare): figures per unit of money and hour",
        "With --price: the figure divided by the price per hour, of the run and of the baseline; per_price_ratio is their ratio. A time has none.",
    ),
    (
        "main_result",
        "Column of csv (compare): row of the first screen that the result fills",
        "Empty for other results.",
    ),
    (
        "runs_needed",
        "Comparison: alternating runs of each that would show a difference as large as the ratio",
        "From the variation between runs, from 4 to 200. Empty where a difference is shown, where the ratio is within the margin, and where that variation is not known.",
    ),
    (
        "gone",
        "Comparison: a result of A that B lacks",
        "It is missing or invalid in B. `check --against` fails. What B left out for its time limit is not_measured.",
    ),
    (
        "not_measured",
        "Comparison: a result of A that B left out for its time limit",
        "It is not gone, and `check --against` does not fail. If B had planned it and no time was left for it, the check is undecided (exit status 5): a slowdown may be why. What B's plan left out beforehand does not count, unless less than half of the baseline's results could be judged. To measure it, run with a longer --budget. `explain left_out` has the check of such a result.",
    ),
    (
        "smallest_detectable_slowdown",
        "Column: how much slower B would have to be to be noticed",
        "From the intervals and the margin of both runs, for the headline and for delivered. In a table of subsystems that of the median result.",
    ),
    ("what", "Column: fact of the machine that differs", "Such as CPU, kernel, governor."),
    (
        "requirement",
        "States of a requirement: met, missed or undecided",
        "`check --require`: the whole 95 % interval meets the limit, none of it does, or the limit is within it. Without an interval, all of at least 4 trials decide; of 3, if the limit is beyond them by more than a factor of 1.5.",
    ),
    (
        "check",
        "Check: a test for one fault in a result, such as page_cache (list checks)",
        "The command proofmark check compares a run with a baseline (--against) and with requirements (--require). Exit status 0: nothing is slower, gone or missed. 4: something is. 5: undecided. A result that the run left out for its time limit is not gone (explain not_measured).",
    ),
    (
        "last_good",
        "Baseline of check --against last-good: the newest good earlier run of this machine and profile in the history",
        "A good run has no invalid result, and would not fail a check against the good run before it. A run of workloads that the checked run did not plan is passed over. So a slowdown that lasts fails every check. A run whose file is gone or changed cannot be compared; the line that names the baseline counts such runs. To accept a slower machine, name the baseline (--against RUN), or begin another history (--history).",
    ),
    // Fleets.
    ("node", "Column: a machine of a fleet", "By the name under which it was reached."),
    (
        "state",
        "Column: slow, unverified, not compared or healthy",
        "The outcome of a node's comparison with its group.",
    ),
    (
        "slow",
        "State: below its group by more than the margin, in both passes",
        "The cause names what differs from the others. Exit status 4.",
    ),
    (
        "unverified",
        "State: a node with too little data to call it healthy or slow",
        "`fleet report` prints the reason. Exit status 5, if no node is slow.",
    ),
    (
        "not_compared",
        "State: a fleet of at most 3 nodes, or a group with too few nodes of the same kind",
        "The report shows their shares of ceilings instead.",
    ),
    (
        "healthy",
        "State: no figure is below the group's margin",
        "By the rounds that were measured.",
    ),
    (
        "not_confirmed",
        "Column: slow in the first pass, not in the second",
        "The node is not called slow.",
    ),
    (
        "too_few_rounds",
        "Column: nodes with too few results for a comparison",
        "More --rounds decide.",
    ),
    (
        "group",
        "Column: nodes that are compared with each other",
        "Those with the same CPUs, memory and instance type.",
    ),
    (
        "cause",
        "Column: what differs at a node or at the time of a change",
        "Recorded facts and conditions, with figures.",
    ),
    (
        "not_affected_by",
        "Line of the machine: weaknesses of CPUs that this one does not have",
        "As /sys/devices/system/cpu/vulnerabilities names them. A weakness that it has is a line \"mitigation \
         of\" with what the kernel does against it, which may slow system calls.",
    ),
    ("ratio", "Column: a node's figure divided by its group's median", "Below 1 is slower."),
    (
        "spread",
        "Column: variation of a figure between nodes",
        "Standard deviation between the nodes of a group in the deciding round, moderated by the other groups, as a share of the median.",
    ),
    // History.
    (
        "run",
        "Column: number of a run in the history",
        "`compare`, `check` and `report` take it instead of a path.",
    ),
    ("host", "Column: name of the machine", "That of the system. --label names the run."),
    (
        "machine",
        "Column: CPU, number of CPUs, memory and virtualisation",
        "The machine's main properties.",
    ),
    (
        "profile",
        "Column: set of workloads and settings",
        "`proofmark list profiles` has those built in.",
    ),
    (
        "results",
        "Column: number of results by verdict",
        "`proofmark explain verdict` has the words.",
    ),
    ("path", "Column: directory of a run", "It holds run.json and the reports."),
    ("change", "Column: change from the run before", "In percent of the earlier figure."),
    // Reference tools and published forms.
    ("tool", "Column: reference tool", "`proofmark list references` has all."),
    ("tool_result", "Column: what the tool reports, in the pairs", "The median over its runs."),
    (
        "proofmark",
        "Column: proofmark's figure in the pairs with a tool",
        "Extra trials, each in a new process like the tool's. The workload's own table has the regular trials.",
    ),
    (
        "proofmark_tool",
        "Column proofmark / tool: ratio of the two medians",
        "Its 95 % interval is that of the ratios within each pair. An interval that contains 1 shows no difference.",
    ),
    (
        "pair",
        "Column: number of a pair",
        "One trial of proofmark and one run of the tool, one right after the other.",
    ),
    (
        "first",
        "Column: which of a pair ran first",
        "They take turns, so that drift changes neither.",
    ),
    (
        "taken",
        "Columns: CPU time taken from this side of a pair",
        "By the hypervisor, a quota and other processes. For a tool, other processes are not counted.",
    ),
    (
        "per_operation",
        "Columns per operation and per byte: a reciprocal throughput",
        "The block size, or one byte, divided by the rate of all threads. No latency: it falls with more threads.",
    ),
    (
        "average",
        "Columns of published forms: average, standard deviation (Std Dev), best and worst",
        "As the original tool prints them, over every trial.",
    ),
    ("function", "Column: the function of STREAM", "Copy, scale, add or triad."),
    (
        "stores",
        "Column: ordinary or non-temporal stores",
        "Non-temporal stores do not read a line before they overwrite it.",
    ),
    ("array", "Column: size of one array", "Large enough that no cache holds it."),
    ("file", "Column: size of the file", "As IOzone's tables have it."),
    ("record", "Column: block size", "As IOzone's tables have it."),
    ("bandwidth", "Column: bytes per second of a cache or the memory", "The slope of a roofline."),
    (
        "size_of_the_matrix",
        "Columns size, LDA and align of a solve",
        "The matrix's order; its leading dimension: elements from the start of one column to that of the next; its alignment in bytes.",
    ),
    (
        "residual",
        "Column: how exact a solution is",
        "The largest element of |A x - b|; (norm): relative to the machine's precision, as HPL and LINPACK print it.",
    ),
    (
        "check",
        "Column: whether a solution passes",
        "Its norm is below the threshold of the original benchmark.",
    ),
    // Network.
    ("offered", "Column: payload sent per second, whether it arrived or not", "For UDP."),
    ("sent", "Column: datagrams sent", "Over all trials and streams."),
    ("received", "Column: datagrams that arrived, each once", "By the receiver's own count."),
    ("reordered", "Column: datagrams that arrived after a later one", "They count."),
    ("duplicated", "Column: datagrams that arrived more than once", "They count once."),
    ("jitter", "Column: variation of the time between datagrams", "As RFC 3550 defines it."),
    (
        "retransmits",
        "Column: segments that TCP sent again",
        "Since the connections were made, with the warm-up.",
    ),
    (
        "window",
        "Columns window, round trip and segment: state of the connections",
        "Medians of what TCP reports after each trial.",
    ),
    (
        "round_trip",
        "Column: time to the server and back",
        "As TCP reports it, or of a message and its answer.",
    ),
    ("segment", "Column: bytes of a TCP segment", "As TCP reports it after each trial."),
    (
        "client",
        "Columns client and server: CPU use of both ends",
        "CPU: CPUs that the threads of that end kept busy. System: the same for all programs there.",
    ),
    (
        "interface",
        "Columns client interface and server interface: bytes by the interface's own counter",
        "As a share of the payload. They include headers and all other traffic.",
    ),
    (
        "dropped",
        "Columns dropped and buffer full: packets that did not get through",
        "Packets that interfaces and CPUs dropped, and datagrams for which a socket had no room.",
    ),
];
