//! Tools to plant network faults: two namespaces with a link between them, limits, servers.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use proofmark_testing::{join, output, wait_within};

use super::{allowed, kill, proofmark, status, succeeds};

/// Address of the client host.
pub const CLIENT: &str = "10.9.0.1";
/// Address of the server host.
pub const SERVER: &str = "10.9.0.2";

/// Names of the interfaces of both hosts.
const INTERFACE: &str = "eth0";
const PREFIX: &str = "proofmark-";

/// Two hosts, which a drop removes.
pub struct Hosts {
    client: String,
    server: String,
}

impl Hosts {
    /// Makes the hosts; `None`, with a printed reason, if this user may make no network namespaces.
    pub fn new() -> Option<Self> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        remove_abandoned();
        let name =
            format!("{PREFIX}{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let hosts = Self { client: format!("{name}-client"), server: format!("{name}-server") };
        let (client, server) = (hosts.client.as_str(), hosts.server.as_str());
        let ip = |arguments: &str| {
            succeeds("ip", &arguments.split(' ').filter(|a| !a.is_empty()).collect::<Vec<_>>())
        };
        let made = ip(&format!("netns add {client}"))
            && ip(&format!("netns add {server}"))
            && ip(&format!(
                "-n {client} link add {INTERFACE} type veth peer name {INTERFACE} netns {server}"
            ));
        let up = |host: &str, address: &str| {
            ip(&format!("-n {host} addr add {address}/24 dev {INTERFACE}"))
                && ip(&format!("-n {host} link set lo up"))
                && ip(&format!("-n {host} link set {INTERFACE} up"))
        };
        let up = made && up(client, CLIENT) && up(server, SERVER);
        allowed(up.then_some(hosts), "this user may not make network namespaces")
    }

    /// Runs the command on the client host.
    pub fn on_client<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        on(&self.client, command)
    }

    /// Runs the command on the server host.
    pub fn on_server<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        on(&self.server, command)
    }

    /// Limits the client host to this many Mbit/s, counted at the layer of Ethernet by a token
    /// bucket of 1.3 ms, behind a queue of this many bytes. Returns false if the kernel has none.
    pub fn limit(&self, mbit: u64, queue: u64) -> bool {
        let (rate, burst) = (format!("{mbit}mbit"), (mbit * 160).to_string());
        let queue = queue.to_string();
        let place = ["-n", &self.client, "qdisc", "replace", "dev", INTERFACE, "root"];
        let bucket = ["tbf", "rate", &rate, "burst", &burst, "limit", &queue];
        succeeds("tc", &[&place[..], &bucket].concat())
    }

    /// Returns how many packets the limit has dropped so far, by its own count.
    fn dropped(&self) -> u64 {
        let arguments = ["-n", &self.client, "-s", "-j", "qdisc", "show", "dev", INTERFACE];
        let out = output(Command::new("tc").args(arguments));
        let shown: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        shown[0]["drops"].as_u64().unwrap()
    }

    /// Sends datagrams from the client host to an unread port of the other, until it is dropped.
    pub fn flood(&self) -> super::Busy {
        let script = format!(
            "while :; do dd if=/dev/zero bs=1400 count=1000 >/dev/udp/{SERVER}/9 2>/dev/null; done"
        );
        let mut bash = Command::new("bash");
        super::Busy::with(self.on_client(bash.args(["-c", &script])))
    }

    pub fn set_mtu(&self, mtu: u64) {
        for host in [&self.client, &self.server] {
            let mtu = mtu.to_string();
            assert!(succeeds("ip", &["-n", host, "link", "set", INTERFACE, "mtu", &mtu]));
        }
    }

    /// Sets the server host's link down or up.
    pub fn set_link(&self, state: &str) {
        assert!(succeeds("ip", &["-n", &self.server, "link", "set", INTERFACE, state]));
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for host in [&self.client, &self.server] {
            let _ = succeeds("ip", &["netns", "del", host]);
        }
    }
}

/// Runs the command in a network namespace. The shell becomes the command, which keeps its process
/// id.
fn on<'a>(host: &str, command: &'a mut Command) -> &'a mut Command {
    super::wrap(command, &format!("exec ip netns exec {host} \"$0\" \"$@\""))
}

/// Removes the hosts of tests that were killed before they could do so.
fn remove_abandoned() {
    for entry in fs::read_dir("/run/netns").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let test = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        if test.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = succeeds("ip", &["netns", "del", &name]);
        }
    }
}

/// A log of the packets that the limit of a client host has dropped, every 30 ms or so.
pub struct DropLog {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Dropped>>,
}

/// A count that was read between these two moments.
pub struct Dropped {
    pub from: SystemTime,
    pub until: SystemTime,
    pub count: u64,
}

impl DropLog {
    pub fn start(hosts: &Arc<Hosts>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, hosts) = (Arc::clone(&stop), Arc::clone(hosts));
        let thread = thread::spawn(move || {
            let mut log = Vec::new();
            // On a busy machine a sleep would miss the silence between two trials.
            let _ = rustix::process::setpriority_process(None, -20);
            while !stopped.load(Ordering::Relaxed) {
                let from = SystemTime::now();
                let count = hosts.dropped();
                log.push(Dropped { from, until: SystemTime::now(), count });
                thread::sleep(Duration::from_millis(25));
            }
            log
        });
        Self { stop, thread }
    }

    pub fn end(self) -> Vec<Dropped> {
        self.stop.store(true, Ordering::Relaxed);
        join("the log of what was dropped to end", self.thread)
    }
}

