//! Tests of CPU time that others took.

use proofmark_model::{CpuQuota, FigureKind, Host, Probe};

use super::*;
use crate::testing::*;

/// The same result with the median as its headline, as for complete solves.
fn median_of(m: Measurement) -> Measurement {
    headed(m, FigureKind::Typical, 0.001)
}

#[test]
fn stolen_time_is_suspect() {
    let stolen =
        |value: fn(usize) -> Option<f64>| each_condition(flops(1), |i, c| c.steal_s = value(i));
    let mut few = stolen(|i| Some(if i == 2 { 0.05 } else { 0.0 }));
    few.trials.truncate(3);
    STEAL.expect([
        ("all trials", stolen(|_| Some(0.003)), SUSPECT),
        ("in two trials", stolen(|i| Some(if i % 5 == 0 { 0.01 } else { 0.0 })), SUSPECT),
        ("one of few", few, SUSPECT),
        ("in ticks", stolen(|i| Some(if i % 4 == 0 { 0.01 } else { 0.0 })), SUSPECT),
        // Each trial is in all work over all time.
        ("one trial", stolen(|i| Some(if i == 2 { 0.05 } else { 0.0 })), SUSPECT),
        (
            "one trial, of a median",
            median_of(stolen(|i| Some(if i == 2 { 0.05 } else { 0.0 }))),
            NOTE,
        ),
        ("little", stolen(|_| Some(0.0005)), SILENT),
        ("one tick of short solves", short_solves(0.01), SILENT),
        ("three ticks of them", short_solves(0.03), SUSPECT),
        ("not reported", stolen(|_| None), SILENT),
    ]);
}

/// Complete solves of 4 ms, the first with so much stolen time.
fn short_solves(stolen_s: f64) -> Measurement {
    let mut m = each(linpack(1000, 2), |i, t| {
        (t.seconds, t.work) = (0.004, t.value * 0.004);
        t.conditions.steal_s = Some(if i == 0 { stolen_s } else { 0.0 });
    });
    m.trials.truncate(3);
    m
}

#[test]
fn a_quota_that_was_reached_is_named() {
    let held_for =
        |held: fn(usize) -> f64| each_condition(flops(1), |i, c| c.throttled_s = Some(held(i)));
    let h = with_quota(host(), 0.5);
    THROTTLED.on(&h, &[]).expect([("reached", held_for(|_| 0.05), suspect("0.5 CPUs"))]);
    let h = with_quota(host(), 1.5);
    THROTTLED.on(&h, &[]).expect([("never reached", flops(1), SILENT)]);
    // None was set when the run began: it is above the container, or was set since.
    let mut visible = host();
    visible.limits.cpu_quota = Probe::known(CpuQuota::default(), "test");
    let reached = || held_for(|_| 0.05);
    let since = suspect("^a CPU quota that was set during the run throttled");
    THROTTLED.on(&visible, &[]).expect([("set since", reached(), since)]);
    visible.limits.cgroups_to_top = false;
    let above = suspect("^a CPU quota outside of this container throttled");
    THROTTLED.on(&visible, &[]).expect([("above", reached(), above)]);
    let once = held_for(|i| if i == 0 { 0.02 } else { 0.0 });
    THROTTLED.expect([("one hold", once.clone(), SUSPECT), ("of a median", median_of(once), NOTE)]);
}

/// In five periods the figure is that under the quota; in less, the quota may have rested before.
#[test]
fn a_figure_under_a_known_quota_is_that_under_the_limit() {
    let solve = |seconds: f64| {
        each(at_rate(linpack(5000, 2), 0.55 * 128e9), move |_, t| {
            (t.seconds, t.work) = (seconds, t.value * seconds);
            t.conditions.throttled_s = Some(0.8 * seconds);
        })
    };
    let limited = with_quota(host(), 1.2);
    THROTTLED.on(&limited, &[]).expect([
        (
            "long",
            solve(0.8),
            note("^a CPU quota of 1.2 CPUs throttled the process for 40.0 % ... under the quota$"),
        ),
        ("short", solve(0.3), SUSPECT),
    ]);
    let judged = judged(&limited, solve(0.8), &[]);
    assert!(judged.verdict.is_undoubted(), "{:?}", judged.findings);
    expect_bottleneck(&limited, solve(0.8), &[], "^CPU quota$ a CPU quota of 1.2 CPUs");
}

fn taking(m: Measurement, seconds: f64) -> Measurement {
    each_condition(m, |_, c| c.other_cpu_s = Some(seconds))
}

#[test]
fn a_competitor_is_suspect_and_housekeeping_is_not() {
    let one = each_condition(flops(1), |i, c| {
        c.other_cpu_s = Some(if i == 5 { 0.06 } else { 0.0 });
    });
    OTHER_CPU.expect([
        ("a busy neighbour", taking(flops(1), 0.05), suspect("competing process")),
        ("housekeeping", taking(flops(1), 0.0005), SILENT),
        ("one trial", one.clone(), SUSPECT),
        ("one trial, of a median", median_of(one), NOTE),
        // Eight threads on two CPUs, 0.2 CPU-seconds a trial: a coarse account.
        ("threads that take turns", taking(flops(8), 0.03), SILENT),
        ("more than turns", taking(flops(8), 0.07), SUSPECT),
        // 1300 I/Os in a trial of 0.1 s.
        ("to be woken by a device", taking(rand_read(1), 0.003), SILENT),
        ("more than that", taking(rand_read(1), 0.015), NOTE),
        ("a fifth, which costs more than a quarter", taking(rand_read(1), 0.02), SUSPECT),
        ("of writes a tenth", taking(disk("rand_write", 4096, "none"), 0.017), SUSPECT),
        ("of writes less", taking(disk("rand_write", 4096, "none"), 0.008), NOTE),
        ("more than the tolerance", taking(rand_read(1), 0.06), SUSPECT),
        ("10 000 I/Os", taking(rand_read(32), 0.06), SUSPECT),
        ("threads that carry the I/O", taking(fsync(8), 0.19), SILENT),
    ]);
    let mut h = host();
    (h.limits.usable_cpus, h.limits.usable_cores) = ((0..64).collect(), 64);
    let m = taking(flops(64), 0.05);
    OTHER_CPU.on(&h, &[]).expect([("half of one CPU of 64, 0.8 % of their time", m, SUSPECT)]);
    let broken = each(rand_read(1), |_, t| t.seconds = f64::NAN);
    assert!(broken.trials.iter().all(|t| {
        others(&Capacity::derive(&host(), &broken).unwrap(), &broken, t).unwrap() >= 0.0
    }));
}

