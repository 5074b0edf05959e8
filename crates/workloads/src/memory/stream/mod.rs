//! The workloads modelled on STREAM: one operation on long arrays, without reuse.
//!
//! Source: J. D. McCalpin, *Memory Bandwidth and Machine Balance in Current High
//! Performance Computers*, IEEE TCCA Newsletter, December 1995.

pub(crate) mod op;

mod data;
mod layout;
mod load;
mod spec;
mod sweep;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use proofmark_engine::{Configuration, Load, Needs, Placement, Refusal, Setup, Workload};
use proofmark_model::{Host, Params, WorkloadSpec, key};

use super::loops::find;
use super::parameters;
use super::segment::Loop;
use crate::arena::{self, Arena, Pages};
use crate::cpu::isa::{Isa, OnThisCpu};
use crate::params::{choice, required, resolved};
use layout::Layout;
use load::StreamLoad;
use op::{Op, Stores};
#[cfg(feature = "faults")]
pub(crate) use spec::STORING;

/// A workload that applies one operation to whole arrays.
pub struct Stream {
    pub(crate) spec: &'static WorkloadSpec,
    /// The operation. `None`: the parameters name it, and each thread has its own working set.
    pub(crate) op: Option<Op>,
    pub(crate) find: fn(Op, Stores, Isa) -> Option<Loop>,
}

pub static COPY: Stream = Stream { spec: &spec::COPY, op: Some(Op::Copy), find };
pub static SCALE: Stream = Stream { spec: &spec::SCALE, op: Some(Op::Scale), find };
pub static ADD: Stream = Stream { spec: &spec::ADD, op: Some(Op::Add), find };
pub static TRIAD: Stream = Stream { spec: &spec::TRIAD, op: Some(Op::Triad), find };
pub static READ: Stream = Stream { spec: &spec::READ, op: Some(Op::Read), find };
pub static WRITE: Stream = Stream { spec: &spec::WRITE, op: Some(Op::Write), find };
pub static SWEEP: Stream = Stream { spec: &sweep::SWEEP, op: None, find };

const MIB: u64 = 1 << 20;

impl Stream {
    fn op(&self, params: &Params) -> Result<Op, Refusal> {
        let swept = || {
            choice(params, key::OPERATION, &[Op::Read, Op::Write, Op::Copy].map(|o| (o.name(), o)))
        };
        self.op.map_or_else(swept, Ok)
    }

    fn stores(&self, params: &Params) -> Result<Stores, Refusal> {
        match self.op {
            Some(op) if op.stores() => parameters::stores(params),
            _ => Ok(Stores::Temporal),
        }
    }

    fn layout(&self, params: &Params) -> Result<Layout, Refusal> {
        let (op, threads) = (self.op(params)?, params.threads());
        let size = match self.op {
            Some(_) => required(params, key::ARRAY_SIZE)?,
            None => required(params, key::WORKING_SET)? / op.arrays() as u64 * threads,
        };
        match self.op {
            Some(_) => Layout::shared(op, size, threads),
            None => Layout::new(op, size, threads),
        }
    }

    fn task(&self, params: &Params) -> Result<Task, Refusal> {
        let (op, stores, isa) =
            (self.op(params)?, self.stores(params)?, Isa::for_this_cpu(params)?);
        let hot = (self.find)(op, stores, isa).ok_or_else(|| {
            let (id, isa, stores) = (&self.spec.id, isa.name(), stores.name());
            Refusal(format!("{id} has no {isa} loop with {stores} stores on this architecture"))
        })?;
        let layout = self.layout(params)?;
        let stores = self.op.map(|_| stores);
        Ok(Task { op, hot, layout, pages: parameters::pages(params)?, stores })
    }
}

