//! The server of a run's network workloads: another machine, or a child of this run on the
//! loopback.

mod output;

use std::cell::RefCell;
use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use proofmark_engine::{Launcher, Session, Workers, copy_rate};
use proofmark_host::{Root, network};
use proofmark_model::{
    Ending, Interface, Measurement, Network, NetworkPath, Plan, Point, clean_excerpt,
    format_seconds,
};
use proofmark_peer::{
    Address, ControlSession, Ends, INVITATION, Invitation, KEY_VARIABLE, Key, Limits, Overview,
    PeerError,
};
use proofmark_process::{ChildProcess, Input, Line, StartOptions, Stream};

use crate::error::{RunError, Usage};
use crate::plan::{estimate, tools_s};
use crate::planned::keep;
use crate::process::own_program;
use crate::registry::subsystem;
use crate::request::{LONGEST_RUN, PeerKey, PeerRequest};
use crate::system_limits::state;
use output::{MAX_OUTPUT, ServedSession, ServerOutput};

/// Bytes per second for which a session is requested: 400 Gbit/s.
const BYTES_A_SECOND: u64 = 50_000_000_000;

/// Time limit for the loopback server to listen.
const START: Duration = Duration::from_secs(30);

/// Maximum bytes of the line with its address.
const LONGEST_ADDRESS: usize = 200;

/// Time limit for the loopback server to end, and for any server to report why it ended.
const GRACE: Duration = Duration::from_secs(2);

/// A server, and the session with it. The session begins with the first network configuration, so
/// that the server stays free before.
pub struct ServerSide {
    address: Address,
    key: Key,
    network: Network,
    limits: Limits,
    /// `None` before it begins, or while another run uses the server. An error is a permanent
    /// reason.
    session: RefCell<Option<Result<ControlSession, String>>>,
    /// The loopback server, which ends with this value.
    _server: Option<ChildProcess>,
    /// The server's last output, and the limits of the system when it started.
    output: ServerOutput,
}

impl ServerSide {
    /// Connects to the server that the user named. Fails without a key or an answer.
    pub fn peer(request: &PeerRequest) -> Result<Self, Usage> {
        let wrong = |why: &dyn Display| Usage(format!("--peer: {why}"));
        let key = match &request.key {
            PeerKey::File(file) => Key::find(file.as_deref()).map_err(|e| wrong(&e))?,
            PeerKey::Known(key) => key.clone(),
        };
        Self::look(request.address.clone(), key, None).map_err(|e| wrong(&e))
    }

    /// Starts a server on this machine, for this run alone.
    pub fn loopback() -> Result<Self, RunError> {
        let key = Key::generate()
            .map_err(|e| RunError::failed("cannot start the loopback server", &e))?;
        let mut command = Command::new(own_program()?);
        command
            .args(["serve", "--for-run", "--bind", "127.0.0.1:0"])
            .args(["--max-time", "30d", "--max-bytes", "1000000TB"])
            .env(KEY_VARIABLE, key.to_hex());
        Self::start(&mut command, key, START)
    }

    /// Starts the server. It prints its address first, and ends when its input closes.
    fn start(command: &mut Command, key: Key, within: Duration) -> Result<Self, RunError> {
        let failed = |why: &dyn Display| RunError::failed("cannot start the loopback server", why);
        let before = state();
        let options = StartOptions {
            input: Input::Piped,
            output: Stream::Lines(LONGEST_ADDRESS),
            errors: Stream::Tail(MAX_OUTPUT),
            grace: GRACE,
            ..StartOptions::default()
        };
        let mut server = ChildProcess::start(command, options).map_err(|e| failed(&e))?;
        let output = ServerOutput::new(server.errors().unwrap_or_default(), before);
        match first_address(&mut server, within) {
            Ok(address) => Self::look(address.into(), key, Some((server, output.clone()))),
            Err(why) => return Err(failed(&output.explained(&why))),
        }
        .map_err(|e| failed(&output.explained(&e)))
    }

