//! Reading the listing line by line.

use super::FIRST;
use super::table::Table;
use super::throughput::Throughput;
use super::work::{Mode, Scale};
use crate::text::lines;
use crate::{Malformed, Output};

/// What the lines of a run so far have told.
#[derive(Default)]
struct Run {
    mode: Mode,
    table: Option<Table>,
    throughput: Throughput,
}

/// What the listing holds; of several runs in one text, the figures of all.
pub(super) fn parse(text: &str) -> Result<Output, Malformed> {
    let mut output = Output::default();
    let mut run = Run::default();
    let (mut before, mut last) = ("", 1);
    for (at, line) in lines(text) {
        last = at;
        if line.trim() == FIRST {
            std::mem::take(&mut run).throughput.end()?;
        }
        run.line(at, before, line, &mut output)?;
        before = line;
    }
    run.throughput.end()?;
    if output.figures.is_empty() {
        return Err(Malformed::at(last, "no test of IOzone's has a result"));
    }
    Ok(output)
}

impl Run {
    /// The line `at`, and the one before it.
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
        } else if text.starts_with("OPS Mode.") {
            self.mode.scale = Scale::Operations;
        } else if text.starts_with("Microseconds/op Mode.") {
            self.mode.scale = Scale::Microseconds;
        } else if text == "O_DIRECT feature enabled" {
            self.mode.direct = true;
        } else if text == "Include fsync in write timing" {
            self.mode.flush = true;
        } else if let Some(table) = Table::parse(before, line, at)? {
            self.table = Some(table);
        } else if let Some(table) = &self.table {
            if text.starts_with("iozone") || text.starts_with("exiting") {
                self.table = None;
            } else if !text.is_empty() {
                output.figures.extend(table.row(&self.mode, line, at)?);
            }
        } else if !self.throughput.line(&self.mode, text, at, output)? {
            self.mode.otherwise(text);
        }
        Ok(())
    }
}
