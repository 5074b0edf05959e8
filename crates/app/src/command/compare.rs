//! `proofmark compare`: two or more runs; and `proofmark check`: a run and its baseline, for CI.

use std::path::Path;

use anyhow::Result;
use proofmark_judge::compare::{Named, Options, compare};
use proofmark_judge::requirements::Requirement;
use proofmark_model::{Comparison, Run};
use proofmark_report::check::Check;
use proofmark_report::comparison::{MOST_RUNS, html, json, markdown, several, terminal};
use proofmark_run::{check_value, read_text, unknown};
use serde::Deserialize;

use crate::cli::{CheckArgs, CompareArgs};
use crate::error::{Outcome, usage};
use crate::formats;
use crate::output::{deliver, unreadable};
use crate::past::named;
use crate::text::options_for;

/// Largest file of requirements that is read, in bytes.
const LARGEST_REQUIREMENTS: u64 = 1 << 20;

pub fn run(args: &CompareArgs) -> Result<Outcome> {
    known_format(&args.format, &formats::COMPARE, "proofmark compare --help")?;
    let [a, others @ ..] = args.runs.as_slice() else { return Err(usage("name two runs")) };
    if args.runs.len() > MOST_RUNS {
        return Err(usage(format!("compare at most {MOST_RUNS} runs")));
    }
    if others.len() > 1 && ["html", "markdown"].contains(&args.format.as_str()) {
        return Err(usage(format!("--format {} compares two runs", args.format)));
    }
    let history = args.history.history.as_deref();
    let made = others.iter().map(|b| make([a, b], history, args.margin));
    let all = made.collect::<Result<Vec<_>>>()?;
    let options = options_for(args.out.as_deref());
    let text = match (args.format.as_str(), all.as_slice()) {
        ("json", [comparison]) => json(comparison)?,
        ("json", all) => serde_json::to_string_pretty(all)? + "\n",
        ("html", [comparison]) => html(comparison)?,
        ("markdown", [comparison]) => markdown(comparison),
        (_, [comparison]) => terminal(comparison, args.all, &options),
        (_, all) => several(all, &options),
    };
    deliver(&text, &args.format, args.out.as_deref())?;
    Ok(Outcome::Done)
}

/// Checks a run against its baseline and its requirements: slower, without a number that the baseline
/// has, with too little that could be judged, or with a requirement missed, is [`Outcome::Slower`].
pub fn check(args: &CheckArgs) -> Result<Outcome> {
    known_format(&args.format, &formats::CHECK, "proofmark check --help")?;
    let history = args.history.history.as_deref();
    let wanted = required(args)?;
    let comparison =
        args.against.as_deref().map(|a| make([a, &args.run], history, args.margin)).transpose()?;
    let checked = match wanted.as_slice() {
        [] => Vec::new(),
        all => {
            let (_, run) = named(&args.run, history)?;
            for requirement in all {
                check_params(requirement, &run)?;
            }
            let found = all.iter().map(|r| r.check(&run)).collect::<Result<Vec<_>, _>>();
            found.map_err(usage)?.concat()
        }
    };
    let check = Check::new(&args.run, comparison.as_ref(), &checked);
    let text = match args.format.as_str() {
        "json" => check.json()?,
        "junit" => check.junit()?,
        "markdown" => check.markdown(),
        _ => check.terminal(),
    };
    deliver(&text, &args.format, args.out.as_deref())?;
    let fails = comparison.is_some_and(|c| c.fails()) || checked.iter().any(|c| !c.met);
    Ok(if fails { Outcome::Slower } else { Outcome::Done })
}

/// The requirements of the command line and of the file.
fn required(args: &CheckArgs) -> Result<Vec<Requirement>> {
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
            return Err(usage(format!("{}: there is no requirement in it", path.display())));
        }
        texts.extend(file.require);
    }
    if texts.is_empty() && args.against.is_none() {
        return Err(usage(
            "there is no requirement; write one, as in require = [\"disk.fsync.p99<10ms\"]",
        ));
    }
    texts.iter().map(|text| parse(text)).collect()
}

fn parse(text: &str) -> Result<Requirement> {
    let parsed: Requirement = text.parse().map_err(|why| usage(format!("'{text}': {why}")))?;
    let ids = || proofmark_workloads::ALL.iter().map(|w| w.spec().id.as_ref());
    match ids().any(|id| id == parsed.workload) {
        true => Ok(parsed),
        false => {
            Err(usage(unknown("workload", &parsed.workload, ids(), "proofmark list workloads")))
        }
    }
}

/// Refuses what is mistyped in brackets: no configuration would ever have it.
fn check_params(requirement: &Requirement, run: &Run) -> Result<()> {
    let declared = proofmark_workloads::find(&requirement.workload).map(|w| w.spec());
    for (name, value) in requirement.unknown_params(run) {
        if let Some(spec) = declared {
            check_value(spec, name, value).map_err(|e| usage(format!("'{requirement}': {e}")))?;
        }
    }
    Ok(())
}

/// Refuses a format that there is not, before runs are read.
pub(super) fn known_format(asked: &str, formats: &[&str], where_: &str) -> Result<()> {
    if formats.contains(&asked) {
        return Ok(());
    }
    Err(usage(unknown("format", asked, formats.iter().copied(), where_)))
}

/// Reads both runs, A first, and compares them.
fn make([a, b]: [&str; 2], history: Option<&Path>, margin: Option<f64>) -> Result<Comparison> {
    let (name_a, run_a) = named(a, history)?;
    let (name_b, run_b) = named(b, history)?;
    let side = |name, run| Named { name, run };
    Ok(compare(side(&name_a, &run_a), side(&name_b, &run_b), Options { margin }))
}
