//! Requirements of `check`.

use super::*;

#[test]
fn an_undecided_requirement_says_what_to_do_and_of_which_run_it_is() {
    let folder = with(&[("a", &[1e9, 2e9], as_it_is)]);
    let one = ["check", "a.json", "--require", "cpu.flops>=1GFLOP/s", "--format", "markdown"];
    let text = folder.run(&one).with(5).quiet();
    let about = "a.json: ";
    assert!(text.starts_with(about) && text.contains(" UTC\n\n## Requirements"), "{text}");
    let advice =
        "To decide: measure again on a quiet machine (run --wait-quiet) or with more trials";
    assert!(text.contains(advice), "{text}");
    // A quiet machine gives it no figure.
    let one = ["check", "a.json", "--require", "cpu.flops.efficiency>=1%"];
    let text = folder.run(&one).with(5).quiet();
    assert!(text.contains("no ceiling is known") && !text.contains("To decide"), "{text}");
}

#[test]
fn requirements_are_met_or_end_with_4_or_undecided_with_5() {
    let folder = with(&[("a", &[1e9, 2e9], as_it_is), ("b", &[0.5e9, 1e9], throttled)]);
    let require = |run: &str, all: &[&str]| {
        let all = all.iter().flat_map(|r| ["--require", r]);
        folder.run(&["check", run].into_iter().chain(all).collect::<Vec<_>>())
    };
    let printed = require("a.json", &["cpu.flops>=0.5GFLOP/s"]).with(0).quiet();
    assert!(printed.ends_with("1 of 1 requirement met.\n"), "{printed}");
    let printed = require("a.json", &["cpu.flops[threads=2] < 1 GFLOP/s"]).with(4).quiet();
    let line = one_line(&printed);
    let begins = "\u{2717} missed cpu.flops[threads=2] < 1 GFLOP/s: ";
    assert!(line.starts_with(begins) && line.contains(", delivered 2.0"), "{printed}");
    assert!(line.contains("FP peak, 2 ") && !line.contains("threads=2)"), "{printed}");
    let printed = require("a.json", &["cpu.flops>=1GFLOP/s"]).with(5).quiet();
    assert!(
        printed.starts_with("? undecided")
            && one_line(&printed).contains("its 95 % interval is 0."),
        "{printed}"
    );
    // A quota is the machine's own: a result under it meets and misses requirements. A missing
    // figure decides nothing.
    assert!(require("b.json", &["cpu.flops>=1FLOP/s"]).with(0).quiet().starts_with("\u{2713} met"));
    let printed = require("b.json", &["cpu.flops>=9TFLOP/s", "disk.fsync.p99<1s"]).with(4).quiet();
    let printed = one_line(&printed);
    assert!(printed.contains("but the result is suspect (throttled)"), "{printed}");
    assert!(printed.contains("disk.fsync.p99<1s: Commit: not measured"), "{printed}");
    assert!(printed.ends_with("0 of 2 requirements met, 1 missed, 1 undecided."), "{printed}");
    folder.file("node.toml", "require = [\"cpu.flops>=1GFLOP/s\", \"cpu.flops<=1kop/s\"]\n");
    let file = ["check", "a.json", "--require-file", "node.toml"];
    folder.refuses(&file, "no unit 'kop/s' for delivered of cpu.flops; there are FLOP/s, MFLOP/s");
    folder.refuses(&["check", "a.json", "--require", "cpu.flop>=1GFLOP/s"], "cpu.flops");
    for (params, word) in [
        ("thread=1", "no parameter 'thread'; did you mean 'threads'?"),
        ("isa=avx3", "did you mean 'avx2'?"),
        ("threads=two", "'two' is not a whole number"),
    ] {
        let requirement = format!("cpu.flops[{params}]>=1FLOP/s");
        folder.refuses(&["check", "a.json", "--require", &requirement], word);
    }
    for (requirement, word) in [
        ("cpu.flops.p99<3ms", "no statistic 'p99' of cpu.flops; there are delivered, "),
        ("disk.fsync.p98<10ms", "no statistic 'p98' of disk.fsync; there are delivered, "),
        ("cpu.flops.median>=1FLOP/s", "no statistic 'median' of cpu.flops; there are delivered"),
        ("disk.fsync.p99<10msec", "no unit 'msec' for p99 of disk.fsync; there are s, ms, us, µs"),
        ("disk.fsync.p99<10", "p99 of disk.fsync needs a unit; there are s, ms, us, µs and ns"),
    ] {
        folder.refuses(&["check", "a.json", "--require", requirement], word);
    }
    let printed = require("a.json", &["cpu.flops[threads=3]>=1FLOP/s"]).with(5).quiet();
    assert!(printed.contains(": not measured\n"), "{printed}");
    let printed = require("a.json", &["cpu.flops[threads=1]>=1FLOP/s", "cpu.flops>=9TFLOP/s"]);
    assert!(printed.with(4).quiet().ends_with("1 of 2 requirements met, 1 missed.\n"));
    folder.file("empty.toml", "require = []\n");
    let empty = ["check", "a.json", "--require-file", "empty.toml"];
    let baseline = ["--against", "a.json"];
    for arguments in [&empty[..], &[&empty[..], &baseline].concat()] {
        folder.refuses(arguments, "empty.toml: no requirement; write");
    }
    folder.refuses(&["check", "a.json", "--require", "cpu.flops=1"], "FIGURE OPERATOR VALUE");
    assert_eq!(folder.run(&["check", "a.json"]).code, Some(2), "neither baseline nor requirement");
    let both = ["check", "a.json", "--against", "a.json", "--require", "cpu.flops>=1PFLOP/s"];
    folder.refuses(&both, "no unit 'PFLOP/s'");
    let both = ["check", "a.json", "--against", "a.json", "--require", "cpu.flops>=9TFLOP/s"];
    let text = folder.run(&both).with(4).quiet();
    assert!(text.contains("None of 2 results is slower") && text.contains("0 of 1"), "{text}");
    let xml = folder.run(&[&both[..], &["--format", "junit"]].concat()).with(4).quiet();
    assert!(xml.contains("name=\"requirements\"") && xml.contains("name=\"cpu\""), "{xml}");
    let json = folder.run(&[&both[..], &["--format", "json"]].concat()).with(4).quiet();
    let text = folder.run(&[&both[..], &["--format", "markdown"]].concat()).with(4).quiet();
    assert!(
        text.contains(
            "## Requirements\n\n- ✗ missed cpu.flops>=9TFLOP/s".replace(">", "&gt;").as_str()
        ),
        "{text}"
    );
    assert!(text.contains("| cpu |"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], "proofmark.check/1");
    assert_eq!((&json["outcome"], &json["exit_status"]), (&"missed".into(), &4.into()));
    let counts = serde_json::json!({"met": 0, "missed": 1, "undecided": 0});
    assert_eq!(json["counts"]["requirements"], counts);
    assert_eq!(json["counts"]["results"]["no_difference_shown"], 2);
    assert_eq!(json["comparison"]["schema"], "proofmark.comparison/3");
}
