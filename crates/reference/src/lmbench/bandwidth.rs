//! bw_mem: bytes per second read, written or copied, with every word or every fourth one.

use std::collections::BTreeSet;

use proofmark_model::{Isa, Params, Printed, Trial, key, word};

use super::run;
use crate::figure::MEMORY;
use crate::text::{columns, lines, positive, wrong_if};
use crate::{
    Description, Figure, Installed, Invocation, Malformed, Output, ReferenceRunner, Task, Tool,
    same_work, same_work_where,
};
use crate::{data, place};

pub(crate) struct Bandwidth;

/// The test of an output, which does not report its operation.
const UNKNOWN: &str = "bw_mem";

/// The bytes of one iteration of its loops.
const PIECE: u64 = 512;

/// The bytes that one of their instructions moves.
const WORD: u64 = 4;

/// An operation on every word.
struct Work {
    name: &'static str,
    /// The number of arrays. bw_mem counts a copy once, proofmark counts both ends.
    arrays: u64,
}

static WORKS: [Work; 3] = [
    Work { name: "frd", arrays: 1 },
    Work { name: "fwr", arrays: 1 },
    Work { name: "fcp", arrays: 2 },
];

impl Tool for Bandwidth {
    fn description(&self) -> &Description {
        &Description {
            id: "lmbench-bw",
            printed: Printed::Mean,
            title: "lmbench bw_mem, Larry McVoy and Carl Staelin",
            package: run::PACKAGE,
            reads: "its text",
            same_work: const {
                &[
                    same_work_where("frd", "memory.sweep", (key::OPERATION, word::READ)),
                    same_work_where("fwr", "memory.sweep", (key::OPERATION, word::WRITE)),
                    same_work_where("fcp", "memory.sweep", (key::OPERATION, word::COPY)),
                    same_work("fcp", "memory.copy"),
                    same_work("frd", "memory.read"),
                    same_work("fwr", "memory.write"),
                ]
            },
            about: "Reads the two numbers that bw_mem of lmbench 3 prints: one process's array in \
                    MB of 10^6 bytes, and MB a second of all processes together. bw_mem does not \
                    report its operation, so the test is lmbench.bw_mem. Lines of one size may be \
                    of several operations: each becomes a figure, by its number (line=2). proofmark \
                    cannot recognise this output: name the tool. bw_mem counts a copy once. Its \
                    rd, wr, rdwr and cp count all bytes, but access every fourth word.",
        }
    }

    fn family(&self) -> &'static str {
        run::FAMILY
    }

    fn recognises(&self, _: &str) -> bool {
        // Two numbers identify no tool.
        false
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let mut output = Output::default();
        for (at, line) in lines(text).filter(|(_, line)| !line.trim().is_empty()) {
            let [size, rate] = columns(line)
                .ok_or_else(|| Malformed::quoting(at, line, "is no size and rate of bw_mem"))?;
            let size = positive(size, at)? * 1e6;
            let trial = run::megabytes(size, positive(rate, at)?, at)?;
            let params = Params::default().with_named("size", size.round() as u64);
            output.figures.push(Figure::rate(UNKNOWN, "bw_mem", MEMORY, params, trial));
        }
        wrong_if(output.figures.is_empty(), 1, "no size and rate of bw_mem")?;
        tell_apart(&mut output.figures);
        Ok(output)
    }
}

/// Numbers the lines if a size occurs more than once: these may be of different operations.
fn tell_apart(figures: &mut [Figure]) {
    let sizes: BTreeSet<_> = figures.iter().map(|f| f.params.number("size")).collect();
    if sizes.len() < figures.len() {
        for (line, figure) in (1_u64..).zip(figures) {
            figure.params = figure.params.clone().with_named("line", line);
        }
    }
}

impl ReferenceRunner for Bandwidth {
    fn installed(&self) -> Option<Installed> {
        run::installed("bw_mem", b"frd fcp bzero bcopy")
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        work(test)?;
        Some(
            "bytes read and written, as in proofmark, in words of 4 bytes, with the instructions \
             that its compiler chose; it verifies nothing, and each thread is a process of its own",
        )
    }

    fn invocation(&self, _: &Installed, task: &Task) -> Result<Invocation, String> {
        let work = work(task.test).ok_or("it has no such loop")?;
        run::ordinary_stores(task)?;
        let threads = place::threads(task)?;
        let size = size(task, work).ok_or("the configuration has no size")?;
        if size < PIECE || size % PIECE != 0 {
            return Err("it needs a multiple of 512 bytes per thread".to_owned());
        }
        let arguments = format!("-P {threads} -N 1 {size} {}", work.name);
        run::invocation(task, run::lasts_us(task), &arguments)
    }

    fn takes(&self, task: &Task) -> f64 {
        run::takes(task, self.memory(task))
    }

    fn memory(&self, task: &Task) -> u64 {
        work(task.test).and_then(|work| data::bytes(task, work.arrays)).unwrap_or(0)
    }

    fn reports_time(&self) -> bool {
        false
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        let (work, threads) = (work(task.test)?, task.params.threads());
        let size = size(task, work)?;
        let [mut figure] = <[Figure; 1]>::try_from(output.figures).ok()?;
        // bw_mem prints its MB with two or six decimals.
        let printed = figure.params.number("size")?;
        if printed.abs_diff(size) > if size < 1_000_000 { 1 } else { 5001 } {
            return None;
        }
        let both = work.arrays as f64;
        let both_ends = |t: Trial| Trial { value: t.value * both, work: t.work * both, ..t };
        figure.trials = figure.trials.into_iter().map(both_ends).collect();
        // Its numbers have the C type int. It adds them up and stores them one by one.
        let params =
            Params::default().with(key::THREADS, threads).with(key::ISA, Isa::Scalar.name());
        figure.params = params.with(key::WORD, WORD);
        Some(data::figure(self, task, Some(size.checked_mul(threads)?), work.arrays, figure))
    }
}

fn work(test: &str) -> Option<&'static Work> {
    WORKS.iter().find(|work| work.name == test)
}

fn size(task: &Task, work: &Work) -> Option<u64> {
    let each = data::bytes(task, work.arrays)?.checked_div(task.params.threads())?;
    Some(each / work.arrays)
}
