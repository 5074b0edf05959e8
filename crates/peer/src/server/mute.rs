//! The server's UDP port: bound, but never read.
#![allow(unsafe_code)] // SO_ATTACH_FILTER has no safe wrapper here.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd as _;

/// Binds a socket that keeps the kernel from answering "port unreachable". A filter drops datagrams
/// before they are queued. A full queue would count as a loss of this machine (RcvbufErrors in
/// /proc/net/snmp), which a run in progress would report.
pub(super) fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    // Without the filter the socket is not read either.
    let _ = drop_all(&socket);
    Ok(socket)
}

/// Attaches a filter of one instruction: keep 0 bytes of the packet (socket(7), SO_ATTACH_FILTER).
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

    /// Returns the kernel's count of datagrams dropped because of full queues.
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

    /// Returns how much a flood at an unread socket adds to that count.
    fn drops_of_flood(at: &UdpSocket) -> u64 {
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
        let muted = drops_of_flood(&mute);
        mute.set_nonblocking(true).unwrap();
        assert!(mute.recv(&mut [0]).is_err(), "nothing is queued");
        // The count is for the whole machine, so others add to it.
        let open = drops_of_flood(&UdpSocket::bind(address).unwrap());
        assert!(open > 0 && muted < open / 2, "{muted} with the filter, {open} without");
    }
}
