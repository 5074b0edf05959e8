use proofmark_model::{Params, Unit};

use super::LikwidBench;
use crate::testing::{asked, captured, helpers, outputs, task};
use crate::{Figure, ReferenceRunner, Task};

outputs! {
    COPY "5.2.2-debian12-copy_avx512-2-threads.txt"
    TRIAD "5.2.2-debian12-stream_mem_avx512-2-threads.txt"
    STORE "5.2.2-debian12-store_mem_sse-1-thread.txt"
    PEAK "5.2.2-debian12-peakflops_avx-2-threads.txt"
}

fn figure(text: &str) -> Figure {
    let [figure] = <[Figure; 1]>::try_from(captured(&LikwidBench, text).figures).unwrap();
    figure
}

helpers!(LikwidBench: refused);

#[test]
fn the_figures_are_those_of_the_text() {
    let f = figure(COPY);
    assert_eq!((&*f.test, f.params.text("isa")), ("copy", Some("avx512")));
    assert_eq!((f.params.text("stores"), f.params.int("threads")), (Some("temporal"), Some(2)));
    assert_eq!(f.params.int("array_size"), Some(1920 << 20));
    assert_eq!((f.trials[0].value, f.trials[0].work), (5923.94e6, 80_530_636_800.0));
    assert!((f.trials[0].seconds - 13.5941).abs() < 1e-3, "{}", f.trials[0].seconds);
    let f = figure(TRIAD);
    assert_eq!((&*f.test, f.params.text("stores")), ("stream", Some("nontemporal")));
    assert_eq!(f.params.int("array_size"), Some(128 << 20));
    let f = figure(STORE);
    assert_eq!((&*f.test, f.params.text("isa")), ("store", Some("sse2")));
    let f = figure(PEAK);
    assert_eq!((&*f.test, f.unit), ("peakflops_avx", Unit::FlopPerSecond));
    assert_eq!((f.trials[0].value, f.trials[0].work), (14_837.61e6, 62_914_560_000.0));
    let f = figure(&COPY.replace("Test: copy_avx512", "Test: triad_avx512"));
    assert_eq!((&*f.test, f.params.int("array_size")), ("triad_avx512", None));
    let f = figure(&TRIAD.replace("stream_mem_avx512", "stream_mem_avx_fma"));
    assert_eq!((&*f.test, f.params.text("fma")), ("stream", Some("on")));
}

#[test]
fn what_is_wrong_is_refused() {
    let what = |from: &str, to: &str| refused(&COPY.replace(from, to)).what;
    assert!(what("LIKWID MICRO BENCHMARK", "").contains("no report"));
    assert!(refused(&format!("{COPY}{TRIAD}")).what.contains("second report"));
    assert!(refused(&COPY[..COPY.find("MByte/s").unwrap()]).what.contains("no 'MByte/s:'"));
    assert!(what("5923.94", "7923.94").contains("it took"));
    assert!(what("5923.94", "nan").contains("not a number"));
    assert!(what("80530636800", "0").contains("out of range"));
    assert!(what("80530636800", "-1").contains("whole number"));
    assert!(what("e+01 sec", "e+01 s").contains("does not end in sec"));
    assert!(what("Using 2 threads", "Using two threads").contains("whole number"));
    assert!(what("Size (Byte)", "Size").contains("no 'Size (Byte):'"));
    assert!(what("Iterations per", "Iteration per").contains("no 'Iterations per thread:'"));
    assert!(what("Using 1 work", "ERROR - out of memory\nUsing 1 work").contains("out of memory"));
}

/// The parameters of a stream workload; without a parameter of pages, which the machine would have a say in.
fn parameters(isa: &str, stores: &str) -> Params {
    let params = Params::default().with("threads", 2).with("isa", isa).with("stores", stores);
    params.with("array_size", 1920 << 20)
}

fn arguments(task: &Task) -> Result<String, String> {
    let invocation = asked(&LikwidBench, "5", task)?;
    assert!(invocation.environment.is_empty() && invocation.output.is_none());
    Ok(invocation.arguments.join(" "))
}

