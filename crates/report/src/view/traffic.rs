//! What both ends of a network say of each point: datagrams, connections, CPUs, interfaces.

use proofmark_model::{End, EndTraffic, Measurement, TcpState, Unit, format_count};

use super::keyed::{caption, keyed, keys};
use super::label::{Group, why_no_trials};
use super::network::{carried, cpus, loss, offered, over_loopback, streams};
use super::num::median;
use super::num::{Scale, percent};
use super::table::{Cell, Table};

/// What the CPU columns mean.
const CPU: &str = "CPU: the average number of CPUs that the threads of the client or the server kept \
    busy. System: the same for everything that ran on the CPUs it may use.";

/// What the interface columns mean.
const INTERFACE: &str = "Bytes that the interface of the client or the server counted during the \
    trials, as a share of the payload. They include headers and all other traffic.";

/// What `retransmits` means.
const RETRANSMITS: &str = "Segments that TCP retransmitted since the connections were made, \
    including the warm-up. Window, round trip and segment are medians of what TCP reports after \
    each trial.";

/// What `offered` means.
const OFFERED: &str = "Payload sent per second, whether it arrived or not.";

/// Datagrams of each point's streams; without rows where none were sent.
pub fn datagrams(group: &Group) -> Table {
    let sent = Scale::for_values(
        &group.all.iter().filter_map(|m| offered(m)).collect::<Vec<_>>(),
        Unit::BitPerSecond,
    );
    let times = |m: &Measurement| median(m.traffics().filter_map(|(_, n)| n.datagrams?.jitter_s));
    let jitter = Scale::for_values(
        &group.all.iter().filter_map(|m| times(m)).collect::<Vec<_>>(),
        Unit::Second,
    );
    let mut table = keyed(group, caption(group, "datagrams of all trials"), &[]);
    table = table
        .measured("offered", sent.label())
        .explained("offered", OFFERED)
        .number("sent")
        .spare(1)
        .number("received")
        .spare(1)
        .measured("lost", "%")
        .number("reordered")
        .spare(2)
        .number("duplicated")
        .spare(2)
        .measured("jitter", jitter.label())
        .spare(1);
    for m in group.all.iter().filter(|m| streams(m)) {
        let Some(all) = m.datagrams() else { continue };
        let mut cells = keys(group, m, &mut table, &[]);
        let rate = offered(m).and_then(|v| sent.number(v));
        cells.push(table.maybe(rate, || why_no_trials(m)));
        let short = || "datagrams this short are not numbered".to_owned();
        cells.extend([all.sent, all.received].map(|count| Cell::text(format_count(count))));
        let lost = loss(m).and_then(percent);
        cells.push(table.maybe(lost, || "no datagrams were sent".to_owned()));
        for value in [all.reordered, all.duplicated] {
            cells.push(table.maybe(value.map(format_count), short));
        }
        let unpaced = || "reported for paced datagrams only: others arrive in bursts".to_owned();
        cells.push(table.maybe(times(m).and_then(|v| jitter.number(v)), unpaced));
        table.push(cells);
    }
    table
}

/// What TCP says of its connections, and what both ends did; tables without rows left out.
pub fn ends(group: &Group) -> Vec<Table> {
    let tables = [connections(group), systems(group)];
    tables.into_iter().filter(|t| !t.rows.is_empty()).collect()
}

/// The median over all connections and trials.
fn median_of_connections(m: &Measurement, read: fn(&TcpState) -> f64) -> Option<f64> {
    median(m.traffics().flat_map(|(_, n)| &n.streams).map(read))
}

fn connections(group: &Group) -> Table {
    let connected: Vec<&Measurement> = group
        .all
        .iter()
        .copied()
        .filter(|m| streams(m) && m.traffics().any(|(_, n)| !n.streams.is_empty()))
        .collect();
    let trips: Vec<f64> =
        connected.iter().filter_map(|m| median_of_connections(m, |s| s.rtt_s)).collect();
    let trip = Scale::for_values(&trips, Unit::Second);
    let mut table = keyed(group, caption(group, "TCP statistics of the connections"), &[])
        .number("retransmits")
        .explained("retransmits", RETRANSMITS)
        .measured("window", "B")
        .measured("round trip", trip.label())
        .measured("segment", "B");
    for m in connected {
        let mut cells = keys(group, m, &mut table, &[]);
        let last = m.traffics().filter(|(_, n)| !n.streams.is_empty()).last();
        let again = last.and_then(|(_, n)| n.retransmits());
        let silent = || "not reported by the system".to_owned();
        cells.push(table.maybe(again.map(format_count), silent));
        let bytes = |v: Option<f64>| v.map(|v| format_count(v as u64));
        cells.push(table.maybe(bytes(median_of_connections(m, |s| s.window_bytes as f64)), silent));
        let time = median_of_connections(m, |s| s.rtt_s).and_then(|v| trip.number(v));
        cells.push(table.maybe(time, silent));
        cells
            .push(table.maybe(bytes(median_of_connections(m, |s| s.segment_bytes as f64)), silent));
        table.push(cells);
    }
    table
}

/// A count of both ends over all trials; `None` where neither reports it.
fn sum_of_both_ends(m: &Measurement, read: fn(&EndTraffic) -> Option<u64>) -> Option<u64> {
    let counts = m.traffics().flat_map(|(_, n)| [&n.client, &n.server]).filter_map(read);
    counts.reduce(u64::saturating_add)
}

fn systems(group: &Group) -> Table {
    let rates = group.all.iter().any(|m| streams(m));
    let mut table = keyed(group, caption(group, "client and server"), &[])
        .measured("client CPU", "CPUs")
        .explained("client CPU, server CPU", CPU)
        .measured("server CPU", "CPUs")
        .measured("client system", "CPUs")
        .spare(2)
        .measured("server system", "CPUs")
        .spare(2);
    if rates {
        table = table
            .measured("client interface", "%")
            .explained("client interface, server interface", INTERFACE)
            .measured("server interface", "%");
    }
    table = table.number("dropped").spare(1).number("buffer full").spare(1).explained(
        "dropped, buffer full",
        "Packets that interfaces and CPUs of client and server dropped, and datagrams for which a \
         socket's buffer had no room, over all trials.",
    );
    for m in group.all.iter().filter(|m| m.traffics().next().is_some()) {
        let silent = |end| match end {
            End::ServerSide if over_loopback(m) => {
                "over loopback, client and server share one system".to_owned()
            }
            _ => "not reported by the system".to_owned(),
        };
        let mut cells = keys(group, m, &mut table, &[]);
        let own: fn(&EndTraffic) -> Option<f64> = |e| e.own_cpu_s;
        let busy: fn(&EndTraffic) -> Option<f64> = |e| e.busy_s;
        for (end, read) in [
            (End::ClientSide, own),
            (End::ServerSide, own),
            (End::ClientSide, busy),
            (End::ServerSide, busy),
        ] {
            let value = cpus(m, end, read).map(|v| format!("{v:.2}"));
            cells.push(table.maybe(value, || silent(end)));
        }
        for end in End::BOTH.into_iter().filter(|_| rates) {
            cells.push(table.maybe(carried(m, end).and_then(percent), || silent(end)));
        }
        let dropped = [sum_of_both_ends(m, |e| e.dropped), sum_of_both_ends(m, |e| e.cpu_dropped)];
        let dropped = dropped.into_iter().flatten().reduce(u64::saturating_add);
        for value in [dropped, sum_of_both_ends(m, |e| e.full_buffers)] {
            cells.push(table.maybe(value.map(format_count), || silent(End::ClientSide)));
        }
        table.push(cells);
    }
    table
}
