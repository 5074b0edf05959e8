//! The work of IOzone's tests, with its mode.

use proofmark_model::{
    FileState, Finding, Flush, Order, Params, Severity, Trial, check_id, format_size, key, word,
};

use crate::figure::DISK;
use crate::{Figure, Malformed};

/// The bytes of a kB, KB or Kbyte in IOzone.
pub(super) const KB: u64 = 1024;

/// The beginnings of lines that report other work than the test's: it waits, locks, uses another
/// I/O path, or counts more time.
const OTHERWISE: &[&str] = &[
    ">>>",
    "Compute time",
    "Disrupted read patterns",
    "Enable mmap & file I/O mixing",
    "Include close in write timing",
    UNCACHED,
    "Lock file when reading/writing",
    "Network distribution mode",
    "POSIX Async I/O",
    "POSIX async I/O",
    "Purge Mode On",
    "Rate control active",
    "Read & Write sync mode",
    "Using mmap files",
    "Using read telemetry",
    "Using write telemetry",
    "Verify Mode",
];

/// The option that replaces O_DIRECT on macOS.
const UNCACHED: &str = "F_NOCACHE";

/// The only one of these lines that only changes the timed part.
const TIMED: &str = "Include close in write timing";

/// The largest file, in bytes, that fits into the page cache of every measured machine.
const FITS: u64 = 1 << 30;

/// The test that writes one record of the file again and again.
const ONE_RECORD: &str = "record rewrite";

/// Returns true if a test reads or writes a stream of the C library.
fn is_stream(test: &str) -> bool {
    matches!(test, "fwrite" | "frewrite" | "fread" | "freread")
}

/// The unit of the numbers in a matrix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Scale {
    /// [`KB`] per second.
    #[default]
    Kb,
    Operations,
    /// Microseconds per record.
    Microseconds,
}

/// The mode of a run, as its listing reports it before the first result.
#[derive(Debug, Default)]
pub(super) struct Mode {
    pub(super) scale: Scale,
    pub(super) direct: bool,
    pub(super) flush: bool,
    /// True if files are open with O_SYNC (`-o`).
    pub(super) sync: bool,
    /// True if the file system is unmounted between tests (`-U`), which empties its cache.
    pub(super) unmounts: bool,
    others: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// The bytes of a process's file.
    pub(super) file: u64,
    /// The bytes of a record, if they are constant.
    pub(super) record: Option<u64>,
    pub(super) processes: u64,
}

impl Mode {
    /// Returns true if `-I` means another option than O_DIRECT.
    pub(super) fn uncached(&self) -> bool {
        self.others.iter().any(|other| other.starts_with(UNCACHED))
    }

    /// Returns true if a test uses direct I/O. The streams of the C library never do: `fopen` has no
    /// such option, and IOzone gives `-I` and `-o` only to `open`.
    fn is_direct(&self, test: &str) -> bool {
        self.direct && !is_stream(test)
    }

    /// Returns true if a test's files are open with O_SYNC.
    fn is_sync(&self, test: &str) -> bool {
        self.sync && !is_stream(test)
    }

    /// Records a line that reports other work, up to 8 of them.
    pub(super) fn otherwise(&mut self, text: &str) {
        const MOST: usize = 8;
        // Verification of existing data does not change them; the default has no line.
        if text.starts_with(">>> No Verify mode") {
            return;
        }
        if self.others.len() < MOST && OTHERWISE.iter().any(|o| text.starts_with(o)) {
            self.others.push(Malformed::excerpt(text.trim_matches(['>', '<', ' ', '.'])));
        }
    }

    /// Creates the figure of a test, by its name in the matrix, with one trial. `written`: this run
    /// had written the file before.
    pub(super) fn figure(&self, test: &str, sizes: Sizes, trial: Trial, written: bool) -> Figure {
        let trial = Trial { file: self.file(test, sizes, trial.work), ..trial };
        let figure = Figure::rate(test.to_owned(), test, DISK, self.params(test, sizes), trial);
        let findings = self.cached(test, sizes, written).into_iter().collect();
        Figure { comparable: self.others.is_empty() && !self.sync, findings, ..figure }
    }

