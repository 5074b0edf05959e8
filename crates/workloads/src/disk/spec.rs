//! Declarations of the disk workloads: parameters, units, explanations.

use std::borrow::Cow;

use proofmark_model::{
    AUTO, Access, Pace, Parameter, Role, Subsystem, Traffic, Unit, Work, WorkloadSpec, ceiling_id,
    key,
};

use super::engine;
use super::shape::Operation;
use crate::declare::{
    Words, auto_size_parameter, choice_parameter, count_parameter, rate, size_parameter,
    threads_parameter, words,
};

const THREADS: Parameter = threads_parameter(
    "Threads, each with its own part of the file; the scheduler places them.",
    "1",
);

const READS: Parameter = count_parameter(
    key::READS,
    "Percentage of the I/Os that read; the others write.",
    0..=100,
    "70",
);

const ENGINE: Parameter = choice_parameter(key::ENGINE, engine::ABOUT, engine::NAMES, AUTO);

const DIRECT: Parameter = choice_parameter(
    key::DIRECT,
    "Direct I/O (on) or buffered I/O through the page cache (off); auto: on where block_size is a \
     multiple of the device's sector.",
    const { &words(["on", "off"]) },
    AUTO,
);

const CACHE: Parameter = choice_parameter(
    key::CACHE,
    "State of the file in the page cache before each trial: evicted (cold), fully cached (warm) or \
     bypassed by direct I/O (none). auto: none; for buffered I/O cold and warm, as two results.",
    const { &words(["none", "cold", "warm"]) },
    AUTO,
);

const FLUSH: Parameter = choice_parameter(
    key::FLUSH,
    "Flush at the end of the timed part: an fdatasync of each thread (end), or no flush (none).",
    const { &words(["end", "none"]) },
    "end",
);

const FILE_SIZE: Parameter = auto_size_parameter(
    key::FILE_SIZE,
    "Size of the file; auto: 1 GiB, and at least one block per thread (two where blocks are copied).",
    1 << 12,
);

const AMOUNT: Parameter = auto_size_parameter(
    key::AMOUNT,
    "Bytes moved in one trial over all threads; auto: as many as fill the trial's duration.",
    1,
);

const fn block_size(default: &'static str) -> Parameter {
    size_parameter(key::BLOCK_SIZE, "Bytes per I/O.", 1..=1 << 30, default)
}

const fn queue_depth(default: &'static str) -> Parameter {
    let about = "I/Os that each thread keeps in flight.";
    count_parameter(key::QUEUE_DEPTH, about, 1..=1024, default)
}

/// The parameters of a workload, with its default block size and queue depth. Sizes that are `auto`
/// and may be reduced come before `amount`.
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
    threads_parameter("Threads, each with its own file; the scheduler places them.", "1"),
    choice_parameter(
        key::MODE,
        "Target of the writes: the end of the file, which grows (append), or blocks of a file that was \
         written in full before, in place (overwrite).",
        const { &words(["append", "overwrite"]) },
        "append",
    ),
    choice_parameter(
        key::METHOD,
        "Method that makes a write durable: an fdatasync(2) after it (fdatasync), or a file that is open \
         with O_DSYNC (o_dsync).",
        const { &words(["fdatasync", "o_dsync"]) },
        "fdatasync",
    ),
    block_size("4096"),
    auto_size_parameter(
        key::FILE_SIZE,
        "File size at which a thread begins again at the start of its file; auto: 64 MiB, and at least \
         one block.",
        1,
    ),
    AMOUNT,
];

/// The text that all `detail`s but that of `disk.fsync` share, after two sentences of their own.
macro_rules! detail {
    ($order:literal, $operation:expr) => {
        concat!(
            $order,
            " ",
            $operation,
            " A byte counts once its I/O has completed. Before the first trial proofmark writes \
             and flushes the whole file, so no read meets a hole or an unwritten extent. The data \
             repeat only after 1 MiB, and each 512 bytes contain their own position in the file. \
             So compression and deduplication gain nothing. Verification of reads: the first 1000 \
             blocks per thread and trial, all later blocks from 64 KiB on, and 1 in 16 of the \
             smaller ones. The first and last sector of such a block must hold the right position. \
             A third sector is compared byte by byte in blocks from 64 KiB on and in 1 in 16 of \
             the smaller ones. Verification of writes: after a trial proofmark reads back up to 64 \
             pieces, past the page cache where possible. They must hold the data of that trial. \
             Latency is the time of one I/O from before the system call that submits it until its \
             completion is seen, including its wait in the queue. Every direct I/O is timed, and \
             every 61st buffered I/O, since these can be too short to time each. Direct I/O (the \
             default) bypasses the page cache. Blocks that are not a multiple of the device's \
             sector use the page cache, cold and warm, as two results. The devices' sector counters \
             are the independent verification."
        )
    };
}

