//! Tests of device counters as evidence, and of reads that no device did.

use super::*;

#[test]
fn counters_of_devices_are_those_of_a_run_of_one_job() {
    let over = first(DIRECT_3_39, "\"read_ios\"", "\"aggr_read_ios\" : 0, \"read_ios\"");
    assert_eq!(over.trials[0].device, None, "others make it up");
    let sectors = "\"read_sectors\" : 99999999, \"write_sectors\" : 99999999, \"read_ios\"";
    let three = parse(&GROUPS_3_25.replace("\"read_ios\"", sectors));
    assert!(three.figures.iter().all(|f| f.trials[0].device.is_none()), "whose they are");
    // All of the 1241 MB, or all but the bytes that fio may miss in 30 s.
    for (sectors, counts, why) in [
        ("2424670", true, "all"),
        ("2400000", true, "99.0 to 98.4 % of it: the end is missed"),
        ("2350000", false, "less than that explains"),
    ] {
        let figure = first(DIRECT_3_39, "3320952", sectors);
        assert_eq!(figure.trials[0].device.is_some(), counts, "{why}");
        assert_eq!(cached(&figure).is_none(), counts, "{why}: {:?}", figure.findings);
    }
}

/// A job that reads `gib` at random for 5 s, with these options, median time and counts of the device.
fn random_reads(options: &str, gib: u64, p50_ns: u64, disks: &str) -> Figure {
    let (bytes, ios) = (gib << 30, (gib << 30) / 4096);
    let mean = 5e9 / ios as f64;
    let text = format!(
        r#"{{"fio version": "fio-3.33", "jobs": [{{"jobname": "c", "job options": {{
        "rw": "randread", "bs": "4k", "size": "1g", "time_based": "1", "runtime": "5",
        "ioengine": "psync", {options}}}, "read": {{"io_bytes": {bytes}, "runtime": 5000,
        "total_ios": {ios}, "clat_ns": {{"min": 300, "max": 900000, "mean": {mean}, "N": {ios},
        "percentile": {{"50.000000": {p50_ns}, "99.000000": 90000}}}}}}}}],
        "disk_util": [{disks}]}}"#
    );
    parse(&text).figures.remove(0)
}

/// Returns the finding that the device did not do the work.
fn cached(figure: &Figure) -> Option<(Severity, String)> {
    let found = figure.findings.iter().find(|f| f.check == "page_cache");
    found.map(|f| (f.severity, f.message.clone()))
}

#[test]
fn a_cached_file_is_named_as_the_page_cache() {
    let disk = |reads: u64| {
        format!(r#"{{"name": "vda", "read_ios": {reads}, "read_merges": 8, "util": 6.3}}"#)
    };
    let buffered = r#""direct": "0""#;
    // 500 I/Os of 4 MiB are 2 GiB at most.
    let figure = random_reads(buffered, 12, 836, &disk(500));
    let (severity, message) = cached(&figure).unwrap();
    assert_eq!(severity, Severity::Invalid);
    let ios = proofmark_model::format_count(3_145_728);
    let words = format!("at most 2.0 GiB (disk_util: 500 I/Os) of the 12 GiB in {ios} I/Os");
    assert!(message.contains(&words) && message.contains("holes or unwritten"), "{message}");
    // More I/Os than the cache leaves, but no disk answers in less than 1 us.
    let (severity, message) = cached(&random_reads(buffered, 12, 836, &disk(900_000))).unwrap();
    assert_eq!(severity, Severity::Invalid);
    assert!(message.contains("took 836.0 ns or less"), "{message}");
    assert!(cached(&random_reads(buffered, 12, 836, "")).is_some(), "no counters");
    assert_eq!(cached(&random_reads(buffered, 1, 52_000, &disk(262_144))), None, "from the disk");
    assert_eq!(cached(&random_reads(buffered, 1, 52_000, "")), None, "unknown");
    let direct = r#""direct": "1""#;
    let (severity, message) = cached(&random_reads(direct, 12, 9_000, &disk(20))).unwrap();
    assert_eq!(severity, Severity::Invalid);
    assert!(message.contains("causes: a file system that does direct I/O through"), "{message}");
    let (severity, message) =
        cached(&random_reads(direct, 12, 9_000, r#"{"name": "vda"}"#)).unwrap();
    assert_eq!(severity, Severity::Suspect, "it may not count");
    assert!(message.contains("may not be") && message.contains("counters that are off"));
    // Direct I/O on a disk passes every cache: nothing but the counters can be wrong.
    let raw = random_reads(&format!("{direct}, \"filename\": \"/dev/vda\""), 12, 9_000, &disk(20));
    assert_eq!(cached(&raw), None);
    let accounts = raw.findings.iter().find(|f| f.check == "two_accounts").unwrap();
    assert!(accounts.severity == Severity::Suspect && !accounts.message.contains("page cache"));
    assert_eq!(cached(&random_reads(direct, 1, 52_000, &disk(262_144))), None);
}

#[test]
fn the_advice_is_not_what_the_job_did_already() {
    let advice = |options, disks| random_reads(options, 1, 52_000, disks).lack.unwrap().advice;
    let (direct, buffered) = (r#""direct": "1""#, r#""direct": "0""#);
    let other = r#"{"name": "vda", "read_ios": 900000, "util": 6.3}"#;
    for disks in ["", other] {
        assert!(!advice(direct, disks).contains("direct"), "{}", advice(direct, disks));
        assert!(advice(buffered, disks).contains("--direct=1"));
    }
    // A part of the options in a form that is not read.
    for (option, says) in
        [(r#""ramp_time": "1:30""#, "--ramp_time"), (r#""bssplit": "4k/50:8k/50""#, "--bs")]
    {
        let options = format!("{direct}, {option}");
        let lack = random_reads(&options, 1, 52_000, other).lack.unwrap();
        assert!(!lack.why.contains("lacks the job's options"), "{lack:?}");
        assert!(lack.advice.contains(says), "{lack:?}");
    }
    // Two jobs in one run: only separate runs help.
    for figure in &parse(GROUPS_3_25).figures {
        let Some(lack) = figure.lack.as_ref().filter(|l| l.why.contains("all jobs")) else {
            continue;
        };
        assert!(lack.advice.starts_with("run fio once for each job"), "{lack:?}");
    }
}
