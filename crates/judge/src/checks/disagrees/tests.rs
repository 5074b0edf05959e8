//! Plants each cause, and tests that none is reported without it.

use proofmark_model::{
    Conditions, Flush, Host, Param, Probe, Ratio, Severity, Trial, Verdict, key,
};

use super::*;
use crate::testing::*;

/// The finding for a result with a changed tool of `factor` times its values.
fn found(h: &Host, mut m: Measurement, factor: f64, spoil: &Spoil) -> Option<Finding> {
    m.references = vec![tool_of(&m, factor)];
    spoil(&mut m.references[0]);
    judged(h, m, &[]).findings.into_iter().find(|f| f.check == CHECK.id)
}

type Spoil<'a> = dyn Fn(&mut Reference) + 'a;

/// Asserts that a disagreement has these causes, and its message these words.
#[track_caller]
fn expect(h: &Host, m: Measurement, factor: f64, spoil: &Spoil, causes: &str, words: &str) {
    let name = format!("{} x {factor}", m.workload);
    let f = found(h, m, factor, spoil).expect("they disagree");
    assert_eq!(f.evidence["tool: causes"], causes, "{name}: {}", f.message);
    assert!(f.severity == Severity::Note && !f.advice.is_empty(), "{f:?}");
    expect_words(&name, &f.message, &f.advice, words);
}

const SAME: &Spoil = &|_| {};

fn param(name: &'static str, value: impl Into<Param>) -> impl Fn(&mut Reference) {
    let value = value.into();
    move |r| r.params = r.params.clone().with_named(name, value.clone())
}

/// A tool with `by` times less work in `by` times less time.
fn shorter(by: f64) -> impl Fn(&mut Reference) {
    tool_trials(move |t| (t.seconds, t.work) = (t.seconds / by, t.work / by))
}

/// A trial whose reads moved no bytes of the device.
fn from_cache(t: &mut Trial) {
    let device = t.device.as_mut().unwrap();
    (device.read_bytes, device.own_read_bytes) = (0, Some(0));
}

fn stolen(t: &mut Trial) {
    t.conditions.steal_s = Some(0.1 * t.seconds);
}

#[test]
fn a_tool_that_agrees_is_silent() {
    let disagrees = |factor: f64, spoil: &Spoil| found(&host(), flops(1), factor, spoil).is_some();
    assert!(!disagrees(1.0, SAME) && !disagrees(1.04, SAME), "a few per cent");
    assert!(disagrees(0.9, SAME));
    assert!(!disagrees(0.9, &|r| r.ratio.ci95 = Some([0.9, 1.4])), "the interval holds 1");
    assert!(!disagrees(1.0, &|r| r.ratio.median = f64::NAN));
    assert!(judged(&host(), flops(1), &[]).findings.is_empty());
}

#[test]
fn a_side_whose_runs_differ_much_is_named() {
    let uneven = |r: &mut Reference| {
        let half = r.trials.len() / 3;
        r.trials[..half].iter_mut().for_each(|value| *value *= 0.5);
    };
    let says = |spoil: &Spoil| found(&host(), flops(1), 0.5, spoil).unwrap().message;
    let said = says(&uneven);
    assert!(
        said.contains("; tool's runs differ, from ") && !said.contains("trials differ"),
        "{said}"
    );
    assert!(!says(SAME).contains("differ"), "{}", says(SAME));
}

/// Half of the pairs were slow on one side: the medians have a ratio of 2, the pairs of 0.9.
#[test]
fn pairs_that_contradict_the_medians_give_no_finding() {
    let spoil = |r: &mut Reference| {
        r.ratio = Ratio { median: 0.9, ci95: Some([0.85, 0.95]) };
    };
    assert!(found(&host(), flops(1), 0.5, &spoil).is_none());
    assert!(found(&host(), flops(1), 0.5, SAME).is_some());
}

