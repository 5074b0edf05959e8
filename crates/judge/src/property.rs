//! Whatever a run file holds, judging it neither panics nor prints what is no number.

use proofmark_model::{
    Datagrams, DeviceTraffic, EndTraffic, Ending, FileState, Flush, Host, IoLimit, Latency, Link,
    Measurement, NetworkTraffic, Order, Params, Probe, Ratio, Reference, Solution, StorageKind,
    TcpState, Trial, Unit,
};
use proptest::prelude::*;

use crate::testing::*;

prop_compose! {
    fn any_device()(
        bytes in any::<[u64; 4]>(), own in proptest::option::of(any::<u64>()),
        flushes in proptest::option::of(any::<u64>()), busy_s in wild(), in_flight_s in wild(),
    ) -> DeviceTraffic {
        DeviceTraffic {
            read_bytes: bytes[0],
            written_bytes: bytes[1],
            reads: bytes[2],
            writes: bytes[3],
            flushes,
            busy_s,
            in_flight_s,
            own_read_bytes: own,
            own_written_bytes: own,
        }
    }
}

prop_compose! {
    fn any_file()(
        bytes in any::<[u64; 3]>(), direct in any::<Option<bool>>(),
        order in prop_oneof![Just(Order::Seq), Just(Order::Rand)],
        flush in prop_oneof![Just(Flush::Never), Just(Flush::End), Just(Flush::Each)],
        a in proptest::option::of(wild()), b in proptest::option::of(wild()),
    ) -> FileState {
        FileState {
            asked_read_bytes: bytes[0],
            asked_written_bytes: bytes[1],
            order,
            flush,
            direct,
            size_bytes: bytes[2],
            unwritten: a,
            cached: b,
            entropy_bits: a,
        }
    }
}

prop_compose! {
    fn any_end()(
        n in proptest::option::of(any::<u64>()), other in proptest::option::of(any::<u64>()),
        a in proptest::option::of(wild()), b in proptest::option::of(wild()),
    ) -> EndTraffic {
        EndTraffic {
            in_bytes: n,
            out_bytes: other,
            in_packets: other,
            out_packets: n,
            dropped: n,
            retransmits: other,
            in_datagrams: n,
            out_datagrams: n,
            full_buffers: other,
            cpu_dropped: n,
            own_cpu_s: a,
            busy_s: b,
            cpus: n,
        }
    }
}

prop_compose! {
    fn any_traffic()(
        bytes in any::<[u64; 2]>(), counts in any::<[u64; 3]>(), as_datagrams in any::<bool>(),
        streams in 0..3_usize, rtt_s in wild(), client in any_end().boxed(),
        server in any_end().boxed(),
    ) -> NetworkTraffic {
        let state = TcpState {
            retransmits: counts[0],
            window_bytes: counts[1],
            rtt_s,
            segment_bytes: counts[2],
        };
        let datagrams = Datagrams {
            sent: counts[0],
            received: counts[1],
            reordered: Some(counts[2]),
            duplicated: None,
            jitter_s: Some(rtt_s),
        };
        NetworkTraffic {
            sent_bytes: bytes[0],
            received_bytes: bytes[1],
            datagrams: as_datagrams.then_some(datagrams),
            streams: vec![state; streams],
            ways_s: as_datagrams.then_some([rtt_s, 1.0]),
            client,
            server,
        }
    }
}

prop_compose! {
    /// A machine with a disk of any kind, limited and linked in any way.
    fn any_host()(
        quota in proptest::option::of(wild()), rate in wild(), declared in wild(),
        kind in 0..5_usize, volatile in any::<Option<bool>>(), linked in any::<bool>(),
        loopback in any::<bool>(), mtu in any::<u64>(),
    ) -> Host {
        let mut h = with_storage(|s| {
            s.kind = [
                StorageKind::Block,
                StorageKind::Memory,
                StorageKind::Network,
                StorageKind::Layered,
                StorageKind::Unknown,
            ][kind];
            s.devices[0].volatile_cache = volatile;
            let link = Link {
                name: "PCIe 8.0 GT/s x4".to_owned(),
                bytes_per_s: rate,
                source: String::new(),
            };
            s.devices[0].link = linked.then_some(link);
        });
        let cpus = proofmark_model::CpuQuota { cpus: quota };
        h.limits.cpu_quota = Probe::known(cpus, "");
        h.memory.total_bytes = Probe::known(8 << 30, "");
        h.limits.declared.insert("disk.read_iops".to_owned(), declared);
        h.limits.declared.insert("network.send".to_owned(), declared);
        h.network = with_network(if loopback { "loopback" } else { "peer" }, |n| {
            set_interface(n, |i| (i.mtu, i.bits_per_s) = (mtu, Some(rate)));
            n.copy_bytes_per_s = n.copy_bytes_per_s.map(|_| rate);
        })
        .network;
        h.limits.io = Probe::known(
            vec![IoLimit {
                device: "254:0".to_owned(),
                read_bytes_per_s: Some(rate),
                write_bytes_per_s: None,
                reads_per_s: None,
                writes_per_s: Some(declared),
                source: String::new(),
            }],
            "",
        );
        h
    }
}

