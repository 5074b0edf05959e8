//! The client's request to the server for a configuration, and the sockets that both ends create.

use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use proofmark_engine::Refusal;
use proofmark_model::{UDP_BUFFER, key};
use proofmark_peer::{Ends, Token};
use rustix::net::sockopt::set_tcp_congestion;
use serde::{Deserialize, Serialize};

use super::shape::{Kind, Shape};
use super::udp::LOST_AFTER;
use super::{congestion, line, socket};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Job {
    pub(super) shape: Shape,
    /// The client's UDP port by connection. Empty for TCP.
    pub(super) ports: Vec<u16>,
}

impl Job {
    /// Checks that a server can do the job, before it creates anything for it.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        self.shape.check()?;
        let ports = if self.shape.kind.datagrams() { self.shape.connections() } else { 0 };
        if self.ports.len() as u64 != ports || self.ports.contains(&0) {
            return Err(Refusal(format!("this job needs {ports} UDP ports")));
        }
        // Before any socket exists, because only a refusal of the whole job reaches the client.
        self.shape
            .congestion
            .as_deref()
            .map_or(Ok(()), |name| congestion::check(name, "the server"))
    }
}

/// The server's description of one of its streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StreamDescription {
    /// The port of the server's separate socket for the stream, if it has one.
    pub(super) port: Option<u16>,
    /// The token with which the client identifies itself there.
    pub(super) token: Token,
}

/// The server's separate socket of a stream, from the client's view.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
    /// See [`StreamDescription::token`].
    pub(super) token: Token,
}

impl StreamDescription {
    /// Returns the address and token of the separate socket, if there is one.
    pub(super) fn target(self, mut server: SocketAddr) -> Option<Target> {
        server.set_port(self.port?);
        Some(Target { address: server, token: self.token })
    }
}

/// Creates a UDP socket for a configuration, at the address of this end.
pub(super) fn udp_socket(shape: &Shape, ends: Ends) -> io::Result<UdpSocket> {
    let mut local = ends.local;
    local.set_port(0);
    let socket = UdpSocket::bind(local)?;
    socket::set_buffers(&socket, shape.socket_buffer.unwrap_or(UDP_BUFFER))?;
    let wait = match shape.kind {
        Kind::UdpRtt => LOST_AFTER.min(line::SLICE),
        _ => shape.lateness().min(line::SLICE),
    };
    socket.set_read_timeout(Some(wait))?;
    socket.set_write_timeout(Some(Duration::from_millis(100)))?;
    Ok(socket)
}

/// Connects a UDP socket, and discards datagrams that others sent to it before.
pub(super) fn connect(socket: &UdpSocket, to: SocketAddr) -> io::Result<()> {
    socket.connect(to)?;
    let start = Instant::now();
    while start.elapsed() < line::SLICE {
        match socket::receive_now(socket, &mut [0], false) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            // A datagram, or an error message of a router about one.
            Ok(_) | Err(_) => {}
        }
    }
    Err(io::Error::other("the UDP socket received datagrams before the test began"))
}

/// Creates the client's sockets, by connection: none for TCP.
pub(super) fn client_sockets(shape: &Shape, ends: Ends) -> Result<Vec<Option<UdpSocket>>, Refusal> {
    let make = |_| {
        let socket = shape.kind.datagrams().then(|| udp_socket(shape, ends)).transpose();
        socket.map_err(|e| Refusal(format!("cannot create a UDP socket: {e}")))
    };
    (0..shape.connections()).map(make).collect()
}

pub(super) fn ports(sockets: &[Option<UdpSocket>]) -> Vec<u16> {
    let port = |socket: &UdpSocket| socket.local_addr().map_or(0, |a| a.port());
    sockets.iter().flatten().map(port).collect()
}

/// Sets the options of a data connection that the parameters request.
pub(super) fn prepare(stream: &TcpStream, shape: &Shape) -> Result<(), Refusal> {
    let failed = |what: &str, e: io::Error| Refusal(format!("cannot set {what}: {e}"));
    stream.set_nodelay(true).map_err(|e| failed("TCP_NODELAY", e))?;
    if shape.kind.datagrams() {
        return Ok(());
    }
    if let Some(bytes) = shape.socket_buffer {
        socket::set_buffers(stream, bytes).map_err(|e| failed(key::SOCKET_BUFFER.name(), e))?;
    }
    if let Some(name) = &shape.congestion {
        congestion::check(name, "this machine")?;
        let option = format!("congestion control '{name}'");
        set_tcp_congestion(stream, name).map_err(|e| failed(&option, e.into()))?;
    }
    Ok(())
}
