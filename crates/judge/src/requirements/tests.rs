use proofmark_model::testing::{measurement, run, spec};
use proofmark_model::{
    Access, CheckedRequirement, Decision, Ending, Figure, FigureKind, Finding, Latency, MainRow,
    Measurement, Params, PercentileIntervals, Pick, PickedValue, PlannedSeries, Run, Severity,
    Unit, Verdict, Work, check_id, key,
};

use super::*;

fn machine() -> Run {
    let mut flops = spec("cpu.flops", Unit::FlopPerSecond);
    flops.ceilings = vec!["cpu_peak".into()].into();
    let mut commit = spec("disk.fsync", Unit::OpPerSecond);
    commit.work = Work::DEVICE;
    commit.ceilings = vec!["disk_limit".into()].into();
    let mut read = spec("disk.rand_read", Unit::BytePerSecond);
    read.work = Work { access: Some(Access::Random), ..Work::DEVICE };
    let of =
        |depth: u64| Params::default().with(key::QUEUE_DEPTH, depth).with(key::BLOCK_SIZE, 4096);
    let mut all = vec![
        measurement(&flops, Params::default(), &[120e9; 8]),
        measurement(&commit, Params::default(), &[2500.0; 8]),
        measurement(&read, of(1), &[40.96e6; 8]),
        measurement(&read, of(32), &[409.6e6; 8]),
    ];
    for m in &mut all {
        m.verdict = Verdict::Valid;
        m.latency = Some(Latency {
            unit: "s".into(),
            count: 2000,
            min: 1e-4,
            mean: 4e-4,
            p50: 3.5e-4,
            p90: Some(5e-4),
            p99: Some(1e-3),
            p999: None,
            max: 0.02,
            ci95: PercentileIntervals {
                p50: Some([3.5e-4; 2]),
                p90: Some([5e-4; 2]),
                p99: Some([1e-3; 2]),
                p999: None,
                trials: 6,
            },
            buckets: Vec::new(),
        });
    }
    let mut run = run(all);
    for spec in [flops, commit, read] {
        run.workloads.insert(spec.id.to_string(), spec);
    }
    run
}

fn checked(run: &Run, text: &str) -> Vec<CheckedRequirement> {
    text.parse::<Requirement>().unwrap().check(run, None).unwrap()
}

fn decided(run: &Run, text: &str) -> Vec<Decision> {
    checked(run, text).iter().map(|c| c.decision).collect()
}

#[test]
fn every_operator_statistic_and_unit() {
    use Decision::{Met, Missed, Undecided};
    let run = machine();
    for (text, expected) in [
        ("cpu.flops>=120GFLOP/s", Met),
        ("cpu.flops > 120 GFLOP/s", Missed),
        ("cpu.flops <= 0.12TFLOP/s", Met),
        ("cpu.flops < 120000 MFLOP/s", Missed),
        ("cpu.flops.delivered>=1FLOP/s", Met),
        ("disk.fsync.p99<=1ms", Met),
        ("disk.fsync.p99<1000us", Missed),
        ("disk.fsync.p50<351000ns", Met),
        ("disk.fsync.p90<0.0006s", Met),
        ("disk.fsync.mean<400.1\u{b5}s", Met),
        ("disk.fsync.max<20ms", Missed),
        ("disk.fsync.max<=20ms", Met),
        ("disk.fsync.p999<1s", Undecided),
        ("disk.fsync>=2500op/s", Met),
        ("disk.fsync>2.5kop/s", Missed),
        ("disk.fsync.efficiency>=50%", Undecided),
        ("cpu.flops.typical>=1GFLOP/s", Undecided),
        ("cpu.linpack>=1GFLOP/s", Undecided),
    ] {
        assert_eq!(decided(&run, text), [expected], "{text}");
    }
    for (text, expected) in [
        ("disk.rand_read[queue_depth=32]>=100kIOPS", vec![Met]),
        ("disk.rand_read[queue_depth=1].iops>=10001IOPS", vec![Missed]),
        ("disk.rand_read[block_size=4KB]>=40MB/s", vec![Met, Met]),
        ("disk.rand_read[block_size=4096]>=400000KiB/s", vec![Missed, Met]),
        ("disk.rand_read[queue_depth=64]>=1MB/s", vec![Undecided]),
    ] {
        assert_eq!(decided(&run, text), expected, "{text}");
    }
}

#[test]
fn a_result_that_is_not_valid_decides_nothing_and_names_its_checks() {
    for verdict in [Verdict::Suspect, Verdict::Invalid] {
        let mut run = machine();
        run.measurements[0].verdict = verdict;
        let found = Finding::new("small_file", Severity::Suspect, "cached", "");
        run.measurements[0].findings = vec![found];
        let checked = &checked(&run, "cpu.flops>=1GFLOP/s")[0];
        assert_eq!(
            (checked.decision, &*checked.checks),
            (Decision::Undecided, &["small_file".to_owned()][..])
        );
    }
}

