//! Another tool's output: which checks have nothing to look at in it, and what to do about what the
//! others find where nobody can set proofmark's parameters.

use proofmark_model::Finding;

/// Checks of what no output of a tool holds: `imported` says so once, of all of them. How long a
/// trial lasted many tools do not report.
const NOT_ASKED: &[&str] = &[
    "direct_refused",
    "no_device_witness",
    "no_interface_witness",
    "not_a_disk",
    "shared_device",
    "short_trial",
    "unwatched",
    "unwritten_data",
];

/// What to do about the other findings, by check.
const ADVICE: &[(&str, &str)] = &[
    (
        "above_ceiling",
        "check the unit and how many threads ran, and whether the output is of this machine",
    ),
    ("compressible_data", "repeat it with random data (fio: --refill_buffers)"),
    ("contradiction", "use the original file, or repeat the test"),
    (
        "in_cache",
        "repeat it with arrays of 4 times the last-level cache at least (STREAM: compile it with \
         -DSTREAM_ARRAY_SIZE=ELEMENTS)",
    ),
    (
        "not_durable",
        "repeat it with direct I/O and a flush in the timed part that covers all writes (fio: \
         --direct=1 and --end_fsync=1; IOzone: -I -e; sysbench: --file-extra-flags=direct)",
    ),
    ("one_machine", "to measure a network, run the tool's server on another machine"),
    (
        "page_cache",
        "repeat it with direct I/O (fio: --direct=1; IOzone: -I; sysbench: \
         --file-extra-flags=direct), or with a file larger than the memory",
    ),
    ("random_faster", "repeat both in turn, with direct I/O or a file larger than the memory"),
    (
        "residual",
        "do not use this result; repeat it, and if it fails only on this machine, test its memory \
         and its cores",
    ),
    ("short_transfer", "repeat it for a longer time (iperf3: -t)"),
    (
        "small_file",
        "repeat it with a file larger than the memory, or with direct I/O (fio: --direct=1; \
         IOzone: -I; sysbench: --file-extra-flags=direct)",
    ),
    (
        "udp_loss",
        "repeat it at a rate that arrives (iperf3: -b), or with a larger socket buffer (-w)",
    ),
];

/// What is to be done about what has no row.
const REPEAT: &str = "repeat the test with the tool, or measure it with proofmark";

/// Whether a check has something to look at in another tool's output.
pub(crate) fn is_asked(check: &str) -> bool {
    !NOT_ASKED.contains(&check)
}

/// The finding with advice for somebody who has another tool.
pub(crate) fn advised(finding: Finding) -> Finding {
    let advice = ADVICE.iter().find(|(id, _)| finding.check == *id).map_or(REPEAT, |(_, to)| to);
    Finding { advice: advice.to_owned(), ..finding }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks;

    #[test]
    fn a_row_is_of_a_check() {
        for id in NOT_ASKED.iter().chain(ADVICE.iter().map(|(id, _)| id)) {
            assert!(checks::find(id).is_some(), "{id}");
        }
    }
}
