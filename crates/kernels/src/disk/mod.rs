//! Disk kernels: what the device does, not what the page cache remembers.
//!
//! `spec` declares them, `shape` turns knobs into numbers. `file` lays out the test file,
//! `content` says what every byte of it is, `order` which block comes next, `extents` what
//! of it is written or cached. `engine` gets I/Os to the system, `feed` gives it those of
//! one thread, `load` and `fsync` are the work that is timed, `readback` checks what was
//! written.

use std::sync::Arc;

use proofmark_engine::{Kernel, Refusal, Setup};
use proofmark_model::{Host, KernelSpec, Params};

mod buffers;
mod content;
mod engine;
mod extents;
mod feed;
mod file;
mod fsync;
mod load;
mod order;
mod readback;
mod shape;
mod spec;

pub use fsync::Fsync;
#[cfg(debug_assertions)]
pub(crate) use {feed::Lapses, file::TestFile};

pub(crate) use load::Making;
use load::{Blocks, Task};
use order::Order;
pub(crate) use shape::Operation;
use shape::Shape;

/// Who else counts what is read and written.
const WITNESS: &str = "device sectors";

/// A kernel that reads or writes blocks of one file.
#[derive(Debug)]
pub struct Disk {
    spec: &'static KernelSpec,
    operation: Operation,
    order: Order,
    making: Making,
}

/// Declares a kernel: its name here, id, title, operation, whether it is random, summary.
macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident = $id:literal $title:literal $operation:ident $order:ident
        $summary:literal;)*) => {
        $($(#[$doc])*
        pub static $name: Disk = {
            const RANDOM: bool = matches!(Order::$order, Order::Rand);
            static SPEC: KernelSpec =
                spec::blocks($id, $title, $summary, Operation::$operation, RANDOM);
            Disk {
                spec: &SPEC,
                operation: Operation::$operation,
                order: Order::$order,
                making: Making::HONEST,
            }
        };)*
    };
}

kernels! {
    /// `disk.seq_read`.
    SEQ_READ = "disk.seq_read" "Sequential read" Read Seq
        "Bytes a second read from a file in order of offsets.";
    /// `disk.seq_write`.
    SEQ_WRITE = "disk.seq_write" "Sequential write" Write Seq
        "Bytes a second written to a file in order of offsets.";
    /// `disk.read_write`.
    READ_WRITE = "disk.read_write" "Sequential read and write" Copy Seq
        "Bytes a second read from one half of a file and written to the other, in order of offsets.";
    /// `disk.rand_read`.
    RAND_READ = "disk.rand_read" "Random read" Read Rand
        "Bytes a second read from a file in random order.";
    /// `disk.rand_write`.
    RAND_WRITE = "disk.rand_write" "Random write" Write Rand
        "Bytes a second written to a file in random order.";
    /// `disk.mixed`.
    MIXED = "disk.mixed" "Mixed random read and write" Mixed Rand
        "Bytes a second read and written in random order, 70 % of them read by default.";
}

#[cfg(debug_assertions)]
impl Disk {
    /// A random kernel that is made otherwise than its knobs say.
    pub(crate) const fn planted(
        spec: &'static KernelSpec,
        operation: Operation,
        making: Making,
    ) -> Self {
        Self { spec, operation, order: Order::Rand, making }
    }

    /// The declaration of such a kernel.
    pub(crate) const fn planted_spec(
        id: &'static str,
        summary: &'static str,
        operation: Operation,
    ) -> KernelSpec {
        spec::blocks(id, "Fault", summary, operation, true)
    }
}

impl Kernel for Disk {
    fn spec(&self) -> &'static KernelSpec {
        self.spec
    }

    fn settle(&self, params: Params, host: &Host) -> Vec<Params> {
        shape::settle(self.operation, params, host)
    }

    fn memory_bytes(&self, params: &Params) -> u64 {
        Shape::of(self.operation, params).map_or(0, |s| s.memory_bytes())
    }

    fn disk_bytes(&self, params: &Params) -> u64 {
        Shape::of(self.operation, params).map_or(0, |s| s.file_size)
    }

    fn supports(&self, params: &Params) -> Result<(), Refusal> {
        match Shape::of(self.operation, params)?.engine {
            engine::Kind::Psync => Ok(()),
            engine::Kind::Uring => engine::allowed(),
        }
    }

    fn setup(&self, params: &Params) -> Result<Box<dyn Setup>, Refusal> {
        let shape = Shape::of(self.operation, params)?;
        let task = Task::new((self.operation, self.order), shape, self.making)?;
        Ok(Box::new(Blocks(Arc::new(task))))
    }

    fn witness(&self) -> &'static str {
        WITNESS
    }

    fn nominal_seconds(&self, params: &Params) -> Option<f64> {
        Shape::of(self.operation, params).ok()?.nominal_seconds()
    }
}
