//! Disk workloads: they measure the device, not the page cache.
//!
//! `spec` declares the workloads, and `shape` turns parameters into numbers. `file` creates the
//! test file, `content` defines every byte of it, `order` the sequence of blocks, and `extents`
//! shows what is written or cached. `engine` submits I/Os, and `feed` generates those of one
//! thread. `load` and `fsync` are the timed work, `readback` verifies written data, and `seen`
//! collects the threads' reports of a trial. `faults` plants faults for the tests of the checks.

use std::borrow::Cow;
use std::sync::Arc;

use proofmark_engine::{Configuration, Needs, Refusal, Setup, Workload};
use proofmark_model::{Host, Params, Pick, PickedValue, Role, WorkloadSpec, key, word};

use crate::declare::{ALL_CPUS, ONE_CPU, alternative, in_order, main_row, pick, pick_value, place};

mod buffers;
mod content;
mod engine;
mod extents;
#[cfg(feature = "faults")]
pub(crate) mod faults;
mod feed;
mod file;
mod fsync;
mod load;
mod order;
mod readback;
mod seen;
mod shape;
mod spec;
mod tool_file;

use fsync::Commits;
use load::{Blocks, Task};
use order::Order;
use shape::{Operation, Shape};
pub use tool_file::ToolFile;

/// A workload that reads or writes blocks of files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Disk {
    spec: &'static WorkloadSpec,
    operation: Operation,
    order: Order,
    /// The planted fault.
    #[cfg(feature = "faults")]
    fault: Option<faults::Fault>,
}

/// The result that represents a disk bypasses the page cache, and its written data are flushed.
const DIRECT: Pick = pick_value(key::DIRECT, word::ON);
const FLUSHED: Pick = pick_value(key::FLUSH, word::END);
/// A cache behind the device may hold a small file.
const LARGE: Pick = pick(key::FILE_SIZE, PickedValue::Largest);
const COLD: Pick = pick_value(key::CACHE, word::COLD);
const ONE_AT_A_TIME: Pick = pick(key::QUEUE_DEPTH, PickedValue::Smallest);
/// A commit as most programs make it.
const APPENDED: Pick = pick_value(key::MODE, word::APPEND);
const BY_FDATASYNC: Pick = pick_value(key::METHOD, word::FDATASYNC);
const DEEP: Pick = pick(key::QUEUE_DEPTH, PickedValue::Largest);

/// Declares a workload: constant, id, title, operation, order, summary and role.
macro_rules! workloads {
    ($($name:ident = $id:literal $title:literal $operation:ident $order:ident
        $summary:literal, $role:expr;)*) => {
        $(pub(crate) static $name: Disk = {
            const ROLE: Role = $role;
            const RANDOM: bool = matches!(Order::$order, Order::Rand);
            static SPEC: WorkloadSpec =
                spec::blocks(($id, $title, $summary), Operation::$operation, RANDOM, ROLE);
            Disk {
                spec: &SPEC,
                operation: Operation::$operation,
                order: Order::$order,
                #[cfg(feature = "faults")]
                fault: None,
            }
        };)*
    };
}

