//! Tests of causes: a cause is named only if its size can explain the difference.

use proofmark_model::{Bottleneck, Ceiling, CpuQuota, QuotaTrial, ceiling_id, check_id};

use super::*;

/// The result at a limit of that ceiling, of which it reached a share.
fn limited(m: Measurement, id: &str, resource: &str, efficiency: f64) -> Measurement {
    let value = m.summary.as_ref().unwrap().value() / efficiency;
    let evidence = format!("{:.1} % of the ceiling", 100.0 * efficiency);
    let ceiling = Ceiling {
        id: id.to_owned(),
        value,
        unit: m.unit.as_str().to_owned(),
        formula: String::new(),
        inputs: Vec::new(),
        uncertainty: 0.0,
    };
    let bottleneck = Some(Bottleneck::new(resource, evidence));
    Measurement { ceiling: Some(ceiling), bottleneck, efficiency: Some(efficiency), ..m }
}

/// A note on other users of the disk, who moved `share` bytes per byte of the load.
fn shared(m: Measurement, share: f64) -> Measurement {
    found(m, check_id::SHARED_DEVICE, Severity::Note, share)
}

#[test]
fn a_limit_that_one_side_reached_is_the_cause_and_little_else_is() {
    let slow = || shared(scaled(rand_read(32), 0.18), 0.1);
    let at_limit = |share| limited(slow(), ceiling_id::DISK_LIMIT, "cgroup I/O limit", share);
    let cause = "^in B the limit is cgroup I/O limit: 99.0 % of the ceiling$";
    expect(rand_read(32), at_limit(0.99), Slower, cause);
    // In the reverse order A had it.
    expect(at_limit(0.99), rand_read(32), Faster, "^in A the limit is cgroup I/O limit");
    // Far below a limit, or with the other side within it too, it is none.
    let too_small = "^no finding explains a difference of that size; smaller: in B shared_device";
    expect(rand_read(32), at_limit(0.6), Slower, too_small);
    let above = |efficiency| limited(rand_read(32), ceiling_id::DISK_LIMIT, "x", efficiency);
    expect(above(0.99), at_limit(0.99), Slower, cause);
    let declared =
        limited(scaled(tcp(1, "peer"), 0.3), ceiling_id::NETWORK_LIMIT, "declared limit", 1.0);
    expect(tcp(1, "peer"), declared, Slower, "^in B the limit is declared limit");
    // A peak of the cores is no limit that someone set.
    let peak = limited(at(0.5), ceiling_id::CPU_PEAK, "execution ports", 0.99);
    expect(at(1.0), peak, Slower, "^no finding and no fact");
}

/// The result at 99 % of what a quota of so many CPUs leaves of its four threads' peak.
fn under_quota(factor: f64, cpus: f64) -> Measurement {
    let m = limited(scaled(flops(4), factor), ceiling_id::CPU_PEAK, "CPU quota", 0.99);
    each(m, |_, t| {
        let quota = CpuQuota { cpus: Some(cpus), ..CpuQuota::default() };
        t.quota = Some(QuotaTrial { before: quota, after: quota, cpus: 4.0, ..Default::default() });
    })
}

#[test]
fn a_quota_is_the_cause_only_of_what_its_size_takes() {
    let cause = "^in B the limit is CPU quota";
    expect(flops(4), under_quota(0.5, 2.0), Slower, cause);
    expect(under_quota(1.0, 4.0), under_quota(0.5, 2.0), Slower, cause);
    // The better side had as much, or less: its machine is faster, and the quota no cause.
    for (of_a, of_b) in [(2.0, 2.0), (2.0, 3.0), (2.0, 1.9)] {
        let none = "^no finding and no fact about the machines";
        expect(under_quota(1.0, of_a), under_quota(0.5, of_b), Slower, none);
    }
    // A quota of more CPUs than there are threads takes nothing.
    let none = "^no finding and no fact about the machines";
    expect(flops(4), under_quota(0.5, 8.0), Slower, none);
}

