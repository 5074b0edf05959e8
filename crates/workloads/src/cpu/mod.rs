//! CPU workloads: peak rates by instruction set, and the published instruction mixes.
//!
//! A workload is a declaration and a table of hot loops (`Variant`). The rest is shared. `x86_64`
//! holds the loops of that architecture and `portable` those of all others. To add an architecture,
//! write one module with the same four tables and `clocked`, and name it `native` below.

mod clock;
mod dense;
mod dgemm;
pub(crate) mod isa;
mod law;
mod linpack;
mod loops;
mod pingpong;
mod state;
mod task;
mod work;

#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(not(target_arch = "x86_64"))]
use portable as native;
#[cfg(target_arch = "x86_64")]
use x86_64 as native;

#[cfg(all(test, target_arch = "x86_64"))]
pub(crate) mod decoded;

pub use clock::Clock;
pub use dgemm::Dgemm;
pub use linpack::Linpack;
pub use loops::{FLOPS, IOPS, MIX_FLOAT, MIX_INT};
pub use pingpong::PingPong;
