//! Each cause is planted, and silent where its plant is missing.

use proofmark_model::{Host, Parameter, ParameterKind, Ratio, Severity, Verdict};

use super::*;
use crate::references;
use crate::testing::{
    around, beside, dgemm, disk, each, flops, host, host_with_caches, host_with_disk,
    host_with_network, judged, latency, linpack, stream, sweep, tcp, with_values,
};

/// What is found of a measurement beside one tool with so many times our values, after both were
/// changed.
fn found(h: &Host, m: Measurement, factor: f64, spoil: impl Fn(&mut Reference)) -> Option<Finding> {
    let mut m = m;
    let mut r = beside(&m, factor);
    spoil(&mut r);
    m.references = vec![r];
    let m = judged(h, m, &[]);
    m.findings.into_iter().find(|f| f.check == CHECK.id)
}

/// The causes and the message of a disagreement.
fn told(h: &Host, m: Measurement, factor: f64, spoil: impl Fn(&mut Reference)) -> (String, String) {
    let f = found(h, m, factor, spoil).expect("they disagree");
    assert_eq!(f.severity, Severity::Note);
    assert!(!f.advice.is_empty(), "{f:?}");
    (f.evidence["tool: causes"].as_str().unwrap().to_owned(), f.message)
}

fn param(
    name: &'static str,
    value: impl Into<proofmark_model::Param> + Clone,
) -> impl Fn(&mut Reference) {
    move |r| r.params = r.params.clone().with(name, value.clone())
}

/// Every trial of the tool, changed.
fn trials(r: &mut Reference, spoil: impl Fn(&mut proofmark_model::Trial)) {
    r.evidence.iter_mut().for_each(spoil);
}

/// So much less, or more, work in as much less, or more, time.
fn shorter(r: &mut Reference, by: f64) {
    trials(r, |t| (t.seconds, t.work) = (t.seconds / by, t.work / by));
}

#[test]
fn who_agrees_is_silent() {
    assert!(found(&host(), flops(1), 1.0, |_| {}).is_none());
    assert!(found(&host(), flops(1), 1.04, |_| {}).is_none(), "a few per cent");
    assert!(found(&host(), flops(1), 0.9, |_| {}).is_some());
    let unsure = |r: &mut Reference| r.ratio.ci95 = Some([0.9, 1.4]);
    assert!(found(&host(), flops(1), 0.9, unsure).is_none(), "the interval holds 1");
    assert!(found(&host(), flops(1), 1.0, |r| r.ratio.median = f64::NAN).is_none());
    assert!(judged(&host(), flops(1), &[]).findings.is_empty());
}

#[test]
fn without_an_interval_the_scatter_decides() {
    let few = |factor: f64, scatter: f64| {
        let mut m = with_values(flops(1), &[0.99 * 63e9, 63e9, 1.01 * 63e9]);
        let mut r = beside(&m, factor);
        r.trials = vec![r.value * (1.0 - scatter), r.value, r.value * (1.0 + scatter)];
        r.ratio = Ratio { median: 1.0 / factor, ci95: None };
        m.references = vec![r];
        disagreement(&m, &m.references[0]).is_some()
    };
    assert!(few(0.9, 0.01), "10 % apart, 4 % of scatter");
    assert!(!few(0.9, 0.06), "10 % apart, 13 % of scatter");
    let mut one = flops(1);
    let mut r = beside(&one, 0.5);
    (r.ratio.ci95, r.trials) = (None, vec![r.value]);
    one.references = vec![r];
    assert!(disagreement(&one, &one.references[0]).is_none(), "one trial tells no scatter");
}

#[test]
fn the_finding_says_how_much_and_changes_no_verdict() {
    let mut m = flops(1);
    let mut other = beside(&m, 0.5);
    other.tool = "slow".to_owned();
    m.references = vec![beside(&m, 0.8), beside(&m, 1.0), other];
    let m = judged(&host(), m, &[]);
    assert_eq!((m.verdict, m.findings.len()), (Verdict::Valid, 1));
    let f = &m.findings[0];
    assert_eq!(f.evidence["tool: ratio"], 1.25);
    assert_eq!(f.evidence["slow: causes"], "none");
    assert_eq!(
        f.message,
        "proofmark's result is 1.25 times that of tool (1.24 to 1.26): no recorded fact explains it \
         (it counts as ours); proofmark's result is 2.00 times that of slow (1.98 to 2.02): no \
         recorded fact explains it (it counts as ours)"
    );
    assert_eq!(f.advice, ADVICE);
}

