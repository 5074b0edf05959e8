//! `no_interface_witness`: nobody but the program says that bytes went over the network.

use proofmark_model::{End, Finding, Measurement, NetworkTraffic, Severity};

use super::{Check, Class};
use crate::Context;
use crate::network::{measured, over_loopback};
use crate::words::counted;

/// Whether an end's interface told in both directions.
fn tells(end: End, n: &NetworkTraffic) -> bool {
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
        |ends: &[End]| m.traffics().filter(|(_, n)| ends.iter().any(|end| tells(*end, n))).count();
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
    let finding = Finding::new(CHECK.id, severity, message, advice);
    Some(finding.with("trials_without", without).with("trials", trials))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{each, found_on, healthy_network, host_with_network, tcp, told_so};

    fn says(m: Measurement) -> Option<Severity> {
        let path = m.params.text("path").unwrap().to_owned();
        found_on(&host_with_network(&path), &CHECK, m, &[]).map(|f| f.severity)
    }

    #[test]
    fn a_trial_that_nobody_verified_is_suspect() {
        for m in healthy_network("loopback").into_iter().chain(healthy_network("peer")) {
            assert_eq!(says(m.clone()), None, "{}", m.workload);
            let untold = each(m.clone(), |i, t| {
                if i == 3 {
                    t.network = None;
                }
            });
            assert_eq!(says(untold), Some(Severity::Suspect));
            let silent = told_so(m, |n| (n.client.in_bytes, n.server.in_bytes) = (None, None));
            assert_eq!(says(silent), Some(Severity::Suspect));
        }
    }

    #[test]
    fn one_end_alone_is_a_note() {
        for end in End::BOTH {
            let m = told_so(tcp(1, "peer"), |n| match end {
                End::ClientSide => n.client.out_bytes = None,
                End::ServerSide => n.server.out_bytes = None,
            });
            let found = found_on(&host_with_network("peer"), &CHECK, m, &[]).unwrap();
            assert_eq!(found.severity, Severity::Note);
            assert!(found.message.contains(end.word()), "{}", found.message);
        }
    }
}
