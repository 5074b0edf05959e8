//! Machines composed from files, for the tests of the probes.

use std::path::{Path, PathBuf};

use crate::root::Root;

pub(crate) struct Machine(tempfile::TempDir);

impl Machine {
    /// Creates a machine with these files, by absolute paths.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            machine.put(path, text);
        }
        machine
    }

    /// Returns the location of a machine's path and creates its folder.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        let path = self.0.path().join(Path::new(path).strip_prefix("/").unwrap());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    pub(crate) fn put(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.at(path), text).unwrap();
        self
    }

    pub(crate) fn root(&self) -> Root {
        Root::fixture(self.0.path())
    }
}
