//! History of past runs, in an embedded SQLite database. It keeps medians with their intervals and
//! verdicts, which are listed, compared and drawn. Trials stay in the run file, whose path it
//! keeps. docs/decisions/023-history-without-trials.md says why it uses no write-ahead log.
//!
//! Every change is one `BEGIN IMMEDIATE` transaction. It waits for other processes ([`PATIENCE`])
//! and is synced to the disk and its folder (`synchronous=EXTRA`). A `kill -9` or a power cut
//! leaves the state before it or after it. A history that an older program wrote is migrated when
//! it is opened, in such a transaction. One that a newer program wrote is refused.
//!
//! The file is untrusted. It is opened without the triggers, views and functions of its schema, and
//! unexpected content is an error of one line, never a panic. A file that is no history is never
//! written.

mod error;
mod filter;
mod migrate;
mod read;
mod schema;
mod write;

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

pub use error::StoreError;
use error::translate_error;
pub use filter::Filter;
pub use migrate::Migration;

/// Time that a change waits for other processes.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// An open history.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    db: Connection,
    /// The migration that opening it took.
    migration: Option<Migration>,
    /// Reason why nothing can be added: the file is of an older version and cannot be written. A
    /// migrated copy in memory is read instead.
    unwritable: Option<StoreError>,
}

impl Store {
    /// Opens the history in a file. Creates the file and its folder for this user only, if they do
    /// not exist.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let path = absolute(path)?;
        create_file(&path).map_err(|e| StoreError::unusable(&path, "cannot create it", &e))?;
        Self::connect(path)
    }

    /// Opens the history in a file; `None` if it does not exist.
    pub fn open_existing(path: &Path) -> Result<Option<Self>, StoreError> {
        let path = absolute(path)?;
        match fs::metadata(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            _ => Self::connect(path).map(Some),
        }
    }

    fn connect(path: PathBuf) -> Result<Self, StoreError> {
        let found = fs::metadata(&path).map_err(|e| unreadable(&path, &e))?;
        if !found.is_file() {
            return Err(StoreError::no_history(&path, "it is not a file"));
        }
        let mut db = connection(&path).map_err(|e| translate_error(&path, e))?;
        match migrate::prepare(&mut db, &path) {
            Ok(migration) => Ok(Self { path, db, migration, unwritable: None }),
            Err(why) if why.is_unwritable => {
                let memory = migrate::in_memory(&db, &path)?.ok_or_else(|| why.clone())?;
                Ok(Self { path, db: memory, migration: None, unwritable: Some(why) })
            }
            Err(why) => Err(why),
        }
    }

    /// Returns the migration that opening the history took; `None` if it had this version.
    pub fn migration(&self) -> Option<&Migration> {
        self.migration.as_ref()
    }
}

fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).map_err(|e| unreadable(path, &e))
}

fn unreadable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::unusable(path, "cannot read it", error)
}

/// Creates the file and its folders, if they do not exist.
fn create_file(path: &Path) -> io::Result<()> {
    if fs::metadata(path).is_ok() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    // Another process may create it at the same time; an empty file is an empty database.
    OpenOptions::new().append(true).create(true).mode(0o600).open(path).map(drop)
}

fn connection(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(PATIENCE)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    for off in [
        DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER,
        DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW,
        DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA,
    ] {
        db.set_db_config(off, false)?;
    }
    db.pragma_update(None, "synchronous", "EXTRA")?;
    db.pragma_update(None, "cell_size_check", true)?;
    db.set_prepared_statement_cache_capacity(32);
    Ok(db)
}
