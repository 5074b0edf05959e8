//! Memory kernels.

mod arena;
