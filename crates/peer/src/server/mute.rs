//! The server's UDP port: bound, and deaf.
#![allow(unsafe_code)] // SO_ATTACH_FILTER has no safe wrapper here.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd as _;

/// A socket that keeps the kernel from answering "port unreachable", and from which
/// nothing is read or sent. What comes is dropped by a filter before it is queued: a queue
/// that is full would count as a loss of this machine (RcvbufErrors in /proc/net/snmp), of
/// which a run in progress would take note.
pub(super) fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    // Without it the socket is as mute.
    let _ = drop_all(&socket);
    Ok(socket)
}

/// A program of one instruction: keep 0 bytes of the packet (socket(7), SO_ATTACH_FILTER).
fn drop_all(socket: &UdpSocket) -> io::Result<()> {
    const KEEP: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let mut code = [libc::sock_filter { code: KEEP, jt: 0, jf: 0, k: 0 }];
    let program = libc::sock_fprog { len: 1, filter: code.as_mut_ptr() };
    // SAFETY: the descriptor is open; the program and its one instruction outlive the
    // call, which copies them.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const program).cast(),
            size_of::<libc::sock_fprog>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel counted as dropped since a socket's queue was full.
    fn dropped() -> u64 {
        let text = std::fs::read_to_string("/proc/net/snmp").unwrap();
        let rows: Vec<Vec<&str>> = text
            .lines()
            .filter_map(|line| line.strip_prefix("Udp: "))
            .map(|line| line.split_whitespace().collect())
            .collect();
        let column = rows[0].iter().position(|name| *name == "RcvbufErrors").unwrap();
        rows[1][column].parse().unwrap()
    }

    /// What a flood at a socket that nobody reads adds to that.
    fn of_a_flood(at: &UdpSocket) -> u64 {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(at.local_addr().unwrap()).unwrap();
        let before = dropped();
        for _ in 0..2000 {
            socket.send(&[0; 1000]).unwrap();
        }
        dropped() - before
    }

    #[test]
    fn a_flood_is_not_counted_as_a_loss_of_this_machine() {
        let address = "127.0.0.1:0".parse().unwrap();
        let mute = bind(address).unwrap();
        let muted = of_a_flood(&mute);
        mute.set_nonblocking(true).unwrap();
        assert!(mute.recv(&mut [0]).is_err(), "nothing is queued");
        // The count is the whole machine's, and others lose some, too.
        let open = of_a_flood(&UdpSocket::bind(address).unwrap());
        assert!(open > 0 && muted < open / 2, "{muted} with the filter, {open} without");
    }
}