#[test]
fn a_lower_clock_counts_once() {
    let lower = |factor: f64, hz: f64| {
        let m = each_condition(at(factor), |_, c| c.clock_hz = Some(hz));
        suspect(m, check_id::CLOCK_DROP, 0.25)
    };
    let dropped = |mut m: Measurement| {
        let f = m.findings.pop().unwrap();
        m.findings.push(f.with("drop", 0.25));
        m
    };
    // A quarter of the clock explains a third of that difference, and not two.
    let small = "^no finding explains a difference of that size; smaller: in B the cores ran at \
                 3.00 GHz, in A at 4.00 GHz; differences";
    expect(at(1.0), dropped(lower(0.4, 3e9)), Slower, small);
    let named = "^in B the cores ran at 3.00 GHz, in A at 4.00 GHz$";
    expect(at(1.0), dropped(lower(0.75, 3e9)), Slower, named);
    // A clock that fell to that of the other run explains nothing.
    expect(at(1.0), dropped(lower(0.75, 4e9)), Slower, "^no finding and no fact");
    // Without both clocks the finding counts.
    let unknown = each_condition(dropped(lower(0.75, 3e9)), |_, c| c.clock_hz = None);
    expect(at(1.0), unknown, Slower, "^in B clock_drop took 25 %$");
}

#[test]
fn a_cause_of_unknown_size_is_possible_and_yields_to_one_that_explains() {
    let swapped = |m| suspect(m, "swap", 0.01);
    let possible = "^in B swap took 1 % (a possible cause: its effect is not known)$";
    expect(at(1.0), swapped(at(0.3)), Slower, possible);
    let clocked = |m| each_condition(m, |_, c| c.clock_hz = Some(3e9));
    let clock = "^in B the cores ran at 3.00 GHz, in A at 4.00 GHz$";
    expect(at(1.0), swapped(clocked(at(0.75))), Slower, clock);
    // The clock explains a part: both are named.
    let both = "^in B the cores ran at 3.00 GHz, in A at 4.00 GHz; in B swap took 1 % (a possible";
    expect(at(1.0), swapped(clocked(at(0.5))), Slower, both);
}

#[test]
fn a_share_of_all_threads_is_at_most_the_time_of_one() {
    // A complete problem on 8 threads waits for its slowest.
    let whole = |factor| scaled(linpack(500, 8), factor);
    let stolen = |factor, share| suspect(whole(factor), check_id::STEAL, share);
    // A tenth of 8 threads may be 80 % of one.
    expect(whole(1.0), stolen(0.3, 0.1), Slower, "^in B steal took 10 %$");
    // More than one thread's time: at least the average was lost, and how much more is unknown.
    expect(whole(1.0), stolen(0.4, 0.6), Slower, "^in B steal took 60 %$");
    let possible = "^in B steal took 60 % (a possible cause: its effect is not known)$";
    expect(whole(1.0), stolen(0.01, 0.6), Slower, possible);
    // A quota stops all threads alike.
    let throttled = |factor| {
        let mut m = suspect(whole(factor), check_id::THROTTLED, 0.5);
        let f = m.findings.pop().unwrap();
        m.findings.push(f.with("quota_cpus", 4.0));
        m
    };
    expect(whole(1.0), throttled(0.5), Slower, "^in B throttled took 50 %$");
    expect(whole(1.0), throttled(0.1), Slower, "^no finding explains a difference of that size");
}

/// Recorded: a loop took 39.7 % of the CPU time from the two ends, which wait for each other.
#[test]
fn taken_time_costs_what_the_check_says() {
    let took = |m, factor, share| suspect(scaled(m, factor), check_id::OTHER_CPU, share);
    let polled = || round_trips("tcp", "poll");
    expect(polled(), took(polled(), 0.288, 0.397), Slower, "^in B other_cpu took 40 %$");
    // The threads of a loop that no other waits for lose the share alone.
    let small = "^no finding explains a difference of that size; smaller: in B other_cpu";
    expect(at(1.0), took(at(1.0), 0.288, 0.397), Slower, small);
}