#[test]
fn a_page_cache_on_one_side() {
    let h = host_with_disk();
    let ours = || disk("seq_read", 1 << 20, "none");
    let cached = |t: &mut proofmark_model::Trial| {
        let device = t.device.as_mut().unwrap();
        (device.read_bytes, device.own_read_bytes) = (0, Some(0));
    };
    let (causes, message) = told(&h, ours(), 8.0, |r| trials(r, cached));
    assert_eq!(causes, "page_cache");
    assert!(message.contains("the tool used the page cache: of 953.7 MiB"), "{message}");
    assert!(message.ends_with("the page cache served the rest"), "{message}");
    let we = each(ours(), |_, t| cached(t));
    let clean = beside(&ours(), 0.2).evidence;
    let (causes, message) = told(&h, we.clone(), 0.2, |r| r.evidence = clean.clone());
    assert_eq!(causes, "page_cache");
    assert!(message.contains("proofmark used the page cache, but the tool did not"), "{message}");
    assert_eq!(told(&h, we, 0.2, |_| {}).0, "none", "both did");
    assert_eq!(told(&h, ours(), 8.0, |_| {}).0, "none");
    let writes = |cache| disk("seq_write", 1 << 20, cache);
    let unflushed = |t: &mut proofmark_model::Trial| {
        t.file.as_mut().unwrap().flush = proofmark_model::Flush::Never;
    };
    for cache in ["cold", "warm"] {
        let (causes, _) = told(&h, writes(cache), 3.0, |r| trials(r, unflushed));
        assert_eq!(causes, "page_cache", "{cache}: nobody means to leave writes in it");
    }
}

#[test]
fn beside_a_warm_point_the_page_cache_is_no_difference() {
    let of = |cache: &str| {
        let spoil = |r: &mut Reference| {
            trials(r, |t| {
                let device = t.device.as_mut().unwrap();
                (device.read_bytes, device.own_read_bytes) = (0, Some(0));
                t.file.as_mut().unwrap().cached = None;
            });
            r.params = r.params.clone().with("queue_depth", 4);
        };
        let mut m = disk("rand_read", 4096, cache);
        m.references = vec![beside(&m, 3.0)];
        spoil(&mut m.references[0]);
        let m = judged(&host_with_disk(), m, &[]);
        assert_eq!(m.references[0].findings[0].check, "page_cache", "{cache}: its own stays");
        let f = m.findings.into_iter().find(|f| f.check == CHECK.id).unwrap();
        f.evidence["tool: causes"].as_str().unwrap().to_owned()
    };
    assert_eq!([of("warm"), of("cold")], ["params", "page_cache"]);
}

#[test]
fn arrays_that_fit_the_cache() {
    let h = host_with_caches();
    let (causes, message) = told(&h, stream("read", 1), 3.0, param("array_size", 16_u64 << 20));
    assert_eq!(causes, "in_cache");
    assert!(
        message.ends_with(
            "the tool's array of 16 MiB fits into 32 MiB of last-level cache, but proofmark's of 1 GiB does not"
        ),
        "{message}"
    );
    let large = told(&h, stream("read", 1), 3.0, param("array_size", 2_u64 << 30)).0;
    assert_ne!(large, "in_cache");
    let (causes, message) = told(&h, stream("read", 1), 2.0, param("array_size", 64_u64 << 20));
    assert_eq!(causes, "in_cache");
    assert!(message.contains("much of the tool's array of 64 MiB may come"), "{message}");
    assert_eq!(told(&h, stream("read", 1), 0.5, param("array_size", 16_u64 << 20)).0, "params");
    assert_eq!(told(&h, stream("read", 1), 3.0, |_| {}).0, "none");
    let mut small = stream("read", 1);
    small.params = small.params.with("array_size", 16_u64 << 20);
    assert_eq!(told(&h, small, 0.4, param("array_size", 1_u64 << 30)).0, "in_cache", "ours does");
    // Less is better.
    let fast = told(&h, latency(1 << 30, 1e-7), 0.2, param("working_set", 1_u64 << 20)).0;
    assert_eq!(fast, "in_cache");
}

