//! `loopback`: a rate that no wire of the machine carries.

use proofmark_model::{Finding, Subsystem, Unit, format_quantity};

use super::Rule;
use crate::{Figure, Metric, Sheet};

pub(super) const RULE: Rule = Rule {
    id: "loopback",
    title: "loopback called a network",
    about: "Within one machine no packet reaches a wire, and the rate is that of memory copies. A \
            rate above the declared link is invalid. Without a declared link, a rate above 10 \
            Gbit/s is suspect, since faster links are rare where none is declared. Declare \
            network_link_bits_per_s for faster links. Operations named both, bidir or duplex may \
            be twice as fast.",
    advice: "Both ends were on one machine, or no data was sent. Name the figure loopback, or measure \
             between two machines and check the interface counters.",
    examine,
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Finding> {
    let rate = figure.level().filter(|_| figure.is(Subsystem::Network, Metric::Throughput))?;
    let limit = sheet.machine().network_limit(figure);
    let shown = |v| format_quantity(v, Unit::BitPerSecond);
    (rate > limit.most).then(|| {
        let message = format!("{}, but {} {}", shown(rate), limit.whose, shown(limit.most));
        RULE.finding(limit.severity, message).with("limit_bit_per_s", limit.most)
    })
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
        judges(&RULE, "network_link_bits_per_s = 1e9", &[(nine, INVALID), (eleven, INVALID)]);
        judges(&RULE, "network_link_bits_per_s = 25e9", &[(nine, None), (eleven, None)]);
    }
}
