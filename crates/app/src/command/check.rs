//! `proofmark check`: a run against its baseline and its requirements, for CI.

use anyhow::Result;
use proofmark_judge::requirements::Requirement;
use proofmark_model::{Decision, Run};
use proofmark_report::check::{Check, FORMATS};
use proofmark_run::{check_value, read_text, unknown};
use serde::Deserialize;

use super::compare::compare_runs;
use crate::cli::CheckArgs;
use crate::error::{Outcome, usage};
use crate::formats;
use crate::history_file::named;
use crate::output::{deliver, unreadable};

/// Maximum bytes of a file of requirements.
const LARGEST_REQUIREMENTS: u64 = 1 << 20;

/// Checks a run against its baseline and its requirements. [`Outcome::CheckFailed`]: a result is
/// slower or missing, too few could be compared, or a requirement is missed.
/// [`Outcome::Undecided`]: none of these, and a requirement is undecided.
pub fn run(args: &CheckArgs) -> Result<Outcome> {
    let format = formats::find(FORMATS, &args.format, "proofmark check --help")?;
    let history = args.history.history.as_deref();
    let wanted = read_requirements(args)?;
    let comparison = args
        .against
        .as_deref()
        .map(|a| compare_runs([a, &args.run], history, args.margin))
        .transpose()?;
    let checked = match wanted.as_slice() {
        [] => Vec::new(),
        all => {
            let (_, run) = named(&args.run, history)?;
            for requirement in all {
                check_workload(requirement, &run)?;
                check_params(requirement, &run)?;
            }
            let found = all.iter().map(|r| r.check(&run)).collect::<Result<Vec<_>, _>>();
            found.map_err(usage)?.concat()
        }
    };
    let text = (format.write)(&Check::new(&args.run, comparison.as_ref(), &checked))?;
    deliver(&text, &args.format, args.out.as_deref())?;
    let slower = comparison.is_some_and(|c| c.fails());
    Ok(match checked.iter().map(|c| c.decision).max() {
        _ if slower => Outcome::CheckFailed,
        Some(Decision::Missed) => Outcome::CheckFailed,
        Some(Decision::Undecided) => Outcome::Undecided,
        Some(Decision::Met) | None => Outcome::Done,
    })
}

/// Reads the requirements of the command line and of the file.
fn read_requirements(args: &CheckArgs) -> Result<Vec<Requirement>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Requirements {
        require: Vec<String>,
    }
    let mut texts = args.require.clone();
    if let Some(path) = &args.require_file {
        let text = read_text(path, LARGEST_REQUIREMENTS).map_err(|e| unreadable(path, e))?;
        let file: Requirements = toml::from_str(&text)
            .map_err(|e| usage(format!("{}: {}", path.display(), e.message())))?;
        if file.require.is_empty() {
            let why = "no requirement; write require = [\"disk.fsync.p99<10ms\"]";
            return Err(usage(format!("{}: {why}", path.display())));
        }
        texts.extend(file.require);
    }
    let parse = |text: &String| text.parse().map_err(|why| usage(format!("'{text}': {why}")));
    texts.iter().map(parse).collect()
}

/// Refuses an unknown workload. The workloads of an import are known, too.
fn check_workload(requirement: &Requirement, run: &Run) -> Result<()> {
    let known = proofmark_workloads::ALL.iter().map(|w| w.spec().id.as_ref());
    let ids = || known.clone().chain(run.workloads.keys().map(String::as_str));
    let id = &requirement.workload;
    match ids().any(|known| known == id) {
        true => Ok(()),
        false => Err(usage(unknown("workload", id, ids(), "proofmark list workloads"))),
    }
}

/// Refuses parameters in brackets that no configuration can have.
fn check_params(requirement: &Requirement, run: &Run) -> Result<()> {
    let declared = proofmark_workloads::find(&requirement.workload).map(|w| w.spec());
    for (name, value) in requirement.unknown_params(run) {
        if let Some(spec) = declared {
            check_value(spec, name, value).map_err(|e| usage(format!("'{requirement}': {e}")))?;
        }
    }
    Ok(())
}
