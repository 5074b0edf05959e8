//! likwid-bench beside our points.

use proofmark_model::Params;

use super::LikwidBench;
use super::name::{LOOPS, Loop, Name};
use crate::place;
use crate::{Beside, Figure, Installed, Invocation, Output, Task};

/// Seconds that it takes to find out the rate of its clock.
const CLOCK_S: f64 = 1.2;

/// The kernel whose working set is each thread's own, and whose loops are those of others.
const SWEEP: &str = "memory.sweep";

impl Beside for LikwidBench {
    fn installed(&self) -> Option<Installed> {
        let program = crate::on_path(&["likwid-bench"], &[])?;
        let version = crate::version(&program, "-v");
        Some(Installed { program, version })
    }

    fn package(&self) -> &'static str {
        "Debian: likwid"
    }

    fn counts(&self, kernel: &str) -> Option<&'static str> {
        Some(match kernel {
            "memory.copy" | "memory.triad" | "memory.write" => {
                "bytes that the loop reads and writes, as ours; nothing is verified, and the first \
                 iteration counts"
            }
            "memory.read" => {
                "bytes that the loop loads, as ours, but it adds nothing up; the first iteration \
                 counts"
            }
            SWEEP => {
                "bytes that the loop loads and stores, as ours; reading, it adds nothing up; the \
                 first iteration counts"
            }
            _ => return None,
        })
    }

    fn invocation(&self, _: &Installed, task: &Task) -> Result<Invocation, String> {
        let of = work(task).ok_or("it has no such loop")?;
        let isa = task.params.text("isa").unwrap_or_default();
        let nontemporal = task.params.text("stores") == Some("nontemporal");
        let test = Name::test(of, isa, nontemporal)
            .ok_or("its scalar loop moves 8 bytes at a time, the compiler's may be vectors")?;
        let threads = place::threads(task)?;
        let bytes = bytes(task, of).ok_or("the point has no size")?;
        let arguments = ["-t", &test, "-W", &format!("N:{}:{threads}", size(bytes)), "-i"];
        let mut arguments = arguments.map(str::to_owned).to_vec();
        arguments.push(iterations(task.work, bytes).to_string());
        let environment = place::pages(task)?;
        Ok(Invocation { arguments, environment, ..Invocation::default() })
    }

    fn takes(&self, task: &Task) -> f64 {
        let bytes = self.memory(task) as f64;
        CLOCK_S + place::filling(bytes, task.params.threads()) + task.seconds
    }

    fn memory(&self, task: &Task) -> u64 {
        work(task).and_then(|of| bytes(task, of)).unwrap_or(0)
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        let of = work(task)?;
        let figure = output.figures.into_iter().find(|f| f.kernel == of.ours)?;
        Some(if task.kernel == SWEEP { swept(task, of, figure) } else { figure })
    }
}

/// The loop that does a task's work.
fn work(task: &Task) -> Option<Loop> {
    let ours = match (task.kernel, task.params.text("op")) {
        (SWEEP, Some("read")) => "memory.read",
        (SWEEP, Some("write")) => "memory.write",
        (SWEEP, Some("copy")) => "memory.copy",
        (kernel, _) => kernel,
    };
    LOOPS.into_iter().find(|l| l.ours == ours)
}

/// Bytes of all its arrays, over all threads.
fn bytes(task: &Task, of: Loop) -> Option<u64> {
    match task.kernel {
        SWEEP => task.params.int("working_set")?.checked_mul(task.params.threads()),
        _ => task.params.int("array_size")?.checked_mul(of.arrays),
    }
}

/// That many bytes in its words. Its numbers have 31 bits, so what is larger is in its kB of 1000
/// bytes, rounded up: it rounds down to whole turns of its loop.
fn size(bytes: u64) -> String {
    match i32::try_from(bytes) {
        Ok(bytes) => format!("{bytes}B"),
        Err(_) => format!("{}kB", bytes.div_ceil(1000)),
    }
}

/// Iterations of the same work as one of our trials: its own finding out how many there should be
/// takes seconds.
fn iterations(work: f64, bytes: u64) -> u64 {
    let iterations = (work / bytes.max(1) as f64).round();
    if iterations >= 1.0 { iterations.min(f64::from(i32::MAX)) as u64 } else { 1 }
}

/// The figure of a sweep, with the knobs of one.
fn swept(task: &Task, of: Loop, mut figure: Figure) -> Figure {
    figure.kernel = SWEEP.into();
    let threads = figure.params.threads().max(1);
    let set =
        figure.params.int("array_size").map(|array| array.saturating_mul(of.arrays) / threads);
    let Params(mut knobs) = figure.params;
    knobs.remove("array_size");
    knobs.remove("stores");
    figure.params = Params(knobs).with("op", task.params.text("op").unwrap_or_default());
    if let Some(set) = set {
        figure.params = figure.params.with("working_set", set);
    }
    figure
}