#[test]
fn bytes_that_move_and_are_not_counted() {
    let h = host_with_caches();
    let temporal = param("stores", "temporal");
    for (op, predicted) in [("triad", 4.0 / 3.0), ("copy", 1.5), ("write", 2.0)] {
        let (causes, message) = told(&h, stream(op, 1), 1.0 / predicted, &temporal);
        assert_eq!(causes, "write_allocate", "{op}");
        let words =
            format!("alone gives a ratio of {}, which explains the ratio", times(predicted));
        assert!(message.ends_with(&words), "{message}");
    }
    let (causes, message) = told(&h, stream("triad", 1), 0.5, &temporal);
    assert_eq!(causes, "write_allocate");
    let rest = "which leaves a factor of 1.50; no recorded fact explains the rest";
    assert!(message.ends_with(rest), "{message}");
    let declared = |r: &mut Reference| trials(r, |t| t.moved = Some(t.work * 4.0 / 3.0));
    assert_eq!(told(&h, stream("triad", 1), 0.75, declared).0, "write_allocate");
    assert_eq!(told(&h, stream("triad", 1), 0.75, |_| {}).0, "none", "its stores are not told");
    let same = param("stores", "nontemporal");
    assert_eq!(told(&h, stream("triad", 1), 0.75, &same).0, "none");
    assert_eq!(told(&h, stream("triad", 1), 1.4, &same).0, "none");
    assert_eq!(told(&h, stream("triad", 1), 1.4, &temporal).0, "params", "the other way");
    assert_eq!(told(&h, stream("read", 1), 0.75, &temporal).0, "none", "it stores nothing");
}

#[test]
fn what_stores_move_does_not_end_the_search() {
    let spoil = |r: &mut Reference| {
        r.params = r.params.clone().with("stores", "temporal").with("threads", 1);
        shorter(r, 10.0);
    };
    let mut m = stream("triad", 2);
    m.params = m.params.with("pages", "huge");
    let (causes, message) = told(&host_with_caches(), m, 0.5, spoil);
    assert_eq!(causes, "write_allocate, params, duration");
    assert!(
        message.contains("the tool ran with threads 1 (proofmark: 2); the tool's trials"),
        "{message}"
    );
    assert!(!message.contains("the rest"), "the threads may be all of it: {message}");
}

/// At 40 GB/s a thread, with as many bytes moved as counted.
fn fast(m: Measurement) -> Measurement {
    let threads = m.params.threads();
    each(crate::testing::at_rate(m, 4e10 * threads as f64), |_, t| t.moved = Some(t.work))
}

/// A fast sweep within the first cache.
fn in_l1(op: &str, threads: u64) -> Measurement {
    fast(sweep(op, threads, 16 << 10))
}

#[test]
fn code_without_optimisation() {
    let h = host_with_caches();
    let (causes, message) = told(&h, in_l1("read", 1), 0.2, |_| {});
    assert_eq!(causes, "unoptimised");
    let words = "at proofmark's clock a thread of the tool does at most 2.00 bytes per clock cycle, \
                 like code built without optimisation; no recorded fact explains the rest";
    assert!(message.ends_with(words), "{message}");
    assert_eq!(told(&h, in_l1("read", 2), 0.2, param("threads", 2)).0, "unoptimised");
    assert_eq!(told(&h, in_l1("read", 1), 0.5, |_| {}).0, "none", "not several times");
    assert_eq!(told(&h, in_l1("read", 1), 5.0, |_| {}).0, "none", "it is faster");
    let faster = crate::testing::at_rate(in_l1("read", 1), 4e11);
    assert_eq!(
        told(&h, each(faster, |_, t| t.moved = Some(t.work)), 0.2, |_| {}).0,
        "none",
        "20 B a cycle are optimised"
    );
    let unclocked = each(in_l1("read", 1), |_, t| t.conditions.clock_hz = None);
    assert_eq!(told(&h, unclocked, 0.2, |_| {}).0, "none");
    let wasteful = each(in_l1("read", 1), |_, t| t.moved = Some(64.0 * t.work));
    assert_eq!(told(&h, wasteful, 0.2, |_| {}).0, "unoptimised");
    // A line that is written may move twice: 4.4 times of what is counted is 2.9 of that.
    assert_eq!(told(&h, in_l1("copy", 1), 1.0 / 4.4, |_| {}).0, "none");
    assert_eq!(told(&h, in_l1("copy", 1), 1.0 / 4.6, |_| {}).0, "unoptimised");
}

