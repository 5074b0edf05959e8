//! Errors of the history: each has its cause and action in one line.

use std::fmt::Display;
use std::path::Path;

use rusqlite::{Error, ErrorCode};

use crate::PATIENCE;

/// Reason why the history cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{line}")]
pub struct StoreError {
    line: String,
    /// True if the file may be readable, but cannot be written.
    pub(crate) is_unwritable: bool,
    /// True if the file is something else than a history.
    pub is_no_history: bool,
}

impl StoreError {
    fn new(line: String) -> Self {
        Self { line, is_unwritable: false, is_no_history: false }
    }

    /// Returns the error for a file or folder that cannot be created, opened, read or written.
    pub(crate) fn unusable(path: &Path, what: &str, reason: &impl Display) -> Self {
        let path = path.display();
        Self::new(format!("history {path}: {what}: {reason}; choose another file with --history"))
    }

    /// Returns the error for a file that cannot be written.
    pub(crate) fn unwritable(path: &Path, reason: &impl Display) -> Self {
        Self { is_unwritable: true, ..Self::unusable(path, "cannot write it", reason) }
    }

    pub(crate) fn no_history(path: &Path, reason: &str) -> Self {
        let line = format!(
            "{} is not a proofmark history ({reason}); it is unchanged; choose another file with \
             --history",
            path.display()
        );
        Self { is_no_history: true, ..Self::new(line) }
    }

    /// Returns the error for a history that a newer program made: its version and the newest one
    /// that this program reads.
    pub(crate) fn newer(path: &Path, versions: [i64; 2], program: Option<String>) -> Self {
        let [found, newest] = versions;
        let program = program.map(|version| proofmark_model::clean_excerpt(&version, 40));
        let (by, needed) = match program {
            Some(version) => {
                (format!(" by proofmark {version}"), format!("proofmark {version} or newer"))
            }
            None => (String::new(), "a newer proofmark".to_owned()),
        };
        let (path, ours) = (path.display(), env!("CARGO_PKG_VERSION"));
        Self::new(format!(
            "history {path} was written in version {found}{by}; proofmark {ours} reads up to \
             version {newest}; use {needed}, or choose another file with --history"
        ))
    }

    pub(crate) fn too_old(path: &Path, found: i64) -> Self {
        let path = path.display();
        Self::new(format!(
            "history {path} has version {found}, of an early build of proofmark 0.2.0 or older; move \
             it away, and fill a new one with `proofmark history --add RUN...`"
        ))
    }

    /// Returns the error for a history that another one took the place of while it was open.
    pub(crate) fn replaced(path: &Path) -> Self {
        let path = path.display();
        Self::new(format!(
            "history {path} was replaced while it was open; add the run with `proofmark history \
             --add RUN`"
        ))
    }

    /// Returns the error for a damaged history. Texts of SQLite may quote an untrusted schema, so
    /// they are cleaned.
    fn damaged(path: &Path, reason: &str) -> Self {
        let reason = proofmark_model::clean_excerpt(reason, 200);
        Self::new(format!(
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
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::new(format!(
            "other processes held history {} for {} s; add the run later with `proofmark history \
             --add RUN`",
            path.display(),
            PATIENCE.as_secs()
        )),
        ErrorCode::DiskFull => StoreError::unwritable(path, &"no space left on its disk"),
        ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
            StoreError::unwritable(path, &format!("read-only, or no permission ({error})"))
        }
        ErrorCode::SystemIoFailure | ErrorCode::OutOfMemory => {
            let why = StoreError::unusable(path, "cannot read or write it", &error);
            StoreError { is_unwritable: true, ..why }
        }
        _ => StoreError::damaged(path, &said.clone().unwrap_or_else(|| error.to_string())),
    }
}
