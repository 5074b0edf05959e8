use super::Fio;
use crate::testing::{CUT, near, refuses, replaced};
use crate::{Figure, Output, Tool};

const PLUS_3_33: &str = include_str!("captured/3.33-json-plus.json");
const NORMAL_3_33: &str = include_str!("captured/3.33-normal-and-json.txt");
const GROUPS_3_25: &str = include_str!("captured/3.25-groups.json");
const FLUSHED_3_25: &str = include_str!("captured/3.25-flushed.json");
const PLUS_3_39: &str = include_str!("captured/3.39-json-plus.json");
const STATUS_3_39: &str = include_str!("captured/3.39-status.json");
const DIRECT_3_39: &str = include_str!("captured/3.39-direct.json");

fn parse(text: &str) -> Output {
    Fio.parse(text).unwrap_or_else(|e| panic!("{e}"))
}

/// The first figure of a report in which a piece is another.
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
    let before = std::time::Instant::now();
    assert_eq!(parse(&text).figures.len(), 20_000);
    assert!(before.elapsed().as_secs() < 10);
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
        assert_eq!((&*f.test, f.comparable, f.params.0.len()), (test, false, 0));
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
fn counters_of_devices_are_those_of_a_run_of_one_job() {
    let over = first(DIRECT_3_39, "\"read_ios\"", "\"aggr_read_ios\" : 0, \"read_ios\"");
    assert_eq!(over.trials[0].device, None, "others make it up");
    let sectors = "\"read_sectors\" : 99999999, \"write_sectors\" : 99999999, \"read_ios\"";
    let three = parse(&GROUPS_3_25.replace("\"read_ios\"", sectors));
    assert!(three.figures.iter().all(|f| f.trials[0].device.is_none()), "whose they are");
    // Read to the end of all the 1241 MB, or to within what is missed of 30 s.
    for (sectors, counts, why) in [
        ("2424670", true, "all"),
        ("2400000", true, "99.0 to 98.4 % of it: the end is missed"),
        ("2350000", true, "less than that explains"),
    ] {
        let device = first(DIRECT_3_39, "3320952", sectors).trials[0].device.clone();
        assert_eq!(device.is_some(), counts, "{why}");
    }
}

#[test]
fn a_file_without_a_size_is_reported_with_a_devices_count() {
    let unsized_ = |text| first(text, "\"size\"", "\"description\"").trials[0].file.clone();
    assert_eq!(unsized_(PLUS_3_33), None);
    assert_eq!(unsized_(DIRECT_3_39).unwrap().size_bytes, 0);
}

#[test]
fn errors_have_the_line_of_the_text() {
    let line = |text: &str| Fio.parse(text).unwrap_err().line;
    // The normal output before the JSON counts.
    let (before, _) = NORMAL_3_33.split_once("\"runtime\"").unwrap();
    let negative = replaced(NORMAL_3_33, "\"runtime\" : ", "\"runtime\" : -");
    assert_eq!(line(&negative), before.lines().count());
    // And so do the reports before the last.
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
