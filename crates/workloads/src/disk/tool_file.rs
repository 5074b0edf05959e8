//! A test file for a reference tool, like that of the workloads.

use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use proofmark_engine::Refusal;
use rustix::fs::OFlags;

use super::file::TestFile;

/// An unlinked temporary file, fully written and on the device. It disappears when this value is
/// dropped and no process has it open, however the process ends.
#[derive(Debug)]
pub struct ToolFile(TestFile);

impl ToolFile {
    /// Creates a file of this many bytes in a folder, if there is enough free space.
    pub fn new(folder: &Path, bytes: u64) -> Result<Self, Refusal> {
        TestFile::new(folder, bytes).map(Self)
    }

    /// Checks whether the folder allows such files, by creating an empty one that disappears at
    /// once.
    pub fn try_in(folder: &Path) -> Result<(), Refusal> {
        TestFile::new_unnamed(folder, 0, OFlags::empty()).map(drop)
    }

    /// Returns the path by which a child of this process opens the file.
    pub fn path(&self) -> PathBuf {
        let descriptor = self.0.buffered().as_raw_fd();
        PathBuf::from(format!("/proc/{}/fd/{descriptor}", std::process::id()))
    }

    /// Prepares the file for a trial: cuts off appended data and flushes written data to the
    /// device. The page cache then holds the whole file if the parameter `cache` is `warm`, else
    /// nothing.
    pub fn make_ready(&self, cache: Option<&str>) -> std::io::Result<()> {
        self.0.cut()?;
        match cache {
            Some("warm") => self.0.flush().and_then(|()| self.0.warm()),
            _ => self.0.evict(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::extents::cached_share;
    use super::super::file::testing::Folder;
    use super::*;

    #[test]
    fn another_program_finds_all_of_it_and_the_folder_shows_nothing() {
        let folder = Folder::new();
        let file = ToolFile::new(folder.path(), 1 << 20).unwrap();
        assert_eq!(folder.names(), [""; 0]);
        let length = fs::read(file.path()).unwrap().len();
        assert_eq!((length as u64, file.0.size), (1 << 20, 1 << 20));
        let dd = std::process::Command::new("dd")
            .arg(format!("if={}", file.path().display()))
            .arg("of=/dev/null")
            .output()
            .unwrap();
        assert!(dd.status.success(), "{dd:?}");
        let more = fs::OpenOptions::new().append(true).open(file.path()).unwrap();
        std::io::Write::write_all(&mut &more, b"more").unwrap();
        file.make_ready(None).unwrap();
        assert_eq!(more.metadata().unwrap().len(), 1 << 20, "what was appended is gone");
        let cached = || cached_share(file.0.buffered(), file.0.size);
        file.make_ready(Some("warm")).unwrap();
        assert_eq!(cached(), Some(1.0));
        for cold in [Some("cold"), Some("none"), None] {
            file.make_ready(cold).unwrap();
            assert!(cached() < Some(0.1), "{:?}", cached());
        }
    }
}
