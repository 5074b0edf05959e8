//! Both ends of the network: the way between them, the server machine, the interfaces.

use proofmark_model::{Host, Interface, NetworkPath, ServerEnd, Unit};

use super::facts::{Fact, quantity, ranges};
use super::text::clean;

/// Where the facts of the server are from.
const SERVER: &str = "reported by the server";
/// Why one of them is not known.
const SILENT: &str = "not reported by the server";

/// The way, the server, and both interfaces.
pub fn facts(host: &Host) -> Vec<Fact> {
    let probe = &host.network;
    let mut facts = vec![Fact::probe("path", probe, |n| match n.path {
        NetworkPath::Loopback => "loopback: both ends run on this machine".to_owned(),
        NetworkPath::Peer => format!("to {} ({})", n.server.name, n.address),
    })];
    let Some(n) = probe.get() else { return facts };
    facts.extend(server(&n.server, n.path));
    match n.interface.get() {
        Some(i) => {
            facts.extend(interface("interface", i, n.interface.origin(), n.interface.origin()))
        }
        None => facts.push(Fact::unknown("interface", n.interface.origin())),
    }
    match (&n.server_interface, n.path) {
        (_, NetworkPath::Loopback) => {}
        (Some(i), _) => facts.extend(interface("server interface", i, SERVER, SILENT)),
        (None, _) => facts.push(Fact::unknown("server interface", SILENT)),
    }
    if let Some(bytes) = n.copy_bytes_per_s {
        let copies = format!("{} per CPU", quantity(bytes, Unit::BytePerSecond));
        facts.push(known("copies", &copies, "measured, within its own cache"));
    }
    facts
}

/// The server machine; over loopback only its process, since the machine is this one.
fn server(server: &ServerEnd, path: NetworkPath) -> Vec<Fact> {
    let mut facts = Vec::new();
    if path == NetworkPath::Peer {
        facts.push(match &server.cpu {
            Some(cpu) => known("server processor", cpu, SERVER),
            None => Fact::unknown("server processor", SILENT),
        });
        facts.push(known("server system", &server.os, SERVER));
    }
    facts.push(known("server CPUs", &ranges(&server.cpus), SERVER));
    facts.push(known("server program", &format!("proofmark {}", server.version), SERVER));
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
