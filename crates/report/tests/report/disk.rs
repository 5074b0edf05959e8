//! What a report says of a disk.

use std::collections::BTreeMap;

use proofmark_model::{Flush, Measurement, Param, Probe, Run, Verdict};
use proofmark_report::view::{LatencyChart, LineChart};
use proofmark_report::{Options, terminal};

use super::fixture;
use super::reading::{column, each, workload};
use super::rows::csv_rows;

fn is(m: &Measurement, parameter: &str, value: &str) -> bool {
    m.params.text(parameter) == Some(value)
}

#[test]
fn what_the_page_cache_did_is_never_put_first() {
    let mut run = fixture::disk();
    let h = workload(&run, "disk.seq_read").headline;
    assert_eq!(h.value.as_deref(), Some("556.0"), "6200 MB/s are invalid");
    assert!(h.at.starts_with("direct, io_uring"), "{}", h.at);
    // An invalid one is not replaced by another way to the file.
    each(&mut run, "disk.seq_read")
        .filter(|m| is(m, "direct", "on"))
        .for_each(|m| m.verdict = Verdict::Invalid);
    let h = workload(&run, "disk.seq_read").headline;
    assert_eq!(h.value, None);
    assert!(h.at.starts_with("No usable result: that of direct"), "{}", h.at);
    // Where nothing else was measured, it is the cold cache's, by its name.
    run.measurements.retain(|m| m.workload != "disk.seq_read" || !is(m, "direct", "on"));
    let h = workload(&run, "disk.seq_read").headline;
    assert!(h.at.starts_with("buffered, cold cache"), "{}", h.at);
}

#[test]
fn a_small_file_is_never_put_first() {
    let mut run = fixture::disk();
    let headline = |run: &Run| workload(run, "disk.seq_read").headline.value;
    let usual = headline(&run);
    // Faster, and all of it may lie in a cache behind the device.
    let direct = each(&mut run, "disk.seq_read").find(|m| is(m, "direct", "on")).unwrap();
    let size = direct.params.int("file_size").unwrap();
    let with_file = |bytes: u64| {
        let mut m = direct.clone();
        m.params = m.params.with("file_size", bytes);
        proofmark_model::testing::rescale(m.summary.as_mut().unwrap(), 10.0);
        m
    };
    let smaller = [with_file(size / 64), with_file(size / 2)];
    run.measurements.extend(smaller);
    assert_eq!(headline(&run), usual);
}

#[test]
fn every_name_says_direct_or_buffered_and_whether_it_was_flushed() {
    let run = fixture::disk();
    let read = workload(&run, "disk.seq_read").table;
    let ways = column(&read, "I/O");
    assert_eq!(ways[..3], ["buffered, cold cache", "buffered, warm cache", "direct"]);
    let write = workload(&run, "disk.seq_write").table;
    assert_eq!(column(&write, "I/O")[..2], ["direct, flush included", "direct, no flush"]);
    let random = workload(&run, "disk.rand_read");
    assert!(random.table.caption.contains("(direct, "), "named even if it is the same in all");
    assert!(random.headline.at.starts_with("direct, "), "{}", random.headline.at);
}

#[test]
fn what_was_done_counts_and_not_what_was_asked() {
    let mut run = fixture::disk();
    for m in each(&mut run, "disk.seq_write") {
        for file in m.trials.iter_mut().filter_map(|t| t.file.as_mut()) {
            (file.direct, file.flush) = (Some(false), Flush::Never);
        }
    }
    let view = workload(&run, "disk.seq_write");
    let all = "direct requested, buffered used, no flush";
    assert!(view.table.caption.contains(all), "{}", view.table.caption);
    let first = each(&mut run, "disk.seq_write").next().unwrap();
    first.trials[0].file.as_mut().unwrap().flush = Flush::End;
    let view = workload(&run, "disk.seq_write");
    let mixed = "direct requested, buffered used, flush in some trials only";
    assert_eq!(column(&view.table, "I/O").iter().filter(|w| **w == mixed).count(), 1);
}

