//! Words that tables, charts and lists print and that are no ids: columns, signs, states.
//!
//! `explain` finds a word as it is printed: `B / A`, `95 %`, `✓ valid`, `queue depth`.

use super::ids::Words;

/// Signs and other names of words: what is printed, and the id that explains it.
const ALIASES: &[(&str, &str)] = &[
    ("±", "precision"),
    ("95", "precision"),
    ("95_interval", "precision"),
    ("interval", "precision"),
    ("of_ceiling", "ceiling"),
    ("lowest_share_of_ceiling", "ceiling"),
    ("proofmark_ceiling", "ceiling"),
    ("tool_ceiling", "ceiling"),
    ("a", "b_a"),
    ("b", "b_a"),
    ("delivered_a", "b_a"),
    ("delivered_b", "b_a"),
    ("delivered_b_a", "b_a"),
    ("figure", "statistic"),
    ("no_difference", "no_difference_shown"),
    ("differ_too_much", "not_comparable"),
    ("minimum_margin", "margin"),
    ("below_the_margin", "margin"),
    ("nodes_slow", "slow"),
    ("slowest_node", "slow"),
    ("slowest_node_ratio", "slow"),
    ("its_ratio", "ratio"),
    ("outcome", "state"),
    ("near", "placement"),
    ("far", "placement"),
    ("smt_siblings", "placement"),
    ("ns_round_trip", "placement"),
    ("over_time", "by_rate"),
    ("mean", "p50"),
    ("avg_time", "average"),
    ("best_rate", "average"),
    ("min_time", "average"),
    ("max_time", "average"),
    ("std_dev", "average"),
    ("maximal", "average"),
    ("tool_verdict", "verdict"),
    ("started_utc", "utc"),
    ("client_cpu", "client"),
    ("server_cpu", "client"),
    ("client_system", "client"),
    ("server_system", "client"),
    ("client_interface", "interface"),
    ("server_interface", "interface"),
    ("buffer_full", "dropped"),
    ("per_byte", "per_operation"),
    ("latency_p50", "p50"),
    ("counted", "counted_claimed"),
    ("claimed", "counted_claimed"),
    ("until", "from"),
    ("residual_norm", "residual"),
    ("lda", "size_of_the_matrix"),
    ("align", "size_of_the_matrix"),
    ("other", "other_processes"),
    ("taken_proofmark", "taken"),
    ("taken_tool", "taken"),
    ("tool_time", "time"),
    ("met", "requirement"),
    ("missed", "requirement"),
    ("i_note", "note"),
];