workloads! {
    SEQ_READ = "disk.seq_read" "Sequential read" Read Seq
        "Bytes per second read from a file in order of offsets.",
        Role {
            main_rows: Cow::Borrowed(
                const { &[main_row(1, "Sequential read", const { &[DEEP, ALL_CPUS, DIRECT, COLD, LARGE] })] },
            ),
            tables: Cow::Borrowed(&[
                place("disk_blocks", 1, "Sequential read"),
            ]),
            ..Role::NONE
        };
    SEQ_WRITE = "disk.seq_write" "Sequential write" Write Seq
        "Bytes per second written to a file in order of offsets.",
        Role {
            main_rows: Cow::Borrowed(
                const { &[main_row(2, "Sequential write", const { &[DEEP, ALL_CPUS, DIRECT, COLD, LARGE, FLUSHED] })] },
            ),
            tables: Cow::Borrowed(&[
                place("disk_blocks", 3, "Sequential write"),
            ]),
            counterparts: Cow::Borrowed(&[alternative("disk.seq_read", &[Cow::Borrowed(key::FLUSH.name())])]),
            ..Role::NONE
        };
    READ_WRITE = "disk.read_write" "Sequential read and write" Copy Seq
        "Bytes per second read from one half of a file and written to the other, in order of offsets.",
        Role { tables: Cow::Borrowed(&[place("disk_blocks", 5, "Sequential read and write")]), ..Role::NONE };
    RAND_READ = "disk.rand_read" "Random read" Read Rand
        "Bytes per second read from a file in random order.",
        Role {
            main_rows: Cow::Borrowed(
                const {
                    &[
                        main_row(3, "Random read", const { &[ONE_AT_A_TIME, ONE_CPU, DIRECT, COLD, LARGE] }),
                        main_row(4, "Random read", const { &[DEEP, ALL_CPUS, DIRECT, COLD, LARGE] }),
                    ]
                },
            ),
            tables: Cow::Borrowed(&[
                place("disk_blocks", 2, "Random read"),
            ]),
            counterparts: Cow::Borrowed(&[in_order("disk.seq_read")]),
            ..Role::NONE
        };
    RAND_WRITE = "disk.rand_write" "Random write" Write Rand
        "Bytes per second written to a file in random order.",
        Role {
            main_rows: Cow::Borrowed(
                const {
                    &[
                        main_row(5, "Random write", const { &[DEEP, ALL_CPUS, DIRECT, COLD, LARGE, FLUSHED] }),
                    ]
                },
            ),
            tables: Cow::Borrowed(&[
                place("disk_blocks", 4, "Random write"),
            ]),
            counterparts: Cow::Borrowed(&[in_order("disk.seq_write")]),
            ..Role::NONE
        };
    MIXED = "disk.mixed" "Mixed random read and write" Mixed Rand
        "Bytes per second read and written in random order; 70 % of the I/Os read by default.",
        Role::NONE;
    FSYNC = "disk.fsync" "Commit" Commit Seq
        "Writes to a file, each durable before the next, per second.",
        Role {
            main_rows: Cow::Borrowed(const { &[main_row(6, "Commit", const { &[APPENDED, BY_FDATASYNC] })] }),
            ..Role::NONE
        };
}

impl Workload for Disk {
    fn spec(&self) -> &'static WorkloadSpec {
        self.spec
    }

    fn resolve_auto(&self, params: Params, host: &Host) -> Vec<Params> {
        shape::resolve_auto(self.operation, params, host)
    }

    fn configure(&self, params: &Params) -> Result<Box<dyn Configuration>, Refusal> {
        let shape = Shape::from_params(self.operation, params)?;
        Ok(Box::new(Parsed { workload: *self, shape }))
    }

    fn verification(&self) -> &'static str {
        "device sectors"
    }
}

struct Parsed {
    workload: Disk,
    shape: Shape,
}

impl Configuration for Parsed {
    fn needs(&self) -> Needs {
        let shape = &self.shape;
        let commits = self.workload.operation == Operation::Commit;
        let files = if commits { shape.threads } else { 1 };
        Needs {
            memory_bytes: shape.memory_bytes(),
            disk_bytes: files.saturating_mul(shape.file_size),
            disk_write_share: 1.0 - shape.reads as f64 / 100.0,
            fixed_s: shape.fixed_s(),
            ..Needs::default()
        }
    }

    fn supports_on(&self, host: &Host) -> Result<(), Refusal> {
        let io_uring = &host.limits.io_uring;
        if self.shape.engine.queues() && io_uring.get() == Some(&false) {
            return Err(Refusal(format!("the system refuses io_uring: {}", io_uring.origin())));
        }
        Ok(())
    }

    fn setup(self: Box<Self>) -> Result<Box<dyn Setup>, Refusal> {
        let Self { workload: Disk { operation, order, .. }, shape } = *self;
        #[cfg(feature = "faults")]
        if let Some(fault) = self.workload.fault {
            return Ok(Box::new(Blocks(Arc::new(fault.task((operation, order), shape)?))));
        }
        Ok(match operation {
            Operation::Commit => Box::new(Commits::new(shape)),
            _ => Box::new(Blocks(Arc::new(Task::new((operation, order), shape)?))),
        })
    }
}
