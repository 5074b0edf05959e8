//! netperf: the classic tables, each below the line that names its test.

mod runner;
mod table;

use proofmark_model::Printed;

use crate::network::{EndpointFigure, add_endpoints};
use crate::text::lines;
use crate::{Description, Malformed, Output, Tool, same_work};
use table::{Table, transferred};

pub(crate) struct Netperf;

impl Tool for Netperf {
    fn description(&self) -> &Description {
        &Description {
            id: "netperf",
            printed: Printed::Mean,
            title: "netperf (Rick Jones, Hewlett-Packard)",
            package: "Debian: netperf (non-free)",
            reads: "its text",
            same_work: const {
                &[
                    same_work("TCP_STREAM", "network.tcp.stream"),
                    same_work("TCP_MAERTS", "network.tcp.stream"),
                    same_work("UDP_STREAM", "network.udp.stream"),
                    same_work("TCP_RR", "network.tcp.rtt"),
                    same_work("UDP_RR", "network.udp.rtt"),
                ]
            },
            about: "The classic tables with their headers (not -P 0, and no output of -o, -O or -k): \
                    TCP_STREAM, TCP_MAERTS, UDP_STREAM, TCP_RR, UDP_RR and TCP_CRR. Rates of \
                    streams are in bit/s, whatever the table's unit (-f): 10^6bits is decimal, \
                    MBytes is 2^20 bytes. TCP_STREAM counts what was sent, over a time that lasts \
                    until the receiver has taken it; UDP_STREAM's rate is the receiver's, of its \
                    second line, with the messages of both lines; messages x size / time must be the \
                    rate. TCP_RR and UDP_RR \
                    are round trips a second, one in flight; with a burst, or an answer of another \
                    size than the request, they are netperf's own. Tables of one test with the \
                    same parameters are its repetitions. A confidence that was not achieved (-I) is \
                    a finding.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(|line| header(line).is_some() || unread(line).is_some()) || headless(text)
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let mut runs: Vec<EndpointFigure> = Vec::new();
        let mut table: Option<Table> = None;
        for (at, line) in lines(text) {
            if let Some(what) = unread(line) {
                return Err(Malformed::at(at, format!("{what}, which is not read: {CLASSIC}")));
            }
            if let Some((name, ends)) = header(line) {
                if let Some(open) = &table {
                    return Err(Malformed::at(at, open.wants()));
                }
                table = Some(Table::begin(name, ends, at)?);
            } else if let Some(open) = &mut table {
                if let Some(figure) = open.take(line, at)? {
                    let (client, server) = (open.client.clone(), open.server.clone());
                    runs.push(EndpointFigure { client, server, figure });
                    table = None;
                }
            } else if let Some(run) = runs.last_mut() {
                run.figure.findings.extend(transferred(line, &run.figure));
            }
        }
        match table {
            Some(open) => Err(Malformed::at(text.lines().count(), open.wants())),
            None if runs.is_empty() => {
                let what = "netperf's header is missing, as with -P 0: the columns are unknown";
                Err(Malformed::at(1, format!("{what}; {CLASSIC}")))
            }
            None => Ok(Output { figures: add_endpoints(runs), ..Output::default() }),
        }
    }
}

/// The advice to get the tables that are read.
const CLASSIC: &str = "run the test without -P 0, -o, -O and -k";

/// Names the format of a line that is not read.
fn unread(line: &str) -> Option<&'static str> {
    const KEYS: [&str; 5] =
        ["THROUGHPUT", "THROUGHPUT_UNITS", "ELAPSED_TIME", "LOCAL_SEND_SIZE", "P99_LATENCY"];
    if line.split_once('=').is_some_and(|(key, _)| KEYS.contains(&key)) {
        return Some("netperf's list of KEY=VALUE (-k)");
    }
    let is_head = |field: &str| matches!(field.trim(), "Throughput" | "Elapsed Time (sec)");
    (line.contains(',') && line.split(',').any(is_head)).then_some("netperf's CSV (-o)")
}

/// Returns true if a text has the rows of `-P 0`, which begin with the size of a socket.
fn headless(text: &str) -> bool {
    let mut rows = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let begins = |line: &&str| {
        let socket = line.split_whitespace().next().and_then(|w| w.parse::<u64>().ok());
        let words = line.split_whitespace().count();
        (5..=11).contains(&words) && socket.is_some_and(|n| n >= 1024) && line.contains('.')
    };
    rows.peek().is_some_and(begins)
        && rows.all(|line| line.contains('.') || line.split_whitespace().all(is_number))
}

/// Returns the name of a test and the text after it, if the line begins a table.
fn header(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("MIGRATED ").unwrap_or(line);
    // Versions before 2.4 name only the server.
    let (name, ends) = line.split_once(" TEST ")?;
    let known = ["TCP", "UDP", "SCTP", "DCCP", "OMNI"].iter().any(|p| name.starts_with(p));
    let from = ends.strip_prefix("from ").filter(|e| e.contains(" to ") || e.ends_with(" port 0"));
    let ends = from.or(ends.strip_prefix("to ").map(|_| ends))?;
    known.then_some((name, ends))
}

/// The tests by the names of the option `-t`: streams to and from the server, and round trips.
const STREAM: &str = "TCP_STREAM";
const MAERTS: &str = "TCP_MAERTS";
const UDP_STREAM: &str = "UDP_STREAM";
const TCP_RR: &str = "TCP_RR";
const UDP_RR: &str = "UDP_RR";
const TCP_CRR: &str = "TCP_CRR";

#[cfg(test)]
mod tests;
