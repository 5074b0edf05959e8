//! `disk_operations`: more operations per second than the disks or their provider allow.

use proofmark_model::Severity;

use super::{Examination, Outcome, Rule};
use crate::figure::Order;
use crate::{Figure, Metric, Sheet};

/// Tolerance of a provider's limit: it is enforced over a second or more, and not exactly.
const LIMIT_TOLERANCE: f64 = 1.05;

pub(super) const RULE: Rule = Rule {
    id: "disk_operations",
    title: "more operations than the disk allows",
    about: "A disk does at most disk_limit_operations_per_s: what its provider allows, or for \
            rotating disks their number times the operations of each. If random operations exceed \
            it by more than 5 %, a cache served them, and the figure is invalid. A random \
            throughput is converted to operations by its block. Operations whose order is not \
            stated are only suspect, since a device merges neighbours. Sequential operations are \
            not judged.",
    advice: "Measure with direct I/O, for longer than a burst allowance lasts, or declare the \
             limit that held while it ran.",
    needs: "disk_limit_operations_per_s; for throughputs the block",
    examination: Examination::Compare(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Outcome> {
    let rate = operations(figure)?;
    let Some(limit) = sheet.machine().disk_limit_operations_per_s else {
        return Some(Outcome::Missing("no disk_limit_operations_per_s is declared"));
    };
    let found = (rate > limit * LIMIT_TOLERANCE).then(|| {
        let (severity, but) = match figure.is_random() {
            true => (Severity::Invalid, ""),
            false => (Severity::Suspect, "; sequential operations can be merged"),
        };
        let message =
            format!("{rate:.0} operations per second exceed the disk's limit, {limit:.0}{but}");
        let finding = RULE.finding(severity, message);
        finding.with("operations_per_s", rate).with("limit_operations_per_s", limit)
    });
    Some(Outcome::new(found, None))
}

/// Returns the figure's reads and writes per second, if the device does one for each operation.
fn operations(figure: &Figure) -> Option<f64> {
    let level = figure.level().filter(|_| figure.subsystem.info().uses_block_devices)?;
    let moves = ["read", "write", "rw"].iter().any(|word| figure.operation.contains(word));
    match figure.metric {
        Metric::Rate if moves && figure.order != Order::Sequential => Some(level),
        Metric::Throughput if moves && figure.is_random() => Some(level / figure.block? as f64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{INVALID, SUSPECT, judges};

    #[test]
    fn more_operations_than_the_disks_do_are_a_cache() {
        let twelve = "disk_link_bytes_per_s = 7.2e9\ndisk_limit_operations_per_s = 2400\n";
        let expected = [
            ("disk randread rate 2500 block=4096 threads=8", None),
            ("disk randread rate 2600 block=4096 threads=8", INVALID),
            ("disk randrw rate 2600 block=4096", INVALID),
            ("disk rand_write throughput 12e6 block=4096", INVALID),
            ("disk rand_write throughput 9e6 block=4096", None),
            ("disk rand_write throughput 12e6", None),
            // The order may be sequential, and the device may merge operations.
            ("disk read rate 2600 block=4096", SUSPECT),
            ("disk seq_read rate 90000 block=4096", None),
            // fio's manual calls its read sequential.
            ("disk read rate 90000 block=4096 tool=fio", None),
            ("disk read-rnd4k rate 90000 block=4096", INVALID),
            ("disk read throughput 9e8 block=4096", None),
            // Neither reads and writes of a device, nor a rate.
            ("disk stat rate 90000", None),
            ("disk randread rate 2600 block=4096 trial=sd", None),
            ("disk randread latency 1e-4 block=4096", None),
            ("memory randread rate 2600", None),
        ];
        judges(&RULE, twelve, &expected);
        judges(&RULE, "", &expected.map(|(row, _)| (row, None)));
    }
}
