//! `proofmark history`: past runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use proofmark_judge::compare::facts_that_differ;
use proofmark_model::{
    LevelChange, Param, Parameter, ParameterKind, Params, PastPoint, PastRun, Timestamp,
    WorkloadSpec, parse_size,
};
use proofmark_report::Format;
use proofmark_report::history::{FORMATS, OverTime, Writer};
use proofmark_run::{typed_parameter, unknown, unknown_workload};
use proofmark_store::{Filter, Store};

use crate::cli::HistoryArgs;
use crate::error::{Outcome, usage};
use crate::formats;
use crate::history_file;
use crate::output::deliver;
use crate::stored::read;
use crate::text::{options_for, say};

/// The format that explains an empty result.
const FOR_PEOPLE: &str = "terminal";

pub fn run(args: &HistoryArgs) -> Result<Outcome> {
    let format = formats::find(FORMATS, &args.format, "proofmark history --help")?;
    if args.workload.is_none() && !args.set.is_empty() {
        return Err(usage(
            "--set needs a workload: proofmark history WORKLOAD --set PARAMETER=VALUE",
        ));
    }
    let path = history_file::file(args.history.history.as_deref())?;
    if !args.add.is_empty() {
        add(&path, &args.add)?;
    }
    let store = history_file::open_existing(&path)?;
    let text = match &args.workload {
        None => list(store.as_ref(), &path, args, format)?,
        Some(workload) => over_time(store.as_ref(), &path, workload, args, format)?,
    };
    deliver(&text, &args.format, args.out.as_deref())?;
    Ok(Outcome::Done)
}

/// Adds the runs of files. If one is no run, it adds none, so that the command can be repeated.
fn add(path: &Path, files: &[PathBuf]) -> Result<()> {
    for file in files {
        if let Some(tool) = read(file)?.imported {
            return Err(usage(format!(
                "{}: results of {}; the history holds only what proofmark measured",
                file.display(),
                tool
            )));
        }
    }
    let mut store = history_file::open(path)?;
    for file in files {
        let id = history_file::add(&mut store, &read(file)?, file)?;
        say(&format!("{} is run {id} of the history", file.display()));
    }
    Ok(())
}

/// Returns the filter of the options, without workload and parameters.
fn filter(args: &HistoryArgs) -> Filter {
    let since = args.within.and_then(|within| Timestamp::now().before(within.as_secs_f64()));
    Filter {
        host: args.host.clone(),
        label: args.label.clone(),
        profile: args.profile.clone(),
        since,
        last: Some(args.last),
        ..Filter::default()
    }
}

fn list(
    store: Option<&Store>,
    path: &Path,
    args: &HistoryArgs,
    format: &Format<Writer>,
) -> Result<String> {
    let filter = filter(args);
    let runs: Vec<PastRun> = store.map_or_else(|| Ok(Vec::new()), |s| s.runs(&filter))?;
    if runs.is_empty() && format.id == FOR_PEOPLE {
        return nothing(store, path, "no run");
    }
    Ok((format.write.runs)(&runs, &options_for(args.out.as_deref()))?)
}

fn over_time(
    store: Option<&Store>,
    path: &Path,
    workload: &str,
    args: &HistoryArgs,
    format: &Format<Writer>,
) -> Result<String> {
    let spec = proofmark_workloads::find(workload).map(|k| k.spec());
    let stored = store.map_or_else(|| Ok(Vec::new()), Store::workloads)?;
    if spec.is_none() && !stored.iter().any(|k| k == workload) {
        let ours = proofmark_workloads::ALL.iter().map(|k| k.spec().id.as_ref());
        let names: Vec<_> = ours.chain(stored.iter().map(String::as_str)).collect();
        return Err(usage(unknown_workload("workload", workload, &names)));
    }
    let known = store.map_or_else(|| Ok(Vec::new()), |s| s.params(workload))?;
    let filter = Filter {
        workload: Some(workload.to_owned()),
        parameters: parameters(workload, &args.set, spec, &known)?,
        ..filter(args)
    };
    let points: Vec<PastPoint> = store.map_or_else(|| Ok(Vec::new()), |s| s.points(&filter))?;
    if points.is_empty() && format.id == FOR_PEOPLE {
        return nothing(store, path, &format!("no result of {workload}"));
    }
    let changes = match store {
        None => Vec::new(),
        Some(store) => level_changes(store, &Filter { last: None, ..filter })?,
    };
    let all = OverTime { workload, spec, points: &points, changes: &changes };
    Ok((format.write.over_time)(&all, &options_for(args.out.as_deref()))?)
}

