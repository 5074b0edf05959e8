//! An echo server, and misbehaving ends that use only the Noise library, so that they share no code
//! with the tested crate.
#![allow(dead_code, reason = "each test binary uses its own part of this")]

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use proofmark_peer::{
    Address, Bounds, ControlSession, Ends, Key, Limits, Patience, Server, Stop, Task, VERSION, Work,
};
use proofmark_testing::{DEADLINE, join, wait_until, wait_until_within};
use serde_json::{Value, json};
use snow::{Builder, TransportState};

/// Short enough for tests, long enough for two busy CPUs.
pub const PATIENCE: Patience =
    Patience { handshake: Duration::from_millis(1500), silence: Duration::from_millis(2500) };
pub const LIMITS: Limits = Limits { seconds: 120, bytes: 1 << 40 };

/// Work that echoes. Jobs: `{"streams": n}`, `"panic"`, `"refuse"`, `"panicking task"`, `"long"`
/// (an answer too long to send).
#[derive(Default)]
pub struct Echo {
    pub running: Arc<AtomicUsize>,
}

struct EchoTask {
    kind: &'static str,
    running: Arc<AtomicUsize>,
}

impl Work for Echo {
    fn cpus(&self) -> Vec<u32> {
        (0..512).chain([2047]).collect()
    }

    fn open(&self, job: &Value, _: Ends) -> Result<Vec<Box<dyn Task>>, String> {
        let task =
            |kind| Box::new(EchoTask { kind, running: Arc::clone(&self.running) }) as Box<dyn Task>;
        match job.as_str() {
            Some("panic") => panic!("planted: open"),
            Some("refuse") => Err("planted: no such job".to_owned()),
            Some("long") => Ok(vec![task("long")]),
            Some(_) => Ok(vec![task("panic")]),
            None => Ok((0..job["streams"].as_u64().unwrap()).map(|_| task("echo")).collect()),
        }
    }

    fn counters(&self, ends: Ends) -> Value {
        json!({ "from": ends.peer.ip() })
    }
}

impl Task for EchoTask {
    fn describe_stream(&self) -> Value {
        if self.kind == "long" { json!("x".repeat(70_000)) } else { json!(self.kind) }
    }