#[test]
fn writes_while_no_cpu_is_free_are_suspect_although_their_thread_waits_little() {
    // Trials of 0.1 s on two CPUs, of which the thread itself uses 5 %.
    let busy = |m: Measurement, share: f64| {
        each(m, |_, t| {
            let own = 0.1 * t.seconds;
            let c = &mut t.conditions;
            (c.other_cpu_s, c.own_cpu_s) = (Some(0.0), Some(own));
            c.busy_cpu_s = Some(own + share * (2.0 * t.seconds - own));
        })
    };
    OTHER_CPU.expect([
        ("no CPU is free", busy(fsync(1), 0.97), suspect("kept all CPUs busy (97")),
        ("some are", busy(fsync(1), 0.7), SILENT),
        ("other writes", busy(disk("rand_write", 4096, "none"), 0.97), suspect("kept all CPUs")),
        ("no writes", busy(rand_read(1), 0.97), SILENT),
        ("its own threads", busy(fsync(8), 0.97), SILENT),
    ]);
    let mut more = host();
    more.cpu.logical_cpus = Probe::known(64, "test");
    OTHER_CPU.on(&more, &[]).expect([("others are free", busy(fsync(1), 0.97), SILENT)]);
}

#[test]
fn the_other_end_of_a_loopback_is_no_competitor() {
    let busy = |s: f64| each_network(tcp(1, "loopback"), |n| n.client.busy_s = Some(s));
    let waiting = |streams: u64, here: f64, there: Option<f64>| {
        each_network(tcp(streams, "loopback"), |n| {
            (n.client.waiting_s, n.server.waiting_s) = (Some(here), there);
        })
    };
    OTHER_CPU.expect([
        // Both ends use 0.03 of the 0.2 CPU-seconds of a trial each.
        ("the other end", taking(tcp(1, "loopback"), 0.06), SILENT),
        ("hardly any", busy(0.06 + 0.009), SILENT),
        ("a tenth, which costs a fifth", busy(0.06 + 0.02), NOTE),
        ("15 %, which cost a third", busy(0.06 + 0.03), SUSPECT),
        // Each end waits for an eighth of 0.1 s.
        ("an end that waits", waiting(1, 0.0125, Some(0.0125)), SUSPECT),
        ("an end of which nothing is known", waiting(1, 0.0125, None), SUSPECT),
        ("one that waits and one that does not", waiting(1, 0.0125, Some(0.0)), NOTE),
        ("ends that wait for each other", waiting(4, 0.0125, Some(0.0125)), SILENT),
        ("a peer", taking(tcp(1, "peer"), 0.06), SUSPECT),
        ("the kernel's own threads", taking(tcp(1, "peer"), 0.02), SILENT),
    ]);
    let on = |change: fn(&mut Host), expected| {
        let mut host = host_with_network("loopback");
        change(&mut host);
        OTHER_CPU.on(&host, &[]).expect([("busy", busy(0.2), expected)]);
    };
    on(|h| h.limits.usable_cpus = vec![0], SILENT); // Busy elsewhere.
    on(|h| h.cpu.logical_cpus = Probe::known(64, "test"), SUSPECT); // On the run's own CPUs.
}

#[test]
fn a_quota_that_cannot_be_read_is_not_called_a_process() {
    let mut host = host();
    let busy = each_condition(flops(1), |_, c| {
        (c.other_cpu_s, c.throttled_s) = (Some(0.05), None);
    });
    let text = |host: &Host| found_on(host, &OTHER_CPU, busy.clone(), &[]).unwrap().message;
    assert!(text(&host).starts_with("a competing process took"));
    host.limits.cgroups_to_top = false;
    assert!(text(&host).starts_with("competing processes or a CPU quota took"));
}

#[test]
fn the_time_taken_is_at_most_all_there_is() {
    let busy = each_network(udp(1, "loopback"), |n| n.client.busy_s = Some(1.0));
    let finding = found_on(&host_with_network("loopback"), &OTHER_CPU, busy, &[]).unwrap();
    let share = finding.evidence["share"].as_f64().unwrap();
    assert!((0.9..=1.0).contains(&share), "0.2 CPU-seconds a trial: {share}");
    // Recorded: one loop ran while the ends counted, and they waited for lost datagrams.
    let beside = each_network(udp(1, "loopback"), |n| {
        (n.client.counted_s, n.client.busy_s) = (Some(0.25), Some(0.06 + 0.25));
    });
    let waiting = each_network(beside.clone(), |n| n.client.waiting_s = Some(0.4));
    for (m, most) in [(beside, 0.5), (waiting, 0.88)] {
        let finding = found_on(&host_with_network("loopback"), &OTHER_CPU, m, &[]).unwrap();
        let share = finding.evidence["share"].as_f64().unwrap();
        assert!((share - most).abs() < 1e-9, "{share}");
    }
}
