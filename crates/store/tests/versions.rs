//! Histories of other versions: older ones are migrated, newer ones refused.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

mod runs;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use proofmark_model::{FigureKind, PastPoint, PastRun, Run, Verdict};
use proofmark_store::{Filter, Store};
use runs::{on, small};
use rusqlite::Connection;

/// A history that proofmark 0.2.0 wrote: five runs, the second under a label, the fifth added from
/// its file.
const OLD: &[u8] = include_bytes!("captured/0.2.0.db");

/// The version that this program writes.
const NOW: i64 = 10;

fn old() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.db");
    fs::write(&path, OLD).unwrap();
    (dir, path)
}

fn copy_of(path: &Path) -> PathBuf {
    path.with_file_name("history.db.version-9")
}

fn version(path: &Path) -> i64 {
    let db = Connection::open(path).unwrap();
    db.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

/// Returns every row of a table as text.
fn rows(path: &Path, sql: &str) -> Vec<String> {
    let db = Connection::open(path).unwrap();
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn runs_of(store: &Store) -> Vec<PastRun> {
    store.runs(&Filter::default()).unwrap()
}

fn points_of(store: &Store, workload: &str) -> Vec<PastPoint> {
    let workload = Some(workload.to_owned());
    store.points(&Filter { workload, ..Filter::default() }).unwrap()
}

#[test]
fn a_history_of_0_2_0_is_migrated() {
    let (_dir, path) = old();
    let numbers = "SELECT json_array(measured, started, run, json(number)) FROM numbers ORDER BY 1";
    let before = rows(&path, numbers);
    let store = Store::open_existing(&path).unwrap().unwrap();
    let migration = store.migration().unwrap();
    assert_eq!((migration.from, migration.to, &migration.copy), (9, NOW, &copy_of(&path)));
    assert_eq!((version(&path), rows(&path, numbers)), (NOW, before));

    let runs: BTreeMap<i64, PastRun> = runs_of(&store).into_iter().map(|r| (r.id, r)).collect();
    assert_eq!(runs.len(), 5);
    assert_eq!(runs[&2].host.as_deref(), Some("web-3"));
    assert_eq!(runs[&2].started.to_string(), "2026-11-27T19:26:12.215600501Z", "every digit");
    for run in runs.values() {
        assert_eq!((&run.label, run.version.as_str()), (&None, "0.2.0"));
        assert!(run.missing["label"].contains("in place of the host name"), "{run:?}");
        assert_eq!(run.host.is_none(), run.missing.contains_key("host"), "{run:?}");
    }
    assert!(runs[&5].missing["host"].contains("read no host name"));

    let [fsync] = &points_of(&store, "disk.fsync")[..] else { panic!() };
    assert_eq!((fsync.trials, fsync.method_version, fsync.verdict), (3, 1, Verdict::Suspect));
    assert_eq!(fsync.params.named("method").unwrap().to_string(), "fdatasync");
    assert!(fsync.missing.contains_key("label"));
    let flops = points_of(&store, "cpu.flops");
    assert_eq!(flops.len(), 2);
    assert_eq!(flops[0].headline, FigureKind::Attainable);
    assert!(flops[0].delivered.unwrap().value < flops[0].value.unwrap());
    assert!(points_of(&store, "cpu.clock").iter().any(|p| p.over_time && p.levels == Some(1)));

    // It goes on as any other, and is migrated once.
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.migration(), None);
    assert_eq!(store.add(&on("node2", small(0)), "/runs/new").unwrap(), 6);
    assert_eq!(runs_of(&store).len(), 6);
}

#[test]
fn a_migrated_history_has_the_tables_of_a_new_one() {
    let (dir, path) = old();
    let new = dir.path().join("new.db");
    drop((Store::open(&path).unwrap(), Store::open(&new).unwrap()));
    let columns = "SELECT json_array(t.name, c.name, c.type, c.\"notnull\", c.pk)
                   FROM sqlite_schema t, pragma_table_xinfo(t.name) c ORDER BY t.name, c.cid";
    assert_eq!(rows(&path, columns), rows(&new, columns));
    let made_by = rows(&path, "SELECT program FROM made_by");
    assert_eq!((&made_by, made_by.len()), (&rows(&new, "SELECT program FROM made_by"), 1));
}

#[test]
fn a_copy_of_the_old_history_stays_for_the_older_program() {
    let (dir, path) = old();
    // What a crash may have left.
    fs::write(dir.path().join("history.db.new-version-9"), "half a copy").unwrap();
    fs::write(copy_of(&path), "an earlier copy").unwrap();
    Store::open(&path).unwrap();
    let mode = fs::metadata(copy_of(&path)).unwrap().permissions().mode();
    assert_eq!((version(&copy_of(&path)), mode & 0o777), (9, 0o600));
    for table in ["runs", "measured", "numbers"] {
        let sql = format!(
            "SELECT json_array({}) FROM {table} ORDER BY 1",
            match table {
                "runs" => "id, identity, started, host, profile, run",
                "measured" => "id, workload, what",
                _ => "measured, started, run, number",
            }
        );
        let before = dir.path().join("before.db");
        fs::write(&before, OLD).unwrap();
        assert_eq!(rows(&copy_of(&path), &sql), rows(&before, &sql), "{table}");
    }
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

/// A run file has both names, the old history had one of them.
#[test]
fn adding_a_run_again_tells_host_and_label_apart() {
    let (dir, path) = (tempfile::tempdir().unwrap(), "history.db");
    let path = dir.path().join(path);
    let labelled = Run { label: Some("web-3".to_owned()), ..on("node1", small(0)) };
    let id = Store::open(&path).unwrap().add(&labelled, "/runs/a").unwrap();
    // As proofmark 0.2.0 wrote it.
    let db = Connection::open(&path).unwrap();
    db.execute_batch(
        "ALTER TABLE runs DROP COLUMN label; DROP TABLE made_by; UPDATE runs SET host = 'web-3';
         UPDATE runs SET run = json_remove(run, '$.label', '$.missing'); PRAGMA user_version = 9",
    )
    .unwrap();
    let mut store = Store::open(&path).unwrap();
    let [past] = &runs_of(&store)[..] else { panic!() };
    assert_eq!((past.host.as_deref(), past.label.as_deref()), (Some("web-3"), None));
    assert_eq!(store.add(&labelled, "/runs/a").unwrap(), id);
    let [past] = &runs_of(&store)[..] else { panic!() };
    assert_eq!((past.host.as_deref(), past.label.as_deref()), (Some("node1"), Some("web-3")));
    assert!(past.missing.is_empty(), "{past:?}");
}

/// Returns the error of opening a file, which stays as it is.
fn refused(path: &Path) -> String {
    let before = fs::read(path).unwrap();
    let error = Store::open(path).unwrap_err().to_string();
    assert!(error.lines().count() == 1 && error.contains(&path.display().to_string()), "{error}");
    assert_eq!(Store::open_existing(path).unwrap_err().to_string(), error);
    assert_eq!(fs::read(path).unwrap(), before);
    error
}

#[test]
fn a_newer_history_names_the_program_that_reads_it() {
    let (_dir, path) = old();
    let mut open = Store::open(&path).unwrap();
    let alter = |sql: &str| Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    alter("PRAGMA user_version = 23; UPDATE made_by SET program = '7.8.9' || char(27) || '[31m'");
    let error = refused(&path);
    let ours = env!("CARGO_PKG_VERSION");
    assert!(error.contains("version 23 by proofmark 7.8.9"), "{error}");
    assert!(error.contains(&format!("proofmark {ours} reads up to version {NOW}")), "{error}");
    assert!(error.contains("use proofmark 7.8.9") && !error.contains('\u{1b}'), "{error}");
    let late = open.add(&small(1), "").unwrap_err().to_string();
    assert!(late.contains("use proofmark 7.8.9"), "by one that had it open: {late}");
    alter("DROP TABLE made_by");
    assert!(refused(&path).contains("use a newer proofmark"));
}

#[test]
fn what_is_older_than_0_2_0_is_refused() {
    for version in [8, 7, -1] {
        let (_dir, path) = old();
        let sql = format!("PRAGMA user_version = {version}");
        Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
        let error = refused(&path);
        assert!(error.contains(&format!("version {version}, of an early build")), "{error}");
        assert!(error.contains("history --add"), "{error}");
    }
}

/// A damaged old history is an error of one line or a whole one, never a panic and never lost.
#[test]
fn a_damaged_old_history_keeps_its_copy() {
    let mut seed = 0x1234_5678_9abc_def1_u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    let mut reported = 0;
    for round in 0..120 {
        let (_dir, path) = old();
        let mut torn = OLD.to_vec();
        match round % 2 {
            0 => torn.truncate(4096 + random(OLD.len() - 4096)),
            _ => (0..48).for_each(|_| torn[100 + random(OLD.len() - 100)] = random(256) as u8),
        }
        fs::write(&path, &torn).unwrap();
        let opened = Store::open(&path).and_then(|store| store.runs(&Filter::default()));
        if let Err(error) = opened {
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
            reported += 1;
        }
        let is_old = version_of(&path) == Some(9);
        assert!(is_old || copy_of(&path).exists(), "round {round}: the old one is gone");
    }
    assert!(reported > 30, "most of this shows: {reported} of 120");
}

/// Returns the version in the file's header.
fn version_of(path: &Path) -> Option<i64> {
    let header = fs::read(path).unwrap();
    let version = header.get(60..64)?;
    Some(i64::from(i32::from_be_bytes(version.try_into().ok()?)))
}
