//! Declaration of `memory.sweep`: bandwidth by working set, from the L1 cache to memory.

use std::borrow::Cow;

use proofmark_model::{
    Access, Data, Pace, Parameter, Property, Role, Subsystem, Traffic, Unit, When, Work,
    WorkloadSpec, ceiling_id, key,
};

use super::super::parameters;
use super::op::Op;
use crate::declare::{Words, auto_size_parameter, choice_parameter, rate, words};

const OP: Parameter = choice_parameter(
    key::OPERATION,
    "Operation on the working set: read it, write it, or copy half of it to the other half.",
    const { &words(["read", "write", "copy"]) },
    "read",
);

const WORKING_SET: Parameter = auto_size_parameter(
    key::WORKING_SET,
    "Bytes that one thread touches, over all its arrays; auto: 4 times the last-level cache, \
     divided by the threads.",
    4096,
);

pub(super) static SWEEP: WorkloadSpec = rate(
    Words {
        id: "memory.sweep",
        title: "Bandwidth by working set",
        summary: "The bandwidth of reading, writing or copying, by working set: that of the cache \
                  level that holds the set, or of memory.",
        detail: "The loops and the verification are those of memory.read, memory.write and \
                 memory.copy with ordinary stores. Each thread has its own working set and passes \
                 over it again and again. For copy, half of it is the source and half the target. \
                 A set that fits into a cache stays there. So the rate by working set shows one \
                 plateau per cache level. Bytes read and bytes written count. Bytes moved are not \
                 declared: a line is read before it is written only if it is not in the cache.",
        method: 2,
    },
    (Subsystem::Memory, Unit::BytePerSecond),
    const { &[OP, WORKING_SET, parameters::THREADS, parameters::ISA, parameters::PAGES] },
    Some(key::WORKING_SET.name()),
    const {
        &words([
            ceiling_id::MEMORY_CACHE,
            ceiling_id::MEMORY_CORE,
            ceiling_id::MEMORY_DRAM,
            ceiling_id::MEMORY_LIMIT,
        ])
    },
    const {
        Work {
            pace: Pace::Memory,
            access: Some(Access::Sequential),
            traffic: Cow::Borrowed(&[
                op_traffic(Op::Read),
                op_traffic(Op::Write),
                op_traffic(Op::Copy),
            ]),
            data: Some(Data {
                parameter: Cow::Borrowed(key::WORKING_SET.name()),
                per_thread: true,
                all_arrays: true,
                any_level: true,
            }),
            ..Work::CORE
        }
    },
    ROLE,
);

const ROLE: Role = Role { provides: Cow::Borrowed(&[Property::LevelBandwidth]), ..Role::NONE };

/// Returns the traffic of an operation of the sweep.
const fn op_traffic(op: Op) -> Traffic {
    op.traffic(Some(When {
        parameter: Cow::Borrowed(key::OPERATION.name()),
        value: Cow::Borrowed(op.name()),
    }))
}
