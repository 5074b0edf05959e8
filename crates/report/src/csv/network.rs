//! What both ends of a network say of a trial.

use proofmark_model::{EndTraffic, TcpState, Trial};

use super::{count, number};
use crate::view::median;

/// Columns of the whole trial, then those of each end, in the order of [`cells`].
const TRIAL: [&str; 11] = [
    "sent_bytes",
    "received_bytes",
    "datagrams_sent",
    "datagrams_received",
    "datagrams_reordered",
    "datagrams_duplicated",
    "jitter_s",
    "tcp_retransmits",
    "tcp_window_bytes",
    "tcp_rtt_s",
    "tcp_segment_bytes",
];

/// Columns of an end, in the order of [`end`].
const END: [&str; 13] = [
    "interface_in_bytes",
    "interface_out_bytes",
    "interface_in_packets",
    "interface_out_packets",
    "interface_dropped",
    "tcp_retransmits",
    "in_datagrams",
    "out_datagrams",
    "full_buffers",
    "cpu_dropped",
    "own_cpu_s",
    "busy_s",
    "cpus",
];

/// The names of the columns.
pub fn columns() -> impl Iterator<Item = String> {
    let ends =
        ["client", "server"].into_iter().flat_map(|e| END.iter().map(move |c| format!("{e}_{c}")));
    TRIAL.iter().map(|c| (*c).to_owned()).chain(ends)
}

/// The cells of a trial; empty ones without a network. Of several connections the retransmits
/// are the sum and the rest the median.
pub fn cells(t: &Trial) -> Vec<String> {
    let n = t.network.as_ref();
    let d = n.and_then(|n| n.datagrams);
    let tcp = |read: fn(&TcpState) -> f64| {
        number(median(n.into_iter().flat_map(|n| &n.streams).map(read)))
    };
    let mut out = vec![
        count(n.map(|n| n.sent_bytes)),
        count(n.map(|n| n.received_bytes)),
        count(d.map(|d| d.sent)),
        count(d.map(|d| d.received)),
        count(d.and_then(|d| d.reordered)),
        count(d.and_then(|d| d.duplicated)),
        number(d.and_then(|d| d.jitter_s)),
        count(n.and_then(|n| n.retransmits())),
        tcp(|s| s.window_bytes as f64),
        tcp(|s| s.rtt_s),
        tcp(|s| s.segment_bytes as f64),
    ];
    out.extend(end(n.map(|n| &n.client)));
    out.extend(end(n.map(|n| &n.server)));
    out
}

fn end(e: Option<&EndTraffic>) -> [String; 13] {
    let c = |read: fn(&EndTraffic) -> Option<u64>| count(e.and_then(read));
    [
        c(|e| e.in_bytes),
        c(|e| e.out_bytes),
        c(|e| e.in_packets),
        c(|e| e.out_packets),
        c(|e| e.dropped),
        c(|e| e.retransmits),
        c(|e| e.in_datagrams),
        c(|e| e.out_datagrams),
        c(|e| e.full_buffers),
        c(|e| e.cpu_dropped),
        number(e.and_then(|e| e.own_cpu_s)),
        number(e.and_then(|e| e.busy_s)),
        c(|e| e.cpus),
    ]
}
