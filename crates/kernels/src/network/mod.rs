//! Network kernels: what goes over TCP and UDP, as the receiver counts it.
//!
//! A point has two ends, in two processes: the near end, a worker of the run, and the far
//! end, `proofmark serve` on this machine or another. The near end opens a job over the
//! control channel of `proofmark_peer`; each stream then has a data connection, over which
//! it sends a request, both ends do their parts, and the far end reports.
//!
//! `spec` declares the kernels, `shape` turns knobs into numbers, `job` is what the far end
//! is told of them. `wire` is the messages of a data connection, `line` the connection
//! itself, `stamp` what every block carries. `tcp` and `udp` hold the protocols, near and
//! far end side by side; `near` and `far` what is around them, `tally` what came of it.

use proofmark_engine::{Kernel, Refusal, Setup};
use proofmark_model::{Host, KernelSpec, Params};

mod congestion;
mod far;
mod job;
mod line;
mod near;
mod placement;
mod shape;
mod socket;
mod spec;
mod stamp;
mod tally;
mod tcp;
#[cfg(test)]
mod tests;
mod udp;
mod wire;

pub use far::Far;
use near::Point;
pub use placement::cpus_of_ends;
use shape::{Kind, Shape};

/// A network kernel.
#[derive(Debug)]
pub struct Network {
    spec: &'static KernelSpec,
    kind: Kind,
}

/// Declares a kernel: its name here, and what it measures.
macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident = $kind:ident;)*) => {
        $($(#[$doc])*
        pub static $name: Network = {
            static SPEC: KernelSpec = spec::spec(Kind::$kind);
            Network { spec: &SPEC, kind: Kind::$kind }
        };)*
    };
}

kernels! {
    /// `network.tcp.stream`.
    TCP_STREAM = TcpStream;
    /// `network.udp.stream`.
    UDP_STREAM = UdpStream;
    /// `network.tcp.rtt`.
    TCP_RTT = TcpRtt;
    /// `network.udp.rtt`.
    UDP_RTT = UdpRtt;
    /// `network.tcp.connect`.
    TCP_CONNECT = TcpConnect;
}

impl Kernel for Network {
    fn spec(&self) -> &'static KernelSpec {
        self.spec
    }

    fn settle(&self, params: Params, host: &Host) -> Vec<Params> {
        shape::settle(self.kind, params, host)
    }

    fn memory_bytes(&self, params: &Params) -> u64 {
        Shape::of(self.kind, params).map_or(0, |s| s.memory_bytes())
    }

    fn supports(&self, params: &Params) -> Result<(), Refusal> {
        Shape::of(self.kind, params).map(drop)
    }

    fn supports_on(&self, params: &Params, host: &Host) -> Result<(), Refusal> {
        let shape = Shape::of(self.kind, params)?;
        host.network.get().map_or(Ok(()), |network| shape.fits(network.is_v6()))
    }

    fn setup(&self, params: &Params) -> Result<Box<dyn Setup>, Refusal> {
        Ok(Box::new(Point::new(Shape::of(self.kind, params)?)?))
    }

    fn witness(&self) -> &'static str {
        "interface counters"
    }

    fn nominal_seconds(&self, params: &Params) -> Option<f64> {
        Shape::of(self.kind, params).ok()?.nominal_seconds()
    }
}
