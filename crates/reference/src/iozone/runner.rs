//! The options with which IOzone runs a configuration.
//!
//! IOzone can only work on a whole file. Writing begins with a truncation, so each run covers the
//! whole file, which is complete afterwards.

use proofmark_model::{Params, Trial, key, word};

use super::Iozone;
use super::work::KB;
use crate::disk::{self, either, file};
use crate::text::words;
use crate::{Figure, Installed, Invocation, Output, ReferenceRunner, Task, refuse_if};

/// The largest record in bytes: the size of IOzone's buffer.
const LARGEST: u64 = 16 << 20;

/// The longest run in seconds: a trial of proofmark takes a fraction of a second.
const LONGEST_S: f64 = 30.0;

/// The time IOzone takes to start and to end, in seconds.
const START_S: f64 = 0.5;

/// The run for a test's figure, and its effect on the file.
struct Run {
    options: &'static str,
    /// The number of times that the run reads the whole file.
    reads: u64,
    writes: u64,
    counts: &'static str,
}

/// Returns the run for a test; `None` for tests that IOzone is not run for.
fn run_for(test: &str) -> Option<&'static Run> {
    match test {
        // `-+E`: do not expect IOzone's own data. `-+n`: read nothing again.
        "read" => Some(&Run {
            options: "-i 1 -+E -+n",
            reads: 1,
            writes: 0,
            counts: "the first 'read' of the whole file, whatever a trial's amount",
        }),
        "random read" => Some(&Run {
            options: "-i 2 -+E",
            reads: 1,
            writes: 0,
            counts: "'random read' of the whole file, each record once, in the same order each \
                     time, whatever a trial's amount",
        }),
        // IOzone creates the file, then rewrites it.
        "rewrite" => Some(&Run {
            options: "-i 0",
            reads: 0,
            writes: 2,
            counts: "'rewrite' of the whole file, whatever a trial's amount, with its fsync \
                     (proofmark: fdatasync); what it writes can be compressed",
        }),
        // Before writing in random order, IOzone also reads in random order: only its own data.
        "random write" => Some(&Run {
            options: "-i 0 -i 2",
            reads: 1,
            writes: 3,
            counts: "'random write' of the whole file, each record once, in the same order each \
                     time, whatever a trial's amount, with its fsync (proofmark: fdatasync); what \
                     it writes can be compressed",
        }),
        _ => None,
    }
}

impl ReferenceRunner for Iozone {
    fn installed(&self) -> Option<Installed> {
        Installed::on_path(&["iozone", "iozone3"], "-v")
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        run_for(test).map(|run| run.counts)
    }

    fn invocation(&self, _: &Installed, task: &Task) -> Result<Invocation, String> {
        Ok(Invocation { arguments: arguments(task)?, ..Invocation::default() })
    }

    fn takes(&self, task: &Task) -> f64 {
        let passes = run_for(task.test).map_or(1, |run| run.reads + run.writes);
        passes as f64 * pass_s(task).unwrap_or(task.seconds) + START_S
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        let run = run_for(task.test)?;
        let found = output.figures.into_iter().find(|f| f.comparable && f.test == task.test)?;
        let trials = found.trials.into_iter().map(|t| with_asked(run, t)).collect();
        // IOzone does not report the cache.
        let params = disk::merge_params(task.params, &found.params, SAME)?;
        Some(Figure { params, trials, ..found })
    }
}

/// Parameters that must be the same in IOzone's run, which covers its whole file.
const SAME: &[&str] = &[
    key::BLOCK_SIZE.name(),
    key::QUEUE_DEPTH.name(),
    key::THREADS.name(),
    key::DIRECT.name(),
    key::FILE_SIZE.name(),
];

/// Sets the requested bytes of a trial to those of its run, which the device counters cover.
fn with_asked(run: &Run, trial: Trial) -> Trial {
    let mut trial = trial;
    if let Some(file) = &mut trial.file {
        file.asked_read_bytes = file.size_bytes.saturating_mul(run.reads);
        file.asked_written_bytes = file.size_bytes.saturating_mul(run.writes);
    }
    trial
}

/// Returns the seconds that proofmark would need for the whole file.
fn pass_s(task: &Task) -> Option<f64> {
    let size = task.params.get(key::FILE_SIZE)? as f64;
    Some(task.seconds * (size / task.work)).filter(|s| s.is_finite() && *s > 0.0)
}

fn arguments(task: &Task) -> Result<Vec<String>, String> {
    let run = run_for(task.test).ok_or("it has no such work")?;
    let params = task.params;
    let (record, size) = sizes(task)?;
    one_at_a_time(params)?;
    let direct = either(params, key::DIRECT, word::ON, word::OFF)?;
    let writes = run.writes > 0;
    if writes && params.get(key::CACHE) == Some(word::COLD) {
        return Err("it rewrites a file that it has just written, so the cache is warm".to_owned());
    }
    let flushes = writes && either(params, key::FLUSH, word::END, word::NONE)?;
    let takes = Iozone.takes(task);
    if takes > LONGEST_S {
        return Err(format!(
            "it needs about {takes:.0} s for the whole file: set a smaller file_size"
        ));
    }
    let direct = if direct { "-I" } else { "" };
    let flushes = if flushes { "-e" } else { "" };
    // `-w`: IOzone must not remove the file.
    let line =
        format!("{} -w {direct} {flushes} -r {} -s {} -f", run.options, record / KB, size / KB);
    let mut all = words(&line);
    all.push(file(task.file)?.to_owned());
    Ok(all)
}

/// Returns the bytes of a record and of the file. IOzone takes both in KiB.
fn sizes(task: &Task) -> Result<(u64, u64), String> {
    let (record, size) = (task.number(key::BLOCK_SIZE)?, task.number(key::FILE_SIZE)?);
    if !record.is_multiple_of(KB) || record > LARGEST {
        return Err("its records are 1 KiB to 16 MiB, in whole KiB".to_owned());
    }
    refuse_if(!size.is_multiple_of(record), "file_size must be a multiple of block_size")?;
    Ok((record, size))
}

/// Refuses more than one I/O in flight: IOzone has no queue, and its processes each use their own
/// file.
fn one_at_a_time(params: &Params) -> Result<(), String> {
    refuse_if(
        params.get(key::QUEUE_DEPTH).is_some_and(|depth| depth > 1),
        "it has no queue depth",
    )?;
    if params.threads() > 1 {
        return Err("its processes have a file each, proofmark's threads share one".to_owned());
    }
    match params.get(key::ENGINE) {
        Some(word::PSYNC) => Ok(()),
        Some(engine) => Err(format!("it has no {engine}")),
        None => Err("engine is not set".to_owned()),
    }
}

#[cfg(test)]
mod tests;