#[test]
fn the_test_is_that_of_the_points_parameters() {
    let with = |test: &str, params: &Params| arguments(&task(test, params));
    let made = with("copy", &parameters("avx512", "temporal"));
    assert_eq!(made.unwrap(), "-t copy_avx512 -W N:4026532kB:2 -i 1");
    let made = with("stream", &parameters("avx2", "nontemporal").with("array_size", 64 << 20));
    assert_eq!(made.unwrap(), "-t stream_mem_avx -W N:201326592B:2 -i 20");
    let made = with("store", &parameters("sse2", "nontemporal").with("threads", 1));
    assert_eq!(made.unwrap(), "-t store_mem_sse -W N:2013265920B:1 -i 2");
    let read = Params::default().with("isa", "avx512").with("array_size", 1 << 20);
    assert_eq!(with("load", &read).unwrap(), "-t load_avx512 -W N:1048576B:1 -i 3815");
    for test in ["load", "store", "copy"] {
        let sweep = Params::default().with("working_set", 32 << 10);
        let sweep = sweep.with("threads", 2).with("isa", "avx2");
        let made = with(test, &sweep).unwrap();
        assert_eq!(made, format!("-t {test}_avx -W N:65536B:2 -i 61035"));
    }
}

#[test]
fn work_out_of_range_is_an_iteration() {
    let params = parameters("avx2", "temporal");
    for (work, iterations) in [(0.0, "1"), (f64::NAN, "1"), (f64::INFINITY, "2147483647")] {
        let made = arguments(&Task { work, ..task("copy", &params) }).unwrap();
        assert!(made.ends_with(&format!("-i {iterations}")), "{work}: {made}");
    }
}

#[test]
fn what_it_has_no_loop_for_is_refused() {
    let why = |test: &str, params: &Params| arguments(&task(test, params)).unwrap_err();
    let params = parameters("scalar", "temporal");
    assert!(why("copy", &params).contains("8 bytes at a time"));
    let params = parameters("avx2", "temporal");
    assert!(why("triad", &params).contains("no such loop"));
    assert!(why("copy", &params.clone().with("threads", 3)).contains("do not fit"));
    assert!(why("copy", &params.with("array_size", u64::MAX)).contains("no size"));
    for test in ["triad", "load_mem", "peakflops"] {
        assert_eq!(LikwidBench.counts(test), None);
    }
    for test in ["copy", "stream", "load", "store"] {
        assert!(LikwidBench.counts(test).is_some());
    }
}

#[test]
fn a_sweeps_figure_has_a_sweeps_parameters() {
    let of = |test: &str, params: &Params| {
        LikwidBench.figure(&task(test, params), captured(&LikwidBench, COPY))
    };
    let sweep = Params::default().with("op", "copy").with("working_set", 1920 << 20);
    let f = of("copy", &sweep.clone().with("threads", 2)).unwrap();
    assert_eq!((&*f.test, f.params.int("working_set")), ("copy", Some(1920 << 20)));
    assert_eq!((f.params.text("op"), f.params.get("stores")), (Some("copy"), None));
    assert_eq!((f.params.get("array_size"), f.trials[0].value), (None, 5923.94e6));
    assert_eq!(of("load", &sweep.with("op", "read")), None, "another loop");
    let f = of("copy", &parameters("avx512", "temporal")).unwrap();
    assert_eq!(f.params.int("array_size"), Some(1920 << 20));
    assert_eq!(of("stream", &parameters("avx512", "temporal")), None);
}

#[test]
fn it_takes_its_clock_its_memory_and_the_work() {
    let params = parameters("avx512", "temporal");
    let takes = LikwidBench.takes(&task("copy", &params));
    assert!((3.0..4.0).contains(&takes), "4 GB at 2 GB/s: {takes}");
    assert!(LikwidBench.takes(&task("copy", &Params::default())) < 2.0);
    assert_eq!(LikwidBench.memory(&task("copy", &params)), 3840 << 20, "two arrays");
    assert_eq!(LikwidBench.memory(&task("copy", &Params::default())), 0);
}
