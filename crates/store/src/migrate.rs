//! Migration of a history that an older program wrote. The tables change in one transaction, so
//! that a crash leaves the old ones. A copy of the old file stays next to it, for the older program.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, ffi};

use crate::connection;
use crate::error::{StoreError, translate_error};
use crate::schema::{self, State, state};

/// A migration that was carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    /// The version that the history had.
    pub from: i64,
    /// The version that it has now.
    pub to: i64,
    /// The copy of the old file.
    pub copy: PathBuf,
}

/// Gives a database this program's tables: creates them in an empty one, migrates those of an older
/// version.
pub fn prepare(db: &mut Connection, path: &Path) -> Result<Option<Migration>, StoreError> {
    if state(db, path)? == State::Ready {
        return Ok(None);
    }
    let failed = |e| translate_error(path, e);
    let tx = Transaction::new(db, TransactionBehavior::Immediate).map_err(failed)?;
    // Another process may have done it meanwhile. From here on none can.
    let migration = match state(&tx, path)? {
        State::Ready => None,
        State::Empty => {
            schema::create(&tx).map_err(failed)?;
            None
        }
        State::Older(from) => {
            let copy = keep_copy(path, from)?;
            schema::migrate(&tx, from).map_err(failed)?;
            Some(Migration { from, to: schema::VERSION, copy })
        }
    };
    tx.commit().map_err(failed)?;
    Ok(migration)
}

/// Returns a migrated copy in memory of a history that cannot be written; `None` if it is not of an
/// older version.
pub fn in_memory(db: &Connection, path: &Path) -> Result<Option<Connection>, StoreError> {
    let State::Older(from) = state(db, path)? else { return Ok(None) };
    let migrated = || {
        let mut memory = Connection::open_in_memory()?;
        copy(db, &mut memory)?;
        let tx = memory.transaction()?;
        schema::migrate(&tx, from)?;
        tx.commit()?;
        Ok(memory)
    };
    migrated().map(Some).map_err(|e| translate_error(path, e))
}

/// Writes a copy of the history in this state, and replaces an earlier copy of that version.
///
/// SQLite itself must read the file: if this process opened and closed it, its locks would be gone.
fn keep_copy(path: &Path, version: i64) -> Result<PathBuf, StoreError> {
    let [new, copied] = ["new-", ""].map(|part| beside(path, &format!("{part}version-{version}")));
    let unwritable = |e: io::Error| {
        let what = format!("a copy of it in version {version}: {e}");
        StoreError::unwritable(path, &what)
    };
    match fs::remove_file(&new) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(unwritable(e)),
        _ => {}
    }
    let create = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new);
    create.map(drop).map_err(unwritable)?;
    let written = || copy(&connection(path)?, &mut connection(&new)?);
    written().map_err(|e| translate_error(path, e))?;
    fs::rename(&new, &copied).map_err(unwritable)?;
    Ok(copied)
}

/// Returns the path with a further ending: `history.db.version-9`.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// Copies a database. A lock of another process is an error after the connection's patience.
fn copy(from: &Connection, to: &mut Connection) -> rusqlite::Result<()> {
    match Backup::new(from, to)?.step(-1)? {
        StepResult::Done => Ok(()),
        _ => Err(rusqlite::Error::SqliteFailure(
            ffi::Error { code: ErrorCode::DatabaseBusy, extended_code: ffi::SQLITE_BUSY },
            None,
        )),
    }
}
