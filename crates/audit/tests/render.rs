//! The three forms of a small audit.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use proofmark_audit::{Judged, Machine, Sheet, audit, read_figures, render, worst};
use proofmark_model::Verdict;

const ROWS: &str = "subsystem,tool,operation,metric,block_size_bytes,threads,trial,value,unit_as_written,value_si,si_unit\n\
    disk,own,seq_read,throughput,8192,1,1,700,MB/s,7e8,bytes/s\n\
    disk,own,seq_read,throughput,8192,1,2,900,MB/s,9e8,bytes/s\n\
    disk,own,seq_read,throughput,8192,1,3,500,MB/s,5e8,bytes/s\n\
    disk,own,seq_read,throughput,8192,1,sd,163.299,MB/s,163299000,bytes/s\n\
    network,iperf,tcp,throughput,,1,1,20,Gb/s,2e10,bits/s\n";

fn audited() -> (Sheet, Vec<Judged>) {
    let machine = Machine { disk_link_bytes_per_s: Some(6e8), ..Machine::default() };
    let sheet = Sheet::new(machine, read_figures(ROWS).unwrap());
    let judged = audit(&sheet);
    (sheet, judged)
}

#[test]
fn people_get_counts_and_groups() {
    let (sheet, judged) = audited();
    assert_eq!(worst(&judged), Verdict::Invalid);
    let text = render::terminal::render(&sheet, &judged, false);
    assert!(
        text.starts_with("5 figures: 2 valid, 0 not checked, 1 suspect, 2 invalid\n"),
        "{text}"
    );
    assert!(text.contains("      2      2  page cache reported as disk (page_cache)"), "{text}");
    assert!(
        text.contains("    2 invalid  disk own seq_read throughput; such as line 3: 900.0 MB/s"),
        "{text}"
    );
    assert!(text.contains("    1 suspect  network iperf tcp throughput"), "{text}");
    assert!(!text.contains("population_deviation: "), "a note is no fault: {text}");
    let all = render::terminal::render(&sheet, &judged, true);
    assert!(all.contains("     4  valid        disk own seq_read throughput, block 8192, threads 1, trial 3: 500 MB/s\n"), "{all}");
    assert!(all.contains("\n                     loopback: 20"), "{all}");
}

#[test]
fn programs_get_every_figure_with_its_reasons() {
    let (sheet, judged) = audited();
    let json: serde_json::Value =
        serde_json::from_str(&render::json::render(&sheet, &judged).unwrap()).unwrap();
    assert_eq!(json["schema"], "proofmark.audit/1");
    assert_eq!(json["summary"]["invalid"], 2);
    assert_eq!(json["figures"][0]["reason"], "page_cache");
    assert_eq!(json["figures"][0]["findings"][0]["severity"], "invalid");
    assert_eq!(json["figures"][2]["verdict"], "valid");
    assert_eq!(json["figures"][2]["reason"], serde_json::Value::Null);
    let csv = String::from_utf8(render::csv::render(&sheet, &judged).unwrap()).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 6);
    assert!(lines[1].starts_with("2,disk,own,seq_read,throughput,8192,1,1,700,MB/s,700000000,invalid,page_cache,page_cache,"), "{csv}");
    assert!(lines[3].ends_with(",valid,,,"), "{csv}");
}

#[test]
fn without_faults_there_are_only_counts() {
    let first =
        ROWS.lines().take(1).chain(ROWS.lines().skip(3).take(1)).collect::<Vec<_>>().join("\n");
    let sheet = Sheet::new(Machine::default(), read_figures(&first).unwrap());
    let judged = audit(&sheet);
    assert_eq!(worst(&judged), Verdict::Valid);
    assert_eq!(
        render::terminal::render(&sheet, &judged, false),
        "1 figure: 0 valid, 1 not checked, 0 suspect, 0 invalid\n\n  not checked  passed other rules  \
         missing\n            1                   0  no disk_link_bytes_per_s or disk_limit_bytes_per_s is \
         declared (page_cache)\n\n"
    );
    let all = render::terminal::render(&sheet, &judged, true);
    assert!(all.contains("     2  not checked  disk own seq_read throughput"), "{all}");
    assert!(
        all.contains("\n                     page_cache: no disk_link_bytes_per_s or"),
        "{all}"
    );
    let json = render::json::render(&sheet, &judged).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["summary"]["valid"], &json["summary"]["not_checked"]),
        (&0.into(), &1.into())
    );
    assert_eq!(json["summary"]["missing"][0]["not_checked"], 1);
    assert_eq!(json["figures"][0]["verdict"], "not_checked");
    assert_eq!(json["figures"][0]["missing"][0]["rule"], "page_cache");
    let csv = String::from_utf8(render::csv::render(&sheet, &judged).unwrap()).unwrap();
    assert!(csv.contains(",not_checked,,,no disk_link_bytes_per_s or"), "{csv}");
}
