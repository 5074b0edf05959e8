//! An unlinked temporary file.
//!
//! It is created with O_TMPFILE and O_EXCL, so it never gets a name. The second descriptor, for
//! direct I/O, is opened through /proc/self/fd: a duplicate would share the flags of the first.
//! Without O_TMPFILE or /proc, the file gets a random name, is opened twice and unlinked at once,
//! before anything is written. If the process is killed in between, an empty file remains.
//!
//! Sources: open(2), statx(2), setrlimit(2).

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use proofmark_engine::Refusal;
use proofmark_model::format_size;
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, StatxFlags, fstat, fstatvfs, open, openat, statx, unlinkat,
};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use crate::mix::random;

const OURS: OFlags = OFlags::RDWR.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);
const MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// An unlinked file with two descriptors: through the page cache, and past it.
#[derive(Debug)]
pub(crate) struct Unnamed {
    /// The descriptor for I/O through the page cache.
    pub(crate) buffered: File,
    /// The descriptor for direct I/O, or the reason why there is none.
    direct: Result<File, String>,
}

impl Unnamed {
    /// Creates an empty file in a folder. `bytes` will be written to it, or to it and others
    /// together. Refused if they exceed half of the free space there, or the maximum size of a
    /// file.
    pub(crate) fn create(folder: &Path, bytes: u64) -> Result<Self, Refusal> {
        Self::create_with(folder, bytes, OFlags::empty())
    }

    /// Creates the file with `more` flags on the descriptor for the page cache.
    pub(crate) fn create_with(folder: &Path, bytes: u64, more: OFlags) -> Result<Self, Refusal> {
        let dir = open_folder(folder)?;
        let limit = getrlimit(Resource::Fsize).current;
        // A write beyond the limit does not fail but ends the process with SIGXFSZ.
        let fits = within_limit(bytes, limit).and_then(|()| {
            let Ok(s) = fstatvfs(&dir) else { return Ok(()) };
            // A file system without a size, such as ramfs, does not report its free space.
            let free = (s.f_blocks > 0).then(|| s.f_bavail.saturating_mul(s.f_frsize));
            within_half(bytes, free, folder)
        });
        fits?;
        let file = create_unnamed(dir.as_fd(), more).or_else(|_| create_named(dir.as_fd(), more));
        file.map_err(|e| refused(folder, bytes, &e.into()))
    }

    pub(crate) fn direct(&self) -> Result<BorrowedFd<'_>, Refusal> {
        self.direct.as_ref().map(File::as_fd).map_err(|why| Refusal(why.clone()))
    }

    pub(super) fn direct_file(&self) -> Option<&File> {
        self.direct.as_ref().ok()
    }

    pub(super) fn refuse_direct(&mut self, why: String) {
        self.direct = Err(why);
    }

    /// Returns the alignment in bytes of offset, length and memory of direct I/O. 0 where the file
    /// system serves direct I/O through the page cache. `None` where it does not report the
    /// alignment (before Linux 6.1).
    pub(super) fn alignment(&self) -> Option<u64> {
        let reported = statx(&self.buffered, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
        let both = [reported.stx_dio_offset_align, reported.stx_dio_mem_align];
        let known = reported.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
        known.then(|| if both.contains(&0) { 0 } else { u64::from(both[0].max(both[1])) })
    }
}

/// Returns the device and inode of a folder.
pub(super) fn number(folder: &Path) -> Result<(u64, u64), Refusal> {
    let stat = fstat(open_folder(folder)?).map_err(|e| refused(folder, 0, &e.into()))?;
    Ok((stat.st_dev, stat.st_ino))
}

fn open_folder(folder: &Path) -> Result<OwnedFd, Refusal> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    open(folder, flags, Mode::empty()).map_err(|e| refused(folder, 0, &e.into()))
}

/// Creates the file with O_TMPFILE and opens it again through /proc.
fn create_unnamed(folder: BorrowedFd, more: OFlags) -> Result<Unnamed, Errno> {
    let buffered = openat(folder, ".", OURS | more | OFlags::TMPFILE | OFlags::EXCL, MODE)?;
    let again = format!("/proc/self/fd/{}", buffered.as_raw_fd());
    // The link in /proc must be followed.
    let flags = OURS.difference(OFlags::NOFOLLOW) | OFlags::DIRECT;
    let direct = match openat(CWD, again, flags, Mode::empty()) {
        Err(e) if e != Errno::INVAL => return Err(e),
        direct => direct,
    };
    Ok(both(buffered, direct))
}

/// Creates the file with a name and removes the name at once.
fn create_named(folder: BorrowedFd, more: OFlags) -> Result<Unnamed, Errno> {
    let name = format!(".proofmark-{:016x}", random());
    let buffered = openat(folder, &*name, OURS | more | OFlags::CREATE | OFlags::EXCL, MODE)?;
    let direct = reopen(folder, &name, &buffered);
    unlinkat(folder, &*name, AtFlags::empty())?;
    Ok(both(buffered, direct))
}

