//! The server of all network workloads: the work of `proofmark serve` in a session.

use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};

use proofmark_engine::{EndCounters, Heartbeat, Refusal, usable_cpus};
use proofmark_model::{EndTraffic, Interface, lock};
use proofmark_peer::{Bounds, Ends, Task, Token, Work};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use serde_json::Value;

use super::job::{self, Job, StreamDescription};
use super::line::{self, Line, Patience};
use super::shape::{Kind, Shape};
use super::wire::{Outcome, Report, Request};
use super::{placement, tcp, udp};

/// The report of a completed request, or the reason why the connection is not usable any more.
pub(super) type Served = Result<Report, String>;

pub(super) trait Serve {
    fn serve(&mut self, line: &Line, request: Request) -> Served;
}

/// The server's work.
#[derive(Debug)]
pub struct ServerSide {
    interface: fn(Ends) -> Option<Interface>,
    /// The last query of the counters: the client's address and the counters.
    last_query: Mutex<Option<(SocketAddr, EndCounters)>>,
    /// Files cpu.stat of this process's cgroups, nearest first.
    cpu_stat: Vec<PathBuf>,
    /// Runs while there are streams.
    heartbeat: Mutex<Weak<Heartbeat>>,
}

impl ServerSide {
    /// Creates a server. `interface` returns the interface of this machine that leads to a client.
    /// The server reports that interface to the client and reads its counters, and those of the
    /// `cpu_stat` files (of its cgroups, nearest first).
    pub fn new(interface: fn(Ends) -> Option<Interface>, cpu_stat: Vec<PathBuf>) -> Self {
        Self { interface, last_query: Mutex::default(), cpu_stat, heartbeat: Mutex::default() }
    }

    /// Returns the running heartbeat or starts a new one, or `None` if none can be started.
    fn heartbeat(&self) -> Option<Arc<Heartbeat>> {
        let mut beats = lock(&self.heartbeat);
        if let Some(there) = beats.upgrade() {
            return Some(there);
        }
        let new = Arc::new(Heartbeat::start()?);
        *beats = Arc::downgrade(&new);
        Some(new)
    }
}

impl Work for ServerSide {
    fn interface(&self, ends: Ends) -> Option<Interface> {
        (self.interface)(ends)
    }

    fn cpus(&self) -> Vec<u32> {
        usable_cpus(None).unwrap_or_default()
    }

    fn open(&self, job: &Value, ends: Ends) -> Result<Vec<Box<dyn Task>>, String> {
        let job: Job = serde_json::from_value(job.clone())
            .map_err(|e| format!("the server cannot parse the job: {e}"))?;
        let streams = streams(&job, ends).map_err(|e| e.0)?;
        let heartbeat = self.heartbeat();
        let with = |s| Box::new(Stream { heartbeat: heartbeat.clone(), ..s }) as Box<dyn Task>;
        Ok(streams.into_iter().map(with).collect())
    }

    /// Returns the counters since the last query on the same channel.
    fn counters(&self, ends: Ends) -> Value {
        let interface = self.interface(ends).map(|i| i.name);
        let heartbeat = lock(&self.heartbeat).upgrade();
        let now = EndCounters::read(interface.as_deref(), &self.cpu_stat, heartbeat.as_deref());
        let mut last_query = lock(&self.last_query);
        let before = last_query.replace((ends.peer, now.clone()));
        let traffic = match before {
            Some((peer, before)) if peer == ends.peer => now.since(&before),
            _ => EndTraffic::default(),
        };
        serde_json::to_value(traffic).unwrap_or(Value::Null)
    }
}

/// Creates the streams of a job, with their sockets.
pub(super) fn streams(job: &Job, ends: Ends) -> Result<Vec<Stream>, Refusal> {
    job.check()?;
    job.shape.fits(ends.peer.is_ipv6())?;
    let failed = |e: std::io::Error| Refusal(format!("the server cannot create a socket: {e}"));
    let mut streams = Vec::with_capacity(job.shape.connections() as usize);
    for index in 0..job.shape.connections() as usize {
        let token = Token::random().map_err(failed)?;
        let shape = job.shape.clone();
        let (udp, listener, heartbeat) = (None, None, None);
        let mut stream = Stream { shape, index, token, udp, listener, heartbeat };
        if let Some(port) = job.ports.get(index) {
            let udp = job::udp_socket(&job.shape, ends).map_err(failed)?;
            let mut client = ends.peer;
            client.set_port(*port);
            job::connect(&udp, client).map_err(failed)?;
            stream.udp = Some(udp);
        }
        if job.shape.kind == Kind::TcpConnect {
            let mut local = ends.local;
            local.set_port(0);
            let listener = TcpListener::bind(local).map_err(failed)?;
            let set = set_socket_timeout(&listener, Timeout::Recv, Some(line::SLICE));
            set.map_err(|e| failed(e.into()))?;
            stream.listener = Some(listener);
        }
        streams.push(stream);
    }
    Ok(streams)
}

