//! `loopback`: a rate that no wire of the machine carries.

use proofmark_model::{Finding, Subsystem, Unit, format_quantity};

use super::Rule;
use crate::{Metric, Sheet};

pub(super) const RULE: Rule = Rule {
    id: "loopback",
    title: "loopback called a network",
    about: "Within one machine no packet reaches a wire, and the rate is that of memory copies. A \
            rate above the declared link is invalid. Without a declared link, a rate above 10 \
            Gbit/s is suspect, since faster links are rare where none is declared. Declare \
            network_link_bits_per_s for faster links. Operations named both, bidir or duplex may \
            be twice as fast.",
    examine,
};

fn examine(sheet: &Sheet, index: usize) -> Option<Finding> {
    let figure = sheet.figure(index)?;
    let rate = figure.level().filter(|_| figure.is(Subsystem::Network, Metric::Throughput))?;
    let limit = sheet.machine().network_limit(figure);
    let shown = |v| format_quantity(v, Unit::BitPerSecond);
    (rate > limit.most).then(|| {
        Finding::new(
            RULE.id,
            limit.severity,
            format!("{}, but {} {}", shown(rate), limit.whose, shown(limit.most)),
            "Both ends were on one machine, or no data was sent. Name the figure loopback, or \
             measure between two machines and check the interface counters.",
        )
        .with("limit_bit_per_s", limit.most)
    })
}

#[cfg(test)]
mod tests {
    use proofmark_model::Severity;

    use super::*;
    use crate::testing::findings;

    #[test]
    fn above_the_link_nothing_arrives() {
        let rows = "network,x,tcp,throughput,,1,1,9,Gb/s,9e9,bits/s\n\
                    network,x,tcp,throughput,,1,1,11,Gb/s,11e9,bits/s\n\
                    network,x,tcp,throughput,,1,sd,11,Gb/s,11e9,bits/s\n";
        let severities = |machine: &str| -> Vec<_> {
            findings(&RULE, machine, rows).into_iter().map(|f| f.map(|f| f.severity)).collect()
        };
        assert_eq!(severities("[m]\n"), [None, Some(Severity::Suspect), None]);
        let gigabit = "[m]\nnetwork_link_bits_per_s = 1e9\n";
        assert_eq!(severities(gigabit), [Some(Severity::Invalid), Some(Severity::Invalid), None]);
        assert_eq!(severities("[m]\nnetwork_link_bits_per_s = 25e9\n"), [None; 3]);
    }

    #[test]
    fn a_link_carries_its_rate_in_both_directions() {
        let rows = "network,x,tcp_bidir,throughput,,1,1,1.9,Gb/s,1.9e9,bits/s\n\
                    network,x,tcp_bidir,throughput,,1,1,2.1,Gb/s,2.1e9,bits/s\n\
                    network,x,tcp,throughput,,1,1,1.9,Gb/s,1.9e9,bits/s\n";
        let found = findings(&RULE, "[m]\nnetwork_link_bits_per_s = 1e9\n", rows);
        let severities: Vec<_> = found.iter().map(|f| f.as_ref().map(|f| f.severity)).collect();
        assert_eq!(severities, [None, Some(Severity::Invalid), Some(Severity::Invalid)]);
        let said = found.into_iter().flatten().next().unwrap().message;
        assert!(said.ends_with("the link carries in both directions 2.000 Gbit/s"), "{said}");
    }
}