#[test]
fn a_cause_explains_no_more_than_its_size() {
    let clocked = |m: Measurement, hz: f64| each_condition(m, |_, c| c.clock_hz = Some(hz));
    let lower = |factor: f64, hz: f64| clocked(scaled(stream("triad", 1), factor), hz);
    let usual = || clocked(stream("triad", 1), 4e9);
    let small = "^no finding explains a difference of that size; smaller: in B the cores ran at";
    for (factor, hz, names) in
        [(0.7, 3.8e9, false), (0.56, 3.9e9, false), (0.75, 3.3e9, true), (0.5, 2e9, true)]
    {
        let words = if names { "^in B the cores ran at" } else { small };
        expect(usual(), lower(factor, hz), Slower, words);
        // A time grows by as much.
        let time = |m: Measurement, factor, hz| clocked(scaled(m, factor), hz);
        let [short, long] = [(1.0, 4e9), (1.0 / factor, hz)]
            .map(|(factor, hz)| time(latency(1 << 20, 5e-9), factor, hz));
        expect(short, long, Slower, words);
    }
    for (check, share, factor, names) in [
        (check_id::STEAL, 0.08, 0.5, false),
        (check_id::STEAL, 0.3, 0.6, true),
        (check_id::OTHER_CPU, 0.1, 0.5, false),
        (check_id::THROTTLED, 0.1, 0.3, false),
    ] {
        let b = found(at(factor), check, Severity::Suspect, share);
        let words = format!("{}in B {check} took", if names { "^" } else { "; smaller: " });
        expect(at(1.0), b, Slower, &words);
    }
}

#[test]
fn causes_that_explain_a_difference_together_are_named_together() {
    let both = |steal: f64| {
        let clocked = each_condition(at(0.6), |_, c| c.clock_hz = Some(3e9));
        found(clocked, check_id::STEAL, Severity::Suspect, steal)
    };
    expect(at(1.0), both(0.2), Slower, "^in B steal took 20 %; in B the cores ran at");
    expect(at(1.0), both(0.04), Slower, "^in B the cores ran at 3.00 GHz, in A at 4.00 GHz$");
}

#[test]
fn others_on_a_device_explain_what_their_share_of_it_can() {
    let slow = |factor, share| shared(scaled(rand_read(1), factor), share);
    expect(rand_read(1), slow(0.2, 0.05), Slower, "^no finding explains a difference of that size");
    // Others moved ten times as much as the load.
    expect(rand_read(1), slow(0.2, 10.0), Slower, "^in B shared_device took");
    // Few I/Os in flight, but most bytes.
    let most = || {
        let mut most = slow(0.2, 0.1);
        let f = most.findings.pop().unwrap();
        most.findings.push(f.with("share_of_bytes", 0.8));
        most
    };
    expect(rand_read(1), most(), Slower, "^in B shared_device took");
    // Those in A had more I/Os in flight, and cost 7 % there.
    let mut cheap = shared(rand_read(1), 0.7);
    let f = cheap.findings.pop().unwrap();
    cheap.findings.push(f.with("loss", 0.07));
    expect(cheap, most(), Slower, "^in B shared_device took");
}

#[test]
fn an_unexplained_difference_is_reported_with_the_facts_that_differ() {
    expect(at(1.0), at(0.7), Slower, "no finding and no fact");
    let mut b = run(vec![at(0.7)]);
    b.host.os.kernel = Probe::known("Linux 7.1".into(), "uname");
    let c = compared(&run(vec![flops(1)]), &b);
    assert!(c.points[0].reason.contains("kernel unknown in A, Linux 7.1 in B"), "{c:?}");
    let clocked = each_condition(at(0.7), |_, c| c.clock_hz = Some(2.8e9));
    expect(at(1.0), clocked, Slower, "in B the cores ran at 2.80 GHz, in A at 4.00 GHz");
    expect(suspect(at(1.0), "in_cache", 0.2), at(0.7), Slower, "A itself is suspect: in_cache");
}