pub(super) struct Stream {
    shape: Shape,
    index: usize,
    /// The token that the client must send to `udp` or `listener`.
    token: Token,
    udp: Option<UdpSocket>,
    listener: Option<TcpListener>,
    /// Keeps the heartbeat running as long as the stream lives.
    heartbeat: Option<Arc<Heartbeat>>,
}

impl Task for Stream {
    fn describe_stream(&self) -> Value {
        serde_json::to_value(self.describe()).unwrap_or(Value::Null)
    }

    fn run(self: Box<Self>, data: TcpStream, bounds: &Bounds) {
        let _beats = self.heartbeat.clone();
        // The client sees that the connection ends.
        let _ = self.serve(&data, bounds);
    }
}

impl Stream {
    /// Returns the description of the stream for the client.
    pub(super) fn describe(&self) -> StreamDescription {
        let udp = self.udp.as_ref().map(UdpSocket::local_addr);
        let address = udp.or(self.listener.as_ref().map(TcpListener::local_addr));
        StreamDescription {
            port: address.and_then(Result::ok).map(|a| a.port()),
            token: self.token,
        }
    }

    /// Serves requests over a data connection until the connection or the session ends.
    pub(super) fn serve(self, data: &TcpStream, bounds: &Bounds) -> Result<(), String> {
        line::ready(data).map_err(|e| e.to_string())?;
        job::prepare(data, &self.shape).map_err(|e| e.0)?;
        let line = Line::new(data, Patience::While(bounds));
        let shape = self.shape.clone();
        if shape.apart {
            placement::pin_server(self.index, shape.path);
        }
        if let Some(udp) = &self.udp {
            udp::reach::server(&line, udp, self.token)?;
        }
        let mut end = self.end()?;
        loop {
            let request: Request = line.receive()?;
            let Request { first, count } = request;
            let numbers = first.checked_add(count).is_some();
            let bytes = count.checked_mul(shape.block).is_some();
            if !numbers || !bytes || !bounds.spend(shape.cost(count)) {
                line.send(&Report { outcome: Outcome::Refused, ..Report::default() })?;
                return Err("the client requested more than the session allows".to_owned());
            }
            let report = end.serve(&line, request)?;
            line.send(&report)?;
        }
    }

    fn end(self) -> Result<Box<dyn Serve>, String> {
        let (shape, sends) = (&self.shape, !self.shape.client_sends(self.index));
        let socket = || self.udp.ok_or_else(|| "the server has no UDP socket".to_owned());
        let listener = || self.listener.ok_or_else(|| "the server has no listener".to_owned());
        Ok(match shape.kind {
            Kind::TcpStream => Box::new(tcp::stream::End::new(shape, sends, self.index)),
            Kind::TcpRtt => Box::new(tcp::rtt::ServerEnd::new(shape)),
            Kind::TcpConnect => {
                Box::new(tcp::connect::ServerEnd { listener: listener()?, token: self.token })
            }
            Kind::UdpStream => {
                Box::new(udp::stream::End::new(socket()?, self.token, shape, (self.index, sends)))
            }
            Kind::UdpRtt => Box::new(udp::rtt::ServerEnd::new(socket()?, shape)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_since_the_same_channel_asked() {
        let server = ServerSide::new(|_| Some(proofmark_model::testing::interface("lo")), vec![]);
        let at = |port| Ends {
            local: "127.0.0.1:1".parse().unwrap(),
            peer: SocketAddr::from(([127, 0, 0, 1], port)),
        };
        let ask = |port| serde_json::from_value::<EndTraffic>(server.counters(at(port))).unwrap();
        assert_eq!(ask(5), EndTraffic::default());
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(&[0; 1000], socket.local_addr().unwrap()).unwrap();
        let counted = ask(5);
        assert!(counted.out_bytes.is_none_or(|b| b >= 1000), "{counted:?}");
        assert_eq!(counted.out_bytes.is_some(), std::path::Path::new("/proc/net/dev").exists());
        assert!(counted.cpus.is_some());
        assert_eq!(ask(6), EndTraffic::default());
    }
}
