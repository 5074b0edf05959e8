//! Hostile input: no panic, a line number in every error, and linear time for a million rows.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use std::fmt::Write as _;

use proofmark_audit::{Machine, Sheet, audit, read_figures, read_machines, render};
use proptest::prelude::*;

const HEADER: &str = "subsystem,tool,operation,metric,block_size_bytes,threads,trial,value,unit_as_written,value_si,si_unit\n";

fn whole(machine: Machine, text: &[u8]) -> Result<usize, String> {
    let figures = read_figures(&String::from_utf8_lossy(text)).map_err(|e| e.to_string())?;
    let sheet = Sheet::new(machine, figures);
    let judged = audit(&sheet);
    assert_eq!(judged.len(), sheet.figures().len());
    for all in [false, true] {
        assert!(!render::terminal::render(&sheet, &judged, all).contains('\u{1b}'));
    }
    let json = render::json::render(&sheet, &judged).map_err(|e| e.to_string())?;
    let value: serde_json::Value = serde_json::from_str(&json).map_err(|e| e.to_string())?;
    assert_eq!(value["figures"].as_array().map(Vec::len), Some(judged.len()));
    let rows = render::csv::render(&sheet, &judged).map_err(|e| e.to_string())?;
    assert_eq!(csv::Reader::from_reader(rows.as_slice()).records().count(), judged.len());
    Ok(judged.len())
}

/// Words known to rules, by column.
const CELLS: [&[&str]; 11] = [
    &["cpu", "memory", "disk", "network"],
    &["own", "iperf", "stream", "iozone"],
    &[
        "copy",
        "scale",
        "add",
        "triad",
        "seq_read",
        "rand_read",
        "write",
        "rewrite",
        "rand_write",
        "tcp",
        "udp",
        "gflops",
        "forward_bidir",
    ],
    &["rate", "pps", "throughput", "latency", "time", "loss"],
    &["", "1", "8192", "65536", "18446744073709551615"],
    &["", "1", "2", "8", "18446744073709551615"],
    &["0", "1", "2", "3", "mean", "stddev", "max", "p99", ""],
    &["0", "1", "2.5", "1e308", "1e-320", "30", "0,5"],
    &["MB/s", "GiB/s", "us", "Gbits/sec", "ms/bit", "GFLOPS", "Mpps", "%", "cycles", ""],
    &["", "0", "1e9", "1e308", "1e-320", "3e9", "2.93e9"],
    &["bytes/s", "bits/s", "seconds", "ops/s", "packets/s", ""],
];

/// Matching cells, so that rows reach the rules: metric, unit and base unit.
const FITTING: [[&str; 3]; 6] = [
    ["throughput", "MB/s", "bytes/s"],
    ["throughput", "GiB/s", "bits/s"],
    ["rate", "GFLOPS", "ops/s"],
    ["pps", "Mpps", "packets/s"],
    ["latency", "us", "seconds"],
    ["loss", "%", ""],
];

fn row() -> impl Strategy<Value = String> {
    let cell = |words: &'static [&str]| prop_oneof![8 => prop::sample::select(words).prop_map(str::to_owned), 1 => ".{0,12}"];
    let plain = |text: String| text.replace(['"', ',', '\n', '\r'], "");
    let fitting = prop::option::weighted(0.95, prop::sample::select(&FITTING[..]));
    (CELLS.map(cell), fitting).prop_map(move |(mut cells, fitting)| {
        if let Some(words) = fitting {
            for (place, word) in [3, 8, 10].into_iter().zip(words) {
                cells[place] = word.to_owned();
            }
        }
        cells.map(plain).join(",") + "\n"
    })
}

fn known() -> impl Strategy<Value = Machine> {
    prop::option::of(prop::sample::select(vec![1e-300, 1.0, 2.0, 3e9, 1e300])).prop_map(|n| {
        Machine {
            vcpus: n,
            clock_hz_nominal: n,
            claimed_peak_gflops: n,
            claimed_memory_bytes_per_s: n,
            disk_link_bytes_per_s: n,
            disk_limit_operations_per_s: n,
            network_link_bits_per_s: n,
            network_limit_packets_per_s: n,
            ..Machine::default()
        }
    })
}

