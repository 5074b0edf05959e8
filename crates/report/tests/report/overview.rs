//! Charts and tables over several workloads, as the published experiments have them.

use proofmark_model::{Run, Verdict};
use proofmark_report::view::{LineChart, Overview, Table, View};

use super::fixture;
use super::reading::{column, each};

fn overview(run: &Run, title: &str) -> Overview {
    View::from_run(run).overviews.into_iter().find(|o| o.title == title).unwrap()
}

fn chart(run: &Run, part: &str, title: &str) -> LineChart {
    let all = overview(run, part).lines;
    let titles: Vec<String> = all.iter().map(|c| c.title.clone()).collect();
    all.into_iter().find(|c| c.title == title).unwrap_or_else(|| panic!("{titles:?}"))
}

fn table(run: &Run, part: &str, caption: &str) -> Table {
    let all = overview(run, part).tables;
    all.into_iter().find(|t| t.caption.starts_with(caption)).unwrap()
}

fn names(chart: &LineChart) -> Vec<&str> {
    chart.series.iter().map(|s| s.name.as_str()).collect()
}

fn values<'a>(chart: &'a LineChart, name: &str) -> Vec<&'a str> {
    let line = chart.series.iter().find(|s| s.name == name).unwrap();
    line.spots.iter().map(|s| s.mark.text.as_str()).collect()
}

#[test]
fn integers_and_floating_point_are_in_one_chart() {
    let chart = chart(&fixture::published(), "CPU", "GIOPS and GFLOPS by threads");
    assert_eq!(names(&chart), ["GFLOPS", "GIOPS"]);
    assert_eq!(values(&chart, "GIOPS"), ["3.500", "7.000", "14.00"]);
    assert_eq!(chart.unit, "Gop/s");
    assert!(chart.series.iter().flat_map(|s| &s.spots).all(|s| s.mark.ceiling.is_none()));
}

#[test]
fn sequential_and_random_are_in_one_chart() {
    let run = fixture::published();
    let memory = chart(&run, "Memory", "Memory: sequential and random rate by block size");
    assert_eq!(
        names(&memory),
        ["Copy of blocks in order", "Copy at random", "Writes of blocks in random order"]
    );
    let disk = chart(&run, "Disk", "Disk: sequential and random rate by block size");
    assert_eq!(names(&disk), ["Sequential read", "Random write"]);
}

#[test]
fn what_does_not_stand_is_in_no_line_across_workloads() {
    let mut run = fixture::published();
    let title = "Memory: sequential and random rate by block size";
    each(&mut run, "memory.rand_write").for_each(|m| m.verdict = Verdict::Invalid);
    assert!(!names(&chart(&run, "Memory", title)).contains(&"Writes of blocks in random order"));
    each(&mut run, "memory.rand_read_write").for_each(|m| m.verdict = Verdict::Invalid);
    let titles: Vec<String> = overview(&run, "Memory").lines.into_iter().map(|c| c.title).collect();
    assert!(!titles.iter().any(|t| t == title), "one line is the workload's own chart: {titles:?}");
}

#[test]
fn a_page_cache_is_in_no_line_of_the_disk() {
    let mut run = fixture::disk();
    run.measurements.retain(|m| m.workload == "disk.seq_read");
    let of = |run: &Run| chart(run, "Disk", "Disk: time of one operation by block size");
    let places: Vec<String> = of(&run).ticks.into_iter().map(|t| t.label).collect();
    assert_eq!(places, ["4 KiB", "64 KiB", "1 MiB", "8 MiB"], "8 B went through the page cache");
}

#[test]
fn time_by_threads_is_told_for_what_it_is() {
    let run = fixture::published();
    let memory = chart(&run, "Memory", "Memory: time of 8 B by threads");
    assert!(memory.key.contains("not a latency"));
    // 16 B are counted for a copy of 8 B: 45 MB/s are 355.6 ns a block.
    assert_eq!(values(&memory, "Copy of blocks in order")[0], "355.6");
    let disk = chart(&run, "Disk", "Disk: latency p50 of 4 KiB by threads");
    assert_eq!(values(&disk, "Random read"), ["118.0", "118.0"]);
}

#[test]
fn protocols_and_paths_are_beside_each_other() {
    let run = fixture::published();
    let rates = chart(&run, "Network", "TCP and UDP throughput by streams");
    let all = ["TCP, loopback", "UDP, loopback", "UDP, to peer-1", "TCP, to peer-1"];
    assert_eq!(names(&rates), all);
    let trips = chart(&run, "Network", "Round trip by block size, p50");
    assert_eq!(values(&trips, "TCP, to peer-1"), ["90.00", "91.00", "99.00"]);
    let by_streams = chart(&run, "Network", "Round trip of the smallest block by streams, p50");
    assert_eq!(values(&by_streams, "TCP, to peer-1"), ["90.00", "108.0", "180.0"]);
    assert_eq!(by_streams.key, "Loopback is not a network.");
}