#[test]
fn without_an_interval_the_scatter_decides() {
    let few = |factor: f64, scatter: &[f64]| {
        let mut m = with_values(flops(1), &[0.99 * 63e9, 63e9, 1.01 * 63e9]);
        let mut r = tool_of(&m, factor);
        r.trials = scatter.iter().map(|s| r.value * (1.0 + s)).collect();
        r.ratio = Ratio { median: 1.0 / factor, ci95: None };
        m.references = vec![r];
        disagreement(&m.references[0]).is_some()
    };
    assert!(few(0.9, &[-0.01, 0.0, 0.01]), "10 % apart, 4 % of scatter");
    assert!(!few(0.9, &[-0.06, 0.0, 0.06]), "10 % apart, 13 % of scatter");
    assert!(!few(0.5, &[0.0]), "one trial has no scatter");
}

#[test]
fn the_finding_says_how_much_and_changes_no_verdict() {
    let mut m = flops(1);
    let other = Reference { tool: "slow".to_owned(), ..tool_of(&m, 0.5) };
    m.references = vec![tool_of(&m, 0.8), tool_of(&m, 1.0), other];
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
    let theirs = "the tool used the page cache: the device has ... of the 953.7 MiB ... cause: the page cache$";
    expect(&h, ours(), 8.0, &tool_trials(from_cache), "page_cache", theirs);
    let we = || each(ours(), |_, t| from_cache(t));
    let clean = tool_of(&ours(), 0.2).evidence;
    let only_ours = "proofmark used the page cache, but the tool did not";
    expect(&h, we(), 0.2, &|r| r.evidence = clean.clone(), "page_cache", only_ours);
    expect(&h, we(), 0.2, SAME, "none", ""); // Both did.
    expect(&h, ours(), 8.0, SAME, "none", "");
    // A cache makes nothing slower.
    expect(&h, ours(), 0.7, &tool_trials(from_cache), "none", "");
    // Writes that stay in it are never intended.
    let unflushed = tool_trials(|t| t.file.as_mut().unwrap().flush = Flush::Never);
    for cache in ["cold", "warm"] {
        let writes = disk("seq_write", 1 << 20, cache);
        expect(&h, writes, 3.0, &unflushed, "page_cache", "");
    }
}

#[test]
fn with_a_warm_point_the_page_cache_is_no_difference() {
    for (cache, causes) in [("warm", "params"), ("cold", "page_cache")] {
        let mut m = disk("rand_read", 4096, cache);
        m.references = vec![tool_of(&m, 3.0)];
        tool_trials(|t| {
            from_cache(t);
            t.file.as_mut().unwrap().cached = None;
        })(&mut m.references[0]);
        param("queue_depth", 4)(&mut m.references[0]);
        let m = judged(&host_with_disk(), m, &[]);
        assert_eq!(m.references[0].findings[0].check, "page_cache", "{cache}: its own stays");
        let f = m.findings.into_iter().find(|f| f.check == CHECK.id).unwrap();
        assert_eq!(f.evidence["tool: causes"], causes, "{cache}");
    }
}

#[test]
fn arrays_that_fit_the_cache() {
    let h = host_with_caches();
    let array = |mib: u64| param("array_size", mib << 20);
    let read = |factor, spoil: &Spoil, causes: &str, words: &str| {
        expect(&h, stream("read", 1), factor, spoil, causes, words);
    };
    let fits = "the tool's array of 16 MiB fits into 32 MiB of last-level cache, but proofmark's of \
                1 GiB does not$";
    read(3.0, &array(16), "in_cache", fits);
    read(3.0, &array(2048), "params", "");
    read(2.0, &array(64), "in_cache", "much of the tool's array of 64 MiB may come");
    read(0.5, &array(16), "params", "");
    read(3.0, SAME, "none", "");
    let small = with_param(stream("read", 1), "array_size", 16 << 20);
    expect(&h, small, 0.4, &array(1024), "in_cache", ""); // Ours does.
    // Less is better.
    let chase = latency(1 << 30, 1e-7);
    expect(&h, chase, 0.2, &param("working_set", 1 << 20), "in_cache", "");
}

