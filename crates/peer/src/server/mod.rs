//! The server: one session at a time for who holds the key, silence for all others.

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

/// How long the server waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For a connection to prove the key.
    pub handshake: Duration,
    /// For the next message of a session's lead, which pings five times in it.
    pub silence: Duration,
}

impl Default for Patience {
    /// 5 s, and 8 s: a dead lead's session is gone, with its tasks, within 10 s.
    fn default() -> Self {
        Self { handshake: Duration::from_secs(5), silence: Duration::from_secs(8) }
    }
}

/// Ends a server's [`Server::serve`], from any thread.
#[derive(Debug, Clone)]
pub struct Stop {
    stopped: Arc<AtomicBool>,
    listener: Arc<TcpStream>,
}

impl Stop {
    /// The session in progress is ended; nothing is accepted any more.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        // Shutting down a listening socket wakes who accepts on it.
        job::shut(&self.listener);
    }
}

enum Slot {
    Free,
    Taken(Arc<Session>),
    Closed,
}

/// A server that is bound to its port.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    /// The UDP port of the same number, from which nothing is ever read or sent.
    _mute: UdpSocket,
    handshake: Handshake,
    limits: Limits,
    patience: Patience,
    slot: Mutex<Slot>,
    stop: Stop,
}

impl Server {
    /// Binds the TCP and the UDP port of this number, 0 for a free one; an error if one is in use.
    pub fn bind(address: SocketAddr, key: Key, limits: Limits) -> io::Result<Self> {
        let (listener, mute) = bind_both(address)?;
        let address = listener.local_addr()?;
        // The standard library shuts down streams only; the descriptor is what counts.
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

    /// Sets the patience; the default is [`Patience::default`].
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// Where it is bound.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What ends it.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Serves until it is stopped. `log` gets a line for each start and end of a session, each client
    /// that is refused or has no key (the latter once a second at most), and each panic of the work.
    /// It is called from one thread, and may wait: what cannot be queued for it is counted, and left
    /// out.
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
                            connections.cannot("accept a connection", &e);
                        }
                        thread::sleep(Duration::from_millis(20));
                        continue;
                    }
                };
                let ip = from.ip().to_canonical();
                let pass = match gate.enter(&stream, ip, self.favoured()) {
                    Ok(pass) => pass,
                    Err(e) => {
                        connections.cannot("keep a connection", &e);
                        continue;
                    }
                };
                let connections = &connections;
                let serve = move || connections.serve(stream, pass);
                let name = "peer".to_owned();
                // Without a thread for it the connection is closed.
                if let Err(e) = thread::Builder::new().name(name).spawn_scoped(scope, serve) {
                    connections.cannot("start a thread for a connection", &e);
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

/// Both ports of one number. A free TCP port may be taken for UDP: another is tried then.
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
