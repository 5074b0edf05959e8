//! A run of iperf's client, line by line.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::key::{Bytes, Key};
use proofmark_model::{Params, key};

use super::line::{self, Amount, End, Row, Span, size};
use super::{CLIENT, UNREAD};
use crate::Malformed;
use crate::network::with_path;
use crate::text::{number, whole, wrong_if};

#[derive(Default)]
pub(super) struct Run {
    /// The line of the header.
    pub(super) header: Option<usize>,
    pub(super) udp: Option<bool>,
    pub(super) client: String,
    pub(super) server: String,
    pub(super) params: Params,
    pub(super) streams: BTreeMap<String, Stream>,
    /// The ids of the established connections.
    connected: BTreeSet<String>,
    pub(super) sum: Vec<Amount>,
    /// The number of streams of the sums, if each is in their name (`--sum-only`).
    pub(super) summed: Option<u64>,
    /// The requested rate of a UDP stream in bit/s.
    pub(super) pace: Option<f64>,
    /// True if TCP is paced.
    pub(super) paced: bool,
    /// iperf's warnings, each with its count.
    pub(super) warnings: BTreeMap<String, u64>,
    /// The addresses of a connection established after rates: it belongs to the next run, whose
    /// header follows.
    next: Option<(usize, String)>,
}

/// The rows of a stream, in their order.
#[derive(Default)]
pub(super) struct Stream {
    /// The rows of the sender; all rows for TCP.
    pub(super) own: Vec<Amount>,
    /// The rows of a UDP receiver.
    pub(super) received: Vec<Amount>,
    /// The datagrams sent.
    pub(super) sent: Option<u64>,
    /// The ends of the connection, in CSV.
    ends: Option<[(String, u16); 2]>,
    /// True if the rows have the star of a stream from the server.
    back: Option<bool>,
}

impl Run {
    pub(super) fn has_rates(&self) -> bool {
        !self.sum.is_empty() || !self.streams.is_empty()
    }

    /// Counts the connections without a rate, if others have one.
    pub(super) fn unreported(&self) -> usize {
        let missing = self.connected.iter().filter(|id| !self.streams.contains_key(*id));
        if self.streams.is_empty() { 0 } else { missing.count() }
    }

    /// Returns true if a line begins another run.
    pub(super) fn ends_before(&self, line: &str) -> bool {
        if line.starts_with(CLIENT) {
            return self.header.is_some() || self.has_rates();
        }
        let fields = line::csv(line);
        let Some(row) = fields.and_then(|fields| Row::parse(&fields, 0).ok()) else { return false };
        let Some(id) = row.stream else { return false };
        match self.streams.get(id).and_then(|stream| stream.ends.as_ref()) {
            Some(ends) => !same_connection(ends, [row.from, row.to]),
            None => self.has_rates() && (&*self.client, &*self.server) != (row.from.0, row.to.0),
        }
    }

    /// Returns the next run, with its connection if this run has read it.
    pub(super) fn following(&mut self) -> Result<Self, Malformed> {
        let mut run = Self::default();
        self.next.take().map_or(Ok(()), |(at, ends)| run.connection(&ends, at))?;
        Ok(run)
    }

    pub(super) fn take(&mut self, line: &str, at: usize) -> Result<(), Malformed> {
        if let Some(fields) = line::csv(line) {
            self.row(Row::parse(&fields, at)?, at)
        } else if let Some((id, rest)) = line.strip_prefix('[').and_then(|l| l.split_once(']')) {
            self.stream(id.trim(), rest.trim(), at)
        } else if let Some(rest) = line.strip_prefix(CLIENT) {
            self.header = Some(at);
            let (server, protocol) = rest.split_once(',').unwrap_or((rest, ""));
            if self.server.is_empty() {
                self.server = address(server).to_owned();
            }
            self.udp = Some(protocol.trim_start().starts_with("UDP"));
            Ok(())
        } else {
            self.facts(line, at)
        }
    }