#[test]
fn bytes_that_move_and_are_not_counted() {
    let h = host_with_caches();
    let explains = |op, factor, spoil: &Spoil, causes: &str, words: &str| {
        expect(&h, stream(op, 1), factor, spoil, causes, words);
    };
    let temporal = param("stores", "temporal");
    for (op, predicted) in [("triad", 4.0 / 3.0), ("copy", 1.5), ("write", 2.0)] {
        let words = format!(
            "alone gives a ratio of {}, which explains the ratio$",
            format_factor(predicted)
        );
        explains(op, 1.0 / predicted, &temporal, "write_allocate", &words);
    }
    let rest = "which leaves a factor of 1.50; no recorded fact explains the rest$";
    explains("triad", 0.5, &temporal, "write_allocate", rest);
    let declared = tool_trials(|t| t.moved = Some(t.work * 4.0 / 3.0));
    explains("triad", 0.75, &declared, "write_allocate", "");
    explains("triad", 0.75, SAME, "none", ""); // Its stores are not reported.
    let same = param("stores", "nontemporal");
    explains("triad", 0.75, &same, "none", "");
    explains("triad", 1.4, &same, "none", "");
    explains("triad", 1.4, &temporal, "params", ""); // The other way.
    explains("read", 0.75, &temporal, "none", ""); // It stores nothing.
}

#[test]
fn bytes_moved_by_stores_do_not_end_the_search() {
    let spoil = |r: &mut Reference| {
        r.params = r.params.clone().with(key::STORES, "temporal").with(key::THREADS, 1);
        shorter(10.0)(r);
    };
    let f = found(&host_with_caches(), stream("triad", 2), 0.5, &spoil).unwrap();
    assert_eq!(f.evidence["tool: causes"], "write_allocate, params, duration");
    let threads = "the tool ran with threads 1 (proofmark: 2); the tool's trials";
    assert!(f.message.contains(threads), "{}", f.message);
    assert!(!f.message.contains("the rest"), "the threads may be all of it: {}", f.message);
}

/// The result at that many bytes per second per thread, with as many bytes moved as counted.
fn moving(m: Measurement, rate: f64) -> Measurement {
    let threads = m.params.threads();
    each(at_rate(m, rate * threads as f64), |_, t| t.moved = Some(t.work))
}

/// A fast sweep within the L1 cache.
fn in_l1(op: &str, threads: u64) -> Measurement {
    moving(sweep(op, threads, 16 << 10), 4e10)
}

#[test]
fn code_without_optimisation() {
    let h = host_with_caches();
    let explains = |m, factor, causes: &str| expect(&h, m, factor, SAME, causes, "");
    let words = "at proofmark's clock a thread of the tool does at most 2.00 bytes per clock cycle, \
                 like code built without optimisation; no recorded fact explains the rest$";
    expect(&h, in_l1("read", 1), 0.2, SAME, "unoptimised", words);
    expect(&h, in_l1("read", 2), 0.2, &param("threads", 2), "unoptimised", "");
    explains(in_l1("read", 1), 0.5, "none"); // Not several times.
    explains(in_l1("read", 1), 5.0, "none"); // It is faster.
    explains(moving(in_l1("read", 1), 4e11), 0.2, "none"); // 20 B a cycle are optimised.
    explains(each_condition(in_l1("read", 1), |_, c| c.clock_hz = None), 0.2, "none");
    let wasteful = each(in_l1("read", 1), |_, t| t.moved = Some(64.0 * t.work));
    explains(wasteful, 0.2, "unoptimised");
    // A line that is written may move twice: 4.4 times of what is counted is 2.9 of that.
    explains(in_l1("copy", 1), 1.0 / 4.4, "none");
    explains(in_l1("copy", 1), 1.0 / 4.6, "unoptimised");
}