#[test]
fn a_missed_figure_is_named_with_its_disturbances() {
    let mut run = machine();
    let m = &mut run.measurements[0];
    let summary = m.summary.as_mut().unwrap();
    summary.headline = FigureKind::Attainable;
    let ci95 = Some([179e9, 181e9]);
    summary.attainable = Figure { value: Some(180e9), ci95, ..Figure::default() };
    let note = |id: &'static str| Finding::new(id, Severity::Note, "", "");
    // The last one is no disturbance.
    m.findings = ["steal", "other_cpu", "steal", "trend"].map(note).to_vec();
    let missed = &checked(&run, "cpu.flops>=150GFLOP/s")[0];
    assert_eq!(missed.disturbances, ["steal", "other_cpu"]);
    assert_eq!((missed.statistic.as_str(), missed.value), ("delivered", Some(120e9)));
    let headline = missed.headline.unwrap();
    assert_eq!((headline.figure, headline.value), (FigureKind::Attainable, 180e9));
    let met = &checked(&run, "cpu.flops.attainable>=150GFLOP/s")[0];
    assert!(
        met.decision == Decision::Met && met.disturbances.is_empty() && met.headline.is_none(),
        "{met:?}"
    );
    // The disturbances of a figure do not depend on the limit.
    for limit in ["100GFLOP/s", "120GFLOP/s", "150GFLOP/s"] {
        let of_all = &checked(&run, &format!("cpu.flops>={limit}"))[0];
        assert_eq!(of_all.disturbances, ["steal", "other_cpu"], "{of_all:?}");
    }
    let iops = &checked(&run, "disk.rand_read[queue_depth=1]>=1IOPS")[0];
    assert_eq!(iops.statistic, "iops");
}

#[test]
fn a_tail_that_may_be_that_of_a_disturbance_is_named() {
    let mut run = machine();
    let note = |id: &'static str| Finding::new(id, Severity::Note, "", "");
    run.measurements[1].findings = [check_id::STALLS, check_id::DISTURBED_TAIL].map(note).to_vec();
    for statistic in ["p99", "max"] {
        let one = &checked(&run, &format!("disk.fsync.{statistic}<1us"))[0];
        assert_eq!(one.disturbances, [check_id::DISTURBED_TAIL], "{one:?}");
    }
    let none: [&str; 0] = [];
    assert_eq!(checked(&run, "disk.fsync.p50<1us")[0].disturbances, none, "it is no tail");
}

#[test]
fn the_checks_of_a_result_are_each_named_once() {
    let mut run = machine();
    let suspect = |id: &'static str| Finding::new(id, Severity::Suspect, "", "");
    run.measurements[0].findings = ["steal", "swap", "steal"].map(suspect).to_vec();
    run.measurements[0].verdict = Verdict::Suspect;
    assert_eq!(checked(&run, "cpu.flops>=1GFLOP/s")[0].checks, ["steal", "swap"]);
}

#[test]
fn there_is_no_maximum_where_some_operations_were_not_timed() {
    let mut run = machine();
    run.measurements[1].latency.as_mut().unwrap().count = 33;
    let max = &checked(&run, "disk.fsync.max<1s")[0];
    let why = "only 33 of 2\u{202f}000 operations were timed: no maximum";
    assert_eq!(
        (max.decision, max.value, max.reason.as_deref()),
        (Decision::Undecided, None, Some(why))
    );
    assert_eq!(decided(&run, "disk.fsync.p99<1s"), [Decision::Met]);
}

#[test]
fn a_result_without_a_figure_gives_the_reason() {
    let mut run = machine();
    run.measurements[0].summary.as_mut().unwrap().typical = Figure::none("disturbed");
    let reason = |run: &Run, text: &str| checked(run, text)[0].reason.clone().unwrap();
    assert_eq!(reason(&run, "cpu.flops.typical>=1FLOP/s"), "disturbed");
    assert_eq!(
        reason(&run, "disk.fsync.p999<1s"),
        "too few operations for a p999: 10 must be beyond it; measure longer"
    );
    assert_eq!(reason(&run, "cpu.linpack>=1GFLOP/s"), "not measured");
    let m = &mut run.measurements[0];
    (m.summary, m.verdict) = (None, Verdict::Invalid);
    m.ending = Ending::Crashed { signal: Some("SIGILL".into()), detail: "gone".into() };
    assert_eq!(reason(&run, "cpu.flops>=1GFLOP/s"), "the worker was killed by SIGILL: gone");
    run.measurements[1].series = Some(proofmark_model::testing::series(run.started, 8));
    run.plan.series.push(PlannedSeries { point: 1, for_s: 8.0, every_s: 1.0 });
    assert_eq!(reason(&run, "disk.fsync>=1op/s"), "measured over time only");
}

