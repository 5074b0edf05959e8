//! `proofmark import` of captured outputs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proofmark_model::{Finding, Measurement, Run, Severity, Verdict, read_run};

use super::{Ended, Folder, captured, captured_of};

fn imported(file: &Path, arguments: &[&str]) -> Run {
    let (folder, name) = (Folder::new(), file.to_str().unwrap());
    let ended = folder.run(&[&["import", name, "--json", "-", "--out", "out"], arguments].concat());
    assert!(matches!(ended.code, Some(0 | 3)), "{name}: {}", ended.stderr);
    let page = folder.text("out/report.html");
    assert!(page.contains("What else ran on the machine is unknown"), "{name}");
    assert!(!page.contains("no end"), "{name}");
    read_run(&ended.stdout).unwrap()
}

/// Returns the tool that recognises an output, or else the one of its directory.
fn tool_of(file: &Path) -> &'static str {
    let text = fs::read_to_string(file).unwrap();
    if let Some((tool, _)) = proofmark_reference::read(&text) {
        return tool.id();
    }
    let folder = file.parent().unwrap().parent().unwrap().file_name().unwrap();
    let id = if text.contains("bw_mem") || file.to_str().unwrap().contains("bw_mem") {
        "lmbench-bw"
    } else {
        folder.to_str().unwrap()
    };
    proofmark_reference::find(id).unwrap().id()
}

#[test]
fn the_outputs_of_two_machines_are_shown_side_by_side() {
    let is_stream = |file: &Path| tool_of(file) == "stream";
    let file = captured().into_iter().find(|file| is_stream(file)).unwrap();
    let text = fs::read_to_string(file).unwrap();
    let folder = Folder::new();
    let of = |name: &str| -> String { text.lines().map(|l| format!("{name}: {l}\n")).collect() };
    folder.file("nodes.txt", &(of("n1") + &of("n2")));
    folder.run(&["import", "nodes.txt", "--out", "out"]);
    let short = folder.run(&["report", "out"]).stdout;
    assert!(short.contains(", n1") && short.contains(", n2"), "{short}");
    assert!(short.contains("Left out: ") && short.contains(" results, "), "{short}");
    let whole = folder.run(&["report", "out", "--all"]).stdout;
    assert!(!whole.contains("STREAM listing"), "of proofmark's passes alone: {whole}");
    let json = folder.run(&["report", "out", "--format", "json"]).stdout;
    assert!(json.contains("it has no start with a time zone: the file's time is used"), "{json}");
}

#[test]
fn an_output_of_each_tool_becomes_a_run_of_it() {
    let all: Vec<_> = captured().into_iter().map(|file| (tool_of(&file), file)).collect();
    // The tool reported an error instead of a figure.
    let is_refused = |file: &Path| file.file_name().unwrap().to_str().unwrap().contains("refused");
    let (refused, read): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, f)| is_refused(f));
    for (_, file) in refused {
        Folder::new().run(&["import", file.to_str().unwrap()]).with(2);
    }
    let tools: BTreeMap<_, _> = read.into_iter().collect();
    assert_eq!(tools.len(), proofmark_reference::ALL.len(), "a tool without outputs");
    for (tool, file) in tools {
        let known = proofmark_reference::read(&fs::read_to_string(&file).unwrap()).is_some();
        let naming = ["--tool", tool];
        let run = imported(&file, if known { &[] } else { &naming });
        assert_eq!(run.plan.profile, format!("import of {tool}"), "{}", file.display());
        assert!(!run.measurements.is_empty());
        assert!(run.findings.iter().any(|f| f.check == "imported"));
        for m in &run.measurements {
            assert_eq!(m.summary.as_ref().unwrap().trials.n as usize, m.trials.len());
        }
    }
}

#[test]
fn advice_is_for_who_has_the_tools_output() {
    // Advice that only users of `proofmark run` can follow.
    const OURS: [&str; 5] = ["--disk-path", "--peer", "parameter ", "/proc", "flush=end"];
    for file in captured().into_iter().filter(|f| !f.to_str().unwrap().contains("refused")) {
        let naming = ["--tool", tool_of(&file)];
        let known = proofmark_reference::read(&fs::read_to_string(&file).unwrap()).is_some();
        let run = imported(&file, &[if known { &[] } else { &naming[..] }, &["--here"]].concat());
        for finding in run.measurements.iter().flat_map(|m| &m.findings) {
            let ours = OURS.iter().find(|word| finding.advice.contains(**word));
            assert!(ours.is_none(), "{}: {finding:?}", file.display());
            assert_ne!(finding.check, "unwatched", "{}", file.display());
        }
    }
}