#[test]
fn a_cause_on_both_sides_explains_nothing_unless_one_has_far_more() {
    let stolen = |factor, share| suspect(at(factor), "steal", share);
    expect(stolen(1.0, 0.05), stolen(0.7, 0.06), Slower, "no finding");
    expect(stolen(1.0, 0.05), stolen(0.7, 0.3), Slower, "in B steal took 30 %");
    // A finding that trials differ is no cause if there is another.
    let fell = suspect(at(0.7), "falling_rate", 0.3);
    let possible = "^in B falling_rate took 30 % (a possible cause: its effect is not known)$";
    expect(at(1.0), fell.clone(), Slower, possible);
    expect(at(1.0), suspect(fell.clone(), "steal", 0.3), Slower, "^in B steal took 30 %$");
    // The evidence counts, not its severity in either run.
    let noted = |m, check| found(m, check, Severity::Note, 0.3);
    expect(at(1.0), noted(fell, "steal"), Slower, "^in B steal took 30 %$");
    let lower = suspect(at(0.7), "clock_drop", 0.3);
    expect(noted(at(1.0), "clock_drop"), lower, Slower, "^no finding");
}

/// Two runs of one result, the second at `factor` times its rate, with the placements of its rounds
/// by share.
fn placed(factor: f64, [of_a, of_b]: [&[(&str, f64, f64)]; 2], kind: &str) -> ComparedPoint {
    let of = |factor, states: &[(&str, f64, f64)]| {
        let mut m = scaled(stream("triad", 2), factor);
        let placement = |(name, ns, share): &(&str, f64, f64)| CpuPlacement {
            name: (*name).to_owned(),
            round_trip_s: (*ns > 0.0).then_some(1e-9 * ns),
            share: *share,
            ..CpuPlacement::default()
        };
        m.cpu_placements = states.iter().map(placement).collect();
        let mut run = run(vec![m]);
        run.host.os.virtualisation = Probe::known(kind.to_owned(), "cpuid");
        // That of the whole run is another one, and counts for no result.
        run.cpu_placements =
            vec![placement(&("moved", 0.0, if factor == 1.0 { 1.0 } else { 0.1 }))];
        run
    };
    compared(&of(1.0, of_a), &of(factor, of_b)).points[0].clone()
}

#[test]
fn another_placement_of_its_own_rounds_is_a_possible_cause() {
    let near: &[(&str, f64, f64)] = &[("near (72 ns)", 72.0, 0.9), ("unknown", 0.0, 0.1)];
    let far: &[(&str, f64, f64)] = &[("two cores (340 ns)", 340.0, 0.8), ("unknown", 0.0, 0.2)];
    let p = placed(1.76, [near, far], "kvm");
    let says = "vCPU placement near (72 ns) in A, two cores (340 ns) in B, chosen by the hypervisor: it \
                may be another next time (a possible cause: its effect is not known)";
    assert_eq!((p.outcome(), &*p.reason), (Faster, says));
    let siblings: &[(&str, f64, f64)] = &[("SMT siblings", 0.0, 1.0)];
    let p = placed(0.5, [near, siblings], "kvm");
    assert!(p.reason.starts_with("vCPU placement SMT siblings in B, near (72 ns) in A"), "{p:?}");
    // Real machines are not placed anew.
    let p = placed(1.76, [near, far], "none");
    let says = "vCPU placement near (72 ns) in A, two cores (340 ns) in B (a possible cause: its \
                effect is not known)";
    assert_eq!(p.reason, says);
    // Alike, for less than half of the time, or not known, it is none.
    let alike: &[(&str, f64, f64)] = &[("two cores (84 ns)", 84.0, 1.0)];
    let rare: &[(&str, f64, f64)] = &[("unknown", 0.0, 0.6), ("far (340 ns)", 340.0, 0.4)];
    for other in [alike, rare, &[]] {
        let p = placed(1.76, [near, other], "kvm");
        assert!(!p.reason.contains("vCPU") && p.reason.starts_with("no finding"), "{p:?}");
    }
}