    fn look(
        address: Address,
        key: Key,
        server: Option<(ChildProcess, ServerOutput)>,
    ) -> Result<Self, PeerError> {
        let seen = Overview::fetch(&address, &key)?;
        let (network, limits) = (network_from(&seen), seen.limits);
        let (server, output) = server.unzip();
        let (session, output) = (RefCell::default(), output.unwrap_or_default());
        Ok(Self { address, key, network, limits, session, _server: server, output })
    }

    /// Facts about the server and the path to it.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Returns the environment variable with which a worker joins the session. Begins the session
    /// if necessary.
    fn invitation(&self, asked: Limits) -> Result<(String, String), String> {
        let mut session = self.session.borrow_mut();
        if session.is_none() {
            let run = format!("{} {}", proofmark_peer::this_host().name, std::process::id());
            let begun = ControlSession::connect(&self.address, &self.key, &run, asked);
            // The server may be free for the next configuration.
            if let Err(busy @ PeerError::Busy { .. }) = begun {
                return Err(busy.to_string());
            }
            *session = Some(begun.map_err(|error| error.to_string()));
        }
        let begun = match &*session {
            Some(session) => session.as_ref().map_err(Clone::clone)?,
            None => return Err("no session with the server".to_owned()),
        };
        if let Some(reason) = begun.ended() {
            return Err(format!("the session with the server ended: {reason}"));
        }
        let interface = self.network.interface.get().map(|i| i.name.clone());
        let invitation = Invitation { interface, ..begun.invitation() };
        Ok((INVITATION.to_owned(), invitation.to_json()))
    }

    /// The reason why the session is over, once it is.
    fn ended(&self) -> Option<String> {
        match self.session.borrow().as_ref()? {
            Ok(begun) => begun.ended(),
            Err(reason) => Some(reason.clone()),
        }
    }

    /// The reason why the session is over, after these measurements. A worker sees its own
    /// connection break before the session knows why. So this waits for the reason if a network
    /// configuration was refused.
    pub fn ended_after(&self, measurements: &[Measurement]) -> Option<String> {
        let broken = |m: &Measurement| {
            m.subsystem.info().has_server && matches!(m.ending, Ending::Refused { .. })
        };
        let asked = Instant::now();
        while self.ended().is_none() && measurements.iter().any(broken) && asked.elapsed() < GRACE {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.ended()
    }

    /// Returns a warning if a plan may need a longer session than the server allows.
    pub fn too_short(&self, plan: &Plan) -> Option<String> {
        let most = Duration::from_secs_f64(network_s(plan));
        let granted = Duration::from_secs(self.limits.seconds);
        (granted < most).then(|| {
            format!(
                "proofmark: the server allows {}, but the network tests may need {}; the rest is \
                not measured; start `proofmark serve` with a longer --max-time",
                format_seconds(granted.as_secs_f64()),
                format_seconds(most.as_secs_f64())
            )
        })
    }
}

/// Reads the address that a server prints first, or explains why there is none.
fn first_address(server: &mut ChildProcess, within: Duration) -> Result<SocketAddr, String> {
    let line = match server.line(within) {
        Line::Text(line) => String::from_utf8_lossy(&line).into_owned(),
        Line::Silence => {
            return Err(format!("it printed no address within {} s", within.as_secs()));
        }
        Line::End => {
            let ended = server.end(GRACE);
            let words = server.last_words(GRACE);
            return Err(match ended {
                Some(ended) => format!("it {}", ended.exit.with_last_line(&words)),
                None => "it closed its output before it printed an address".to_owned(),
            });
        }
    };
    let no_address = |_| format!("it printed no address: {}", clean_excerpt(line.trim(), 100));
    line.trim().parse().map_err(no_address)
}

/// True if a configuration needs a server.
pub fn on_network(point: &Point) -> bool {
    subsystem(&point.workload).is_some_and(|s| s.info().has_server)
}

/// Starts workers. Those of network configurations use the session with the server and start only
/// while it lasts. Each would otherwise wait for a lost server.
pub struct Served<'a> {
    /// The server, if there is one.
    pub server: Option<&'a ServerSide>,
    /// The limits to request for the session.
    pub session: Limits,
    /// The launcher of the workers.
    pub workers: &'a Workers,
}

