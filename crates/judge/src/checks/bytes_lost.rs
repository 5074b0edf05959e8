//! `bytes_lost`: what was sent, what was received and what is claimed do not add up.

use proofmark_model::{Finding, Measurement, NetworkTraffic, Trial};

use super::{Check, Class};
use crate::Context;
use crate::words::counted;

/// Relative difference between claim and count that is rounding.
const ROUNDING: f64 = 1e-6;

/// What does not add up in a trial, if anything.
fn fault(m: &Measurement, t: &Trial, n: &NetworkTraffic) -> Option<String> {
    let (sent, received) = (n.sent_bytes, n.received_bytes);
    match n.datagrams {
        None if sent != received => {
            return Some(format!("{sent} B sent over TCP, but {received} B received"));
        }
        Some(d) if d.received > d.sent => {
            return Some(format!("{} datagrams sent, but {} received", d.sent, d.received));
        }
        _ => {}
    }
    if received == 0 {
        return Some("the receivers got nothing".to_owned());
    }
    let claimed_too_much = m.stretch(t).is_some_and(|s| s < 1.0 - ROUNDING);
    claimed_too_much.then(|| format!("the result claims more work than the {received} B received"))
}

pub(super) static CHECK: Check = Check {
    id: "bytes_lost",
    class: Class::Claim,
    title: "Bytes sent, received and counted differ",
    about: "Compares the senders' and the receivers' counts in each trial. TCP delivers every byte or \
         fails, so a difference after a trial makes the result invalid. So do more datagrams \
         received than sent, and more work claimed than received: the rate must be the receivers', \
         not the senders', and not multiplied by the threads. Lost datagrams are reported by \
         udp_loss.",
    examine,
    examine_reference: Some(examine),
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    let faults: Vec<String> = m.traffics().filter_map(|(t, n)| fault(m, t, n)).collect();
    let first = faults.first()?;
    let message = format!("{} of {}: {first}", faults.len(), counted(m.trials.len(), "trial"));
    let advice = "do not use this result; report it as a defect if it repeats";
    let finding = CHECK.invalid(message, advice);
    Some(finding.with("trials", faults.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn what_does_not_add_up_is_invalid() {
        let lost = |m| each(m, |i, t| t.network.as_mut().unwrap().sent_bytes += u64::from(i == 3));
        let datagrams = |spoil: fn(&mut NetworkTraffic)| each_network(udp(1, "peer"), spoil);
        let more = datagrams(|n| n.datagrams.as_mut().unwrap().received += 1);
        let fewer = datagrams(|n| {
            n.sent_bytes *= 2;
            n.datagrams.as_mut().unwrap().sent *= 2;
        });
        let nothing = each_network(tcp(1, "peer"), |n| (n.sent_bytes, n.received_bytes) = (0, 0));
        CHECK.expect([
            ("a byte of a stream", lost(tcp(1, "peer")), invalid("^1 of 10 trials: ")),
            ("of a round trip", lost(round_trips("tcp", "block")), invalid("^1 of 10 trials: ")),
            ("datagrams from nowhere", more, invalid("datagrams sent")),
            ("datagrams that were lost", fewer, SILENT),
            ("nothing", nothing, invalid("nothing")),
        ]);
    }

    #[test]
    fn a_rate_that_the_receivers_did_not_see_is_invalid() {
        for m in healthy_network("loopback").into_iter().chain(healthy_network("peer")) {
            let name = m.workload.clone();
            let twice = each(m, |_, t| (t.work, t.value) = (2.0 * t.work, 2.0 * t.value));
            CHECK.expect([(name, twice, invalid("claims more work"))]);
        }
    }
}
