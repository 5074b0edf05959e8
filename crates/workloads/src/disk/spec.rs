//! What the disk workloads declare: parameters, units, explanations.

use std::borrow::Cow;

use proofmark_model::{
    AUTO, Access, Pace, Parameter, ParameterKind, Role, Subsystem, Unit, Work, WorkloadSpec,
};

use super::engine;
use super::shape::Operation;
use crate::declare::{
    Words, choice, parameter, place, rate, size_parameter, threads_parameter, tool_test,
};

const THREADS: Parameter = threads_parameter(
    "Threads, each with its own part of the file; they run where the scheduler puts them.",
    "1",
);

const READS: Parameter = parameter(
    "reads",
    "Percent of the I/Os that read; the others write.",
    ParameterKind::Count { min: 0, max: 100 },
    "70",
);

const ENGINE: Parameter = parameter("engine", engine::ABOUT, choice(engine::NAMES), AUTO);

const DIRECT: Parameter = parameter(
    "direct",
    "Past the page cache (on) or through it (off); auto: on where the block_size is a multiple \
     of the device's sector.",
    choice(&[Cow::Borrowed("on"), Cow::Borrowed("off")]),
    AUTO,
);

const CACHE: Parameter = parameter(
    "cache",
    "What the page cache holds of the file before each trial: nothing (cold), all of it (warm), \
     or, for direct I/O, nothing that counts (none); auto: none, and for buffered I/O cold and \
     warm, as two points.",
    choice(&[Cow::Borrowed("none"), Cow::Borrowed("cold"), Cow::Borrowed("warm")]),
    AUTO,
);

const FLUSH: Parameter = parameter(
    "flush",
    "Whether each thread ends its work with an fdatasync, inside the timed part.",
    choice(&[Cow::Borrowed("end"), Cow::Borrowed("none")]),
    "end",
);

const FILE_SIZE: Parameter = size_parameter(
    "file_size",
    "Bytes of the file; auto: 1 GiB, and at least a block a thread (two where blocks are \
     copied).",
    1 << 12,
);

const AMOUNT: Parameter = size_parameter(
    "amount",
    "Bytes moved in one trial over all threads; auto: as many as fill the trial's duration.",
    1,
);

const fn block_size(default: &'static str) -> Parameter {
    parameter(
        "block_size",
        "Bytes of one I/O.",
        ParameterKind::Size { min: 1, max: 1 << 30 },
        default,
    )
}

const fn queue_depth(default: &'static str) -> Parameter {
    let about = "I/Os that each thread keeps in flight.";
    parameter("queue_depth", about, ParameterKind::Count { min: 1, max: 1024 }, default)
}

/// The parameters of a workload by its default block and queue depth; what is a size left to
/// the machine and may be made smaller comes before `amount`.
macro_rules! parameters {
    ($block:literal, $depth:literal $(, $own:expr)*) => {
        &[
            THREADS,
            block_size($block),
            queue_depth($depth),
            $($own,)*
            FILE_SIZE,
            ENGINE,
            DIRECT,
            CACHE,
            AMOUNT,
        ]
    };
}

const SEQ_READ_PARAMETERS: &[Parameter] = parameters!("1048576", "8");
const SEQ_WRITE_PARAMETERS: &[Parameter] = parameters!("1048576", "8", FLUSH);
const RAND_READ_PARAMETERS: &[Parameter] = parameters!("4096", "1");
const RAND_WRITE_PARAMETERS: &[Parameter] = parameters!("4096", "1", FLUSH);
const MIXED_PARAMETERS: &[Parameter] = parameters!("4096", "32", READS, FLUSH);
const FSYNC_PARAMETERS: &[Parameter] = &[
    threads_parameter(
        "Threads, each with a file of its own; they run where the scheduler puts them.",
        "1",
    ),
    block_size("4096"),
    size_parameter(
        "file_size",
        "Bytes at which a thread starts its file anew; auto: 64 MiB, and at least a block.",
        1,
    ),
    AMOUNT,
];

/// What is the same in the `detail` of every workload but `disk.fsync`. It follows on two
/// sentences of its own.
macro_rules! detail {
    ($order:literal, $operation:literal) => {
        concat!(
            $order,
            " ",
            $operation,
            " A byte counts once its I/O has completed. All of the file is written with data \
             that repeat only after 1 MiB, and each 512 bytes of which carry their own place in \
             the file, and flushed, before the first trial: no hole and no unwritten extent is \
             read, and what a device could compress or find twice is not there. Of the first 1000 \
             blocks that a thread reads in a trial, of each later one from 64 KiB on, and of one \
             smaller block of 16, the place of its first and its last sector must be as written, \
             and every byte of a third one in each of these from 64 KiB on and in one of 16 of the \
             smaller; after a trial up to 64 pieces of the blocks that it wrote are read back, \
             past the page cache where that is possible, and must be the data of that very trial. Latency is the time of \
             one I/O from before the system call that submits it until its completion is seen, \
             its wait in the queue included; of direct I/Os each is timed, of buffered ones, \
             which may be too short for that, every 61st. Direct I/O (the default) goes past \
             the page cache; blocks that are no multiple of the device's sector go through it, \
             with a cold and with a warm cache as two points. The devices' own counters of \
             sectors are the verification."
        )
    };
}