impl Launcher for Served<'_> {
    fn launch(&self, point: &Point) -> Result<Box<dyn Session>, Ending> {
        let Some(server) = self.server.filter(|_| on_network(point)) else {
            return self.workers.launch(point);
        };
        let output = server.output.clone();
        let refused = |reason| output.limited(Ending::Refused { reason });
        let invitation = server.invitation(self.session).map_err(refused)?;
        let workers = Workers { environment: vec![invitation], ..self.workers.clone() };
        let session = workers.launch(point).map_err(|ending| output.limited(ending))?;
        Ok(Box::new(ServedSession { session, output }))
    }

    fn launch_together(&self, point: &Point) -> Result<Box<dyn Session>, Ending> {
        self.workers.launch_together(point)
    }

    fn release_idle_worker(&self) {
        self.workers.release_idle_worker();
    }
}

/// The limits to request for a session: twice the estimated time of the network configurations, and
/// 1 min.
pub fn session_for(plan: &Plan) -> Limits {
    let seconds = Duration::from_secs_f64(2.0 * network_s(plan)) + Duration::from_secs(60);
    let seconds = seconds.min(LONGEST_RUN).as_secs();
    Limits { seconds, bytes: seconds * BYTES_A_SECOND }
}

/// Maximum seconds from the start of a plan's first network configuration to the end of its last.
fn network_s(plan: &Plan) -> f64 {
    let ends = |point: &Point| on_network(point);
    let (Some(first), Some(last)) =
        (plan.points.iter().position(ends), plan.points.iter().rposition(ends))
    else {
        return 0.0;
    };
    let mut between = plan.clone();
    keep(&mut between, |place, _| (first..=last).contains(&place));
    (estimate(&between).1 + tools_s(&between)).min(LONGEST_RUN.as_secs_f64())
}

fn network_from(seen: &Overview) -> Network {
    let Ends { local, peer } = seen.ends;
    let path = if seen.ends.one_machine() { NetworkPath::Loopback } else { NetworkPath::Peer };
    Network {
        boot_id: proofmark_peer::this_host().boot_id,
        clocks_ns: Some(seen.clocks_ns),
        path,
        address: peer.to_string(),
        server: seen.server.clone(),
        interface: network::interface_between(&Root::live(), local.ip(), peer.ip()),
        server_interface: seen.server_interface.clone(),
        copy_bytes_per_s: copy_rate(),
    }
}

/// Facts about the loopback before a server runs: enough for a plan.
pub fn loopback_network() -> Network {
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let (server, interface) =
        (proofmark_peer::this_host(), network::interface_between(&Root::live(), here, here));
    Network {
        boot_id: server.boot_id.clone(),
        clocks_ns: None,
        path: NetworkPath::Loopback,
        address: here.to_string(),
        server,
        server_interface: interface.get().cloned(),
        interface,
        copy_bytes_per_s: None,
    }
}

/// The cpu.stat files of this process's cgroups, nearest first.
pub fn cpu_stat() -> Vec<PathBuf> {
    proofmark_host::cpu_stat(&Root::live()).into_iter().map(PathBuf::from).collect()
}

