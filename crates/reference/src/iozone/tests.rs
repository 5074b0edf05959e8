use proofmark_model::{Flush, Order, Param, Unit};

use super::Iozone;
use crate::testing::outputs;
use crate::{Figure, Output, Tool};

outputs! {
    AUTO_489 "3.489-auto.txt"
    DIRECT_489 "3.489-direct.txt"
    MICROSECONDS_489 "3.489-microseconds.txt"
    OPS_489 "3.489-ops.txt"
    THROUGHPUT_489 "3.489-throughput.txt"
    EXCEL_507 "3.507-direct-excel.txt"
    NO_RETESTS_507 "3.507-no-retests.txt"
    SKIPPED_507 "3.507-skipped.txt"
    THROUGHPUT_507 "3.507-throughput-ops.txt"
    BESIDE_READ_489 "3.489-beside-read.txt"
    BESIDE_RANDOM_489 "3.489-beside-random-write.txt"
}

fn parse(text: &str) -> Output {
    Iozone.parse(text).unwrap_or_else(|e| panic!("{e}"))
}

fn find<'a>(output: &'a Output, test: &str, block: u64) -> &'a Figure {
    let same = |f: &&Figure| f.test == test && f.params.int("block_size") == Some(block);
    output.figures.iter().find(same).unwrap()
}

#[test]
fn each_cell_is_a_figure() {
    // 64 8 1638743 4018152 5860307 22737791 15972885 3541098 3738358 7940539 10821524 ...
    let output = parse(AUTO_489);
    assert_eq!(output.figures.len(), 8 * 13);
    for (test, kb) in [
        ("write", 1_638_743),
        ("rewrite", 4_018_152),
        ("read", 5_860_307),
        ("reread", 22_737_791),
        ("random read", 15_972_885),
        ("random write", 3_541_098),
        ("bkwd read", 3_738_358),
        ("record rewrite", 7_940_539),
        ("stride read", 10_821_524),
    ] {
        let figure = find(&output, test, 8192);
        assert_eq!(figure.trials[0].value, kb as f64 * 1024.0, "{test}");
        assert_eq!(figure.trials[0].work, 65_536.0);
        assert_eq!(figure.params.int("file_size"), Some(65_536));
        assert_eq!(figure.params.text("direct"), Some("off"));
    }
}

#[test]
fn what_was_not_tested_has_no_figure() {
    // 512 64 157396 131281 (seven left out, each a character less) 593259 127972
    let tests: Vec<_> = parse(SKIPPED_507).figures.iter().map(|f| f.test.to_string()).collect();
    let expected = ["write", "rewrite", "fwrite", "frewrite"];
    assert_eq!(tests, expected);
    let zeros = parse(NO_RETESTS_507);
    assert!(NO_RETESTS_507.contains("        0 ") && zeros.figures.len() == 6);
}

#[test]
fn direct_and_flush_are_told_by_the_listing() {
    let output = parse(EXCEL_507);
    let write = find(&output, "random write", 128 << 10);
    assert_eq!(write.trials[0].value, 1_294_520.0 * 1024.0);
    assert_eq!(
        (write.params.text("direct"), write.params.text("flush")),
        (Some("on"), Some("end"))
    );
    assert_eq!(find(&output, "random read", 128 << 10).params.text("flush"), None);
    assert_eq!(output.figures.len(), 8, "what is for a spreadsheet is no second result");
}

#[test]
fn the_listing_tells_how_the_file_was_used() {
    let file = |text: &str, test: &str| {
        let output = parse(text);
        let found = output.figures.iter().find(|f| f.test == test);
        found.unwrap_or_else(|| panic!("{test}")).trials[0].file.clone()
    };
    let read = file(BESIDE_READ_489, "read").unwrap();
    assert_eq!((read.asked_read_bytes, read.asked_written_bytes), (64 << 20, 0));
    assert_eq!((read.direct, read.order, read.size_bytes), (Some(false), Order::Seq, 64 << 20));
    let written = file(BESIDE_RANDOM_489, "random write").unwrap();
    assert_eq!((written.asked_read_bytes, written.asked_written_bytes), (0, 64 << 20));
    assert_eq!((written.direct, written.order), (Some(true), Order::Rand));
    assert_eq!(written.flush, Flush::End);
    let read = file(BESIDE_RANDOM_489, "random read").unwrap();
    assert_eq!((read.asked_read_bytes, read.flush), (64 << 20, Flush::Never));
    assert_eq!(file(AUTO_489, "rewrite").unwrap().flush, Flush::Never);
    assert_eq!(file(AUTO_489, "stride read"), None, "no order of ours");
    let other = DIRECT_489.replacen("O_DIRECT feature", "SYNC Mode. \n\tO_DIRECT feature", 1);
    assert_eq!(file(&other, "rewrite"), None, "other work");
    let both = file(THROUGHPUT_489, "rewrite").unwrap();
    // 4124067.81 kB/s, until the fastest has its 512 kB at 3388236.50 kB/s
    assert_eq!((both.size_bytes, both.asked_written_bytes), (1 << 20, 638_149));
}