/// How the order of the blocks is told.
macro_rules! ordered {
    (sequential, $operation:literal) => {
        detail!(
            "Each thread goes through its own contiguous part of the file in order of offsets, \
             round and round, with queue_depth I/Os of block_size in flight.",
            $operation
        )
    };
    (random, $operation:literal) => {
        detail!(
            "Each thread goes through the blocks of its own part of the file in a random order \
             in which each block comes once in a pass, with queue_depth I/Os of block_size in \
             flight.",
            $operation
        )
    };
}

const READING: &str = ordered!(sequential, "Every I/O reads.");
const RAND_READING: &str = ordered!(random, "Every I/O reads.");
const WRITING: &str = ordered!(
    sequential,
    "Every I/O overwrites a block of the file in place; with flush=end (the default) the time \
     ends after each thread's fdatasync, with flush=none what is called written may still be in \
     a volatile cache."
);
const RAND_WRITING: &str = ordered!(
    random,
    "Every I/O overwrites a block of the file in place; with flush=end (the default) the time \
     ends after each thread's fdatasync, with flush=none what is called written may still be in \
     a volatile cache."
);
const COPYING: &str = ordered!(
    sequential,
    "Every second I/O reads, from the first half of the part, the others write, to the second \
     half, as when a file is copied; bytes read and bytes written are both counted. With \
     flush=end (the default) the time ends after each thread's fdatasync."
);
const MIXING: &str = ordered!(
    random,
    "Of each 100 I/Os as many read as reads says, evenly spread, the others overwrite a block \
     in place; bytes read and bytes written are both counted. With flush=end (the default) the \
     time ends after each thread's fdatasync."
);

const FSYNC: &str = "Each thread appends blocks to a file of its own, through the page cache, and calls \
     fdatasync after each, as a database does for a commit: one operation is both, and the next \
     begins when it is done. The flush is what is measured: it ends when the device says that the \
     data, and the file's new length, are on stable storage, which a device or hypervisor that \
     ignores flushes may say too soon. At file_size the file is truncated and begun anew, within \
     the timed part where it is so small. Latency is the time of one operation, write and \
     fdatasync; each is timed. Afterwards the end of the file is read back and must be what was \
     appended. The devices' own counters are the verification: more is written than appended, since \
     the file system writes its journal too.";

/// The declaration of a workload of blocks.
pub(super) const fn blocks(
    (id, title, summary): (&'static str, &'static str, &'static str),
    operation: Operation,
    random: bool,
    role: Role,
) -> WorkloadSpec {
    let (detail, parameters) = match (operation, random) {
        (Operation::Read, false) => (READING, SEQ_READ_PARAMETERS),
        (Operation::Read, true) => (RAND_READING, RAND_READ_PARAMETERS),
        (Operation::Write, false) => (WRITING, SEQ_WRITE_PARAMETERS),
        (Operation::Write, true) => (RAND_WRITING, RAND_WRITE_PARAMETERS),
        (Operation::Copy, _) => (COPYING, SEQ_WRITE_PARAMETERS),
        (Operation::Mixed, _) => (MIXING, MIXED_PARAMETERS),
    };
    let axis = if random { "queue_depth" } else { "block_size" };
    let access = Some(if random { Access::Random } else { Access::Sequential });
    let work = device(access);
    let words = Words { id, title, summary, detail, method: 1 };
    let what = (Subsystem::Disk, Unit::BytePerSecond);
    rate(words, what, parameters, Some(axis), CEILINGS, work, role)
}

/// The declaration of `disk.fsync`.
pub(super) static FSYNC_SPEC: WorkloadSpec = rate(
    Words {
        id: "disk.fsync",
        title: "Commit",
        summary: "Appends to a file and flushes it, operations a second.",
        detail: FSYNC,
        method: 1,
    },
    (Subsystem::Disk, Unit::OpPerSecond),
    FSYNC_PARAMETERS,
    Some("threads"),
    CEILINGS,
    device(Some(Access::Sequential)),
    FSYNC_ROLE,
);

const FSYNC_ROLE: Role = Role {
    lead: Some(5),
    tables: Cow::Borrowed(&[place("disk_glance", 5, "commits")]),
    compare_with: Cow::Borrowed(&[tool_test("fio", "fdatasync")]),
    ..Role::NONE
};

/// Waiting for a disk.
const fn device(access: Option<Access>) -> Work {
    Work {
        pace: Pace::Device,
        access,
        traffic: Cow::Borrowed(&[]),
        data: None,
        names_node: false,
        whole_problem: false,
    }
}

const CEILINGS: &[Cow<str>] = &[Cow::Borrowed("disk.limit"), Cow::Borrowed("disk.link")];