#[test]
fn what_was_imported_can_be_required() {
    let folder = Folder::new();
    let file = captured_of("linpack", "made-4-sizes.txt");
    folder.run(&["import", file.to_str().unwrap(), "--out", "run"]).with(0);
    let printed = ["check", "run", "--require", "cpu.linpack[n=10000]>1GFLOP/s"];
    let ended = folder.run(&printed);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let line = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains("as the tool printed it: 1 trial"), "{line}");
    let missed = ["check", "run", "--require", "cpu.linpack[n=10000]>9TFLOP/s"];
    assert!(folder.run(&missed).stdout.contains("missed"));
    let file = captured_of("iperf3", "3.12-tcp-paced.json");
    folder.run(&["import", file.to_str().unwrap(), "--out", "paced"]);
    let ended = folder.run(&["check", "paced", "--require", "iperf3.tcp.paced>1bit/s"]);
    assert!(ended.code != Some(2), "{}", ended.stderr);
    folder.refuses(&["check", "paced", "--require", "iperf3.tcp.pace>1bit/s"], "iperf3.tcp.paced");
}

#[test]
fn what_cannot_be_read_is_refused_in_a_line() {
    let folder = Folder::new();
    for (text, arguments, word) in [
        ("hello\n", &[][..], "name the tool with --tool"),
        ("", &[], "the file is empty"),
        ("1+0 records in\n1+0 records out\n4 bytes copied, 1 s, 4 B/s\n", &[], "import reads fio,"),
        ("a: (groupid=0, jobs=1)\nfio-3.33\n", &["--tool", "fio"], "--output-format=json"),
        ("{\n\"start\": {\"version\": \"iperf 3.12\"}}\n", &["--tool", "fio"], "--tool iperf3"),
        ("{}", &["--tool", "fioo"], "did you mean 'fio'?"),
        ("{\n\"fio version\": \"fio-3.33\",\n", &["--tool", "fio"], "line 3"),
    ] {
        folder.file("output", text);
        folder.refuses(&[&["import", "output"], arguments].concat(), word);
    }
    folder.refuses(&["import", "/nowhere"], "/nowhere");
    folder.refuses(&["import", "/dev/zero"], "/dev/zero");
}

#[test]
fn the_checks_of_our_own_figures_judge_theirs() {
    let run = imported(&captured_of("linpack", "made-failed.txt"), &[]);
    // Residuals and validated arrays are proof of the work; a rate alone is none.
    let has = |m: &Measurement, check: &str| m.findings.iter().any(|f| f.check == check);
    let unproven = |m: &Measurement| has(m, "imported");
    assert!(!run.measurements.iter().any(unproven));
    for (tool, ending) in [("stream", "2-threads.txt"), ("hpl", "1-process.txt")] {
        assert!(!imported(&captured_of(tool, ending), &[]).measurements.iter().any(unproven));
    }
    let rates = imported(&captured_of("likwid", "copy_avx512-2-threads.txt"), &[]).measurements;
    assert!(rates.iter().all(|m| unproven(m) && m.verdict == Verdict::Suspect));
    let kept = imported(&captured_of("sysbench", "rndwr-no-flush.txt"), &[]).measurements;
    assert!(kept.iter().all(|m| has(m, "not_durable") && m.verdict == Verdict::Invalid));
    let found = |m: &Measurement| has(m, "residual");
    let (wrong, right): (Vec<_>, Vec<_>) = run.measurements.iter().partition(|m| found(m));
    assert!(!wrong.is_empty() && !right.is_empty());
    assert!(wrong.iter().all(|m| m.verdict == Verdict::Invalid));
}

