//! Tables of the history. Columns hold the values for searching and sorting, JSON the rest.

use std::path::Path;

use proofmark_model::{Better, FigureKind, Params, PastFigure, Unit, Verdict};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use serde::{Deserialize, Serialize};

use crate::error::{StoreError, translate_error};

/// SQLite's application id of a history: `PfMk`.
const APPLICATION: i64 = 0x5066_4d6b;

/// `PRAGMA user_version` of these tables. Other versions are not read.
pub const VERSION: i64 = 9;

const TABLES: &str = "
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        identity TEXT NOT NULL UNIQUE,
        started INTEGER NOT NULL, -- microseconds since 1970
        host TEXT,
        profile TEXT NOT NULL,
        run TEXT NOT NULL -- PastRun
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
    CREATE INDEX numbers_of_run ON numbers (run, measured);";

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
    pub value: f64,
    pub ci95: Option<[f64; 2]>,
    pub attainable: Option<PastFigure>,
    pub delivered: Option<PastFigure>,
    pub levels: Option<u64>,
    pub efficiency: Option<f64>,
    pub verdict: Verdict,
}

/// Creates the tables in an empty database; refuses one that is no history of this version.
pub fn prepare(db: &mut Connection, path: &Path) -> Result<(), StoreError> {
    if is_ready(db, path)? {
        return Ok(());
    }
    let failed = |e| translate_error(path, e);
    let tx = Transaction::new(db, TransactionBehavior::Immediate).map_err(failed)?;
    // Another process may have created them meanwhile.
    if !is_ready(&tx, path)? {
        tx.execute_batch(TABLES).map_err(failed)?;
        tx.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
        tx.pragma_update(None, "user_version", VERSION).map_err(failed)?;
    }
    tx.commit().map_err(failed)
}

/// True if the database has this version's tables, false if it is empty; otherwise an error.
pub fn is_ready(db: &Connection, path: &Path) -> Result<bool, StoreError> {
    let sql = "SELECT v.user_version, a.application_id, (SELECT count(*) FROM sqlite_schema)
               FROM pragma_user_version v, pragma_application_id a";
    let found: rusqlite::Result<(i64, i64, i64)> =
        db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    match found.map_err(|e| translate_error(path, e))? {
        (VERSION, APPLICATION, _) => Ok(true),
        (0, 0, 0) => Ok(false),
        (version, APPLICATION, _) => Err(StoreError::other_version(path, version, VERSION)),
        _ => Err(StoreError::no_history(path, "it is the database of another program")),
    }
}
