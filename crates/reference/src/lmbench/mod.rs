//! Programs of lmbench (Larry McVoy, Carl Staelin): lat_mem_rd, bw_mem and its own stream. Each is
//! a tool of its own, since each prints another output.

mod bandwidth;
mod latency;
mod run;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use bandwidth::Bandwidth;
pub(crate) use latency::Latency;
pub(crate) use stream::Stream;
