//! The options with which likwid-bench runs a configuration.

use super::LikwidBench;
use super::name::{LOOPS, Loop, Name};
use crate::text::words;
use crate::{Figure, Installed, Invocation, Output, ReferenceRunner, Task};
use crate::{data, place};
use proofmark_model::{key, word};

/// The seconds in which likwid-bench measures its clock's rate.
const CLOCK_S: f64 = 1.2;

impl ReferenceRunner for LikwidBench {
    fn installed(&self) -> Option<Installed> {
        Installed::on_path(&["likwid-bench"], "-v")
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        let found = find_loop(test)?;
        Some(match found.stores {
            true => {
                "bytes that the loop reads and writes, as in proofmark; it verifies nothing, and \
                 the first iteration counts"
            }
            false => {
                "bytes that the loop loads, as in proofmark, but it adds nothing up; the first \
                 iteration counts"
            }
        })
    }

    fn invocation(&self, _: &Installed, task: &Task) -> Result<Invocation, String> {
        let base = find_loop(task.test).ok_or("it has no such loop")?;
        let isa = task.params.get(key::ISA).unwrap_or_default();
        let nontemporal = task.params.get(key::STORES) == Some(word::NONTEMPORAL);
        let test = Name::test(base, isa, nontemporal)
            .ok_or("its scalar loop moves 8 bytes at a time, but proofmark's may use vectors")?;
        let threads = place::threads(task)?;
        let bytes = data::bytes(task, base.arrays).ok_or("the configuration has no size")?;
        // Otherwise likwid-bench needs seconds to find a number of iterations.
        let iterations = data::passes(task.work, bytes, i32::MAX as u32);
        let arguments = format!("-t {test} -W N:{}:{threads} -i {iterations}", size(bytes));
        let environment = place::pages(task)?;
        Ok(Invocation { arguments: words(&arguments), environment, ..Invocation::default() })
    }

    fn takes(&self, task: &Task) -> f64 {
        let bytes = self.memory(task) as f64;
        CLOCK_S + place::filling(bytes, task.params.threads()) + task.seconds
    }

    fn memory(&self, task: &Task) -> u64 {
        find_loop(task.test).and_then(|base| data::bytes(task, base.arrays)).unwrap_or(0)
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        let base = find_loop(task.test)?;
        let figure = output.figures.into_iter().find(|f| f.test == base.name)?;
        Some(data::figure(self, task, figure.params.get(key::ARRAY_SIZE), base.arrays, figure))
    }
}

fn find_loop(test: &str) -> Option<Loop> {
    LOOPS.into_iter().find(|l| l.name == test)
}

/// Writes a size in likwid's units. Its numbers have 31 bits, so larger sizes are in kB of 1000
/// bytes. They are rounded up: likwid rounds down to whole iterations of its loop.
fn size(bytes: u64) -> String {
    match i32::try_from(bytes) {
        Ok(bytes) => format!("{bytes}B"),
        Err(_) => format!("{}kB", bytes.div_ceil(1000)),
    }
}