#[test]
fn code_with_another_limit_is_not_called_unoptimised() {
    let h = host_with_caches();
    let explains = |m, spoil: &Spoil, causes: &str| expect(&h, m, 0.2, spoil, causes, "");
    let one = || in_l1("read", 1);
    explains(one(), &param("isa", "scalar"), "params");
    explains(one(), &param("word", 4), "none"); // It reports that its loop is narrow.
    explains(one(), &param("pages", "small"), "params");
    explains(one(), &tool_trials(stolen), "disturbed");
    explains(in_l1("read", 2), SAME, "none"); // It may have had one thread.
    explains(in_l1("read", 2), &param("threads", 1), "params");
    let scalar = || with_param(one(), "isa", "scalar");
    explains(scalar(), SAME, "unoptimised");
    explains(scalar(), &param("isa", "scalar"), "none"); // As ours.
    explains(moving(stream("read", 1), 4e10), SAME, "none"); // Memory may limit it.
    let of_set = |set: u64| moving(sweep("read", 2, set), 4e10);
    explains(of_set(2 << 20), &param("threads", 2), "unoptimised");
    explains(of_set(3 << 20), &param("threads", 2), "none");
    explains(one(), &param("working_set", 3 << 20), "params"); // Its own is further out.
    expect(&host(), one(), 0.2, SAME, "none", ""); // No cache is known.
}

#[test]
fn dense_matrices_without_optimisation() {
    let explains = |m, by, causes: &str, words: &str| expect(&host(), m, by, SAME, causes, words);
    let words = "at most 0.720 operations per clock cycle, like code";
    explains(linpack(5000, 1), 0.05, "unoptimised", words);
    explains(linpack(5000, 1), 0.1, "none", ""); // 1.4 a cycle.
    for (n, causes) in [(1999, "none"), (2000, "unoptimised")] {
        explains(linpack(n, 1), 0.05, causes, "");
        explains(dgemm(n, 1), 0.05, causes, "");
    }
}

#[test]
fn amounts_that_socket_buffers_hold() {
    let h = host_with_network("loopback");
    let explains = |factor, spoil: &Spoil, causes: &str, words: &str| {
        expect(&h, tcp(1, "loopback"), factor, spoil, causes, words);
    };
    // 20 Gbit/s for 0.1 s.
    let brief = shorter(2000.0);
    let words = "the tool sent 183.1 KiB per connection in 50.00 us, and socket buffers alone can hold \
                 244.1 KiB: much of its rate may be that of a memory copy$";
    explains(1.5, &brief, "socket_buffers", words);
    explains(0.7, &brief, "duration", ""); // It is slower.
    explains(1.5, SAME, "none", "");
    // 375 MB by 40 and by 20; four fills are 10 MB.
    for (by, causes) in [(40.0, "socket_buffers"), (20.0, "duration")] {
        let with_window = |r: &mut Reference| {
            param("window", 2_500_000_u64)(r);
            shorter(by)(r);
        };
        explains(1.5, &with_window, causes, "");
    }
    let slow = |r: &mut Reference| {
        brief(r);
        tool_trials(|t| t.seconds = 1.0)(r);
    };
    explains(1.5, &slow, "none", ""); // A slow path.
    let both = each(tcp(1, "loopback"), |_, t| {
        (t.seconds, t.work) = (t.seconds / 2000.0, t.work / 2000.0);
    });
    expect(&h, both, 1.5, SAME, "none", ""); // Ours as well.
}

