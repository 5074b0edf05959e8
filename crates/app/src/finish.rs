//! The end of a run: files, printed results, exit status.

use anyhow::{Context as _, Result};
use proofmark_model::{Ending, Measurement, Run, Verdict, counted};
use proofmark_report::{More, Options};
use proofmark_run::RunFile as _;

use crate::cli::{ExitRules, HistoryFile, ResultFiles};
use crate::error::Outcome;
use crate::output::{Output, RUN_FILE, is_stdout, not_written, write_file};
use crate::system_limits::limit_of_signal;
use crate::text::{print, print_data, report_command, say, terminal_options};
use crate::{history_file, signals};

/// Renders the results that are printed at the end of a run.
pub type Printed = fn(&Run, &Options, &More) -> String;

/// Writes the files and prints the results, even if a file cannot be written. Adds the run to the
/// history; an import has none, since this machine did not measure it.
pub fn finish(
    files: &ResultFiles,
    run: &Run,
    (output, history): (&Output, Option<&HistoryFile>),
    printed: Printed,
) -> Result<Outcome> {
    let run = &*output.shown(run)?;
    let json = files.json.as_deref();
    let to_stdout = json.is_some_and(is_stdout);
    // Write each file that can be written, even if another one fails.
    let saved = output.save(run).with_context(|| not_written(&output.dir().join(RUN_FILE)));
    let reports = output.save_reports(run);
    let copied = match json.filter(|_| !to_stdout) {
        Some(path) => write_file(path, &serde_json::to_vec_pretty(run)?),
        None => Ok(()),
    };
    let command = report_command(output.dir());
    let more = More { command: &command, page: None };
    let printed = match to_stdout {
        true => print_data(&format!("{}\n", serde_json::to_string_pretty(run)?)),
        false => print(&printed(run, &terminal_options(), &more)),
    };
    if let Some(history) = history {
        history_file::keep(run, output.dir(), history);
    }
    printed.context("cannot write to standard output")?;
    saved.and(reports).and(copied)?;
    say(&format!("Report: {}", output.page().display()));
    say(&format!("All results: {command} --all; for a ticket: --format summary"));
    if let Some(line) = limits_line(run) {
        say(&format!("proofmark: {line}"));
    }
    Ok(outcome(run, files.exit))
}

/// Returns a line on the limits of the system that ended results; each limit is named once.
fn limits_line(run: &Run) -> Option<String> {
    let mut lines: Vec<String> = Vec::new();
    let all = &run.measurements;
    let limits = all.iter().filter_map(|m| match &m.ending {
        Ending::Limited { limit, .. } => Some(limit),
        _ => None,
    });
    let ended = limits.clone().count();
    let stopped = run.interrupted.as_deref().and_then(limit_of_signal);
    for limit in limits.chain(&stopped) {
        let line = format!("{}; {}", limit.cause(), limit.action());
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let why = lines.join("; or because of ");
    let results = counted(all.len(), "result");
    match (ended, stopped) {
        (_, Some(_)) => Some(format!("the run was stopped because of {why}")),
        (0, None) => None,
        _ => Some(format!("{ended} of {results} not measured to the end because of {why}")),
    }
}

/// Returns true if a measurement broke off after its first trial, such as when its server was lost.
fn broke_off(run: &Run) -> bool {
    let broken =
        |m: &Measurement| matches!(m.ending, Ending::Refused { .. }) && !m.trials.is_empty();
    run.measurements.iter().any(broken)
}

fn outcome(run: &Run, rules: ExitRules) -> Outcome {
    if run.interrupted.as_deref().and_then(limit_of_signal).is_some() {
        return Outcome::Failed;
    }
    if let Some(signal) = run.interrupted.as_deref().and_then(signals::number) {
        return Outcome::Stopped(signal);
    }
    match run.verdict() {
        None => Outcome::Failed,
        Some(_) if limits_line(run).is_some() || broke_off(run) => Outcome::Failed,
        Some(_) if run.measurements.iter().all(|m| m.verdict == Verdict::NotRun) => Outcome::Failed,
        Some(Verdict::Invalid) => Outcome::Invalid,
        Some(Verdict::Suspect) if rules.strict => Outcome::Invalid,
        Some(_) if run.interrupted.is_some() || is_coarser(run, rules) => Outcome::Invalid,
        Some(_) => Outcome::Done,
    }
}

/// Returns true if an interval is wider than `--precision` allows. A result without an interval,
/// such as one of a few complete solves, is not.
fn is_coarser(run: &Run, rules: ExitRules) -> bool {
    let mut half_widths = run.measurements.iter().filter_map(|m| Some(m.precision?.half_width));
    rules.precision.is_some_and(|most| half_widths.any(|half| half > most))
}

#[cfg(test)]
mod tests {
    use proofmark_model::testing::{measurement, run};
    use proofmark_model::{Params, Precision};

    use super::*;

    #[test]
    fn the_status_is_3_if_a_result_is_invalid_or_not_as_asked() {
        let spec = proofmark_workloads::find("cpu.flops").unwrap().spec();
        let with = |verdict, half_width: Option<f64>| {
            let mut m = measurement(spec, Params::default(), &[1e9; 8]);
            m.verdict = verdict;
            m.precision =
                half_width.map(|h| Precision { half_width: h, target: 0.005, reached: false });
            run(vec![m])
        };
        let rules = |strict, precision| ExitRules { strict, precision };
        let (lenient, strict) = (rules(false, None), rules(true, None));
        let within = rules(false, Some(0.02));
        for (run, rules, expected) in [
            (with(Verdict::Valid, Some(0.2)), lenient, Outcome::Done),
            (with(Verdict::Valid, Some(0.2)), strict, Outcome::Done),
            (with(Verdict::Suspect, None), lenient, Outcome::Done),
            (with(Verdict::Suspect, None), strict, Outcome::Invalid),
            (with(Verdict::Invalid, None), lenient, Outcome::Invalid),
            (with(Verdict::Valid, Some(0.03)), within, Outcome::Invalid),
            (with(Verdict::Valid, Some(0.01)), within, Outcome::Done),
            (with(Verdict::Valid, None), within, Outcome::Done),
        ] {
            assert_eq!(outcome(&run, rules), expected, "{rules:?}");
        }
        assert_eq!(outcome(&run(Vec::new()), lenient), Outcome::Failed);
        let not_run = || with(Verdict::NotRun, None);
        assert_eq!(outcome(&not_run(), lenient), Outcome::Failed, "nothing was measured");
        let mut some = not_run();
        some.measurements.extend(with(Verdict::Coarse, Some(0.9)).measurements);
        assert_eq!(outcome(&some, strict), Outcome::Done);
        some.measurements[1].ending = Ending::Refused { reason: "the server is gone".to_owned() };
        assert_eq!(outcome(&some, lenient), Outcome::Failed, "a measurement that had begun");
    }
}
