//! `proofmark import`: what other tools printed, judged.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use predicates::prelude::*;
use proofmark_model::{Measurement, Param, ParameterKind, Run, Verdict, read_run};
use proofmark_testing::PROCESS_DEADLINE;

fn import(file: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("proofmark").unwrap();
    command.timeout(PROCESS_DEADLINE);
    command.arg("import").arg(file).args(arguments);
    command
}

/// A file's run.
fn imported(file: &Path, arguments: &[&str]) -> Run {
    let dir = tempfile::tempdir().unwrap();
    let mut command = import(file, &[&["--json", "-"], arguments].concat());
    command.arg("--out").arg(dir.path());
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}: {told}", file.display());
    let page = fs::read_to_string(dir.path().join("report.html")).unwrap();
    assert!(page.contains("what the machine did meanwhile is not known"), "{}", file.display());
    assert!(!page.contains("no end"), "{}", file.display());
    read_run(&String::from_utf8(output.stdout).unwrap()).unwrap()
}

/// Every captured output, by its tool.
fn captured() -> Vec<(&'static str, PathBuf)> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reference/src");
    let mut all = Vec::new();
    for folder in fs::read_dir(tools).unwrap() {
        let Ok(files) = fs::read_dir(folder.unwrap().path().join("captured")) else { continue };
        for file in files.map(|f| f.unwrap().path()) {
            let text = fs::read_to_string(&file).unwrap();
            all.push((tool_of(&file, &text), file));
        }
    }
    all.sort();
    all
}

/// The tool of an output: that which it looks like, or, where it looks like none, the one of its
/// folder.
fn tool_of(file: &Path, text: &str) -> &'static str {
    if let Some(tool) = proofmark_reference::recognise(text) {
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

/// Whether the tool told of an error instead of a figure.
fn holds_an_error(file: &Path) -> bool {
    file.file_name().unwrap().to_str().unwrap().contains("refused")
}

#[test]
fn every_captured_output_becomes_a_run_of_its_tool() {
    let all = captured();
    let tools: BTreeSet<_> = all.iter().map(|(tool, _)| *tool).collect();
    assert_eq!(tools.len(), proofmark_reference::ALL.len(), "a tool without outputs");
    for (tool, file) in all {
        if holds_an_error(&file) {
            import(&file, &[]).assert().code(2);
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
    let dir = tempfile::tempdir().unwrap();
    let refused = |text: &str, arguments: &[&str], word: &str| {
        let file = dir.path().join("output");
        fs::write(&file, text).unwrap();
        let line = predicate::str::contains(word)
            .and(predicate::function(|e: &str| e.lines().count() == 1 && !e.contains("panicked")));
        import(&file, arguments).current_dir(&dir).assert().code(2).stdout("").stderr(line);
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "something was written");
    };
    refused("hello\n", &[], "name the tool with --tool");
    refused("", &[], "name the tool with --tool");
    refused("{}", &["--tool", "fioo"], "did you mean 'fio'?");
    refused("{\n\"fio version\": \"fio-3.33\",\n", &["--tool", "fio"], "line 3");
    import(Path::new("/nowhere"), &[]).assert().code(2);
    import(Path::new("/dev/zero"), &[]).assert().code(2);
}

#[test]
fn the_checks_of_our_own_figures_judge_theirs() {
    let (_, failed) = captured().into_iter().find(|(_, f)| f.ends_with("made-failed.txt")).unwrap();
    let run = imported(&failed, &[]);
    // A residual is evidence; a rate alone is none.
    let unproven = |m: &Measurement| m.findings.iter().any(|f| f.check == "imported");
    assert!(!run.measurements.iter().any(unproven));
    let (_, stream) = captured().into_iter().find(|(tool, _)| *tool == "stream").unwrap();
    let rates = imported(&stream, &[]).measurements;
    assert!(rates.iter().all(|m| unproven(m) && m.verdict == Verdict::Suspect));
    let found = |m: &Measurement| m.findings.iter().any(|f| f.check == "residual");
    let (wrong, right): (Vec<_>, Vec<_>) = run.measurements.iter().partition(|m| found(m));
    assert!(!wrong.is_empty() && !right.is_empty());
    assert!(wrong.iter().all(|m| m.verdict == Verdict::Invalid));
}
