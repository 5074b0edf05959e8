//! Charts and tables over several workloads of unusual runs.

use std::collections::BTreeSet;

use proofmark_model::{Measurement, Run, Verdict, key};
use proofmark_report::view::Content;
use serde_json::Value;

use super::dump::Dump;
use super::fixture;
use super::reading::{blocks, each};

#[test]
fn what_does_not_belong_is_in_no_line_and_no_cell() {
    let mut out = Dump::default();
    let mut run = fixture::published();
    for id in ["memory.rand_write", "memory.rand_read_write"] {
        each(&mut run, id).for_each(|m| m.verdict = Verdict::Invalid);
        out.says(&format!("{id} is invalid"), &run, &["part-memory lines"]);
    }
    let mut run = fixture::published();
    run.measurements.retain(|m| m.params.get(key::FILE_SIZE).is_none_or(|s| s == 1 << 30));
    out.says("one size of file", &run, &["part-disk overview"]);
    let mut run = fixture::published();
    each(&mut run, "disk.seq_read").for_each(|m| {
        m.params = m.params.clone().with(key::DIRECT, "off").with(key::CACHE, "warm")
    });
    out.says("reads from the page cache", &run, &["part-disk lines", "part-disk overview"]);
    let mut run = fixture::disk();
    run.measurements.retain(|m| m.workload == "disk.seq_read");
    out.says("8 B through the page cache", &run, &["part-disk lines"]);
    out.says("no tool ran", &fixture::alone(), &["* against"]);
    insta::assert_snapshot!(out.text);
}

/// Every chart with two axes of a run, as JSON.
fn charts(run: &Run) -> Vec<Value> {
    let drawings = blocks(run).into_iter().filter_map(|block| match block.content {
        Content::Drawings(drawings) => Some(serde_json::to_value(drawings).unwrap()),
        _ => None,
    });
    let all = drawings.flat_map(|d| d["all"].as_array().unwrap().clone());
    all.map(|d| d["Plot"].clone()).filter(|plot| plot.is_object()).collect()
}

fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value[name].as_array().unwrap().iter()
}

/// A line that takes the best over threads has a peak where the number of threads changes.
#[test]
fn a_line_has_one_number_of_threads_and_one_queue_depth() {
    let (mut lines, mut sizes) = (0, 0);
    for run in [fixture::published(), fixture::disk(), fixture::network(), fixture::memory()] {
        for chart in charts(&run) {
            if chart["x"]["label"].as_str().unwrap() != "block size" {
                continue;
            }
            for series in list(&chart, "series") {
                let number_of = |word: &str| -> BTreeSet<String> {
                    let about = |s: &Value| s["mark"]["about"].as_str().unwrap().to_owned();
                    let parts = list(series, "spots").map(about).collect::<Vec<_>>();
                    let parts = parts.iter().flat_map(|text| text.split([',', ':']));
                    parts.filter(|part| part.contains(word)).map(|p| p.trim().to_owned()).collect()
                };
                for word in [" thread", " stream", "queue depth "] {
                    assert!(
                        number_of(word).len() <= 1,
                        "{}: {:?}",
                        chart["title"],
                        number_of(word)
                    );
                }
                lines += 1;
                sizes += list(series, "spots").count();
            }
        }
    }
    assert!(lines > 10 && sizes > 30, "{lines} lines with {sizes} spots");
}

/// Labels are whole, and a line of one spot is with others.
#[test]
fn labels_are_whole_and_no_chart_is_lonely() {
    for run in fixture::every_and_hostile("x") {
        for chart in charts(&run) {
            let title = chart["title"].as_str().unwrap();
            for tick in list(&chart["y"], "ticks") {
                let label = tick["label"].as_str().unwrap();
                assert!(label.chars().count() <= 9, "{title}: {label}");
            }
            let corners = list(&chart, "series").map(|s| list(s, "line").count());
            assert!(corners.max().is_some_and(|most| most > 1), "{title}");
        }
    }
}

/// IOzone has one I/O at a time.
#[test]
fn the_tables_of_iozone_have_one_depth_and_name_another_than_1() {
    let tables = |run: &Run| -> Vec<String> {
        let all = blocks(run).into_iter().filter_map(|b| b.table().cloned());
        let all = all.filter(|t| t.caption.starts_with("IOzone table"));
        all.map(|t| serde_json::to_string(&t).unwrap()).collect()
    };
    let mut run = fixture::published();
    let is_disk = |m: &&mut proofmark_model::Measurement| {
        m.workload.starts_with("disk.") && m.params.get(key::FILE_SIZE).is_some()
    };
    let mut deep = |depth: u64| {
        for m in run.measurements.iter_mut().filter(is_disk) {
            m.params = m.params.clone().with(key::QUEUE_DEPTH, depth);
        }
        run.clone()
    };
    let [mut both, deeper] = [deep(1), deep(32)];
    assert!(!tables(&both).is_empty() && !tables(&both).concat().contains("depth"));
    for table in tables(&deeper) {
        assert!(table.contains("queue depth 32"), "{table}");
    }
    let more = deeper.measurements.into_iter().filter(|m| m.params.get(key::QUEUE_DEPTH).is_some());
    both.measurements.extend(more);
    for table in tables(&both) {
        assert!(!table.contains("depth 32"), "{table}");
    }
}

/// One line through two sizes of file is the rate of neither.
#[test]
fn results_of_other_file_sizes_are_other_lines() {
    let mut run = fixture::published();
    let small = |m: &&mut Measurement| m.params.get(key::BLOCK_SIZE).is_some_and(|b| b <= 65_536);
    each(&mut run, "disk.rand_write").filter(small).for_each(|m| {
        m.params = m.params.clone().with(key::FILE_SIZE, 1 << 20);
    });
    let places = |run: &Run| -> usize {
        let charts = charts(run).into_iter();
        let disk =
            charts.filter(|c| c["title"].as_str().unwrap().starts_with("Disk: time of one op"));
        let lines = disk.flat_map(|c| list(&c, "series").cloned().collect::<Vec<_>>());
        let lines = lines.filter(|l| l["name"].as_str().unwrap().starts_with("Random write"));
        lines.map(|l| list(&l, "spots").count()).max().unwrap_or(0)
    };
    let [same, other] = [&fixture::published(), &run].map(places);
    assert!(same > other && other > 0, "{same} {other}");
}