#[test]
fn parameters_that_no_configuration_has_are_listed() {
    let run = machine();
    let unknown = |text: &str| {
        let requirement: Requirement = text.parse().unwrap();
        let all = requirement.unknown_params(&run);
        all.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    assert_eq!(unknown("disk.rand_read[queue_depth=32,block_size=4KiB]>=1MB/s"), none);
    assert_eq!(
        unknown("disk.rand_read[queue_dept=32,block_size=5]>=1MB/s"),
        ["queue_dept=32", "block_size=5"]
    );
}

#[test]
fn another_configuration_does_not_answer_for_one_that_was_not_measured() {
    let mut run = machine();
    run.plan.points = run.measurements.iter().map(Measurement::point).collect();
    run.workloads.get_mut("disk.rand_read").unwrap().axis = Some("queue_depth".into());
    let deepest = run.measurements.pop().unwrap();
    for text in [
        "disk.rand_read>=1MB/s",
        "disk.rand_read[queue_depth=32]>=1MB/s",
        "disk.rand_read.iops>=1IOPS",
    ] {
        let checked = text.parse::<Requirement>().unwrap().check(&run, None).unwrap();
        let [one] = &checked[..] else { panic!("{checked:?}") };
        assert!(
            one.decision == Decision::Undecided && one.value.is_none() && one.verdict.is_none(),
            "{one:?}"
        );
        assert_eq!(one.params.as_ref(), Some(&deepest.params));
    }
    let block = decided(&run, "disk.rand_read[block_size=4096]>=1MB/s");
    assert_eq!(block, [Decision::Met, Decision::Undecided]);
    assert_eq!(decided(&run, "disk.rand_read[queue_depth=1]>=1MB/s"), [Decision::Met]);
    run.measurements.push(deepest);
    assert_eq!(decided(&run, "disk.rand_read>=1MB/s"), [Decision::Met]);
}

#[test]
fn mistakes_are_errors() {
    let error = |text: &str| text.parse::<Requirement>().unwrap_err();
    assert!(error("cpu.flops").contains("FIGURE OPERATOR VALUE"));
    assert!(error("cpu.flops>=fast").contains("not a number"));
    assert!(error(&format!("cpu.flops<1{}FLOP/s", "0".repeat(400))).contains("out of range"));
    assert!(error("disk.rand_read[queue_depth].p99<1ms").contains("parameter=value"));
    assert!(error(">=1ms").contains("FIGURE OPERATOR VALUE"));
}

#[test]
fn a_mistyped_statistic_or_unit_lists_what_fits_the_figure() {
    let run = machine();
    let error = |text: &str| text.parse::<Requirement>().unwrap().check(&run, None).unwrap_err();
    let time = "there are s, ms, us, \u{b5}s and ns";
    for (text, expected) in [
        ("disk.fsync.p99<10msec", format!("no unit 'msec' for p99 of disk.fsync; {time}")),
        ("disk.fsync.max<10GB/s", format!("no unit 'GB/s' for max of disk.fsync; {time}")),
        ("disk.fsync.mean<10", format!("mean of disk.fsync needs a unit; {time}")),
        (
            "cpu.flops>=1GFLOPS",
            "no unit 'GFLOPS' for delivered of cpu.flops; there are FLOP/s, MFLOP/s, GFLOP/s and \
             TFLOP/s"
                .into(),
        ),
        (
            "cpu.flops.efficiency>=1op/s",
            "no unit 'op/s' for efficiency of cpu.flops; there is %".into(),
        ),
        (
            "disk.rand_read.iops>=1MB/s",
            "no unit 'MB/s' for iops of disk.rand_read; there are op/s, kop/s, Mop/s, Gop/s, \
             Top/s, IOPS and kIOPS"
                .into(),
        ),
        (
            "disk.rand_read[queue_depth=1].p98<1ms",
            "no statistic 'p98' of disk.rand_read; there are delivered, iops, mean, p50, p90, p99, \
             p999 and max"
                .into(),
        ),
    ] {
        assert_eq!(error(text), format!("{text}: {expected}"));
    }
    // Bytes and operations fit random I/O of a disk, times do not.
    let both = error("disk.rand_read>=1ms");
    assert!(both.contains("MiB/s") && both.contains("kIOPS") && !both.contains("us"), "{both}");
    // Without brackets the word may belong to the workload.
    let parsed: Requirement = "cpu.flops.average>=1GFLOP/s".parse().unwrap();
    let flops =
        "no statistic 'average' of cpu.flops; there are delivered, attainable, typical, efficiency";
    let found = parsed.misnamed_statistic(&run, |_| None).unwrap();
    assert!(found.contains(flops), "{found}");
    let unknown: Requirement = "gpu.average>=1GFLOP/s".parse().unwrap();
    assert_eq!(unknown.misnamed_statistic(&run, |_| None), None);
}

#[test]
fn a_statistic_that_no_run_of_the_workload_has_is_an_error() {
    let mut run = machine();
    run.measurements[0].latency = None;
    let check = |run: &Run, text: &str| text.parse::<Requirement>().unwrap().check(run, None);
    for (text, word) in [
        ("cpu.flops.p99<3ms", "'p99' of cpu.flops; there are delivered, attainable, typical and"),
        ("cpu.flops.iops>=1op/s", "'iops' of cpu.flops; there are"),
        ("disk.fsync.typical>=1op/s", "'typical' of disk.fsync; there are delivered, efficiency,"),
    ] {
        let error = check(&run, text).unwrap_err();
        assert!(error.starts_with(&format!("{text}: no statistic {word}")), "{error}");
    }
    // A result that lacks what another run may have is undecided.
    for text in ["cpu.flops.attainable>=1FLOP/s", "cpu.flops.efficiency>=1%"] {
        assert_eq!(decided(&run, text), [Decision::Undecided], "{text}");
    }
    run.workloads.get_mut("cpu.flops").unwrap().ceilings = Vec::new().into();
    assert!(check(&run, "cpu.flops.efficiency>=1%").is_err());
    // One that was not measured is undecided, too, if the workload times single operations.
    run.measurements.clear();
    assert_eq!(decided(&run, "disk.fsync.p99<3ms"), [Decision::Undecided]);
    assert!(check(&run, "cpu.flops.p99<3ms").is_err());
    // An import has no rounds.
    run.imported = Some("a tool".into());
    assert!(check(&run, "cpu.flops.attainable>=1FLOP/s").is_err());
}

#[test]
fn a_run_without_the_workload_knows_its_units_from_the_program() {
    let (run, spec) = (machine(), spec("cpu.linpack", Unit::FlopPerSecond));
    let device = WorkloadSpec { work: Work::DEVICE, ..spec.clone() };
    let check = |text: &str| text.parse::<Requirement>().unwrap().check(&run, Some(&spec));
    assert_eq!(check("cpu.linpack>=1GFLOP/s").unwrap()[0].decision, Decision::Undecided);
    assert!(check("cpu.linpack>=1GB/s").unwrap_err().contains("there are FLOP/s"));
    let timed = "cpu.linpack.mean<1GB/s".parse::<Requirement>().unwrap();
    assert!(timed.check(&run, Some(&device)).unwrap_err().contains("there are s, ms"));
}

#[test]
fn a_result_has_the_title_of_its_row() {
    let mut run = machine();
    let row = |title: &'static str| MainRow {
        place: 1,
        title: title.into(),
        picks: vec![Pick { parameter: "queue_depth".into(), value: PickedValue::Largest }].into(),
    };
    let of_disks = proofmark_workloads::find("disk.rand_read").unwrap().spec();
    for (id, title) in [("disk.fsync", "Commit"), ("disk.rand_read", "Random read")] {
        let spec = run.workloads.get_mut(id).unwrap();
        spec.role.main_rows = vec![row(title)].into();
        spec.parameters = of_disks.parameters.clone();
    }
    let title = |text: &str| checked(&run, text).into_iter().map(|c| c.title).collect::<Vec<_>>();
    assert_eq!(title("disk.fsync.p99<1s"), ["Commit"]);
    assert_eq!(title("disk.rand_read[queue_depth=1].p99<1s")[0], "Random read, 4 KiB, depth 1");
    assert_eq!(title("disk.rand_read[queue_depth=32]>=1IOPS")[0], "Random read, 4 KiB, depth 32");
    // Without a row it is that of the workload, which has none here.
    assert_eq!(title("cpu.flops>=1FLOP/s"), ["cpu.flops"]);
    let mut other = run.measurements[3].clone();
    other.params = other.params.with_named("engine", "psync");
    run.measurements.push(other);
    let both = checked(&run, "disk.rand_read[queue_depth=32]>=1IOPS");
    assert_eq!(both[1].title, "Random read, 4 KiB, depth 32, psync");
    assert_ne!(both[0].title, both[1].title);
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in ".{0,40}", tail in "[<>=.\\[\\]a-z0-9%]{0,20}") {
        let _ = format!("{text}{tail}").parse::<Requirement>();
    }
}
