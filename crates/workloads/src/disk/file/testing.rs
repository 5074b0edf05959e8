//! A temporary folder for the tests of the subsystem.

use std::path::Path;

use tempfile::TempDir;

use super::Unnamed;

/// A new folder next to the test program, in the build directory. It is removed when dropped.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let program = std::env::current_exe().unwrap();
        Self(TempDir::new_in(program.parent().unwrap()).unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    pub(crate) fn unnamed(&self, bytes: u64) -> Unnamed {
        Unnamed::create(self.path(), bytes).unwrap()
    }
}
