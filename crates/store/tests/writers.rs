//! Tests of processes that write at once and are killed: this test program, controlled by its
//! environment.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

mod runs;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use proofmark_store::{Filter, Store};
use proofmark_testing::{join, wait, wait_until};
use runs::small;
use rusqlite::Connection;

const FILE: &str = "STORE_TEST_FILE";
const FIRST: &str = "STORE_TEST_FIRST";
const COUNT: &str = "STORE_TEST_COUNT";

/// Adds runs and prints each run's number after it is stored.
#[test]
#[ignore = "the other process of the tests below"]
fn adds_runs() {
    let Ok(file) = std::env::var(FILE) else { return };
    let number = |name| std::env::var(name).unwrap().parse::<i64>().unwrap();
    let mut out = std::io::stdout().lock();
    for at in number(FIRST)..number(FIRST) + number(COUNT) {
        let mut store = Store::open(Path::new(&file)).unwrap();
        let id = store.add(&small(at), &format!("/runs/{at}")).unwrap();
        writeln!(out, "added {at} as {id}").unwrap();
        out.flush().unwrap();
    }
}

/// Starts a process that adds `count` runs, the first at `first` milliseconds.
fn writer(file: &Path, first: i64, count: i64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "adds_runs", "--ignored", "--nocapture", "--test-threads=1"])
        .env(FILE, file)
        .env(FIRST, first.to_string())
        .env(COUNT, count.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// Reads a writer's output to its end: start and number of each added run.
fn added(out: &mut ChildStdout) -> Vec<(i64, i64)> {
    let lines = BufReader::new(out).lines().map_while(Result::ok);
    let parse = |line: String| {
        // The test harness prints a line first.
        let (at, id) = line.split_once("added ")?.1.split_once(" as ")?;
        Some((at.parse().ok()?, id.parse().ok()?))
    };
    lines.filter_map(parse).collect()
}

/// Starts a thread that reads a writer's output to its end.
fn reader_of(writer: &mut Child) -> JoinHandle<Vec<(i64, i64)>> {
    let mut out = writer.stdout.take().unwrap();
    thread::spawn(move || added(&mut out))
}

fn is_whole(file: &Path) {
    let db = Connection::open(file).unwrap();
    let check: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    let dangling = "SELECT count(*) FROM pragma_foreign_key_check";
    assert_eq!(db.query_row(dangling, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    let halves = "SELECT count(*) FROM runs r WHERE
                  (SELECT count(*) FROM numbers n WHERE n.run = r.id) <> 2";
    assert_eq!(db.query_row(halves, [], |row| row.get::<_, i64>(0)).unwrap(), 0, "half a run");
}

#[test]
fn writers_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    // The file does not exist yet, so they also create it at once.
    let file = dir.path().join("history.db");
    let mut writers: Vec<Child> = (0..3).map(|w| writer(&file, w * 1000, 100)).collect();
    let readers: Vec<_> = writers.iter_mut().map(reader_of).collect();
    for child in &mut writers {
        assert!(wait("the writer to end", child).success());
    }
    let all: Vec<Vec<(i64, i64)>> =
        readers.into_iter().map(|r| join("the end of what a writer prints", r)).collect();
    for added in &all {
        assert_eq!(added.len(), 100);
    }
    let numbers: BTreeSet<i64> = all.iter().flatten().map(|(_, id)| *id).collect();
    assert_eq!(numbers.len(), 300, "each has a number of its own");
    let store = Store::open_existing(&file).unwrap().unwrap();
    let runs = store.runs(&Filter::default()).unwrap();
    assert_eq!(runs.len(), 300);
    for (at, id) in all.into_iter().flatten() {
        assert_eq!(store.run(id).unwrap().unwrap().path, format!("/runs/{at}"));
    }
    is_whole(&file);
}

#[test]
fn a_kill_loses_nothing_that_was_added() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("history.db");
    let mut all: Vec<(i64, i64)> = Vec::new();
    let mut in_the_middle = 0;
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..40 {
        let mut child = writer(&file, round * 100_000, 100_000);
        let reader = reader_of(&mut child);
        // From before the first run to many runs later, at no round number.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        thread::sleep(Duration::from_micros(5_000 + (seed >> 33) % 150_000));
        child.kill().unwrap();
        wait("the killed writer to end", &mut child);
        all.extend(join("the end of what a writer prints", reader));
        let journal = fs::metadata(dir.path().join("history.db-journal"));
        in_the_middle += u32::from(journal.is_ok_and(|m| m.len() > 0));
        let Some(store) = Store::open_existing(&file).unwrap() else { continue };
        for (at, id) in &all {
            let added = store.run(*id).unwrap().unwrap();
            assert_eq!(added.path, format!("/runs/{at}"), "round {round}");
        }
        is_whole(&file);
    }
    assert!(in_the_middle > 5, "kills that hit a change: {in_the_middle}");
    assert!(all.len() >= 40, "too few were added before the kills: {}", all.len());
    let runs = Store::open_existing(&file).unwrap().unwrap().runs(&Filter::default()).unwrap();
    let uncounted = runs.len() - all.len();
    assert!(uncounted <= 40, "at most one a kill was added and not printed: {uncounted}");
    println!("40 kills, {in_the_middle} of them amid a change; {} runs added", all.len());
}

const OLD: &[u8] = include_bytes!("captured/0.2.0.db");

/// Returns the numbers of runs and of results.
fn counts(file: &Path) -> [i64; 2] {
    let db = Connection::open(file).unwrap();
    ["runs", "numbers"].map(|table| {
        db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    })
}

fn version(file: &Path) -> i64 {
    let db = Connection::open(file).unwrap();
    db.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

/// One of the programs migrates, and each adds its runs.
#[test]
fn programs_that_open_an_old_history_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("history.db");
    fs::write(&file, OLD).unwrap();
    let before = counts(&file);
    let mut writers: Vec<Child> = (0..4).map(|w| writer(&file, w * 1000, 10)).collect();
    let readers: Vec<_> = writers.iter_mut().map(reader_of).collect();
    for child in &mut writers {
        assert!(wait("the writer to end", child).success());
    }
    for reader in readers {
        assert_eq!(join("the end of what a writer prints", reader).len(), 10);
    }
    assert_eq!(counts(&file), [before[0] + 40, before[1] + 80]);
    let copy = dir.path().join("history.db.version-9");
    assert_eq!((version(&copy), counts(&copy)), (9, before), "taken before the first change");
}

/// A reader keeps the migration from its commit, so that the kill hits it in the middle.
#[test]
fn a_kill_in_a_migration_leaves_the_old_history() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("history.db");
    fs::write(&file, OLD).unwrap();
    let before = counts(&file);
    let reader = Connection::open(&file).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let read = || reader.query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, i64>(0));
    assert_eq!(read().unwrap(), before[0]);
    let mut child = writer(&file, 0, 1);
    let journal = dir.path().join("history.db-journal");
    wait_until("the journal of the migration", || {
        fs::metadata(&journal).ok().filter(|m| m.len() > 512)
    });
    assert_eq!(read().unwrap(), before[0], "nothing of it is visible");
    child.kill().unwrap();
    wait("the killed writer to end", &mut child);
    drop(reader);
    assert!(journal.exists(), "the kill came before the end");
    assert_eq!((version(&file), counts(&file)), (9, before));
    let store = Store::open(&file).unwrap();
    assert_eq!(store.migration().map(|m| m.from), Some(9));
    assert_eq!((version(&file), counts(&file)), (10, before));
}
