//! iperf3: the JSON that its client prints with `-J`.

mod accounts;
mod events;
mod json;
mod runner;
mod transfer;

use std::collections::BTreeSet;

use proofmark_model::{
    Direction, EndTraffic, Finding, NetworkTraffic, Params, Printed, Severity, Timestamp, Trial,
    Unit, key,
};
use serde_json::Value;

use crate::documents::{documents, opening};
use crate::findings::warned;
use crate::network::{
    EndpointFigure, add_endpoints, default_rate, finite, throughput, traffic, with_path,
};
use crate::text::{lines, moment, wrong_if};
use crate::{Description, Malformed, Output, Tool, same_work};
use json::Section;
use transfer::Transfer;

pub(crate) struct Iperf3;

impl Tool for Iperf3 {
    fn description(&self) -> &Description {
        &Description {
            id: "iperf3",
            printed: Printed::Mean,
            title: "iperf3 (ESnet)",
            package: "Debian: iperf3",
            reads: "its JSON (-J)",
            same_work: const {
                &[same_work("TCP", "network.tcp.stream"), same_work("UDP", "network.udp.stream")]
            },
            about: "Reads the client's JSON (-J, --json-stream): TCP, UDP and SCTP, one or more \
                    streams, -R and --bidir, with any text around it. Runs with the same parameters \
                    are trials, and a run that is in the file twice counts once; runs to several servers are figures of their own, and runs at once \
                    are refused. The rate is the receiver's, in bit/s: the payload of all streams \
                    over its time; with --bidir both ways together over the longer time. Versions \
                    up to 3.9 report for UDP what was sent and the share lost: the rate is the \
                    rest. Figures also have the bytes of both ends and their CPU time, UDP's the \
                    datagrams sent and received, TCP's the segments that its senders \
                    retransmitted. iperf3 stops TCP with bytes in flight, so its senders count \
                    more than its receivers, whose count is the proof. Intervals, streams, sums and both ends are \
                    compared. --bitrate is per stream; the parameter rate is of all streams, both \
                    ways. proofmark does not compare paced TCP (iperf3.tcp.paced). UDP at the \
                    default rate is invalid.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        opening(text).is_some() && text.contains("\"iperf 3")
    }

    fn first_keys(&self) -> &'static [(&'static str, &'static str)] {
        &[("start", ":{"), ("event", ":\"")]
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let (mut all, mut runs) = (Output::default(), Vec::new());
        let mut times = Vec::new();
        let mut before = lines(text).peekable();
        // --logfile appends each run to those before it.
        let mut printed = BTreeSet::new();
        for document in events::merge_events(documents::<Value>(text)?)? {
            // Versions 3.16 and 3.17 print their JSON twice.
            let of = |key| document.value.get(key).map(Value::to_string);
            if !printed.insert((of("start"), of("end"))) {
                continue;
            }
            let root = Section::whole(document.text, &document.value);
            let mut run = run(&root).map_err(|found| document.placed(found))?;
            let above = std::iter::from_fn(|| before.next_if(|(at, _)| *at < document.line));
            run.between.figure.findings.extend(above.filter_map(|(_, line)| warning(line)));
            let latest = times.get(times.len().saturating_sub(LATEST)..).unwrap_or_default();
            at_once(latest, &run).map_err(|found| document.placed(found))?;
            all.version = all.version.or(run.version);
            all.started = all.started.or(run.started);
            times.extend(run.started.map(|started| (started, run.seconds, run.port)));
            runs.push(run.between);
        }
        all.figures = add_endpoints(runs);
        Ok(all)
    }
}

/// The runs before a run that may have run at the same time.
const LATEST: usize = 1000;

/// A run of a client.
struct Run {
    version: Option<String>,
    started: Option<Timestamp>,
    seconds: f64,
    /// The host and port of the server, which serves one client at a time.
    port: Option<String>,
    between: EndpointFigure,
}

