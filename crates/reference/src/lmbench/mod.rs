//! Programs of lmbench by Larry McVoy and Carl Staelin: lat_mem_rd, bw_mem and its own stream.
//! Each is a tool of its own, since each is another program with another output.

mod bandwidth;
mod latency;
mod run;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use bandwidth::Bandwidth;
pub(crate) use latency::Latency;
pub(crate) use stream::Stream;
