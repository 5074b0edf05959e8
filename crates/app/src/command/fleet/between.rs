//! The network between nodes: a node answers others until it ends, and finds the way to another.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::thread;

use anyhow::{Context as _, Result, anyhow};
use proofmark_fleet::{MOST_ADDRESSES, Serving};
use proofmark_host::network::own_addresses;
use proofmark_peer::{Key, Limits, Overview, Server, Stop};
use proofmark_run::{PeerKey, PeerRequest, interface};
use proofmark_workloads::network::ServerSide;

/// What a session may take: the launcher sets limits of its own.
const LIMITS: Limits = Limits { seconds: 86_400, bytes: u64::MAX };

/// A server that other nodes measure to. It ends with this value.
pub(super) struct Answering {
    /// Where it listens: first where the launcher's ssh came from.
    pub(super) at: Vec<SocketAddr>,
    stop: Stop,
}

impl Answering {
    pub(super) fn start(serving: &Serving) -> Result<Self> {
        let mut ips = own_addresses().map_err(|e| anyhow!(e))?;
        let has = |ip: &IpAddr| serving.subnet.is_none_or(|subnet| subnet.has(*ip));
        ips.retain(has);
        let ssh = std::env::var("SSH_CONNECTION").ok();
        let here = ssh.and_then(|text| text.split(' ').nth(2)?.parse::<IpAddr>().ok());
        ips.sort_by_key(|ip| (Some(*ip) != here, ip.is_ipv6()));
        ips.truncate(MOST_ADDRESSES);
        if ips.is_empty() {
            let subnet = serving.subnet.map(|subnet| format!(" in {subnet}"));
            return Err(anyhow!("it has no address{}", subnet.unwrap_or_default()));
        }
        let every = [IpAddr::V6(Ipv6Addr::UNSPECIFIED), IpAddr::V4(Ipv4Addr::UNSPECIFIED)];
        let key = key(&serving.key)?;
        // A machine without IPv6 has only the second.
        let server = every.into_iter().map(|ip| Server::bind((ip, 0).into(), key.clone(), LIMITS));
        let server = server.reduce(Result::or).context("no address")?.context("cannot listen")?;
        let port = server.address().port();
        let stop = server.stop();
        thread::Builder::new()
            .spawn(move || server.serve(&ServerSide::new(interface), |_| ()))
            .context("cannot start a thread")?;
        Ok(Self { at: ips.into_iter().map(|ip| SocketAddr::new(ip, port)).collect(), stop })
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

fn key(text: &str) -> Result<Key> {
    Key::try_from(text.to_owned()).map_err(|_| anyhow!("the launcher sent no key"))
}

/// The first address at which the other node answers.
pub(super) fn reach(at: &[SocketAddr], text: &str) -> Result<PeerRequest> {
    let key = key(text)?;
    let mut why = anyhow!("it has no address that this node can reach");
    for address in at.iter().take(MOST_ADDRESSES).copied() {
        match Overview::fetch(&address.into(), &key) {
            Ok(_) => {
                let key = PeerKey::Known(key);
                return Ok(PeerRequest { address: address.into(), key });
            }
            Err(error) => why = anyhow!(error),
        }
    }
    Err(why)
}
