//! `one_machine`: both ends are one machine, and no network lies between them.
//!
//! The published reports called loopback a network.

use std::net::SocketAddr;

use proofmark_model::{Finding, Measurement, Network, NetworkPath, Severity};

use super::{Check, Class};
use crate::Context;
use crate::network::{measured, over_loopback};

/// This machine's boot and the server's, where both are known.
fn boots(network: &Network) -> Option<[&str; 2]> {
    let ids = [network.boot_id.as_deref()?, network.server.boot_id.as_deref()?];
    ids.iter().all(|id| !id.is_empty()).then_some(ids)
}

/// What shows that a server that should be another machine is this one.
fn evidence(network: &Network) -> Option<String> {
    let [here, there] = boots(network)?;
    (here == there).then(|| format!("both ends have the same boot id ({here})"))
}

/// The same by the address that it was reached at.
fn by_address(network: &Network) -> Option<String> {
    let ip = network.address.parse::<SocketAddr>().ok()?.ip().to_canonical();
    let local = ip.is_loopback() || network.path == NetworkPath::Loopback;
    local.then(|| format!("{ip} is an address of this machine"))
}

pub(super) static CHECK: Check = Check {
    id: "one_machine",
    class: Class::Context,
    title: "Both ends on one machine",
    about: "Loopback is a note on each of its results: both ends run on this machine, so the result \
         is that of its kernel, CPUs and memory, not of a network. A result with path=peer is \
         invalid if the server has the same boot id, or was reached at an address of this machine: \
         a container, a network namespace or a wrong address. If a boot id is unknown, it is a \
         note. To measure a network use a server on another machine (--peer).",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if !measured(m) {
        return None;
    }
    let advice = "to measure a network, run `proofmark serve` on another machine and name it \
                  with --peer";
    if over_loopback(m) {
        let message = "loopback: both ends run on this machine, so no network was measured";
        return Some(Finding::new(CHECK.id, Severity::Note, message, advice));
    }
    let network = ctx.host.network.get()?;
    let finding = match evidence(network).or_else(|| by_address(network)) {
        Some(how) => {
            let message = format!("the peer is this machine: {how}");
            Finding::new(CHECK.id, Severity::Invalid, message, advice)
        }
        None if boots(network).is_none() => {
            let message = "it is unknown whether the peer is another machine: no boot id";
            let advice = "make /proc/sys/kernel/random/boot_id readable at both ends";
            Finding::new(CHECK.id, Severity::Note, message, advice)
        }
        None => return None,
    };
    Some(finding.with("address", network.address.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{found_on, healthy_network, host, tcp, with_network};

    fn says(change: impl FnOnce(&mut Network)) -> Option<(Severity, String)> {
        let host = with_network("peer", change);
        found_on(&host, &CHECK, tcp(1, "peer"), &[]).map(|f| (f.severity, f.message))
    }

    #[test]
    fn loopback_is_labelled() {
        for m in healthy_network("loopback") {
            let host = with_network("loopback", |_| {});
            let finding = found_on(&host, &CHECK, m.clone(), &[]).unwrap();
            assert_eq!(finding.severity, Severity::Note);
            assert!(finding.message.starts_with("loopback: "), "{}", finding.message);
            assert!(found_on(&crate::testing::host(), &CHECK, m, &[]).is_some());
        }
    }

    #[test]
    fn a_peer_that_is_this_machine_is_invalid() {
        let (severity, message) = says(|n| n.server.boot_id = Some("here".to_owned())).unwrap();
        assert_eq!(severity, Severity::Invalid);
        assert!(message.contains("the same boot id"), "{message}");
        for address in ["127.0.0.1:5277", "[::1]:5277", "[::ffff:127.1.2.3]:5277"] {
            let (severity, message) = says(|n| n.address = address.to_owned()).unwrap();
            assert_eq!(severity, Severity::Invalid, "{address}");
            assert!(message.ends_with("is an address of this machine"), "{message}");
        }
        let path = says(|n| n.path = NetworkPath::Loopback).unwrap();
        assert_eq!(path.0, Severity::Invalid);
    }

    #[test]
    fn another_machine_is_silent() {
        assert_eq!(says(|_| {}), None);
        assert!(found_on(&host(), &CHECK, tcp(1, "peer"), &[]).is_none());
    }

    #[test]
    fn a_machine_that_cannot_be_told_is_noted() {
        let empty = || Some(String::new());
        for unknown in [None, empty()] {
            for client in [true, false] {
                let unknown = unknown.clone();
                let told = says(|n| {
                    *(if client { &mut n.boot_id } else { &mut n.server.boot_id }) = unknown;
                });
                let (severity, message) = told.unwrap();
                assert_eq!(severity, Severity::Note);
                assert!(message.ends_with("no boot id"), "{message}");
            }
        }
    }
}
