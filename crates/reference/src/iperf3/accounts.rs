//! Contradictions in iperf3's output: between intervals and end, streams and sums, sender and
//! receiver.

use proofmark_model::{Finding, Unit, format_count, format_quantity};

use super::json::Section;
use super::way::Way;
use crate::findings::unless;
use crate::printed::{Rounded, agree};

/// The maximum relative deviation of a sum from its parts.
const SUMMED: f64 = 0.001;
/// The maximum relative deviation of the intervals from the end, and of the received bytes above
/// the sent ones. The two ends and their threads stop at slightly different times.
const ENDED: f64 = 0.02;
/// The same limit with omitted seconds: bytes in transit at their end are received later.
const OMITTED: f64 = 0.1;
/// The maximum difference between the two ends' start or stop, in seconds.
const LATE_S: f64 = 0.5;
/// The share of the time that all intervals fill together.
const WHOLE: f64 = 0.95;

/// Returns the contradictions in the output.
pub(super) fn differences(
    root: &Section,
    end: &Section,
    test: &Section,
    ways: &[Way],
    udp: bool,
) -> Vec<Finding> {
    let omits = test.number("omit").is_ok_and(|seconds| seconds > 0.0);
    let block = test.count("blksize").ok();
    let mut found = Vec::new();
    for way in ways {
        found.extend(intervals(root, way));
        found.extend(more_received(way, if omits { OMITTED } else { ENDED }));
        found.extend(datagrams(way, block));
        found.extend(summed(end, way, udp));
    }
    found.extend(servers_own(root, ways));
    found
}

fn amount(bytes: f64, seconds: f64) -> String {
    let rate = format_quantity(bytes * 8.0 / seconds, Unit::BitPerSecond);
    format!("{} B in {seconds:.3} s ({rate})", format_count(bytes as u64))
}

/// Compares the client's intervals with the end: it sends, or receives on the way back.
fn intervals(root: &Section, way: &Way) -> Option<Finding> {
    let (mut bytes, mut seconds) = (0.0, 0.0);
    for interval in root.each("intervals") {
        let counts = |s: &Section| {
            s.flag("omitted") != Some(true)
                && s.flag("sender").is_none_or(|sends| sends != way.back)
        };
        let mut longest = 0.0_f64;
        for stream in interval.each("streams").filter(counts) {
            bytes += stream.number("bytes").ok()?;
            longest = longest.max(stream.number("seconds").ok()?);
        }
        seconds += longest;
    }
    let total = if way.back { way.received_bytes } else { way.sent_bytes } as f64;
    let whole = seconds >= WHOLE * way.seconds;
    let fits = seconds == 0.0 || bytes < total && !whole || agree(bytes, total, ENDED);
    let lasted_longer = seconds > (1.0 + OMITTED) * way.seconds + LATE_S;
    unless(fits && !lasted_longer, || {
        let end = amount(total, way.seconds);
        format!("the intervals moved {}, but the end reports {end}", amount(bytes, seconds))
    })
}

fn more_received(way: &Way, share: f64) -> Option<Finding> {
    let (sent, received) = (way.sent_bytes, way.received_bytes);
    unless(received as f64 <= (1.0 + share) * sent as f64, || {
        let [sent, received] = [sent, received].map(format_count);
        format!("the receiver got {received} B, but only {sent} B were sent")
    })
}

/// Compares the received UDP datagrams with their bytes.
fn datagrams(way: &Way, block: Option<u64>) -> Option<Finding> {
    let (came, block) = (way.datagrams?.received, block?);
    let bytes = Rounded { value: came as f64 * block as f64, off: block as f64 };
    unless(agree(bytes, way.received_bytes as f64, ENDED), || {
        let got = format_count(way.received_bytes);
        format!("the receiver got {came} datagrams of {block} B, but reports {got} B")
    })
}

/// Compares the sums of a direction with its streams.
fn summed(end: &Section, way: &Way, udp: bool) -> Vec<Finding> {
    let Some([sent, received]) = way.named else { return Vec::new() };
    let of_receiver = if udp { ("lost_packets", "lost datagrams") } else { ("bytes", "B") };
    let of_way = |s: &Section| s.flag("sender").is_none_or(|sends| sends != way.back);
    let sum = |(sum, part, (key, what)): (&'static str, &'static str, (&'static str, &str))| {
        let all = end.get(sum)?.number(key).ok()?;
        let streams = end.each("streams").filter_map(|s| s.get(if udp { "udp" } else { part }));
        let streams = streams.filter(of_way).map(|s| s.number(key).ok());
        let streams: Vec<f64> = streams.collect::<Option<_>>()?;
        let each = Rounded { value: streams.iter().sum(), off: 0.5 };
        unless(streams.is_empty() || agree(all, each, SUMMED), || {
            let (all, each) = (format_count(all as u64), format_count(each.value as u64));
            format!("{sum} reports {all} {what}, but its streams {each}")
        })
    };
    let sums = [
        (sent, "sender", ("bytes", "B")),
        (sent, "sender", ("retransmits", "retransmits")),
        (received, "receiver", of_receiver),
    ];
    let lost = end.get(received).and_then(|sum| lost_share(&sum));
    sums.into_iter().filter_map(sum).chain(lost).collect()
}

/// Compares the printed percentage of lost datagrams with their number.
fn lost_share(sum: &Section) -> Option<Finding> {
    let [percent, lost, all] =
        ["lost_percent", "lost_packets", "packets"].map(|key| sum.number(key).ok());
    let (percent, lost, all) = (percent?, lost?, all?);
    let counted = 100.0 * lost / all.max(1.0);
    unless(agree(Rounded { value: percent, off: 0.1 }, counted, 0.05), || {
        format!(
            "{lost} of {all} lost datagrams are {counted:.1} %, but the output has {percent:.1} %"
        )
    })
}

/// Compares the received bytes in the server's own output, if the client got it, with the client's
/// report.
fn servers_own(root: &Section, ways: &[Way]) -> Option<Finding> {
    let ours = ways.first().filter(|way| !way.back)?.received_bytes;
    let own = root.get("server_output_json")?.get("end")?.get("sum_received")?;
    let own = own.count("bytes").ok().filter(|own| *own > 0)?;
    unless(agree(own as f64, ours as f64, SUMMED), || {
        let [own, ours] = [own, ours].map(format_count);
        format!("the server reports {own} B received, but the client {ours} B")
    })
}
