//! Imported results: the checks that do not apply to a tool's output, and the advice for those that
//! do. proofmark's parameters do not apply either.

use proofmark_model::{Finding, check_id};

/// Checks of facts that no tool's output has; `imported` reports that once for all of them. Many
/// tools do not report the duration of a trial.
const NOT_APPLICABLE: &[&str] = &[
    check_id::DIRECT_REFUSED,
    check_id::NO_DEVICE_WITNESS,
    check_id::NO_INTERFACE_WITNESS,
    check_id::NOT_A_DISK,
    check_id::SHARED_DEVICE,
    check_id::SHORT_TRIAL,
    check_id::UNWATCHED,
    check_id::UNWRITTEN_DATA,
];

/// Advice for the other findings by check.
const ADVICE: &[(&str, &str)] = &[
    (
        check_id::ABOVE_CEILING,
        "check the unit and how many threads ran, and whether the output is of this machine",
    ),
    (check_id::COMPRESSIBLE_DATA, "repeat it with random data (fio: --refill_buffers)"),
    (check_id::CONTRADICTION, "use the original file, or repeat the test"),
    (
        check_id::IN_CACHE,
        "repeat it with arrays of 4 times the last-level cache at least (STREAM: compile it with \
         -DSTREAM_ARRAY_SIZE=ELEMENTS)",
    ),
    (
        check_id::NOT_DURABLE,
        "repeat it with direct I/O and a flush in the timed part that covers all writes (fio: \
         --direct=1 and --end_fsync=1; IOzone: -I -e; sysbench: --file-extra-flags=direct)",
    ),
    (check_id::ONE_MACHINE, "to measure a network, run the tool's server on another machine"),
    (
        check_id::PAGE_CACHE,
        "repeat it with direct I/O (fio: --direct=1; IOzone: -I; sysbench: \
         --file-extra-flags=direct), or with a file larger than the memory",
    ),
    (
        check_id::RANDOM_FASTER,
        "repeat both in turn, with direct I/O or a file larger than the memory",
    ),
    (
        check_id::RESIDUAL,
        "do not use this result; repeat it, and if it fails only on this machine, test its memory \
         and its cores",
    ),
    (check_id::SHORT_TRANSFER, "repeat it for a longer time (iperf3: -t)"),
    (
        check_id::SMALL_FILE,
        "repeat it with a file larger than the memory, or with direct I/O (fio: --direct=1; \
         IOzone: -I; sysbench: --file-extra-flags=direct)",
    ),
    (
        check_id::UDP_LOSS,
        "repeat it at a rate that arrives (iperf3: -b), or with a larger socket buffer (-w)",
    ),
];

/// Advice for findings without a row.
const REPEAT: &str = "repeat the test with the tool, or measure it with proofmark";

/// Returns true if a check applies to another tool's output.
pub(crate) fn is_applicable(check: &str) -> bool {
    !NOT_APPLICABLE.contains(&check)
}

/// The finding with advice for users of another tool.
pub(crate) fn with_tool_advice(finding: Finding) -> Finding {
    let advice = ADVICE.iter().find(|(id, _)| finding.check == *id).map_or(REPEAT, |(_, to)| to);
    Finding { advice: advice.to_owned(), ..finding }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks;

    #[test]
    fn a_row_is_of_a_check() {
        for id in NOT_APPLICABLE.iter().chain(ADVICE.iter().map(|(id, _)| id)) {
            assert!(checks::find(id).is_some(), "{id}");
        }
    }
}
