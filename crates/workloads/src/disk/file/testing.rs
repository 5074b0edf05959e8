//! A folder for the tests of the subsystem.

use std::path::{Path, PathBuf};

use super::Unnamed;
use crate::mix::random;

/// A new folder next to the test program, in the build; removed when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let program = std::env::current_exe().unwrap();
        let path = program.with_file_name(format!("disk-test-{:016x}", random()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    pub(crate) fn unnamed(&self, bytes: u64) -> Unnamed {
        Unnamed::create(&self.0, bytes).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
