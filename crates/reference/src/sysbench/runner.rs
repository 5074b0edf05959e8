//! The run of sysbench's memory test.

use super::Sysbench;
use crate::text::words;
use crate::{Figure, Installed, Invocation, Output, ReferenceRunner, Task, refuse_if};
use crate::{data, place};
use proofmark_model::{Isa, key};

/// The smallest block. sysbench spends some 100 ns per pass on counting it; a pass over a block of
/// this size takes tens of us.
const LEAST: u64 = 1 << 20;

impl ReferenceRunner for Sysbench {
    fn installed(&self) -> Option<Installed> {
        Installed::on_path(&["sysbench"], "--version")
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        // Its file and CPU tests cannot be limited to the same work.
        operation(test)?;
        Some(
            "bytes read or written, as in proofmark, 8 at a time; it times each pass over its \
             block, the first and the start of its threads too",
        )
    }

    fn invocation(&self, _: &Installed, task: &Task) -> Result<Invocation, String> {
        let operation = operation(task.test).ok_or("it has no such test")?;
        if Isa::from_params(task.params) != Some(Isa::Scalar) {
            return Err("it moves 8 bytes at a time: set isa=scalar".to_owned());
        }
        let block = block(task).ok_or("the configuration has no size")?;
        refuse_if(!block.is_power_of_two(), "its block must be a power of two")?;
        refuse_if(
            block < LEAST,
            "with so small a block, counting the passes takes as long as they do",
        )?;
        let threads = place::threads(task)?;
        // `local`: a block per thread, otherwise all of them share one. `--time=0`: the run ends
        // after the work, not after the default 10 s.
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
        // The main thread fills the blocks of all threads.
        task.seconds.max(pass / 5e9) + place::filling(pass, 1) + 0.5
    }

    fn memory(&self, task: &Task) -> u64 {
        data::bytes(task, 1).unwrap_or(0)
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        let mut figure = output.figures.into_iter().find(|f| f.test == task.test)?;
        // sysbench reads or writes each number separately, however it was compiled.
        figure.params = figure.params.with(key::ISA, Isa::Scalar.name());
        let threads = figure.params.threads();
        let array = figure.params.get(key::BLOCK_SIZE).and_then(|block| block.checked_mul(threads));
        Some(data::figure(self, task, array, 1, figure))
    }
}

/// Returns the operation of a memory test.
fn operation(test: &str) -> Option<&str> {
    test.strip_prefix("memory_").filter(|operation| ["read", "write"].contains(operation))
}

fn block(task: &Task) -> Option<u64> {
    data::bytes(task, 1)?.checked_div(task.params.threads())
}

/// Returns the bytes of all passes of all threads: the same work, with at least a pass per thread.
fn total(work: f64, block: u64, threads: u64) -> u64 {
    let pass = block.saturating_mul(threads);
    let passes = data::passes(work, pass, 1_000_000_000);
    pass.saturating_mul(passes).min(i64::MAX as u64)
}
