//! Block operations as in published reports: reading, writing or copying memory block by block, in
//! order of addresses or in random order.

#![allow(unsafe_code)] // Blocks are raw memory.

use std::borrow::Cow;
use std::sync::Arc;

use proofmark_engine::{Configuration, Load, Needs, Placement, Refusal, Setup, Workload};
use proofmark_model::{Access, Host, Parameter, Params, Role, WorkloadSpec, key};

use super::parameters;
use super::stream::op::Op;
use crate::arena::{self, Arena, Pages};
use crate::declare::{Words, auto_size_parameter, in_order, place, size_parameter};
use crate::params::resolved;
use crate::share;

mod body;
mod content;
mod lines;
mod load;
mod order;
#[cfg(test)]
mod reuse;
mod shape;
#[cfg(test)]
mod tests;

use lines::{LINE, Lines};
use shape::Shape;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Read,
    Write,
    Copy,
}

impl Operation {
    /// Returns the data areas of the operation: a copy has a source and a target.
    fn sides(self) -> u64 {
        if self == Self::Copy { 2 } else { 1 }
    }
}

/// One workload of this file.
#[derive(Debug)]
pub struct Blocks {
    spec: &'static WorkloadSpec,
    operation: Operation,
    random: bool,
}

/// Declares a workload: constant, id, title, operation, random order, summary and role.
macro_rules! workloads {
    ($($name:ident = $id:literal $title:literal $operation:ident $random:literal
        $summary:literal, $role:expr;)*) => {
        $(pub static $name: Blocks = {
            const ROLE: Role = $role;
            static SPEC: WorkloadSpec = spec($id, $title, $summary, (Operation::$operation, $random), ROLE);
            Blocks { spec: &SPEC, operation: Operation::$operation, random: $random }
        };)*
    };
}

workloads! {
    READ_WRITE = "memory.read_write" "Memory sequential read and write" Copy false
        "Bytes per second read and written by copying blocks in order of addresses.",
        Role { tables: Cow::Borrowed(&[place("memory_blocks", 1, "Sequential read and write")]), ..Role::NONE };
    RAND_READ_WRITE = "memory.rand_read_write" "Memory random read and write" Copy true
        "Bytes per second read and written by copying blocks in random order.",
        Role { tables: Cow::Borrowed(&[place("memory_blocks", 2, "Random read and write")]), counterparts: Cow::Borrowed(&[in_order("memory.read_write")]), ..Role::NONE };
    SEQ_WRITE = "memory.seq_write" "Memory sequential write" Write false
        "Bytes per second written by filling blocks in order of addresses.",
        Role { tables: Cow::Borrowed(&[place("memory_blocks", 3, "Sequential write")]), ..Role::NONE };
    RAND_WRITE = "memory.rand_write" "Memory random write" Write true
        "Bytes per second written by filling blocks in random order.",
        Role { tables: Cow::Borrowed(&[place("memory_blocks", 4, "Random write")]), counterparts: Cow::Borrowed(&[in_order("memory.seq_write")]), ..Role::NONE };
    SEQ_READ = "memory.seq_read" "Memory sequential read" Read false
        "Bytes per second read from blocks in order of addresses.",
        Role { tables: Cow::Borrowed(&[place("memory_blocks", 5, "Sequential read")]), ..Role::NONE };
    RAND_READ = "memory.rand_read" "Memory random read" Read true
        "Bytes per second read from blocks in random order.",
        Role { tables: Cow::Borrowed(&[place("memory_blocks", 6, "Random read")]), counterparts: Cow::Borrowed(&[in_order("memory.seq_read")]), ..Role::NONE };
}

const PARAMETERS: &[Parameter] = &[
    parameters::THREADS,
    size_parameter(
        key::BLOCK_SIZE,
        "Bytes of a block, the unit of one operation.",
        1..=1 << 30,
        "8192",
    ),
    auto_size_parameter(
        key::DATA_SIZE,
        "Bytes of data over all threads (a copy has as many again as its target); auto: 1 GiB or 4 \
         times the usable cache, whichever is more, and at least one block per thread.",
        1 << 12,
    ),
    parameters::PAGES,
];