proptest! {
    #[test]
    fn any_bytes_are_figures_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = [HEADER.as_bytes(), &bytes].concat();
        let _ = whole(Machine::default(), &text);
        let _ = whole(Machine::default(), &bytes);
    }

    #[test]
    fn any_rows_are_judged_or_refused_with_their_line(
        rows in prop::collection::vec(row(), 1..20),
        machine in known(),
    ) {
        if let Err(error) = whole(machine, format!("{HEADER}{}", rows.concat()).as_bytes()) {
            prop_assert!(error.starts_with("line ") || error.starts_with("no figures"), "{error}");
        }
    }

    /// With any line break, separator or byte order mark, the line number is that of an editor.
    #[test]
    fn a_wrong_row_is_named_by_its_line(
        line_break in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        empty in prop::collection::vec(0_usize..3, 1..12),
        semicolons in any::<bool>(),
        first in prop::sample::select(vec!["", "\u{feff}", "sep=;"]),
    ) {
        let mut lines = vec![HEADER.trim_end().to_owned()];
        for count in &empty {
            lines.push("disk,x,seq_read,throughput,1,1,1,1,MB/s,1e6,bytes/s".to_owned());
            lines.extend(vec![String::new(); *count]);
        }
        lines.push("disk,x,seq_read,throughput,1,1,1,-1,MB/s,1e6,bytes/s".to_owned());
        let mut text = lines.join(line_break);
        let (mut at, mut semicolons) = (lines.len(), semicolons);
        if first == "sep=;" {
            text = format!("{first}{line_break}{text}");
            (at, semicolons) = (at + 1, true);
        } else {
            text = format!("{first}{text}");
        }
        let text = if semicolons { text.replace(',', ";") } else { text };
        let error = whole(Machine::default(), text.as_bytes()).unwrap_err();
        prop_assert!(error.starts_with(&format!("line {at}: column 'value'")), "{}: {error}", at);
    }

    #[test]
    fn any_machine_is_read_or_refused(text in "(\\[[a-z]{0,3}\\]\n|[a-z_]{1,8} ?= ?[-0-9a-z\".]{0,6}\n){0,6}") {
        if let Err(error) = read_machines(&text) {
            prop_assert_eq!(error.to_string().lines().count(), 1, "{}", error);
        }
    }
}

#[test]
fn a_truncated_file_says_where_it_ends() {
    let row = "disk,x,r,throughput,1,1,1,1,MB/s,1e6,bytes/s\n";
    let text = format!("{HEADER}{row}{}", &row[..30]);
    let text = whole(Machine::default(), text.as_bytes()).unwrap_err();
    assert!(text.starts_with("line 3: "), "{text}");
}

/// Returns this thread's CPU time in seconds: other load on the machine does not count.
fn cpu_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Audits two sizes of input, the second 4 times the first. A rule with quadratic time would take
/// 16 times as long.
fn takes_time_in_proportion(
    rows: impl Fn(u32) -> String,
    sizes: [u32; 2],
    flagged: impl Fn(u32) -> usize,
) {
    let [small, large] = sizes.map(|n| {
        let text = rows(n);
        let start = cpu_s();
        let sheet = Sheet::new(Machine::default(), read_figures(&text).unwrap());
        let judged = audit(&sheet);
        let took = cpu_s() - start;
        assert_eq!(judged.iter().filter(|j| !j.findings.is_empty()).count(), flagged(n));
        took
    });
    assert!(large < 10.0 * small, "{small} s, then {large} s");
}

#[test]
fn many_rows_take_time_in_proportion() {
    let rows = |count| {
        let mut text = HEADER.to_owned();
        for n in 0..count {
            let (trial, metric) = (
                ["1", "mean", "stddev", "2"][n as usize % 4],
                ["latency", "throughput"][n as usize / 4 % 2],
            );
            let threads = n % 5000 + 1;
            let unit = if metric == "latency" { "s" } else { "B/s" };
            let _ = writeln!(
                text,
                "disk,x,rand_read,{metric},8,{threads},{trial},{n},{unit},{n},{unit}"
            );
        }
        text
    };
    takes_time_in_proportion(rows, [30_000, 120_000], |_| 1); // The latency of 0.
}

#[test]
fn the_same_number_many_times_takes_time_in_proportion() {
    // One point, one statistic, and alternating units: each figure has as many partners as rows.
    let rows = |count| {
        let mut text = HEADER.to_owned();
        for n in 0..count {
            let unit = ["MB/s", "kB/s"][n as usize % 2];
            let trial = ["mean", "sd", "1", "p99"][n as usize / 2 % 4];
            let block = if n % 3 == 0 { 8 } else { n };
            let _ = writeln!(
                text,
                "disk,x,rand_read,throughput,{block},1,{trial},5,{unit},5e6,bytes/s\n\
                 disk,x,rand_read,rate,{block},1,{trial},5,IOPS,5,ops/s\n\
                 disk,x,op{n},throughput,{block},1,{trial},{n},B/s,{n},bytes/s"
            );
        }
        text.replace(",0,1,", ",1,1,")
    };
    let flagged = |n| {
        let text = rows(n);
        let sheet = Sheet::new(Machine::default(), read_figures(&text).unwrap());
        audit(&sheet).iter().filter(|j| !j.findings.is_empty()).count()
    };
    takes_time_in_proportion(rows, [4000, 16_000], flagged);
}

#[test]
fn many_means_of_many_trials_take_time_in_proportion() {
    // All are tied to a throughput, so every trial behind a mean is examined.
    let rows = |count| {
        let mut text = HEADER.to_owned();
        for n in 1..=count {
            for block in if n < 100 { &[8, 64][..] } else { &[8] } {
                let _ = writeln!(text, "memory,x,read,latency,{block},1,{n},{n},s,{n},seconds");
                let rate = 1e6 / f64::from(n);
                let _ = writeln!(
                    text,
                    "memory,x,read,throughput,{block},1,{n},{rate},B/s,{rate},bytes/s"
                );
            }
        }
        for statistic in ["mean", "sd"] {
            for _ in 0..count + count / 2 {
                let _ = writeln!(text, "memory,x,read,latency,8,1,{statistic},3,s,3,seconds");
            }
        }
        text
    };
    takes_time_in_proportion(rows, [5000, 20_000], |n| (n + 99 + n + n / 2) as usize);
}