    fn run(self: Box<Self>, mut data: TcpStream, bounds: &Bounds) {
        assert_ne!(self.kind, "panic", "planted: task");
        self.running.fetch_add(1, Ordering::SeqCst);
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = data.read(&mut buffer) {
            if !bounds.spend(n as u64) || data.write_all(&buffer[..n]).is_err() {
                break;
            }
        }
        self.running.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Server on a thread of this process.
pub struct ServerSide {
    pub address: SocketAddr,
    pub key: Key,
    /// Lines of its log.
    pub log: Arc<Mutex<Vec<String>>>,
    pub running: Arc<AtomicUsize>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl ServerSide {
    pub fn start() -> Self {
        Self::at(Ipv4Addr::LOCALHOST.into(), LIMITS)
    }

    pub fn v6() -> Self {
        Self::at(Ipv6Addr::LOCALHOST.into(), LIMITS)
    }

    pub fn with_key(key: Key) -> Self {
        Self::bind(Ipv4Addr::LOCALHOST.into(), key, LIMITS)
    }

    pub fn at(ip: IpAddr, limits: Limits) -> Self {
        Self::bind(ip, Key::generate().unwrap(), limits)
    }

    fn bind(ip: IpAddr, key: Key, limits: Limits) -> Self {
        let server = Server::bind(SocketAddr::new(ip, 0), key.clone(), limits).unwrap();
        let server = server.with_patience(PATIENCE);
        let (address, stop) = (server.address(), server.stop());
        let (log, work) = (Arc::<Mutex<Vec<_>>>::default(), Echo::default());
        let (running, lines) = (Arc::clone(&work.running), Arc::clone(&log));
        let thread = thread::spawn(move || {
            server.serve(&work, move |line| lines.lock().unwrap().push(line));
        });
        Self { address, key, log, running, stop, thread: Some(thread) }
    }

    pub fn address(&self) -> Address {
        self.address.into()
    }

    pub fn control(&self) -> ControlSession {
        self.try_control().unwrap()
    }

    pub fn try_control(&self) -> Result<ControlSession, proofmark_peer::PeerError> {
        let limits = Limits { seconds: 60, ..LIMITS };
        ControlSession::connect(&self.address(), &self.key, "test", limits)
    }

    /// Waits until a new session is granted, for less than the previous one's 60 s.
    pub fn next_control(&self) -> ControlSession {
        let limit = Duration::from_secs(30);
        wait_until_within(limit, "a new session to be granted", || self.try_control().ok())
    }

    pub fn stop(&mut self) {
        self.stop.stop();
        // A second panic during unwinding would abort the test without its message.
        if let Some(thread) = self.thread.take().filter(|_| !thread::panicking()) {
            join("the server to end", thread);
        }
    }

    /// Waits until the server's log has a line with these words.
    #[track_caller]
    pub fn wait_for(&self, words: &str) {
        wait_until(words, || self.log.lock().unwrap().iter().any(|line| line.contains(words)));
    }
}

impl Drop for ServerSide {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Opens a connection whose reads and writes have a deadline.
pub fn connect(to: SocketAddr) -> TcpStream {
    with_deadline(TcpStream::connect(to).unwrap())
}

pub fn with_deadline(stream: TcpStream) -> TcpStream {
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.set_write_timeout(Some(DEADLINE)).unwrap();
    stream
}

/// Returns the first bytes of a control connection, and the handshake state.
pub fn opening(key: &Key) -> (Vec<u8>, snow::HandshakeState) {
    let mut noise = noise(key, |b| b.build_initiator());
    let mut message = [0; 48];
    assert_eq!(noise.write_message(&[], &mut message).unwrap(), 48);
    ([&[1, 0, 48][..], &message].concat(), noise)
}

fn noise(
    key: &Key,
    build: impl Fn(Builder) -> Result<snow::HandshakeState, snow::Error>,
) -> snow::HandshakeState {
    let pattern = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s".parse().unwrap();
    let psk = key.bytes();
    let builder = Builder::new(pattern).psk(0, &psk).unwrap().prologue(b"proofmark peer").unwrap();
    build(builder).unwrap()
}

/// Returns a run's first message.
pub fn hello(seconds: u64) -> Value {
    json!({ "message": "hello", "version": VERSION, "run": "raw",
        "asked": { "seconds": seconds, "bytes": 1 << 20 } })
}

/// Starts a server that accepts one connection and sends these answers, each after a message.
pub fn pretender(key: &Key, answers: Vec<Value>) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let key = key.clone();
    thread::spawn(move || {
        let mut raw = Raw::admit(with_deadline(listener.accept().unwrap().0), &key);
        for answer in answers {
            raw.receive();
            raw.send(&answer);
        }
        until_closed(&mut raw.stream);
    });
    address.into()
}

/// End of a connection that sends only what a test makes it send.
pub struct Raw {
    pub stream: TcpStream,
    pub state: TransportState,
}

impl Raw {
    pub fn enter(to: SocketAddr, key: &Key) -> Self {
        let (bytes, noise) = opening(key);
        Self::enter_with(to, &bytes, noise)
    }

    pub fn enter_with(to: SocketAddr, opening: &[u8], mut noise: snow::HandshakeState) -> Self {
        let mut stream = connect(to);
        stream.write_all(opening).unwrap();
        let mut answer = [0; 50];
        stream.read_exact(&mut answer).unwrap();
        noise.read_message(&answer[2..], &mut []).unwrap();
        Self { stream, state: noise.into_transport_mode().unwrap() }
    }

    /// Performs the server's side of the handshake.
    fn admit(mut stream: TcpStream, key: &Key) -> Self {
        let mut first = [0; 51];
        stream.read_exact(&mut first).unwrap();
        let mut noise = noise(key, |b| b.build_responder());
        noise.read_message(&first[3..], &mut []).unwrap();
        let mut answer = [0; 50];
        answer[1] = 48;
        assert_eq!(noise.write_message(&[], &mut answer[2..]).unwrap(), 48);
        stream.write_all(&answer).unwrap();
        Self { stream, state: noise.into_transport_mode().unwrap() }
    }

    pub fn control(server: &ServerSide, seconds: u64) -> Self {
        let mut raw = Self::enter(server.address, &server.key);
        assert_eq!(raw.ask(&hello(seconds))["message"], "welcome");
        raw
    }

    pub fn seal(&mut self, message: &Value) -> Vec<u8> {
        let json = serde_json::to_vec(message).unwrap();
        let mut frame = vec![0; json.len() + 16];
        self.state.write_message(&json, &mut frame).unwrap();
        [&u16::try_from(frame.len()).unwrap().to_be_bytes()[..], &frame].concat()
    }

    pub fn send(&mut self, message: &Value) {
        let bytes = self.seal(message);
        self.stream.write_all(&bytes).unwrap();
    }

    pub fn receive(&mut self) -> Value {
        let mut length = [0; 2];
        self.stream.read_exact(&mut length).unwrap();
        let mut frame = vec![0; usize::from(u16::from_be_bytes(length))];
        self.stream.read_exact(&mut frame).unwrap();
        let mut json = vec![0; frame.len()];
        let length = self.state.read_message(&frame, &mut json).unwrap();
        serde_json::from_slice(&json[..length]).unwrap()
    }

    pub fn ask(&mut self, message: &Value) -> Value {
        self.send(message);
        self.receive()
    }
}

/// Counts the bytes until the server closes; returns the time too.
pub fn until_closed(stream: &mut TcpStream) -> (usize, Duration) {
    let (begin, mut all) = (Instant::now(), Vec::new());
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    match stream.read_to_end(&mut all) {
        Ok(_) => {}
        // Unread data make the close a reset.
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("not closed: {error}"),
    }
    (all.len(), begin.elapsed())
}

/// Sends bytes through an echo and compares.
pub fn echoes(data: &mut TcpStream, bytes: &[u8]) {
    data.set_read_timeout(Some(DEADLINE)).unwrap();
    data.write_all(bytes).unwrap();
    let mut back = vec![0; bytes.len()];
    data.read_exact(&mut back).unwrap();
    assert_eq!(back, bytes);
}
