//! Counters of both ends of a network: datagrams, connections, CPUs, interfaces; and charts of loss
//! by offered rate.

use proofmark_model::{
    Datagrams, End, EndTraffic, Measurement, TcpState, Unit, Verdict, format_count,
};

use super::chart::{Axis, Chart, Mark, Series, Spot};
use super::label::{Group, series, why_no_trials};
use super::latency::describe;
use super::network::{carried, cpus, loss, offered, over_loopback, streams};
use super::num::{Scale, median, percent, percentage};
use super::series::title;
use super::series::value::on_axis;
use super::shared_parts::keyed;
use super::table::Table;
use super::verdict_mark;

const CPU: &str = "CPU: the average number of CPUs that the threads of the client or the server \
    kept busy. System: the same for all programs on the CPUs that it may use.";

const INTERFACE: &str = "Bytes that the interface of the client or the server counted during the \
    trials, as a share of the payload. They include headers and all other traffic.";

/// The meaning of `retransmits`.
const RETRANSMITS: &str = "Segments that TCP retransmitted since the connections were made, \
    including the warm-up. Window, round trip and segment are medians of what TCP reports after \
    each trial.";

const OFFERED: &str = "Payload sent per second, whether it arrived or not.";

const DROPPED: &str = "Packets that interfaces and CPUs of client and server dropped, and \
    datagrams for which a socket's buffer had no room, over all trials.";

/// The parameter in which the results of a chart differ.
const RATE: &str = "rate";
const CHARTS: usize = 4;

/// Reason why a count of the system is unknown.
const NOT_REPORTED: &str = "not reported by the system";

/// Datagrams of all streams by configuration; without rows where none were sent.
pub fn datagrams(group: &Group) -> Table {
    let times = |m: &Measurement| median(m.traffics().filter_map(|(_, n)| n.datagrams?.jitter_s));
    let sent = Scale::for_values(&all(group, offered), Unit::BitPerSecond);
    let jitter = Scale::for_values(&all(group, times), Unit::Second);
    let of_all = group.all.iter().filter(|m| streams(m));
    let numbered =
        |count: Option<u64>| count.map(format_count).ok_or("datagrams this short are not numbered");
    keyed(group, "datagrams of all trials")
        .measured("offered", sent.label(), |(m, _): &(&Measurement, Datagrams)| {
            offered(m).and_then(|v| sent.number(v)).ok_or_else(|| why_no_trials(m))
        })
        .explained("offered", OFFERED)
        .number("sent", |(_, all)| format_count(all.sent))
        .spare(1)
        .number("received", |(_, all)| format_count(all.received))
        .spare(1)
        .measured("lost", "%", |(m, _)| loss(m).and_then(percent).ok_or("no datagrams were sent"))
        .number("reordered", |(_, all)| numbered(all.reordered))
        .spare(2)
        .number("duplicated", |(_, all)| numbered(all.duplicated))
        .spare(2)
        .measured("jitter", jitter.label(), |(m, _)| {
            let unpaced = "reported for paced datagrams only: others arrive in bursts";
            times(m).and_then(|v| jitter.number(v)).ok_or(unpaced)
        })
        .spare(1)
        .rows(of_all.filter_map(|m| Some((*m, m.datagrams()?))))
}

fn all(group: &Group, read: impl Fn(&Measurement) -> Option<f64>) -> Vec<f64> {
    group.all.iter().filter_map(|m| read(m)).collect()
}

/// TCP statistics and the counters of both ends; tables without rows are left out.
pub fn ends(group: &Group) -> Vec<Table> {
    let tables = [connections(group), systems(group)];
    tables.into_iter().filter(|t| !t.rows.is_empty()).collect()
}

fn connections(group: &Group) -> Table {
    // The median over all connections and trials.
    let median_of = |m: &Measurement, read: fn(&TcpState) -> f64| {
        median(m.traffics().flat_map(|(_, n)| &n.streams).map(read))
    };
    let bytes = |m: &Measurement, read| {
        median_of(m, read).map(|v| format_count(v as u64)).ok_or(NOT_REPORTED)
    };
    let connected =
        |m: &&Measurement| streams(m) && m.traffics().any(|(_, n)| !n.streams.is_empty());
    let trips = |m: &Measurement| median_of(m, |s| s.rtt_s).filter(|_| connected(&m));
    let trip = Scale::for_values(&all(group, trips), Unit::Second);
    keyed(group, "TCP statistics of the connections")
        .number("retransmits", |m: &&Measurement| {
            let last = m.traffics().filter(|(_, n)| !n.streams.is_empty()).last();
            last.and_then(|(_, n)| n.retransmits()).map(format_count).ok_or(NOT_REPORTED)
        })
        .explained("retransmits", RETRANSMITS)
        .measured("window", "B", |m| bytes(m, |s| s.window_bytes as f64))
        .measured("round trip", trip.label(), |m| {
            trips(m).and_then(|v| trip.number(v)).ok_or(NOT_REPORTED)
        })
        .measured("segment", "B", |m| bytes(m, |s| s.segment_bytes as f64))
        .rows(group.all.iter().copied().filter(connected))
}

