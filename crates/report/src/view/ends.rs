//! Both ends of the network: the way between them, the far machine, the interfaces.

use proofmark_model::{FarEnd, Host, Interface, NetworkPath, Unit};

use super::host::{Fact, quantity, ranges};
use super::text::clean;

/// Where the facts of the far end are from.
const FAR: &str = "told by the far end";
/// Why one of them is not known.
const SILENT: &str = "the far end tells none";

/// The way, the far end, and both interfaces.
pub fn facts(host: &Host) -> Vec<Fact> {
    let probe = &host.network;
    let mut facts = vec![Fact::probe("path", probe, |n| match n.path {
        NetworkPath::Loopback => "loopback: both ends run on this machine".to_owned(),
        NetworkPath::Peer => format!("to {} ({})", n.far.name, n.address),
    })];
    let Some(n) = probe.get() else { return facts };
    facts.extend(far(&n.far, n.path));
    match n.interface.get() {
        Some(i) => {
            facts.extend(interface("interface", i, n.interface.origin(), n.interface.origin()))
        }
        None => facts.push(Fact::unknown("interface", n.interface.origin())),
    }
    match (&n.far_interface, n.path) {
        (_, NetworkPath::Loopback) => {}
        (Some(i), _) => facts.extend(interface("far interface", i, FAR, SILENT)),
        (None, _) => facts.push(Fact::unknown("far interface", SILENT)),
    }
    if let Some(bytes) = n.copy_bytes_per_s {
        let copies = format!("{} a CPU", quantity(bytes, Unit::BytePerSecond));
        facts.push(known("copies", &copies, "measured, within its own cache"));
    }
    facts
}

/// The far machine; over loopback only its process, since the machine is this one.
fn far(far: &FarEnd, path: NetworkPath) -> Vec<Fact> {
    let mut facts = Vec::new();
    if path == NetworkPath::Peer {
        facts.push(match &far.cpu {
            Some(cpu) => known("far processor", cpu, FAR),
            None => Fact::unknown("far processor", SILENT),
        });
        facts.push(known("far system", &far.os, FAR));
    }
    facts.push(known("far CPUs", &ranges(&far.cpus), FAR));
    facts.push(known("far program", &format!("proofmark {}", far.version), FAR));
    facts
}

/// `eth0: virtio, MTU 1500 B, driver virtio_net`, and its line rate or why there is none.
fn interface(name: &str, i: &Interface, source: &str, why: &str) -> [Fact; 2] {
    let driver = i.driver.as_ref().map_or_else(String::new, |d| format!(", driver {d}"));
    let what = format!("{}: {}, MTU {} B{driver}", i.name, i.kind, i.mtu);
    let rate = format!("{name} line rate");
    let rate = match i.bits_per_s {
        Some(bits) => known(&rate, &quantity(bits, Unit::BitPerSecond), source),
        None => Fact::unknown(&rate, why),
    };
    [known(name, &what, source), rate]
}

fn known(name: &str, value: &str, source: &str) -> Fact {
    Fact { source: clean(source), ..Fact::plain(name, value) }
}