fn run(root: &Section) -> Result<Run, Malformed> {
    if let Some(error) = root.word("error") {
        let what = format!("ended the test: {}: run it again", Malformed::sentence(error));
        return Err(root.wrong("error", &what));
    }
    let (start, end) = (root.section("start")?, root.section("end")?);
    if start.has("accepted_connection") {
        return Err(start.wrong("accepted_connection", "is a server's: give the client's output"));
    }
    let test = start.section("test_start")?;
    let protocol = test.word("protocol").filter(|p| [TCP, UDP, "SCTP"].contains(p));
    let protocol =
        protocol.ok_or_else(|| test.wrong("protocol", "is none of TCP, UDP and SCTP"))?;
    let (direction, udp) = (direction(&test, &end), protocol == UDP);
    let transfers = transfer::all(&end, &test, udp, direction)?;
    let trial = trial(&end, &transfers);
    let (rate, seconds) = (trial.value, trial.seconds);
    let params = params(&start, &end, protocol, direction)?;
    let streams = params.get(key::STREAMS).unwrap_or(1).max(1) * transfers.len() as u64;
    let paced = params.number(PACED).is_some();
    let figure = throughput(protocol, false, paced, params, trial);
    let mut figure = finite(figure, 1)
        .map_err(|_| end.wrong("sum_received", "has a time or a rate that is out of range"))?;
    let default = default_rate(test.number(PACED).ok(), rate / streams as f64);
    figure.findings.extend(default.filter(|_| udp));
    figure.findings.extend(accounts::differences(root, &end, &test, &transfers, udp));
    figure.proof = (!udp).then_some("iperf3's receiver counted the bytes");
    let [client, server] = addresses(&start).map(str::to_owned);
    let to = start.get("connecting_to");
    let port = to.and_then(|to| Some(format!("{} {}", to.word("host")?, to.count("port").ok()?)));
    Ok(Run {
        version: start.word("version").map(|v| v.trim_start_matches("iperf ").to_owned()),
        started: started(&start)?,
        seconds,
        port,
        between: EndpointFigure { client, server, figure },
    })
}

/// Refuses a run that shared the network with one before it. An iperf3 server has one client, so
/// users often run several clients and servers at once for the sum of their rates.
fn at_once(before: &[(Timestamp, f64, Option<String>)], run: &Run) -> Result<(), Malformed> {
    let Some(started) = run.started else { return Ok(()) };
    let overlap = |(other, seconds, port): &(Timestamp, f64, Option<String>)| {
        let later = started.since(*other);
        let shared = (later + run.seconds).min(*seconds) - later.max(0.0);
        *port != run.port && shared > run.seconds.min(*seconds) / 2.0
    };
    wrong_if(
        before.iter().any(overlap),
        1,
        "this run and one before it ran at the same time, so they are no repetitions; run \
         iperf3 3.16 or newer with -P, or give one run at a time",
    )
}

/// Reads a warning of iperf3 on a line before its JSON.
fn warning(line: &str) -> Option<Finding> {
    let line = line.strip_prefix("iperf3: ").unwrap_or(line);
    let warning = line.strip_prefix("warning: ")?;
    let message = format!("iperf3 warns: {}", Malformed::sentence(warning));
    Some(warned(Severity::Note, message))
}

const TCP: &str = "TCP";
const UDP: &str = "UDP";

/// The key of the maximum rate of each TCP or SCTP stream, in bit/s. proofmark has no such
/// parameter.
const PACED: &str = "target_bitrate";

/// Returns the addresses of the client and of the server in the first connection.
fn addresses<'a>(start: &Section<'a>) -> [&'a str; 2] {
    let first = start.each("connected").next();
    let address = |name| first.and_then(|first| first.word(name)).unwrap_or_default();
    ["local_host", "remote_host"].map(address)
}

/// Returns the direction of the blocks. Older versions show a test both ways only by the results of
/// the second direction.
fn direction(test: &Section, end: &Section) -> Direction {
    let set = |key| test.number(key).is_ok_and(|v| v > 0.0);
    let senders = |sends| {
        let end_of = |s: Section| s.get("udp").or(s.get("sender"))?.flag("sender");
        end.each("streams").any(|s| end_of(s) == Some(sends))
    };
    if set("bidir") || end.has("sum_received_bidir_reverse") || (senders(true) && senders(false)) {
        Direction::Both
    } else if set("reverse") {
        Direction::Reverse
    } else {
        Direction::Forward
    }
}

