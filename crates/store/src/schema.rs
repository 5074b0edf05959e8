//! The tables, and how those of older versions become those of this one.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::{StoreError, about};

/// Marks the file as a history, in the field that SQLite has for that: `PfMk`.
pub const APPLICATION: i64 = 0x5066_4d6b;

/// Versions up to this one were never released; nothing reads them.
const UNRELEASED: i64 = 4;

/// What makes each version from the one before, the first from an empty database. A list only
/// grows: stores of every version are out there. `PRAGMA user_version` is [`UNRELEASED`] and the
/// number of those that were applied.
pub const MIGRATIONS: &[&str] = &["PRAGMA application_id = 0x50664d6b;
     CREATE TABLE runs (
         id INTEGER PRIMARY KEY,
         identity TEXT NOT NULL UNIQUE,
         started INTEGER NOT NULL, -- microseconds since 1970
         ended INTEGER,
         host TEXT,
         machine TEXT NOT NULL,
         profile TEXT NOT NULL,
         version TEXT NOT NULL,
         path TEXT NOT NULL,
         valid INTEGER NOT NULL,
         suspect INTEGER NOT NULL,
         invalid INTEGER NOT NULL
     ) STRICT;
     CREATE INDEX runs_by_start ON runs (started);
     -- What a result is, once; a run may hold it in trials and over time.
     CREATE TABLE measured (
         id INTEGER PRIMARY KEY,
         workload TEXT NOT NULL,
         method INTEGER NOT NULL,
         params TEXT NOT NULL, -- JSON, sorted by parameter
         unit TEXT NOT NULL,
         better TEXT NOT NULL,
         over_time INTEGER NOT NULL, -- 0 or 1
         UNIQUE (workload, method, params, unit, better, over_time)
     ) STRICT;
     -- In the order in which a result is read over time.
     CREATE TABLE numbers (
         measured INTEGER NOT NULL REFERENCES measured (id),
         started INTEGER NOT NULL, -- that of the run
         run INTEGER NOT NULL REFERENCES runs (id),
         n INTEGER NOT NULL,
         median REAL NOT NULL,
         low REAL,
         high REAL,
         efficiency REAL,
         verdict TEXT NOT NULL,
         levels INTEGER,
         PRIMARY KEY (measured, started, run)
     ) STRICT, WITHOUT ROWID;
     CREATE INDEX numbers_of_run ON numbers (run, measured);"];

/// The version that the statements of this crate are for.
pub const VERSION: i64 = UNRELEASED + MIGRATIONS.len() as i64;

/// Brings the store to this version, one migration a transaction. An empty database becomes a
/// store.
///
/// # Errors
/// If it is of another version that cannot be brought there, something else, or cannot be written.
pub fn migrate(db: &mut Connection, path: &Path) -> Result<(), StoreError> {
    loop {
        let (version, ours) = look(db).map_err(|e| about(path, e))?;
        if !ours {
            return Err(StoreError::no_history(path, "it is the database of another program"));
        }
        match version {
            VERSION => return Ok(()),
            1..=UNRELEASED => {
                let reason = format!("its version {version} was never released; move it away");
                return Err(StoreError::no_history(path, &reason));
            }
            _ if next(version).is_some() => apply(db).map_err(|e| about(path, e))?,
            _ => return Err(StoreError::newer(path, version, VERSION)),
        }
    }
}

/// What brings a store of that version, 0 if it is empty, to the next.
fn next(version: i64) -> Option<(&'static str, i64)> {
    let version = if version == 0 { UNRELEASED } else { version };
    let sql = MIGRATIONS.get(usize::try_from(version - UNRELEASED).ok()?)?;
    Some((sql, version + 1))
}

/// Whether this is the version that the statements here are for: another process may have
/// brought it further since it was opened.
///
/// # Errors
/// If it is not.
pub fn still_ours(db: &Connection, path: &Path) -> Result<(), StoreError> {
    match look(db).map_err(|e| about(path, e))? {
        (VERSION, _) => Ok(()),
        (version, _) => Err(StoreError::newer(path, version, VERSION)),
    }
}

/// Version, and whether it is a history or empty.
fn look(db: &Connection) -> rusqlite::Result<(i64, bool)> {
    db.query_row(
        "SELECT v.user_version, a.application_id, (SELECT count(*) FROM sqlite_schema)
         FROM pragma_user_version v, pragma_application_id a",
        [],
        |row| {
            let (version, application): (i64, i64) = (row.get(0)?, row.get(1)?);
            let empty = version == 0 && application == 0 && row.get::<_, i64>(2)? == 0;
            Ok((version, application == APPLICATION || empty))
        },
    )
}

/// The next migration, unless another process was faster.
fn apply(db: &mut Connection) -> rusqlite::Result<()> {
    let tx = Transaction::new(db, TransactionBehavior::Immediate)?;
    let (version, ours) = look(&tx)?;
    if let (Some((sql, version)), true) = (next(version), ours) {
        tx.execute_batch(sql)?;
        tx.pragma_update(None, "user_version", version)?;
    }
    tx.commit()
}