/// The text that all `detail` texts share, after a sentence about the workload itself.
macro_rules! detail {
    ($own:literal) => {
        concat!(
            $own,
            " The data is divided into blocks, and the threads share the blocks. Each thread \
             repeats its own blocks. Random order is a permutation: each block comes once per \
             pass. Of blocks of less than 16 bytes it holds a part: four for each line of the \
             data. On a machine with one NUMA node, the random blocks of each thread are spread \
             over all of the data. So more threads do not mean less data per thread. proofmark \
             computes the order before the trials, which go on in it one after the other. So random differs from sequential only by the \
             order and by 4 bytes of index to read per block. Blocks of 1 and 8 bytes are moved by \
             one plain instruction each. Others are moved in vectors of 32 bytes where the CPU has \
             AVX2. Their whole cache lines are written with non-temporal stores, since the data \
             should not fit into a cache. Random blocks below a cache line still cost one line \
             each. The step from 8 bytes to larger blocks is also a change of store type."
        )
    };
}

const fn spec(
    id: &'static str,
    title: &'static str,
    summary: &'static str,
    (operation, random): (Operation, bool),
    role: Role,
) -> WorkloadSpec {
    let detail = match operation {
        Operation::Copy => detail!(
            "Blocks are copied to memory of the same size, as with memcpy. Bytes read and bytes \
             written both count. Verification: afterwards each copied block must equal its source; \
             it differed before."
        ),
        Operation::Write => detail!(
            "Blocks are filled with a byte, as with memset. Verification: afterwards each block \
             must hold the byte of that trial; it differed before."
        ),
        Operation::Read => detail!(
            "All bytes of a block are read and summed, as 8-byte words where possible. \
             Verification: the sum must equal that of the known contents."
        ),
    };
    let access = if random { Access::Random } else { Access::Sequential };
    let traffic = match operation {
        Operation::Read => Op::Read.declared(),
        Operation::Write => Op::Write.declared(),
        Operation::Copy => Op::Copy.declared(),
    };
    let work = parameters::work(access, traffic, parameters::arrays(key::DATA_SIZE), false);
    let words = Words { id, title, summary, detail, method: 2 };
    parameters::rate(words, PARAMETERS, Some(key::BLOCK_SIZE.name()), work, role)
}

impl Workload for Blocks {
    fn spec(&self) -> &'static WorkloadSpec {
        self.spec
    }

    fn resolve_auto(&self, params: Params, host: &Host) -> Vec<Params> {
        vec![resolved(params, key::DATA_SIZE, |params| {
            let enough = parameters::four_times_the_cache(host).max(1 << 30);
            let block = params.get(key::BLOCK_SIZE).unwrap_or(1);
            let least = block.saturating_mul(params.threads());
            enough.min(block.saturating_mul(order::MAX_BLOCKS)).max(least)
        })]
    }

    fn configure(&self, params: &Params) -> Result<Box<dyn Configuration>, Refusal> {
        let pages = parameters::pages(params)?;
        let (shape, operation, random) = (Shape::from_params(params)?, self.operation, self.random);
        Ok(Box::new(Parsed { operation, random, shape, pages }))
    }

    fn verification(&self) -> &'static str {
        match self.operation {
            Operation::Read => "the sum of the bytes read",
            _ => "memory contents after the trial",
        }
    }
}

struct Parsed {
    operation: Operation,
    random: bool,
    shape: Shape,
    pages: Pages,
}

impl Configuration for Parsed {
    fn needs(&self) -> Needs {
        let memory_bytes = self.shape.memory(self.operation, self.random);
        Needs { memory_bytes, ..Needs::default() }
    }

    fn setup(self: Box<Self>) -> Result<Box<dyn Setup>, Refusal> {
        let Self { operation, random, shape, pages } = *self;
        Ok(Box::new(Task::new(operation, random, shape, pages)?))
    }
}

struct Task {
    operation: Operation,
    random: bool,
    shape: Shape,
    arena: Arc<Arena>,
    /// True if set-up must write the data to be read.
    empty: bool,
    /// Lines that the random orders visit, if blocks share lines.
    lines: Option<Lines>,
}