#[test]
fn code_that_something_else_holds_is_not_called_unoptimised() {
    let h = host_with_caches();
    let one = |spoil: &dyn Fn(&mut Reference)| told(&h, in_l1("read", 1), 0.2, spoil).0;
    assert_eq!(one(&param("isa", "scalar")), "params");
    assert_eq!(one(&param("word", 4)), "none", "it says that its loop is narrow");
    assert_eq!(one(&param("pages", "small")), "params");
    assert_eq!(one(&|r| trials(r, |t| t.conditions.steal_s = Some(0.1 * t.seconds))), "disturbed");
    let two = || in_l1("read", 2);
    assert_eq!(told(&h, two(), 0.2, |_| {}).0, "none", "it may have had one thread");
    assert_eq!(told(&h, two(), 0.2, param("threads", 1)).0, "params");
    let mut scalar = in_l1("read", 1);
    scalar.params = scalar.params.with("isa", "scalar");
    assert_eq!(told(&h, scalar.clone(), 0.2, |_| {}).0, "unoptimised");
    assert_eq!(told(&h, scalar, 0.2, param("isa", "scalar")).0, "none", "as ours");
    assert_eq!(told(&h, fast(stream("read", 1)), 0.2, |_| {}).0, "none", "memory may hold it");
    let of_set = |set: u64| told(&h, fast(sweep("read", 2, set)), 0.2, param("threads", 2)).0;
    assert_eq!([of_set(2 << 20), of_set(3 << 20)], ["unoptimised", "none"]);
    assert_eq!(one(&param("working_set", 3_u64 << 20)), "params", "its own lies further out");
    assert_eq!(told(&host(), in_l1("read", 1), 0.2, |_| {}).0, "none", "no cache is known");
}

#[test]
fn dense_matrices_without_optimisation() {
    let (causes, message) = told(&host(), linpack(5000, 1), 0.05, |_| {});
    assert_eq!(causes, "unoptimised");
    assert!(message.contains("at most 0.720 operations per clock cycle, like code"), "{message}");
    assert_eq!(told(&host(), linpack(5000, 1), 0.1, |_| {}).0, "none", "1.4 a cycle");
    for (n, causes) in [(1999, "none"), (2000, "unoptimised")] {
        assert_eq!(told(&host(), linpack(n, 1), 0.05, |_| {}).0, causes, "{n}");
        assert_eq!(told(&host(), dgemm(n, 1), 0.05, |_| {}).0, causes, "{n}");
    }
}

#[test]
fn what_sockets_buffers_hold() {
    let h = host_with_network("loopback");
    // 20 Gbit/s for 0.1 s.
    let brief = |r: &mut Reference| shorter(r, 2000.0);
    let (causes, message) = told(&h, tcp(1, "loopback"), 1.5, brief);
    assert_eq!(causes, "socket_buffers");
    let words = "the tool sent 183.1 KiB per connection in 50.00 us, and socket buffers alone can hold \
                 244.1 KiB: much of its rate may be that of a memory copy";
    assert!(message.ends_with(words), "{message}");
    assert_eq!(told(&h, tcp(1, "loopback"), 0.7, brief).0, "duration", "it is slower");
    assert_eq!(told(&h, tcp(1, "loopback"), 1.5, |_| {}).0, "none");
    let with_window = |by: f64| {
        move |r: &mut Reference| {
            r.params = r.params.clone().with("window", 2_500_000_u64);
            shorter(r, by);
        }
    };
    // 375 MB by 40 and by 20; four fills are 10 MB.
    assert_eq!(told(&h, tcp(1, "loopback"), 1.5, with_window(40.0)).0, "socket_buffers");
    assert_eq!(told(&h, tcp(1, "loopback"), 1.5, with_window(20.0)).0, "duration");
    let slow = |r: &mut Reference| {
        shorter(r, 2000.0);
        trials(r, |t| t.seconds = 1.0);
    };
    assert_ne!(told(&h, tcp(1, "loopback"), 1.5, slow).0, "socket_buffers", "a slow way");
    let both = each(tcp(1, "loopback"), |_, t| {
        (t.seconds, t.work) = (t.seconds / 2000.0, t.work / 2000.0);
    });
    assert_ne!(told(&h, both, 1.5, |_| {}).0, "socket_buffers", "ours as well");
}

#[test]
fn parameters_that_the_tool_had_otherwise() {
    let h = host_with_disk();
    let ours = || disk("rand_read", 4096, "none");
    let with = |r: &mut Reference| {
        let amount = 1_u64 << 20;
        r.params =
            r.params.clone().with("queue_depth", 4).with("engine", "libaio").with("NTIMES", 3);
        r.params = r.params.clone().with("amount", amount).with("block_size", 4096);
    };
    let (causes, message) = told(&h, ours(), 1.3, with);
    assert_eq!(causes, "params");
    assert!(
        message.ends_with(
            "the tool ran with engine libaio (proofmark: psync), queue_depth 4 (proofmark: 1)"
        ),
        "{message}"
    );
    assert_eq!(told(&h, ours(), 1.3, param("block_size", 4096)).0, "none");
}