    fn row(&mut self, row: Row, at: usize) -> Result<(), Malformed> {
        const BACK: &str = "the server's port comes first: iperf's server or -R wrote this CSV, \
                            which has no direction: give the client's text";
        // A UDP sender's row may look like one of TCP.
        self.udp = Some(row.udp || self.udp == Some(true));
        let Some(id) = row.stream else {
            self.sum.push(row.amount);
            return Ok(());
        };
        let ends = self.streams.get(id).and_then(|stream| stream.ends.as_ref());
        let from_server = ends.is_some_and(|[from, _]| (&*from.0, from.1) != row.from);
        // For UDP, a row with the ends swapped is the server's report of that stream.
        wrong_if(from_server && row.amount.datagrams.is_none(), at, BACK)?;
        if ends.is_none() {
            wrong_if(is_server_port(row.from.1, row.to.1), at, BACK)?;
            (self.client, self.server) = (row.from.0.to_owned(), row.to.0.to_owned());
            let params = std::mem::take(&mut self.params);
            self.params = with_path(params, row.from.0, row.to.0);
        }
        let stream = self.streams.entry(id.to_owned()).or_default();
        let owned = |end: End| (end.0.to_owned(), end.1);
        stream.ends.get_or_insert_with(|| [owned(row.from), owned(row.to)]);
        stream.push(row.amount);
        Ok(())
    }

    /// Reads the text after the id of a stream.
    fn stream(&mut self, id: &str, rest: &str, at: usize) -> Result<(), Malformed> {
        if let Some(ends) = rest.strip_prefix("local ") {
            if self.has_rates() {
                self.next = Some((at, ends.to_owned()));
                return Ok(());
            }
            self.connected.insert(id.trim_start_matches('*').to_owned());
            return self.connection(ends, at);
        }
        if let Some((_, warning)) = rest.split_once("WARNING: ") {
            self.warn(warning);
        } else if let Some((interval, values)) = rest.split_once(" sec ") {
            let (key, values) = (id.trim_start_matches('*'), values.trim());
            if let Some((count, _)) = values.split_once(" datagrams received out-of-order") {
                let reordered = Some(whole(count.trim(), at)?);
                let seen = self.streams.get_mut(key).and_then(|s| s.received.last_mut());
                let seen = seen.and_then(|a| a.datagrams.as_mut());
                seen.into_iter().for_each(|d| d.reordered = reordered);
            } else if !values.starts_with(char::is_alphabetic) {
                let span = Span::parse(interval, at)?;
                let amount = Amount::parse(values, &span, self.udp == Some(true), at)?;
                self.amount(key, id.starts_with('*'), amount)?;
            }
        } else if let Some(count) = rest.strip_prefix("Sent ") {
            let count = count.split_whitespace().next().unwrap_or("");
            if let Some(stream) = self.streams.get_mut(id) {
                stream.sent = Some(whole(count, at)?);
            }
        }
        Ok(())
    }

    /// Adds an amount to a stream, or to the sum of all streams.
    fn amount(&mut self, id: &str, back: bool, amount: Amount) -> Result<(), Malformed> {
        if let Some(streams) = id.strip_prefix("SUM") {
            self.summed = streams.strip_prefix('-').and_then(|n| n.parse().ok());
            self.sum.push(amount);
            return Ok(());
        }
        let at = amount.at;
        let directions = self.streams.values().filter_map(|stream| stream.back);
        wrong_if(directions.into_iter().any(|direction| direction != back), at, super::BOTH_WAYS)?;
        let stream = self.streams.entry(id.to_owned()).or_default();
        stream.back = Some(back);
        stream.push(amount);
        Ok(())
    }

