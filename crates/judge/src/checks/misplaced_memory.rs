//! `misplaced_memory`: the memory is on another NUMA node than it should.

use proofmark_model::{Finding, Measurement, Severity};

use super::{Check, Class, percent};
use crate::Context;
use crate::statistics::typical;

/// A remote line takes up to twice as long, so that a share of 1 % moves the number
/// by 1 %, half of the target of the interval.
const THRESHOLD: f64 = 0.01;

pub(super) static CHECK: Check = Check {
    id: "misplaced_memory",
    class: Class::Disturbance,
    title: "Memory on another NUMA node",
    about: "Compares the node of the workload's pages, as the system reports it, with the intended \
         node: that of the thread that uses them, or the node that a memory.numa workload names. \
         More than 1 % elsewhere is suspect, since a remote access takes up to twice as long. For \
         memory.numa workloads it is invalid: another node was measured. Free memory on the node, \
         and check what moves pages (NUMA balancing, a memory policy).",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let share = typical(&m.trials, |t| t.conditions.misplaced_pages).filter(|s| *s > THRESHOLD)?;
    let by_node = ctx.work(m).names_node;
    let (severity, what) = if by_node {
        (Severity::Invalid, "not on the node that the configuration names")
    } else {
        (Severity::Suspect, "on another NUMA node than the thread that uses it")
    };
    let message = format!("{} of the memory is {what}", percent(share));
    let advice = "free memory on the node, and check what moves pages: numa_balancing, numactl, the \
                  cpuset's memory nodes";
    Some(CHECK.finding(severity, message, advice).with("misplaced_share", share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn remote_pages_are_suspect_and_another_node_is_invalid() {
        let elsewhere = |workload: &str, share| {
            let m = each_condition(stream("read", 1), |_, c| c.misplaced_pages = share);
            Measurement { workload: workload.to_owned(), ..m }
        };
        CHECK.expect([
            ("remote", elsewhere("memory.read", Some(0.02)), SUSPECT),
            ("another node", elsewhere("memory.numa_read", Some(0.02)), INVALID),
            ("a page here and there", elsewhere("memory.numa_read", Some(0.005)), SILENT),
            ("not reported", elsewhere("memory.read", None), SILENT),
        ]);
    }
}
