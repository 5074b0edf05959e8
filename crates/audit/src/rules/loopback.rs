//! `loopback`: a rate above the machine's network link.

use proofmark_model::{Severity, Unit, format_quantity};

use super::{Examination, Outcome, Rule};
use crate::{Figure, Metric, Sheet};

pub(super) const RULE: Rule = Rule {
    id: "loopback",
    title: "loopback called a network",
    about: "Within one machine no packet reaches a wire, and the rate is that of memory copies. A \
            rate above the declared link is invalid. Without a declared link, a rate above 10 \
            Gbit/s is suspect, since faster links are rare where none is declared. Declare \
            network_link_bits_per_s for faster links. Operations named both, bidir or duplex may \
            be twice as fast. Operations named loopback or localhost are not compared. With a declared link, operations per second are converted by their \
            block, and a latency is compared with the time that its block takes on the link.",
    advice: "Both ends were on one machine, or no data was sent. Name the figure loopback, or \
             measure between two machines and check the interface counters.",
    needs: "network_link_bits_per_s; for rates and latencies the block",
    examination: Examination::Compare(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Outcome> {
    let judged = figure.subsystem.info().has_server
        && figure.metric != Metric::Other
        && !figure.is_named_loopback();
    figure.level().filter(|_| judged)?;
    let limit = sheet.machine().network_limit(figure);
    let declared = limit.severity == Severity::Invalid;
    // An assumed link limits throughputs only.
    let rate = flow(figure).filter(|_| declared || figure.metric == Metric::Throughput);
    let found = rate.filter(|rate| *rate > limit.most).map(|rate| {
        let [shown, most] = [rate, limit.most].map(|v| format_quantity(v, Unit::BitPerSecond));
        let message = format!("{shown} exceeds {}, {most}", limit.source);
        RULE.finding(limit.severity, message).with("limit_bit_per_s", limit.most)
    });
    let missing = match rate {
        _ if !declared => Some("no network_link_bits_per_s is declared"),
        None => Some("block_size_bytes is empty, so the bits per second are unknown"),
        Some(_) => None,
    };
    Some(Outcome::new(found, missing))
}

/// Returns the bits per second that the link must carry in one direction. A rate of operations
/// counts their blocks; a latency counts one block within it.
fn flow(figure: &Figure) -> Option<f64> {
    let level = figure.level().filter(|_| figure.subsystem.info().has_server)?;
    let block = || Some(figure.block? as f64 * 8.0);
    match figure.metric {
        Metric::Throughput => Some(level),
        Metric::Rate => Some(level * block()?),
        Metric::Latency if level > 0.0 => Some(block()? / level),
        Metric::Latency | Metric::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{INVALID, SUSPECT, judges};

    #[test]
    fn above_the_link_nothing_arrives() {
        let [nine, eleven] = ["network tcp throughput 9e9", "network tcp throughput 11e9"];
        judges(&RULE, "", &[(nine, None), (eleven, SUSPECT)]);
        judges(&RULE, "", &[("network tcp throughput 11e9 trial=sd", None)]);
        for named in ["tcp-loopback", "tcp_Localhost", "127.0.0.1"] {
            let row = format!("network {named} throughput 42e9");
            judges(&RULE, "network_link_bits_per_s = 1e9", &[(&row, None)]);
        }
        judges(&RULE, "network_link_bits_per_s = 1e9", &[(nine, INVALID), (eleven, INVALID)]);
        let bytes = "network tcp throughput 1.2e9 base_unit=bytes/s";
        judges(&RULE, "network_link_bits_per_s = 9e9", &[(bytes, INVALID)]);
        let blocks = [
            ("network rpc rate 130e3 block=1000", INVALID),
            ("network rpc rate 120e3 block=1000", None),
            ("network rpc rate 9e9", None),
            ("network echo latency 7e-6 block=1000", INVALID),
            ("network echo latency 9e-6 block=1000", None),
            ("network echo latency 0 block=1000", None),
        ];
        judges(&RULE, "network_link_bits_per_s = 1e9", &blocks);
        judges(&RULE, "", &blocks.map(|(row, _)| (row, None)));
        judges(&RULE, "network_link_bits_per_s = 25e9", &[(nine, None), (eleven, None)]);
    }
}
