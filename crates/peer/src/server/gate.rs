//! Limit on connections that are not yet authenticated.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, Ipv6Addr, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use proofmark_model::lock;

use super::job::shut;

/// Maximum of such connections, each with a waiting thread.
const MAX_WAITING: usize = 16;

/// Set of connections that wait for authentication.
#[derive(Default)]
pub(crate) struct Gate {
    visitors: Mutex<Visitors>,
    changed: Condvar,
}

#[derive(Default)]
struct Visitors {
    /// Waiting connections, the oldest first.
    waiting: VecDeque<Visitor>,
    next: u64,
}

struct Visitor {
    id: u64,
    ip: IpAddr,
    stream: TcpStream,
}

/// Place in the gate, released when dropped.
pub(crate) struct Pass {
    gate: Arc<Gate>,
    id: u64,
}

impl Gate {
    /// Waits for a place for the connection. If none is free, the gate closes the oldest connection
    /// of the [`network`] with the most. A client with the key passes within milliseconds, so
    /// neither idle peers nor many connections from one network keep it out. Connections from
    /// `favoured`, the client of the session in progress, are closed last. That is its exact
    /// address: others may share its network.
    pub(crate) fn enter(
        self: &Arc<Self>,
        stream: &TcpStream,
        ip: IpAddr,
        favoured: Option<IpAddr>,
    ) -> io::Result<Pass> {
        let (stream, ip) = (stream.try_clone()?, ip.to_canonical());
        let mut visitors = lock(&self.visitors);
        while visitors.waiting.len() >= MAX_WAITING {
            if let Some(visitor) = visitors.one_too_many(favoured) {
                shut(&visitor.stream);
            }
            // The closed connection's thread wakes up and drops its pass.
            visitors = self.changed.wait(visitors).unwrap_or_else(PoisonError::into_inner);
        }
        let id = visitors.next;
        visitors.next += 1;
        visitors.waiting.push_back(Visitor { id, ip, stream });
        Ok(Pass { gate: Arc::clone(self), id })
    }

    pub(crate) fn clear(&self) {
        lock(&self.visitors).waiting.iter().for_each(|visitor| shut(&visitor.stream));
    }
}

impl Visitors {
    fn one_too_many(&self, favoured: Option<IpAddr>) -> Option<&Visitor> {
        let favoured = favoured.map(|ip| ip.to_canonical());
        let mut count: HashMap<IpAddr, usize> = HashMap::new();
        for visitor in &self.waiting {
            *count.entry(network(visitor.ip)).or_default() += 1;
        }
        // `max_by_key` returns the last of equals; in reverse order that is the oldest.
        let crowd =
            |visitor: &&Visitor| (Some(visitor.ip) != favoured, count.get(&network(visitor.ip)));
        self.waiting.iter().rev().max_by_key(crowd)
    }
}

/// Returns the network of an address: an IPv4 address itself, or the first 64 bits of an IPv6
/// address. So one attacker's addresses count as one. A host chooses the other 64 bits freely (RFC
/// 4291, section 2.5.4; RFC 8981).
fn network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        lock(&self.gate.visitors).waiting.retain(|visitor| visitor.id != self.id);
        self.gate.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read};
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    use proofmark_testing::DEADLINE;

    use super::*;

    /// Starts a thread that waits at the gate as the server's do; returns its other end.
    fn visit(gate: &Arc<Gate>, ip: IpAddr, favoured: IpAddr) -> TcpStream {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut server = listener.accept().unwrap().0;
        let pass = gate.enter(&server, ip, Some(favoured)).unwrap();
        thread::spawn(move || {
            let _ = server.read(&mut [0]);
            drop(pass);
        });
        client
    }

    /// Waits for the gate to close these connections.
    fn all_closed(streams: &[TcpStream]) -> bool {
        streams.iter().all(|mut stream| matches!(stream.read(&mut [0]), Ok(0)))
    }

    /// True if the gate has closed none of these. It closes in the order of its decisions, so call
    /// this after the expected ones are closed.
    fn none_closed(streams: &[TcpStream]) -> bool {
        let is_open = |mut stream: &TcpStream| {
            stream.set_nonblocking(true).unwrap();
            let read = stream.read(&mut [0]);
            stream.set_nonblocking(false).unwrap();
            read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
        };
        streams.iter().all(is_open)
    }

    #[test]
    fn the_oldest_waiting_goes_first_and_the_favoured_last() {
        let [favoured, other] = [1, 2].map(|n| IpAddr::V4(Ipv4Addr::new(127, 0, 0, n)));
        let gate = Arc::new(Gate::default());
        let visits = |count, ip| Vec::from_iter((0..count).map(|_| visit(&gate, ip, favoured)));
        let first = visits(1, favoured);
        let waiting = visits(MAX_WAITING, other);
        assert!(all_closed(&waiting[..1]) && none_closed(&waiting[1..]) && none_closed(&first));
        let newer = visits(MAX_WAITING, favoured);
        assert!(all_closed(&waiting[1..]) && all_closed(&first) && none_closed(&newer));
        assert_eq!(lock(&gate.visitors).waiting.len(), MAX_WAITING);
    }

    /// Connections from other networks stay.
    #[test]
    fn a_crowd_from_one_network_displaces_itself() {
        const V4: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 5);
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let crowds: [fn(u16) -> IpAddr; 3] = [
            |_| IpAddr::V4(V4),
            |n| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 9, n, !n, 7, n)),
            // An IPv4-mapped IPv6 address is the IPv4 address.
            |n| if n % 2 == 0 { IpAddr::V4(V4) } else { IpAddr::V6(V4.to_ipv6_mapped()) },
        ];
        for crowd in crowds {
            let gate = Arc::new(Gate::default());
            let visit = |from| visit(&gate, from, ip("192.0.2.99"));
            let others = ["2001:db8:0:1::1", "2001:db8:0:2::1", "192.0.2.7"];
            let others = others.map(|other| visit(ip(other)));
            let many: Vec<_> = (0..2 * MAX_WAITING as u16).map(|n| visit(crowd(n))).collect();
            let (gone, there) = many.split_at(MAX_WAITING + others.len());
            assert!(all_closed(gone) && none_closed(there), "{}", crowd(1));
            assert!(none_closed(&others), "a crowd from {} keeps others out", crowd(1));
        }
        let mapped = |n: u8| network(IpAddr::V6(Ipv4Addr::new(198, 51, 100, n).to_ipv6_mapped()));
        assert_ne!(mapped(1), mapped(2), "all of IPv4 is not one network");
    }

    #[test]
    fn the_favoured_address_is_favoured_and_its_network_is_not() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let (friend, neighbour) = (ip("2001:db8::1"), ip("2001:db8::2"));
        let gate = Arc::new(Gate::default());
        let first = visit(&gate, friend, friend);
        let crowd: Vec<_> = (0..2 * MAX_WAITING).map(|_| visit(&gate, neighbour, friend)).collect();
        assert!(all_closed(&crowd[..=MAX_WAITING]) && none_closed(&[first]));
    }
}
