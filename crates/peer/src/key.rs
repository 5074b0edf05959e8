//! Key that both ends share.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::secret::Secret;

/// Environment variable for the key.
pub const KEY_VARIABLE: &str = "PROOFMARK_KEY";

/// Key of 32 secret bytes, written as 64 hexadecimal digits. Neither `Debug` nor errors show them.
pub type Key = Secret<32>;

/// Source of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// The environment variable [`KEY_VARIABLE`].
    Environment,
    /// An existing file.
    File(PathBuf),
    /// A new file with a new key.
    Made(PathBuf),
}

/// Reason why there is no key, with the action.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct KeyError(String);

impl Key {
    /// Generates a key; fails only if the system has no source of randomness.
    pub fn generate() -> Result<Self, KeyError> {
        Self::random().map_err(|e| KeyError(format!("the system provides no random bytes: {e}")))
    }

    /// Parses 64 hexadecimal digits, with white space around them. An error does not show them.
    fn parse(text: &str, place: impl Display) -> Result<Self, KeyError> {
        let what = "does not hold a key of 64 hexadecimal digits; copy the server's key file";
        Self::from_hex(text.trim()).ok_or_else(|| KeyError(format!("{place} {what}")))
    }

    /// Finds the key: in `file` if given, else in [`KEY_VARIABLE`], else in `proofmark/key` below
    /// `$XDG_CONFIG_HOME` or `~/.config`. Refuses files that group or others may read.
    pub fn find(file: Option<&Path>) -> Result<Self, KeyError> {
        match place(file, |name| std::env::var_os(name))? {
            Place::Text(text) => Self::parse(&text, KEY_VARIABLE),
            Place::File(path) => Self::read(&path)?.ok_or_else(|| {
                KeyError(format!(
                    "no key in {}; copy the key file that `proofmark serve` created on the server \
                     to this path, or set {KEY_VARIABLE}",
                    path.display()
                ))
            }),
        }
    }

    /// Finds the key as [`Key::find`] does, or creates its file with a new key and mode 0600.
    pub fn find_or_make(file: Option<&Path>) -> Result<(Self, KeySource), KeyError> {
        match place(file, |name| std::env::var_os(name))? {
            Place::Text(text) => Ok((Self::parse(&text, KEY_VARIABLE)?, KeySource::Environment)),
            Place::File(path) => match Self::read(&path)? {
                Some(key) => Ok((key, KeySource::File(path))),
                None => Ok((Self::make(&path)?, KeySource::Made(path))),
            },
        }
    }

    /// Reads a key file; `None` if it does not exist.
    fn read(path: &Path) -> Result<Option<Self>, KeyError> {
        let file = match File::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|e| unusable(path, &e))?,
        };
        // Check the open file, so that it cannot be replaced between check and read.
        let mode = file.metadata().map_err(|e| unusable(path, &e))?.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            let path = path.display();
            let open = format!("{path} is accessible to other users (mode {mode:04o})");
            return Err(KeyError(format!("{open}; run `chmod 600 {path}`")));
        }
        let mut text = Vec::new();
        file.take(4096).read_to_end(&mut text).map_err(|e| unusable(path, &e))?;
        Self::parse(&String::from_utf8_lossy(&text), path.display()).map(Some)
    }

    fn make(path: &Path) -> Result<Self, KeyError> {
        let key = Self::generate()?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            let created = DirBuilder::new().recursive(true).mode(0o700).create(folder);
            created.map_err(|e| unusable(path, &e))?;
        }
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let mut file = opened.map_err(|e| unusable(path, &e))?;
        file.write_all(format!("{}\n", key.to_hex()).as_bytes()).map_err(|e| unusable(path, &e))?;
        Ok(key)
    }
}

#[derive(Debug, PartialEq)]
enum Place {
    Text(String),
    File(PathBuf),
}

fn place(
    file: Option<&Path>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Place, KeyError> {
    if let Some(file) = file {
        return Ok(Place::File(file.to_owned()));
    }
    if let Some(text) = variable(KEY_VARIABLE) {
        return Ok(Place::Text(text.to_string_lossy().into_owned()));
    }
    let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")));
    let config = config.ok_or_else(|| {
        let what = "neither XDG_CONFIG_HOME nor HOME is set; name a key file or set";
        KeyError(format!("{what} {KEY_VARIABLE}"))
    })?;
    Ok(Place::File(config.join("proofmark/key")))
}

fn unusable(path: &Path, error: &io::Error) -> KeyError {
    let what = format!("cannot read or create {}: {error}", path.display());
    KeyError(format!("{what}; name another file or set {KEY_VARIABLE}"))
}

#[cfg(test)]
mod tests;
