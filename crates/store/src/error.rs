//! Errors of the history: each has its cause and action in one line.

use std::fmt::Display;
use std::path::Path;

use rusqlite::{Error, ErrorCode};

use crate::PATIENCE;

/// Reason why the history cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(String);

impl StoreError {
    /// Returns the error for a file or folder that cannot be created, opened, read or written.
    pub(crate) fn unusable(path: &Path, what: &str, reason: &impl Display) -> Self {
        let path = path.display();
        Self(format!("history {path}: {what}: {reason}; choose another file with --history"))
    }

    pub(crate) fn no_history(path: &Path, reason: &str) -> Self {
        Self(format!(
            "{} is not a proofmark history ({reason}); it is unchanged; choose another file with \
             --history",
            path.display()
        ))
    }

    pub(crate) fn other_version(path: &Path, found: i64, supported: i64) -> Self {
        Self(format!(
            "history {} has version {found}; this proofmark supports only version {supported}; use \
             the proofmark that made it, or move it away and fill a new one with `proofmark \
             history --add RUN...`",
            path.display()
        ))
    }

    /// Returns the error for a damaged history. Texts of SQLite may quote an untrusted schema, so
    /// they are cleaned.
    fn damaged(path: &Path, reason: &str) -> Self {
        let reason = proofmark_model::clean_excerpt(reason, 200);
        Self(format!(
            "history {} is damaged ({reason}); move it away, and fill a new one with `proofmark \
             history --add RUN...`",
            path.display()
        ))
    }
}

/// Translates the database's error for this file.
pub fn translate_error(path: &Path, error: Error) -> StoreError {
    let Error::SqliteFailure(failure, said) = &error else {
        return StoreError::damaged(path, &error.to_string());
    };
    match failure.code {
        ErrorCode::NotADatabase => StoreError::no_history(path, "it is not an SQLite database"),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError(format!(
            "other processes held history {} for {} s; add the run later with `proofmark history \
             --add RUN`",
            path.display(),
            PATIENCE.as_secs()
        )),
        ErrorCode::DiskFull => {
            StoreError::unusable(path, "cannot write it", &"no space left on its disk")
        }
        ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
            let reason = format!("read-only, or no permission ({error})");
            StoreError::unusable(path, "cannot write it", &reason)
        }
        ErrorCode::SystemIoFailure | ErrorCode::OutOfMemory => {
            StoreError::unusable(path, "cannot read or write it", &error)
        }
        _ => StoreError::damaged(path, &said.clone().unwrap_or_else(|| error.to_string())),
    }
}
