//! Bounds how many connections there are that have not proved the key.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, Ipv6Addr, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::job::shut;

/// Most connections that have not proved the key, each with a thread that waits for it.
const MOST: usize = 16;

/// Where connections wait to be let in.
#[derive(Default)]
pub(crate) struct Gate {
    visitors: Mutex<Visitors>,
    changed: Condvar,
}

#[derive(Default)]
struct Visitors {
    /// Oldest first.
    waiting: VecDeque<Visitor>,
    next: u64,
}

struct Visitor {
    id: u64,
    ip: IpAddr,
    stream: TcpStream,
}

/// A place at the gate, given back when dropped.
pub(crate) struct Pass {
    gate: Arc<Gate>,
    id: u64,
}

impl Gate {
    /// A place for the connection. If there is none, the gate closes one that waits: of the
    /// [`network`] that has the most of them, the one that has waited longest. A holder of the
    /// key is in within milliseconds, so that neither idle unauthenticated peers nor a crowd from one
    /// network keep it out. Connections from `favoured`, the client of the session in
    /// progress, go last: from that very address, not from its network, which others may share.
    pub(crate) fn enter(
        self: &Arc<Self>,
        stream: &TcpStream,
        ip: IpAddr,
        favoured: Option<IpAddr>,
    ) -> io::Result<Pass> {
        let (stream, ip) = (stream.try_clone()?, ip.to_canonical());
        let mut visitors = self.visitors();
        while visitors.waiting.len() >= MOST {
            if let Some(visitor) = visitors.one_too_many(favoured) {
                shut(&visitor.stream);
            }
            // Its thread wakes up and drops the pass.
            visitors = self.changed.wait(visitors).unwrap_or_else(PoisonError::into_inner);
        }
        let id = visitors.next;
        visitors.next += 1;
        visitors.waiting.push_back(Visitor { id, ip, stream });
        Ok(Pass { gate: Arc::clone(self), id })
    }

    pub(crate) fn clear(&self) {
        self.visitors().waiting.iter().for_each(|visitor| shut(&visitor.stream));
    }

    fn visitors(&self) -> MutexGuard<'_, Visitors> {
        self.visitors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visitors {
    fn one_too_many(&self, favoured: Option<IpAddr>) -> Option<&Visitor> {
        let favoured = favoured.map(|ip| ip.to_canonical());
        let mut count: HashMap<IpAddr, usize> = HashMap::new();
        for visitor in &self.waiting {
            *count.entry(network(visitor.ip)).or_default() += 1;
        }
        // The last of equals is taken, and from behind that is the oldest.
        let crowd =
            |visitor: &&Visitor| (Some(visitor.ip) != favoured, count.get(&network(visitor.ip)));
        self.waiting.iter().rev().max_by_key(crowd)
    }
}

/// The network of one attacker's addresses, so that they count as one: an IPv4 address alone, and
/// the first 64 bits of an IPv6 address. A host chooses the other 64 bits as it likes (RFC 4291,
/// section 2.5.4; RFC 8981): counted by address, one machine is a crowd of peers.
fn network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.gate.visitors().waiting.retain(|visitor| visitor.id != self.id);
        self.gate.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// A thread that waits at the gate as the server's do, and the other end.
    fn visit(gate: &Arc<Gate>, ip: IpAddr, favoured: IpAddr) -> TcpStream {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let mut server = listener.accept().unwrap().0;
        let pass = gate.enter(&server, ip, Some(favoured)).unwrap();
        thread::spawn(move || {
            let _ = server.read(&mut [0]);
            drop(pass);
        });
        client
    }

    fn closed(mut stream: &TcpStream) -> bool {
        matches!(stream.read(&mut [0]), Ok(0))
    }

    #[test]
    fn the_oldest_waiting_goes_first_and_the_favoured_last() {
        let [favoured, other] = [1, 2].map(|n| IpAddr::V4(Ipv4Addr::new(127, 0, 0, n)));
        let gate = Arc::new(Gate::default());
        let first = visit(&gate, favoured, favoured);
        let mut waiting: Vec<_> = (1..MOST).map(|_| visit(&gate, other, favoured)).collect();
        waiting.push(visit(&gate, other, favoured));
        assert!(closed(&waiting[0]) && !closed(&waiting[1]) && !closed(&first));
        let newer: Vec<_> = (0..MOST).map(|_| visit(&gate, favoured, favoured)).collect();
        assert!(waiting[1..].iter().all(closed) && closed(&first));
        assert!(!newer.iter().any(closed) && gate.visitors().waiting.len() == MOST);
    }

    #[test]
    fn a_crowd_from_one_address_displaces_itself() {
        let [nobody, crowd, other] = [1, 2, 3].map(|n| IpAddr::V4(Ipv4Addr::new(127, 0, 0, n)));
        let gate = Arc::new(Gate::default());
        let newcomer = visit(&gate, other, nobody);
        let many: Vec<_> = (0..2 * MOST).map(|_| visit(&gate, crowd, nobody)).collect();
        assert!(!closed(&newcomer));
        let (gone, there) = many.split_at(MOST + 1);
        assert!(gone.iter().all(closed) && !there.iter().any(closed));
    }

    /// `crowd(n)` are the addresses of an attacker. Each other connection of a network of its own
    /// stays; the crowd displaces itself.
    fn displaces_itself(crowd: impl Fn(u16) -> IpAddr) {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let gate = Arc::new(Gate::default());
        let others = ["2001:db8:0:1::1", "2001:db8:0:2::1", "192.0.2.7"];
        let others: Vec<_> = others.map(|o| visit(&gate, ip(o), ip("192.0.2.99"))).into();
        let last: Vec<_> =
            (0..2 * MOST as u16).map(|n| visit(&gate, crowd(n), ip("192.0.2.99"))).collect();
        assert!(!others.iter().any(closed), "a crowd of one network keeps others out");
        assert!(last[..MOST].iter().all(closed) && !closed(&last[2 * MOST - 1]));
    }

    #[test]
    fn a_crowd_from_one_ipv6_network_displaces_itself() {
        displaces_itself(|n| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 9, n, !n, 7, n)));
    }

    #[test]
    fn an_ipv4_address_written_as_ipv6_is_the_ipv4_address() {
        let address = Ipv4Addr::new(203, 0, 113, 5);
        displaces_itself(|n| match n % 2 {
            0 => IpAddr::V4(address),
            _ => IpAddr::V6(address.to_ipv6_mapped()),
        });
        assert_eq!(network(IpAddr::V6(address.to_ipv6_mapped())), IpAddr::V4(address));
        let crowd = |n: u8| IpAddr::V6(Ipv4Addr::new(198, 51, 100, n).to_ipv6_mapped());
        assert_ne!(network(crowd(1)), network(crowd(2)), "all of IPv4 is not one network");
    }

    #[test]
    fn the_favoured_address_is_favoured_and_its_network_is_not() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let (friend, neighbour) = (ip("2001:db8::1"), ip("2001:db8::2"));
        let gate = Arc::new(Gate::default());
        let first = visit(&gate, friend, friend);
        let _crowd: Vec<_> = (0..2 * MOST).map(|_| visit(&gate, neighbour, friend)).collect();
        assert!(!closed(&first));
    }
}
