//! The network workloads beside iperf3, iperf and netperf over loopback, in pairs: the same
//! protocol, block and number of streams.
//!
//! Our server is a process of its own that serves all runs, as the tools' servers do; each
//! run of ours is another process. One pair is ours and the tool's, the next the tool's
//! and ours (A B B A). Rates are those of the receiver where the tool tells it (iperf
//! tells the sender's); of netperf, the mean round trip by its rate and its median, which
//! it tells in whole microseconds.
//!
//! `cargo bench -p proofmark-workloads --bench network -- [PAIRS] [WORD] [SECONDS]`: as many
//! pairs of each case whose name holds the word.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::time::Duration;

use proofmark_engine::{Latencies, Setup, Workload, monotonic};
use proofmark_model::Params;
use proofmark_peer::{Address, ControlSession, INVITATION, KEY_VARIABLE, Key, Limits, Server};
use proofmark_workloads::{find, network};
use serde_json::Value;

type Error = Box<dyn std::error::Error>;

const IPERF3_PORT: &str = "5911";
const IPERF_PORT: &str = "5912";
const NETPERF_PORT: &str = "5913";

/// What the server may do in all.
const LIMITS: Limits = Limits { seconds: 86_400, bytes: u64::MAX };

#[derive(Clone, Copy, PartialEq)]
enum Tool {
    Iperf3,
    Iperf,
    Netperf,
}

struct Case {
    workload: &'static str,
    block: u64,
    streams: u64,
    placement: &'static str,
    tool: Tool,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for block in [65_536, 131_072] {
        for streams in [1, 2, 4, 8] {
            for tool in [Tool::Iperf3, Tool::Iperf] {
                let (workload, placement) = ("network.tcp.stream", "free");
                cases.push(Case { workload, block, streams, placement, tool });
            }
        }
    }
    let iperf3 = |block, streams| Case {
        workload: "network.udp.stream",
        block,
        streams,
        placement: "apart",
        tool: Tool::Iperf3,
    };
    cases.extend([iperf3(65_507, 1), iperf3(65_507, 2), iperf3(8192, 1), iperf3(1472, 1)]);
    for workload in ["network.tcp.rtt", "network.udp.rtt"] {
        for placement in ["apart", "free"] {
            for block in [1, 1024, 8192] {
                cases.push(Case { workload, block, streams: 1, placement, tool: Tool::Netperf });
            }
        }
    }
    cases
}

impl Case {
    fn name(&self) -> String {
        let tool = match self.tool {
            Tool::Iperf3 => "iperf3",
            Tool::Iperf => "iperf",
            Tool::Netperf => "netperf",
        };
        let Self { workload, block, streams, placement, .. } = self;
        format!("{workload} {block} B {streams} streams {placement} / {tool}")
    }

    fn udp(&self) -> bool {
        self.workload.contains("udp")
    }

    fn ours(&self, invitation: &str, seconds: f64) -> Result<Outcome, Error> {
        let reported = output_of(
            Command::new(std::env::current_exe()?)
                .arg("--near")
                .arg(self.workload)
                .args([self.block.to_string(), self.streams.to_string(), seconds.to_string()])
                .arg(self.placement)
                .env(INVITATION, invitation),
        )?;
        let numbers: Vec<f64> = reported.split_whitespace().map_while(|n| n.parse().ok()).collect();
        let &[rate, loss, p50] = numbers.as_slice() else { return Err(reported.into()) };
        Ok(Outcome { rate, loss, p50 })
    }

    fn theirs(&self, seconds: f64) -> Result<Outcome, Error> {
        let (block, streams) = (self.block.to_string(), self.streams.to_string());
        let time = seconds.ceil().to_string();
        match self.tool {
            Tool::Iperf3 => {
                let mut command = Command::new("iperf3");
                command.args(["-c", "127.0.0.1", "-p", IPERF3_PORT, "-J", "-t", &time]);
                command.args(["-l", &block, "-P", &streams]);
                if self.udp() {
                    command.args(["-u", "-b", "0"]);
                }
                let json: Value = serde_json::from_str(&output_of(&mut command)?)?;
                parse_iperf3(&json, self.udp())
            }
            Tool::Iperf => {
                let mut command = Command::new("iperf");
                command.args(["-c", "127.0.0.1", "-p", IPERF_PORT, "-y", "C", "-t", &time]);
                let reported = output_of(command.args(["-l", &block, "-P", &streams]))?;
                let last = reported.lines().last().ok_or("iperf tells nothing")?;
                let rate = last.rsplit(',').next().ok_or("iperf tells no rate")?;
                Ok(Outcome { rate: rate.trim().parse()?, ..Outcome::default() })
            }
            Tool::Netperf => {
                let test = if self.udp() { "UDP_RR" } else { "TCP_RR" };
                let mut command = Command::new("netperf");
                command.args(["-H", "127.0.0.1", "-p", NETPERF_PORT, "-P", "0", "-l", &time]);
                if self.placement == "apart" {
                    command.args(["-T", "0,1"]);
                }
                command.args(["-t", test, "--", "-r", &format!("{block},{block}")]);
                let reported = output_of(command.args(["-o", "TRANSACTION_RATE,P50_LATENCY"]))?;
                let mut numbers = reported.trim().split(',').map(str::parse::<f64>);
                let mut next = || numbers.next().ok_or("netperf tells too little");
                let (rate, p50) = (next()??, next()?? * 1e-6);
                Ok(Outcome { rate, p50, loss: 0.0 })
            }
        }
    }
}

