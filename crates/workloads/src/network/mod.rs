//! Network workloads: TCP and UDP traffic, as the receiver counts it.
//!
//! A configuration has a client, which is a worker of the run, and a server: `proofmark serve` on
//! this machine or another. The client opens a job over the control channel of `proofmark_peer`.
//! Each stream then has one data connection: the client sends a request, both ends transfer data,
//! and the server reports.
//!
//! `spec` declares the workloads, `shape` turns parameters into numbers, `job` is the request to
//! the server. `line` is a data connection, `wire` its messages, `stamp` the mark in every block.
//! `tcp` and `udp` hold the protocols, client and server together; `client` and `server` run them,
//! `tally` collects the counts.

use proofmark_engine::{Configuration, Needs, Refusal, Setup, Workload};
use proofmark_model::{Host, Params, WorkloadSpec};

mod client;
mod congestion;
mod job;
mod line;
mod payload;
mod placement;
mod server;
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

use client::Point;
pub use placement::cpus_of_ends;
pub use server::ServerSide;
use shape::{Kind, Shape};

#[derive(Debug)]
pub(crate) struct Network {
    spec: &'static WorkloadSpec,
    kind: Kind,
}

pub(crate) static TCP_STREAM: Network = Network { spec: &spec::TCP_STREAM, kind: Kind::TcpStream };
pub(crate) static UDP_STREAM: Network = Network { spec: &spec::UDP_STREAM, kind: Kind::UdpStream };
pub(crate) static TCP_RTT: Network = Network { spec: &spec::TCP_RTT, kind: Kind::TcpRtt };
pub(crate) static UDP_RTT: Network = Network { spec: &spec::UDP_RTT, kind: Kind::UdpRtt };
pub(crate) static TCP_CONNECT: Network =
    Network { spec: &spec::TCP_CONNECT, kind: Kind::TcpConnect };

impl Workload for Network {
    fn spec(&self) -> &'static WorkloadSpec {
        self.spec
    }

    fn resolve_auto(&self, params: Params, host: &Host) -> Vec<Params> {
        shape::resolve_auto(self.kind, params, host)
    }

    fn configure(&self, params: &Params) -> Result<Box<dyn Configuration>, Refusal> {
        Ok(Box::new(Shape::from_params(self.kind, params)?))
    }

    fn verification(&self) -> &'static str {
        "interface counters"
    }
}

impl Configuration for Shape {
    fn needs(&self) -> Needs {
        Needs {
            memory_bytes: self.memory_bytes(),
            fixed_s: self.fixed_s(),
            interval_s: self.interval_s(),
            ..Needs::default()
        }
    }

    fn supports_on(&self, host: &Host) -> Result<(), Refusal> {
        host.network.get().map_or(Ok(()), |network| self.fits(network.is_v6()))
    }

    fn setup(self: Box<Self>) -> Result<Box<dyn Setup>, Refusal> {
        Ok(Box::new(Point::new(*self)?))
    }
}
