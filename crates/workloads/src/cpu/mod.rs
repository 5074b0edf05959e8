//! CPU workloads: peak rates by instruction set, and the published instruction mixes.
//!
//! A workload is a declaration and a table of hot loops (`Variant`); everything else
//! is shared. `x86_64` holds the loops of that architecture and `portable` those of
//! every other. To add an architecture, write one module with the same four tables
//! and name it `native` below.

mod clock;
mod dense;
mod dgemm;
mod flops;
mod iops;
pub(crate) mod isa;
mod law;
mod linpack;
mod mix_float;
mod mix_int;
mod state;
mod task;
mod work;

#[cfg(any(test, not(all(target_arch = "x86_64", unix))))]
mod portable;
#[cfg(all(target_arch = "x86_64", unix))]
mod x86_64;

#[cfg(not(all(target_arch = "x86_64", unix)))]
use portable as native;
#[cfg(all(target_arch = "x86_64", unix))]
use x86_64 as native;

#[cfg(all(test, target_arch = "x86_64", unix))]
mod decoded;

pub use clock::Clock;
pub use dgemm::Dgemm;
pub use flops::Flops;
pub use iops::Iops;
pub use linpack::Linpack;
pub use mix_float::MixFloat;
pub use mix_int::MixInt;