/// A `proofmark serve` that runs until it is dropped.
pub struct Served {
    child: Child,
    pub address: SocketAddr,
    /// Standard output, kept open so that the server can print.
    _stdout: BufReader<ChildStdout>,
}

impl Served {
    /// Starts a server on this machine's loopback, at a free port.
    pub fn here(key: &Path) -> Self {
        Self::start(&mut serve("127.0.0.1:0", key))
    }

    /// Starts it by a line of shell, in which `"$0" "$@"` is the server.
    pub fn here_by(key: &Path, shell: &str) -> Self {
        Self::start(super::wrap(&mut serve("127.0.0.1:0", key), shell))
    }

    /// Starts it with the kernel's boot id replaced by that in a file; `None`, with a printed
    /// reason, if this user may not mount.
    pub fn here_booted_as(key: &Path, boot_id: &Path) -> Option<Self> {
        let mount = "mount --bind \"$BOOT_ID\" /proc/sys/kernel/random/boot_id";
        let apart = |script: &str| {
            let mut command = serve("127.0.0.1:0", key);
            super::wrap(&mut command, &format!("exec unshare -m sh -c '{script}' \"$0\" \"$@\""));
            command.env("BOOT_ID", boot_id);
            command
        };
        let mountable = output(&mut apart(mount)).status.success();
        let serves = format!("{mount} && exec \"$0\" \"$@\"");
        allowed(mountable.then(|| Self::start(&mut apart(&serves))), "this user may not mount")
    }

    /// Starts a server on the server host, at the default port.
    pub fn on_server(hosts: &Hosts, key: &Path) -> Self {
        Self::start(hosts.on_server(&mut serve(SERVER, key)))
    }

    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let reader = thread::spawn(move || {
            let mut greeting = String::new();
            while !greeting.contains("--peer") {
                let before = greeting.len();
                stdout.read_line(&mut greeting).unwrap();
                assert_ne!(greeting.len(), before, "it ended: {greeting}");
            }
            (greeting, stdout)
        });
        let (greeting, stdout) = join("the server's greeting", reader);
        let line = greeting.lines().next().unwrap();
        let address = line.strip_prefix("proofmark: listening on ").unwrap().parse().unwrap();
        Self { child, address, _stdout: stdout }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal. Returns the rest of standard error, and the exit status.
    pub fn end(mut self, signal: &str) -> (String, Option<i32>) {
        kill(self.pid(), signal);
        let status =
            wait_within(Duration::from_secs(20), "the server to end at a signal", &mut self.child);
        // The server has ended, so standard error ends.
        let mut text = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut text).unwrap();
        (text, status.code())
    }

    /// Returns KiB from /proc/PID/status, such as `VmRSS` and `VmHWM`.
    pub fn kib(&self, field: &str) -> u64 {
        status(self.pid(), field).strip_suffix(" kB").unwrap().trim().parse().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a server that creates its key there, if there is none.
pub fn serve(bind: &str, key: &Path) -> Command {
    let mut command = proofmark();
    command.args(["serve", "--bind", bind, "--key-file"]).arg(key);
    command
}

/// Returns a run on this machine with a server at any address.
pub fn run_to(address: impl ToString, key: &Path) -> Command {
    let mut command = proofmark();
    command.args(["run", "--peer", &address.to_string(), "--key-file"]).arg(key);
    command
}

/// Sends random bytes to both ports of a server until `over`. Returns how many connections took
/// some.
pub fn throw_garbage(address: SocketAddr, over: &AtomicBool) -> u32 {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (mut bytes, mut count) = ([0; 2000], 0);
    while !over.load(Ordering::Relaxed) {
        fs::File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
        // Sometimes bytes that begin like a message.
        bytes[0] %= if count % 2 == 0 { 5 } else { 255 };
        let some = &bytes[..1 + 7 * usize::from(bytes[1])];
        let stream = TcpStream::connect_timeout(&address, Duration::from_secs(1));
        let taken = stream.and_then(|mut stream| stream.write_all(some).map(|()| stream));
        for _ in 0..100 {
            let _ = socket.send_to(some, address);
        }
        // Some connections stay half open for a moment.
        thread::sleep(Duration::from_millis(u64::from(bytes[2] % 4)));
        count += u32::from(taken.is_ok());
    }
    count
}

pub fn profile(trials: u32, points: &[String]) -> String {
    let policy = format!("min_trials = {trials}\nmax_trials = {trials}\ntrial = \"20ms\"\n");
    format!("name = \"test\"\n[policy]\ntarget = 0.02\n{policy}\n{}", points.join("\n"))
}

/// Returns a configuration with trials of that length and these parameters, as TOML.
pub fn point(workload: &str, trial: &str, parameters: &str) -> String {
    let mode = if workload.ends_with("rtt") { "mode = \"block\"\n" } else { "" };
    format!("[[points]]\nworkload = \"{workload}\"\ntrial = \"{trial}\"\n{mode}{parameters}\n")
}

pub fn written(folder: &Path, profile: &str) -> PathBuf {
    let path = folder.join("profile.toml");
    fs::write(&path, profile).unwrap();
    path
}

/// Starts a run into `out` of a directory, with standard error in `log` there.
pub fn begun(mut command: Command, folder: &Path) -> Child {
    let log = fs::File::create(folder.join("log")).unwrap();
    command.arg("--out").arg(folder.join("out"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap()
}