    /// Reports that a test read a file that was in the page cache.
    fn cached(&self, test: &str, sizes: Sizes, written: bool) -> Option<Finding> {
        let again = matches!(test, "reread" | "freread");
        if !test.contains("read") || self.is_direct(test) || self.unmounts || !(written || again) {
            return None;
        }
        let bytes = sizes.file.saturating_mul(sizes.processes);
        let before = if written { "written" } else { "read" };
        let fits = bytes <= FITS;
        let message = format!(
            "IOzone read {} that it had just {before} through the page cache, which may hold {}",
            format_size(bytes),
            if fits { "it" } else { "a part of it" }
        );
        let severity = if fits { Severity::Suspect } else { Severity::Note };
        let advice = "read past the page cache (-I), unmount in between (-U), or take a file of twice \
                      the memory";
        Some(Finding::new(check_id::PAGE_CACHE, severity, message, advice))
    }

    /// Returns the use of the file by a test that moved this many bytes. `None` for tests whose
    /// order has no name here, and for other work.
    fn file(&self, test: &str, sizes: Sizes, bytes: f64) -> Option<FileState> {
        let (order, writes) = match test {
            "write" | "rewrite" | "fwrite" | "frewrite" | ONE_RECORD => (Order::Seq, true),
            "read" | "reread" | "fread" | "freread" => (Order::Seq, false),
            "random read" => (Order::Rand, false),
            "random write" => (Order::Rand, true),
            _ => return None,
        };
        // Rates have a few digits, so the bytes are not exactly whole.
        let bytes = bytes.round() as u64;
        self.others.iter().all(|other| other == TIMED).then(|| FileState {
            asked_read_bytes: if writes { 0 } else { bytes },
            asked_written_bytes: if writes { bytes } else { 0 },
            order,
            flush: match (writes, self.is_sync(test), self.flush) {
                (true, true, _) => Flush::Dsync,
                (true, false, true) => Flush::End,
                _ => Flush::Never,
            },
            direct: Some(self.is_direct(test)),
            size_bytes: match test {
                ONE_RECORD => 0,
                _ => sizes.file.saturating_mul(sizes.processes),
            },
            ..FileState::default()
        })
    }

    fn params(&self, test: &str, sizes: Sizes) -> Params {
        let flush = if self.flush { "end" } else { "none" };
        let (direct, sync) = (self.is_direct(test), self.is_sync(test));
        let params = Params::default()
            .with(key::THREADS, sizes.processes)
            .with(key::FILE_SIZE, sizes.file.saturating_mul(sizes.processes))
            .with(key::DIRECT, if direct { word::ON } else { word::OFF })
            .known(key::BLOCK_SIZE, sizes.record)
            .known(key::FLUSH, (test.contains("write") && !sync).then_some(flush))
            .known_named("sync", sync.then_some("O_SYNC"))
            .known(key::CACHE, (self.unmounts && !direct).then_some(word::COLD));
        if self.others.is_empty() {
            return params.with(key::QUEUE_DEPTH, 1);
        }
        params.with(key::MODE, self.others.join("; ").as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_say_so_make_it_other_work() {
        let mut mode = Mode::default();
        for line in
            ["Auto Mode", "O_DIRECT feature enabled", "Record Size 4 kB", ">>> No Verify mode. <<<"]
        {
            mode.otherwise(line);
        }
        assert!(mode.others.is_empty());
        for line in [">>> O_DSYNC mode enabled. <<<", "Using mmap files", "Purge Mode On"] {
            mode.otherwise(line);
        }
        assert_eq!(mode.others, ["O_DSYNC mode enabled", "Using mmap files", "Purge Mode On"]);
        (0..100).for_each(|_| mode.otherwise("Using mmap files"));
        assert_eq!(mode.others.len(), 8, "each figure repeats them");
    }
}