/// Opens the file of that name for direct I/O, if it is still the file that was made. Any user who
/// may write to the folder could have replaced it.
fn reopen(folder: BorrowedFd, name: &str, made: &OwnedFd) -> Result<OwnedFd, Errno> {
    let found = openat(folder, name, OURS | OFlags::DIRECT, Mode::empty())?;
    let [made, there] = [fstat(made)?, fstat(&found)?].map(|s| (s.st_dev, s.st_ino));
    if made == there { Ok(found) } else { Err(Errno::STALE) }
}

fn both(buffered: OwnedFd, direct: Result<OwnedFd, Errno>) -> Unnamed {
    let direct = direct.map(File::from).map_err(|e| no_direct(&e.into()));
    Unnamed { buffered: buffered.into(), direct }
}

/// Formats the refusal of direct I/O with its error.
pub(super) fn no_direct(e: &std::io::Error) -> String {
    let is_invalid = Errno::from_io_error(e) == Some(Errno::INVAL);
    let name = if is_invalid { "EINVAL".to_owned() } else { e.to_string() };
    format!("this file system refuses direct I/O ({name})")
}

fn within_limit(bytes: u64, limit: Option<u64>) -> Result<(), Refusal> {
    let Some(limit) = limit.filter(|limit| *limit < bytes) else { return Ok(()) };
    let (bytes, limit) = (format_size(bytes), format_size(limit));
    Err(Refusal(format!(
        "a test file of {bytes} exceeds the limit of {limit} per file (RLIMIT_FSIZE)"
    )))
}

fn within_half(bytes: u64, free: Option<u64>, folder: &Path) -> Result<(), Refusal> {
    let Some(free) = free.filter(|free| *free / 2 < bytes) else { return Ok(()) };
    let (bytes, free, folder) = (format_size(bytes), format_size(free), shown(folder));
    Err(Refusal(format!(
        "a test file of {bytes} exceeds half of the {free} free in {folder}; choose another folder \
         with --disk-path or a smaller file with file_size"
    )))
}

/// Explains why a file of this size cannot be created or written in a folder.
pub(crate) fn refused(folder: &Path, bytes: u64, error: &std::io::Error) -> Refusal {
    let (is_there, folder, size) = (folder.is_dir(), shown(folder), format_size(bytes));
    Refusal(match Errno::from_io_error(error) {
        Some(Errno::NOSPC) => format!("the disk of {folder} is full"),
        Some(Errno::DQUOT) => format!("the disk quota in {folder} is exhausted"),
        Some(Errno::ROFS) => format!("{folder} is on a read-only file system"),
        Some(Errno::ACCESS | Errno::PERM) => format!("no permission to create a file in {folder}"),
        Some(Errno::NOENT) if !is_there => format!("folder {folder} does not exist"),
        Some(Errno::NOTDIR) => format!("{folder} is not a folder"),
        Some(Errno::FBIG) => {
            format!("a test file of {size} exceeds the largest file that {folder} can hold")
        }
        _ => format!("cannot write a file in {folder}: {error}"),
    })
}

