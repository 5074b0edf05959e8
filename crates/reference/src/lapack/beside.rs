//! One call of the library beside one trial of ours.

use std::path::Path;
use std::process::Command;

use super::{Library, listing};
use crate::{Beside, Figure, Installed, Invocation, Output, Task, ask, on_path};

/// The program that loads a library and times its calls.
const PROGRAM: &str = include_str!("solve.py");

/// What the program says of a BLIS whose `dgesv_` there is none of.
const NO_LAPACK: &str = "no LAPACK that calls it";

impl Beside for Library {
    fn installed(&self) -> Option<Installed> {
        let program = on_path(&["python3"], &[])?;
        let version = self.tried(&program)?;
        Some(Installed { program, version })
    }

    fn package(&self) -> &'static str {
        self.package
    }

    fn counts(&self, kernel: &str) -> Option<&'static str> {
        match kernel {
            "cpu.linpack" => Some(
                "one dgesv_: 2/3 n^3 + 2 n^2 operations, as ours, in its own blocks and threads; \
                 A by columns",
            ),
            "cpu.dgemm" => Some(
                "one dgemm_: 2 n^3 operations, as ours, in its own blocks and threads; matrices by \
                 columns",
            ),
            _ => None,
        }
    }

    fn invocation(&self, installed: &Installed, task: &Task) -> Result<Invocation, String> {
        self.call(&installed.version, task, widest())
    }

    fn takes(&self, task: &Task) -> f64 {
        // To begin, fill and check; netlib's panels make a dgesv_ slower than a library's own.
        let n = task.params.int("n").unwrap_or(0) as f64;
        1.0 + 1.5e-8 * n * n + 1.5 * task.seconds
    }

    fn memory(&self, task: &Task) -> u64 {
        // What the interpreter and the library are, and a thread's packed blocks.
        const PROGRAM: u64 = 128 << 20;
        const THREAD: u64 = 32 << 20;
        // As many columns as are made again at a time.
        const COLUMNS: u64 = 64 << 20;
        let n = task.params.int("n").unwrap_or(0);
        let matrix = n.saturating_mul(n.saturating_add(16)).saturating_mul(8);
        let matrices = match task.kernel {
            "cpu.dgemm" => matrix.saturating_mul(3),
            _ => matrix.saturating_add(matrix.min(COLUMNS)),
        };
        let threads = task.params.threads().saturating_mul(THREAD);
        matrices.saturating_add(threads).saturating_add(PROGRAM)
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        let asked = |f: &Figure| {
            f.kernel == task.kernel
                && f.params.int("n") == task.params.int("n")
                && f.params.threads() == task.params.threads()
        };
        output.figures.into_iter().find(asked)
    }
}

impl Library {
    /// What the library says of itself; `None` where it cannot be loaded.
    fn tried(&self, python: &Path) -> Option<String> {
        let mut command = Command::new(python);
        command.args(["-I", "-c", PROGRAM, self.id, "try"]);
        command.envs(self.threads.iter().map(|name| (name, "1")));
        let answer = ask(&mut command).filter(|answer| answer.success)?;
        listing::tried(&answer.output)
    }

    /// How it does the task's work on a CPU whose widest instruction set is that.
    pub(super) fn call(
        &self,
        version: &str,
        task: &Task,
        widest: &str,
    ) -> Result<Invocation, String> {
        let operation = match task.kernel {
            "cpu.linpack" if version.contains(NO_LAPACK) => {
                return Err(format!("there is {NO_LAPACK}"));
            }
            "cpu.linpack" => "dgesv",
            "cpu.dgemm" => "dgemm",
            other => return Err(format!("it has no {other}")),
        };
        let n = task.params.int("n").ok_or("n is not set")?;
        let threads = task.params.threads();
        if threads > task.cpus.len() as u64 {
            return Err("it runs no more threads than it has CPUs".to_owned());
        }
        let isa = task.params.text("isa").unwrap_or(widest);
        let (isa, set) = match self.avx2 {
            _ if isa == widest => ("auto", [].as_slice()),
            Some(set) if isa == AVX2 => (AVX2, set),
            _ => return Err(format!("it cannot be held to {isa}")),
        };
        let mut environment: Vec<(&'static str, String)> =
            self.threads.iter().map(|name| (*name, threads.to_string())).collect();
        environment.push(("MKL_DYNAMIC", "FALSE".to_owned()));
        environment.extend(set.iter().map(|(name, value)| (*name, (*value).to_owned())));
        let (n, threads) = (n.to_string(), threads.to_string());
        let arguments = ["-I", "solve.py", self.id, operation, &n, &threads, isa];
        Ok(Invocation {
            arguments: arguments.map(str::to_owned).to_vec(),
            environment,
            files: vec![("solve.py", PROGRAM.to_owned())],
            ..Invocation::default()
        })
    }
}

/// The only instruction set that libraries are held to.
const AVX2: &str = "avx2+fma";

/// The widest instruction set of this CPU that our kernels have loops for, as they name it:
/// what a library takes by itself is held against that.
pub(crate) fn widest() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx512f") {
            return "avx512";
        }
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            return AVX2;
        }
        "sse2"
    }
    #[cfg(not(target_arch = "x86_64"))]
    "scalar"
}
