//! lmbench's own stream: the loops of STREAM and STREAM2, on arrays of any size.

use proofmark_model::{Finding, Params, Printed, key};

use super::run;
use crate::figure::MEMORY;
use crate::findings::differ;
use crate::printed::Rounded;
use crate::text::{lines, positive, wrong_if};
use crate::{
    Description, Figure, Installed, Invocation, Malformed, Output, ReferenceRunner, Task, Tool,
    refuse_if, same_work,
};
use crate::{data, place};

pub(crate) struct Stream;

/// The loops by their names, each with the bytes that lmbench counts per element.
static LOOPS: [(&str, f64); 8] = [
    ("STREAM copy", 16.0),
    ("STREAM scale", 16.0),
    ("STREAM add", 24.0),
    ("STREAM triad", 24.0),
    ("STREAM2 fill", 8.0),
    ("STREAM2 copy", 16.0),
    ("STREAM2 daxpy", 24.0),
    ("STREAM2 sum", 8.0),
];

/// The number of loops in a run.
const LOOPS_OF_A_RUN: f64 = 4.0;

impl Tool for Stream {
    fn description(&self) -> &Description {
        &Description {
            id: "lmbench-stream",
            printed: Printed::Mean,
            title: "lmbench stream, Larry McVoy and Carl Staelin",
            package: run::PACKAGE,
            reads: "its text",
            same_work: const {
                &[
                    same_work("STREAM copy", "memory.copy"),
                    same_work("STREAM2 copy", "memory.copy"),
                    same_work("STREAM scale", "memory.scale"),
                    same_work("STREAM add", "memory.add"),
                    same_work("STREAM triad", "memory.triad"),
                    same_work("STREAM2 fill", "memory.write"),
                ]
            },
            about: "Reads what stream of lmbench 3 prints for the loops of STREAM and STREAM2. MB \
                    is 10^6 bytes. It counts the bytes that the loops read and write, over all \
                    processes, as STREAM does. It reports neither the array size nor the duration: \
                    a trial counts as one element, and runs after one another are trials. \
                    proofmark computes the number of processes from bandwidth and latency. \
                    McCalpin's program is the tool stream.",
        }
    }

    fn family(&self) -> &'static str {
        run::FAMILY
    }

    fn recognises(&self, text: &str) -> bool {
        !run::is_results(text) && text.lines().any(|l| value(l, BANDWIDTH).is_some())
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let mut output = Output::default();
        let (mut last, mut element) = (1, None);
        for (at, line) in lines(text) {
            last = at;
            if let Some(((name, _), latency)) = value(line, LATENCY) {
                let ns = latency.strip_suffix(" nanoseconds").map(|ns| Rounded::parse(ns, at));
                element = ns.transpose()?.map(|ns| (*name, ns));
            }
            let Some(((name, bytes), rate)) = value(line, BANDWIDTH) else { continue };
            let Some(rate) = rate.strip_suffix(" MB/sec") else {
                return Err(Malformed::quoting(at, rate, "does not end in MB/sec"));
            };
            let trial = run::megabytes(*bytes, positive(rate, at)?, at)?;
            let title = format!("lmbench {name}");
            let known = element.take().filter(|(of, _)| of == name);
            let known = known.map(|(_, ns)| processes(trial.value, *bytes, ns));
            let params = Params::default().known(key::THREADS, known.clone().and_then(Result::ok));
            let figure = Figure::rate(*name, title, MEMORY, params, trial);
            let findings = known.and_then(Result::err).into_iter().collect();
            output.figures.push(Figure { findings, ..figure });
        }
        wrong_if(output.figures.is_empty(), last, "no bandwidth of lmbench's stream")?;
        Ok(output)
    }
}

const LATENCY: &str = " latency: ";
const BANDWIDTH: &str = " bandwidth: ";

/// Returns the loop of a line with such a value, and the value.
fn value<'a>(line: &'a str, kind: &str) -> Option<(&'static (&'static str, f64), &'a str)> {
    let (label, value) = line.split_once(kind)?;
    Some((LOOPS.iter().find(|l| l.0 == label)?, value))
}

/// Returns the processes that ran the loop: each needed the latency for the bytes of an element.
/// Fails with a finding if the number is not whole, within the digits of the latency.
fn processes(rate: f64, bytes: f64, ns: Rounded) -> Result<u64, Finding> {
    let processes = rate * ns.value / 1e9 / bytes;
    let unsure = processes * (1.02 * ns.off / ns.value + 0.001);
    let whole = processes.round();
    if whole >= 1.0 && (whole - processes).abs() <= unsure && unsure < 0.4 {
        return Ok(whole as u64);
    }
    let what =
        format!("latency x bandwidth is {processes:.2} times the {bytes} bytes of an element");
    Err(differ(what))
}

/// The largest total size of a thread's arrays. With 3 GiB lmbench prints 0, with a little less
/// than 2 GiB it does not end.
const LARGEST: u64 = 1 << 30;

impl ReferenceRunner for Stream {
    fn installed(&self) -> Option<Installed> {
        run::installed("stream", b"STREAM2 daxpy latency")
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        // A run times STREAM's own loops; STREAM2's have other arrays.
        let has = test.starts_with("STREAM ") && LOOPS.iter().any(|l| l.0 == test);
        has.then_some(
            "bytes read and written, as in proofmark, with the instructions that its compiler \
             chose; it verifies nothing, and each thread is a process of its own",
        )
    }

    fn invocation(&self, _: &Installed, task: &Task) -> Result<Invocation, String> {
        run::ordinary_stores(task)?;
        let threads = place::threads(task)?;
        let size = size(task).ok_or("the configuration has no size")?;
        refuse_if(size > LARGEST, "it goes wrong with more than 1 GiB of arrays a thread")?;
        let arguments = format!("-v 1 -M {size} -P {threads} -N 1");
        run::invocation(task, run::lasts_us(task), &arguments)
    }

    fn takes(&self, task: &Task) -> f64 {
        LOOPS_OF_A_RUN * run::takes(task, self.memory(task))
    }

    fn memory(&self, task: &Task) -> u64 {
        size(task).and_then(|s| s.checked_mul(task.params.threads())).unwrap_or(0)
    }

    fn reports_time(&self) -> bool {
        false
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        let figure = output.figures.into_iter().find(|f| f.test == task.test)?;
        let threads = task.params.threads();
        let array = size(task)?.checked_mul(threads)? / ARRAYS;
        let params = Params::default().with(key::THREADS, threads);
        Some(data::figure(self, task, Some(array), ARRAYS, Figure { params, ..figure }))
    }
}

/// The number of arrays, whichever loop uses them.
const ARRAYS: u64 = 3;

fn size(task: &Task) -> Option<u64> {
    let array = data::bytes(task, 1)?.checked_div(task.params.threads())?;
    // Whole numbers of 8 bytes.
    (array - array % 8).checked_mul(ARRAYS)
}
