//! fio (Jens Axboe): its reports in JSON.
//!
//! `json` is the part of a report that is read, `options` what a job was asked to do, `pattern`
//! its `rw`, `harmless` which options leave the work alone, `jobs` how the entries of a report
//! become figures, `times` its latencies, `verification` what it tells of devices and of the file,
//! `runner` what our points are in fio's options.

mod harmless;
mod jobs;
mod json;
mod options;
mod pattern;
mod runner;
mod times;
mod verification;

#[cfg(test)]
mod tests;

use crate::{Description, Malformed, Output, Tool};

pub(crate) struct Fio;

impl Tool for Fio {
    fn description(&self) -> &Description {
        &Description {
            id: "fio",
            title: "fio, the flexible I/O tester (Jens Axboe)",
            package: "Debian: fio",
            about: "Reads what fio 3 prints with --output-format=json or json+, with whatever text \
                    is around it; of several reports (--status-interval) the last. A figure counts \
                    the bytes of one direction, read or written once, over the runtime in whole \
                    milliseconds; jobs that read and write have one more for both together. The \
                    processes of a job (numjobs) are one figure, all bytes over the longest \
                    runtime, as in fio's own group line. Jobs that run at the same time as others, \
                    or with any option that is not known to leave the work alone, are not compared \
                    with workloads here. A job that ended in an error has no figure. Times of \
                    single I/Os are fio's lat where it has percentiles, else clat, which leaves \
                    out the submission; a percentile is the middle of a bucket of fio's, to within \
                    1 %. Sizes in options are powers of 1024 (4k), with an i of 1000 (4ki), or the \
                    other way round with kb_base=1000. The counters of devices (disk_util) are \
                    those of the whole run; fio reads them four times a second and may miss the \
                    last of it: counters that are short of what was asked, by no more than that \
                    explains, prove nothing and are left out. How the file was used is what the \
                    options tell.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        json::opening(text).is_some() && text.contains("\"fio version\"")
    }

    fn parse(&self, text: &str) -> Result<Output, Malformed> {
        let (report, line) = json::last(text)?;
        jobs::output(&report, line)
    }
}
