//! `retransmits`: TCP sent segments again.

use proofmark_model::{Finding, Measurement, Severity, Trial};

use super::share::Share;
use super::{Check, Class, percent};
use crate::Context;
use crate::network::{datagrams, measured, retransmitted, segments};

/// The target interval: what is sent again is taken from what arrives for the first time.
const THRESHOLD: f64 = 0.02;
/// From here on it is worth reporting: a way that loses so little still halves the window
/// of a long one now and then.
const REPORTED_FROM: f64 = 0.001;

pub(super) static CHECK: Check = Check {
    id: "retransmits",
    class: Class::Disturbance,
    title: "Retransmitted segments",
    about: "Retransmitted TCP segments, over all segments of the payload. The counts are those of the \
         connections (TCP_INFO), or where missing those of both systems (/proc/net/snmp), which \
         include other programs. From 0.1 % it is a note, above 2 % suspect; a note if only the \
         worst tenth of the trials exceeds it. A limit, a full queue or a bad cable on the path \
         drops or reorders packets. Congestion control finds the path's rate by such losses, so a \
         few are normal on a full link.",
    examine,
    examine_reference: None,
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    if !measured(m) || datagrams(m) == Some(true) {
        return None;
    }
    let base = |t: &Trial| segments(m, t).unwrap_or(0.0);
    let share = Share::sum(&m.trials, |t| retransmitted(m, t), base)?;
    if share.all < REPORTED_FROM {
        return None;
    }
    let severity = share.severity(THRESHOLD).unwrap_or(Severity::Note);
    let message = format!("{} of the TCP segments were retransmitted", percent(share.all));
    let advice = "check what drops packets on the path: a limit, a full queue, a duplex \
                  mismatch; dropped_packets lists the drops of both ends";
    Some(share.add_to(CHECK.finding(severity, message, advice), "retransmits"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn what_a_connection_sends_again_is_reported() {
        // The connection has 8000 segments in each trial.
        let resending = |more: u64| {
            each(tcp(1, "peer"), |i, t| {
                for s in &mut t.network.as_mut().unwrap().streams {
                    s.retransmits = 1000 + more * i as u64;
                }
            })
        };
        let by_systems = |m, client: u64, server: u64| {
            each_network(m, |n| {
                n.streams.clear();
                (n.client.retransmits, n.server.retransmits) = (Some(client), Some(server));
            })
        };
        let client = |m, count| each_network(m, |n| n.client.retransmits = Some(count));
        CHECK.expect([
            ("all of them in the warm-up", resending(0), SILENT),
            ("few", resending(7), SILENT),
            ("some", resending(20), NOTE),
            ("more", resending(150), NOTE),
            ("many", resending(200), SUSPECT),
            // Without its own account the systems count.
            ("none", by_systems(tcp(1, "peer"), 0, 0), SILENT),
            ("the client's", by_systems(tcp(1, "peer"), 200, 0), SUSPECT),
            ("the server's", by_systems(tcp(1, "peer"), 0, 200), SUSPECT),
            ("the connection reports none", client(tcp(1, "peer"), 200), SILENT),
            ("datagrams", client(udp(1, "peer"), 2000), SILENT),
            // Of 10 000 in 5000 round trips.
            ("round trips", by_systems(round_trips("tcp", "block"), 300, 0), SUSPECT),
        ]);
    }
}