/// Returns the parameters that the output reports.
fn params(
    start: &Section,
    end: &Section,
    protocol: &str,
    direction: Direction,
) -> Result<Params, Malformed> {
    let test = start.section("test_start")?;
    let streams = test.count("num_streams")?;
    let params = Params::default()
        .with(key::STREAMS, streams)
        .with(key::BLOCK_SIZE, test.count("blksize")?)
        .known(key::DIRECTION, test.has("reverse").then(|| direction.as_str()));
    let fair = test.counted("fqrate")?;
    let rate = test.counted(PACED)?.filter(|rate| *rate > 0).or(fair).filter(|rate| *rate > 0);
    let udp = protocol == UDP;
    let transfers = if direction == Direction::Both { 2 } else { 1 };
    let all = rate.map(|rate| rate.checked_mul(streams.checked_mul(transfers)?));
    let rate_of_all = match all {
        Some(None) if udp => return Err(test.wrong(PACED, "is too large")),
        all => all.flatten().filter(|_| udp),
    };
    let params = params.known(key::RATE, rate_of_all).known_named(PACED, rate.filter(|_| !udp));
    let params = params
        .known(key::AMOUNT, test.counted("bytes")?.filter(|n| *n > 0))
        .known_named("blocks", test.counted("blocks")?.filter(|n| *n > 0))
        .known(key::SOCKET_BUFFER, start.counted("sock_bufsize")?.filter(|n| *n > 0))
        .known(key::CONGESTION, end.word("sender_tcp_congestion"));
    let [client, server] = addresses(start);
    Ok(with_path(params, client, server))
}

fn trial(end: &Section, transfers: &[Transfer]) -> Trial {
    let sum = |of: fn(&Transfer) -> u64| transfers.iter().map(of).fold(0, u64::saturating_add);
    let seconds = transfers.iter().map(|w| w.seconds).fold(0.0, f64::max);
    let received_bytes = sum(|w| w.received_bytes);
    let network = NetworkTraffic {
        ways_s: match transfers {
            [forward, reverse] => Some([forward.seconds, reverse.seconds]),
            _ => None,
        },
        client: end_traffic(end, "host_total", seconds, sent_by(transfers, false)),
        server: end_traffic(end, "remote_total", seconds, sent_by(transfers, true)),
        ..traffic(sum(|w| w.sent_bytes), received_bytes, transfer::datagrams(transfers))
    };
    let bits = received_bytes as f64 * 8.0;
    Trial { network: Some(network), ..Trial::new(Unit::BitPerSecond, bits, seconds) }
}

/// Returns the transfer that the server, or the client, sent.
fn sent_by(transfers: &[Transfer], back: bool) -> Option<&Transfer> {
    transfers.iter().find(|transfer| transfer.back == back)
}

/// Returns the CPU time of an end and the segments that it sent again. iperf3 prints the share of
/// the test's time that one CPU ran its threads, in percent.
fn end_traffic(end: &Section, key: &str, seconds: f64, sent: Option<&Transfer>) -> EndTraffic {
    let percent = end.get("cpu_utilization_percent").and_then(|cpu| cpu.number(key).ok());
    EndTraffic {
        own_cpu_s: percent.map(|p| p / 100.0 * seconds),
        retransmits: sent.and_then(|sent| sent.retransmits),
        ..EndTraffic::default()
    }
}

fn started(start: &Section) -> Result<Option<Timestamp>, Malformed> {
    let Some(timestamp) = start.get("timestamp") else { return Ok(None) };
    let seconds = timestamp.count("timesecs")?;
    let at = i64::try_from(seconds).ok().and_then(moment);
    at.map(Some).ok_or_else(|| timestamp.wrong("timesecs", "is no time"))
}

#[cfg(test)]
mod tests;
