//! What a report says of memory.

use proofmark_model::{Measurement, Probe, Run, Verdict};
use proofmark_report::view::{Table, View};
use proofmark_report::{Options, find};

use super::fixture;
use super::reading::{column, each, workload};

#[test]
fn the_speed_of_a_cache_is_never_put_first() {
    let run = fixture::memory();
    let sweep = workload(&run, "memory.sweep").headline;
    assert_eq!((sweep.value.as_deref(), sweep.unit.as_str()), (Some("24.25"), "GB/s"));
    let latency = workload(&run, "memory.latency").headline;
    assert_eq!(latency.value.as_deref(), Some("104.0"));
    assert_eq!(latency.at, "huge pages, working set 1.9 GiB");
    let mut small = run.clone();
    small.measurements.retain(|m| m.params.int("working_set").is_none_or(|s| s <= 16 << 20));
    let latency = workload(&small, "memory.latency").headline;
    assert_eq!(latency.at, "huge pages, working set 16 MiB, within L3");
    let loaded = workload(&run, "memory.loaded_latency").headline;
    assert_eq!(loaded.at, "2 threads, load 100");
    let blocks = workload(&run, "memory.read_write").headline;
    assert_eq!(blocks.at, "2 threads, block size 8 KiB");
    assert_eq!(blocks.value.as_deref(), Some("16.84"));
}

/// The latencies once more in local order, a third of them gone.
fn with_local_order(mut run: Run) -> Run {
    let mut local: Vec<Measurement> = each(&mut run, "memory.latency").map(|m| m.clone()).collect();
    for m in &mut local {
        m.params = m.params.clone().with("order", "local");
        let s = m.summary.as_mut().unwrap();
        proofmark_model::testing::rescale(s, 0.66);
    }
    run.measurements.extend(local);
    run
}

fn invalidate(run: &mut Run, of: impl Fn(&Measurement) -> bool) {
    each(run, "memory.latency").filter(|m| of(m)).for_each(|m| m.verdict = Verdict::Invalid);
}

#[test]
fn the_latency_is_that_of_random_order() {
    let mut run = with_local_order(fixture::memory());
    let h = workload(&run, "memory.latency").headline;
    assert_eq!(h.value.as_deref(), Some("104.0"));
    assert_eq!(h.at, "huge pages, rand, working set 1.9 GiB");
    let beside = &workload(&run, "memory.read_write").reciprocal[0];
    assert_eq!(column(beside, "memory.latency"), ["104.0"; 4]);
    // A larger set in local order is none of the random one's either.
    let random = |m: &Measurement| m.params.text("order") == Some("rand");
    let mut less = run.clone();
    less.measurements.retain(|m| !random(m) || m.params.int("working_set") <= Some(1 << 30));
    let h = workload(&less, "memory.latency").headline;
    assert_eq!(h.at, "huge pages, rand, working set 1 GiB");
    let mut local = run.clone();
    local.measurements.retain(|m| !random(m));
    assert_eq!(workload(&local, "memory.latency").headline.value.as_deref(), Some("68.64"));
    invalidate(&mut run, random);
    let largest = "No usable result: that of huge pages, rand, working set 1.9 GiB is invalid.";
    assert_eq!(workload(&run, "memory.latency").headline.at, largest);
    run.measurements.retain(|m| m.params.int("working_set").is_none_or(|s| s == 1_920 << 20));
    let all = "No usable result: that of huge pages, rand, working set 1.9 GiB is invalid.";
    assert_eq!(workload(&run, "memory.latency").headline.at, all);
}

#[test]
fn a_set_of_less_than_4_times_the_cache_is_partly_within_it() {
    let at = |id: &str, most: u64| {
        let mut run = fixture::memory();
        run.measurements.retain(|m| m.params.int("working_set").is_none_or(|s| s <= most));
        workload(&run, id).headline.at
    };
    let latency = |most| at("memory.latency", most);
    assert_eq!(latency(128 << 20), "huge pages, working set 128 MiB, within L3");
    assert_eq!(latency(256 << 20), "huge pages, working set 256 MiB, partly within L3");
    assert_eq!(latency(512 << 20), "huge pages, working set 512 MiB", "4 times is enough");
    let sweep = |most| at("memory.sweep", most);
    assert_eq!(sweep(128 << 20), "read, 2 threads, working set 128 MiB, partly within L3");
    assert_eq!(sweep(256 << 20), "read, 2 threads, working set 256 MiB", "both threads' sets");
    let mut unknown = fixture::memory();
    unknown.host.cpu.caches = Probe::missing("none reported");
    unknown.measurements.retain(|m| m.params.int("working_set").is_none_or(|s| s <= 1 << 20));
    let h = workload(&unknown, "memory.latency").headline;
    assert_eq!(h.at, "huge pages, working set 1 MiB");
}

