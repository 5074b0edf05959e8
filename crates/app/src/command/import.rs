//! `proofmark import`: judges another tool's output.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use anyhow::Result;
use proofmark_judge::judge;
use proofmark_model::{
    Ending, Finding, Host, Plan, Policy, RawMeasurement, RawRun, Severity, Timestamp, Trial,
    WorkloadSpec, check_id,
};
use proofmark_reference::{Figure, Lack, Output as Figures, Tool, decoded, other_format, unread};
use proofmark_report::terminal;
use proofmark_run::{begin, look, read_bytes, unknown};

use crate::cli::ImportArgs;
use crate::error::{Outcome, usage};
use crate::finish::finish;
use crate::output::{Output, read_untrusted, unreadable};
use crate::text::say;
use crate::this_program::tool;

/// Maximum bytes of an output.
const LARGEST: u64 = 256 << 20;

/// The findings of an import: id, title and meaning.
pub const FINDINGS: &[(&str, &str, &str)] = &[
    (
        IMPORTED,
        "Measured by another tool",
        "The results come from another tool's output. proofmark applied the checks and ceilings that \
         need nothing else; the state of the machine during the test is unknown. A result is suspect if \
         nothing in the output proves the work: no residual or validation, no count of a receiver or a \
         device. If the output has no start with a time zone, the file's time is used. With --here a number of threads or \
         an instruction set that the output does not report is taken as the maximum of this machine.",
    ),
    (
        "several_runs",
        "Several runs in one file",
        "The file has several runs of the same work, which are the trials of one result. Nothing in \
         the file shows whether they ran one after another; if they ran at the same time, their sum \
         is the figure.",
    ),
    (
        NOT_COMPARED,
        "Work that no workload does",
        "The tool did other work than any workload of proofmark, by its kind or by its options. The \
         figure is read and checked, but has no ceiling, and nothing to compare it with.",
    ),
    (
        check_id::TOOL_WARNING,
        "The tool printed a warning",
        "The warning is about the tool's own figure, or about an interval that it did not reach. \
         proofmark quotes it.",
    ),
    (
        check_id::TWO_ACCOUNTS,
        "Two figures of the output contradict each other",
        "The output reports the same work twice, such as a rate and its bytes and seconds, a total and \
         its parts, or an option and its statistics. The two differ by more than rounding, \
         so one of them is wrong. Repeat the test, or use the original file.",
    ),
];
const IMPORTED: &str = check_id::IMPORTED;
const NOT_COMPARED: &str = "not_compared";

pub fn run(args: &ImportArgs) -> Result<Outcome> {
    let name = args.file.display();
    let text = read_output(&args.file)?;
    let (by, read) =
        read_figures(args.tool.as_deref(), &text).map_err(|e| usage(format!("{name}: {e}")))?;
    let other = other_format(by.id(), &text).map(|other| format!("the file also has {other}"));
    for lost in read.without_figure.iter().chain(&other) {
        say(&format!("proofmark: warning: {name}: {lost}"));
    }
    let label = args.results.label.clone();
    let mut raw = RawRun { label, ..run_of(by, read, &args.file, args.here) };
    if let Some(what) = other {
        let advice = "import that part separately, as its tool's machine-readable output";
        raw.findings.push(Finding::new(IMPORTED, Severity::Note, what, advice));
    }
    let run = judge(&raw);
    let output = Output::create(&args.results, &run.plan, Timestamp::now())?;
    finish(&args.results, &run, (&output, None), terminal::brief)
}

fn read_output(file: &Path) -> Result<String> {
    if file != Path::new("-") {
        return read_untrusted(file, LARGEST);
    }
    let bytes = read_bytes(std::io::stdin(), LARGEST);
    bytes.map(|bytes| decoded(&bytes)).map_err(|e| unreadable(file, e))
}

/// Reads the figures of a text as the named tool's output, or that of the tool it is recognised as.
/// The error is the fault in the text, or the action to take.
fn read_figures(named: Option<&str>, text: &str) -> Result<(&'static dyn Tool, Figures), String> {
    let ids = || proofmark_reference::ALL.iter().map(|t| t.id());
    let (by, read) = match named {
        Some(id) => {
            let found = proofmark_reference::find(id);
            let tool =
                found.ok_or_else(|| unknown("tool", id, ids(), "proofmark list references"))?;
            (tool, proofmark_reference::read_as(tool, text))
        }
        None => proofmark_reference::read(text).ok_or_else(|| {
            let ids: Vec<_> = ids().collect();
            unread(text).unwrap_or_else(|| {
                format!("unknown output format; name the tool with --tool: {}", ids.join(", "))
            })
        })?,
    };
    let output = read.map_err(|e| match named.and_then(|_| other_output(by, text)) {
        Some(other) => format!("{e}; {other}"),
        None => e.to_string(),
    })?;
    Ok((by, output))
}

