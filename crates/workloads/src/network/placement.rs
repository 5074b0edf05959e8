//! The placement of the threads of both ends, where they should run apart. Over loopback each end
//! has its half of the CPUs. So with any number of streams no sender alternates with a receiver on
//! a CPU. Datagrams of an unpaced sender would be lost while the receiver waits for its turn.

use proofmark_engine::{pin, usable_cpus};
use proofmark_model::NetworkPath;

/// Returns the CPUs of the client from the usable ones, in the given order.
pub(super) fn client(usable: &[u32], path: NetworkPath) -> Vec<u32> {
    let mut sorted = usable.to_vec();
    sorted.sort_unstable();
    let own = match path {
        NetworkPath::Loopback => &sorted[..sorted.len().div_ceil(2)],
        NetworkPath::Peer => &sorted[..],
    };
    usable.iter().copied().filter(|cpu| own.contains(cpu)).collect()
}

/// Returns the CPUs of the server, from the last one on.
fn server(usable: &[u32], path: NetworkPath) -> Vec<u32> {
    let from = match path {
        NetworkPath::Loopback if usable.len() > 1 => usable.len().div_ceil(2),
        _ => 0,
    };
    usable[from..].iter().rev().copied().collect()
}

/// Returns the CPUs of another program's client and server over loopback.
pub fn cpus_of_ends(placement: Option<&str>, usable: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let path = NetworkPath::Loopback;
    match placement {
        Some("apart") => (client(usable, path), server(usable, path)),
        _ => (usable.to_vec(), usable.to_vec()),
    }
}

/// Pins this thread, which serves stream `index`, where the system allows it.
pub(super) fn pin_server(index: usize, path: NetworkPath) {
    let cpus = server(&usable_cpus(None).unwrap_or_default(), path);
    if let Some(cpu) = cpus.get(index % cpus.len().max(1)) {
        pin(*cpu);
    }
}

#[cfg(test)]
mod tests {
    use NetworkPath::{Loopback, Peer};

    use super::*;

    #[test]
    fn over_loopback_each_end_has_its_half() {
        for n in 2..9_u32 {
            let usable: Vec<_> = (10..10 + n).collect();
            let (client, server) = (client(&usable, Loopback), server(&usable, Loopback));
            assert!(client.iter().all(|cpu| !server.contains(cpu)), "{n}: {client:?} {server:?}");
            assert_eq!(client.len() + server.len(), n as usize);
            assert_eq!((client[0], server[0]), (10, 9 + n));
        }
        assert_eq!((client(&[3], Loopback), server(&[3], Loopback)), (vec![3], vec![3]));
        assert_eq!(client(&[4, 0, 5, 1], Loopback), [0, 1], "in the order of use");
        assert_eq!((client(&[], Loopback), server(&[], Loopback)), (vec![], vec![]));
        assert_eq!(cpus_of_ends(Some("apart"), &[0, 1, 2, 3]), (vec![0, 1], vec![3, 2]));
        assert_eq!(cpus_of_ends(Some("free"), &[0, 1]), (vec![0, 1], vec![0, 1]));
    }

    #[test]
    fn between_two_machines_each_has_them_all() {
        assert_eq!(client(&[0, 2, 1], Peer), [0, 2, 1]);
        assert_eq!(server(&[0, 1, 2], Peer), [2, 1, 0]);
    }

    #[test]
    fn threads_are_pinned_from_the_last_cpu_on() {
        let cpus = usable_cpus(None).unwrap();
        for (index, cpu) in cpus.iter().rev().chain(cpus.last()).enumerate() {
            let pinned = std::thread::spawn(move || {
                pin_server(index, Peer);
                usable_cpus(None).unwrap()
            });
            let pinned = proofmark_testing::join("a thread to pin itself", pinned);
            assert_eq!(pinned, [*cpu], "{index}");
        }
    }
}