#[test]
fn a_ceiling_without_a_share_of_it_is_told_with_the_reason() {
    let why = "the number lies above this ceiling and within its uncertainty (fixture)";
    let mut run = fixture::memory();
    for m in each(&mut run, "memory.triad") {
        m.efficiency = None;
        m.missing.insert("efficiency".into(), why.into());
    }
    let triad = workload(&run, "memory.triad");
    assert!(column(&triad.table, "ceiling").iter().all(|c| *c != "-"));
    let at = triad.table.columns.iter().position(|c| c.title == "of ceiling").unwrap();
    for row in &triad.table.rows {
        let cell = &row.cells[at];
        assert_eq!((cell.text.as_str(), &*triad.table.notes[cell.note.unwrap() - 1]), ("-", why));
    }
    let h = triad.headline;
    assert_eq!((h.near, h.near_lacks), (None, "no efficiency"));
    let render = |run: &Run, format| find(format).unwrap().render(run, &Options::default());
    let row = |run: &Run| {
        let page = render(run, "html").unwrap();
        let row = page.split("<article").find(|c| c.contains("Memory triad"));
        row.unwrap().split("</article>").next().unwrap().to_owned()
    };
    assert!(row(&fixture::memory()).contains("class=\"meter\""));
    assert!(!row(&run).contains("class=\"meter\""), "{}", row(&run));
    let markdown = render(&run, "markdown").unwrap();
    assert!(markdown.contains("; no efficiency; ") && markdown.contains(why));
}

#[test]
fn where_memory_has_no_number_a_cache_does_not_stand_in_for_it() {
    let mut run = fixture::memory();
    for m in
        each(&mut run, "memory.latency").filter(|m| m.params.int("working_set") > Some(1 << 29))
    {
        m.verdict = Verdict::Invalid;
    }
    let h = workload(&run, "memory.latency").headline;
    assert_eq!(h.value, None);
    assert_eq!(h.at, "No usable result: that of huge pages, working set 1.9 GiB is invalid.");
}

#[test]
fn bytes_moved_stand_beside_bytes_counted() {
    let run = fixture::memory();
    let copy = workload(&run, "memory.copy").table;
    assert_eq!(column(&copy, "delivered")[..4], ["10.00", "12.50", "19.00", "23.75"]);
    assert_eq!(column(&copy, "moved")[..4], ["15.00", "12.50", "28.50", "23.75"]);
    let moved = copy.columns.iter().find(|c| c.title == "moved").unwrap();
    assert!(moved.about.as_ref().unwrap().meaning.contains("write-allocate"));
    let blocks = workload(&run, "memory.read_write").table;
    assert!(blocks.columns.iter().all(|c| c.title != "moved"), "none of its trials tells");
    let loaded = workload(&run, "memory.loaded_latency").table;
    let loads = ["0.000", "1.120", "2.800", "5.600", "8.400", "11.20"];
    assert_eq!(column(&loaded, "load moved"), loads);
}

#[test]
fn plateaus_are_told_by_level() {
    let sentences = workload(&fixture::memory(), "memory.latency").sentences;
    assert_eq!(
        sentences,
        [
            "Huge pages: 1.234 ns within 32 KiB (L1d), 4.200 ns within 1 MiB (L2), \
             23.96 ns within 16 MiB (L3), 104.0 ns at 1.9 GiB.",
            "Small pages: 1.234 ns within 32 KiB (L1d), 4.200 ns within 1 MiB (L2), \
             44.96 ns within 16 MiB (L3), 125.0 ns at 1.9 GiB.",
            "L3: the machine reports 128 MiB, the measured plateau ends at 32 MiB.",
        ]
    );
    let mut run = fixture::memory();
    each(&mut run, "memory.latency").for_each(|m| m.findings.clear());
    let sentences = workload(&run, "memory.latency").sentences;
    assert_eq!(sentences.len(), 2);
    assert!(sentences[0].contains("94.00 ns within 64 MiB (L3)"), "as reported: {}", sentences[0]);
}

#[test]
fn a_level_that_was_found_smaller_is_told_by_its_own_name() {
    for (level, name) in [(1.into(), "L1d"), ("L1".into(), "L1d"), ("L1d".into(), "L1d")] {
        let mut run = fixture::memory();
        for m in each(&mut run, "memory.latency") {
            for f in &mut m.findings {
                f.evidence.insert("level".into(), serde_json::Value::clone(&level));
                f.evidence.insert("reported_bytes".into(), (48 << 10).into());
                f.evidence.insert("measured_bytes".into(), (16 << 10).into());
            }
        }
        let sentences = workload(&run, "memory.latency").sentences;
        assert!(sentences[0].contains("within 8 KiB (L1d)"), "{level}: {}", sentences[0]);
        let found =
            format!("{name}: the machine reports 48 KiB, the measured plateau ends at 16 KiB.");
        assert_eq!(sentences[2], found, "{level}");
    }
}