#[test]
fn operations_are_records() {
    // 1024 4 453858 633548 1514860 1479379
    let output = parse(OPS_489);
    assert_eq!(output.figures[1].trials[0].value, 633_548.0 * 4096.0);
    assert_eq!(output.figures.len(), 4);
}

#[test]
fn microseconds_stay_times() {
    // 1024 4 2 0 0 0
    let output = parse(MICROSECONDS_489);
    let [figure] = output.figures.as_slice() else { panic!("{}", output.figures.len()) };
    assert_eq!((&*figure.test, figure.unit), ("write.time", Unit::Second));
    assert!((figure.trials[0].value - 2e-6).abs() < 1e-18 && figure.trials[0].work == 256.0);
}

#[test]
fn children_and_parent_are_two_figures() {
    // 2 rewriters: 4124067.81 and 362489.05 kB/sec, at most 3388236.50 each of 512 kB
    let output = parse(THROUGHPUT_489);
    let children = find(&output, "rewrite", 65_536);
    let parent = find(&output, "rewrite.parent", 65_536);
    assert_eq!(children.trials[0].value, 4_124_067.81 * 1024.0);
    assert_eq!(parent.trials[0].value, 362_489.05 * 1024.0);
    let seconds = children.trials[0].seconds;
    assert!((seconds - 512.0 / 3_388_236.50).abs() < 1e-12, "{seconds}");
    assert!((parent.trials[0].work - children.trials[0].work).abs() < 1e-6);
    assert_eq!(children.params.int("threads"), Some(2));
    assert_eq!(children.params.int("file_size"), Some(1 << 20));
}

#[test]
fn throughput_in_operations_counts_records() {
    let output = parse(THROUGHPUT_507);
    assert_eq!(output.figures.len(), 26);
    let children = find(&output, "random read", 65_536);
    assert_eq!(children.trials[0].value, 11_179.36 * 65_536.0);
}

#[test]
fn records_of_many_sizes_have_none() {
    let changed = THROUGHPUT_489.replace("in 64 kByte", "in telemetry controlled");
    assert_eq!(parse(&changed).figures[0].params.int("block_size"), None);
    let operations = THROUGHPUT_507.replace("in 64 kByte", "in telemetry controlled");
    assert!(Iozone.parse(&operations).unwrap_err().what.contains("no unit"));
}

#[test]
fn other_work_is_not_compared() {
    let other = OPS_489.replacen("OPS Mode", "SYNC Mode. \n\tOPS Mode", 1);
    let figure = &parse(&other).figures[1];
    assert_eq!((&*figure.test, figure.comparable), ("rewrite", false));
    assert_eq!(figure.params.get("mode"), Some(&Param::Text("SYNC Mode".to_owned())));
    assert_eq!(figure.params.int("queue_depth"), None);
}

#[test]
fn runs_one_after_the_other_are_all_read() {
    let both = parse(&format!("{OPS_489}\n{DIRECT_489}"));
    let (ops, direct) = (parse(OPS_489), parse(DIRECT_489));
    assert_eq!(both.figures, [ops.figures, direct.figures].concat());
}

#[test]
fn what_cannot_be_is_refused() {
    for (text, from, to, line, why) in [
        (OPS_489, "   453858", "   4s3858", 28, "not a number"),
        (OPS_489, "            1024 ", "             1O4 ", 28, "no file size"),
        (OPS_489, "       4   453858", "       0   453858", 28, "no record size"),
        (OPS_489, "   453858", "      453858", 28, "under no column"),
        (OPS_489, "            1024 ", "Error writing block 0 1024 ", 28, "no file size"),
        (AUTO_489, "30484297", "30484297 1", 32, "more numbers than columns"),
        (THROUGHPUT_489, "2 rewriters", "2 rewinders", 36, "no test"),
        (THROUGHPUT_489, " rewriters", " readers", 37, "no 'Children see'"),
        (THROUGHPUT_489, "2 rewriters", "0 rewriters", 36, "no test"),
        (THROUGHPUT_489, "64 kByte rec", "64 MByte rec", 27, "no sizes"),
        (THROUGHPUT_489, "6994177.50", "-6994177.50", 29, "not a number"),
        (THROUGHPUT_489, "6994177.50", "0.00", 29, "not more than zero"),
        (THROUGHPUT_489, "6994177.50 kB", "6994177.50 MB", 29, "no unit"),
        (THROUGHPUT_489, "Max throughput", "Most throughput", 29, "no 'Max throughput'"),
        (THROUGHPUT_489, "512 kByte file", "512 MByte file", 27, "no sizes"),
        (THROUGHPUT_489, "\tEach process", "\tNo process", 32, "no 'Children see'"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let error = Iozone.parse(&changed).unwrap_err();
        assert!(error.what.contains(why) && error.line == line, "{from}: {error}");
    }
    let first = THROUGHPUT_489.split("Max throughput").next().unwrap();
    assert_eq!(Iozone.parse(first).unwrap_err().line, 29, "cut off");
    let then = format!("{first}\n{OPS_489}");
    assert_eq!(Iozone.parse(&then).unwrap_err().line, 29, "cut off, then another");
    let nothing = OPS_489.split("OPS Mode").next().unwrap();
    assert!(Iozone.parse(nothing).unwrap_err().what.contains("no test"));
}
