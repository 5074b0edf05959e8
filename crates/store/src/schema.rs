//! The tables, and how those of older versions become those of this one.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::{StoreError, about};

/// Marks the file as a history, in the field that SQLite has for that: `PfMk`.
pub const APPLICATION: i64 = 0x5066_4d6b;

/// What makes each version from the one before. A list only grows: stores of every version are out
/// there. `PRAGMA user_version` counts how many were applied.
///
/// 1. Runs and their points.
/// 2. What a point is stands once in `measured`, and what came out lies in `numbers` in the order
///    in which a measurement is read over time; efficiency is new. Runs are found by their start.
/// 3. Whether a point was sampled over time is part of what it is, with the levels that it had: a
///    run may hold it both ways. Before, `endure` was the one command that always samples over
///    time, so those runs are taken for that; adding any other again puts it right.
pub const MIGRATIONS: &[&str] = &[
    "PRAGMA application_id = 0x50664d6b;
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
     CREATE TABLE points (
         run INTEGER NOT NULL REFERENCES runs (id),
         kernel TEXT NOT NULL,
         params TEXT NOT NULL, -- JSON, sorted by knob
         unit TEXT NOT NULL,
         better TEXT NOT NULL,
         n INTEGER NOT NULL,
         median REAL NOT NULL,
         low REAL,
         high REAL,
         verdict TEXT NOT NULL,
         PRIMARY KEY (run, kernel, params)
     ) STRICT, WITHOUT ROWID;",
    "CREATE TABLE measured (
         id INTEGER PRIMARY KEY,
         kernel TEXT NOT NULL,
         params TEXT NOT NULL, -- JSON, sorted by knob
         unit TEXT NOT NULL,
         better TEXT NOT NULL,
         UNIQUE (kernel, params, unit, better)
     ) STRICT;
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
         PRIMARY KEY (measured, started, run)
     ) STRICT, WITHOUT ROWID;
     INSERT INTO measured (kernel, params, unit, better)
         SELECT DISTINCT kernel, params, unit, better FROM points ORDER BY kernel, params;
     INSERT INTO numbers (measured, started, run, n, median, low, high, efficiency, verdict)
         SELECT m.id, r.started, p.run, p.n, p.median, p.low, p.high, NULL, p.verdict
         FROM points p JOIN runs r ON r.id = p.run
         JOIN measured m ON m.kernel = p.kernel AND m.params = p.params
                        AND m.unit = p.unit AND m.better = p.better;
     DROP TABLE points;
     CREATE INDEX numbers_of_run ON numbers (run, measured);
     CREATE INDEX runs_by_start ON runs (started);",
    "CREATE TABLE measured_3 (
         id INTEGER PRIMARY KEY,
         kernel TEXT NOT NULL,
         params TEXT NOT NULL, -- JSON, sorted by knob
         unit TEXT NOT NULL,
         better TEXT NOT NULL,
         over_time INTEGER NOT NULL, -- 0 or 1
         UNIQUE (kernel, params, unit, better, over_time)
     ) STRICT;
     INSERT INTO measured_3 (id, kernel, params, unit, better, over_time)
         SELECT id, kernel, params, unit, better, 0 FROM measured;
     INSERT INTO measured_3 (kernel, params, unit, better, over_time)
         SELECT kernel, params, unit, better, 1 FROM measured
         WHERE id IN (SELECT n.measured FROM runs r JOIN numbers n ON n.run = r.id
                      WHERE r.profile = 'endure')
         ORDER BY id;
     UPDATE numbers SET measured =
         (SELECT later.id FROM measured m
          JOIN measured_3 later ON later.kernel = m.kernel AND later.params = m.params
               AND later.unit = m.unit AND later.better = m.better AND later.over_time = 1
          WHERE m.id = numbers.measured)
         WHERE run IN (SELECT id FROM runs WHERE profile = 'endure');
     DROP TABLE measured;
     ALTER TABLE measured_3 RENAME TO measured;
     ALTER TABLE numbers ADD COLUMN levels INTEGER;",
];

/// Brings the store to this version, one migration a transaction. An empty database becomes a
/// store.
///
/// # Errors
/// If it is of a newer version, something else, or cannot be written.
pub fn migrate(db: &mut Connection, path: &Path) -> Result<(), StoreError> {
    loop {
        let (version, ours) = look(db).map_err(|e| about(path, e))?;
        if !ours {
            return Err(StoreError::no_history(path, "it is the database of another program"));
        }
        match usize::try_from(version).ok().map(|v| (v, MIGRATIONS.get(v))) {
            Some((_, Some(_))) => step(db).map_err(|e| about(path, e))?,
            Some((at, None)) if at == MIGRATIONS.len() => return Ok(()),
            _ => return Err(newer(path, version)),
        }
    }
}

/// Whether this is the version that the statements here are for: another process may have
/// brought it further since it was opened.
///
/// # Errors
/// If it is not.
pub fn still_ours(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let (version, _) = look(db).map_err(|e| about(path, e))?;
    if usize::try_from(version).is_ok_and(|v| v == MIGRATIONS.len()) {
        return Ok(());
    }
    Err(newer(path, version))
}

fn newer(path: &Path, found: i64) -> StoreError {
    StoreError::Newer { path: path.to_path_buf(), found, known: MIGRATIONS.len() }
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

/// The next migration, unless another process was faster. A table that others refer to is made
/// anew under its name, so references are held to again once that is done, and not before.
fn step(db: &mut Connection) -> rusqlite::Result<()> {
    db.pragma_update(None, "foreign_keys", false)?;
    apply(db)?;
    db.pragma_update(None, "foreign_keys", true)
}

fn apply(db: &mut Connection) -> rusqlite::Result<()> {
    let tx = Transaction::new(db, TransactionBehavior::Immediate)?;
    let (version, ours) = look(&tx)?;
    let next = usize::try_from(version).ok().and_then(|v| MIGRATIONS.get(v));
    if let (Some(sql), true) = (next, ours) {
        tx.execute_batch(sql)?;
        tx.pragma_update(None, "user_version", version + 1)?;
    }
    tx.commit()
}
