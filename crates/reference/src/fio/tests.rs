use proofmark_model::{Flush, Latency, Order, Param};

use super::Fio;
use crate::testing::{near, outputs};
use crate::{Output, Tool};

outputs! {
    PLUS_3_33 "3.33-json-plus.json"
    CLONES_3_33 "3.33-clones.json"
    NORMAL_3_33 "3.33-normal-and-json.txt"
    MIXED_3_33 "3.33-mixed.json"
    GROUPS_3_25 "3.25-groups.json"
    FLUSHED_3_25 "3.25-flushed.json"
    PLUS_3_39 "3.39-json-plus.json"
    STATUS_3_39 "3.39-status.json"
    COMMITS_3_39 "3.39-beside-commits.json"
    CACHED_3_39 "3.39-cached.json"
    DIRECT_3_39 "3.39-direct.json"
}

fn parse(text: &str) -> Output {
    Fio.parse(text).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn figures_are_those_of_the_text() {
    // "io_bytes" : 86228992, "bw_bytes" : 286475056, "runtime" : 301
    let output = parse(PLUS_3_33);
    let f = &output.figures[0];
    assert_eq!((f.trials[0].work, f.trials[0].seconds), (86_228_992.0, 0.301));
    assert_eq!(f.trials[0].value.floor(), 286_475_056.0);
    assert_eq!(f.test, "randread");
    assert_eq!(f.params.get("queue_depth"), Some(&Param::Int(8)));
    assert_eq!(f.params.text("engine"), Some("io_uring"));
    assert_eq!(f.params.int("file_size"), Some(4 << 20));
    assert!(f.trials[0].device.is_none(), "3.33 does not tell sectors");
}

#[test]
fn without_percentiles_of_lat_the_latency_is_clat() {
    let Latency { count, min, mean, p50, p90, p99, p999, max, .. } =
        parse(PLUS_3_33).figures.remove(0).latency.unwrap();
    assert_eq!(count, 21052);
    assert!(near(min, 253e-9) && near(mean, 110_115.343_198e-9) && near(max, 3_164_944e-9));
    assert!(near(p50, 102_912e-9) && near(p90.unwrap(), 118_272e-9));
    assert!(near(p99.unwrap(), 309_248e-9) && near(p999.unwrap(), 2_088_960e-9));
}

#[test]
fn percentiles_of_lat_go_first() {
    let lat = "\"min\" : 27126,";
    let both = format!("{lat} \"percentile\" : {{ \"50.000000\" : 111111 }},");
    let latency = parse(&PLUS_3_33.replacen(lat, &both, 1)).figures.remove(0).latency.unwrap();
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
        assert!(below * 2 <= latency.count, "the median lies where half of them do");
    }
    assert!(parse(GROUPS_3_25).figures[0].latency.as_ref().unwrap().buckets.is_empty());
    let empty = PLUS_3_33.replacen("\"bins\" : {", "\"bins\" : { \"5\" : 0,", 1);
    assert_eq!(parse(&empty).figures, parse(PLUS_3_33).figures);
}