#[test]
fn threads_share_a_cache_that_they_share() {
    let mut run = fixture::memory();
    each(&mut run, "memory.latency").for_each(|m| m.findings.clear());
    let one = workload(&run, "memory.sweep").sentences[1].clone();
    assert!(one.starts_with("Read, 2 threads") && one.contains("within 32 MiB (L3)"), "{one}");
}

#[test]
fn more_threads_than_cpus_are_held_against_all_cpus() {
    let mut run = fixture::memory();
    for m in each(&mut run, "memory.copy").filter(|m| m.params.threads() == 8) {
        let s = m.summary.as_mut().unwrap();
        proofmark_model::testing::rescale(s, 0.5);
    }
    assert_eq!(
        workload(&run, "memory.copy").sentences[0],
        "Compared with 1 thread (nontemporal stores): 1.90 times with 2; oversubscribed, \
         compared with 2 threads, 1.00 times with 4 (the intervals overlap) and 0.500 times with 8."
    );
}

#[test]
fn the_time_a_block_is_no_latency() {
    let run = fixture::memory();
    let tables = workload(&run, "memory.read_write").reciprocal;
    assert_eq!(tables.len(), 1, "only for 8 B");
    let table = &tables[0];
    assert!(table.caption.contains("reciprocal throughput, time per block of 8 B by threads"));
    // A copy counts a block twice: 16 B at 45 MB/s.
    assert_eq!(column(table, "Average")[..2], ["355.6", "192.2"]);
    assert_eq!(column(table, "Exp 3")[0], "355.6");
    assert_eq!(column(table, "memory.latency"), ["104.0"; 4]);
    let about = |table: &Table| {
        let beside = table.columns.iter().find(|c| c.title == "memory.latency").unwrap();
        beside.about.clone().unwrap().meaning
    };
    assert!(about(table).contains("It is not a latency"));
    let here = "; here at a working set of 1.9 GiB, in huge pages, in order rand.";
    assert!(about(table).ends_with(here), "{}", about(table));
    let mut small = run.clone();
    small.measurements.retain(|m| m.params.int("working_set").is_none_or(|s| s <= 256 << 20));
    let note = about(&workload(&small, "memory.read_write").reciprocal[0]);
    assert!(note.contains("working set of 256 MiB, partly within L3, in huge"), "{note}");
    // A write counts it once: 8 B at 18 MB/s.
    let write = &workload(&run, "memory.rand_write").reciprocal[0];
    assert_eq!(column(write, "Average")[0], "444.4");
    let mut run = fixture::memory();
    run.measurements.retain(|m| m.workload != "memory.latency");
    let table = &workload(&run, "memory.read_write").reciprocal[0];
    assert_eq!(column(table, "memory.latency"), ["-"; 4]);
    assert!(table.notes.iter().any(|n| n == "memory.latency has no result in this run"));
    run.workloads.remove("memory.latency");
    let table = &workload(&run, "memory.read_write").reciprocal[0];
    assert_eq!(column(table, "load latency"), ["-"; 4], "no workload is declared to measure it");
}

#[test]
fn published_tables_are_by_threads_for_blocks_and_by_set_for_latency() {
    let run = fixture::memory();
    let blocks = workload(&run, "memory.read_write").published;
    assert_eq!(blocks.len(), 4, "one a block size");
    assert_eq!(column(&blocks[0], "threads"), ["1", "2", "4", "8"]);
    let latency = workload(&run, "memory.latency").published;
    assert_eq!(latency.len(), 2, "huge and small pages");
    assert_eq!(column(&latency[0], "working set").len(), 20);
    assert_eq!(column(&latency[0], "working set")[3], "32 KiB");
}

#[test]
fn a_long_axis_is_short_in_a_terminal() {
    let run = fixture::memory();
    let matrix = workload(&run, "memory.latency").matrix.unwrap();
    assert_eq!(matrix.rows.len(), 20);
    assert_eq!(column(&matrix, "huge pages")[19], "104.0");
    assert_eq!(column(&matrix, "small pages")[19], "125.0");
    assert_eq!(workload(&run, "memory.copy").matrix, None);
    let text = find("terminal").unwrap().render(&run, &Options::default()).unwrap();
    assert!(text.lines().count() < 340, "{} lines", text.lines().count());
    let mut doubtful = run.clone();
    each(&mut doubtful, "memory.latency").for_each(|m| m.verdict = Verdict::Suspect);
    let matrix = workload(&doubtful, "memory.latency").matrix.unwrap();
    assert_eq!(matrix.notes, ["suspect: see the findings"]);
}

