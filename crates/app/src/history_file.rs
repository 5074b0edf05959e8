//! Past runs: the location of the history, adding runs, and finding the run that the user names.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use proofmark_model::{PastPoint, PastRun, RawRun, Run};
use proofmark_store::{Filter, Store, StoreError};

use crate::cli::HistoryFile;
use crate::error::usage;
use crate::stored::read;
use crate::system_limits::explained;
use crate::text::say;

/// The variable that names the history's file, or turns the history off.
const VARIABLE: &str = "PROOFMARK_HISTORY";
/// Value of [`VARIABLE`] that turns the history off, as an empty value does.
const OFF: &str = "off";

/// Returns the history's file: the one that was named, or this user's.
pub fn file(named: Option<&Path>) -> Result<PathBuf> {
    let off = || format!("{VARIABLE} turns the history off; name a file with --history FILE");
    place(named)?.ok_or_else(|| usage(off()))
}

/// Returns the history's file; `None` if the history is turned off.
fn place(named: Option<&Path>) -> Result<Option<PathBuf>> {
    match named {
        Some(path) => Ok(Some(path.to_path_buf())),
        None => from_environment(|name| env::var_os(name)).map_err(usage),
    }
}

/// Returns the file that the environment names; `None` if it turns the history off. The error is
/// the reason that it names none.
fn from_environment(
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Option<PathBuf>, String> {
    if let Some(set) = variable(VARIABLE) {
        return Ok((!set.is_empty() && set != OFF).then(|| PathBuf::from(set)));
    }
    // The XDG Base Directory Specification ignores relative paths.
    let folder = |name| variable(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let data = folder("XDG_DATA_HOME").or_else(|| Some(folder("HOME")?.join(".local/share")));
    data.map(|d| Some(d.join("proofmark/history.db"))).ok_or_else(|| {
        format!("no home directory for the history; name a file with --history FILE or {VARIABLE}")
    })
}

/// Adds a finished run to the history, unless it has no measurement. A failure prints a line, and
/// changes neither the run nor the exit status.
pub fn keep(run: &Run, folder: &Path, history: &HistoryFile) {
    if history.no_history || run.measurements.is_empty() {
        return;
    }
    let kept = || -> Result<()> {
        if let Some(path) = place(history.place.history.as_deref())? {
            add(&mut open(&path)?, run, folder)?;
        }
        Ok(())
    };
    if let Err(error) = kept() {
        let line = format!("cannot add this run to the history: {error:#}");
        say(&format!("proofmark: {}", explained(&line)));
    }
}

/// Most earlier runs whose variation counts: the newest.
const MOST_EARLIER: usize = 50;

/// Returns the results of the newest earlier runs of the same machine, kernel and program as the run.
/// There are none without a history, or where it cannot be read.
pub fn earlier(run: &RawRun, history: &HistoryFile) -> Vec<PastPoint> {
    let read = || -> Option<Vec<PastPoint>> {
        let path = place(history.place.history.as_deref()).ok()??;
        let store = open_existing(&path).ok()??;
        let past = store.runs(&Filter::default()).ok()?;
        let same = past.iter().rev().filter(|past| is_alike(past, run)).take(MOST_EARLIER);
        let same: Vec<&PastRun> = same.collect();
        let since = Some(same.last()?.started);
        let ids: BTreeSet<i64> = same.iter().map(|past| past.id).collect();
        let workloads: BTreeSet<&String> = run.plan.points.iter().map(|p| &p.workload).collect();
        let of = |workload: &&String| {
            let workload = Some((*workload).clone());
            let filter = Filter { workload, since, ..Filter::default() };
            store.points(&filter).ok()
        };
        let all = workloads.iter().filter_map(of).flatten();
        Some(all.filter(|point| ids.contains(&point.run)).collect())
    };
    if history.no_history { Vec::new() } else { read().unwrap_or_default() }
}

/// Returns true for an earlier run of the same machine, kernel and program.
fn is_alike(past: &PastRun, run: &RawRun) -> bool {
    past.started < run.started
        && past.machine == run.host.same_machine_words()
        && past.kernel.as_ref() == run.host.os.kernel.get()
        && past.version == run.tool.version
        && has_name(run, past.host.as_ref(), past.label.as_ref())
}

/// Returns true if a run has this host name or this label; a host name that is not known is any.
pub fn has_name<M>(run: &Run<M>, host: Option<&String>, label: Option<&String>) -> bool {
    let own = run.host.os.host_name.get();
    own.zip(host).is_none_or(|(own, host)| own == host)
        || label.is_some() && run.label.as_ref() == label
}

/// Returns true for two runs of machines with the same hardware and the same host name or label.
pub fn is_same_machine(a: &Run, b: &Run) -> bool {
    a.host.same_machine_words() == b.host.same_machine_words()
        && has_name(a, b.host.os.host_name.get(), b.label.as_ref())
}

/// Opens the history in a file, and creates it if it does not exist.
pub fn open(path: &Path) -> Result<Store> {
    Ok(announced(Store::open(path).map_err(wrong_file)?))
}

/// Opens the history in a file; `None` if it does not exist.
pub fn open_existing(path: &Path) -> Result<Option<Store>> {
    Ok(Store::open_existing(path).map_err(wrong_file)?.map(announced))
}

/// The error about a file; one that is no history is a usage error.
fn wrong_file(error: StoreError) -> anyhow::Error {
    if error.is_no_history { usage(error.to_string()) } else { error.into() }
}

/// Prints a line if the history was migrated.
fn announced(store: Store) -> Store {
    if let Some(m) = store.migration() {
        say(&format!(
            "proofmark: the history was migrated from version {} to {}; the old file is {}",
            m.from,
            m.to,
            m.copy.display()
        ));
    }
    store
}

/// Adds a run.
pub fn add(store: &mut Store, run: &Run, place: &Path) -> Result<i64> {
    let place = place.canonicalize().or_else(|_| std::path::absolute(place));
    let place = place.context("cannot determine the current directory")?;
    Ok(store.add(run, &place.to_string_lossy())?)
}

/// Reads the run that the user named: a run file, its directory, or a number in the history.
/// Returns its path too. No such run is a usage error.
pub fn named(name: &str, history: Option<&Path>) -> Result<(String, Run)> {
    match name.parse::<i64>() {
        Ok(id) if !Path::new(name).exists() => numbered(id, history),
        _ => Ok((name.to_owned(), read(Path::new(name))?)),
    }
}

/// Reads the run with that number in the history, if its file is still there.
fn numbered(id: i64, history: Option<&Path>) -> Result<(String, Run)> {
    let path = file(history)
        .map_err(|e| usage(format!("no file or directory '{id}'; as a number: {e}")))?;
    let store = open_existing(&path)?.ok_or_else(|| {
        usage(format!("no file or directory '{id}', and no history in {}", path.display()))
    })?;
    let past = store
        .run(id)?
        .ok_or_else(|| usage(format!("no run {id} in the history; see `proofmark history`")))?;
    read_past(past)
}

/// Reads the newest run of the history whose file is still there, and its path; `None` if there is
/// none or the history is turned off.
pub fn newest(history: Option<&Path>) -> Result<Option<(String, Run)>> {
    // Without a home directory there is no history.
    let store = match place(history) {
        Ok(Some(path)) => open_existing(&path)?,
        Ok(None) | Err(_) => None,
    };
    let past = store.map_or_else(|| Ok(Vec::new()), |store| store.runs(&Filter::default()))?;
    let there = |past: &PastRun| Path::new(&past.path).exists();
    // The oldest is first. A file that holds another run by now is not the history's.
    Ok(past.into_iter().rev().filter(there).find_map(|past| read_past(past).ok()))
}

/// Reads a run of the history. A file that is no run, or holds another one, is a usage error.
pub fn read_past(past: PastRun) -> Result<(String, Run)> {
    let id = past.id;
    let run = read(Path::new(&past.path))
        .map_err(|e| usage(format!("cannot read run {id} of the history: {e:#}")))?;
    if run.started != past.started {
        let (place, started) = (&past.path, run.started.display());
        return Err(usage(format!(
            "run {id} of the history was replaced: {place} now holds the run of {started}"
        )));
    }
    Ok((past.path, run))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proofmark_model::{Timestamp, testing};

    use super::*;

    fn run(second: i64) -> Run {
        Run { started: Timestamp::from_millis(second * 1000).unwrap(), ..testing::run(vec![]) }
    }

    #[test]
    fn a_number_names_a_run_as_long_as_its_file_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let (history, file) = (dir.path().join("h.db"), dir.path().join("run.json"));
        let refused = |name: &str| named(name, Some(&history)).unwrap_err();
        assert!(refused("1").to_string().contains("and no history in"));
        assert!(!history.exists(), "a query creates no history");
        fs::write(&file, serde_json::to_vec(&run(5)).unwrap()).unwrap();
        let mut store = Store::open(&history).unwrap();
        let id = add(&mut store, &run(5), dir.path()).unwrap().to_string();
        let (place, read) = named(&id, Some(&history)).unwrap();
        assert_eq!((place, read), (dir.path().display().to_string(), run(5)));
        assert_eq!(named(dir.path().to_str().unwrap(), None).unwrap().1, run(5));
        assert!(refused("77").to_string().contains("no run 77 in the history"));
        assert!(refused("x").to_string().contains("No such file"));

        fs::write(&file, serde_json::to_vec(&run(6)).unwrap()).unwrap();
        assert!(refused(&id).to_string().contains("now holds the run of 1970-01-01 00:00:06"));
        fs::remove_file(&file).unwrap();
        let error = refused(&id);
        assert!(error.to_string().contains("cannot read run") && error.is::<crate::error::Usage>());
    }

    #[test]
    fn the_history_is_where_the_environment_says() {
        let file = |set: &[(&str, &str)]| {
            from_environment(|name| {
                set.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v))
            })
        };
        let path = |set: &[(&str, &str)]| file(set).unwrap().unwrap().display().to_string();
        assert_eq!(path(&[("HOME", "/h")]), "/h/.local/share/proofmark/history.db");
        let xdg = ("XDG_DATA_HOME", "/x");
        assert_eq!(path(&[("HOME", "/h"), xdg]), "/x/proofmark/history.db");
        let relative = ("XDG_DATA_HOME", "x");
        assert_eq!(path(&[("HOME", "/h"), relative]), "/h/.local/share/proofmark/history.db");
        assert_eq!(path(&[(VARIABLE, "a.db"), xdg]), "a.db");
        for off in ["", "off"] {
            assert_eq!(file(&[(VARIABLE, off), xdg]), Ok(None));
        }
        for none in [&[][..], &[("HOME", "")], &[("HOME", "h")]] {
            assert!(file(none).unwrap_err().contains("no home directory"));
        }
    }
}