/// Names the output of another program than the one that the user named.
fn other_output(named: &dyn Tool, text: &str) -> Option<String> {
    match proofmark_reference::read(text) {
        Some((other, _)) if other.id() != named.id() => {
            let id = other.id();
            Some(format!("this is the output of {id}: --tool {id}"))
        }
        Some(_) => None,
        None => unread(text),
    }
}

/// Returns when a file was written.
fn written(file: &Path) -> Option<Timestamp> {
    let modified = std::fs::metadata(file).and_then(|m| m.modified()).ok()?;
    let since = modified.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Timestamp::from_millis(i64::try_from(since.as_millis()).ok()?)
}

/// Returns the start of the test, and what stands for it if the output has none with a time zone.
fn started(read: &Figures, file: &Path) -> (Timestamp, &'static str) {
    match (read.started, written(file)) {
        (Some(started), _) => (started, ""),
        (None, Some(written)) => {
            (written, "; it has no start with a time zone: the file's time is used")
        }
        (None, None) => {
            (Timestamp::now(), "; it has no start with a time zone: the time of the import is used")
        }
    }
}

/// Makes a run of the figures of a file.
fn run_of(by: &dyn Tool, read: Figures, file: &Path, here: bool) -> RawRun {
    let (started, no_start) = started(&read, file);
    let host = if here {
        look(None)
    } else {
        Host::unknown(
            "imported: the output does not describe the machine (--here: it ran on this one)",
        )
    };
    let mut workloads = BTreeMap::new();
    let mut measured = Vec::new();
    for figure in read.figures {
        let declared = proofmark_workloads::ALL.iter().map(|workload| workload.spec());
        let spec = figure.declaration(by, declared).into_owned();
        measured.push(measurement(&spec, figure, started));
        workloads.insert(spec.id.to_string(), spec);
    }
    let plan = Plan {
        profile: format!("import of {}", by.id()),
        policy: Policy { min_trials: 1, max_trials: 1, ..Policy::default() },
        points: measured.iter().map(RawMeasurement::point).collect(),
        ..Plan::default()
    };
    let version = read.version.map_or_else(String::new, |v| format!(" {v}"));
    let imported = format!("{}{version}", by.id());
    let findings = vec![Finding::new(
        IMPORTED,
        Severity::Note,
        format!("{imported} measured this; only its output was checked{no_start}"),
        "measure with proofmark for a verification, the conditions and an interval",
    )];
    let begun = begin(host, plan, findings, tool(), started);
    RawRun { imported: Some(imported), workloads, measurements: measured, ..begun }
}

/// Makes a measurement of a figure. Without a proof of the work in the output it is suspect.
fn measurement(spec: &WorkloadSpec, figure: Figure, started: Timestamp) -> RawMeasurement {
    let mut m = RawMeasurement::new(spec, figure.params);
    m.trials = figure.trials;
    for t in &mut m.trials {
        t.started = started;
    }
    m.latency = figure.latency;
    m.findings = figure.findings;
    if proofmark_workloads::find(&spec.id).is_none() {
        let what = match figure.comparable {
            true => "no workload of proofmark does this work: it is not compared",
            false => "its options or mode make it other work than a workload's: it is not compared",
        };
        let advice = "compare it with the same tool's result on the other machine";
        m.findings.push(Finding::new(NOT_COMPARED, Severity::Note, what, advice));
    }
    let proof = |t: &Trial| t.solution.is_some() || t.network.is_some() || t.device.is_some();
    // The output itself may show what did the work.
    let is_known = m.findings.iter().any(|f| f.check == check_id::PAGE_CACHE);
    if figure.proof.is_none() && !is_known && !m.trials.iter().all(proof) {
        let [why, advice] = spec.subsystem.info().unproven;
        let lack = figure.lack.unwrap_or_else(|| Lack { why: why.into(), advice: advice.into() });
        m.findings.push(Finding::new(IMPORTED, Severity::Suspect, lack.why, lack.advice));
    }
    m.ending = Ending::Complete;
    m
}
