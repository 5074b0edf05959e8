//! Tables of the history. Columns hold the values for searching and sorting, JSON the rest.

use std::path::Path;

use proofmark_model::{Better, FigureKind, Params, PastFigure, Reliance, Unit, Verdict};
use rusqlite::{Connection, Transaction};
use serde::{Deserialize, Serialize};

use crate::error::{StoreError, translate_error};

/// SQLite's application id of a history: `PfMk`.
const APPLICATION: i64 = 0x5066_4d6b;

/// `PRAGMA user_version` of these tables.
pub const VERSION: i64 = OLDEST + STEPS.len() as i64;

const TABLES: &str = "
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        identity TEXT NOT NULL UNIQUE,
        started INTEGER NOT NULL, -- microseconds since 1970
        host TEXT,
        profile TEXT NOT NULL,
        run TEXT NOT NULL, -- PastRun
        label TEXT
    ) STRICT;
    CREATE INDEX runs_by_start ON runs (started);
    -- What a result is, once; a run may hold it in trials and over time.
    CREATE TABLE measured (
        id INTEGER PRIMARY KEY,
        workload TEXT NOT NULL,
        what TEXT NOT NULL, -- Measured
        UNIQUE (workload, what)
    ) STRICT;
    -- In the order in which a result is read over time.
    CREATE TABLE numbers (
        measured INTEGER NOT NULL REFERENCES measured (id),
        started INTEGER NOT NULL, -- that of the run
        run INTEGER NOT NULL REFERENCES runs (id),
        number TEXT NOT NULL, -- Number
        PRIMARY KEY (measured, started, run)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX numbers_of_run ON numbers (run, measured);
    -- The program that made these tables. Every later version keeps this one as it is.
    CREATE TABLE made_by (program TEXT NOT NULL) STRICT;";

/// The oldest version that is migrated: that of proofmark 0.2.0.
pub const OLDEST: i64 = 9;

/// The changes of each version since [`OLDEST`]. A step never changes once a program with it was
/// released.
const STEPS: [&str; 1] = [
    // 10: the label has a column of its own.
    "ALTER TABLE runs ADD COLUMN label TEXT;
     CREATE TABLE made_by (program TEXT NOT NULL) STRICT;
     UPDATE runs SET run = json_set(run, '$.missing', json_object(
         'label', 'proofmark 0.2.0 kept the label in place of the host name; add the run again'));
     UPDATE runs SET run = json_set(run, '$.missing.host',
         'proofmark 0.2.0 read no host name from a run file; add the run again')
         WHERE host IS NULL;",
];

/// Properties that are the same from run to run. Equal ones have equal JSON.
#[derive(Serialize, Deserialize)]
pub struct Measured {
    pub params: Params,
    pub unit: Unit,
    pub better: Better,
    pub over_time: bool,
    pub method: u32,
}

/// Result of one run.
#[derive(Serialize, Deserialize)]
pub struct Number {
    pub n: u64,
    pub headline: FigureKind,
    pub value: Option<f64>,
    /// The reason why there is no headline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    pub ci95: Option<[f64; 2]>,
    pub attainable: Option<PastFigure>,
    pub delivered: Option<PastFigure>,
    pub levels: Option<u64>,
    pub efficiency: Option<f64>,
    /// Left out for a known ceiling.
    #[serde(default, skip_serializing_if = "Reliance::is_known")]
    pub reliance: Reliance,
    pub verdict: Verdict,
}

/// State of a database that this program reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It has no table yet.
    Empty,
    /// It has the tables of this older version.
    Older(i64),
    /// It has this version's tables.
    Ready,
}

/// Returns the state of a database; an error for one of a newer version, or of another program.
pub fn state(db: &Connection, path: &Path) -> Result<State, StoreError> {
    let sql = "SELECT v.user_version, a.application_id, (SELECT count(*) FROM sqlite_schema)
               FROM pragma_user_version v, pragma_application_id a";
    let found: rusqlite::Result<(i64, i64, i64)> =
        db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    match found.map_err(|e| translate_error(path, e))? {
        (VERSION, APPLICATION, _) => Ok(State::Ready),
        (0, 0, 0) => Ok(State::Empty),
        (version, APPLICATION, _) if version > VERSION => {
            let program = db.query_row("SELECT program FROM made_by", [], |row| row.get(0));
            Err(StoreError::newer(path, [version, VERSION], program.ok()))
        }
        (version, APPLICATION, _) if version < OLDEST => Err(StoreError::too_old(path, version)),
        (version, APPLICATION, _) => Ok(State::Older(version)),
        _ => Err(StoreError::no_history(path, "it is the database of another program")),
    }
}

/// Creates the tables in an empty database.
pub fn create(tx: &Transaction) -> rusqlite::Result<()> {
    tx.execute_batch(TABLES)?;
    tx.pragma_update(None, "application_id", APPLICATION)?;
    stamp(tx)
}

/// Turns the tables of an older version into this one's.
pub fn migrate(tx: &Transaction, from: i64) -> rusqlite::Result<()> {
    let done = usize::try_from(from - OLDEST).unwrap_or(0);
    for step in STEPS.iter().skip(done) {
        tx.execute_batch(step)?;
    }
    stamp(tx)
}

/// Writes the version of the tables and the program that made them.
fn stamp(tx: &Transaction) -> rusqlite::Result<()> {
    tx.execute("DELETE FROM made_by", [])?;
    tx.execute("INSERT INTO made_by VALUES (?1)", [env!("CARGO_PKG_VERSION")])?;
    tx.pragma_update(None, "user_version", VERSION)
}
