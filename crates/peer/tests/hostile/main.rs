//! Outsiders during a session get nothing and cost a bounded amount; it does not notice.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests and their helpers")]

#[path = "../common/mod.rs"]
mod common;
mod crowds;
mod datagrams;
mod handshakes;
mod session;

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};

use common::{connect, until_closed, with_deadline};
use rustix::net::{AddressFamily, SocketType, bind, socket};

/// One test at a time: they count this process's threads and memory.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection from another address of this machine, as an unauthenticated peer's.
fn from_elsewhere(port: u16) -> TcpStream {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &SocketAddr::from((Ipv4Addr::new(127, 0, 0, 2), 0))).unwrap();
    rustix::net::connect(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, port))).unwrap();
    with_deadline(TcpStream::from(socket))
}

/// What the server answers to bytes after which the sender closes its side.
fn answered(to: SocketAddr, bytes: &[u8]) -> usize {
    answered_at(connect(to), bytes)
}

fn answered_at(mut stream: TcpStream, bytes: &[u8]) -> usize {
    // It may have been closed already: half of a write that nobody reads.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    until_closed(&mut stream).0
}