#[test]
fn ios_a_second_stand_beside_the_rate() {
    let run = fixture::disk();
    let table = workload(&run, "disk.rand_read").table;
    assert_eq!(column(&table, "delivered")[..3], ["33.59", "122.9", "249.9"]);
    assert_eq!(column(&table, "IOPS")[..3], ["8200", "30000", "61000"]);
    let at = |title: &str| table.columns.iter().position(|c| c.title == title).unwrap();
    assert_eq!(at("IOPS"), at("delivered") + 1);
    assert_eq!(table.columns[at("IOPS")].unit.as_deref(), Some("op/s"));
    let commits = workload(&run, "disk.fsync");
    assert!(commits.table.columns.iter().all(|c| c.title != "IOPS"), "they are op/s already");
    assert_eq!(column(&commits.table, "delivered"), ["1900", "3100"]);
    let memory = workload(&fixture::memory(), "memory.read_write").table;
    assert!(memory.columns.iter().all(|c| c.title != "IOPS" && c.title != "I/O"));
    let of = |r: &BTreeMap<String, String>, name: &str| r[name].clone();
    let mut found = 0;
    for r in csv_rows(&run) {
        let (iops, block) = (of(&r, "iops"), of(&r, "block_size").parse::<f64>().unwrap());
        if of(&r, "unit") == "B/s" {
            let value: f64 = of(&r, "value").parse().unwrap();
            let iops: f64 = iops.parse().unwrap();
            assert!((iops - value / block).abs() <= 1e-9 * iops, "{value} / {block}: {iops}");
            found += 1;
        } else {
            assert_eq!(iops, "");
        }
        let (read, asked) = (of(&r, "device_read_bytes"), of(&r, "asked_read_bytes"));
        let cached = of(&r, "file_cached_share") == "1";
        assert_eq!(read == "0", cached || asked == "0", "{r:?}");
    }
    assert_eq!(found, 22 * 6);
}

#[test]
fn what_the_device_moved_stands_beside_what_was_asked_for() {
    let mut run = fixture::disk();
    let view = workload(&run, "disk.seq_read");
    let device = column(&view.table, "device");
    assert_eq!(device[..3], ["102.0", "0.0", "100.0"]);
    assert_eq!(device.last(), Some(&"0.0"), "what the page cache served");
    assert!(view.headline.extra.unwrap().ends_with("; device 100.0\u{a0}%"));
    each(&mut run, "disk.seq_read").next().unwrap().trials.iter_mut().for_each(|t| t.device = None);
    let table = workload(&run, "disk.seq_read").table;
    let silent = column(&table, "device").iter().filter(|d| **d == "-").count();
    assert_eq!(silent, 1);
    assert!(table.notes.iter().any(|n| n == "not recorded in its trials"));
}

#[test]
fn random_io_is_told_for_the_usual_block() {
    let mut run = fixture::disk();
    let mut larger: Vec<Measurement> =
        each(&mut run, "disk.rand_read").map(|m| m.clone()).collect();
    for m in &mut larger {
        m.params.0.insert("block_size".into(), Param::Int(64 << 10));
        proofmark_model::testing::rescale(m.summary.as_mut().unwrap(), 1.4);
    }
    run.measurements.extend(larger);
    let view = workload(&run, "disk.rand_read");
    let h = &view.headline;
    assert_eq!((h.value.as_deref(), h.unit.as_str()), (Some("88000"), "IOPS"));
    assert_eq!(h.near.as_ref().unwrap().of, "of its ceiling of 91520 IOPS");
    assert!(h.at.contains("block size 4 KiB"), "{}", h.at);
    let titles: Vec<&str> = view.lines.iter().map(|l| l.title.as_str()).collect();
    for title in ["IOPS by queue depth (direct)", "rate by block size (direct)"] {
        assert!(titles.contains(&format!("Random read: {title}").as_str()), "{titles:?}");
    }
}

#[test]
fn percentiles_that_the_sample_does_not_carry_are_missing() {
    let mut run = fixture::disk();
    let table = workload(&run, "disk.rand_read").latency;
    assert_eq!(column(&table, "p50")[..3], ["0.118", "0.128", "0.505"]);
    assert_eq!(column(&table, "mean")[0], "0.136");
    assert_eq!(column(&table, "p99.9")[..2], ["-", "0.512"]);
    assert_eq!(column(&table, "count")[0], "4\u{202f}920");
    assert!(table.notes.iter().any(|n| n == "too few operations for this percentile"));
    let first = each(&mut run, "disk.rand_read").next().unwrap();
    first.latency = None;
    first.missing.insert("latency".into(), "timing would have cost 3 % (fixture)".into());
    let table = workload(&run, "disk.rand_read").latency;
    assert_eq!(column(&table, "p50")[..2], ["-", "0.128"]);
    assert!(table.notes.iter().any(|n| n == "timing would have cost 3 % (fixture)"));
    each(&mut run, "disk.rand_read").for_each(|m| m.latency = None);
    let view = workload(&run, "disk.rand_read");
    assert!(view.latency.rows.is_empty() && view.curves.is_empty());
    assert_eq!(view.distribution, None);
}

