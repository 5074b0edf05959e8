mod device;

use proofmark_model::{Flush, Severity, key};
use rustix::time::{ClockId, clock_gettime};

use super::Fio;
use crate::testing::{CUT, near, only, refuses, replaced};
use crate::{Figure, Output, Tool};

const PLUS_3_33: &str = include_str!("captured/3.33-json-plus.json");
const NORMAL_3_33: &str = include_str!("captured/3.33-normal-and-json.txt");
const GROUPS_3_25: &str = include_str!("captured/3.25-groups.json");
const FLUSHED_3_25: &str = include_str!("captured/3.25-flushed.json");
const PLUS_3_39: &str = include_str!("captured/3.39-json-plus.json");
const STATUS_3_39: &str = include_str!("captured/3.39-status.json");
const DIRECT_3_39: &str = include_str!("captured/3.39-direct.json");
const FDATASYNC_3_33: &str = include_str!("captured/3.33-fdatasync.json");
const FSYNC_16_3_33: &str = include_str!("captured/3.33-fsync-16.json");
const GROUP_3_33: &str = include_str!("captured/3.33-group-of-two.json");
const LOOPS_3_33: &str = include_str!("captured/3.33-loops-end-fsync.json");
const STEADY_3_33: &str = include_str!("captured/3.33-direct-steady.json");
const ONE_NAME_3_33: &str = include_str!("captured/3.33-one-name.json");
const RATE_3_33: &str = include_str!("captured/3.33-rate.json");
const MIXED_3_33: &str = include_str!("captured/3.33-mixed.json");
const GLOBAL_3_1: &str = include_str!("captured/made-3.1-global-numjobs.json");

const MIXED_VERIFIED: &str = r#"{"fio version": "fio-3.35", "jobs": [{"jobname": "v",
    "job options": {"rw": "randwrite", "bs": "8k", "size": "80k", "verify": "md5"},
    "read": {"io_bytes": 81920, "runtime": 5, "total_ios": 10},
    "write": {"io_bytes": 81920, "runtime": 9, "total_ios": 10}}]}"#;

