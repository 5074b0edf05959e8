//! iperf, version 2: the text and the CSV (`-y C`) of its client.

mod figure;
mod line;
mod run;
mod runner;

use std::collections::BTreeSet;

use proofmark_model::Printed;

use crate::network::add_endpoints;
use crate::text::{each_line, lines};
use crate::{Description, Malformed, Output, Tool, same_work};
use line::Row;
use run::Run;

pub(crate) struct Iperf;

impl Tool for Iperf {
    fn description(&self) -> &Description {
        &Description {
            id: "iperf",
            printed: Printed::Mean,
            title: "iperf, version 2",
            package: "Debian: iperf",
            reads: "its text or CSV (-y C)",
            same_work: const {
                &[same_work("TCP", "network.tcp.stream"), same_work("UDP", "network.udp.stream")]
            },
            about: "Reads the client's text or CSV (-y C), TCP and UDP, one or more streams; text \
                    also with -R. Runs of a log with the same parameters are trials; runs to \
                    several servers are figures of their own. It reads neither both ways (-d, -r, \
                    --full-duplex), --bounceback, --isochronous nor a server's output. Rates are in \
                    bit/s: Mbits/sec is decimal, MBytes/sec (-f M) is 2^20 bytes. Text has three \
                    digits; -f b and CSV have all. Transfer, rate, interval and totals must agree. \
                    For TCP the rate is the sender's (iperf.tcp.sent), with -R the receiver's; with \
                    --fq-rate it is paced. Versions before 2.1 also count bytes that only filled \
                    the socket buffer. For UDP the rate is the receiver's, from the server's \
                    report, with datagrams sent and lost. Without that report it is the sender's, \
                    iperf.udp.sent. At the default rate it is invalid. For several TCP streams it \
                    is their bytes over the longest time.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        let client = |l: &str| {
            (l.starts_with(CLIENT) && (l.contains(", TCP port ") || l.contains(", UDP port ")))
                || line::csv(l).is_some()
                || (l.starts_with(SERVER) && l.contains(" port "))
                || connection(l)
        };
        text.lines().any(client)
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        if let Some((at, _)) = lines(text).find(|(_, line)| line.starts_with(SERVER)) {
            let both = text.lines().any(|line| line.starts_with(CLIENT));
            return Err(Malformed::at(at, if both { DUAL } else { OF_SERVER }));
        }
        if let Some(at) = opposite(text) {
            return Err(Malformed::at(at, DUAL));
        }
        let (mut run, mut runs) = (Run::default(), Vec::new());
        let last = each_line(text, |at, line| {
            let line = line.trim_end();
            if run.ends_before(line) {
                let next = run.following()?;
                runs.push(std::mem::replace(&mut run, next).figure(at)?);
            }
            run.take(line, at)
        })?;
        runs.push(run.figure(last)?);
        Ok(Output { figures: add_endpoints(runs), ..Output::default() })
    }
}

/// The beginning of a run's text; one log may have several.
const CLIENT: &str = "Client connecting to ";
/// The beginning of a server's text. One end of a test both ways over two connections also prints
/// it.
const SERVER: &str = "Server listening on ";

const OF_SERVER: &str = "this is a server's output: give the client's";
const DUAL: &str = "a test both ways (-d, -r), or a server's output with a client's, is not read: \
                    give the client's output of one way, for the other with -R";
const BOTH_WAYS: &str = "a test both ways at once is not read: run one way, and the other with -R";

/// Returns true for `[  3] local 192.0.2.1 port 40000 connected with 192.0.2.2 port 5001`.
fn connection(line: &str) -> bool {
    let rest = line.strip_prefix('[').and_then(|line| line.split_once(']')).map(|(_, rest)| rest);
    rest.is_some_and(|rest| rest.starts_with(" local ") && rest.contains(" connected with "))
}

/// Tests whose rate is no throughput, by the lines that announce them.
const UNREAD: [(&str, &str); 2] =
    [("Bounce-back test", "--bounceback"), ("Isochronous: ", "--isochronous")];

/// Returns the first row of CSV in the opposite direction of a row before it, between the same two
/// hosts.
fn opposite(text: &str) -> Option<usize> {
    let mut directions = BTreeSet::new();
    lines(text).find_map(|(at, line)| {
        let row = Row::parse(&line::csv(line)?, at).ok()?;
        let (from, to) = (row.from.0.to_owned(), row.to.0.to_owned());
        if from == to || row.amount.datagrams.is_some() {
            return None;
        }
        let back = directions.iter().any(|(a, b)| *a == to || *b == from);
        directions.insert((from, to));
        back.then_some(at)
    })
}

/// The tests of iperf, counted by the receiver.
const TCP: &str = "TCP";
const UDP: &str = "UDP";

/// The TCP test counted by the sender.
const SENT: &str = "TCP.sent";

#[cfg(test)]
mod tests;
