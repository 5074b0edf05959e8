//! lat_mem_rd: the time of a load by the size of the working set.

use std::collections::BTreeMap;

use proofmark_model::{Better, Params, Printed, Subsystem, Trial, Unit, is_quantity, key, word};

use super::run;
use crate::data;
use crate::text::{columns, lines, positive, whole, wrong_if};
use crate::{
    Description, Figure, Installed, Invocation, Malformed, Output, ReferenceRunner, Task, Tool,
    refuse_if, same_work,
};

pub(crate) struct Latency;

/// The test of an output, which does not report its order.
const ANY_ORDER: &str = "lat_mem_rd";

const RANDOM: &str = "lat_mem_rd -t";

/// The bytes of a line. The walks of proofmark and lat_mem_rd have one pointer per line.
const LINE: u64 = 64;

/// The smallest set that it measures; every other is a multiple.
const LEAST: u64 = 512;

const MIB: f64 = 1_048_576.0;

/// The largest set, in bytes, that an L1 TLB covers with 64 base pages of 4 KiB.
const HELD: u64 = 256 << 10;

/// The smallest set, in bytes, with at most an eighth before the first or after the last huge page
/// of 2 MiB.
const HUGE: u64 = 16 << 20;

impl Tool for Latency {
    fn description(&self) -> &Description {
        &Description {
            id: "lmbench",
            printed: Printed::Mean,
            title: "lmbench lat_mem_rd, Larry McVoy and Carl Staelin",
            package: run::PACKAGE,
            reads: "its text",
            same_work: const { &[same_work("lat_mem_rd -t", "memory.latency")] },
            about: "Reads what lat_mem_rd of lmbench 3 prints: for each stride, sizes in MB of \
                    2^20 bytes and nanoseconds per load. Each load gives the address of the next. \
                    lat_mem_rd does not report whether the order was random (-t), so the test is \
                    lmbench.lat_mem_rd. Several runs of a stride may differ in it: each becomes a \
                    figure, by its number (run=2). The fastest of its repetitions is the one \
                    trial. It does not report the number of loads: a trial counts as one.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        !run::is_results(text) && text.lines().any(|line| stride(line).is_some())
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let (mut output, mut now, mut last) = (Output::default(), None, 1);
        let mut runs = BTreeMap::<u64, u64>::new();
        for (at, line) in lines(text) {
            last = at;
            if let Some(stride) = stride(line) {
                let stride = whole(stride.trim(), at)?;
                let run = runs.entry(stride).or_default();
                *run += 1;
                now = Some((stride, *run));
                continue;
            }
            // A line that begins with no digit ends the sizes of a stride.
            now = now.filter(|_| line.trim_start().starts_with(|c: char| c.is_ascii_digit()));
            let Some((stride, run)) = now else {
                let is_number = |word: &str| word.parse::<f64>().is_ok();
                let is_size =
                    columns::<2>(line).is_some_and(|both| both.into_iter().all(is_number));
                let lost = is_size && !runs.is_empty();
                wrong_if(lost, at, "this size and time follow the end of their stride")?;
                continue;
            };
            let [size, ns] =
                columns(line).ok_or_else(|| Malformed::quoting(at, line, "is no size and time"))?;
            let load = Trial::new(Unit::Second, 1.0, positive(ns, at)? / 1e9);
            wrong_if(!is_quantity(load.seconds), at, "the time is out of range")?;
            let params = Params::default()
                .with(key::WORKING_SET, bytes(positive(size, at)?))
                .with_named("stride", stride)
                .with_named("run", run);
            let what = (Subsystem::Memory, Unit::Second);
            let figure = Figure::rate(ANY_ORDER, ANY_ORDER, what, params, load);
            output.figures.push(Figure { better: Better::Lower, ..figure });
        }
        wrong_if(output.figures.is_empty(), last, "no sizes and times of lat_mem_rd")?;
        // Runs of the same stride may differ in their order. A single run needs no number.
        if runs.values().all(|runs| *runs == 1) {
            output.figures.iter_mut().for_each(|f| f.params.0.retain(|name, _| name != "run"));
        }
        Ok(output)
    }
}

/// Returns the stride in a line such as `"stride=64`.
fn stride(line: &str) -> Option<&str> {
    line.strip_prefix("\"stride=")
}

/// Returns the bytes of a size printed with five decimals. All sizes are multiples of the smallest.
fn bytes(mib: f64) -> u64 {
    const LOST: f64 = 0.000_005_1 * MIB;
    let bytes = mib * MIB;
    let whole = (bytes / LEAST as f64).round() * LEAST as f64;
    if (whole - bytes).abs() <= LOST { whole as u64 } else { bytes.round() as u64 }
}

impl ReferenceRunner for Latency {
    fn installed(&self) -> Option<Installed> {
        run::installed("lat_mem_rd", b"[-t] len [stride...]")
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        (test == RANDOM).then_some(
            "the time of a load, as in proofmark, of a walk over all pages in random order, one \
             line on each, then the next; its order is its own, and it verifies nothing",
        )
    }

    fn invocation(&self, _: &Installed, task: &Task) -> Result<Invocation, String> {
        refuse_if(task.params.get(key::ORDER) != Some(word::RAND), "it supports order=rand only")?;
        let set = data::bytes(task, 1).ok_or("the configuration has no size")?;
        refuse_if(!is_measured(set), "it measures sets of 2^n and 3 x 2^n bytes only")?;
        if task.params.get(key::PAGES) == Some(word::HUGE) && (HELD + 1..HUGE).contains(&set) {
            return Err("its memory has no alignment, so a set below 16 MiB is in base \
                        pages: set pages=small"
                .to_owned());
        }
        let len = i32::try_from(set.div_ceil(1 << 20)).map_err(|_| "its sets are smaller")?;
        run::invocation(task, 1e5, &format!("-N 1 -t {len} {LINE}"))
    }

    fn takes(&self, task: &Task) -> f64 {
        // lat_mem_rd first measures every smaller set. A size takes 0.15 s; large sets also some
        // passes of slow loads.
        const LOAD_S: f64 = 150e-9;
        const PASSES: f64 = 6.0;
        let set = data::bytes(task, 1).unwrap_or(LEAST).max(1 << 20) as f64;
        let sizes = 2.0 * (set / LEAST as f64).log2();
        // 1 + 2/3 + 1/2 + 1/3 ... of the last one.
        0.15 * sizes + PASSES * 3.3 * set / LINE as f64 * LOAD_S
    }

    fn memory(&self, task: &Task) -> u64 {
        let set = data::bytes(task, 1).unwrap_or(0);
        // A number for each page, in two orders.
        set.checked_next_multiple_of(1 << 20).map_or(u64::MAX, |set| set.saturating_add(set / 256))
    }

    fn reports_time(&self) -> bool {
        false
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        let set = data::bytes(task, 1)?;
        let same = |f: &Figure| {
            f.params.get(key::WORKING_SET) == Some(set) && f.params.number("stride") == Some(LINE)
        };
        let found = output.figures.into_iter().find(same)?;
        let mut figure = data::figure(self, task, Some(set), 1, found);
        figure.params = figure.params.with(key::ORDER, word::RAND);
        Some(figure)
    }
}

/// Returns true if lat_mem_rd measures a set of this many bytes. Every version measures powers of
/// two and the sizes halfway between, some measure more.
fn is_measured(bytes: u64) -> bool {
    let odd = bytes >> bytes.trailing_zeros().min(63);
    bytes >= 4096 && (odd == 1 || odd == 3)
}