/// Work that no workload does is in the report, and is said not to be compared.
#[test]
fn work_without_an_equal_is_named() {
    let run = imported(&captured_of("iozone", "3.489-auto.txt"), &[]);
    let is_ours = |m: &&Measurement| m.workload.starts_with("disk.");
    let named = |m: &&Measurement| {
        m.findings.iter().any(|f| f.check == "not_compared" && f.severity == Severity::Note)
    };
    let (ours, others): (Vec<_>, Vec<_>) = run.measurements.iter().partition(is_ours);
    assert_eq!((ours.len(), others.len()), (4 * 8, 9 * 8));
    assert_eq!(
        (ours.iter().filter(|m| named(m)).count(), others.iter().filter(|m| named(m)).count()),
        (0, 72)
    );
}

/// The run file does not have the tool's output: what its reader found must stay.
#[test]
fn an_import_that_is_read_again_keeps_its_verdicts() {
    let mut kept = Vec::new();
    for file in captured() {
        let is_refused = file.file_name().unwrap().to_str().unwrap().contains("refused");
        let text = fs::read_to_string(&file).unwrap();
        let Some((_, Ok(output))) = proofmark_reference::read(&text).filter(|_| !is_refused) else {
            continue;
        };
        let of_check = |f: &&Finding| proofmark_judge::checks::find(&f.check).is_some();
        let found = output.figures.iter().flat_map(|f| &f.findings).find(of_check);
        let Some(found) = found.filter(|found| !kept.contains(&found.check)) else { continue };
        let folder = Folder::new();
        folder.run(&["import", file.to_str().unwrap(), "--out", "out"]);
        let ended = folder.run(&["report", "out"]).with(0);
        assert_eq!(ended.stderr, "", "{}", file.display());
        kept.push(found.check.clone());
    }
    assert!(kept.len() > 1, "{kept:?}");
}

#[test]
fn a_label_is_the_name_of_a_run_and_an_anonymous_one_has_no_others() {
    let file = captured_of("fio", ".json");
    let labelled = imported(&file, &["--here", "--label", " web-3 "]);
    assert_eq!(labelled.name(), Some("web-3"));
    assert!(labelled.host.os.host_name.get().is_some());
    let folder = Folder::new();
    let ended =
        Ended::run(folder.command().env("USER", "alice-7").args(["import", "--here"]).args([
            file.to_str().unwrap(),
            "--anonymous",
            "--label",
            "web-3 of alice-7",
            "--json",
            "-",
        ]));
    let bare = read_run(&ended.stdout).unwrap();
    assert_eq!(bare.host.os.host_name.get(), None);
    assert_eq!(bare.name(), Some("web-3 of name"));
    assert!(!ended.stdout.contains("alice-7"), "{}", ended.stdout);
    Folder::new().refuses(&["import", file.to_str().unwrap(), "--label", " "], "--label");
}

/// An output that has counters is not said to have none: the finding says why they prove nothing.
#[test]
fn counters_that_prove_nothing_are_named() {
    let files = captured().into_iter().filter(|f| f.to_str().unwrap().contains("/fio/captured/"));
    let mut named = 0;
    for file in files.filter(|f| !f.to_str().unwrap().contains("refused")) {
        let text = fs::read_to_string(&file).unwrap();
        let has_counters = text.contains("\"read_ios\"");
        for m in imported(&file, &["--tool", "fio"]).measurements {
            let unproven = m.findings.iter().find(|f| f.check == "imported");
            let Some(message) = unproven.map(|f| &f.message) else { continue };
            let names = message.contains("(disk_util) prove nothing: ");
            assert_eq!(names, has_counters, "{}: {message}", file.display());
            named += u32::from(names);
        }
    }
    assert!(named > 2, "{named}");
}

/// Parts of a file without a figure are named, not only noted in the full report.
#[test]
fn what_an_import_leaves_out_is_named() {
    let folder = Folder::new();
    let read = |tool, ending| fs::read_to_string(captured_of(tool, ending)).unwrap();
    let cpu = read("sysbench", "1.0.20-debian12-cpu-median.txt");
    let threads = read("sysbench", "threads-refused.txt");
    folder.file("all", format!("{cpu}{threads}"));
    let ended = folder.run(&["import", "all"]).with(0);
    assert!(ended.stderr.contains("warning: all: line ") && ended.stderr.contains("unknown test"));
    folder.file("one", &cpu);
    assert!(!folder.run(&["import", "one"]).with(0).stderr.contains("warning"));
}