/// A count of both ends over all trials; `None` where neither end reports it.
fn sum_of_both_ends(m: &Measurement, read: fn(&EndTraffic) -> Option<u64>) -> Option<u64> {
    let counts = m.traffics().flat_map(|(_, n)| [&n.client, &n.server]).filter_map(read);
    counts.reduce(u64::saturating_add)
}

fn systems(group: &Group) -> Table {
    let silent = |m: &Measurement, end| match end {
        End::ServerSide if over_loopback(m) => "over loopback, client and server share one system",
        _ => NOT_REPORTED,
    };
    let own: fn(&EndTraffic) -> Option<f64> = |e| e.own_cpu_s;
    let busy: fn(&EndTraffic) -> Option<f64> = |e| e.busy_s;
    let kept = |end, read| {
        move |m: &&Measurement| {
            cpus(m, end, read).map(|v| format!("{v:.2}")).ok_or_else(|| silent(m, end))
        }
    };
    let share = |end| {
        move |m: &&Measurement| carried(m, end).and_then(percent).ok_or_else(|| silent(m, end))
    };
    keyed(group, "client and server")
        .measured("client CPU", "CPUs", kept(End::ClientSide, own))
        .explained("client CPU, server CPU", CPU)
        .measured("server CPU", "CPUs", kept(End::ServerSide, own))
        .measured("client system", "CPUs", kept(End::ClientSide, busy))
        .spare(2)
        .measured("server system", "CPUs", kept(End::ServerSide, busy))
        .spare(2)
        .when(group.all.iter().any(|m| streams(m)), |table| {
            table
                .measured("client interface", "%", share(End::ClientSide))
                .explained("client interface, server interface", INTERFACE)
                .measured("server interface", "%", share(End::ServerSide))
        })
        .number("dropped", |m| {
            let both = [|e: &EndTraffic| e.dropped, |e: &EndTraffic| e.cpu_dropped];
            let dropped = both.into_iter().filter_map(|read| sum_of_both_ends(m, read));
            dropped.reduce(u64::saturating_add).map(format_count).ok_or(NOT_REPORTED)
        })
        .spare(1)
        .number("buffer full", |m| {
            sum_of_both_ends(m, |e| e.full_buffers).map(format_count).ok_or(NOT_REPORTED)
        })
        .spare(1)
        .explained("dropped, buffer full", DROPPED)
        .rows(group.all.iter().copied().filter(|m| m.traffics().next().is_some()))
}

/// One chart for each set of results that differ in the requested rate only.
pub fn loss_charts(group: &Group) -> Vec<Chart> {
    let with_rate: Vec<&Measurement> =
        group.all.iter().copied().filter(|m| offered(m).is_some()).collect();
    let sweeps = series(&with_rate, &[RATE]);
    sweeps.iter().filter(|s| s.len() > 1).filter_map(|s| chart(group, s)).take(CHARTS).collect()
}

fn chart(group: &Group, members: &[&Measurement]) -> Option<Chart> {
    let mut members: Vec<(f64, &Measurement)> =
        members.iter().filter_map(|m| Some((offered(m)?, *m))).collect();
    members.sort_by(|a, b| a.0.total_cmp(&b.0));
    let first = members.first()?.1;
    let scale = Scale::for_largest(members.iter().map(|(sent, _)| *sent), Unit::BitPerSecond);
    let line = |name: &str, lost: bool| -> Option<Series> {
        let spot = |(sent, m): &(f64, &Measurement)| {
            let share = percentage(loss(m)?)?;
            // Without loss, the line at zero needs no labels.
            let label = if lost && share != "0.0 %" { share.clone() } else { String::new() };
            let got = m.summary.as_ref()?.value();
            let about = format!(
                "requested {}: {} sent, {} received, {share} of the datagrams lost, {}",
                group.text(m, RATE)?,
                scale.with_label(*sent)?,
                scale.with_label(got)?,
                verdict_mark(m.verdict)
            );
            let value =
                on_axis(&scale, if lost { sent - got } else { got }).filter(|v| *v >= 0.0)?;
            let verdict = if lost { Verdict::Valid } else { m.verdict };
            let mark = Mark { value, about, verdict, ..Mark::default() };
            Some(Spot { at: on_axis(&scale, *sent)?, mark, label, ..Spot::default() })
        };
        Some(Series::along(name, members.iter().map(spot).collect::<Option<_>>()?))
    };
    let series = vec![line("received", false)?, line("lost", true)?];
    let sent = series[0].line.iter().map(|at| at[0]);
    let x = Axis::linear(&format!("offered, {}", scale.label()), sent);
    let title = title(group, "loss by offered rate", &group.short_without(first, &[RATE]));
    Some(Chart {
        description: format!("Received and lost rate by sent rate. {}.", describe(&series[..1])),
        key: "Labels: share of datagrams lost.".to_owned(),
        ..Chart::new(title, x, [scale.label(), "rate"], false, series)
    })
}