/// Returns the absolute path of the folder, since configurations refer to it as `.`.
fn shown(folder: &Path) -> String {
    let whole = folder.canonicalize().or_else(|_| std::path::absolute(folder));
    whole.as_deref().unwrap_or(folder).display().to_string()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use proofmark_testing::skip;

    use super::super::is_dsync;
    use super::super::testing::Folder;
    use super::*;

    type Create = fn(BorrowedFd, OFlags) -> Result<Unnamed, Errno>;

    #[test]
    fn no_way_leaves_a_name() {
        for (name, create) in
            [("O_TMPFILE", create_unnamed as Create), ("a name", create_named as Create)]
        {
            let folder = Folder::new();
            let file = match create(open_folder(folder.path()).unwrap().as_fd(), OFlags::DSYNC) {
                Ok(file) => file,
                Err(e) if name == "O_TMPFILE" => {
                    skip(format!("{name}: {e}"));
                    continue;
                }
                Err(e) => panic!("{name}: {e}"),
            };
            assert_eq!(folder.names(), [""; 0], "{name}");
            let stat = fstat(&file.buffered).unwrap();
            assert_eq!((stat.st_nlink, stat.st_mode & 0o7777), (0, 0o600), "{name}");
            is_open_twice(&file, name);
        }
    }

    fn is_open_twice(file: &Unnamed, name: &str) {
        let is_direct = |fd: &File| rustix::fs::fcntl_getfl(fd).unwrap().contains(OFlags::DIRECT);
        assert!(!is_direct(&file.buffered), "{name}");
        assert!(is_dsync(&file.buffered), "{name}");
        file.buffered.write_all_at(b"written", 0).unwrap();
        let Some(direct) = file.direct_file() else {
            return skip(file.direct().unwrap_err().0);
        };
        assert!(is_direct(direct) && !is_dsync(direct), "{name}");
        assert_eq!(direct.metadata().unwrap().len(), 7, "{name}: one file, not two");
    }

    #[test]
    fn a_file_that_took_its_place_is_not_written_to() {
        let folder = Folder::new();
        let dir = open_folder(folder.path()).unwrap();
        let make = |name: &str| openat(&dir, name, OURS | OFlags::CREATE, MODE).unwrap();
        let (ours, _other) = (make("ours"), make("other"));
        std::os::unix::fs::symlink("ours", folder.path().join("link")).unwrap();
        match reopen(dir.as_fd(), "ours", &ours) {
            Err(Errno::INVAL) => return skip("no direct I/O"),
            found => assert!(found.is_ok(), "{found:?}"),
        }
        assert_eq!(reopen(dir.as_fd(), "other", &ours).unwrap_err(), Errno::STALE);
        assert_eq!(reopen(dir.as_fd(), "link", &ours).unwrap_err(), Errno::LOOP);
    }

    #[test]
    fn half_of_what_is_free_is_the_most() {
        let folder = Folder::new();
        let here = shown(folder.path());
        let gib = 1 << 30;
        assert_eq!(within_half(gib, Some(2 * gib), folder.path()), Ok(()));
        assert_eq!(within_half(gib, None, folder.path()), Ok(()));
        let refusal = within_half(gib, Some(2 * gib - 1), folder.path()).unwrap_err();
        assert!(refusal.0.starts_with("a test file of 1 GiB exceeds half of the 2"), "{refusal}");
        assert!(refusal.0.contains(&here) && refusal.0.contains("--disk-path"), "{refusal}");
        let refusal = Unnamed::create(folder.path(), 1 << 60).unwrap_err();
        assert!(refusal.0.contains("exceeds half"), "{refusal}");
    }

    #[test]
    fn a_limit_on_file_sizes_is_reported_before_it_kills() {
        assert_eq!(within_limit(10, None), Ok(()));
        assert_eq!(within_limit(10, Some(10)), Ok(()));
        let refusal = within_limit(2048, Some(1024)).unwrap_err();
        assert_eq!(
            refusal.0,
            "a test file of 2 KiB exceeds the limit of 1 KiB per file (RLIMIT_FSIZE)"
        );
    }

    /// Runs this test again in a child process under such a limit.
    #[test]
    fn a_file_beyond_the_limit_is_refused_and_kills_nobody() {
        let name = "a_file_beyond_the_limit_is_refused_and_kills_nobody";
        if std::env::var_os("PROOFMARK_TEST_LIMITED").is_some() {
            let Refusal(line) = Unnamed::create(Folder::new().path(), 1 << 20).unwrap_err();
            return assert!(line.contains("RLIMIT_FSIZE"), "{line}");
        }
        let again = std::process::Command::new("sh")
            .args(["-c", "ulimit -f 8 && exec \"$0\" \"$1\" --nocapture"])
            .arg(std::env::current_exe().unwrap())
            .arg(name)
            .env("PROOFMARK_TEST_LIMITED", "yes")
            .output();
        let Ok(again) = again else { return skip("no shell") };
        let output = String::from_utf8_lossy(&again.stdout);
        assert!(again.status.success() && output.contains("1 passed"), "{again:?}");
    }

    #[test]
    fn each_error_has_its_line() {
        let folder = Folder::new();
        let here = shown(folder.path());
        for (errno, words) in [
            (Errno::NOSPC, "is full"),
            (Errno::DQUOT, "quota"),
            (Errno::ROFS, "read-only"),
            (Errno::ACCESS, "no permission"),
            (Errno::FBIG, "a test file of 5 GiB exceeds the largest file"),
            (Errno::IO, "(os error 5)"),
        ] {
            let Refusal(line) = refused(folder.path(), 5 << 30, &errno.into());
            assert!(line.contains(words) && line.contains(&here), "{line}");
            assert!(!line.contains('\n'), "{line}");
        }
        std::fs::write(folder.path().join("file"), "").unwrap();
        let create = |name| Unnamed::create(&folder.path().join(name), 1).unwrap_err().0;
        assert_eq!(create("file"), format!("{here}/file is not a folder"));
        assert_eq!(create("none"), format!("folder {here}/none does not exist"));
        let Refusal(line) = refused(folder.path(), 1, &Errno::NOENT.into());
        assert!(line.starts_with("cannot write a file in"), "{line}");
    }
}
