//! fio (Jens Axboe): its reports in JSON.

mod accounts;
mod causes;
mod harmless;
mod jobs;
mod json;
mod medium;
mod options;
mod pattern;
mod runner;
mod runs;
mod times;
mod verification;
mod version;
mod works;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use proofmark_model::Printed;

use crate::documents::{documents, opening};
use crate::{Description, Malformed, Output, Tool, same_work};

pub(crate) struct Fio;

impl Tool for Fio {
    fn description(&self) -> &Description {
        &Description {
            id: "fio",
            printed: Printed::Mean,
            title: "fio, the flexible I/O tester (Jens Axboe)",
            package: "Debian: fio",
            reads: "its JSON (--output-format=json)",
            same_work: const {
                &[
                    same_work("read", "disk.seq_read"),
                    same_work("write", "disk.seq_write"),
                    same_work("randread", "disk.rand_read"),
                    same_work("randwrite", "disk.rand_write"),
                    same_work("randrw", "disk.mixed"),
                    same_work("commits", "disk.fsync"),
                ]
            },
            about: "Reads what fio 3 prints with --output-format=json or json+, with any text \
                    around it. Of the states of one run (--status-interval) it reads the last; \
                    other runs are more trials or results. A figure counts the bytes of one \
                    direction over the runtime in whole milliseconds; jobs that read and write have \
                    one more for both. The processes of a job are one figure: all bytes over the \
                    longest runtime. proofmark does not compare jobs that ran at the same time as \
                    others, or with an option that may change the work. A failed job has no figure, \
                    and a group of several jobs (group_reporting) has no parameters. I/O times are \
                    fio's lat where it has percentiles, otherwise clat, without the submission. \
                    With fsync=1 or fdatasync=1 they are the flush's; with a flush after more \
                    writes there are none. A percentile is exact to 1 %. Sizes in options are \
                    powers of 1024 (4k) or, with an i, of 1000 (4ki); kb_base=1000 swaps the two. \
                    The device counters (disk_util) cover the whole run and may miss its end: up to \
                    a quarter of the bytes that they lack counts as moved. Before they had sectors, \
                    proofmark counts I/Os, of direct I/O alone.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        opening(text).is_some() && text.contains("\"fio version\"")
    }

    fn first_keys(&self) -> &'static [(&'static str, &'static str)] {
        &[("fio version", ":\"")]
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        version::check(text)?;
        let mut output = Output::default();
        let mut empty = Vec::new();
        let runs = runs::last_of_each(documents::<json::Report>(text)?);
        let devices: BTreeSet<_> = runs.iter().map(|run| jobs::devices(&run.value)).collect();
        for run in runs {
            let mut found = jobs::output(&run.value, run.line)?;
            // Runs on different devices are not repetitions.
            let device = Some(jobs::devices(&run.value)).filter(|_| devices.len() > 1);
            if let Some(device) = device.filter(|device| !device.is_empty()) {
                for figure in &mut found.figures {
                    figure.params =
                        std::mem::take(&mut figure.params).with_named("device", &*device);
                }
            }
            if found.figures.is_empty() {
                empty.push(Malformed::at(run.line, jobs::nothing(&run.value)));
            }
            output.add(found);
        }
        output.with_lost(&empty)
    }
}
