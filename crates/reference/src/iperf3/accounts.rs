//! Contradictions in iperf3's output: between intervals and end, streams and sums, sender and
//! receiver.

use proofmark_model::{Finding, Unit, format_count, format_quantity};

use super::json::Section;
use super::transfer::Transfer;
use crate::findings::differ_unless;
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
    transfers: &[Transfer],
    udp: bool,
) -> Vec<Finding> {
    let omits = test.number("omit").is_ok_and(|seconds| seconds > 0.0);
    let block = test.count("blksize").ok();
    let mut found = Vec::new();
    for transfer in transfers {
        found.extend(intervals(root, transfer));
        found.extend(more_received(transfer, if omits { OMITTED } else { ENDED }));
        found.extend(datagrams(transfer, block));
        found.extend(summed(end, transfer, udp));
    }
    found.extend(servers_own(root, transfers));
    found
}

fn amount(bytes: f64, seconds: f64) -> String {
    let rate = format_quantity(bytes * 8.0 / seconds, Unit::BitPerSecond);
    format!("{} B in {seconds:.3} s ({rate})", format_count(bytes as u64))
}

/// Compares the client's intervals with the end: it sends, or receives on the way back.
fn intervals(root: &Section, transfer: &Transfer) -> Option<Finding> {
    let (mut bytes, mut seconds) = (0.0, 0.0);
    for interval in root.each("intervals") {
        let counts = |s: &Section| {
            s.flag("omitted") != Some(true)
                && s.flag("sender").is_none_or(|sends| sends != transfer.back)
        };
        let mut longest = 0.0_f64;
        for stream in interval.each("streams").filter(counts) {
            bytes += stream.number("bytes").ok()?;
            longest = longest.max(stream.number("seconds").ok()?);
        }
        seconds += longest;
    }
    let total = if transfer.back { transfer.received_bytes } else { transfer.sent_bytes } as f64;
    let whole = seconds >= WHOLE * transfer.seconds;
    let fits = seconds == 0.0 || bytes < total && !whole || agree(bytes, total, ENDED);
    let lasted_longer = seconds > (1.0 + OMITTED) * transfer.seconds + LATE_S;
    differ_unless(fits && !lasted_longer, || {
        let end = amount(total, transfer.seconds);
        format!("the intervals moved {}, but the end reports {end}", amount(bytes, seconds))
    })
}

fn more_received(transfer: &Transfer, share: f64) -> Option<Finding> {
    let (sent, received) = (transfer.sent_bytes, transfer.received_bytes);
    differ_unless(received as f64 <= (1.0 + share) * sent as f64, || {
        let [sent, received] = [sent, received].map(format_count);
        format!("the receiver got {received} B, but only {sent} B were sent")
    })
}

/// Compares the received UDP datagrams with their bytes.
fn datagrams(transfer: &Transfer, block: Option<u64>) -> Option<Finding> {
    let (received_packets, block) = (transfer.datagrams?.received, block?);
    let bytes = Rounded { value: received_packets as f64 * block as f64, off: block as f64 };
    differ_unless(agree(bytes, transfer.received_bytes as f64, ENDED), || {
        let got = format_count(transfer.received_bytes);
        format!("the receiver got {received_packets} datagrams of {block} B, but reports {got} B")
    })
}

/// Compares the sums of a direction with its streams.
fn summed(end: &Section, transfer: &Transfer, udp: bool) -> Vec<Finding> {
    let Some([sent, received]) = transfer.named else { return Vec::new() };
    let of_receiver = if udp { ("lost_packets", "lost datagrams") } else { ("bytes", "B") };
    let in_direction = |s: &Section| s.flag("sender").is_none_or(|sends| sends != transfer.back);
    let sum = |(sum, part, (key, what)): (&'static str, &'static str, (&'static str, &str))| {
        let all = end.get(sum)?.number(key).ok()?;
        let streams = end.each("streams").filter_map(|s| s.get(if udp { "udp" } else { part }));
        let streams = streams.filter(in_direction).map(|s| s.number(key).ok());
        let streams: Vec<f64> = streams.collect::<Option<_>>()?;
        let each = Rounded { value: streams.iter().sum(), off: 0.5 };
        differ_unless(streams.is_empty() || agree(all, each, SUMMED), || {
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
    differ_unless(agree(Rounded { value: percent, off: 0.1 }, counted, 0.05), || {
        format!(
            "{lost} of {all} lost datagrams are {counted:.1} %, but the output has {percent:.1} %"
        )
    })
}

/// Compares the received bytes in the server's own output, if the client got it, with the client's
/// report.
fn servers_own(root: &Section, transfers: &[Transfer]) -> Option<Finding> {
    let ours = transfers.first().filter(|transfer| !transfer.back)?.received_bytes;
    let own = root.get("server_output_json")?.get("end")?.get("sum_received")?;
    let own = own.count("bytes").ok().filter(|own| *own > 0)?;
    differ_unless(agree(own as f64, ours as f64, SUMMED), || {
        let [own, ours] = [own, ours].map(format_count);
        format!("the server reports {own} B received, but the client {ours} B")
    })
}