#[test]
fn stream_has_its_listing() {
    let listing = table(&fixture::published(), "Memory", "After STREAM");
    assert_eq!(column(&listing, "function")[..4], ["Copy", "Scale", "Add", "Triad"]);
    let rows = listing.rows.len();
    assert_eq!(rows, 24, "four functions, three numbers of threads, two kinds of stores");
    // The fastest of the three trials is the median; a pass of Copy is two arrays of 1920 MiB.
    assert_eq!(column(&listing, "best rate")[0], "12500");
    assert_eq!(column(&listing, "min time")[0], "0.322123");
    assert_eq!(column(&listing, "max time")[0], "0.323741");
    assert_eq!(column(&listing, "min time")[2], "0.478400", "three arrays of Add at 12.625 GB/s");
    assert!(listing.caption.ends_with("arrays of 1.9 GiB"), "{}", listing.caption);
}

#[test]
fn iozone_has_its_matrix() {
    let run = fixture::published();
    let matrix = table(&run, "Disk", "After IOzone, Sequential read");
    let heads: Vec<&str> = matrix.columns.iter().map(|c| c.title.as_str()).collect();
    assert_eq!(heads, ["file", "4 KiB", "64 KiB", "1 MiB", "8 MiB"]);
    assert_eq!(column(&matrix, "file"), ["16 MiB", "128 MiB", "1 GiB"]);
    assert_eq!(column(&matrix, "1 MiB"), ["432.0", "513.0", "540.0"]);
    assert_eq!(column(&matrix, "4 KiB"), ["-", "-", "210.0"]);
    assert_eq!(matrix.notes, ["not measured"]);
}

#[test]
fn one_file_size_has_a_row_a_record() {
    let mut run = fixture::published();
    run.measurements.retain(|m| m.params.int("file_size").is_none_or(|s| s == 1 << 30));
    let table = table(&run, "Disk", "After IOzone, one file of 1 GiB");
    assert_eq!(column(&table, "record"), ["4 KiB", "64 KiB", "1 MiB", "8 MiB"]);
    assert_eq!(column(&table, "Sequential read"), ["210.0", "420.0", "540.0", "552.0"]);
    assert_eq!(column(&table, "Sequential write"), ["-", "-", "310.0", "-"]);
}

#[test]
fn a_number_of_the_page_cache_is_named_in_the_matrix() {
    let mut run = fixture::published();
    for m in each(&mut run, "disk.seq_read") {
        m.params = m.params.clone().with("direct", "off").with("cache", "warm");
    }
    let matrix = table(&run, "Disk", "After IOzone, Sequential read");
    assert!(matrix.notes.iter().any(|n| n == "buffered, warm cache"), "{:?}", matrix.notes);
}

#[test]
fn an_operation_and_a_byte_have_their_times() {
    let times = table(&fixture::published(), "Disk", "Time per operation and per byte");
    let at = column(&times, "workload").iter().position(|k| *k == "disk.rand_write").unwrap();
    assert_eq!(column(&times, "block size")[at], "4 KiB");
    assert_eq!(column(&times, "per operation")[at], "86.69");
    assert_eq!(column(&times, "per byte")[at], "21.16");
    assert_eq!(column(&times, "latency p50")[at], "0.208");
}

#[test]
fn own_reference_and_theory_are_in_one_table() {
    let view = View::from_run(&fixture::published());
    let workloads = column(&view.theory, "workload");
    let at = workloads.iter().position(|k| *k == "cpu.linpack").unwrap();
    let cells: Vec<&str> = view.theory.rows[at].cells.iter().map(|c| c.text.as_str()).collect();
    assert_eq!(
        cells[2..8],
        ["85.18 GFLOP/s", "86.9", "hpl", "80.06 GFLOP/s", "81.7", "98.00 GFLOP/s"]
    );
    assert!(workloads.contains(&"cpu.flops"), "a ceiling alone is a row too");
    assert!(!workloads.contains(&"memory.latency"), "neither is none");
    let bars = &view.against[0].points[0];
    let texts: Vec<&str> = bars.bars.iter().map(|b| b.bar.mark.text.as_str()).collect();
    assert_eq!(
        (bars.name.as_str(), texts),
        ("cpu.linpack: 2 threads, n 20\u{202f}000", vec!["86.9", "81.7"])
    );
}

#[test]
fn bars_hold_no_tool_of_another_point() {
    let view = View::from_run(&fixture::published());
    let points = || view.against.iter().flat_map(|c| &c.points);
    let reads = points().find(|p| p.name.starts_with("disk.seq_read")).unwrap();
    let names: Vec<&str> = reads.bars.iter().map(|b| b.bar.name.as_str()).collect();
    assert_eq!(names, ["proofmark", "fio"], "iozone ran beside another block size");
    assert!(View::from_run(&fixture::alone()).against.is_empty(), "no bars where no tool ran");
}
