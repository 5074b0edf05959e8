//! Both ends of the network: the way between them, the server machine, the interfaces.

use proofmark_model::{Host, Interface, NetworkPath, ServerEnd, Unit};

use super::facts::{Fact, quantity, ranges};
use super::text::enclosed;

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
    let ServerEnd { cpu, os, cpus, version, .. } = &n.server;
    let peer = n.path == NetworkPath::Peer;
    // Over loopback the machine of the server is this one.
    if peer {
        let cpu_source = if cpu.is_some() { SERVER } else { SILENT };
        facts.push(Fact::new("server processor", cpu.as_deref(), cpu_source));
        facts.push(Fact::new("server system", Some(os), SERVER));
    }
    facts.push(Fact::new("server CPUs", Some(&ranges(cpus)), SERVER));
    facts.push(Fact::new("server program", Some(&format!("proofmark {version}")), SERVER));
    let origin = n.interface.origin();
    facts.extend(interface("interface", n.interface.get(), origin, origin));
    if peer {
        facts.extend(interface("server interface", n.server_interface.as_ref(), SERVER, SILENT));
    }
    if let Some(bytes) = n.copy_bytes_per_s {
        let copies = format!("{} per CPU", quantity(bytes, Unit::BytePerSecond));
        facts.push(Fact::new("copies", Some(&copies), "measured, within its own cache"));
    }
    facts
}

/// `eth0: virtio, MTU 1500 B, driver virtio_net`, and its line rate; or why they are not known.
fn interface(name: &str, interface: Option<&Interface>, source: &str, why: &str) -> Vec<Fact> {
    let Some(i) = interface else { return vec![Fact::new(name, None, why)] };
    let driver = enclosed(", driver ", i.driver.as_deref().unwrap_or_default(), "");
    let what = format!("{}: {}, MTU {} B{driver}", i.name, i.kind, i.mtu);
    let rate = i.bits_per_s.map(|bits| quantity(bits, Unit::BitPerSecond));
    let rate_source = if rate.is_some() { source } else { why };
    let rate_name = format!("{name} line rate");
    vec![Fact::new(name, Some(&what), source), Fact::new(&rate_name, rate.as_deref(), rate_source)]
}