/// The interface of this machine that leads to a client.
pub fn interface(ends: Ends) -> Option<Interface> {
    let (local, peer) = (ends.local.ip(), ends.peer.ip());
    network::interface_between(&Root::live(), local, peer).get().cloned()
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use proofmark_model::{Params, Policy};
    use proofmark_peer::Server;

    use super::*;

    #[test]
    fn a_server_at_an_own_address_is_counted_at_the_loopback() {
        // The address of the interface to other machines. No packet is sent.
        let out = UdpSocket::bind("0.0.0.0:0").unwrap();
        let own = out.connect("192.0.2.1:9").and_then(|()| out.local_addr()).map(|a| a.ip());
        let Some(own) = own.ok().filter(|ip| !ip.is_loopback()) else {
            proofmark_testing::skip("this machine has no address but the loopback's");
            return;
        };
        let (key, limits) = (Key::generate().unwrap(), Limits { seconds: 60, bytes: 1 << 20 });
        let server = Server::bind(SocketAddr::new(own, 0), key.clone(), limits).unwrap();
        let (address, stop) = (server.address().into(), server.stop());
        let work = proofmark_workloads::network::ServerSide::new(interface, vec![]);
        let serving = std::thread::spawn(move || server.serve(&work, |_| ()));
        let server = ServerSide::look(address, key, None).unwrap();
        assert_eq!(server.network().path, NetworkPath::Loopback);
        assert_eq!(server.network().server_interface.as_ref().unwrap().name, "lo");
        let (_, invitation) = server.invitation(limits).unwrap();
        assert_eq!(Invitation::parse(&invitation).unwrap().interface.unwrap(), "lo");
        drop(server);
        stop.stop();
        proofmark_testing::join("the server to end", serving);
    }

    /// The error of a shell as loopback server.
    fn refusal(script: &str, within_s: u64) -> String {
        let (to, refusal) = std::sync::mpsc::channel();
        let script = script.to_owned();
        std::thread::spawn(move || {
            let mut command = Command::new("sh");
            command.args(["-c", &script]);
            let server = ServerSide::start(
                &mut command,
                Key::generate().unwrap(),
                Duration::from_secs(within_s),
            );
            to.send(server.map(|_| ()).unwrap_err().to_string()).unwrap();
        });
        proofmark_testing::recv("the loopback server to be given up", &refusal)
    }

    #[test]
    fn a_server_that_does_not_listen_is_given_up() {
        for (script, within_s, why) in [
            ("exec sleep 600", 1, "it printed no address within 1 s"),
            ("exec cat /dev/zero", 60, "it printed no address"),
            ("echo 'no port' >&2; exit 3", 60, "it exited with status 3: no port"),
            ("kill -SEGV $$", 60, "it was killed by SIGSEGV"),
            ("echo hello; exec sleep 600", 60, "it printed no address: hello"),
        ] {
            let refusal = refusal(script, within_s);
            assert!(refusal.contains(why), "{script}: {refusal}");
        }
    }

    fn plan(workloads: &[&str], budget_s: Option<f64>) -> Plan {
        let policy =
            Policy { trial_s: 1.0, min_trials: 10, max_trials: 10, budget_s, ..Policy::default() };
        let point = |id: &&str| Point { workload: (*id).to_owned(), params: Params::default() };
        let points = workloads.iter().map(point).collect();
        Plan { policy, points, ..Plan::default() }
    }

    #[test]
    fn a_session_is_asked_for_what_the_network_points_take() {
        let session = |workloads: &[&str]| session_for(&plan(workloads, None));
        assert_eq!(session(&["cpu.clock"]).seconds, 60);
        let one = session(&["network.tcp.rtt"]);
        assert!((80..100).contains(&one.seconds), "{one:?}");
        assert_eq!(one.bytes, one.seconds * BYTES_A_SECOND);
        // The time before and after them does not count.
        assert_eq!(session(&["cpu.clock", "network.tcp.rtt", "cpu.clock"]), one);
        let between = session(&["network.tcp.rtt", "cpu.clock", "network.tcp.rtt"]);
        assert!(between.seconds > one.seconds + 30, "{between:?}");
        let hours = session_for(&plan(&["network.tcp.rtt"; 200_000], Some(1e9)));
        assert_eq!(hours.seconds, LONGEST_RUN.as_secs());
        // A budget is not exact to the second.
        let budget = session_for(&plan(&["network.tcp.rtt"; 1000], Some(1500.0)));
        assert!(budget.seconds >= 3000, "{budget:?}");
    }
}