#[test]
fn many_jobs_and_options_take_no_longer_than_they_are_long() {
    let side = r#"{"io_bytes": 1, "runtime": 1, "total_ios": 1}"#;
    let job = format!(
        r#"{{"jobname": "j", "groupid": 0, "error": 0, "job options": {{}}, "read": {side}}}"#
    );
    let options: Vec<String> = (0..20_000).map(|i| format!(r#""o{i}": "v""#)).collect();
    let text = format!(
        r#"{{"fio version": "fio-3.33", "global options": {{{}}}, "jobs": [{}]}}"#,
        options.join(","),
        vec![job; 20_000].join(",")
    );
    let before = std::time::Instant::now();
    assert_eq!(parse(&text).figures.len(), 20_000);
    assert!(before.elapsed().as_secs() < 10);
}

#[test]
fn processes_are_one_figure() {
    // 7507968, 7532544 and 7487488 bytes in 201, 202 and 201 ms
    let f = parse(CLONES_3_33).figures.remove(0);
    assert_eq!((f.trials[0].work, f.trials[0].seconds), (22_528_000.0, 0.202));
    assert_eq!(f.params.int("threads"), Some(3));
    assert_eq!(f.params.int("file_size"), Some(12 << 20));
    assert_eq!((&*f.test, f.latency), ("randread", None));
}

#[test]
fn a_job_among_others_is_not_compared() {
    let apart = GROUPS_3_25.to_owned();
    let tests = |text: &str| -> Vec<(String, bool)> {
        parse(text).figures.iter().map(|f| (f.test.to_string(), f.comparable)).collect()
    };
    let named = |test: &str, comparable| (test.to_owned(), comparable);
    assert_eq!(tests(&apart)[..2], [named("read", true), named("randwrite", true)]);
    let together = apart.replace("\"groupid\" : 1", "\"groupid\" : 0");
    assert_eq!(tests(&together)[..2], [named("read", false), named("randwrite", false)]);
    assert_eq!(tests(&together)[4], named("randrw", true), "which is alone in its group");
}

#[test]
fn blocks_that_follow_each_other_are_not_our_random_order() {
    let changed = PLUS_3_33.replacen("\"randread\"", "\"randread:8\"", 1);
    let f = parse(&changed).figures.remove(0);
    assert_eq!((&*f.test, f.comparable), ("randread", false));
}

#[test]
fn a_group_has_its_processes() {
    let output = parse(GROUPS_3_25);
    assert_eq!(output.figures[1].params.int("threads"), Some(2));
    assert!(output.figures[1].latency.is_some(), "fio has put them together");
}

#[test]
fn both_directions_together_are_their_sum() {
    // 8372224 read and 6201344 written in 301 ms, of blocks of 4k and 8k
    let output = parse(GROUPS_3_25);
    let both = &output.figures[4];
    assert_eq!((both.trials[0].work, both.trials[0].seconds), (14_573_568.0, 0.301));
    assert_eq!((both.params.int("reads"), both.params.int("block_size")), (Some(75), None));
    assert_eq!(output.figures[3].params.int("block_size"), Some(8192));
}

#[test]
fn a_job_that_failed_has_no_figure() {
    let first = parse(GROUPS_3_25).figures.len();
    let failed = GROUPS_3_25.replacen("\"error\" : 0", "\"error\" : 28", 1);
    assert_eq!(parse(&failed).figures.len(), first - 1);
    let all = GROUPS_3_25.replace("\"error\" : 0", "\"error\" : 28");
    assert_eq!(Fio.parse(&all).unwrap_err().to_string(), "line 1: job seq ended with error 28");
}

#[test]
fn counters_of_devices_are_those_of_a_run_of_one_job() {
    // "read_ios" : 363063, "read_sectors" : 3320952, "in_queue" : 56773, "util" : 59.325873
    let device = parse(DIRECT_3_39).figures[0].trials[0].device.clone().unwrap();
    assert_eq!((device.reads, device.read_bytes, device.writes), (363_063, 3_320_952 * 512, 2481));
    assert!(near(device.busy_s, 0.593_258_73 * 30.001) && near(device.in_flight_s, 56.773));
    let over = DIRECT_3_39.replace("\"read_ios\"", "\"aggr_read_ios\" : 0, \"read_ios\"");
    assert_eq!(parse(&over).figures[0].trials[0].device, None, "it lies on others");
    let sectors = "\"read_sectors\" : 99999999, \"write_sectors\" : 99999999, \"read_ios\"";
    let three = parse(&GROUPS_3_25.replace("\"read_ios\"", sectors));
    assert!(three.figures.iter().all(|f| f.trials[0].device.is_none()), "whose they are");
    let large = DIRECT_3_39.replace("3320952", "99999999999999999");
    assert!(Fio.parse(&large).unwrap_err().what.contains("out of range"));
    let negative = DIRECT_3_39.replace("59.325873", "-59.325873");
    assert!(Fio.parse(&negative).is_err());
}

#[test]
fn counters_that_may_lack_the_end_of_a_run_prove_nothing() {
    let device = |text: &str| parse(text).figures[0].trials[0].device.clone();
    // 45 of 53 MB in 0.4 s, 48 of 53 MB in 1.5 s
    assert_eq!((device(PLUS_3_39), device(STATUS_3_39)), (None, None));
    // 186 MB of 981 MB in 3 s: from the page cache
    let cached = device(CACHED_3_39).unwrap();
    assert!(cached.read_bytes < 981_000_000 / 4, "{cached:?}");
    // Read to the end of all the 1241 MB, or to within what is missed of 30 s.
    let direct = |sectors: &str| device(&DIRECT_3_39.replace("3320952", sectors));
    assert!(direct("2424670").is_some(), "all");
    assert_eq!(direct("2400000"), None, "99.0 to 98.4 % of it");
    assert!(direct("2350000").is_some(), "less than that explains");
}

#[test]
fn the_options_tell_how_the_file_was_used() {
    let file = |text: &str| parse(text).figures[0].trials[0].file.clone().unwrap();
    let direct = file(DIRECT_3_39);
    assert_eq!(
        (direct.order, direct.flush, direct.direct),
        (Order::Rand, Flush::Never, Some(true))
    );
    assert_eq!((direct.size_bytes, direct.asked_written_bytes), (64 << 20, 0));
    assert_eq!(direct.asked_read_bytes as f64, parse(DIRECT_3_39).figures[0].trials[0].work);
    assert_eq!((direct.cached, direct.unwritten, direct.entropy_bits), (None, None, None));
    assert_eq!(file(CACHED_3_39).direct, Some(false));
    assert_eq!((file(COMMITS_3_39).flush, file(COMMITS_3_39).order), (Flush::Each, Order::Seq));
    assert_eq!(file(NORMAL_3_33).flush, Flush::End);
    let both = parse(GROUPS_3_25).figures.pop().unwrap();
    let both = both.trials[0].file.clone().unwrap();
    assert_eq!((both.asked_read_bytes, both.asked_written_bytes), (8_372_224, 6_201_344));
    // Of reads and writes together it is not told which were which.
    assert_eq!(parse(MIXED_3_33).figures[0].trials[0].file, None);
    let unsized_ = PLUS_3_33.replacen("\"size\"", "\"description\"", 1);
    assert_eq!(parse(&unsized_).figures[0].trials[0].file, None, "nor is there a device's count");
    let unsized_ = DIRECT_3_39.replacen("\"size\"", "\"description\"", 1);
    assert_eq!(file(&unsized_).size_bytes, 0);
}

#[test]
fn a_job_starts_when_it_says_or_when_the_report_was_printed() {
    let started = |text: &str| parse(text).started.map(|t| t.display());
    assert_eq!(started(PLUS_3_39).as_deref(), Some("2026-11-21 21:53:15 UTC"));
    assert_eq!(started(PLUS_3_33).as_deref(), Some("2026-11-21 21:50:18 UTC"));
}

#[test]
fn errors_have_the_line_of_the_text() {
    let line = |text: &str| Fio.parse(text).unwrap_err().line;
    // The normal output before the JSON counts.
    let (before, _) = NORMAL_3_33.split_once("\"runtime\"").unwrap();
    assert_eq!(
        line(&NORMAL_3_33.replacen("\"runtime\" : ", "\"runtime\" : -", 1)),
        newlines(before)
    );
    // And so do the reports before the last.
    let (before, _) = STATUS_3_39.rsplit_once("\"runtime\"").unwrap();
    assert_eq!(line(&format!("{before}\"runtime\" : -1")), newlines(before));
    assert_eq!(line("fio: pid=1, err=2"), 1);
}

fn newlines(text: &str) -> usize {
    text.lines().count()
}

#[test]
fn what_cannot_be_is_refused() {
    for (from, to, why) in [
        ("\"rw\" : \"randread\"", "\"rw\" : \"juggle\"", "rw=juggle is not known"),
        ("fio-3.33", "fio-2.16", "fio 3.0 and newer"),
        ("\"mean\" : 110115.343198", "\"mean\" : -1.0", "mean"),
        ("\"mean\" : 110115.343198", "\"mean\" : 1e999", "out of range"),
        ("\"74240\" : ", "\"about 74240\" : ", "no time in ns"),
        ("\"runtime\" : 301", "\"runtime\" : 0", "for a millisecond"),
        ("\"io_bytes\" : 86228992", "\"io_bytes\" : 0", "for a millisecond"),
    ] {
        let changed = PLUS_3_33.replacen(from, to, 1);
        assert_ne!(changed, PLUS_3_33, "{from}");
        let error = Fio.parse(&changed).unwrap_err();
        assert!(error.what.contains(why), "{error}");
    }
}

#[test]
fn without_options_nothing_is_said_of_them() {
    for (text, test) in [(PLUS_3_33, "read"), (FLUSHED_3_25, "write")] {
        let f = parse(&text.replacen("job options", "other options", 1)).figures.remove(0);
        assert_eq!((&*f.test, f.comparable, f.params.0.len()), (test, false, 0));
    }
}
