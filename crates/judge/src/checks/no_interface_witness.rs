//! `no_interface_witness`: nobody but the program says that bytes went over the network.

use proofmark_model::{End, Finding, Measurement, NetworkTraffic, Severity};

use super::{Check, Class};
use crate::Context;
use crate::network::{measured, over_loopback};
use crate::words::counted;

/// Whether an end's interface reported in both directions.
fn counts(end: End, n: &NetworkTraffic) -> bool {
    let side = end.of(n);
    side.in_bytes.is_some() && side.out_bytes.is_some()
}

pub(super) static CHECK: Check = Check {
    id: "no_interface_witness",
    class: Class::Claim,
    title: "No interface counters",
    about: "Whether the trials have the counts of both ends and of their interfaces (/proc/net/dev). \
         A trial without any interface counter is suspect: nothing independent shows that its \
         bytes used the network. A note if those of one end are missing; not over loopback, where \
         both ends have one system. Check why the interface with the address is unknown.",
    examine,
    examine_reference: None,
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    if !measured(m) {
        return None;
    }
    let with =
        |ends: &[End]| m.traffics().filter(|(_, n)| ends.iter().any(|end| counts(*end, n))).count();
    let trials = m.trials.len();
    let nobody = trials - with(&End::BOTH);
    let silent: Vec<End> = End::BOTH
        .into_iter()
        .filter(|end| with(&[*end]) < trials && !(*end == End::ServerSide && over_loopback(m)))
        .collect();
    let (severity, without, message) = match silent[..] {
        _ if nobody > 0 => {
            let what = "have no interface counters";
            (Severity::Suspect, nobody, format!("{nobody} of {} {what}", counted(trials, "trial")))
        }
        [end, ..] => {
            let without = trials - with(&[end]);
            let what = format!("the {} does not report its interface counters", end.word());
            (Severity::Note, without, what)
        }
        [] => return None,
    };
    let advice = "check why /proc/net/dev at that end does not list the interface with the \
                  address";
    let finding = CHECK.finding(severity, message, advice);
    Some(finding.with("trials_without", without).with("trials", trials))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn a_trial_that_nobody_verified_is_suspect() {
        for m in healthy_network("loopback").into_iter().chain(healthy_network("peer")) {
            let once = each(m.clone(), |i, t| t.network = t.network.take().filter(|_| i != 3));
            let silent = each_network(m, |n| (n.client.in_bytes, n.server.in_bytes) = (None, None));
            CHECK.expect([("one", once, SUSPECT), ("none", silent, SUSPECT)]);
        }
        let client = each_network(tcp(1, "peer"), |n| n.client.out_bytes = None);
        let server = each_network(tcp(1, "peer"), |n| n.server.out_bytes = None);
        CHECK.expect([
            ("one end alone", client, note(End::ClientSide.word())),
            ("the other", server, note(End::ServerSide.word())),
        ]);
    }
}