prop_compose! {
    fn any_trial()(
        v in wild(), s in wild(), w in wild(), clock in proptest::option::of(wild()),
        a in proptest::option::of(wild()), b in proptest::option::of(wild()),
        n in proptest::option::of(any::<u64>()),
        device in proptest::option::of(any_device()), file in proptest::option::of(any_file()),
        network in proptest::option::of(any_traffic().boxed()),
        residual in proptest::option::of(wild()),
    ) -> Trial {
        let mut t = trial(v, s);
        t.work = w;
        t.conditions.clock_hz = clock;
        t.conditions.clock_spread = a;
        t.conditions.clock_disagreement = b;
        t.conditions.steal_s = a;
        t.conditions.throttled_s = b;
        t.conditions.other_cpu_s = a;
        t.conditions.own_cpu_s = b;
        t.conditions.involuntary_switches = n;
        t.conditions.migrations = n;
        t.conditions.minor_faults = n;
        t.conditions.major_faults = n;
        t.conditions.swapped_pages = n;
        t.conditions.huge_pages = a;
        t.conditions.misplaced_pages = b;
        t.moved = a;
        t.device = device;
        t.file = file;
        t.network = network;
        // What is not finite is no solution.
        t.solution = residual.filter(|r| r.is_finite()).map(|normalised_residual| Solution {
            n: n.unwrap_or(0),
            leading_dimension: 8,
            alignment: 64,
            residual: v,
            normalised_residual,
        });
        t
    }
}

/// A tool that reports anything about how it ran.
fn any_tool(m: &Measurement, set: u64, threads: u64, wild: [f64; 3]) -> Reference {
    let [value, low, high] = wild;
    let mut r = beside(m, 1.0);
    (r.value, r.ratio) = (value, Ratio { median: low, ci95: Some([low, high]) });
    for (name, value) in [("array_size", set), ("threads", threads), ("window", set)] {
        r.params = r.params.with(name, value);
    }
    r.params = r.params.with("stores", "temporal");
    r
}

fn no_nan(m: &Measurement) -> Result<(), TestCaseError> {
    if let Some(e) = m.efficiency {
        prop_assert!(e.is_finite());
    }
    if let Some(c) = &m.ceiling {
        prop_assert!(c.value.is_finite() && c.value > 0.0 && c.uncertainty.is_finite());
        prop_assert!(c.inputs.iter().all(|i| i.value.is_finite()));
    }
    let mut words = m.bottleneck.as_ref().map_or(String::new(), |l| l.evidence.clone());
    for r in &m.references {
        prop_assert!(r.efficiency.is_none_or(f64::is_finite));
    }
    let theirs = m.references.iter().flat_map(|r| &r.findings);
    for f in m.findings.iter().chain(theirs) {
        words.push_str(&f.message);
        for (name, value) in &f.evidence {
            prop_assert!(!value.is_null(), "{}: {name} is null", f.check);
        }
    }
    prop_assert!(!words.contains("NaN") && !words.contains("inf "), "{words}");
    Ok(())
}

proptest! {
    #[test]
    fn no_trials_panic_or_yield_nan(
        trials in proptest::collection::vec(any_trial().boxed(), 0..14),
        median in wild(), low in wild(), high in wild(),
        set in prop_oneof![Just(0_u64), Just(1), Just(1 << 20), any::<u64>()],
        threads in prop_oneof![Just(0_u64), Just(1), Just(2), Just(8), any::<u64>()],
        kind in 0..18_usize,
        budget in any::<bool>(),
        consistent in any::<bool>(),
        h in any_host(),
    ) {
        let mut m = match kind {
            0 => flops(threads),
            1 => iops(threads),
            2 => mix(true, "arith17", "scalar"),
            3 => clock(median),
            4 => stream("triad", threads),
            5 => sweep("copy", threads, set),
            6 => blocks("rand_write", set),
            7 => latency(set, median),
            8 => rand_read(set),
            9 => disk("mixed", set, "none"),
            10 => disk("seq_write", set, "cold"),
            11 => disk("seq_read", set, "warm"),
            12 => tcp(threads, "loopback"),
            13 => tcp(threads, "peer"),
            14 => udp(threads, "peer"),
            15 => round_trips("udp", "block"),
            16 => linpack(set, threads),
            _ => fsync(threads),
        };
        m.trials = trials;
        if budget {
            m.ending = Ending::Budget;
        }
        if consistent {
            for t in &mut m.trials {
                t.work = match m.unit {
                    Unit::Second => t.seconds / t.value,
                    _ => t.value * t.seconds,
                };
            }
        }
        if let Some(s) = m.summary.as_mut() {
            s.median = median;
            s.ci95 = Some([low, high]);
        }
        if let Some(latency) = m.latency.as_mut() {
            *latency = Latency { mean: low, ..latency.clone() };
        }
        let mut plain = any_tool(&m, set, threads, [median, low, high]);
        plain.params = Params::default();
        m.references = vec![plain, any_tool(&m, set, threads, [median, high, low])];
        m.references[1].evidence.reverse();
        let mut other = m.clone();
        other.params = other.params.with("threads", 1);
        let others = [other, flops(1), linpack(5000, threads), latency(1 << 30, low), latency(set, high), rand_read(32)];
        let once = judged(&h, m, &others);
        no_nan(&once)?;
        let twice = judged(&h, once.clone(), &others);
        // NaN in the trials is not equal to itself: compare what was concluded.
        prop_assert_eq!(once.findings, twice.findings);
        prop_assert_eq!(once.ceiling, twice.ceiling);
        prop_assert_eq!(once.efficiency, twice.efficiency);
        prop_assert_eq!(once.missing, twice.missing);
        for (once, twice) in once.references.iter().zip(&twice.references) {
            prop_assert_eq!(&once.findings, &twice.findings);
            prop_assert_eq!((once.efficiency, once.verdict), (twice.efficiency, twice.verdict));
        }
    }
}
