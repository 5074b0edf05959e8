//! `proofmark serve`: the server of network runs.

use std::io::Read as _;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, Result};
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
    let reach = if address.ip().is_loopback() {
        "only this machine can reach it; --bind 0.0.0.0 accepts other machines"
    } else {
        "copy the key file to the other machine, then run there"
    };
    let host = match address.ip() {
        ip if ip.is_unspecified() => proofmark_peer::this_host().name,
        ip => ip.to_string(),
    };
    let port = match address.port() {
        proofmark_peer::DEFAULT_PORT => String::new(),
        port => format!(":{port}"),
    };
    format!(
        "proofmark: listening on {address}\n{key}\n{reach}:\n  \
         proofmark run network --peer {host}{port}\n"
    )
}
