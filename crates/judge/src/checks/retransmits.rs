//! `retransmits`: TCP sent segments again.

use proofmark_model::{Finding, Measurement, Severity, Trial};

use super::share::Share;
use super::{Check, Class, percent};
use crate::Context;
use crate::network::{datagrams, measured, retransmitted, segments};

/// The target interval: what is sent again is taken from what arrives for the first time.
const THRESHOLD: f64 = 0.02;
/// From here on it is worth telling: a way that loses so little still halves the window
/// of a long one now and then.
const TOLD: f64 = 0.001;

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
    let share = Share::of(&m.trials, |t| retransmitted(m, t), base)?;
    if share.all < TOLD {
        return None;
    }
    let severity = share.severity(THRESHOLD).unwrap_or(Severity::Note);
    let message = format!("{} of the TCP segments were retransmitted", percent(share.all));
    let advice = "check what drops packets on the path: a limit, a full queue, a duplex \
                  mismatch; dropped_packets lists the drops of both ends";
    Some(share.told(Finding::new(CHECK.id, severity, message, advice), "retransmits"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{each, found_on, host_with_network, round_trips, tcp, told_so, udp};

    fn says(m: Measurement) -> Option<Severity> {
        found_on(&host_with_network("peer"), &CHECK, m, &[]).map(|f| f.severity)
    }

    /// The connections say that so many were sent again in each trial; one has 8000 segments.
    fn resending(m: Measurement, more: u64) -> Measurement {
        each(m, |i, t| {
            for s in &mut t.network.as_mut().unwrap().streams {
                s.retransmits = 1000 + more * i as u64;
            }
        })
    }

    #[test]
    fn what_a_connection_sends_again_is_told() {
        let of = |more: u64| says(resending(tcp(1, "peer"), more));
        assert_eq!(of(0), None, "all of them in the warm-up");
        assert_eq!([of(7), of(20)], [None, Some(Severity::Note)]);
        assert_eq!([of(150), of(200)], [Some(Severity::Note), Some(Severity::Suspect)]);
    }

    #[test]
    fn without_its_own_account_the_systems_count() {
        let silent = |client: u64, server: u64| {
            let m = told_so(tcp(1, "peer"), |n| {
                n.streams.clear();
                (n.client.retransmits, n.server.retransmits) = (Some(client), Some(server));
            });
            says(m)
        };
        assert_eq!(silent(0, 0), None);
        assert_eq!([silent(200, 0), silent(0, 200)], [Some(Severity::Suspect); 2]);
        assert_eq!(says(told_so(tcp(1, "peer"), |n| n.client.retransmits = Some(200))), None);
        assert_eq!(says(told_so(udp(1, "peer"), |n| n.client.retransmits = Some(2000))), None);
        let trips = told_so(round_trips("tcp", "block"), |n| {
            n.streams.clear();
            n.client.retransmits = Some(300);
        });
        assert_eq!(says(trips), Some(Severity::Suspect), "of 10 000 in 5000 round trips");
    }
}
