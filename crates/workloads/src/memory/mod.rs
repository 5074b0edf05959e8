//! Memory workloads.
//!
//! Workloads: `stream` (copy, scale, add, triad, read, write; `memory.sweep`: the same loops by
//! working set), `block` (sequential and random blocks), `latency`, `loaded_latency`, `numa`.
//! Shared: `arena` (the memory), `parameters`; `loops` with `segment`, `x86_64` and `portable` (the
//! hot loops over arrays), `cycle` and `chase` (the pointer chase), `reader`, `node`.

mod block;
mod chase;
mod cycle;
mod latency;
mod loaded_latency;
mod loops;
mod node;
mod numa;
mod parameters;
mod portable;
mod reader;
mod segment;
mod stream;

#[cfg(all(test, target_arch = "x86_64"))]
mod decoded;
#[cfg(test)]
mod testing;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use block::{RAND_READ, RAND_READ_WRITE, RAND_WRITE, READ_WRITE, SEQ_READ, SEQ_WRITE};
pub use latency::{LATENCY, NUMA_LATENCY};
pub use loaded_latency::LoadedLatency;
#[cfg(feature = "faults")]
pub(crate) use loops::find as find_loop;
pub use numa::NumaRead;
#[cfg(feature = "faults")]
pub(crate) use segment::{Loop, Segment};
pub use stream::{ADD, COPY, READ, SCALE, SWEEP, TRIAD, WRITE};
#[cfg(feature = "faults")]
pub(crate) use stream::{
    STORING, Stream,
    op::{Op, Stores},
};
