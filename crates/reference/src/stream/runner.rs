//! The run of STREAM, whose arrays and iterations were fixed when it was compiled.

use proofmark_model::{key, word};
use std::path::PathBuf;

use super::program::{PROGRAMS, Program};
use super::{MEAN, Stream, has_loop};
use crate::{Figure, Installed, Invocation, Output, ReferenceRunner, Task, path, refuse_if};
use crate::{data, place};

/// The default number of times that STREAM runs each loop.
const NTIMES: f64 = 10.0;

/// The passes over all its memory per time: the loops use 2, 2, 3 and 3 of the 3 arrays.
const PASSES: f64 = 10.0 / 3.0;

/// The assumed rate of a thread, in bytes per second, and the number of threads that add to it.
const SLOW: f64 = 10e9;
const ADDING: u64 = 4;

impl ReferenceRunner for Stream {
    fn installed(&self) -> Option<Installed> {
        // Other programs are also named stream: lmbench's, ImageMagick's.
        let (program, found) = first(candidates())?;
        Some(Installed { program, version: found.version })
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        has_loop(test).then_some(
            "bytes that its program reads and writes, as in proofmark; its arrays have the size, \
             and its loops the instructions and the kind of stores, that it was compiled with; the \
             system chooses the pages; the first iteration of a loop does not count; the tool result is the \
             mean of the others, while STREAM's own Best Rate is that of the fastest: a whole pass \
             with all that interrupted it, so it may be below proofmark's typical rate, which \
             leaves such time out",
        )
    }

    fn invocation(&self, installed: &Installed, task: &Task) -> Result<Invocation, String> {
        if task.params.get(key::STORES) != Some(word::TEMPORAL) {
            return Err("its stores are ordinary ones: set stores=temporal".to_owned());
        }
        let threads = place::threads(task)?;
        let program = Program::read(&installed.program).ok_or("its program is no longer STREAM")?;
        refuse_if(threads > 1 && !program.threads, "it was compiled without threads")?;
        if task.test == "Copy" && program.copies {
            return Err("its Copy is the C library's, which may store past the caches".to_owned());
        }
        let environment = vec![
            ("OMP_NUM_THREADS", threads.to_string()),
            ("OMP_DYNAMIC", "false".to_owned()),
            // Each thread stays on its CPU, as in proofmark.
            ("OMP_PROC_BIND", "true".to_owned()),
        ];
        Ok(Invocation { environment, ..Invocation::default() })
    }

    fn takes(&self, task: &Task) -> f64 {
        let bytes = self.memory(task) as f64;
        let threads = task.params.threads();
        // STREAM also fills, doubles and verifies its arrays, the last with one thread.
        let verifying = bytes / SLOW * 2.0;
        let rate = SLOW * threads.clamp(1, ADDING) as f64;
        1.0 + place::filling(bytes, threads) + NTIMES * PASSES * bytes / rate + verifying
    }

    fn memory(&self, _: &Task) -> u64 {
        first(candidates()).map_or(0, |(_, program)| program.bytes)
    }

    /// STREAM only reports the time of one iteration.
    fn reports_time(&self) -> bool {
        false
    }

    /// Uses the mean time of an iteration, which is all work over all time. Its best rate is that
    /// of a single iteration.
    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        let mean = [task.test, MEAN].concat();
        let figure = output.figures.into_iter().find(|f| f.comparable && f.test == mean)?;
        // Compiled without threads, STREAM does not report their number: it is 1.
        let threads = figure.params.get(key::THREADS).unwrap_or(1);
        let threads_agree = threads == task.params.threads();
        let array = figure.params.get(key::ARRAY_SIZE);
        let mut figure = data::figure(self, task, array, 1, figure);
        // The arrays are part of the program, which cannot choose their pages.
        if task.params.get(key::PAGES).is_some() {
            figure.params = figure.params.with(key::PAGES, place::default_pages());
        }
        threads_agree.then_some(figure)
    }
}

/// Returns the first of these files that is STREAM.
pub(super) fn first(files: impl Iterator<Item = PathBuf>) -> Option<(PathBuf, Program)> {
    files.into_iter().find_map(|file| Program::read(&file).map(|program| (file, program)))
}

/// Returns the possible places: the PATH, and the folder of Debian's opa-basic-tools.
fn candidates() -> impl Iterator<Item = PathBuf> {
    let folders = path().into_iter().chain(["/usr/lib/opa/tools".into()]);
    folders.flat_map(|f| PROGRAMS.map(|p| f.join(p)))
}
