//! The workloads after STREAM: one operation on long arrays, without reuse.
//!
//! Source: J. D. McCalpin, *Memory Bandwidth and Machine Balance in Current High
//! Performance Computers*, IEEE TCCA Newsletter, December 1995.

pub(crate) mod op;

mod data;
mod layout;
mod load;
mod spec;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use proofmark_engine::{Load, Placement, Refusal, Setup, Workload};
use proofmark_model::{Host, Params, WorkloadSpec};

use super::parameters;
use super::segment::{Loop, find};
use crate::arena::{Arena, Pages};
use crate::cpu::isa::Isa;
use crate::params::{int, resolved};
pub(super) use layout::Layout;
use load::StreamLoad;
use op::{Op, Stores};
#[cfg(debug_assertions)]
pub(crate) use spec::STORING;

/// A workload that does one operation on whole arrays.
pub struct Stream {
    spec: &'static WorkloadSpec,
    op: Op,
    find: Find,
}

pub(crate) type Find = fn(Op, Stores, Isa) -> Option<Loop>;

pub static COPY: Stream = Stream { spec: &spec::COPY, op: Op::Copy, find };
pub static SCALE: Stream = Stream { spec: &spec::SCALE, op: Op::Scale, find };
pub static ADD: Stream = Stream { spec: &spec::ADD, op: Op::Add, find };
pub static TRIAD: Stream = Stream { spec: &spec::TRIAD, op: Op::Triad, find };
pub static READ: Stream = Stream { spec: &spec::READ, op: Op::Read, find };
pub static WRITE: Stream = Stream { spec: &spec::WRITE, op: Op::Write, find };

impl Stream {
    /// The same as `memory.copy` under another name and with other loops.
    #[cfg(debug_assertions)]
    pub(crate) const fn copy_with(spec: &'static WorkloadSpec, find: Find) -> Self {
        Self { spec, op: Op::Copy, find }
    }

    fn stores(&self, params: &Params) -> Result<Stores, Refusal> {
        if !self.op.stores() {
            return Ok(Stores::Temporal);
        }
        parameters::stores(params)
    }

    fn layout(&self, params: &Params) -> Result<Layout, Refusal> {
        Layout::new(self.op, int(params, "array_size")?, params.threads())
    }

    fn task(&self, params: &Params) -> Result<Task, Refusal> {
        let stores = self.stores(params)?;
        let hot = loop_for(&self.spec.id, self.find, (self.op, stores), params)?;
        let layout = self.layout(params)?;
        Ok(Task {
            op: self.op,
            hot,
            layout,
            pages: parameters::pages(params)?,
            stores: Some(stores),
        })
    }
}

impl Workload for Stream {
    fn spec(&self) -> &'static WorkloadSpec {
        self.spec
    }

    fn resolve_auto(&self, params: Params, host: &Host) -> Vec<Params> {
        let params = resolved(params, "array_size", |_| parameters::four_times_the_cache(host));
        let past_the_caches = |p: &Params| {
            let isas = Isa::ALL.into_iter().filter(|i| i.is_supported());
            let asked = Isa::from_params(p).ok();
            let mut isas = isas.filter(|i| asked.is_none_or(|a| a == *i));
            isas.any(|i| (self.find)(self.op, Stores::NonTemporal, i).is_some())
        };
        let params = resolved(params, "stores", |p| {
            let stores = if past_the_caches(p) { Stores::NonTemporal } else { Stores::Temporal };
            stores.name()
        });
        let stores = self.stores(&params).unwrap_or(Stores::Temporal);
        vec![resolved(params, "isa", |_| widest(self.find, self.op, stores))]
    }

    fn memory_bytes(&self, params: &Params) -> u64 {
        self.layout(params).map_or(0, |l| l.bytes())
    }

    fn supports(&self, params: &Params) -> Result<(), Refusal> {
        self.task(params).map(drop)
    }

    fn setup(&self, params: &Params) -> Result<Box<dyn Setup>, Refusal> {
        self.task(params)?.setup()
    }

    fn verification(&self) -> &'static str {
        verification(self.op)
    }
}

pub(super) fn verification(op: Op) -> &'static str {
    if op.stores() { "every element read back" } else { "the sum of all elements" }
}

/// The widest instruction set here that has such a loop.
pub(super) fn widest(find: Find, op: Op, stores: Stores) -> &'static str {
    let has = |isa: &Isa| isa.is_supported() && find(op, stores, *isa).is_some();
    Isa::ALL.into_iter().rev().find(has).unwrap_or(Isa::Scalar).name()
}

/// The loop for the instruction set of the `isa` parameter.
pub(super) fn loop_for(
    workload: &str,
    find: Find,
    (op, stores): (Op, Stores),
    params: &Params,
) -> Result<Loop, Refusal> {
    let isa = Isa::from_params(params)?;
    find(op, stores, isa).ok_or_else(|| {
        let (isa, stores) = (isa.name(), stores.name());
        Refusal(format!("{workload} has no {isa} loop with {stores} stores on this architecture"))
    })
}

/// A point, looked at and found possible.
pub(super) struct Task {
    pub(super) op: Op,
    pub(super) hot: Loop,
    pub(super) layout: Layout,
    pub(super) pages: Pages,
    /// How the lines reach memory; `None` where it depends on the size of the set
    /// whether they do.
    pub(super) stores: Option<Stores>,
}

impl Task {
    pub(super) fn setup(self) -> Result<Box<dyn Setup>, Refusal> {
        let arena = Arena::get(self.layout.bytes(), self.pages, self.layout.threads)?;
        let fill = !arena.holds(&self.content());
        Ok(Box::new(Ready { task: self, arena, fill }))
    }

    /// What the arena holds once it is filled: the same for points whose sources are at
    /// the same places.
    fn content(&self) -> String {
        format!("stream: the last {} of {}", self.op.sources(), self.layout.describe())
    }

    /// Bytes counted in an iteration, as read and as written.
    fn counted(&self) -> (u64, u64) {
        let segment = self.layout.segment;
        (segment * self.op.sources() as u64, segment * u64::from(self.op.stores()))
    }
}

struct Ready {
    task: Task,
    arena: Arc<Arena>,
    /// Whether the arrays have to be filled first.
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

    fn placement(&self) -> Placement {
        self.arena.placement(self.task.layout.bytes())
    }

    fn thread(&self, index: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        let Task { op, hot, layout, .. } = &self.task;
        let mut part = StreamLoad::new((*op, *hot), &self.arena, layout, index as u64, self.fill);
        if self.task.stores.is_none() {
            part.keep_in_cache();
        }
        Ok(Box::new(part))
    }
}
