//! `memory.sweep`: bandwidth by working set, from the first cache to memory.

use std::borrow::Cow;

use proofmark_engine::{Kernel, Refusal, Setup};
use proofmark_model::{Better, Host, KernelSpec, Knob, KnobKind, Params, Subsystem, Unit};

use super::knobs;
use super::segment::find;
use super::stream::op::{Op, Stores};
use super::stream::{Layout, Task, loop_for, widest};

/// The kernel `memory.sweep`.
pub struct Sweep;

const OP: Knob = Knob {
    name: Cow::Borrowed("op"),
    about: Cow::Borrowed("What is done to the working set: read it, write it, or copy half of it."),
    kind: KnobKind::Choice(Cow::Borrowed(&[
        Cow::Borrowed("read"),
        Cow::Borrowed("write"),
        Cow::Borrowed("copy"),
    ])),
    default: Cow::Borrowed("read"),
};

const WORKING_SET: Knob = knobs::size_knob(
    "working_set",
    "Bytes that one thread touches, over its arrays; auto: 4 times the last-level cache, \
     divided by the threads.",
    4096,
);

static SPEC: KernelSpec = KernelSpec {
    id: Cow::Borrowed("memory.sweep"),
    title: Cow::Borrowed("Bandwidth by working set"),
    summary: Cow::Borrowed(
        "The rate at which a working set is read, written or copied over and over: that of \
         the cache level that holds it, or of memory.",
    ),
    detail: Cow::Borrowed(
        "The loops and the proof are those of memory.read, memory.write and memory.copy with \
         ordinary stores. Each thread has a working set of its own, for copy one half source \
         and one half destination, and goes over it again and again; trial after trial goes \
         on where the one before stopped. A set that fits into a cache stays there, so the \
         rate against the working set shows one plateau a level. Counted are the bytes read \
         and written. What else moves depends on where the set lies (a line that is written \
         is read first, unless it is in the cache already), so bytes moved are not declared.",
    ),
    subsystem: Subsystem::Memory,
    unit: Unit::BytePerSecond,
    better: Better::Higher,
    knobs: Cow::Borrowed(&[OP, WORKING_SET, knobs::THREADS, knobs::ISA, knobs::PAGES]),
    ceilings: Cow::Borrowed(&[
        Cow::Borrowed("memory.cache"),
        Cow::Borrowed("memory.core"),
        Cow::Borrowed("memory.dram"),
    ]),
    axis: Some(Cow::Borrowed("working_set")),
    interleave: false,
};

const MIB: u64 = 1 << 20;

fn op(params: &Params) -> Result<Op, Refusal> {
    let name = knobs::text(params, "op")?;
    Op::parse(name).ok_or_else(|| Refusal(format!("there is no operation {name}")))
}

fn layout(params: &Params) -> Result<Layout, Refusal> {
    let (op, threads) = (op(params)?, params.threads());
    let part = knobs::size(params, "working_set")? / op.arrays() as u64;
    Layout::new(op, part * threads, threads)
}

fn task(params: &Params) -> Result<Task, Refusal> {
    let op = op(params)?;
    let hot = loop_for(&SPEC.id, find, (op, Stores::Temporal), params)?;
    Ok(Task { op, hot, layout: layout(params)?, pages: knobs::pages(params)?, stores: None })
}

impl Kernel for Sweep {
    fn spec(&self) -> &'static KernelSpec {
        &SPEC
    }

    fn settle(&self, params: Params, host: &Host) -> Vec<Params> {
        let params = knobs::settled(params, "working_set", |p| {
            (knobs::four_times_the_cache(host) / p.threads().max(1)).next_multiple_of(MIB)
        });
        let op = op(&params).unwrap_or(Op::Read);
        vec![knobs::settled(params, "isa", |_| widest(find, op, Stores::Temporal))]
    }

    fn memory_bytes(&self, params: &Params) -> u64 {
        layout(params).map_or(0, |l| l.bytes())
    }

    fn supports(&self, params: &Params) -> Result<(), Refusal> {
        task(params).map(drop)
    }

    fn setup(&self, params: &Params) -> Result<Box<dyn Setup>, Refusal> {
        task(params)?.setup()
    }

    fn witness(&self) -> &'static str {
        "every element read back, or the sum of all"
    }
}