/// Text: the order of the blocks.
macro_rules! ordered {
    (sequential, $operation:expr) => {
        detail!(
            "Each thread moves through its own contiguous part of the file in order of offsets, \
             again and again, with queue_depth I/Os of block_size in flight.",
            $operation
        )
    };
    (random, $operation:expr) => {
        detail!(
            "Each thread moves through the blocks of its own part of the file in random order, \
             with queue_depth I/Os of block_size in flight. Each block comes once per pass.",
            $operation
        )
    };
}

/// Text: the work of the workloads that only write.
macro_rules! writes {
    () => {
        "Every I/O overwrites a block of the file in place. With flush=end (the default) the timed \
         part ends after each thread's fdatasync. With flush=none written data may still be in a \
         volatile cache."
    };
}

const READING: &str = ordered!(sequential, "Every I/O reads.");
const RAND_READING: &str = ordered!(random, "Every I/O reads.");
const WRITING: &str = ordered!(sequential, writes!());
const RAND_WRITING: &str = ordered!(random, writes!());
const COPYING: &str = ordered!(
    sequential,
    "I/Os alternate, as in copying a file: one reads from the first half of the part, the next \
     writes to the second half. Bytes read and bytes written both count. With flush=end (the \
     default) the timed part ends after each thread's fdatasync."
);
const MIXING: &str = ordered!(
    random,
    "The parameter reads sets the percentage of the I/Os that read, evenly spread. The others \
     overwrite a block in place. Bytes read and bytes written both count. With flush=end (the \
     default) the timed part ends after each thread's fdatasync."
);

const FSYNC: &str = "Each thread writes blocks to its own file through the page cache, each durable \
                     before the next, as a database does for a commit. One operation is one write \
                     that is durable. With mode=append (the default) it extends the file, so the \
                     file system records the new length too. With mode=overwrite proofmark writes \
                     and flushes the whole file before the first trial, and an operation replaces \
                     a block of it: a preallocated log. With method=fdatasync (the default) an \
                     fdatasync follows each write; with method=o_dsync the file is open with \
                     O_DSYNC, and the write returns when it is durable. Either ends when the \
                     device reports the data, and a new length, as stable. A device or hypervisor \
                     that ignores flushes may report this too early. At file_size a thread begins \
                     again at the start; appends truncate the file, which for small files is in \
                     the timed part. Latency is the time of one operation; each is timed. \
                     Verification: proofmark reads back the last blocks written and compares them. \
                     The devices' sector counters and flushes are the independent verification. \
                     The sectors exceed the bytes written, since the file system also writes its \
                     journal.";

/// Returns the counted traffic of a block, which is empty where it is both read and written.
const fn traffic(operation: Operation) -> &'static [Traffic] {
    const READ: Traffic = Traffic { when: None, read: 1.0, written: 0.0, flops: 0.0 };
    const WRITE: Traffic = Traffic { when: None, read: 0.0, written: 1.0, flops: 0.0 };
    match operation {
        Operation::Read => &[READ],
        Operation::Write | Operation::Commit => &[WRITE],
        Operation::Copy | Operation::Mixed => &[],
    }
}

/// Returns the declaration of a workload.
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
        (Operation::Commit, _) => (FSYNC, FSYNC_PARAMETERS),
    };
    let (axis, unit) = match operation {
        Operation::Commit => (key::THREADS.name(), Unit::OpPerSecond),
        _ if random => (key::QUEUE_DEPTH.name(), Unit::BytePerSecond),
        _ => (key::BLOCK_SIZE.name(), Unit::BytePerSecond),
    };
    let work = Work {
        pace: Pace::Device,
        access: Some(if random { Access::Random } else { Access::Sequential }),
        traffic: Cow::Borrowed(traffic(operation)),
        data: None,
        names_node: false,
        whole_problem: false,
    };
    let words = Words { id, title, summary, detail, method: 1 };
    rate(words, (Subsystem::Disk, unit), parameters, Some(axis), CEILINGS, work, role)
}

const CEILINGS: &[Cow<str>] = &words([ceiling_id::DISK_LIMIT, ceiling_id::DISK_LINK]);