fn parse(text: &str) -> Output {
    Fio.parse(text).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns the first figure of a report after a piece is replaced.
fn first(text: &str, from: &str, to: &str) -> Figure {
    parse(&replaced(text, from, to)).figures.remove(0)
}

#[test]
fn percentiles_of_lat_go_first() {
    let lat = "\"min\" : 27126,";
    let both = format!("{lat} \"percentile\" : {{ \"50.000000\" : 111111 }},");
    let latency = first(PLUS_3_33, lat, &both).latency.unwrap();
    assert!(near(latency.p50, 111_111e-9) && near(latency.min, 27_126e-9));
    assert_eq!((latency.p90, latency.p99, latency.p999), (None, None, None));
}

#[test]
fn bins_are_buckets_by_rising_time() {
    for text in [PLUS_3_33, PLUS_3_39, FLUSHED_3_25] {
        let latency = parse(text).figures.remove(0).latency.unwrap();
        let counted: u64 = latency.buckets.iter().map(|b| b.count).sum();
        assert_eq!(counted, latency.count);
        assert!(latency.buckets.is_sorted_by(|a, b| a.upto < b.upto));
        assert_eq!(latency.buckets.last().unwrap().upto, latency.max);
        let below = latency.buckets.iter().take_while(|b| b.upto < latency.p50 * 0.99);
        let below: u64 = below.map(|b| b.count).sum();
        assert!(below * 2 <= latency.count, "half of them are below the median");
    }
    let empty = first(PLUS_3_33, "\"bins\" : {", "\"bins\" : { \"5\" : 0,");
    assert_eq!(empty, parse(PLUS_3_33).figures[0]);
}

#[test]
fn many_jobs_and_options_take_no_longer_than_they_are_long() {
    let side = r#"{"io_bytes": 1, "runtime": 1, "total_ios": 1}"#;
    let job = |i: usize| {
        format!(
            r#"{{"jobname": "j{i}", "groupid": 0, "error": 0, "job options": {{}}, "read": {side}}}"#
        )
    };
    let options: Vec<String> = (0..20_000).map(|i| format!(r#""o{i}": "v""#)).collect();
    let text = format!(
        r#"{{"fio version": "fio-3.33", "global options": {{{}}}, "jobs": [{}]}}"#,
        options.join(","),
        (0..20_000).map(job).collect::<Vec<_>>().join(",")
    );
    // CPU time: on a busy machine, wall-clock time is mostly that of other processes.
    let seconds = || clock_gettime(ClockId::ThreadCPUTime).tv_sec;
    let before = seconds();
    assert_eq!(parse(&text).figures.len(), 20_000);
    assert!(seconds() - before < 10);
}

#[test]
fn other_work_is_not_compared() {
    let together = parse(&GROUPS_3_25.replace("\"groupid\" : 1", "\"groupid\" : 0"));
    let comparable: Vec<bool> = together.figures.iter().map(|f| f.comparable).collect();
    assert_eq!(comparable[..2], [false; 2], "two jobs at once");
    assert!(comparable[4], "which is alone in its group");
    let f = first(PLUS_3_33, "\"randread\"", "\"randread:8\"");
    assert_eq!((&*f.test, f.comparable), ("randread", false), "blocks follow each other");
    for (text, test) in [(PLUS_3_33, "read"), (FLUSHED_3_25, "write")] {
        let f = first(text, "job options", "other options");
        assert_eq!((&*f.test, f.comparable, f.params.0.len()), (test, false, 1));
    }
}

#[test]
fn a_job_that_failed_has_no_figure() {
    let failed = replaced(GROUPS_3_25, "\"error\" : 0", "\"error\" : 28");
    assert_eq!(parse(&failed).figures.len(), parse(GROUPS_3_25).figures.len() - 1);
    let all = GROUPS_3_25.replace("\"error\" : 0", "\"error\" : 28");
    assert_eq!(Fio.parse(&all).unwrap_err().to_string(), "line 1: job seq ended with error 28");
}

#[test]
fn a_file_without_a_size_is_reported_with_a_devices_count() {
    let unsized_ = |text| first(text, "\"size\"", "\"description\"").trials[0].file.clone();
    assert_eq!(unsized_(PLUS_3_33), None);
    assert_eq!(unsized_(DIRECT_3_39).unwrap().size_bytes, 0);
    // The flush of writes is known without a size.
    let written = unsized_(FDATASYNC_3_33).unwrap();
    assert_eq!((written.size_bytes, written.flush), (0, Flush::Each));
}

#[test]
fn errors_have_the_line_of_the_text() {
    let line = |text: &str| Fio.parse(text).unwrap_err().line;
    // The lines of the normal output before the JSON count.
    let (before, _) = NORMAL_3_33.split_once("\"runtime\"").unwrap();
    let negative = replaced(NORMAL_3_33, "\"runtime\" : ", "\"runtime\" : -");
    assert_eq!(line(&negative), before.lines().count());
    // The lines of earlier reports count, too.
    let (before, _) = STATUS_3_39.rsplit_once("\"runtime\"").unwrap();
    assert_eq!(line(&format!("{before}\"runtime\" : -1")), before.lines().count());
}

#[test]
fn what_cannot_be_is_refused() {
    let changes = [
        ("\"rw\" : \"randread\"", "\"rw\" : \"juggle\"", "rw=juggle is not known"),
        ("fio-3.33", "fio-2.16", "fio 2.16 .. run fio 3.0 or newer"),
        ("\"mean\" : 110115.343198", "\"mean\" : -1.0", "mean"),
        ("\"mean\" : 110115.343198", "\"mean\" : 1e999", "out of range"),
        ("\"mean\" : 110115.343198", "\"mean\" : 1e70", "the mean of the latencies is 1.0"),
        ("\"mean\" : 110115.343198", "\"mean\" : 11.5", "11.5 ns, is not between"),
        ("\"95.000000\" : ", "\"95.000000\" : 1", "are not in their order"),
        ("\"74240\" : ", "\"about 74240\" : ", "no time in ns"),
        ("\"runtime\" : 301", "\"runtime\" : 0", "for a millisecond"),
        ("\"io_bytes\" : 86228992", "\"io_bytes\" : 0", "for a millisecond"),
        ("{", CUT, "line 1: no line begins with {"),
    ];
    refuses(&Fio, PLUS_3_33, &changes);
    let counters = [
        ("3320952", "99999999999999999", "disk_util is out of range"),
        ("59.325873", "-59.325873", "disk_util is out of range"),
        ("59.325873", "1e61", "disk_util is out of range"),
    ];
    refuses(&Fio, DIRECT_3_39, &counters);
}

fn found(figure: &Figure) -> Vec<(&str, Severity)> {
    figure.findings.iter().map(|f| (&*f.check, f.severity)).collect()
}

/// Returns the only figure of a text.
fn one(text: &str) -> Figure {
    only(&Fio, text)
}

#[test]
fn the_latency_of_a_flushed_write_is_its_flushs() {
    let f = one(FDATASYNC_3_33);
    let latency = f.latency.unwrap();
    assert!(near(latency.p99.unwrap(), 6_389_760e-9) && latency.count == 455);
    assert_eq!((f.params.word("latency"), f.trials[0].work), (Some("flush latency"), 1_046_500.0));
    let file = f.trials[0].file.clone().unwrap();
    assert_eq!((file.flush, f.findings.len()), (Flush::Each, 0));
    // A flush after 16 writes: neither its latency nor the write's is that of an operation.
    let seldom = one(FSYNC_16_3_33);
    assert_eq!((seldom.latency, seldom.params.word("latency")), (None, None));
    let between = |text: &str| one(text).trials[0].file.as_ref().unwrap().flush_every_bytes;
    assert_eq!(between(FSYNC_16_3_33), Some(48_000));
    let more = replaced(FSYNC_16_3_33, "\"fsync\" : \"16\"", "\"fsync\" : \"7000\"");
    assert_eq!((between(&more), between(FDATASYNC_3_33)), (Some(21_000_000), None));
    // With O_DSYNC the write itself takes that long.
    let by_itself = one(&replaced(FDATASYNC_3_33, "\"fdatasync\" : \"1\"", "\"sync\" : \"dsync\""));
    assert!(by_itself.latency.unwrap().p99.unwrap() < 1e-3);
    assert_eq!(by_itself.trials[0].file.as_ref().unwrap().flush, Flush::Dsync);
    // fio 3.4 and older do not time flushes.
    assert_eq!(one(&replaced(FDATASYNC_3_33, "\"sync\" :", "\"none\" :")).latency, None);
}

#[test]
fn statistics_of_several_jobs_have_no_jobs_parameters() {
    let all = parse(GROUP_3_33).figures;
    let tests: Vec<_> = all.iter().map(|f| (&*f.test, &*f.title, f.comparable)).collect();
    assert_eq!(tests, [("read", "read", false), ("write", "write", false)]);
    for f in &all {
        assert_eq!((found(f), f.params.0.len()), (vec![("two_accounts", Severity::Suspect)], 1));
        assert_eq!(f.params.word("job"), Some("journal and others"));
        assert_eq!(f.trials[0].file, None);
    }
    // Each of these contradictions is enough.
    let block = ("\"bs\" : \"64k\"", "\"bs\" : \"32k\"");
    let way = ("\"rw\" : \"randread\"", "\"rw\" : \"randwrite\"");
    let processes = ("\"job_runtime\" : 300", "\"job_runtime\" : 602");
    let bytes = ("\"runtime\" : \"30s\"", "\"thread\" : \"1\"");
    let depth = ("\"iodepth\" : \"4\"", "\"iodepth\" : \"1\"");
    let deeper = ("\"iodepth\" : \"4\"", "\"iodepth\" : \"16\"");
    for (text, (from, to)) in [
        (GROUPS_3_25, block),
        (PLUS_3_33, way),
        (PLUS_3_33, processes),
        (GROUPS_3_25, depth),
        (GROUPS_3_25, deeper),
        (DIRECT_3_39, bytes),
    ] {
        let f = first(text, from, to);
        assert_eq!(found(&f), [("two_accounts", Severity::Suspect)], "{from} {to}");
        assert!(!f.comparable && f.params.0.len() == 1, "{from} {to}");
    }
}

#[test]
fn a_share_of_reads_that_was_not_asked_for_is_of_several_jobs() {
    let other = STATUS_3_39.replace("\"rwmixread\" : \"70\"", "\"rwmixread\" : \"30\"");
    for f in parse(&other).figures {
        assert_eq!(found(&f), [("two_accounts", Severity::Suspect)], "{}", f.test);
    }
    assert!(parse(STATUS_3_39).figures.iter().all(|f| f.findings.is_empty()));
}

#[test]
fn what_is_printed_of_a_rate_twice_must_agree() {
    for (from, to) in
        [("\"iops\" : 69", "\"iops\" : 96"), ("\"bw_bytes\" : 286", "\"bw_bytes\" : 826")]
    {
        assert_eq!(
            found(&first(PLUS_3_33, from, to)),
            [("two_accounts", Severity::Invalid)],
            "{from}"
        );
    }
}

#[test]
fn processes_that_fio_3_1_leaves_out_are_told_by_their_time() {
    let f = one(GLOBAL_3_1);
    assert_eq!((f.params.get(key::THREADS), f.params.get(key::QUEUE_DEPTH)), (Some(3), Some(2)));
    assert!(f.comparable && f.findings.is_empty());
    let device = f.trials[0].device.clone().unwrap();
    assert_eq!(device.read_bytes, 1_048_576_000, "its end is missed");
    // With another time, or none, the number of processes is not certain.
    for to in ["\"job_runtime\" : 19900", "\"other\" : 24000"] {
        let f = first(GLOBAL_3_1, "\"job_runtime\" : 24000", to);
        assert_eq!((f.params.get(key::THREADS), f.comparable), (None, false), "{to}");
    }
    // Later versions report their number.
    let f = first(GLOBAL_3_1, "fio-3.1\"", "fio-3.4\"");
    assert_eq!(found(&f), [("two_accounts", Severity::Suspect)]);
}

#[test]
fn jobs_of_one_name_are_parts_at_one_time_and_trials_one_after_the_other() {
    let together = one(ONE_NAME_3_33);
    assert_eq!((together.trials.len(), together.params.get(key::THREADS)), (1, Some(2)));
    assert_eq!((together.trials[0].work, together.trials[0].seconds), (4_194_304.0, 0.016));
    // The second job is in its own group, which begins when the first has ended.
    let at = ONE_NAME_3_33.rfind("\"groupid\" : 0").unwrap();
    let (before, after) = ONE_NAME_3_33.split_at(at);
    let after = after.replacen("\"groupid\" : 0", "\"groupid\" : 1", 1);
    let later = one(&format!("{before}{after}"));
    assert_eq!((later.trials.len(), later.params.get(key::THREADS)), (2, Some(1)));
    let elsewhere = after.replacen(
        "\"groupid\" : 1",
        "\"groupid\" : 1, \"job options\" : { \"filename\" : \"g\" }",
        1,
    );
    assert_eq!(parse(&format!("{before}{elsewhere}")).figures.len(), 2, "two files");
    // With new_group it does not wait, so it is not a repetition.
    let new = "\"groupid\" : 1, \"job options\" : { \"new_group\" : \"1\" }";
    let beside = parse(&format!("{before}{}", after.replacen("\"groupid\" : 1", new, 1)));
    let trials: Vec<_> = beside.figures.iter().map(|f| (f.trials.len(), f.comparable)).collect();
    assert_eq!(trials, [(1, false), (1, false)]);
}

#[test]
fn runs_that_were_appended_are_all_read() {
    let later =
        replaced(FDATASYNC_3_33, "\"timestamp_ms\" : 17957722", "\"timestamp_ms\" : 17957733")
            .replace("\"runtime\" : 1401", "\"runtime\" : 1402");
    let two = one(&format!("first\n{FDATASYNC_3_33}\nsecond\n{later}\n"));
    assert_eq!((two.trials.len(), two.latency), (2, None));
    assert_eq!(one(&format!("{FDATASYNC_3_33}{FDATASYNC_3_33}")).trials.len(), 1, "printed twice");
    assert_eq!(parse(&format!("{FDATASYNC_3_33}{RATE_3_33}")).figures.len(), 2);
    // A failed job is reported.
    let failed = replaced(RATE_3_33, "\"error\" : 0", "\"error\" : 28");
    let rest = one(&format!("{FDATASYNC_3_33}{failed}"));
    assert_eq!(found(&rest), [("tool_warning", Severity::Note)]);
    assert!(rest.findings[0].message.contains("job r ended with error 28"));
}

#[test]
fn counts_of_direct_ios_prove_the_work() {
    let device = one(STEADY_3_33).trials[0].device.clone().unwrap();
    assert_eq!(device.read_bytes, 64_442_368);
    let none = first(STEADY_3_33, "\"read_ios\" : 15735", "\"read_ios\" : 0");
    assert_eq!(none.trials[0].device, None);
    let buffered = first(STEADY_3_33, "\"direct\" : \"1\"", "\"direct\" : \"0\"");
    assert_eq!(buffered.trials[0].device, None);
    for (from, to) in [
        ("\"ioengine\" : \"psync\"", "\"ioengine\" : \"null\""),
        ("/data/f", "/dev/zero"),
        ("/data/f", "/dev/shm/f"),
    ] {
        let f = first(STEADY_3_33, from, to);
        assert_eq!(found(&f), [("not_a_disk", Severity::Invalid)], "{to}");
    }
}

#[test]
fn devices_of_memory_prove_nothing_and_other_devices_are_other_figures() {
    let on = |device: &str| replaced(STEADY_3_33, "\"vda\"", &format!("\"{device}\""));
    for (device, checks) in [("zram3", 1), ("ram0", 1), ("nullb1", 1), ("loop7", 0), ("dm-4", 0)] {
        let f = one(&on(device));
        assert_eq!(f.findings.iter().filter(|f| f.check == "not_a_disk").count(), checks);
        assert_eq!(f.trials[0].device.is_some(), device == "dm-4", "{device}");
    }
    let later = |device: &str| {
        let later = replaced(&on(device), "\"timestamp_ms\" : 1", "\"timestamp_ms\" : 2");
        later.replace("\"max\" : ", "\"max\" : 9")
    };
    let devices = |text: &str| {
        let figures = parse(text).figures;
        figures.iter().map(|f| f.params.word("device").map(str::to_owned)).collect::<Vec<_>>()
    };
    let names = ["sdq", "sdr"].map(|name| Some(name.to_owned()));
    assert_eq!(devices(&(on("sdq") + &later("sdr"))), names);
    assert_eq!(devices(&(on("sdq") + &later("sdq"))), [None]);
}

#[test]
fn reads_that_verify_are_no_writes() {
    let verified = MIXED_VERIFIED;
    let tests: Vec<_> = parse(verified).figures.iter().map(|f| f.test.to_string()).collect();
    assert_eq!(tests, ["randwrite.verify.read", "randwrite"]);
}

#[test]
fn what_the_report_says_against_a_figure_is_said() {
    let paced = one(RATE_3_33);
    assert_eq!(
        (found(&paced), paced.comparable),
        (vec![("tool_warning", Severity::Suspect)], false)
    );
    let unsteady = first(STEADY_3_33, "\"attained\" : 1", "\"attained\" : 0");
    assert_eq!(found(&unsteady), [("tool_warning", Severity::Suspect)]);
    let failed = parse(&replaced(GROUPS_3_25, "\"error\" : 0", "\"error\" : 5"));
    assert!(failed.figures.iter().all(|f| found(f) == [("tool_warning", Severity::Note)]));
}

#[test]
fn a_flush_at_the_end_is_held_against_the_size_of_the_file() {
    let file = one(LOOPS_3_33).trials[0].file.clone().unwrap();
    assert_eq!(
        (file.flush, file.asked_written_bytes, file.size_bytes),
        (Flush::End, 3 * file.size_bytes, 4 << 20)
    );
}

#[test]
fn one_direction_keeps_its_name_under_unified_reporting() {
    let f = first(MIXED_3_33, "\"rw\" : \"randrw\"", "\"rw\" : \"randwrite\"");
    let file = f.trials[0].file.clone().unwrap();
    assert_eq!((&*f.test, file.asked_written_bytes, f.comparable), ("randwrite", 4_194_304, true));
    // Reported in two ways, it is still one figure.
    let both = include_str!("captured/3.33-both.json");
    let figures = parse(&replaced(both, "\"write\" :", "\"other\" :")).figures;
    assert_eq!(figures.len(), 2, "the reads, and all of randrw");
}

#[test]
fn a_verification_after_the_writes_is_not_in_flight_with_them() {
    let text = r#"{"fio version": "fio-3.33", "jobs": [{"jobname": "v", "job options": {"rw":
        "randwrite", "bs": "4k", "size": "8m", "verify": "crc32c", "ioengine": "psync"},
        "read": {"io_bytes": 8388608, "runtime": 280, "total_ios": 2048,
                 "lat_ns": {"min": 1, "max": 9000000, "mean": 130000.0}},
        "write": {"io_bytes": 8388608, "runtime": 300, "total_ios": 2048,
                  "lat_ns": {"min": 1, "max": 9000000, "mean": 140000.0}}}]}"#;
    let output = parse(text);
    let tests: Vec<&str> = output.figures.iter().map(|f| &*f.test).collect();
    assert_eq!(tests, ["randwrite.verify.read", "randwrite"]);
    let both = replaced(text, "\"verify\": \"crc32c\", ", "");
    assert_eq!(parse(&both).figures[0].test, "read", "its options do not fit");
    // The reads of this pattern are made beside its writes.
    let at_once = replaced(text, "randwrite", "randrw");
    assert_eq!(parse(&at_once).figures[0].test, "read", "more in flight than allowed");
    let later = replaced(&at_once, "\"runtime\": 280", "\"runtime\": 580");
    assert_eq!(parse(&later).figures[0].test, "randrw.read");
}

#[test]
fn a_mean_that_is_no_number_leaves_the_rest() {
    let mean = "\"mean\" : 110115.343198";
    let f = first(PLUS_3_33, mean, "\"mean\" : null");
    assert_eq!((f.latency, f.trials.len()), (None, 1));
    assert!(first(PLUS_3_33, mean, mean).latency.is_some());
}

#[test]
fn a_job_has_all_its_files() {
    let own = "\"job options\" : {";
    let files = format!("{own} \"filename\": \"/dev/vda\", \"filename\": \"/dev/vdb\",");
    let figure = first(STEADY_3_33, own, &files);
    assert!(figure.title.contains("/dev/vda:/dev/vdb"), "{}", figure.title);
}
