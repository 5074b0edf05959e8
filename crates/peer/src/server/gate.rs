//! Bounds how many connections there are that have not proved the key.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, TcpStream};
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
    /// A place for the connection. If there is none, one that waits is closed for it: of
    /// the address that has the most of them, that which has waited longest. Who holds the
    /// key is in within milliseconds, so that neither idle strangers nor a crowd from one
    /// address keep him out. Connections from `favoured`, the near end of the session in
    /// progress, go last.
    pub(crate) fn enter(
        self: &Arc<Self>,
        stream: &TcpStream,
        ip: IpAddr,
        favoured: Option<IpAddr>,
    ) -> io::Result<Pass> {
        let stream = stream.try_clone()?;
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

    /// Closes all that wait.
    pub(crate) fn clear(&self) {
        self.visitors().waiting.iter().for_each(|visitor| shut(&visitor.stream));
    }

    fn visitors(&self) -> MutexGuard<'_, Visitors> {
        self.visitors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visitors {
    fn one_too_many(&self, favoured: Option<IpAddr>) -> Option<&Visitor> {
        let mut count: HashMap<IpAddr, usize> = HashMap::new();
        for visitor in &self.waiting {
            *count.entry(visitor.ip).or_default() += 1;
        }
        // The last of equals is taken, and from behind that is the oldest.
        let crowd = |visitor: &&Visitor| (Some(visitor.ip) != favoured, count.get(&visitor.ip));
        self.waiting.iter().rev().max_by_key(crowd)
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
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        near.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let mut far = listener.accept().unwrap().0;
        let pass = gate.enter(&far, ip, Some(favoured)).unwrap();
        thread::spawn(move || {
            let _ = far.read(&mut [0]);
            drop(pass);
        });
        near
    }

    fn closed(mut stream: &TcpStream) -> bool {
        matches!(stream.read(&mut [0]), Ok(0))
    }

    #[test]
    fn the_oldest_stranger_goes_first_and_the_favoured_last() {
        let [friend, stranger] = [1, 2].map(|n| IpAddr::V4(Ipv4Addr::new(127, 0, 0, n)));
        let gate = Arc::new(Gate::default());
        let first = visit(&gate, friend, friend);
        let mut waiting: Vec<_> = (1..MOST).map(|_| visit(&gate, stranger, friend)).collect();
        waiting.push(visit(&gate, stranger, friend));
        assert!(closed(&waiting[0]) && !closed(&waiting[1]) && !closed(&first));
        let friends: Vec<_> = (0..MOST).map(|_| visit(&gate, friend, friend)).collect();
        assert!(waiting[1..].iter().all(closed) && closed(&first));
        assert!(!friends.iter().any(closed) && gate.visitors().waiting.len() == MOST);
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
}
