//! The network between nodes: a server for other nodes, and the search for another node's address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use proofmark_fleet::{MAX_ADDRESSES, PairKey, Subnet};
use proofmark_host::network::own_addresses;
use proofmark_peer::{Key, Limits, Overview, Server, Stop};
use proofmark_run::{PeerKey, PeerRequest, cpu_stat, interface};
use proofmark_workloads::network::ServerSide;

/// The limits of one pair's session.
const LIMITS: Limits = Limits { seconds: 600, bytes: u64::MAX };

/// The time after which no further address is tried. The last one may take some seconds more.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server for other nodes. It stops when this value is dropped.
pub(super) struct PairServer {
    /// The addresses at which it listens, first the one that the launcher's ssh used.
    pub(super) addresses: Vec<SocketAddr>,
    stop: Stop,
}

impl PairServer {
    /// Starts a server at every address of this machine, or at one in the subnet.
    pub(super) fn start(text: &PairKey, subnet: Option<Subnet>) -> Result<Self> {
        let mut ips = own_addresses().map_err(|e| anyhow!(e))?;
        ips.retain(|ip| subnet.is_none_or(|subnet| subnet.has(*ip)));
        let ssh = std::env::var("SSH_CONNECTION").ok();
        let here = ssh.and_then(|text| text.split(' ').nth(2)?.parse::<IpAddr>().ok());
        ips.sort_by_key(|ip| (Some(*ip) != here, ip.is_ipv6()));
        ips.truncate(if subnet.is_some() { 1 } else { MAX_ADDRESSES });
        let Some(first) = ips.first().copied() else {
            let subnet = subnet.map(|subnet| format!(" in {subnet}"));
            return Err(anyhow!("this node has no address{}", subnet.unwrap_or_default()));
        };
        let every = [IpAddr::V6(Ipv6Addr::UNSPECIFIED), IpAddr::V4(Ipv4Addr::UNSPECIFIED)];
        // A machine without IPv6 has only the second.
        let at = if subnet.is_some() { vec![first] } else { every.to_vec() };
        let key = key(text)?;
        let server = at.into_iter().map(|ip| Server::bind((ip, 0).into(), key.clone(), LIMITS));
        let server = server.reduce(Result::or).context("no address")?.context("cannot listen")?;
        let (port, stop) = (server.address().port(), server.stop());
        thread::Builder::new()
            .spawn(move || server.serve(&ServerSide::new(interface, cpu_stat()), |_| ()))
            .context("cannot start a thread")?;
        Ok(Self { addresses: ips.into_iter().map(|ip| SocketAddr::new(ip, port)).collect(), stop })
    }
}

impl Drop for PairServer {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

fn key(text: &PairKey) -> Result<Key> {
    Key::try_from(text.0.clone()).map_err(|_| anyhow!("the launcher sent an invalid key"))
}

/// Returns the first address at which the other node answers.
pub(super) fn reach(addresses: &[SocketAddr], text: &PairKey) -> Result<PeerRequest> {
    let (key, begun) = (key(text)?, Instant::now());
    let mut why = anyhow!("the other node has no address that this node can reach");
    let tried = addresses.iter().take(MAX_ADDRESSES).take_while(|_| begun.elapsed() < PATIENCE);
    for address in tried.copied() {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn made() -> PairKey {
        PairKey(Key::generate().unwrap().to_hex())
    }

    #[test]
    fn a_node_is_reached_by_the_address_that_is_its_own() {
        let (own, other) = (made(), made());
        let Ok(here) = PairServer::start(&own, None) else {
            proofmark_testing::skip("this machine has no address but the loopback's");
            return;
        };
        // An address of another node, and one without a server.
        let there = PairServer::start(&other, None).unwrap();
        let closed = SocketAddr::new(here.addresses[0].ip(), 1);
        let claimed = [vec![closed], there.addresses.clone(), here.addresses.clone()].concat();
        assert_eq!(reach(&claimed, &own).unwrap().address, here.addresses[0].into());
        assert!(reach(&there.addresses, &own).is_err(), "another key");
        assert!(reach(&[], &own).unwrap_err().to_string().contains("no address"));
        drop(here);
        assert!(reach(&claimed, &own).is_err(), "the server stopped when dropped");
    }

    #[test]
    fn a_node_without_an_address_in_the_subnet_says_so() {
        let nowhere: Subnet = "203.0.113.0/24".parse().unwrap();
        let why = PairServer::start(&made(), Some(nowhere)).err().unwrap().to_string();
        assert_eq!(why, "this node has no address in 203.0.113.0/24");
    }
}
