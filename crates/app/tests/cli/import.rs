//! `proofmark import`: what other tools printed, judged.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proofmark_model::{Measurement, Param, ParameterKind, Run, Verdict, read_run};

use super::{Folder, captured, captured_of};

fn imported(file: &Path, arguments: &[&str]) -> Run {
    let (folder, name) = (Folder::new(), file.to_str().unwrap());
    let ended = folder.run(&[&["import", name, "--json", "-", "--out", "out"], arguments].concat());
    assert!(matches!(ended.code, Some(0 | 3)), "{name}: {}", ended.stderr);
    let page = folder.text("out/report.html");
    assert!(page.contains("What else the machine did at the time is unknown"), "{name}");
    assert!(!page.contains("no end"), "{name}");
    read_run(&ended.stdout).unwrap()
}

/// The tool of an output: that which it looks like, or, where it looks like none, the one of its
/// folder.
fn tool_of(file: &Path) -> &'static str {
    let text = fs::read_to_string(file).unwrap();
    if let Some(tool) = proofmark_reference::recognise(&text) {
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

/// Whether the tool reported an error instead of a figure.
fn holds_an_error(file: &Path) -> bool {
    file.file_name().unwrap().to_str().unwrap().contains("refused")
}

#[test]
fn every_captured_output_becomes_a_run_of_its_tool() {
    let all: Vec<_> = captured().into_iter().map(|file| (tool_of(&file), file)).collect();
    let tools: BTreeSet<_> = all.iter().map(|(tool, _)| *tool).collect();
    assert_eq!(tools.len(), proofmark_reference::ALL.len(), "a tool without outputs");
    for (tool, file) in all {
        if holds_an_error(&file) {
            Folder::new().run(&["import", file.to_str().unwrap()]).with(2);
            continue;
        }
        let known = proofmark_reference::recognise(&fs::read_to_string(&file).unwrap()).is_some();
        let naming = ["--tool", tool];
        let run = imported(&file, if known { &[] } else { &naming });
        assert_eq!(run.plan.profile, format!("import of {tool}"), "{}", file.display());
        assert!(!run.measurements.is_empty());
        assert!(run.findings.iter().any(|f| f.check == "imported"));
        for m in &run.measurements {
            let spec = &run.workloads[&m.workload];
            assert_eq!((spec.unit, spec.better), (m.unit, m.better), "{}", m.point());
            assert_eq!(m.summary.as_ref().unwrap().n as usize, m.trials.len());
            // What is named like a parameter of ours has a value of its kind.
            for (name, value) in &m.params.0 {
                let Some(parameter) = spec.parameter(name) else { continue };
                let number = matches!(value, Param::Int(_));
                let word = matches!(parameter.kind, ParameterKind::Choice(_));
                assert!(number != word, "{}: {} {name}={value}", file.display(), m.workload);
            }
        }
    }
}

#[test]
fn what_cannot_be_read_is_refused_in_a_line() {
    let folder = Folder::new();
    for (text, arguments, word) in [
        ("hello\n", &[][..], "name the tool with --tool"),
        ("", &[], "name the tool with --tool"),
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
    // A residual is evidence; a rate alone is none.
    let unproven = |m: &Measurement| m.findings.iter().any(|f| f.check == "imported");
    assert!(!run.measurements.iter().any(unproven));
    let rates = imported(&captured_of("stream", ""), &[]).measurements;
    assert!(rates.iter().all(|m| unproven(m) && m.verdict == Verdict::Suspect));
    let found = |m: &Measurement| m.findings.iter().any(|f| f.check == "residual");
    let (wrong, right): (Vec<_>, Vec<_>) = run.measurements.iter().partition(|m| found(m));
    assert!(!wrong.is_empty() && !right.is_empty());
    assert!(wrong.iter().all(|m| m.verdict == Verdict::Invalid));
}
