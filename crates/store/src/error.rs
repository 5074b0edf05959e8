//! What can be wrong with a history, in one line that says what to do.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Error, ErrorCode};

use crate::PATIENCE;

/// Why the history cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file or its folder cannot be made, opened, read or written.
    #[error("history {path}: {reason}; choose another file with --history", path = .path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// It is something else.
    #[error("{path} is not a proofmark history ({reason}); it is unchanged; choose another file \
             with --history", path = .path.display())]
    NoHistory {
        /// The file.
        path: PathBuf,
        /// How that shows.
        reason: String,
    },
    /// A later proofmark made it.
    #[error("history {path} has version {found}; this proofmark supports up to {known}; use a \
             newer proofmark, or choose another file with --history", path = .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The latest that is known.
        known: i64,
    },
    /// It was a history once.
    #[error("history {path} is damaged ({reason}); move it away, and fill a new one with \
             `proofmark history --add RUN...`", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// How that shows.
        reason: String,
    },
    /// Others did not let go of it.
    #[error("other processes held history {path} for {seconds} s; add the run later with \
             `proofmark history --add RUN`", path = .path.display(), seconds = PATIENCE.as_secs())]
    Busy {
        /// The file.
        path: PathBuf,
    },
}

impl StoreError {
    pub(crate) fn cannot_make(path: &Path, error: &io::Error) -> Self {
        Self::unusable(path, format!("cannot create it: {error}"))
    }

    pub(crate) fn cannot_read(path: &Path, error: &io::Error) -> Self {
        Self::unusable(path, format!("cannot read it: {error}"))
    }

    pub(crate) fn damaged(path: &Path, reason: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_path_buf(), reason: one_line(&reason.into()) }
    }

    pub(crate) fn no_history(path: &Path, reason: &str) -> Self {
        Self::NoHistory { path: path.to_path_buf(), reason: reason.to_owned() }
    }

    fn unusable(path: &Path, reason: String) -> Self {
        Self::Unusable { path: path.to_path_buf(), reason }
    }
}

/// The texts of SQLite may quote the schema, which may be a stranger's.
fn one_line(text: &str) -> String {
    proofmark_model::clean_excerpt(text, 200)
}

/// What the database's error means for this file.
pub fn about(path: &Path, error: Error) -> StoreError {
    let Error::SqliteFailure(failure, said) = &error else {
        return StoreError::damaged(path, error.to_string());
    };
    match failure.code {
        ErrorCode::NotADatabase => StoreError::no_history(path, "it is not an SQLite database"),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            StoreError::Busy { path: path.to_path_buf() }
        }
        ErrorCode::DiskFull => {
            StoreError::unusable(path, "cannot write it: no space left on its disk".to_owned())
        }
        ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
            StoreError::unusable(
                path,
                format!("cannot write it: read-only, or no permission ({error})"),
            )
        }
        ErrorCode::SystemIoFailure | ErrorCode::OutOfMemory => {
            StoreError::unusable(path, format!("cannot read or write it: {error}"))
        }
        _ => StoreError::damaged(path, said.clone().unwrap_or_else(|| error.to_string())),
    }
}