#[test]
fn parameters_that_the_tool_had_otherwise() {
    let h = host_with_disk();
    let ours = || disk("rand_read", 4096, "none");
    let with = |r: &mut Reference| {
        let params = r.params.clone().with(key::QUEUE_DEPTH, 4).with(key::ENGINE, "libaio");
        r.params =
            params.with_named("NTIMES", 3).with(key::AMOUNT, 1 << 20).with(key::BLOCK_SIZE, 4096);
    };
    let words = "the tool ran with engine libaio (proofmark: psync), queue_depth 4 (proofmark: 1)$";
    expect(&h, ours(), 1.3, &with, "params", words);
    expect(&h, ours(), 1.3, &param("block_size", 4096), "none", "");
    let size = "the tool ran with block_size 8 KiB (proofmark: 4 KiB)$";
    expect(&h, ours(), 2.0, &param("block_size", 8192), "params", size);
}

#[test]
fn the_slower_side_was_disturbed() {
    let explains = |m, factor, spoil: &Spoil, causes: &str, words: &str| {
        expect(&host(), m, factor, spoil, causes, words);
    };
    let theirs = "the tool's trials were disturbed: the hypervisor took 10.0 %";
    explains(flops(1), 0.8, &tool_trials(stolen), "disturbed", theirs);
    let with = |spoil: fn(&mut Conditions)| tool_trials(move |t| spoil(&mut t.conditions));
    let we = each(flops(1), |_, t| stolen(t));
    let ours = "proofmark's trials were disturbed";
    explains(we, 1.2, &with(|c| c.steal_s = None), "disturbed", ours);
    // What disturbed proofmark did not make it faster, whether the tool was watched or not.
    let shared = || each(flops(1), |_, t| t.conditions.other_cpu_s = Some(0.1 * t.seconds));
    explains(shared(), 0.8, SAME, "none", "");
    explains(shared(), 0.8, &with(|c| c.other_cpu_s = Some(0.0)), "none", "");
    explains(shared(), 1.2, SAME, "disturbed", "proofmark's trials were disturbed: a competing");
    explains(iops_below(1.2), 1.1, &tool_trials(stolen), "none", ""); // It was faster.
}

#[test]
fn a_library_with_kernels_for_a_narrower_core() {
    let solve = |isa: &str| with_param(linpack(5000, 1), "isa", isa);
    let explains = |isa: &str, factor, core: &str, causes: &str, words: &str| {
        let version = format!("0.3.21 ({core})");
        let spoil = |r: &mut Reference| r.version.clone_from(&version);
        expect(&host(), solve(isa), factor, &spoil, causes, words);
    };
    let words = "its kernels for another core, Haswell (avx2+fma), but proofmark used avx512 ... \
                 OPENBLAS_CORETYPE=SkylakeX";
    explains("avx512", 0.5, "Haswell", "library_core", words);
    explains("avx512", 0.8, "Zen", "library_core", "another core, Zen");
    explains("avx2+fma", 0.7, "Sandybridge", "library_core", "");
    explains("avx2+fma", 0.7, "Haswell", "none", "");
    explains("avx512", 0.7, "SkylakeX", "none", "");
    explains("avx512", 1.1, "Haswell", "none", ""); // It is slower, not faster.
    explains("avx512", 0.7, "Next", "none", "");
}

#[test]
fn the_reference_library_of_linear_algebra_is_the_cause_of_a_slow_tool() {
    let linked = |blas: &'static str| {
        move |r: &mut Reference| r.params = r.params.clone().with_named("BLAS", blas)
    };
    let words = "its BLAS is the reference library ... install an optimised BLAS";
    expect(&host(), linpack(5000, 1), 0.1, &linked("blas"), "reference_blas", words);
    expect(&host(), linpack(5000, 1), 0.1, &linked("openblas-pthread"), "none", "");
    expect(&host(), linpack(5000, 1), 1.2, &linked("blas"), "none", "");
}

