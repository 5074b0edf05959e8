//! `udp_loss`: datagrams were sent that nobody received.
//!
//! A sender of UDP knows nothing of what arrives; a rate that it counts itself is no
//! rate of the network. Here the number is the receiver's, and what was sent is given
//! with it.

use proofmark_model::{Datagrams, Finding, Measurement, Severity, Trial, format_quantity};

use super::share::Share;
use super::{Check, Class, percent};
use crate::Context;
use crate::network::{measured, streams};

/// Up to here the receiver kept up. Beyond, so much of the sender's work is thrown away,
/// on CPUs or a link that both may share, that the rate is one of an overload.
const OVERLOAD: f64 = 0.1;
/// Each lost round trip is waited for, and is part of the time.
const ROUND_TRIPS: f64 = 0.0;

fn datagrams(t: &Trial) -> Option<Datagrams> {
    t.network.as_ref()?.datagrams
}

pub(super) static CHECK: Check = Check {
    id: "udp_loss",
    class: Class::Claim,
    title: "Datagrams lost",
    about: "Datagrams sent against those received, each counted once. Any loss is a note: the rate is \
         the receiver's, and the finding adds what was sent. More than 10 % of a stream is \
         suspect: the rate is that of an overload, not the path's capacity. Any lost round trip is \
         suspect too, since waiting for it is part of the time. Both are notes if only the worst \
         tenth of the trials causes it. Pace the sender (parameter rate) below what arrives, and \
         see dropped_packets for the places.",
    examine,
    examine_reference: Some(examine),
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    if !measured(m) {
        return None;
    }
    let sent = |t: &Trial| datagrams(t).map_or(0.0, |d| d.sent as f64);
    let lost = |t: &Trial| datagrams(t).map(|d| d.lost() as f64);
    let share = Share::sum(&m.trials, lost, sent)?;
    if share.amount <= 0.0 {
        return None;
    }
    let threshold = if streams(m) { OVERLOAD } else { ROUND_TRIPS };
    let severity = share.severity(threshold).unwrap_or(Severity::Note);
    let message = if streams(m) {
        let rate = m.summary.as_ref().map(|s| s.median).filter(|r| r.is_finite());
        let offered = rate.map(|r| r / (1.0 - share.all)).filter(|r| r.is_finite());
        let both = rate.zip(offered).map_or(String::new(), |(got, sent)| {
            let (got, sent) = (format_quantity(got, m.unit), format_quantity(sent, m.unit));
            format!(": {sent} sent, {got} received (the result)")
        });
        format!("{} of the datagrams were lost{both}", percent(share.all))
    } else {
        format!(
            "{} of the round trips were lost, and the wait for them is part of the time",
            percent(share.all)
        )
    };
    let all = m.datagrams()?;
    let advice = "pace the sender below what arrives (parameter rate), give the receiver a \
                  larger buffer (parameter socket_buffer), and see dropped_packets for the \
                  places";
    let finding = CHECK.finding(severity, message, advice);
    Some(share.add_to(finding, "lost").with("sent", all.sent).with("received", all.received))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    /// So many per thousand are lost in so many trials.
    fn losing(m: Measurement, thousandths: u64, trials: usize) -> Measurement {
        each(m, |i, t| {
            let d = t.network.as_mut().unwrap().datagrams.as_mut().unwrap();
            let lost = if i < trials { thousandths } else { 0 };
            d.sent = d.received * 1000 / (1000 - lost);
        })
    }

    #[test]
    fn any_loss_is_noted_and_much_of_it_is_suspect() {
        let stream = |thousandths, trials| losing(udp(1, "loopback"), thousandths, trials);
        let trips = |trials| losing(round_trips("udp", "block"), 1, trials);
        let half =
            "^50.0 % of the datagrams ... 10.00 Gbit/s sent, 5.000 Gbit/s received (the result)$";
        // `bytes_lost` reports that.
        let more =
            each_network(udp(1, "loopback"), |n| n.datagrams.as_mut().unwrap().received += 9);
        CHECK.expect([
            ("none", stream(0, 10), SILENT),
            ("little", stream(5, 10), NOTE),
            ("up to a tenth", stream(90, 10), NOTE),
            ("more than a tenth", stream(110, 10), SUSPECT),
            ("in one trial", stream(900, 1), NOTE),
            ("half", stream(500, 10), suspect(half)),
            ("no round trip", trips(0), SILENT),
            ("one round trip", trips(1), NOTE),
            ("in half of the trials", trips(5), SUSPECT),
            ("not reported", each(udp(1, "loopback"), |_, t| t.network = None), SILENT),
            ("more received than sent", more, SILENT),
        ]);
    }
}
