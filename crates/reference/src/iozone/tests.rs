use proofmark_model::{Flush, Severity, key};

use super::Iozone;
use crate::testing::{CUT, refuses, replaced};
use crate::{Output, Tool};

const AUTO_489: &str = include_str!("captured/3.489-auto.txt");
const DIRECT_489: &str = include_str!("captured/3.489-direct.txt");
const OPS_489: &str = include_str!("captured/3.489-ops.txt");
const THROUGHPUT_489: &str = include_str!("captured/3.489-throughput.txt");
const EXCEL_507: &str = include_str!("captured/3.507-direct-excel.txt");
const THROUGHPUT_507: &str = include_str!("captured/3.507-throughput-ops.txt");

fn parse(text: &str) -> Output {
    Iozone.parse(text).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn records_of_many_sizes_have_none() {
    let changed = replaced(THROUGHPUT_489, "in 64 kByte", "in telemetry controlled");
    assert_eq!(parse(&changed).figures[0].params.get(key::BLOCK_SIZE), None);
}

#[test]
fn other_work_is_not_compared() {
    let other = parse(&replaced(OPS_489, "OPS Mode", "Using mmap files\n\tOPS Mode"));
    let figure = &other.figures[1];
    assert_eq!((&*figure.test, figure.comparable), ("rewrite", false));
    assert_eq!(figure.params.get(key::MODE), Some("Using mmap files"));
    assert_eq!((figure.params.get(key::QUEUE_DEPTH), &figure.trials[0].file), (None, &None));
}

#[test]
fn each_write_with_o_sync_is_durable() {
    let figure = parse(&replaced(OPS_489, "OPS Mode", "SYNC Mode. \n\tOPS Mode")).figures.remove(1);
    assert_eq!(figure.trials[0].file.as_ref().unwrap().flush, Flush::Dsync);
    assert_eq!((figure.params.word("sync"), figure.params.get(key::FLUSH)), (Some("O_SYNC"), None));
    assert!(!figure.comparable);
    // Timing the close does not change the flush.
    let timed = "Include close in write timing\n\tOPS Mode";
    let figure = parse(&replaced(OPS_489, "OPS Mode", timed)).figures.remove(1);
    assert_eq!(figure.trials[0].file.as_ref().unwrap().flush, Flush::Never);
}

/// `fwrite` and `fread` open the file by name: neither -I nor -o is theirs.
#[test]
fn the_streams_of_the_c_library_use_the_page_cache() {
    let flags = replaced(AUTO_489, "iozone -a -n", "iozone -a -I -o -n");
    let figures = parse(&flags).figures;
    let of = |test: &str| figures.iter().find(|f| f.test == test).unwrap();
    for (test, direct, is_written) in [
        ("rewrite", true, true),
        ("fwrite", false, true),
        ("frewrite", false, true),
        ("fread", false, false),
        ("freread", false, false),
        ("record rewrite", true, true),
    ] {
        let figure = of(test);
        let file = figure.trials[0].file.as_ref().unwrap();
        assert_eq!(file.direct, Some(direct), "{test}");
        assert_eq!(file.asked_written_bytes > 0, is_written, "{test}");
        assert_eq!(figure.params.get(key::DIRECT), Some(if direct { "on" } else { "off" }));
        let syncs = direct && is_written;
        assert_eq!(file.flush, if syncs { Flush::Dsync } else { Flush::Never }, "{test}");
        assert_eq!(figure.params.word("sync").is_some(), direct, "{test}");
    }
    assert_eq!(against(&flags, "fread")[0].0, "page_cache");
    assert_eq!(against(&flags, "read"), []);
    // A stream's flush is counted with -e; one record is no file that is written once.
    let flushed = parse(&replaced(AUTO_489, "iozone -a -n", "iozone -a -e -n")).figures;
    let file =
        |test| flushed.iter().find(|f| f.test == test).unwrap().trials[0].file.clone().unwrap();
    assert_eq!((file("fwrite").flush, file("fwrite").size_bytes), (Flush::End, 65536));
    assert_eq!((file("record rewrite").flush, file("record rewrite").size_bytes), (Flush::End, 0));
}

/// Returns the findings about the figures of a test.
fn against(text: &str, test: &str) -> Vec<(String, Severity)> {
    let found = parse(text).figures.into_iter().filter(|f| f.test == test).flat_map(|f| f.findings);
    found.map(|f| (f.check.into_owned(), f.severity)).collect()
}

#[test]
fn what_was_just_written_is_read_from_the_page_cache() {
    let cached = |severity| vec![("page_cache".to_owned(), severity)];
    assert_eq!(against(OPS_489, "read"), cached(Severity::Suspect));
    assert_eq!(against(OPS_489, "write"), []);
    assert_eq!(against(DIRECT_489, "random read"), []);
    let unmounted = replaced(OPS_489, "-i 0 -i 1", "-i 0 -i 1 -U /mnt");
    assert_eq!(against(&unmounted, "read"), []);
    let among_others = replaced(OPS_489, "-i 0 -i 1", "-i 0 -i 1 -cU /mnt -f /U");
    assert_eq!(against(&among_others, "read"), []);
    let named = replaced(OPS_489, "-i 0 -i 1", "-i 0 -i 1 -f/U -+U");
    assert_eq!(against(&named, "read"), cached(Severity::Suspect));
    let large = replaced(OPS_489, "            1024 ", "        67108864 ");
    assert_eq!(against(&large, "reread"), cached(Severity::Note));
    assert_eq!(against(THROUGHPUT_489, "read"), cached(Severity::Suspect));
    // The file of another run may no longer be in the cache.
    let read = include_str!("captured/3.489-beside-read.txt");
    assert_eq!(against(read, "read"), []);
}

#[test]
fn what_is_printed_twice_must_agree() {
    assert!(parse(EXCEL_507).figures.iter().all(|f| f.findings.is_empty()));
    let other = replaced(EXCEL_507, "\"1024\"   643266  888159", "\"1024\"   643266  999159");
    assert_eq!(against(&other, "random read"), [("two_accounts".to_owned(), Severity::Invalid)]);
    let more = replaced(THROUGHPUT_489, "=  485617.10 kB", "= 9485617.10 kB");
    assert_eq!(against(&more, "write"), [("two_accounts".to_owned(), Severity::Suspect)]);
    let mean = [("= 3497088.75", "= 4497088.75", "line 33: the mean times the processes")];
    refuses(&Iozone, THROUGHPUT_489, &mean);
}

#[test]
fn what_iozone_says_against_a_run_is_said_of_its_figures_alone() {
    let said = "\nTimer resolution is poor. Some small transfers may have \n\
                reported inaccurate results. Sizes 2048 Kbytes and below.\n";
    let warned = |severity| vec![("tool_warning".to_owned(), severity)];
    assert_eq!(against(&format!("{DIRECT_489}{said}"), "rewrite"), warned(Severity::Suspect));
    let below = said.replace("2048", "512");
    assert_eq!(against(&format!("{DIRECT_489}{below}"), "rewrite"), []);
    assert_eq!(against(&format!("{OPS_489}{said}{DIRECT_489}"), "random write"), []);
    let invalid = "Performance measurements are invalid in this mode.\n\tCommand line";
    let verified = replaced(DIRECT_489, "Command line", invalid);
    assert_eq!(against(&verified, "write"), warned(Severity::Invalid));
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
        ("   453858", "      453858", "line 28: .. not under a column"),
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

/// Returns a listing as users copy it, without the lines before "Run began".
fn copied(head: &str, size: &str, rewrite: u64) -> String {
    format!(
        "{head}\tFile size set to {size} kB\n\tRecord Size 64 kB\n\
         \tCommand line used: ./iozone -a -s {size} -r 64 -i 0\n\
         \tOutput is in kBytes/sec\n\
         \tTime Resolution = 0.000001 seconds.\n\
         \tFile stride size set to 17 * record size.\n\
         {:>88}{:>10}\n\
         {:>16}{:>8}{:>9}{:>9}{:>9}{:>9}\n\
         {:>16}{:>8}{:>9}{:>9}\n\niozone test complete.\n",
        "random",
        "random",
        "kB",
        "reclen",
        "write",
        "rewrite",
        "read",
        "reread",
        size,
        64,
        7000,
        rewrite
    )
}

#[test]
fn a_listing_without_its_first_lines_is_read() {
    let direct = copied("\tO_DIRECT feature enabled\n\tAuto Mode\n", "7168", 9000);
    let cached = copied("\tAuto Mode\n", "9216", 8000);
    let flags = direct.replace("\tO_DIRECT feature enabled\n", "").replace(" -a ", " -aI ");
    assert_eq!(parse(&flags).figures, parse(&direct).figures);
    let mac = parse(&direct.replace("O_DIRECT feature enabled", "F_NOCACHE=1 - Turns caching off"));
    assert!(mac.figures[1].params.has(key::MODE) && !mac.figures[1].comparable);
    let text = format!("On my board:\n{direct}The same, cached:\n{cached}");
    let (tool, output) = crate::read(&text).unwrap();
    assert_eq!(tool.id(), "iozone");
    let figures = output.unwrap().figures;
    let rewrites: Vec<_> = figures.iter().filter(|f| f.test == "rewrite").collect();
    let found = |at: usize| {
        (rewrites[at].trials[0].value, rewrites[at].trials[0].file.as_ref().unwrap().direct)
    };
    assert_eq!((rewrites.len(), found(0)), (2, (9000.0 * 1024.0, Some(true))));
    assert_eq!(
        found(1),
        (8000.0 * 1024.0, Some(false)),
        "the first run's mode is not the second's"
    );
}
