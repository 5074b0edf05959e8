//! `proofmark audit`: published figures, judged.

use super::{Ended, Folder};

const HEADER: &str = "subsystem,tool,operation,metric,block_size_bytes,threads,trial,value,unit_as_written,value_si,si_unit\n";
const GOOD: &str = "disk,own,seq_read,throughput,8192,1,1,500,MB/s,5e8,bytes/s\n";
const CACHED: &str = "disk,own,seq_read,throughput,8192,1,2,700,MB/s,7e8,bytes/s\n";
const MACHINES: &str =
    "[first]\ndisk_link_bytes_per_s = 6e8\n[second]\ndisk_link_bytes_per_s = 8e8\n";

/// Audits a table `first.csv` of these rows against `machines.toml`.
fn audit(folder: &Folder, rows: &[&str], arguments: &[&str]) -> Ended {
    folder.file("first.csv", HEADER.to_owned() + &rows.concat());
    folder.file("machines.toml", MACHINES);
    folder.run(&[&["audit", "first.csv", "--machine", "machines.toml"], arguments].concat())
}

#[test]
fn the_verdict_is_the_status_and_the_file_name_the_machine() {
    let folder = Folder::new();
    assert!(audit(&folder, &[GOOD], &[]).with(0).stdout.contains("1 valid"));
    let printed = audit(&folder, &[GOOD, CACHED], &[]).with(3).stdout;
    assert!(printed.contains("page_cache") && printed.contains("700.0 MB/s"), "{printed}");
    audit(&folder, &[GOOD, CACHED], &["--name", "second"]).with(0);
}

#[test]
fn programs_get_json_or_csv() {
    let folder = Folder::new();
    let json = audit(&folder, &[GOOD, CACHED], &["--json", "-", "--csv", "out.csv"]).stdout;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["figures"][1]["reason"], "page_cache");
    let rows = folder.text("out.csv");
    assert!(rows.lines().nth(2).unwrap().contains(",invalid,page_cache,"), "{rows}");
}

#[test]
fn what_is_no_table_is_a_usage_error_of_one_line() {
    let folder = Folder::new();
    let nan = GOOD.replace("500", "NaN");
    for (rows, arguments, word) in [
        (&[GOOD, &nan][..], &[][..], "line 3: column 'value' holds 'NaN'"),
        (&[GOOD], &["--name", "frist"], "did you mean 'first'?"),
        (&[GOOD], &["--json", "-", "--csv", "-"], "only one of --json and --csv"),
    ] {
        audit(&folder, rows, arguments).refused(2, word);
    }
}