#[test]
fn sizes_are_told_as_sizes() {
    let mut m = disk("rand_read", 4096, "none");
    m.references = vec![beside(&m, 2.0)];
    m.references[0].params = proofmark_model::Params::default().with("block_size", 8192);
    let (h, policy) = (host_with_disk(), crate::testing::policy());
    let kind = ParameterKind::Size { min: 1, max: 1 << 30 };
    let parameter =
        Parameter { name: "block_size".into(), about: "".into(), kind, default: "4KiB".into() };
    let spec = proofmark_model::WorkloadSpec {
        parameters: vec![parameter].into(),
        ..crate::testing::spec("disk.rand_read")
    };
    let m = crate::testing::judged_in(&crate::testing::context(&h, &spec, &policy, &[]), m);
    let message = &m.findings[0].message;
    assert!(
        message.ends_with("the tool ran with block_size 8 KiB (proofmark: 4 KiB)"),
        "{message}"
    );
}

#[test]
fn the_slower_side_was_disturbed() {
    let stolen = |t: &mut proofmark_model::Trial| t.conditions.steal_s = Some(0.1 * t.seconds);
    let (causes, message) = told(&host(), flops(1), 0.8, |r| trials(r, stolen));
    assert_eq!(causes, "disturbed");
    assert!(
        message.contains("the tool's trials were disturbed: the hypervisor took 10.0 %"),
        "{message}"
    );
    let we = each(flops(1), |_, t| stolen(t));
    let (causes, message) = told(&host(), we, 1.2, |r| trials(r, |t| t.conditions.steal_s = None));
    assert_eq!(causes, "disturbed");
    assert!(message.contains("proofmark's trials were disturbed"), "{message}");
    let shared = || each(flops(1), |_, t| t.conditions.other_cpu_s = Some(0.1 * t.seconds));
    let (causes, message) = told(&host(), shared(), 0.8, |_| {});
    assert_eq!(causes, "disturbed");
    assert!(
        message.contains("which alternated with the tool's unobserved ones, were disturbed"),
        "{message}"
    );
    let quiet = |r: &mut Reference| trials(r, |t| t.conditions.other_cpu_s = Some(0.0));
    assert_eq!(told(&host(), shared(), 0.8, quiet).0, "none", "the tool was not");
    let faster = told(&host(), iops_with(1.2), 1.1, |r| trials(r, stolen)).0;
    assert_eq!(faster, "none", "it was faster");
}

/// A measurement below its ceiling, so that a faster tool is not above it.
fn iops_with(by: f64) -> Measurement {
    let m = crate::testing::iops(1);
    let median = m.summary.as_ref().unwrap().median;
    crate::testing::at_rate(m, median / by)
}

#[test]
fn trials_that_are_far_shorter_or_longer() {
    let (causes, message) = told(&host(), flops(1), 0.8, |r| shorter(r, 10.0));
    assert_eq!(causes, "duration");
    assert!(
        message.ends_with("the tool's trials last 10.00 ms, proofmark's 100.0 ms"),
        "{message}"
    );
    assert_eq!(told(&host(), flops(1), 0.8, |r| shorter(r, 0.1)).0, "duration");
    assert_eq!(told(&host(), flops(1), 0.8, |r| shorter(r, 3.0)).0, "none");
    let m = linpack(5000, 1);
    let same_work = |r: &mut Reference| {
        trials(r, |t| (t.seconds, t.work) = (t.seconds / 0.1, t.work / 0.1));
    };
    assert_eq!(told(&host(), m, 0.1, same_work).0, "none", "the same work takes longer");
    let faster = told(&host(), iops_with(10.0), 8.0, |r| shorter(r, 8.0)).0;
    assert_eq!(faster, "none", "or shorter");
}

#[test]
fn both_are_judged_by_the_same_stand_in() {
    let m = flops(1);
    let theirs = references::as_measurement(&m, &beside(&m, 1.0));
    assert_eq!((theirs.workload, theirs.params, theirs.unit), (m.workload, m.params, m.unit));
    assert_eq!(around(1.0).len(), theirs.trials.len());
}