#[test]
fn other_cpus_of_the_same_guest_are_no_choice_of_the_hypervisor() {
    let on = |machine: &str, factor, name: &str, ns: f64, cpus: [u32; 2]| {
        let mut m = super::sentence::undisturbed(factor, [0.9; 2]);
        let round_trip_s = Some(1e-9 * ns);
        let one =
            CpuPlacement { name: name.to_owned(), round_trip_s, share: 1.0, ..Default::default() };
        m.cpu_placements = vec![one];
        let pair = CpuPairSeen { cpus, ..CpuPairSeen::default() };
        let mut run = run(vec![each(m, |_, t| t.pairs = vec![pair])]);
        run.host.os.virtualisation = Probe::known("kvm".to_owned(), "cpuid");
        run.host.os.host_name = Probe::known(machine.to_owned(), "hostname");
        run
    };
    let near = || on("web-3", 1.0, "near (72 ns)", 72.0, [0, 1]);
    let reason = |cpus| {
        let b = on("web-3", 1.5, "far (310 ns)", 310.0, cpus);
        compared(&near(), &b).points[0].reason.clone()
    };
    let same = reason([1, 0]);
    assert!(same.contains("chosen by the hypervisor") && !same.contains("the machine"), "{same}");
    let other = reason([0, 2]);
    assert!(!other.contains("chosen by the hypervisor"), "{other}");
    let says = "near (72 ns) in A, far (310 ns) in B, on other CPUs: 0-1 in A, 0,2 in B";
    assert!(other.contains(says) && !other.contains("the machine"), "{other}");
    // Of two machines the numbers of CPUs say nothing, nor where one has no name.
    let elsewhere = |change: fn(&mut Run)| {
        let mut b = on("web-3", 1.5, "far (310 ns)", 310.0, [0, 2]);
        change(&mut b);
        let reason = compared(&near(), &b).points[0].reason.clone();
        let by_hypervisor = reason.contains("chosen by the hypervisor");
        assert!(by_hypervisor && !reason.contains("on other CPUs"), "{reason}");
    };
    elsewhere(|b| b.host.os.host_name = Probe::known("web-4".to_owned(), "hostname"));
    elsewhere(|b| b.host.os.host_name = Probe::missing("left out (--anonymous)"));
    elsewhere(|b| b.host.cpu.model_name = Probe::known("another".to_owned(), "cpuinfo"));
}

#[test]
fn a_difference_by_placement_is_not_put_down_to_the_machine() {
    let of = |factor, name: &str, ns: f64| {
        let mut m = super::sentence::undisturbed(factor, [0.9; 2]);
        let round_trip_s = Some(1e-9 * ns);
        let one =
            CpuPlacement { name: name.to_owned(), round_trip_s, share: 1.0, ..Default::default() };
        m.cpu_placements = vec![one];
        let mut run = run(vec![m]);
        run.host.os.virtualisation = Probe::known("kvm".to_owned(), "cpuid");
        run
    };
    let reason = |b: Run| compared(&of(1.0, "near (72 ns)", 72.0), &b).points[0].reason.clone();
    let same = reason(of(1.5, "near (75 ns)", 75.0));
    assert!(same.starts_with("attainable is 50.0 % higher (the machine), and delivered"), "{same}");
    let moved = reason(of(1.5, "far (340 ns)", 340.0));
    let says = "attainable is 50.0 % higher, and delivered with it: vCPU placement near";
    assert!(moved.starts_with(says), "{moved}");
}
