use proofmark_model::Param;

use super::Iozone;
use crate::testing::{CUT, refuses, replaced};
use crate::{Output, Tool};

const AUTO_489: &str = include_str!("captured/3.489-auto.txt");
const DIRECT_489: &str = include_str!("captured/3.489-direct.txt");
const OPS_489: &str = include_str!("captured/3.489-ops.txt");
const THROUGHPUT_489: &str = include_str!("captured/3.489-throughput.txt");
const THROUGHPUT_507: &str = include_str!("captured/3.507-throughput-ops.txt");

fn parse(text: &str) -> Output {
    Iozone.parse(text).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn records_of_many_sizes_have_none() {
    let changed = replaced(THROUGHPUT_489, "in 64 kByte", "in telemetry controlled");
    assert_eq!(parse(&changed).figures[0].params.int("block_size"), None);
}

#[test]
fn other_work_is_not_compared() {
    let other = parse(&replaced(OPS_489, "OPS Mode", "SYNC Mode. \n\tOPS Mode"));
    let figure = &other.figures[1];
    assert_eq!((&*figure.test, figure.comparable), ("rewrite", false));
    assert_eq!(figure.params.get("mode"), Some(&Param::Text("SYNC Mode".to_owned())));
    assert_eq!((figure.params.int("queue_depth"), &figure.trials[0].file), (None, &None));
}

#[test]
fn runs_one_after_the_other_are_all_read() {
    let both = parse(&format!("{OPS_489}\n{DIRECT_489}"));
    assert_eq!(both.figures, [parse(OPS_489).figures, parse(DIRECT_489).figures].concat());
}

#[test]
fn what_cannot_be_is_refused() {
    let changes = [
        ("   453858", "   4s3858", "line 28: .. not a number"),
        ("            1024 ", "             1O4 ", "line 28: .. no file size"),
        ("       4   453858", "       0   453858", "line 28: .. no record size"),
        ("   453858", "      453858", "line 28: .. under no column"),
        ("            1024 ", "Error writing block 0 1024 ", "line 28: .. no file size"),
        ("OPS Mode", CUT, "no test"),
    ];
    refuses(&Iozone, OPS_489, &changes);
    let more = ("30484297", "30484297 1", "line 32: more numbers than columns");
    refuses(&Iozone, AUTO_489, &[more]);
    let changes = [
        ("2 rewriters", "2 rewinders", "line 36: .. no test"),
        (" rewriters", " readers", "line 37: .. no 'Children see'"),
        ("2 rewriters", "0 rewriters", "line 36: .. no test"),
        ("64 kByte rec", "64 MByte rec", "line 27: .. no sizes"),
        ("6994177.50", "-6994177.50", "line 29: .. not a number"),
        ("6994177.50", "0.00", "line 29: .. not more than zero"),
        ("6994177.50 kB", "6994177.50 MB", "line 29: .. no unit"),
        ("Max throughput", "Most throughput", "line 29: .. no 'Max throughput'"),
        ("512 kByte file", "512 MByte file", "line 27: .. no sizes"),
        ("\tEach process", "\tNo process", "line 32: .. no 'Children see'"),
        ("Max throughput", CUT, "line 29:"),
    ];
    refuses(&Iozone, THROUGHPUT_489, &changes);
    let operations = ("in 64 kByte", "in telemetry controlled", "no unit");
    refuses(&Iozone, THROUGHPUT_507, &[operations]);
    let cut = replaced(THROUGHPUT_489, "Max throughput", &format!("\n{OPS_489}"));
    assert_eq!(Iozone.parse(&cut).unwrap_err().line, 29, "cut off, then another");
}
