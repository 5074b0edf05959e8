//! IOzone (William Norcott, Don Capps): the reader of its listing.
//!
//! `table` reads the matrix by file and record size, `throughput` the output of several processes.
//! `work` has the parameters of a test, `runner` IOzone's options for a configuration.

mod excel;
mod runner;
mod table;
mod throughput;
mod work;

#[cfg(test)]
mod tests;

use proofmark_model::{Printed, Severity, key};

use crate::findings::warned;
use crate::text::{lines, wrong_if};
use crate::{Description, Malformed, Output, Tool, same_work};
use excel::{Excel, warning};
use table::Table;
use throughput::Throughput;
use work::{Mode, Scale};

/// The first line of a listing, without its indentation.
const FIRST: &str = "Iozone: Performance Test of File I/O";

/// Lines of every listing, even one copied without its first lines.
const STRIDE: &str = "File stride size set to ";
const COMMAND: &str = "Command line used:";

/// The last line of a run's tests; reports for Excel may follow it.
const LAST: &str = "iozone test complete.";

/// Returns true if a line after the end of a run is in the head of another run.
fn begins(text: &str) -> bool {
    const HEAD: [&str; 8] = [
        "Run began:",
        "Auto Mode",
        "Include ",
        "O_DIRECT feature",
        "SYNC Mode.",
        "Record Size ",
        "File size set to",
        COMMAND,
    ];
    HEAD.iter().any(|head| text.starts_with(head))
}

pub(crate) struct Iozone;

impl Tool for Iozone {
    fn description(&self) -> &Description {
        &Description {
            id: "iozone",
            printed: Printed::Mean,
            title: "IOzone (William Norcott, Don Capps)",
            package: "Debian: iozone3 (non-free)",
            reads: "its text",
            same_work: const {
                &[
                    same_work("read", "disk.seq_read"),
                    same_work("rewrite", "disk.seq_write"),
                    same_work("random read", "disk.rand_read"),
                    same_work("random write", "disk.rand_write"),
                ]
            },
            about: "Reads what IOzone 3 prints: the matrix by file and record size (-a, or -s and \
                    -r), each cell a figure, and the throughput mode (-t). IOzone's kB, KB and \
                    Kbyte are 1024 bytes. Each byte counts once, read or written. -O prints \
                    operations a second, each of one record; -N whole microseconds per operation, \
                    which stay times. proofmark leaves out a cell of 0, which was not measured, and \
                    holds the reports for Excel (-R) against the matrix. IOzone's 'write' makes a \
                    new file, so proofmark compares its 'rewrite', and of reads the first. Without \
                    -I all I/O uses the page cache, and that of fwrite and fread always does, which holds a file just written unless -U \
                    unmounts it. Without -e or -o the writes are not flushed. In throughput mode \
                    'Children see' adds up the processes' rates until the fastest has finished. \
                    'Parent sees' counts the same bytes with process start and stop \
                    (iozone.NAME.parent).",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        text.contains(FIRST) || (text.contains(COMMAND) && text.contains(STRIDE))
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let mut output = Output::default();
        let mut run = Run::default();
        let (mut before, mut last) = ("", 1);
        for (at, line) in lines(text) {
            last = at;
            let text = line.trim();
            if text == FIRST || (run.complete && begins(text)) {
                run.end(&mut output)?;
                run = Run { first: output.figures.len(), ..Run::default() };
            }
            run.line(at, before, line, &mut output)?;
            run.complete |= text == LAST;
            before = line;
        }
        run.end(&mut output)?;
        wrong_if(output.figures.is_empty(), last, "no test of IOzone has a result")?;
        Ok(output)
    }
}

/// Returns true if a word of the command line has this flag, also among others: `U` in `-aU`.
fn has_flag(word: &str, flag: char) -> bool {
    const WITHOUT_VALUE: &str = "aeopwxzABCDEGIKMNOQRTVWZc";
    let flags = word.strip_prefix('-').unwrap_or_default();
    let end = flags.find(|flag| !WITHOUT_VALUE.contains(flag)).map_or(flags.len(), |at| at + 1);
    flags.get(..end).is_some_and(|flags| flags.contains(flag))
}

type Set = fn(&mut Mode);

/// The lines that report the mode of a run, by their beginnings.
const MODES: [(&str, Set); 5] = [
    ("SYNC Mode.", |mode| mode.sync = true),
    ("OPS Mode.", |mode| mode.scale = Scale::Operations),
    ("Microseconds/op Mode.", |mode| mode.scale = Scale::Microseconds),
    ("O_DIRECT feature enabled", |mode| mode.direct = true),
    ("Include fsync in write timing", |mode| mode.flush = true),
];

/// The state of a run after the lines so far.
#[derive(Default)]
struct Run {
    mode: Mode,
    table: Option<Table>,
    throughput: Throughput,
    excel: Excel,
    /// True if the last line of the run has been read.
    complete: bool,
    /// The index of the run's first figure.
    first: usize,
    /// IOzone's warnings, each with the largest file that it affects.
    warnings: Vec<(Severity, String, u64)>,
}

impl Run {
    /// Checks that no test lacks its last lines, and adds IOzone's warnings to the figures.
    fn end(&mut self, output: &mut Output) -> Result<(), Malformed> {
        self.throughput.end()?;
        for (severity, warning, most) in self.warnings.drain(..) {
            for figure in output.figures.iter_mut().skip(self.first) {
                if figure.params.get(key::FILE_SIZE).is_some_and(|size| size <= most) {
                    figure.findings.push(warned(severity, &*warning));
                }
            }
        }
        Ok(())
    }

    /// Reads the line `at`; `before` is the line before it.
    fn line(
        &mut self,
        at: usize,
        before: &str,
        line: &str,
        output: &mut Output,
    ) -> Result<(), Malformed> {
        let text = line.trim();
        if let Some(version) = text.strip_prefix("Version $Revision: ") {
            let version = version.split(' ').next().unwrap_or(version);
            output.version.get_or_insert_with(|| Malformed::excerpt(version));
        } else if let Some(found) = warning(text) {
            self.warnings.push(found);
        } else if let Some(words) = text.strip_prefix(COMMAND) {
            // A copied listing may lack the lines above that report the same.
            let has = |flag| words.split_whitespace().any(|word| has_flag(word, flag));
            self.mode.unmounts = has('U');
            self.mode.flush |= has('e');
            self.mode.sync |= has('o');
            self.mode.direct |= has('I') && !self.mode.uncached();
        } else if let Some((_, set)) = MODES.iter().find(|(start, _)| text.starts_with(start)) {
            set(&mut self.mode);
        } else if let Some(table) = Table::parse(before, line, at)? {
            self.table = Some(table);
        } else if let Some(table) = &self.table {
            if text.starts_with("iozone") || text.starts_with("exiting") {
                self.table = None;
            } else if !text.is_empty() {
                output.figures.extend(table.row(&self.mode, line, at)?);
            }
        } else if !self.throughput.line(&self.mode, text, at, output)? {
            let own = output.figures.get_mut(self.first..).unwrap_or_default();
            if !self.excel.line(self.mode.scale, text, own) {
                self.mode.otherwise(text);
            }
        }
        Ok(())
    }
}
