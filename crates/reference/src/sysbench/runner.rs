//! How sysbench's memory test is run.

use super::Sysbench;
use crate::text::words;
use crate::{Figure, Installed, Invocation, Output, ReferenceRunner, Task, refuse_if};
use crate::{data, place};
use proofmark_model::{Isa, key};

/// Each pass over a block costs it some hundred nanoseconds besides, with which it counts the pass;
/// one over a block of this size takes tens of microseconds.
const LEAST: u64 = 1 << 20;

impl ReferenceRunner for Sysbench {
    fn installed(&self) -> Option<Installed> {
        Installed::on_path(&["sysbench"], "--version")
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        // Its tests of files and of the CPU do not stop after our work.
        operation(test)?;
        Some(
            "bytes read or written, as in proofmark, 8 at a time; it times each pass over its \
             block, the first and the start of its threads too",
        )
    }

    fn invocation(&self, _: &Installed, task: &Task) -> Result<Invocation, String> {
        let operation = operation(task.test).ok_or("it has no such test")?;
        if Isa::of(task.params) != Some(Isa::Scalar) {
            return Err("it moves 8 bytes at a time: set isa=scalar".to_owned());
        }
        let block = block(task).ok_or("the configuration has no size")?;
        refuse_if(!block.is_power_of_two(), "its block must be a power of two")?;
        refuse_if(block < LEAST, "it takes as long to count its passes over so small a block")?;
        let threads = place::threads(task)?;
        // A block for each thread: otherwise all of them share one. It ends by the work, not after
        // the 10 s of its default.
        let arguments = format!(
            "memory --threads={threads} --memory-block-size={block} --memory-total-size={} \
             --memory-oper={operation} --memory-scope=local --memory-access-mode=seq --time=0 run",
            total(task.work, block, threads)
        );
        let environment = place::pages(task)?;
        Ok(Invocation { arguments: words(&arguments), environment, ..Invocation::default() })
    }

    fn takes(&self, task: &Task) -> f64 {
        let pass = self.memory(task) as f64;
        // The main thread fills the blocks of all.
        task.seconds.max(pass / 5e9) + place::filling(pass, 1) + 0.5
    }

    fn memory(&self, task: &Task) -> u64 {
        data::bytes(task, 1).unwrap_or(0)
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        let mut figure = output.figures.into_iter().find(|f| f.test == task.test)?;
        // Whatever it was compiled with: each number is read or written for itself.
        figure.params = figure.params.with(key::ISA, Isa::Scalar.name());
        let threads = figure.params.threads();
        let array = figure.params.get(key::BLOCK_SIZE).and_then(|block| block.checked_mul(threads));
        Some(data::figure(self, task, array, 1, figure))
    }
}

/// What a test of memory does to its blocks.
fn operation(test: &str) -> Option<&str> {
    test.strip_prefix("memory_").filter(|operation| ["read", "write"].contains(operation))
}

fn block(task: &Task) -> Option<u64> {
    data::bytes(task, 1)?.checked_div(task.params.threads())
}

/// Bytes of all passes of all threads: the same work, a pass each at least.
fn total(work: f64, block: u64, threads: u64) -> u64 {
    let pass = block.saturating_mul(threads);
    let passes = data::passes(work, pass, 1_000_000_000);
    pass.saturating_mul(passes).min(i64::MAX as u64)
}