/// What one run came to.
#[derive(Clone, Copy, Default)]
struct Outcome {
    /// Bits or round trips per second.
    rate: f64,
    /// Share of the datagrams.
    loss: f64,
    /// Seconds.
    p50: f64,
}

fn parse_iperf3(json: &Value, udp: bool) -> Result<Outcome, Error> {
    let number = |value: &Value| value.as_f64().ok_or_else(|| format!("iperf3 tells {value}"));
    let received = &json["end"]["sum_received"];
    if !udp {
        return Ok(Outcome { rate: number(&received["bits_per_second"])?, ..Outcome::default() });
    }
    let sum = &json["end"]["sum"];
    let loss = number(&sum["lost_percent"])? / 100.0;
    // Of UDP, the sum is what was sent.
    let rate = number(&sum["bits_per_second"])? * (1.0 - loss);
    Ok(Outcome { rate, loss, p50: 0.0 })
}

fn output_of(command: &mut Command) -> Result<String, Error> {
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        let reported = String::from_utf8_lossy(&output.stdout);
        return Err(format!("{command:?} failed: {reported}").into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// A run of ours, in a process of its own: rate, share lost, median.
fn client(mut arguments: impl Iterator<Item = String>) -> Result<(), Error> {
    let mut next = || arguments.next().ok_or("too few arguments");
    let workload = find(&next()?).ok_or("no such workload")?;
    let (block, streams): (u64, u64) = (next()?.parse()?, next()?.parse()?);
    let seconds: f64 = next()?.parse()?;
    let placement = next()?;
    let params = params(workload, block, streams).with("placement", &*placement);
    let set_up = || workload.setup(&params).map_err(|e| e.0);
    let mut count = 1;
    let mut outcome = run(set_up()?.as_ref(), count)?;
    let each = |o: &Ran, seconds: f64| (o.sent * seconds / o.seconds) as u64 + 1;
    while outcome.seconds < seconds / 16.0 {
        count = each(&outcome, seconds / 8.0).min(count * 16);
        outcome = run(set_up()?.as_ref(), count)?;
    }
    let setup = set_up()?;
    let Ran { counted, sent, seconds, p50, .. } = run(setup.as_ref(), each(&outcome, seconds))?;
    let all = sent * streams as f64;
    let rate = counted as f64 * setup.work_per_iteration() / seconds;
    println!("{rate} {} {p50}", 1.0 - counted as f64 / all);
    Ok(())
}

fn params(workload: &dyn Workload, block: u64, streams: u64) -> Params {
    workload.spec().parameters.iter().fold(Params::default(), |params, parameter| match &*parameter
        .name
    {
        "streams" => params.with("streams", streams),
        "block_size" => params.with("block_size", block),
        "mode" => params.with("mode", "block"),
        "path" => params.with("path", "loopback"),
        name => params.with(name, &*parameter.default),
    })
}

struct Ran {
    /// Blocks that one stream sent.
    sent: f64,
    counted: u64,
    seconds: f64,
    p50: f64,
}

/// The work of one trial, from the first start to the last end.
fn run(setup: &dyn Setup, count: u64) -> Result<Ran, Error> {
    let threads = setup.threads(0) as usize;
    let barrier = Barrier::new(threads);
    let one = |index: usize| -> Result<(f64, f64, u64, Latencies), String> {
        if setup.pinned() {
            pin(setup, index);
        }
        let mut load = setup.thread(index, threads).map_err(|e| e.0)?;
        load.prepare(count);
        barrier.wait();
        let start = monotonic();
        load.run(count);
        let end = monotonic() - load.idled_s();
        load.failure().map_or(Ok(()), Err)?;
        let mut all = Latencies::default();
        load.latencies(&mut all);
        Ok((start, end, load.verify()?, all))
    };
    let parts: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|i| scope.spawn(move || one(i))).collect();
        threads.into_iter().map(|t| t.join().unwrap_or(Err("a thread died".into()))).collect()
    });
    let parts = parts.into_iter().collect::<Result<Vec<_>, String>>()?;
    let first = parts.iter().map(|p| p.0).fold(f64::INFINITY, f64::min);
    let last = parts.iter().map(|p| p.1).fold(0.0, f64::max);
    let mut all = Latencies::default();
    parts.iter().for_each(|p| all.merge(&p.3));
    Ok(Ran {
        sent: count as f64,
        counted: parts.iter().map(|p| p.2).sum(),
        seconds: last - first,
        p50: all.summary().map_or(0.0, |s| s.p50),
    })
}

