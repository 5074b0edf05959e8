//! What the workloads after STREAM declare about themselves.

use std::borrow::Cow;

use proofmark_model::{Access, Pace, Parameter, Property, Role, Work, WorkloadSpec};

use super::super::parameters;
use super::op::Op;
use crate::declare::{Words, place, tool_test};

const ARRAY_SIZE: Parameter = parameters::size_parameter(
    "array_size",
    "Bytes of each array, over all threads; auto: 4 times the last-level cache.",
    4096,
);

/// Parameters of the workloads that store.
pub(crate) const STORING: &[Parameter] =
    &[parameters::THREADS, parameters::ISA, parameters::STORES, ARRAY_SIZE, parameters::PAGES];

const READING: &[Parameter] =
    &[parameters::THREADS, parameters::ISA, ARRAY_SIZE, parameters::PAGES];

/// How the arrays are walked.
macro_rules! walk {
    () => {
        "Each thread has one part of each array, which it walks in segments of 128 KiB \
         (equal ones about as long, where that does not divide it), over and over; a \
         trial goes on where the one before stopped, so it does not begin with lines \
         that were left in the cache. "
    };
}

/// How storing workloads are counted and verified.
macro_rules! storing {
    () => {
        "With ordinary stores the hardware also reads each line before it is written \
         (write-allocate): that is moved, but not counted. Before each pass over a \
         segment the loop writes the number of the pass to its last line. After the \
         trial each element of the destination that it covered must be what the known \
         inputs give, the last line that of the right pass; then it is overwritten, so \
         that no result of one trial can pass for that of the next."
    };
}

/// `memory.copy`.
pub(super) static COPY: WorkloadSpec = spec(
    "memory.copy",
    "Memory copy",
    "The rate at which one array of 64-bit numbers is copied to another, after STREAM's Copy.",
    concat!(
        "b[i] = a[i] on two arrays of f64. ",
        walk!(),
        "Counted are 16 bytes an element, 8 read and 8 written, as STREAM counts. ",
        storing!()
    ),
    Op::Copy,
    STORING,
    const {
        Role {
            lead: Some(3),
            tables: Cow::Borrowed(&[place("stream", 1, "Copy")]),
            compare_with: Cow::Borrowed(&[
                tool_test("stream", "Copy"),
                tool_test("likwid-bench", "copy"),
                tool_test("lmbench-bw", "fcp"),
                tool_test("lmbench-stream", "STREAM copy"),
                tool_test("lmbench-stream", "STREAM2 copy"),
            ]),
            ..Role::NONE
        }
    },
);

/// `memory.scale`.
pub(super) static SCALE: WorkloadSpec = spec(
    "memory.scale",
    "Memory scale",
    "The rate at which one array is multiplied by a number into another, after STREAM's Scale.",
    concat!(
        "b[i] = 3 * a[i] on two arrays of f64. ",
        walk!(),
        "Counted are 16 bytes an element, 8 read and 8 written, as STREAM counts. ",
        storing!()
    ),
    Op::Scale,
    STORING,
    const {
        Role {
            tables: Cow::Borrowed(&[place("stream", 2, "Scale")]),
            compare_with: Cow::Borrowed(&[
                tool_test("stream", "Scale"),
                tool_test("lmbench-stream", "STREAM scale"),
            ]),
            ..Role::NONE
        }
    },
);

/// `memory.add`.
pub(super) static ADD: WorkloadSpec = spec(
    "memory.add",
    "Memory add",
    "The rate at which two arrays are added into a third, after STREAM's Add.",
    concat!(
        "c[i] = a[i] + b[i] on three arrays of f64. ",
        walk!(),
        "Counted are 24 bytes an element, 16 read and 8 written, as STREAM counts. ",
        storing!()
    ),
    Op::Add,
    STORING,
    const {
        Role {
            tables: Cow::Borrowed(&[place("stream", 3, "Add")]),
            compare_with: Cow::Borrowed(&[
                tool_test("stream", "Add"),
                tool_test("lmbench-stream", "STREAM add"),
            ]),
            ..Role::NONE
        }
    },
);

/// `memory.triad`.
pub(super) static TRIAD: WorkloadSpec = spec(
    "memory.triad",
    "Memory triad",
    "The rate at which one array and a multiple of another are added into a third, after \
     STREAM's Triad.",
    concat!(
        "c[i] = a[i] + 3 * b[i] on three arrays of f64, 2 floating-point operations an \
         element. ",
        walk!(),
        "Counted are 24 bytes an element, 16 read and 8 written, as STREAM counts. ",
        storing!()
    ),
    Op::Triad,
    STORING,
    const {
        Role {
            lead: Some(1),
            provides: Cow::Borrowed(&[Property::MemoryBandwidth]),
            tables: Cow::Borrowed(&[place("stream", 4, "Triad")]),
            compare_with: Cow::Borrowed(&[
                tool_test("stream", "Triad"),
                tool_test("likwid-bench", "stream"),
                tool_test("lmbench-stream", "STREAM triad"),
            ]),
            ..Role::NONE
        }
    },
);

/// `memory.read`.
pub(super) static READ: WorkloadSpec = spec(
    "memory.read",
    "Memory read",
    "The rate at which an array is read.",
    concat!(
        "Every 64 bits of one array of f64 are added up as an integer, in several \
         registers, so that no addition waits for another. ",
        walk!(),
        "Counted are 8 bytes an element. The elements are known and all different; the \
         sum over the trial must be exactly that of as many passes over each segment \
         as were made."
    ),
    Op::Read,
    READING,
    const {
        Role {
            provides: Cow::Borrowed(&[Property::MemoryBandwidth]),
            compare_with: Cow::Borrowed(&[
                tool_test("likwid-bench", "load"),
                tool_test("lmbench-bw", "frd"),
            ]),
            ..Role::NONE
        }
    },
);

/// `memory.write`.
pub(super) static WRITE: WorkloadSpec = spec(
    "memory.write",
    "Memory write",
    "The rate at which an array is overwritten with one number.",
    concat!(
        "a[i] = s on one array of f64, where s is the number of the pass. ",
        walk!(),
        "Counted are 8 bytes an element. With ordinary stores the hardware also reads \
         each line before it is written (write-allocate): that is moved, but not \
         counted. After the trial each element that it covered must hold the number of \
         the last pass over it; then it is overwritten, so that no result of one trial \
         can pass for that of the next."
    ),
    Op::Write,
    STORING,
    const {
        Role {
            compare_with: Cow::Borrowed(&[
                tool_test("likwid-bench", "store"),
                tool_test("lmbench-bw", "fwr"),
                tool_test("lmbench-stream", "STREAM2 fill"),
            ]),
            ..Role::NONE
        }
    },
);

const fn spec(
    id: &'static str,
    title: &'static str,
    summary: &'static str,
    detail: &'static str,
    op: Op,
    used: &'static [Parameter],
    role: Role,
) -> WorkloadSpec {
    let work = Work {
        pace: Pace::Memory,
        access: Some(Access::Sequential),
        traffic: op.declared(),
        data: Some(parameters::arrays("array_size")),
        names_node: false,
        whole_problem: false,
    };
    let words = Words { id, title, summary, detail, method: 1 };
    parameters::rate(words, used, None, work, role)
}