#[test]
fn a_fallen_rate_is_two_numbers() {
    let mut run = fixture::disk();
    let view = workload(&run, "disk.seq_write");
    let found = "The rate fell (direct, flush included, 2 threads, block size 1 MiB): \
                burst 490.0 MB/s, sustained 64.00 MB/s.";
    assert!(view.sentences.iter().any(|s| s == found), "{:?}", view.sentences);
    let falls = |lines: &[LineChart]| -> Vec<[f64; 2]> {
        lines
            .iter()
            .flat_map(|l| &l.series)
            .flat_map(|s| &s.spots)
            .filter_map(|s| s.mark.fall)
            .collect()
    };
    assert_eq!(falls(&view.lines), [[490.0, 64.0]]);
    assert!(view.lines[0].key.starts_with("Arrow: "));
    each(&mut run, "disk.seq_write").for_each(|m| m.findings.clear());
    let view = workload(&run, "disk.seq_write");
    assert!(falls(&view.lines).is_empty() && view.lines.iter().all(|l| l.key.is_empty()));
    assert!(view.sentences.iter().all(|s| !s.contains("burst")));
}

#[test]
fn a_fallen_rate_that_is_put_first_says_so() {
    let mut run = fixture::disk();
    run.measurements.retain(|m| m.verdict != Verdict::Valid || m.workload != "disk.seq_write");
    let h = workload(&run, "disk.seq_write").headline;
    let beside = h.extra.unwrap();
    assert!(beside.starts_with("burst 490.0 MB/s, sustained 64.00 MB/s; p50 "), "{beside}");
    assert_eq!(h.verdict, Some(Verdict::Suspect));
}

fn names(chart: &LineChart) -> Vec<&str> {
    chart.series.iter().map(|s| s.name.as_str()).collect()
}

#[test]
fn the_device_and_the_page_cache_share_no_chart() {
    let run = fixture::disk();
    let lines = workload(&run, "disk.seq_read").lines;
    let blocks = &lines[0];
    assert_eq!(
        blocks.title,
        "Sequential read: rate by block size (direct, io_uring, queue depth 8)"
    );
    assert_eq!(names(blocks), ["2 threads", "1 thread"]);
    let labels: Vec<&str> = blocks.ticks.iter().map(|t| t.label.as_str()).collect();
    assert_eq!(labels, ["4 KiB", "64 KiB", "1 MiB", "8 MiB"], "8 B were not read directly");
    let titles = lines.iter().filter(|l| l.title.contains("warm cache")).count();
    assert_eq!(titles, 1);
}

#[test]
fn a_sweep_of_the_depth_is_one_line_whatever_engine_each_depth_has() {
    let mut run = fixture::disk();
    let depth = &workload(&run, "disk.rand_read").lines[0];
    assert_eq!(depth.title, "Random read: IOPS by queue depth (direct)");
    assert_eq!(
        (names(depth), depth.unit.as_str()),
        (vec!["4 threads", "1 thread"], "thousand IOPS")
    );
    let values: Vec<&str> = depth.series[1].spots.iter().map(|s| s.mark.text.as_str()).collect();
    assert_eq!(values, ["8.200", "30.00", "61.00"]);
    // Where a depth has both engines, they are two lines.
    let mut other: Vec<Measurement> = each(&mut run, "disk.rand_read").map(|m| m.clone()).collect();
    for m in &mut other {
        let engine = if is(m, "engine", "psync") { "io_uring" } else { "psync" };
        m.params.0.insert("engine".into(), Param::Text(engine.into()));
    }
    run.measurements.extend(other);
    let depth = &workload(&run, "disk.rand_read").lines[0];
    assert_eq!(depth.series.len(), 4, "{:?}", names(depth));
}

fn about(chart: &LatencyChart) -> Vec<&str> {
    chart.curves.iter().flat_map(|c| &c.points).map(|p| p.about.as_str()).collect()
}

#[test]
fn latency_is_drawn_over_throughput_by_depth() {
    let run = fixture::disk();
    let curves = workload(&run, "disk.rand_read").curves;
    assert_eq!(curves.len(), 2, "one a number of threads");
    let one = curves.iter().find(|c| c.title.ends_with("(direct, 1 thread)")).unwrap();
    assert_eq!(one.x.label, "thousand IOPS");
    let labels: Vec<&str> = one.curves[0].points.iter().map(|p| p.label.as_str()).collect();
    assert_eq!(labels, ["1", "4", "32"]);
    assert_eq!(about(one)[1], "queue depth 4: p50 128.0 us at 30.00 thousand IOPS, ✓ valid");
    let p99 = &one.curves[1];
    assert!(p99.line.iter().zip(&one.curves[0].line).all(|(p99, p50)| p99[1] > p50[1]));
    assert!(workload(&run, "disk.seq_read").curves.is_empty(), "one depth is no sweep");
}

