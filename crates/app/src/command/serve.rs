//! `proofmark serve`: the server of network runs.

use std::io::Read as _;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, Result};
use proofmark_host::network::own_addresses;
use proofmark_peer::{Key, KeySource, Limits, Server};
use proofmark_process::end_with_parent;
use proofmark_run::{cpu_stat, interface};
use proofmark_workloads::network::ServerSide;
use rustix::process::Signal;

use crate::cli::ServeArgs;
use crate::core_dumps;
use crate::error::{Outcome, usage};
use crate::signals::on_signals;
use crate::text::{print, say};

pub fn run(args: &ServeArgs) -> Result<Outcome> {
    core_dumps::turn_off();
    let (key, source) =
        Key::find_or_make(args.key_file.as_deref()).map_err(|e| usage(e.to_string()))?;
    let limits = Limits { seconds: args.max_time.as_secs().max(1), bytes: args.max_bytes };
    let server = Server::bind(args.bind, key, limits).with_context(|| {
        format!("cannot listen on {}; name an address of this machine and a free port", args.bind)
    })?;
    if args.for_run {
        end_with_the_run(&server);
        // The run waits for this line.
        print(&format!("{}\n", server.address()))?;
        // The run sees only the end of a connection that the system refused: print the cause.
        server.serve(&ServerSide::new(interface, cpu_stat()), |event| say(&event));
    } else {
        let (stop, by) = (server.stop(), Arc::new(OnceLock::new()));
        let first = Arc::clone(&by);
        let on_signal = move |signal: &'static str| {
            let _ = first.set(signal);
            stop.stop();
        };
        on_signals(on_signal).context("cannot handle signals")?;
        print(&greeting(server.address(), &source))?;
        server.serve(&ServerSide::new(interface, cpu_stat()), |event| {
            say(&format!("proofmark: {event}"))
        });
        if let Some(signal) = by.get() {
            say(&format!("proofmark: stopped by {signal}"));
        }
    }
    Ok(Outcome::Done)
}

/// Stops the server when standard input ends, which the run keeps open.
fn end_with_the_run(server: &Server) {
    let _ = end_with_parent(Signal::KILL);
    let stop = server.stop();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        stop.stop();
    });
}

/// Returns the address, the key and the user's next step.
fn greeting(address: SocketAddr, source: &KeySource) -> String {
    let key = match source {
        KeySource::Environment => "key: from the environment".to_owned(),
        KeySource::File(path) => format!("key: {}", path.display()),
        KeySource::Made(path) => format!("new key: {}", path.display()),
    };
    let peers = peers(address, own_addresses().unwrap_or_default());
    let reach = match (address.ip().is_loopback(), peers.len()) {
        (true, _) => "only this machine can reach it; --bind 0.0.0.0 accepts other machines",
        (_, 0 | 1) => "copy the key file to the other machine, then run there",
        _ => {
            "copy the key file to the other machine, then run there, with the first address that it \
             reaches"
        }
    };
    let commands: Vec<String> =
        peers.iter().map(|peer| format!("  proofmark run network --peer {peer}\n")).collect();
    format!("proofmark: listening on {address}\n{key}\n{reach}:\n{}", commands.concat())
}

/// Returns what other machines write for `--peer`: the address, or each one of this machine's, IPv4
/// first. Without any it is the host name.
fn peers(address: SocketAddr, own: Vec<IpAddr>) -> Vec<String> {
    let mut all = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => own.into_iter().filter(IpAddr::is_ipv4).collect(),
        ip if ip.is_unspecified() => own,
        ip => vec![ip],
    };
    all.sort_by_key(IpAddr::is_ipv6);
    let port = address.port();
    let peer = |ip: &IpAddr| match (port, ip) {
        (proofmark_peer::DEFAULT_PORT, ip) => ip.to_string(),
        (port, IpAddr::V4(ip)) => format!("{ip}:{port}"),
        (port, IpAddr::V6(ip)) => format!("[{ip}]:{port}"),
    };
    let mut all: Vec<String> = all.iter().map(peer).collect();
    if all.is_empty() {
        all.push(format!("{}:{port}", proofmark_peer::this_host().name));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_get_addresses_that_reach_this_one() {
        let own: Vec<IpAddr> =
            ["2001:db8::7", "10.0.0.7", "192.0.2.7"].map(|ip| ip.parse().unwrap()).to_vec();
        let default = proofmark_peer::DEFAULT_PORT;
        let peers = |ip: &str, port: u16| {
            peers(SocketAddr::new(ip.parse().unwrap(), port), own.clone()).join(" ")
        };
        assert_eq!(peers("0.0.0.0", default), "10.0.0.7 192.0.2.7");
        assert_eq!(peers("::", default), "10.0.0.7 192.0.2.7 2001:db8::7");
        assert_eq!(peers("::", 7), "10.0.0.7:7 192.0.2.7:7 [2001:db8::7]:7");
        assert_eq!(peers("127.0.0.1", default), "127.0.0.1");
        let alone = super::peers("0.0.0.0:7".parse().unwrap(), Vec::new());
        assert!(alone.len() == 1 && alone[0].ends_with(":7"), "{alone:?}");
    }
}
