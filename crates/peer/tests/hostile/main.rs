//! Tests of attackers during a session: they get no answer, cost bounded resources, and do not
//! disturb it.

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

/// Serialises the tests: they count this process's threads and memory.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens a connection from another address of this machine, as an unauthenticated peer would.
fn from_elsewhere(port: u16) -> TcpStream {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &SocketAddr::from((Ipv4Addr::new(127, 0, 0, 2), 0))).unwrap();
    rustix::net::connect(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, port))).unwrap();
    with_deadline(TcpStream::from(socket))
}

/// Counts the bytes that the server answers to these bytes and a closed write side.
fn answered(to: SocketAddr, bytes: &[u8]) -> usize {
    answered_at(connect(to), bytes)
}

fn answered_at(mut stream: TcpStream, bytes: &[u8]) -> usize {
    // The server may have closed it already, so the write may fail.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    until_closed(&mut stream).0
}
