//! Declarations of the workloads modelled on STREAM.

use std::borrow::Cow;

use proofmark_model::{Access, Parameter, Pick, PickedValue, Property, Role, WorkloadSpec, key};

use super::super::parameters;
use super::op::Op;
use crate::declare::{
    ALL_CPUS, BEST_ISA, Words, auto_size_parameter, main_row, pick, pick_value, place,
};

/// Stores past the caches, which move only the counted bytes, where the machine has them.
const BYPASSING: Pick = pick_value(key::STORES, "nontemporal");
/// Small arrays may fit into a cache.
const LARGE: Pick = pick(key::ARRAY_SIZE, PickedValue::Largest);

const ARRAY_SIZE: Parameter = auto_size_parameter(
    key::ARRAY_SIZE,
    "Size of each array over all threads; auto: 4 times the last-level cache.",
    4096,
);

pub(crate) const STORING: &[Parameter] =
    &[parameters::THREADS, parameters::ISA, parameters::STORES, ARRAY_SIZE, parameters::PAGES];

const READING: &[Parameter] =
    &[parameters::THREADS, parameters::ISA, ARRAY_SIZE, parameters::PAGES];

/// Text: how a thread walks the arrays.
macro_rules! walk {
    () => {
        "Each thread owns one part of each array. It walks the part in segments of about 128 KiB, \
         over and over. A trial starts where the previous one stopped, so it does not begin with \
         cached lines. "
    };
}

/// Text: how storing workloads count and verify.
macro_rules! storing {
    () => {
        "With ordinary stores the hardware also reads each line before it is written \
         (write-allocate). That traffic is in bytes moved, not in bytes counted. Before each pass \
         over a segment the loop writes the number of the pass to the last line of the source. \
         Verification: after the trial proofmark compares every element that the trial wrote with \
         the known result, and the last line with that of the last pass. Then it overwrites them, \
         so no result can pass for that of the next trial."
    };
}

pub(super) static COPY: WorkloadSpec = spec(
    "memory.copy",
    "Memory copy",
    "The rate of copying one array of 64-bit numbers to another, after STREAM's Copy.",
    concat!(
        "b[i] = a[i] on two arrays of f64. ",
        walk!(),
        "proofmark counts 16 bytes per element, 8 read and 8 written, as STREAM does. ",
        storing!()
    ),
    Op::Copy,
    STORING,
    const {
        Role {
            main_rows: Cow::Borrowed(
                const {
                    &[main_row(1, "Memory copy", const { &[LARGE, ALL_CPUS, BYPASSING, BEST_ISA] })]
                },
            ),
            tables: Cow::Borrowed(&[place("stream", 1, "Copy")]),
            ..Role::NONE
        }
    },
);

pub(super) static SCALE: WorkloadSpec = spec(
    "memory.scale",
    "Memory scale",
    "The rate of multiplying one array by a constant into another, after STREAM's Scale.",
    concat!(
        "b[i] = 3 * a[i] on two arrays of f64. ",
        walk!(),
        "proofmark counts 16 bytes per element, 8 read and 8 written, as STREAM does. ",
        storing!()
    ),
    Op::Scale,
    STORING,
    const { Role { tables: Cow::Borrowed(&[place("stream", 2, "Scale")]), ..Role::NONE } },
);

pub(super) static ADD: WorkloadSpec = spec(
    "memory.add",
    "Memory add",
    "The rate of adding two arrays into a third, after STREAM's Add.",
    concat!(
        "c[i] = a[i] + b[i] on three arrays of f64. ",
        walk!(),
        "proofmark counts 24 bytes per element, 16 read and 8 written, as STREAM does. ",
        storing!()
    ),
    Op::Add,
    STORING,
    const { Role { tables: Cow::Borrowed(&[place("stream", 3, "Add")]), ..Role::NONE } },
);

pub(super) static TRIAD: WorkloadSpec = spec(
    "memory.triad",
    "Memory triad",
    "The rate of adding one array and a multiple of another into a third, after STREAM's Triad.",
    concat!(
        "c[i] = a[i] + 3 * b[i] on three arrays of f64, 2 floating-point operations per element. ",
        walk!(),
        "proofmark counts 24 bytes per element, 16 read and 8 written, as STREAM does. ",
        storing!()
    ),
    Op::Triad,
    STORING,
    const {
        Role {
            main_rows: Cow::Borrowed(
                const {
                    &[main_row(
                        2,
                        "Memory triad",
                        const { &[LARGE, ALL_CPUS, BYPASSING, BEST_ISA] },
                    )]
                },
            ),
            provides: Cow::Borrowed(&[Property::MemoryBandwidth]),
            tables: Cow::Borrowed(&[place("stream", 4, "Triad")]),
            ..Role::NONE
        }
    },
);

pub(super) static READ: WorkloadSpec = spec(
    "memory.read",
    "Memory read",
    "The rate of reading an array.",
    concat!(
        "The loop adds every 64-bit word of one array as an integer, in several registers, so that \
         no addition waits for another. ",
        walk!(),
        "proofmark counts 8 bytes per element. Verification: the elements are known and all different. The \
         sum over the trial must equal the known sum of all passes."
    ),
    Op::Read,
    READING,
    const { Role { provides: Cow::Borrowed(&[Property::MemoryBandwidth]), ..Role::NONE } },
);

pub(super) static WRITE: WorkloadSpec = spec(
    "memory.write",
    "Memory write",
    "The rate of overwriting an array with one number.",
    concat!(
        "a[i] = s on one array of f64, where s is the number of the pass. ",
        walk!(),
        "proofmark counts 8 bytes per element. With ordinary stores the hardware also reads each line before \
         it is written (write-allocate). That traffic is in bytes moved, not in bytes counted. \
         Verification: after the trial each written element must hold the number of the last pass \
         over it. Then proofmark overwrites it, so no result can pass for that of the next trial."
    ),
    Op::Write,
    STORING,
    Role::NONE,
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
    let data = parameters::arrays(key::ARRAY_SIZE);
    let work = parameters::work(Access::Sequential, op.declared(), data, false);
    let words = Words { id, title, summary, detail, method: 2 };
    parameters::rate(words, used, None, work, role)
}