#[test]
fn an_environment_that_chooses_a_librarys_kernels_is_the_cause() {
    let explains = |factor, set: &str, tool: &str, version: &str, causes: &str, words: &str| {
        let mut host = host();
        let known = Probe::known(set.to_owned(), "/proc/self/environ");
        host.settings.insert("environment variables".to_owned(), known);
        let spoil = |r: &mut Reference| {
            (r.tool, r.version) = (tool.to_owned(), version.to_owned());
        };
        let solve = with_param(linpack(5000, 1), "isa", "avx512");
        let f = found(&host, solve, factor, &spoil).expect("they disagree");
        assert_eq!(f.evidence[&format!("{tool}: causes")], causes, "{set}: {}", f.message);
        assert!(f.message.contains(words), "{}", f.message);
    };
    let core = "OMP_NUM_THREADS=2 OPENBLAS_CORETYPE=Haswell";
    let words = "another core, Haswell (avx2+fma) since OPENBLAS_CORETYPE=Haswell is set, but";
    explains(0.5, core, "openblas", "0.3.21 (Haswell)", "library_core", words);
    let mkl = "MKL_ENABLE_INSTRUCTIONS=SSE4_2";
    let words =
        "MKL_ENABLE_INSTRUCTIONS=SSE4_2 is set, by which mkl may run kernels for another core";
    explains(0.5, mkl, "mkl", "2024.2", "library_core", words);
    explains(0.5, "none", "mkl", "2024.2", "none", "");
    explains(0.5, core, "mkl", "2024.2", "none", "");
    explains(0.5, core, "openblas", "0.3.21 (SkylakeX)", "none", "");
    explains(1.2, mkl, "mkl", "2024.2", "none", "");
    // A variable that names another core than the library reports did not choose it.
    let both = "MKL_CBWR=COMPATIBLE OPENBLAS_CORETYPE=SkylakeX";
    for tool in ["openblas", "hpl"] {
        let words = "another core, Haswell (avx2+fma), but proofmark";
        explains(0.5, both, tool, "0.3.21 (Haswell)", "library_core", words);
    }
    for widest in ["MKL_ENABLE_INSTRUCTIONS=AVX512_E1", "MKL_CBWR=AVX512,STRICT", "MKL_CBWR=AUTO"] {
        explains(0.5, widest, "mkl", "2024.2", "none", "");
    }
    let old = "MKL_CBWR=AVX2,STRICT is set, by which";
    explains(0.5, "MKL_CBWR=AVX2,STRICT", "mkl", "2024.2", "library_core", old);
    explains(0.5, "OPENBLAS_CORETYPE=zen4", "hpl", "2.3", "none", "");
}

#[test]
fn only_what_disturbed_the_pairs_is_a_cause() {
    // The regular trials were not disturbed.
    let ours = |r: &mut Reference| r.paired.iter_mut().for_each(stolen);
    let words = "proofmark's trials were disturbed: the hypervisor took 10.0 %";
    expect(&host(), flops(1), 1.2, &ours, "disturbed", words);
    // Only they were.
    let clean = tool_of(&flops(1), 1.2);
    let spoil = |r: &mut Reference| *r = clean.clone();
    expect(&host(), each(flops(1), |_, t| stolen(t)), 1.2, &spoil, "none", "");
    let m = found(&host(), flops(1), 1.0, &ours);
    assert!(m.is_none(), "a tool that agrees needs no cause");
}

/// `cpu.iops` at that many times below its usual rate, so that a faster tool is not above its
/// ceiling.
fn iops_below(times: f64) -> Measurement {
    let median = iops(1).summary.unwrap().value();
    at_rate(iops(1), median / times)
}

#[test]
fn trials_that_are_far_shorter_or_longer() {
    let explains = |m, factor, by: f64, causes: &str, words: &str| {
        expect(&host(), m, factor, &shorter(by), causes, words);
    };
    let words = "the tool's trials last 10.00 ms, proofmark's 100.0 ms$";
    explains(flops(1), 0.8, 10.0, "duration", words);
    explains(flops(1), 0.8, 0.1, "duration", "");
    explains(flops(1), 0.8, 3.0, "none", "");
    // The same work takes longer, or shorter.
    explains(linpack(5000, 1), 0.1, 0.1, "none", "");
    explains(iops_below(10.0), 8.0, 8.0, "none", "");
}
