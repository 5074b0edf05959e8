//! `proofmark check`: a run against its baseline and its requirements, for CI.

use std::path::Path;

use anyhow::Result;
use proofmark_judge::requirements::Requirement;
use proofmark_model::{CheckedRequirement, Decision, Run, WorkloadSpec, did_you_mean};
use proofmark_report::check::{Check, FORMATS};
use proofmark_run::{check_value, read_text, unknown_workload};
use serde::Deserialize;

use super::last_good;
use super::side::{ReadSide, compare_read};
use crate::cli::CheckArgs;
use crate::error::{Outcome, usage};
use crate::formats;
use crate::output::{deliver, unreadable};
use crate::text::options_for;

/// The word for the newest good run of the history.
const LAST_GOOD: &str = "last-good";
/// Maximum bytes of a file of requirements.
const LARGEST_REQUIREMENTS: u64 = 1 << 20;

/// Checks a run against its baseline and its requirements. [`Outcome::CheckFailed`]: a result is
/// slower or gone, or a requirement is missed. [`Outcome::Undecided`]: none of these, and a result or
/// a requirement is undecided, the run had no time left for a result, too few results could be judged,
/// or there is no baseline.
pub fn run(args: &CheckArgs) -> Result<Outcome> {
    let format = formats::find(FORMATS, &args.format, "proofmark check --help")?;
    let history = args.history.history.as_deref();
    let wanted = read_requirements(args)?;
    let own = ReadSide::read(&args.run, history)?;
    let checked = check_requirements(&wanted, own.run())?;
    let baseline = match args.against.as_deref() {
        None => None,
        Some(LAST_GOOD) if !Path::new(LAST_GOOD).exists() => {
            Some(last_good::find(&own, history, args.margin)?)
        }
        Some(name) => {
            Some(Ok(ReadSide::read(name, history).map_err(|e| meant_last_good(name, e))?))
        }
    };
    let compare = |base: ReadSide| compare_read([&base, &own], 'B', [None, None], args.margin);
    let comparison = baseline.map(|found| found.map(compare));
    let check = Check::new((&args.run, own.run()), &checked);
    let check = match &comparison {
        None => check,
        Some(found) => check.against(found.as_ref().map_err(String::as_str)),
    };
    let text = (format.write)(&check, &options_for(args.out.as_deref()))?;
    deliver(&text, &args.format, args.out.as_deref())?;
    Ok(match check.decision() {
        Decision::Missed => Outcome::CheckFailed,
        Decision::Undecided => Outcome::Undecided,
        Decision::Met => Outcome::Done,
    })
}

/// The error about a baseline whose name is nearly `last-good`.
fn meant_last_good(name: &str, error: anyhow::Error) -> anyhow::Error {
    match did_you_mean(name, [LAST_GOOD]).filter(|_| !Path::new(name).exists()) {
        Some(hint) => usage(format!("--against: no run '{name}'; {hint}")),
        None => error,
    }
}

/// Checks all requirements; a mistake in one of them is a usage error.
fn check_requirements(all: &[Requirement], run: &Run) -> Result<Vec<CheckedRequirement>> {
    let mut checked = Vec::new();
    for requirement in all {
        check_workload(requirement, run)?;
        check_params(requirement, run)?;
        let declared = declared(&requirement.workload);
        checked.extend(requirement.check(run, declared).map_err(usage)?);
    }
    Ok(checked)
}

/// The workload as this program has it.
fn declared(id: &str) -> Option<&'static WorkloadSpec> {
    proofmark_workloads::find(id).map(|w| w.spec())
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
        let wrong = |why: &str| {
            let form = "write require = [\"disk.fsync.p99<10ms\"]";
            usage(format!("{}: {why}; {form}", path.display()))
        };
        let file: Requirements = toml::from_str(&text).map_err(|e| wrong(e.message()))?;
        if file.require.is_empty() {
            return Err(wrong("no requirement"));
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
    if ids().any(|known| known == id) {
        return Ok(());
    }
    let misnamed = requirement.misnamed_statistic(run, declared);
    let names: Vec<_> = ids().collect();
    Err(usage(misnamed.unwrap_or_else(|| unknown_workload("workload", id, &names))))
}

/// Refuses parameters in brackets that no configuration can have.
fn check_params(requirement: &Requirement, run: &Run) -> Result<()> {
    let declared = declared(&requirement.workload);
    for (name, value) in requirement.unknown_params(run) {
        if let Some(spec) = declared {
            check_value(spec, name, value).map_err(|e| usage(format!("'{requirement}': {e}")))?;
        }
    }
    Ok(())
}
