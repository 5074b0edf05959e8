//! Server: one session at a time for clients with the key, no answer to others.

mod connection;
mod gate;
mod job;
mod log;
mod mute;
mod session;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use connection::Connections;
use gate::Gate;
use log::Log;
use session::Session;

use proofmark_model::lock;

use crate::handshake::Handshake;
use crate::key::Key;
use crate::message::Limits;
use crate::work::Work;

/// The server's time limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Time for a connection to authenticate.
    pub handshake: Duration,
    /// Time for the next message of a run, which pings five times in it.
    pub silence: Duration,
}

impl Default for Patience {
    /// Returns 5 s and 8 s: a dead run's session and its tasks are gone within 10 s.
    fn default() -> Self {
        Self { handshake: Duration::from_secs(5), silence: Duration::from_secs(8) }
    }
}

/// Handle that ends [`Server::serve`] from any thread.
#[derive(Debug, Clone)]
pub struct Stop {
    stopped: Arc<AtomicBool>,
    listener: Arc<TcpStream>,
}

impl Stop {
    /// Ends the session in progress and stops accepting connections.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        // Shutting down a listening socket wakes the thread that accepts on it.
        job::shut(&self.listener);
    }
}

enum Slot {
    Free,
    Taken(Arc<Session>),
    Closed,
}

/// Server that is bound to its port.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    /// UDP port of the same number, which is never read or written.
    _mute: UdpSocket,
    handshake: Handshake,
    limits: Limits,
    patience: Patience,
    slot: Mutex<Slot>,
    stop: Stop,
}

impl Server {
    /// Binds the TCP and the UDP port of this number, 0 for a free one. Fails if one is in use.
    pub fn bind(address: SocketAddr, key: Key, limits: Limits) -> io::Result<Self> {
        let (listener, mute) = bind_both(address)?;
        let address = listener.local_addr()?;
        // The standard library shuts down only streams; any type with the descriptor works.
        let shutter = TcpStream::from(OwnedFd::from(listener.try_clone()?));
        let stop = Stop { stopped: Arc::new(AtomicBool::new(false)), listener: Arc::new(shutter) };
        Ok(Self {
            listener,
            address,
            _mute: mute,
            handshake: Handshake::new(key),
            limits,
            patience: Patience::default(),
            slot: Mutex::new(Slot::Free),
            stop,
        })
    }

    /// Sets the time limits; the default is [`Patience::default`].
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// Returns the bound address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns a handle that stops the server.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Serves until it is stopped. `log` gets a line for each start and end of a session, each
    /// refused client, and each panic of the work. It gets a line about clients without the key at
    /// most once per second. It is called from one thread and may block: lines that do not fit the
    /// queue are counted and dropped.
    pub fn serve(&self, work: &dyn Work, log: impl Fn(String) + Send + 'static) {
        let gate = Arc::new(Gate::default());
        let connections = Connections::new(self, work, Log::new(log));
        thread::scope(|scope| {
            while !self.stop.stopped.load(Ordering::Acquire) {
                let (stream, from) = match self.listener.accept() {
                    Ok(accepted) => accepted,
                    Err(e) => {
                        // Out of descriptors, or stopped.
                        if !self.stop.stopped.load(Ordering::Acquire) {
                            connections.report_system_error("accept a connection", &e);
                        }
                        thread::sleep(Duration::from_millis(20));
                        continue;
                    }
                };
                let ip = from.ip().to_canonical();
                let pass = match gate.enter(&stream, ip, self.favoured()) {
                    Ok(pass) => pass,
                    Err(e) => {
                        connections.report_system_error("keep a connection", &e);
                        continue;
                    }
                };
                let connections = &connections;
                let serve = move || connections.serve(stream, pass);
                let name = "peer".to_owned();
                // Without a thread the connection is closed.
                if let Err(e) = thread::Builder::new().name(name).spawn_scoped(scope, serve) {
                    connections.report_system_error("start a thread for a connection", &e);
                }
            }
            gate.clear();
            let slot = std::mem::replace(&mut *lock(&self.slot), Slot::Closed);
            if let Slot::Taken(session) = slot {
                session.end(connection::STOPPED);
            }
        });
    }

    fn favoured(&self) -> Option<IpAddr> {
        self.session().map(|session| session.ends.peer.ip())
    }

    fn session(&self) -> Option<Arc<Session>> {
        match &*lock(&self.slot) {
            Slot::Taken(session) => Some(Arc::clone(session)),
            Slot::Free | Slot::Closed => None,
        }
    }
}

/// Binds both ports of one number. A free TCP port may be in use for UDP; then another is tried.
fn bind_both(address: SocketAddr) -> io::Result<(TcpListener, UdpSocket)> {
    let mut tries = if address.port() == 0 { 16 } else { 1 };
    loop {
        let listener = TcpListener::bind(address)?;
        tries -= 1;
        match mute::bind(listener.local_addr()?) {
            Ok(mute) => return Ok((listener, mute)),
            Err(error) if tries == 0 => return Err(error),
            Err(_) => {}
        }
    }
}
