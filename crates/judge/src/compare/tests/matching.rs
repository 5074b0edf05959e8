//! Tests of the results that are compared with each other, and of their names.

use proofmark_model::{key, word};

use super::*;

#[test]
fn points_of_one_run_only_are_listed_after_the_others() {
    let (mut a, mut b) = (run(vec![flops(1), flops(2)]), run(vec![flops(4), flops(1)]));
    let reasons_of = |a: &Run, b: &Run| -> Vec<String> {
        compared(a, b).points.iter().map(|p| format!("{}: {}", p.name, p.reason)).collect()
    };
    let reasons_now = reasons_of(&a, &b);
    assert_eq!(reasons_now[1..], ["2 CPUs: only in A", "4 threads: only in B"]);
    assert!(compared(&a, &b).points[1].fails() && !compared(&a, &b).points[2].fails());
    b.plan.points.push(a.plan.points[1].clone());
    b.interrupted = Some("SIGINT".into());
    assert!(reasons_of(&a, &b)[1].contains("B was stopped by SIGINT before it"));
    // The same configuration twice has two results.
    a.measurements = vec![flops(1), flops(1), flops(1)];
    b.measurements = vec![flops(1), flops(1)];
    let reasons = reasons_of(&a, &b);
    assert_eq!(reasons.len(), 3);
    assert!(reasons[2].contains("only in A"), "{reasons:?}");
}

#[test]
fn sizes_that_the_machine_set_may_differ_and_threads_may_not() {
    let sized = |size: u64| run(vec![with_param(stream("triad", 1), "array_size", size)]);
    let (a, b) = (sized(1 << 29), sized(1 << 30));
    let c = compared(&a, &b);
    assert_eq!(outcomes(&c), [NoDifferenceShown]);
    let reason = "set by the machines: array size 512 MiB in A, 1 GiB in B";
    assert!(c.points[0].reason.contains(reason), "{}", c.points[0].reason);
    // With several candidates none is matched.
    let mut two = b.clone();
    two.measurements.extend(sized(1 << 31).measurements);
    assert_eq!(outcomes(&compared(&a, &two)), [NotComparable; 3]);
    // A size by which the workload's results differ was requested.
    let mut axis = a.clone();
    axis.workloads.get_mut("memory.triad").unwrap().axis = Some("array_size".into());
    assert_eq!(outcomes(&compared(&axis, &b)).len(), 2);
}

#[test]
fn a_result_is_named_by_its_distinguishing_parameters_and_its_io_path() {
    let c = compared(&healthy(), &healthy());
    let name = |workload: &str| &c.points.iter().find(|p| p.workload == workload).unwrap().name;
    assert_eq!(name("cpu.flops"), "1 CPU", "all have one type and one instruction set");
    assert_eq!(name("disk.rand_read"), "4 KiB, depth 1", "direct is the rule");
    let mut cached = healthy();
    for m in &mut cached.measurements {
        m.params = if m.workload == "disk.rand_read" {
            m.params.clone().with(key::DIRECT, word::OFF).with(key::CACHE, "warm")
        } else {
            m.params.clone()
        };
    }
    let c = compared(&cached, &cached);
    let cached = &c.points.iter().find(|p| p.workload == "disk.rand_read").unwrap().name;
    assert!(cached.contains("buffered, warm cache"), "no cache passes for a disk: {cached}");
    assert!(name("network.tcp.stream").starts_with("loopback"), "{}", name("network.tcp.stream"));
}

#[test]
fn what_neither_run_measured_is_no_result() {
    let missing = |m: Measurement| Measurement { trials: Vec::new(), summary: None, ..m };
    let a =
        run(vec![flops(1), missing(iops(1)), missing(stream("triad", 1)), missing(rand_read(1))]);
    let b = run(vec![flops(1), missing(iops(1)), rand_read(1), missing(tcp(1, "loopback"))]);
    let c = compared(&a, &b);
    let names: Vec<&str> = c.points.iter().map(|p| p.workload.as_str()).collect();
    assert_eq!(names, ["cpu.flops", "disk.rand_read"]);
    let sums = |s: Subsystem| c.subsystems.iter().find(|one| one.subsystem == s);
    assert_eq!(sums(Subsystem::Cpu).unwrap().not_comparable, 0);
    assert_eq!(sums(Subsystem::Disk).unwrap().not_comparable, 1);
    assert_eq!((sums(Subsystem::Memory), sums(Subsystem::Network)), (None, None));
}