/// Pins this thread as the engine does, to one of the setup's CPUs after the other.
fn pin(setup: &dyn Setup, index: usize) {
    let cpus = setup.cpus(&proofmark_engine::usable_cpus(None).unwrap_or_default());
    if let Some(cpu) = cpus.get(index % cpus.len().max(1)) {
        proofmark_engine::pin(*cpu);
    }
}

/// The server's process: tells its address, and serves.
fn server() -> Result<(), Error> {
    let key = Key::parse(&std::env::var(KEY_VARIABLE)?)?;
    let server = Server::bind("127.0.0.1:0".parse()?, key, LIMITS)?;
    println!("{}", server.address());
    server.serve(&network::ServerSide::new(|_| None), |_| ());
    Ok(())
}

/// A process that ends with this value.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Result<Self, Error> {
        Ok(Self(command.stdin(Stdio::null()).stderr(Stdio::null()).spawn()?))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn median(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    ((values[(n - 1) / 2] + values[n / 2]) / 2.0, values[0], values[n - 1])
}

fn compare(case: &Case, invitation: &str, pairs: usize, seconds: f64) -> Result<(), Error> {
    let mut outcomes = Vec::new();
    for pair in 0..pairs {
        outcomes.push(if pair % 2 == 0 {
            (case.ours(invitation, seconds)?, case.theirs(seconds)?)
        } else {
            let theirs = case.theirs(seconds)?;
            (case.ours(invitation, seconds)?, theirs)
        });
    }
    let shown = |of: &dyn Fn(&(Outcome, Outcome)) -> f64| {
        let (median, least, most) = median(outcomes.iter().map(of).collect());
        format!("{median:.4} [{least:.4}..{most:.4}]")
    };
    println!("{} ({pairs} pairs)", case.name());
    let scale = if case.tool == Tool::Netperf { 1e3 } else { 1e9 };
    println!("  ours   {}", shown(&|o| o.0.rate / scale));
    println!("  theirs {}", shown(&|o| o.1.rate / scale));
    println!("  rate   {}", shown(&|o| o.0.rate / o.1.rate));
    if case.tool == Tool::Netperf {
        println!("  p50 us {}  theirs {}", shown(&|o| o.0.p50 * 1e6), shown(&|o| o.1.p50 * 1e6));
    } else if case.udp() {
        println!("  loss   {}  theirs {}", shown(&|o| o.0.loss), shown(&|o| o.1.loss));
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1).filter(|a| a != "--bench").peekable();
    match arguments.peek().map(String::as_str) {
        Some("--near") => return client(arguments.skip(1)),
        Some("--far") => return server(),
        _ => {}
    }
    let pairs: usize = arguments.next().map_or(Ok(6), |n| n.parse())?;
    let word = arguments.next().unwrap_or_default();
    let seconds: f64 = arguments.next().map_or(Ok(2.0), |n| n.parse())?;
    let key = Key::generate()?;
    let mut server = Running::start(
        Command::new(std::env::current_exe()?)
            .arg("--far")
            .env(KEY_VARIABLE, key.to_hex())
            .stdout(Stdio::piped()),
    )?;
    let mut reported = String::new();
    BufReader::new(server.0.stdout.take().ok_or("no output")?).read_line(&mut reported)?;
    let address: Address = reported.trim().parse()?;
    let lead = ControlSession::connect(&address, &key, "bench", LIMITS)?;
    let invitation = lead.invitation().to_json();
    let null = Stdio::null;
    let _servers = [
        Running::start(Command::new("iperf3").args(["-s", "-p", IPERF3_PORT]).stdout(null()))?,
        Running::start(Command::new("iperf").args(["-s", "-p", IPERF_PORT]).stdout(null()))?,
        Running::start(Command::new("netserver").args(["-D", "-p", NETPERF_PORT]).stdout(null()))?,
    ];
    std::thread::sleep(Duration::from_millis(500));
    println!(
        "ours / theirs: median [least..greatest] over the pairs; Gbit/s, or 1000 round trips/s"
    );
    for case in cases().iter().filter(|c| c.name().contains(&word)) {
        compare(case, &invitation, pairs.max(1), seconds)?;
    }
    Ok(())
}