    /// Reads the addresses and the direction of a connection.
    fn connection(&mut self, ends: &str, at: usize) -> Result<(), Malformed> {
        wrong_if(ends.contains("(full-duplex)"), at, super::BOTH_WAYS)?;
        let direction = if ends.contains("(reverse)") { "reverse" } else { "forward" };
        let params = std::mem::take(&mut self.params).with(key::DIRECTION, direction);
        let (client, server) = ends.split_once(" connected with ").unwrap_or((ends, ""));
        wrong_if(is_server_port(port(client), port(server)), at, super::OF_SERVER)?;
        (self.client, self.server) = (address(client).to_owned(), address(server).to_owned());
        self.params = with_path(params, &self.client, &self.server);
        Ok(())
    }

    /// Reads the size of a socket's buffer or a block, a pace, or an error.
    fn facts(&mut self, line: &str, at: usize) -> Result<(), Malformed> {
        if let Some((_, name)) = UNREAD.into_iter().find(|(start, _)| line.starts_with(start)) {
            return Err(Malformed::at(at, format!("{name} is not read: run iperf without it")));
        }
        let after = |mark: &str| line.strip_prefix(mark);
        if let Some(text) = after("TCP window size:").or_else(|| after("UDP buffer size:")) {
            let asked = text.split_once("requested ").and_then(|(_, asked)| size(asked));
            self.parameter(key::WINDOW, size(text));
            self.parameter(key::SOCKET_BUFFER, asked.filter(|_| size(text).is_some()));
        } else if let Some((bytes, rest)) =
            after("Sending ").and_then(|l| l.split_once(" byte datagrams"))
        {
            let bytes = whole(bytes.trim(), at)?;
            self.parameter(key::BLOCK_SIZE, Some(bytes));
            let gap = rest.split_once("IPG target: ").and_then(|(_, gap)| gap.split_once(" us"));
            if let Some((gap, _)) = gap {
                self.pace = Some(bytes as f64 * 8e6 / number(gap, at)?);
            }
        } else if line.starts_with("fair-queue socket pacing set to") {
            self.paced = true;
        } else if let Some(warning) = after("WARNING: ") {
            self.warn(warning);
        } else if line.contains(" failed: ") {
            self.warn(line);
        } else {
            // iperf rounds the size where it prints KByte.
            let writing = after("Write buffer size: ").filter(|l| l.contains(" Byte"));
            self.parameter(key::BLOCK_SIZE, writing.and_then(size));
        }
        Ok(())
    }

    fn warn(&mut self, warning: &str) {
        *self.warnings.entry(Malformed::sentence(warning)).or_default() += 1;
    }

    fn parameter(&mut self, key: Key<Bytes>, bytes: Option<u64>) {
        self.params = std::mem::take(&mut self.params).known(key, bytes);
    }
}

impl Stream {
    fn push(&mut self, amount: Amount) {
        let rows = if amount.datagrams.is_some() { &mut self.received } else { &mut self.own };
        rows.push(amount);
    }
}

/// The first port that a system assigns to a client, by IANA and Linux.
const EPHEMERAL: u16 = 32_768;

/// Returns true if the first of two ports is a server's.
fn is_server_port(own: u16, peer: u16) -> bool {
    own > 0 && own < EPHEMERAL && peer >= EPHEMERAL
}

/// Returns the port of `192.0.2.1 port 5001`.
fn port(end: &str) -> u16 {
    let port = end.split_once(" port ").and_then(|(_, port)| port.split_whitespace().next());
    port.and_then(|port| port.parse().ok()).unwrap_or(0)
}

/// Returns the address of `192.0.2.1%eth0 port 5001`.
fn address(end: &str) -> &str {
    end.trim().split([' ', '%']).next().unwrap_or("")
}

/// Returns true if two pairs of ends are the same, in any order.
fn same_connection(known: &[(String, u16); 2], ends: [End; 2]) -> bool {
    let [a, b] = known.each_ref().map(|(address, port)| (&**address, *port));
    [a, b] == ends || [b, a] == ends
}