/// Finds the changes of level over all runs, and what differs between the runs of each.
fn level_changes(store: &Store, filter: &Filter) -> Result<Vec<LevelChange>> {
    let mut found = proofmark_judge::level_changes(&store.points(filter)?);
    let read = |id: i64| {
        let past = store.run(id)?;
        let run = past.map(history_file::read_past).transpose()?;
        run.map(|(_, run)| run).ok_or_else(|| anyhow!("run {id} is gone"))
    };
    for change in &mut found {
        let [before, after] = change.between.map(read);
        match before.and_then(|before| Ok((before, after?))) {
            Ok((before, after)) => change.differences = facts_that_differ(&before, &after),
            Err(error) => change.missing = Some(format!("{error:#}")),
        }
    }
    Ok(found)
}

/// Returns the message for an empty result.
fn nothing(store: Option<&Store>, path: &Path, what: &str) -> Result<String> {
    const TO_FILL: &str = "`proofmark run` adds each run to it; `proofmark history --add DIR...` adds \
        those that were made before.";
    let Some(store) = store else {
        return Ok(format!("There is no history {} yet. {TO_FILL}\n", path.display()));
    };
    let any = !store.runs(&Filter { last: Some(1), ..Filter::default() })?.is_empty();
    Ok(match any {
        true => format!("The history {} has {what} that matches.\n", path.display()),
        false => format!("The history {} is empty. {TO_FILL}\n", path.display()),
    })
}

/// Parses the parameters of `--set`, each with its values.
fn parameters(
    workload: &str,
    set: &[String],
    spec: Option<&WorkloadSpec>,
    known: &[Params],
) -> Result<BTreeMap<String, Vec<Param>>> {
    let mut parameters: BTreeMap<String, Vec<Param>> = BTreeMap::new();
    let declared = spec.map_or(&[][..], |s| &s.parameters);
    let mut names: BTreeSet<&str> = declared.iter().map(|k| k.name.as_ref()).collect();
    names.extend(known.iter().flat_map(|p| p.0.keys()).map(String::as_str));
    for text in set {
        let (name, values) = typed_parameter(workload, text)?;
        if !names.contains(name) {
            let names = names.iter().copied();
            return Err(usage(unknown("parameter", name, names, "proofmark explain WORKLOAD")));
        }
        let parameter = declared.iter().find(|k| k.name == name);
        for value in values {
            parameters.entry(name.to_owned()).or_default().extend(meanings(parameter, &value));
        }
    }
    Ok(parameters)
}

/// Returns the meanings of a value: in a past run's version the parameter may have been of another
/// kind.
fn meanings(parameter: Option<&Parameter>, text: &str) -> Vec<Param> {
    let size = match parameter.map(|k| &k.kind) {
        Some(ParameterKind::Count { .. } | ParameterKind::Choice(_)) => None,
        Some(ParameterKind::Size { .. }) | None => parse_size(text).ok(),
    };
    let count = text.replace('_', "").parse().ok();
    let mut values: Vec<Param> = size.into_iter().chain(count).map(Param::Int).collect();
    values.extend(text.parse().ok().map(Param::Flag));
    values.push(Param::from(text));
    values.dedup();
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_the_parameter_has_them() {
        let spec = proofmark_workloads::find("disk.seq_read").unwrap().spec();
        let set = |text: &str| parameters("disk.seq_read", &[text.to_owned()], Some(spec), &[]);
        assert!(set("block_size=8KB").unwrap()["block_size"].contains(&Param::Int(8192)));
        assert!(set("threads=1,2").unwrap()["threads"].contains(&Param::Int(2)));
        assert!(set("engine=psync").unwrap()["engine"].contains(&Param::from("psync")));
        assert_eq!(set("disk.seq_read.threads=2").unwrap(), set("threads=2").unwrap());
        let old = Params::default().with_named("depth", 3);
        let parameters =
            parameters("disk.seq_read", &["depth=3".to_owned()], Some(spec), &[old]).unwrap();
        assert!(
            parameters["depth"].contains(&Param::Int(3)),
            "a parameter that only past runs have"
        );
    }
}
