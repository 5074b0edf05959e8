//! Writing of output files.
//!
//! The bytes go to a new file with a random name in the same directory, which is synced and then
//! renamed. Readers, also after a crash, find the old file or the new one, whole. The new file is
//! opened with `O_EXCL` and `O_NOFOLLOW`: another user of the directory can make this program
//! neither follow a link nor overwrite a file.

use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{OFlags, fstat};
use tempfile::NamedTempFile;

/// The treatment of a file that is already there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// The file stays, and the write fails.
    Keep,
    /// The new file takes its place.
    Replace,
}

/// Writes a file of a run's folder. No symbolic link is followed; an error leaves the old file.
pub fn write(path: &Path, bytes: &[u8], existing: Existing) -> io::Result<()> {
    let file = temporary(path, bytes)?;
    let moved = match existing {
        Existing::Keep => file.persist_noclobber(path),
        Existing::Replace => file.persist(path),
    };
    Ok(moved.map(drop)?)
}

/// Writes to the file that the user named. A regular file is replaced; a device, a pipe or a
/// mounted file is written in place. A symbolic link stays and leads to the new content.
pub fn write_named(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if is_regular_or_new(path)? {
        match write(path, bytes, Existing::Replace) {
            // A file that is mounted, as containers do, cannot be replaced but written.
            Err(e) if e.kind() == ErrorKind::ResourceBusy => {}
            written => return written,
        }
    }
    let mut file = open_special(path)?;
    let there = file.metadata()?;
    // `/dev/stdout`, which may lead to a file that holds more than this.
    if is_same(&there, io::stdout()) {
        return io::stdout().write_all(bytes);
    }
    let is_file = there.is_file();
    if is_file {
        file.set_len(0)?;
    }
    file.write_all(bytes)?;
    if is_file { file.sync_all() } else { Ok(()) }
}

/// Tests that these bytes can be written to the file that the user named. Changes nothing.
pub fn try_named(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match is_regular_or_new(path)? {
        true => temporary(path, bytes).map(drop),
        // Its reader would take the end of the test for the end of the data.
        false if fs::metadata(path)?.file_type().is_fifo() => Ok(()),
        false => open_special(path).map(drop),
    }
}

/// Creates a file to append to; fails if the path exists.
pub fn append_new(path: &Path) -> io::Result<File> {
    new_file(path, OpenOptions::new().append(true))
}

/// Creates a synced file with these bytes in the directory of `path`. A drop removes it.
fn temporary(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    // The system seeds the standard library's hash tables, even if /dev is empty: other users of
    // the directory cannot guess the name.
    let random = RandomState::new().hash_one(0);
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .prefix(&format!(".proofmark-{random:016x}"))
        .rand_bytes(0)
        .make_in(folder.unwrap_or(Path::new(".")), |p| {
            new_file(p, OpenOptions::new().write(true))
        })?;
    file.as_file_mut().write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

fn new_file(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    options.create_new(true).custom_flags(flags).open(path)
}

/// Returns true if the path is a regular file or does not exist.
fn is_regular_or_new(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(there) => Ok(there.is_file()),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(true),
        Err(e) => Err(e),
    }
}

/// Opens a file that must not be replaced: a device, a pipe, a symbolic link's target.
fn open_special(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

/// Returns true if an open file is the one of that descriptor.
fn is_same(there: &Metadata, other: impl AsFd) -> bool {
    fstat(other).is_ok_and(|s| (s.st_dev, s.st_ino) == (there.dev(), there.ino()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn holds(&self, name: &str, text: &str) -> std::path::PathBuf {
            let path = self.0.path().join(name);
            fs::write(&path, text).unwrap();
            path
        }

        fn link(&self, to: &str) -> std::path::PathBuf {
            let path = self.0.path().join("link");
            symlink(to, &path).unwrap();
            path
        }

        fn count(&self) -> usize {
            fs::read_dir(self.0.path()).unwrap().count()
        }
    }

    fn text(path: &Path) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_mounted_file_is_written_in_place() {
        let folder = Folder::new();
        let (outside, mounted) =
            (folder.holds("outside", "old and longer"), folder.holds("run.json", ""));
        let run = |program: &str, arguments: &[&Path]| {
            let output = std::process::Command::new(program).args(arguments).output();
            output.is_ok_and(|o| o.status.success())
        };
        if !run("mount", &["--bind".as_ref(), &outside, &mounted]) {
            return proofmark_testing::skip("this user may not mount");
        }
        let written = write_named(&mounted, b"new");
        assert!(run("umount", &[&mounted]));
        written.unwrap();
        assert_eq!(text(&outside), "new");
    }

    #[test]
    fn what_a_user_names_is_tried_without_change_and_stays_what_it_is() {
        for (leads_to, written) in
            [(None, "new"), (Some("f"), "new"), (Some("/dev/null"), "old and longer")]
        {
            let folder = Folder::new();
            // What looks like a temporary file of it is a user's.
            let (file, part) =
                (folder.holds("f", "old and longer"), folder.holds("f.part", "mine"));
            let named = leads_to.map_or_else(|| file.clone(), |to| folder.link(to));
            let count = folder.count();
            try_named(&named, b"x").unwrap();
            assert_eq!(text(&file), "old and longer");
            write_named(&named, b"new").unwrap();
            assert_eq!((text(&file), text(&part)), (written.into(), "mine".into()));
            let is_link = fs::symlink_metadata(&named).unwrap().is_symlink();
            assert_eq!((is_link, folder.count()), (leads_to.is_some(), count));
        }
    }

    #[test]
    fn what_is_to_be_kept_is_not_replaced() {
        let folder = Folder::new();
        let file = folder.holds("f", "old");
        let refused = write(&file, b"new", Existing::Keep).unwrap_err();
        assert_eq!((refused.kind(), text(&file)), (ErrorKind::AlreadyExists, "old".into()));
        assert_eq!(append_new(&file).unwrap_err().kind(), ErrorKind::AlreadyExists);
        let dangling = folder.link("elsewhere");
        assert!(write(&dangling, b"new", Existing::Keep).is_err());
        assert!(append_new(&dangling).is_err());
        assert_eq!(folder.count(), 2, "something was left behind, or the link was followed");
        write(&folder.0.path().join("g"), b"new", Existing::Keep).unwrap();
        assert_eq!(folder.count(), 3);
    }

    #[test]
    fn a_link_in_a_runs_folder_is_replaced_and_not_followed() {
        let folder = Folder::new();
        let (file, link) = (folder.holds("f", "old"), folder.link("f"));
        write(&link, b"new", Existing::Replace).unwrap();
        assert_eq!((text(&file), text(&link)), ("old".into(), "new".into()));
        assert!(!fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn the_reader_of_a_pipe_gets_all_and_nothing_before() {
        let folder = Folder::new();
        let pipe = folder.0.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
        let from = pipe.clone();
        let reader = std::thread::spawn(move || fs::read_to_string(from).unwrap());
        try_named(&pipe, b"x").unwrap();
        write_named(&pipe, b"all").unwrap();
        assert_eq!(proofmark_testing::join("the reader of the pipe", reader), "all");
    }

    #[test]
    fn no_name_is_used_twice_and_permissions_are_the_users() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = Folder::new();
        let path = folder.0.path().join("f");
        let names = [(); 2].map(|()| temporary(&path, b"").unwrap().path().to_owned());
        assert_ne!(names[0], names[1]);
        let plain = folder.holds("plain", "");
        write_named(&path, b"x").unwrap();
        let mode = |p: &Path| fs::metadata(p).unwrap().permissions().mode();
        assert_eq!(mode(&path), mode(&plain));
    }
}