impl Workload for Stream {
    fn spec(&self) -> &'static WorkloadSpec {
        self.spec
    }

    fn resolve_auto(&self, params: Params, host: &Host) -> Vec<Params> {
        let enough = parameters::four_times_the_cache(host);
        let params = resolved(params, key::ARRAY_SIZE, |_| enough);
        let params = resolved(params, key::WORKING_SET, |p| {
            (enough / p.threads().max(1)).next_multiple_of(MIB)
        });
        let op = self.op(&params).unwrap_or(Op::Read);
        // The widest instruction set first.
        let has = |stores, isa: &Isa| isa.is_supported() && (self.find)(op, stores, *isa).is_some();
        let isas = || Isa::ALL.into_iter().rev();
        let params = resolved(params, key::STORES, |p| {
            let asked = Isa::for_this_cpu(p).ok();
            let mut isas = isas().filter(|i| asked.is_none_or(|a| a == *i));
            let past = isas.any(|i| has(Stores::NonTemporal, &i));
            let stores = if past { Stores::NonTemporal } else { Stores::Temporal };
            stores.name()
        });
        let stores = self.stores(&params).unwrap_or(Stores::Temporal);
        vec![resolved(params, key::ISA, |_| {
            isas().find(|isa| has(stores, isa)).unwrap_or(Isa::Scalar).name()
        })]
    }

    fn configure(&self, params: &Params) -> Result<Box<dyn Configuration>, Refusal> {
        Ok(Box::new(self.task(params)?))
    }

    fn verification(&self) -> &'static str {
        match self.op {
            None => "every element read back, or the sum of all",
            Some(Op::Read) => "the sum of all elements",
            Some(_) => "every element read back",
        }
    }
}

/// A configuration whose parameters were checked.
struct Task {
    op: Op,
    hot: Loop,
    layout: Layout,
    pages: Pages,
    /// The kind of stores, or `None` where the size of the set decides whether lines reach memory.
    stores: Option<Stores>,
}

impl Configuration for Task {
    fn needs(&self) -> Needs {
        let (memory_bytes, shared_memory) = (self.layout.bytes(), Some(self.content()));
        Needs { memory_bytes, shared_memory, ..Needs::default() }
    }

    fn setup(self: Box<Self>) -> Result<Box<dyn Setup>, Refusal> {
        let Layout { threads, .. } = self.layout;
        let (arena, holds) =
            Arena::shared(&self.content(), self.layout.bytes(), self.pages, threads)?;
        Ok(Box::new(Ready { task: *self, arena, fill: !holds }))
    }
}

impl Task {
    /// Describes the contents of the filled arena. Equal for configurations with the sources at the
    /// same places and on the same nodes.
    fn content(&self) -> String {
        let Layout { threads, .. } = self.layout;
        let (dst, layout) = (self.layout.dst.is_some(), self.layout.describe());
        let split = arena::split(threads);
        match self.layout.is_shared() {
            true => format!("stream: all of {layout}, split {split}"),
            false => format!("stream: {dst} {layout}, split {split}"),
        }
    }

    /// Returns the bytes read and written in an iteration, as counted.
    fn counted(&self) -> (u64, u64) {
        let segment = self.layout.segment;
        (segment * self.op.sources() as u64, segment * u64::from(self.op.stores()))
    }
}

struct Ready {
    task: Task,
    arena: Arc<Arena>,
    /// True if the arrays must be filled first.
    fill: bool,
}

impl Setup for Ready {
    fn work_per_iteration(&self) -> f64 {
        let (read, written) = self.task.counted();
        (read + written) as f64
    }

    fn moved_per_iteration(&self) -> Option<f64> {
        let (read, written) = self.task.counted();
        let allocated = match self.task.stores? {
            Stores::Temporal => written,
            Stores::NonTemporal => 0,
        };
        Some((read + written + allocated) as f64)
    }

    /// Returns half of an array. It is 4 times the caches, so no data of other operations stays in
    /// them.
    fn ahead_iterations(&self) -> u64 {
        if self.task.layout.is_shared() { self.task.layout.segments / 2 } else { 0 }
    }

    fn placement(&self) -> Placement {
        self.arena.placement(self.task.layout.bytes())
    }

    fn thread(&self, index: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        let Task { op, hot, layout, .. } = &self.task;
        let stores = self.task.stores.unwrap_or(Stores::Temporal);
        let mut part =
            StreamLoad::new((*op, *hot, stores), &self.arena, layout, index as u64, self.fill);
        if self.task.stores.is_none() {
            // The set may fit into a cache, so lines written by verification stay there.
            part.erase = None;
        }
        Ok(Box::new(part))
    }
}