impl Task {
    fn new(
        operation: Operation,
        random: bool,
        shape: Shape,
        pages: Pages,
    ) -> Result<Self, Refusal> {
        let arena = Arena::get(shape.memory(operation, false), pages, shape.threads)?;
        let content = match operation {
            Operation::Write => "blocks, written".to_owned(),
            _ => format!("blocks, {} of multiples", shape.data_size),
        };
        let empty = !arena.holds(&content) && operation != Operation::Write;
        let lines = (random && shape.shares_lines()).then(|| Lines::new(shape.data_size));
        Ok(Self { operation, random, shape, arena, empty, lines })
    }

    /// Creates a thread's part, on that thread.
    fn part(&self, index: u64, of: u64) -> load::BlockLoad {
        let (Shape { block_size, .. }, other_side) = (self.shape, self.shape.other_side() as usize);
        let pieces = self.shape.pieces() as usize;
        // All of it is within the arena, so the numbers fit.
        let blocks = share(self.shape.blocks() as usize, index as usize, of as usize);
        let size = block_size as usize;
        let (offset, bytes) = (blocks.start * size, blocks.len() * size);
        self.arena.place_here(offset, bytes);
        if self.empty {
            // The last thread also fills the remainder, which other block sizes use.
            let end = if index + 1 == of { self.shape.data_size as usize } else { offset + bytes };
            // SAFETY: within the arena, which is aligned. No other thread has this part.
            unsafe { content::fill(self.arena.base(), offset..end) };
        }
        let source = self.arena.base().wrapping_add(offset);
        let mut target = source;
        if self.operation == Operation::Copy {
            self.arena.place_here(other_side + offset, bytes);
            target = target.wrapping_add(other_side);
        }
        let mut part = load::BlockLoad {
            operation: self.operation,
            body: body::body(self.operation, block_size),
            area: body::Area { source, target, size: size / pieces },
            blocks: blocks.len() * pieces,
            pieces,
            offset,
            random: None,
            round_bytes: bytes as u64 * self.cached_sides(),
            _arena: Arc::clone(&self.arena),
            state: load::State::default(),
        };
        part.spoil_all();
        if self.random {
            self.mix(&mut part, index, of);
        }
        part
    }

    /// Gives a part its random order. On a machine with one NUMA node the part is spread over all
    /// of the data. Otherwise more threads would each access less memory and fewer pages, and even
    /// threads that wait for each other would gain speed with their number. The blocks of a part
    /// then lie in memory that other threads fill, so no thread may run before all parts exist.
    fn mix(&self, part: &mut load::BlockLoad, index: u64, of: u64) {
        let mut share = order::Share::new((part.blocks / part.pieces) as u64, 0, 1);
        if arena::nodes() == 1 {
            share = order::Share::new(self.shape.blocks(), index, of);
            part.blocks = self.shape.blocks() as usize * part.pieces;
            part.area.source = part.area.source.wrapping_sub(part.offset);
            part.area.target = part.area.target.wrapping_sub(part.offset);
            part.offset = 0;
        }
        let blocks = self.shape.ordered().min(share.count()) as usize;
        let mut order = order::Permutation::new(share, index).first(blocks, part.pieces);
        let offset = part.offset;
        part.round_bytes = self.cached_sides()
            * match &self.lines {
                Some(lines) => LINE * lines.mark(&order, (offset, self.shape.block_size as usize)),
                None => blocks as u64 * self.shape.block_size,
            };
        load::into_pieces(&mut order, part.pieces);
        part.random = Some(order);
    }

    /// Returns the data areas that pass through the caches: all but a copy's target that is written
    /// past them.
    fn cached_sides(&self) -> u64 {
        if body::streams(self.shape.block_size) { 1 } else { self.operation.sides() }
    }
}

impl Setup for Task {
    fn work_per_iteration(&self) -> f64 {
        (self.shape.piece() * self.operation.sides()) as f64
    }

    fn moved_per_iteration(&self) -> Option<f64> {
        let streams = body::streams(self.shape.block_size);
        let moved = self.shape.moved(self.operation, self.random, streams);
        Some(moved / self.shape.pieces() as f64)
    }

    fn placement(&self) -> Placement {
        self.arena.placement(self.shape.memory(self.operation, false))
    }

    fn thread(&self, index: usize, of: usize) -> Result<Box<dyn Load>, Refusal> {
        Ok(Box::new(self.part(index as u64, of as u64)))
    }
}
