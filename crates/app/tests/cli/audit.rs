//! `proofmark audit` of published figures.

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

/// Encodes a table as spreadsheets save it.
#[test]
fn a_table_of_a_spreadsheet_is_read_whatever_its_encoding() {
    let folder = Folder::new();
    folder.file("m.toml", "[m]\r\ndisk_link_bytes_per_s = 6e8\r\n");
    let header = HEADER.trim_end().replace(',', ";");
    let row = "disk;Pl\u{e4}tte;seq_read;latency;8192;1;1;10,5;\u{b5}s;0,0000105;seconds";
    let text = format!("{header}\r\n{row}\r\n;;;;;;;;;;\r\n");
    let utf16: Vec<u8> =
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let latin1: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    for bytes in [utf16, latin1, format!("\u{feff}{text}").into_bytes()] {
        folder.file("t.csv", bytes);
        let all = ["audit", "t.csv", "--machine", "m.toml", "--all"];
        let printed = folder.run(&all).with(3).stdout;
        assert!(printed.contains("     2  invalid"), "{printed}");
        assert!(
            printed.contains("Pl\u{e4}tte seq_read latency") && printed.contains("10.5 \u{b5}s")
        );
    }
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
        (&[GOOD, "disk,own,r,rate,1,1,1,1,IOSP,1,ops/s\n"], &[], "did you mean 'IOPS'?"),
        (&[GOOD], &["--name", "frist"], "did you mean 'first'?"),
        (&[GOOD], &["--json", "-", "--csv", "-"], "only one of --json and --csv"),
    ] {
        audit(&folder, rows, arguments).refused(2, word);
    }
}

#[test]
fn a_misspelt_fact_is_a_usage_error_with_the_nearest() {
    let folder = Folder::new();
    folder.file("t.csv", HEADER.to_owned() + GOOD);
    folder.file("m.toml", "[m]\ncpus = 2\ndisk_link_bytes_per_second = 6e8\n");
    let says = "line 3: unknown fact 'disk_link_bytes_per_second'; did you mean";
    folder.run(&["audit", "t.csv", "--machine", "m.toml"]).refused(2, says);
}

#[test]
fn the_example_of_the_explanation_works_as_it_stands() {
    let folder = Folder::new();
    let text = folder.run(&["explain", "audit"]).with(0).stdout;
    for name in ["figures.csv", "machines.toml"] {
        let (_, example) = text.split_once(&format!("\nExample: {name}\n\n")).unwrap();
        folder.file(name, example.split("\n\n").next().unwrap().to_owned() + "\n");
    }
    let command = text.lines().find(|line| line.starts_with("proofmark audit ")).unwrap();
    let arguments: Vec<&str> = command.split(' ').skip(1).collect();
    let printed = folder.run(&arguments).with(0).stdout;
    assert!(printed.starts_with("7 figures: 7 valid, 0 not checked, 0 suspect"), "{printed}");
    let help = folder.run(&["audit", "--help"]).with(0).stdout;
    assert!(help.contains("proofmark explain audit"), "{help}");
}

#[test]
fn what_no_rule_could_look_at_is_counted_beside_the_verdicts() {
    let folder = Folder::new();
    folder.file("t.csv", HEADER.to_owned() + GOOD + &GOOD.replace("disk", "memory"));
    folder.file("m.toml", "[m]\ndisk_link_bytes_per_s = 6e8\n");
    let printed = folder.run(&["audit", "t.csv", "--machine", "m.toml"]).with(0).stdout;
    assert!(printed.starts_with("2 figures: 1 valid, 1 not checked, 0 suspect, 0 invalid"));
    assert!(printed.contains("0  no claimed_memory_bytes_per_s is declared"), "{printed}");
}