#[test]
fn the_roofline_joins_what_was_measured_at_one_number_of_threads() {
    let run = fixture::memory();
    let roofline = View::from_run(&run).roofline.unwrap();
    assert_eq!(roofline.title, "Roofline, f64, 2 threads");
    assert_eq!(column(&roofline.table, "level"), ["L1d", "L2", "L3", "memory"]);
    // 196.8 and 49.2 GFLOP/s over 368.6, 170.7, 60.2 and 23.75 GB/s.
    assert_eq!(column(&roofline.table, "avx2"), ["0.53", "1.15", "3.27", "8.29"]);
    assert_eq!(column(&roofline.table, "sse2"), ["0.13", "0.29", "0.82", "2.07"]);
    let dot = &roofline.dots[0];
    assert!((dot.x - 2.0 / 24.0).abs() < 1e-12 && (dot.y - 23.75 / 12.0).abs() < 1e-9);
    for missing in ["cpu.flops", "memory.triad"] {
        let mut without = run.clone();
        without.measurements.retain(|m| m.workload != missing);
        assert_eq!(View::from_run(&without).roofline, None, "{missing}");
    }
}

#[test]
fn the_roofline_goes_by_the_leading_bandwidth_of_memory() {
    let mut run = fixture::memory();
    run.workloads.extend(fixture::specs(&[("memory.read", "Read")]));
    let mut reads = run.measurements.clone();
    reads.retain(|m| m.workload == "memory.triad");
    reads.iter_mut().for_each(|m| m.workload = "memory.read".into());
    run.measurements.extend(reads);
    let drawn = |run: &Run| {
        let roofline = View::from_run(run).roofline.unwrap();
        let dots: Vec<String> = roofline.dots.into_iter().map(|d| d.name).collect();
        (roofline.slopes.last().unwrap().about.clone(), dots)
    };
    let triad = || "memory.triad".to_owned();
    assert_eq!(drawn(&run), (triad(), vec![triad()]), "reads compute nothing");
    run.measurements.retain(|m| m.workload != "memory.triad");
    assert_eq!(drawn(&run), ("memory.read".to_owned(), vec![]));
}

#[test]
fn the_roofline_takes_no_number_that_does_not_stand() {
    let mut run = fixture::memory();
    let fast = |m: &&mut Measurement| m.params.text("stores") == Some("nontemporal");
    each(&mut run, "memory.triad").filter(fast).for_each(|m| m.verdict = Verdict::Suspect);
    let roofline = View::from_run(&run).roofline.unwrap();
    assert_eq!(roofline.slopes.last().unwrap().text, "19.00 GB/s");
    each(&mut run, "memory.triad")
        .filter(|m| m.params.threads() > 1)
        .for_each(|m| m.verdict = Verdict::Invalid);
    let roofline = View::from_run(&run).roofline.unwrap();
    assert_eq!(roofline.title, "Roofline, f64, 1 thread", "both parts at the same threads");
    assert_eq!(roofline.peaks[0].text, "98.40 GFLOP/s");
}

#[test]
fn the_roofline_is_at_the_threads_that_have_cache_levels() {
    let mut run = fixture::memory();
    run.measurements.retain(|m| m.workload != "memory.sweep" || m.params.threads() == 1);
    let roofline = View::from_run(&run).roofline.unwrap();
    assert_eq!((roofline.title.as_str(), roofline.slopes.len()), ("Roofline, f64, 1 thread", 4));
    run.measurements.retain(|m| m.workload != "memory.sweep");
    let roofline = View::from_run(&run).roofline.unwrap();
    assert_eq!((roofline.title.as_str(), roofline.slopes.len()), ("Roofline, f64, 2 threads", 1));
}

#[test]
fn what_a_trial_moved_is_in_the_files() {
    let run = fixture::memory();
    let text = find("csv").unwrap().render(&run, &Options::default()).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let at = |name: &str| heads.iter().position(|h| h == name).unwrap();
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    let of = |workload: &str, name: &str| {
        let row = rows.iter().find(|r| &r[0] == workload && !r[at("value")].is_empty());
        row.unwrap()[at(name)].to_owned()
    };
    assert_eq!(of("memory.copy", "work"), "1000000000");
    assert_eq!(of("memory.copy", "moved_bytes"), "1500000000");
    assert_eq!(of("memory.copy", "huge_pages_share"), "1");
    assert_eq!(of("memory.loaded_latency", "background_bytes_per_s"), "0");
    assert_eq!(of("memory.latency", "moved_bytes"), "");
    assert_eq!(of("memory.latency", "misplaced_pages_share"), "");
    let trials = workload(&run, "memory.copy").trials;
    assert_eq!(column(&trials, "moved")[0], "1.5000e9");
    assert_eq!(column(&trials, "in huge pages")[0], "100");
}