#[test]
fn a_distribution_rises_to_all_operations() {
    let mut run = fixture::disk();
    let chart = workload(&run, "disk.seq_read").distribution.unwrap();
    assert_eq!(chart.curves.len(), 6);
    assert_eq!(chart.left_out, "6 more distributions: in the table.");
    assert!(chart.curves[0].name.contains("direct"), "the best number's series comes first");
    for curve in &chart.curves {
        assert_eq!(curve.line.last().unwrap()[1], 100.0);
        assert!(curve.line.windows(2).all(|w| w[0][0] <= w[1][0] && w[0][1] <= w[1][1]));
    }
    assert!(chart.curves.iter().any(|c| c.name.ends_with("(✗ invalid)")));
    let depths = workload(&run, "disk.rand_read").distribution.unwrap();
    let p50 = "direct, 1 thread, queue depth 1: p50 0.118 ms";
    assert!(about(&depths).contains(&p50), "{:?}", about(&depths));
    each(&mut run, "disk.rand_read").for_each(|m| m.latency.as_mut().unwrap().buckets.clear());
    assert_eq!(workload(&run, "disk.rand_read").distribution, None);
}

#[test]
fn published_tables_are_by_threads_in_megabytes() {
    let run = fixture::disk();
    let tables = workload(&run, "disk.seq_read").published;
    assert_eq!(tables.len(), 6, "one a block size and way");
    for t in &tables {
        assert!(t.caption.ends_with(", in MB/s"), "{}", t.caption);
        assert_eq!(column(t, "threads"), ["1", "2"]);
    }
    let random = workload(&run, "disk.rand_read").published;
    assert_eq!(random.len(), 3, "one a depth, by threads");
    assert_eq!(column(&random[0], "Average"), ["33.59", "73.89"]);
}

#[test]
fn the_time_a_block_stands_beside_the_latency_that_it_is_not() {
    let mut run = fixture::disk();
    let table = &workload(&run, "disk.rand_read").reciprocal[0];
    assert!(table.caption.contains("reciprocal throughput, time per block of 4 KiB"));
    // A thread's 8200 I/Os a second are 122 us each; 32 in flight make that 16, and no I/O faster.
    assert_eq!(column(table, "Average")[..3], ["122.0", "33.33", "16.39"]);
    assert_eq!(column(table, "latency p50")[..3], ["118.0", "128.0", "505.0"]);
    assert!(workload(&run, "disk.seq_write").reciprocal.is_empty(), "1 MiB is no small block");
    // A copy of a file reads or writes each block that it counts.
    for m in each(&mut run, "disk.rand_read") {
        m.workload = "disk.read_write".into();
    }
    let table = &workload(&run, "disk.read_write").reciprocal[0];
    assert_eq!(column(table, "Average")[2], "16.39");
}

#[test]
fn sentences_tell_the_depths_and_the_page_cache() {
    let run = fixture::disk();
    let random = workload(&run, "disk.rand_read").sentences;
    let deeper =
        "Compared with queue depth 1 (direct, 4 threads): 3.66 times at 4 and 4.88 times at 32.";
    assert!(random.iter().any(|s| s == deeper), "{random:?}");
    let read = workload(&run, "disk.seq_read").sentences;
    let cached = "From the page cache, not the disk: 9.500 MB/s (buffered, warm cache, 1 thread, \
                  block size 8 B); the device moved 0.0 % of it.";
    assert!(read.iter().any(|s| s == cached), "{read:?}");
}

#[test]
fn the_folder_s_devices_and_limits_are_among_the_host_s_facts() {
    let mut run = fixture::disk();
    let options = Options { width: 200, color: false };
    let found = terminal::host(&run.host, &options);
    for said in [
        "disk; model FIXTURE SSD 480; sata; 480 GiB; sectors of 512 B, 4 KiB physical",
        "partition over sda",
        "SATA 6.0 Gbit/s, 600.0 MB/s",
        "read 580.0 MB/s, 120000 reads per second",
        "declared disk.read_iops",
    ] {
        assert!(found.contains(said), "{said} in {found}");
    }
    run.host.storage = Probe::missing("the folder is gone (fixture)");
    let found = terminal::host(&run.host, &options);
    assert!(found.contains("the folder is gone (fixture)") && !found.contains("file system"));
}
