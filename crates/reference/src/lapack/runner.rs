//! The invocation for one call of a library.

use proofmark_model::key;
use std::path::Path;
use std::process::Command;

use super::{Library, MULTIPLY, SOLVE, listing};
use crate::dense::{self, AVX2, widest};
use crate::text::words;
use crate::{Figure, Installed, Invocation, Output, ReferenceRunner, Task, ask, on_path};

/// The program that loads a library and times its calls.
const PROGRAM: &str = include_str!("solve.py");

/// The message of `solve.py` if no `dgesv_` uses BLIS.
const NO_LAPACK: &str = "no LAPACK that calls it";

impl ReferenceRunner for Library {
    fn installed(&self) -> Option<Installed> {
        let program = on_path(&["python3"])?;
        let version = self.probe(&program)?;
        Some(Installed { program, version })
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        match test {
            SOLVE => Some(
                "one dgesv_: 2/3 n^3 + 2 n^2 operations, as in proofmark, in its own blocks and \
                 threads; A by columns",
            ),
            MULTIPLY => Some(
                "one dgemm_: 2 n^3 operations, as in proofmark, in its own blocks and threads; \
                 matrices by columns",
            ),
            _ => None,
        }
    }

    fn invocation(&self, installed: &Installed, task: &Task) -> Result<Invocation, String> {
        self.call(&installed.version, task, widest())
    }

    fn takes(&self, task: &Task) -> f64 {
        // Start, filling and checks. A dgesv_ with netlib's panels is slower than a library's own.
        let n = dense::rows(task) as f64;
        1.0 + 1.5e-8 * n * n + 1.5 * task.seconds
    }

    fn memory(&self, task: &Task) -> u64 {
        // The bytes of the columns that `solve.py` generates again at a time.
        const COLUMNS: u64 = 64 << 20;
        let n = dense::rows(task);
        let matrix = n.saturating_mul(n.saturating_add(16)).saturating_mul(8);
        let matrices = match task.test {
            MULTIPLY => matrix.saturating_mul(3),
            _ => matrix.saturating_add(matrix.min(COLUMNS)),
        };
        dense::memory(task, matrices)
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        dense::figure(task, output, |f| Some(f.params.threads()))
    }
}

impl Library {
    /// Returns the version of the library; `None` if it cannot be loaded.
    fn probe(&self, python: &Path) -> Option<String> {
        let mut command = Command::new(python);
        command.args(["-I", "-c", PROGRAM, self.description.id, "try"]);
        command.envs(self.threads.iter().map(|name| (name, "1")));
        let answer = ask(&mut command).filter(proofmark_process::Answer::is_success)?;
        listing::probe(&answer.output)
    }

    /// Returns the invocation for the task on a CPU with this widest instruction set.
    pub(super) fn call(
        &self,
        version: &str,
        task: &Task,
        widest: &str,
    ) -> Result<Invocation, String> {
        if self.counts(task.test).is_none() {
            return Err(format!("it has no {}", task.test));
        }
        if task.test == SOLVE && version.contains(NO_LAPACK) {
            return Err(format!("there is {NO_LAPACK}"));
        }
        let n = task.number(key::MATRIX_SIZE)?;
        let threads = dense::threads(task, key::THREADS.name())?;
        let (isa, set) = match (dense::require_widest(task, "it", widest), self.avx2) {
            (Ok(()), _) => ("auto", [].as_slice()),
            (Err(_), Some(set)) if task.params.get(key::ISA) == Some(AVX2) => (AVX2, set),
            (Err(why), _) => return Err(why),
        };
        let mut environment = dense::environment(self.threads, threads);
        environment.extend(set.iter().map(|(name, value)| (*name, (*value).to_owned())));
        let (id, test) = (self.description.id, task.test);
        Ok(Invocation {
            arguments: words(&format!("-I solve.py {id} {test} {n} {threads} {isa}")),
            environment,
            files: vec![("solve.py", PROGRAM.to_owned())],
            ..Invocation::default()
        })
    }
}
