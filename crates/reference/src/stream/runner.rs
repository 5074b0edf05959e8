//! How STREAM is run: its arrays and its iterations are those that it was compiled with.

use proofmark_model::{key, word};
use std::path::PathBuf;

use super::program::{PROGRAMS, Program};
use super::{MEAN, Stream, has};
use crate::{Figure, Installed, Invocation, Output, ReferenceRunner, Task, path, refuse_if};
use crate::{data, place};

/// Times that it runs each loop, unless it was compiled otherwise.
const NTIMES: f64 = 10.0;

/// Passes over all its memory that a run makes for each time: of 2, 2, 3 and 3 arrays of 3.
const PASSES: f64 = 10.0 / 3.0;

/// Bytes a second that it is reckoned with before anything is known.
const SLOW: f64 = 10e9;

impl ReferenceRunner for Stream {
    fn installed(&self) -> Option<Installed> {
        // Other programs are called stream, too: lmbench's, ImageMagick's.
        let (program, found) = first(candidates())?;
        Some(Installed { program, version: found.version })
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        has(test).then_some(
            "bytes that its program reads and writes, as in proofmark; its arrays have the size, \
             and its loops the instructions and the kind of stores, that it was compiled with; the \
             system chooses the pages; the first iteration of a loop does not count",
        )
    }

    fn invocation(&self, installed: &Installed, task: &Task) -> Result<Invocation, String> {
        if task.params.get(key::STORES) != Some(word::TEMPORAL) {
            return Err("its stores are ordinary ones: set stores=temporal".to_owned());
        }
        let threads = place::threads(task)?;
        let program = Program::read(&installed.program).ok_or("it is no STREAM any more")?;
        refuse_if(threads > 1 && !program.threads, "it was compiled without threads")?;
        if task.test == "Copy" && program.copies {
            return Err("its Copy is the C library's, which may store past the caches".to_owned());
        }
        let environment = vec![
            ("OMP_NUM_THREADS", threads.to_string()),
            ("OMP_DYNAMIC", "false".to_owned()),
            // Each thread stays on its CPU, as proofmark's.
            ("OMP_PROC_BIND", "true".to_owned()),
        ];
        Ok(Invocation { environment, ..Invocation::default() })
    }

    fn takes(&self, task: &Task) -> f64 {
        let bytes = self.memory(task) as f64;
        let threads = task.params.threads();
        // Besides its loops it fills, doubles and verifies its arrays, the last with one thread.
        let verifying = bytes / SLOW * 2.0;
        1.0 + place::filling(bytes, threads) + NTIMES * PASSES * bytes / SLOW + verifying
    }

    fn memory(&self, _: &Task) -> u64 {
        first(candidates()).map_or(0, |(_, program)| program.bytes)
    }

    /// Only that of one iteration.
    fn reports_time(&self) -> bool {
        false
    }

    /// By the mean time of an iteration, which is all work over all time; its best is no more than
    /// that of one.
    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        let mean = [task.test, MEAN].concat();
        let figure = output.figures.into_iter().find(|f| f.comparable && f.test == mean)?;
        // Compiled without threads, it does not say how many there were: one.
        let threads = figure.params.get(key::THREADS).unwrap_or(1);
        let threads_agree = threads == task.params.threads();
        let array = figure.params.get(key::ARRAY_SIZE);
        let mut figure = data::figure(self, task, array, 1, figure);
        // Its arrays are a part of the program: what pages they lie in is not for it to choose.
        if task.params.get(key::PAGES).is_some() {
            figure.params = figure.params.with(key::PAGES, place::pages_unasked());
        }
        threads_agree.then_some(figure)
    }
}

/// The first of these files that is one of its programs.
pub(super) fn first(files: impl Iterator<Item = PathBuf>) -> Option<(PathBuf, Program)> {
    files.into_iter().find_map(|file| Program::read(&file).map(|program| (file, program)))
}

/// Where one of its programs may be: on the PATH, or where Debian's opa-basic-tools has it.
fn candidates() -> impl Iterator<Item = PathBuf> {
    let folders = path().into_iter().chain(["/usr/lib/opa/tools".into()]);
    folders.flat_map(|f| PROGRAMS.map(|p| f.join(p)))
}