/// Id, title and meaning of the words.
pub const WORDS: &[Words] = &[
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
        "SMT siblings share a core. Else the time that a cache line takes to the other CPU and back: some 50 to 100 ns is near (one cache or chip), 200 ns and more is far (another chip or socket). In a virtual machine the hypervisor may move them at any time, so proofmark measures it before and after each round.",
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
    ("samples", "Column: values of a series", "`proofmark endure` takes one per --every."),
    ("median", "Column: the middle value", "Half of the values are above it."),
    (
        "previous",
        "Column × previous: a level divided by the one before",
        "Its footnote says what else changed at that time.",
    ),
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
        "Comparison: the interval lies within the margin",
        "A smaller difference may exist; smallest detectable slowdown says how small.",
    ),
    (
        "not_comparable",
        "Comparison: the two figures do not measure the same",
        "Another configuration, another method or version, or samples that differ too much.",
    ),
    (
        "gone",
        "Comparison: a result of A that B lacks",
        "It is missing or invalid in B. `check --against` fails.",
    ),
    (
        "smallest_detectable_slowdown",
        "Column: how much slower B would have to be to be noticed",
        "From the intervals and the margin of both runs.",
    ),
    ("what", "Column: fact of the machine that differs", "Such as CPU, kernel, governor."),
    (
        "requirement",
        "States of a requirement: met, missed or undecided",
        "`check --require`: the whole 95 % interval meets the limit, none of it does, or the limit is within it.",
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
        "State: a result of the node failed its checks",
        "Its figures are not used. Exit status 5, if no node is slow.",
    ),
    (
        "not_compared",
        "State: too few results or nodes to compare",
        "A group needs several nodes of the same kind.",
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
    ("ratio", "Column: a node's figure divided by its group's median", "Below 1 is slower."),
    (
        "spread",
        "Column: variation of a figure between nodes",
        "Of healthy nodes, as a share of the median.",
    ),
    (
        "spread_between_nodes",
        "Column: variation of a figure between nodes",
        "Of healthy nodes, as a share of the median.",
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
        "Columns of published forms: average, standard deviation, best and worst",
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

/// Returns the form by which a word is found: `B / A` and `b_a` are the same.
pub fn normal(word: &str) -> String {
    let keeps = |c: char| c.is_alphanumeric() || matches!(c, '.' | '±');
    let spaced: String =
        word.to_lowercase().chars().map(|c| if keeps(c) { c } else { ' ' }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join("_")
}

/// Returns the id that a printed word stands for, in its normal form.
pub fn id_of(word: &str) -> String {
    let normal = normal(word);
    let alias = ALIASES.iter().find(|(printed, _)| *printed == normal);
    alias.map_or(normal, |(_, id)| (*id).to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proofmark_model::Comparability;

    use super::*;
    use crate::command::explain::texts;

    /// The titles of columns in a file of the report.
    fn titles(text: &str) -> Vec<String> {
        let starts = [".column(\"", ".number(\"", ".measured(\"", "title: \""];
        let after = |start: &&str| {
            let parts: Vec<&str> = text.split(*start).skip(1).collect();
            parts
                .into_iter()
                .filter_map(|part| Some(part.split_once('"')?.0.to_owned()))
                .collect::<Vec<_>>()
        };
        starts.iter().flat_map(after).collect()
    }

    fn files(folder: &Path, all: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => files(&path, all),
                // The titles of tests and of charts are no columns.
                false if path.extension().is_some_and(|e| e == "rs") => {
                    let text = fs::read_to_string(&path).unwrap();
                    all.push(text.split("#[cfg(test)]").next().unwrap().to_owned());
                }
                false => {}
            }
        }
    }

    #[test]
    fn every_title_of_a_column_is_explained() {
        let mut all = Vec::new();
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/src"), &mut all);
        let mut titles: Vec<String> = all.iter().flat_map(|text| titles(text)).collect();
        titles.retain(|t| t.len() < 30 && !t.contains('{'));
        titles.sort();
        titles.dedup();
        assert!(titles.len() > 90, "the titles were not found: {titles:?}");
        let lacking: Vec<&String> = titles.iter().filter(|t| texts(t).is_empty()).collect();
        assert!(lacking.is_empty(), "not explained: {lacking:?}");
    }

    #[test]
    fn words_of_verdicts_and_states_are_explained() {
        use Comparability::{Faster, NoDifferenceShown, NotComparable, Slower, Undecided};
        for outcome in [Faster, Slower, NoDifferenceShown, Undecided, NotComparable] {
            assert!(!texts(outcome.as_str()).is_empty(), "{}", outcome.as_str());
        }
        for word in [
            "✓ valid",
            "~ coarse",
            "~ no interval",
            "- not run",
            "! suspect",
            "✗ invalid",
            "moved",
            "device",
            "lost",
            "margin",
            "p90",
            "±",
            "placement",
            "near",
            "far",
            "not comparable",
            "gone",
            "undecided",
            "coarse",
            "of ceiling",
            "✗ slow",
            "✓ healthy",
            "! unverified",
            "- not compared",
            "met",
            "✗ missed",
            "queue depth",
            "threads",
            "B / A",
            "95 %",
            "other processes",
            "steal",
            "throttled",
            "i note",
        ] {
            assert!(!texts(word).is_empty(), "{word}");
        }
        assert!(texts("zebra").is_empty());
    }

    #[test]
    fn each_other_name_stands_for_a_word() {
        for (printed, id) in ALIASES {
            assert_eq!(normal(printed), *printed);
            assert!(!texts(id).is_empty(), "{printed}: {id}");
        }
        for (id, ..) in WORDS {
            assert_eq!(normal(id), *id);
        }
    }
}
