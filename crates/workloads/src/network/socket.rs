//! Socket functions that the standard library lacks: options, TCP_INFO, reads without waiting.

#![allow(unsafe_code)] // System calls on open descriptors, with memory that outlives them.

use std::ffi::{c_int, c_void};
use std::io;
use std::mem::{size_of, zeroed};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use proofmark_model::TcpState;
use rustix::io::Errno;
use rustix::net::sockopt::{
    Timeout, set_socket_linger, set_socket_recv_buffer_size, set_socket_send_buffer_size,
    set_socket_timeout,
};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, connect, recv, socket_with};

/// Requests buffers of this many bytes in each direction. The system may grant other sizes.
pub(super) fn set_buffers(fd: impl AsFd, bytes: u64) -> io::Result<()> {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(c_int::MAX as usize);
    set_socket_send_buffer_size(&fd, bytes)?;
    Ok(set_socket_recv_buffer_size(&fd, bytes)?)
}

/// Sets the minimum bytes for which a blocking read waits.
pub(super) fn set_low_water(stream: &TcpStream, bytes: u64) -> io::Result<()> {
    let value = c_int::try_from(bytes).unwrap_or(c_int::MAX);
    let length = size_of::<c_int>() as libc::socklen_t;
    let (fd, value) = (stream.as_raw_fd(), (&raw const value).cast::<c_void>());
    // SAFETY: the descriptor is open, and `length` bytes can be read at `value`.
    match unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_RCVLOWAT, value, length) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Opens a connection whose steps wait at most `patience` each. Closing it resets it at once, so
/// that neither system keeps state of it.
pub(super) fn dial(target: SocketAddr, patience: Duration) -> io::Result<TcpStream> {
    let family = if target.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let fd = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    set_socket_timeout(&fd, Timeout::Send, Some(patience))?;
    set_socket_timeout(&fd, Timeout::Recv, Some(patience))?;
    set_socket_linger(&fd, Some(Duration::ZERO))?;
    match connect(&fd, &target) {
        Ok(()) => Ok(fd.into()),
        // The errors of connect(2) at the end of its timeout.
        Err(Errno::INPROGRESS | Errno::AGAIN) => Err(io::ErrorKind::TimedOut.into()),
        Err(e) => Err(e.into()),
    }
}

/// Returns the bytes that were sent and not yet acknowledged.
pub(super) fn unacknowledged(stream: &TcpStream) -> u64 {
    let mut bytes: c_int = 0;
    // SAFETY: the call writes one integer, to `bytes`.
    unsafe { libc::ioctl(stream.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    u64::try_from(bytes).unwrap_or(0)
}

/// Reads available data without waiting. With `peeks`, the data stay in the queue.
#[inline]
pub(super) fn receive_now(fd: impl AsFd, bytes: &mut [u8], peeks: bool) -> io::Result<usize> {
    let flags = RecvFlags::DONTWAIT | if peeks { RecvFlags::PEEK } else { RecvFlags::empty() };
    Ok(recv(fd, bytes, flags)?.0)
}

/// Returns the system's state of a connection (TCP_INFO).
pub(super) fn tcp_state(stream: &TcpStream) -> Option<TcpState> {
    // SAFETY: all zeros is a valid value of the type.
    let mut info: libc::tcp_info = unsafe { zeroed() };
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    let (fd, place) = (stream.as_raw_fd(), (&raw mut info).cast::<c_void>());
    // SAFETY: `length` bytes can be written at `place`.
    let result =
        unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, place, &raw mut length) };
    // The minimum is 0 before Linux 4.9, and all ones until the first measurement.
    let least = Some(info.tcpi_min_rtt).filter(|us| (1..u32::MAX).contains(us));
    (result == 0).then(|| TcpState {
        retransmits: u64::from(info.tcpi_total_retrans),
        window_bytes: u64::from(info.tcpi_snd_cwnd) * u64::from(info.tcpi_snd_mss),
        rtt_s: f64::from(info.tcpi_rtt) * 1e-6,
        least_rtt_s: least.map(|us| f64::from(us) * 1e-6),
        segment_bytes: u64::from(info.tcpi_snd_mss),
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use super::*;
    use crate::network::tests::{LOOPBACK, pair};

    #[test]
    fn a_connection_reports_its_state() {
        let (mut client, server) = pair(LOOPBACK);
        client.write_all(b"12345").unwrap();
        let state = tcp_state(&client).unwrap();
        assert!(state.segment_bytes >= 500 && state.window_bytes >= state.segment_bytes);
        let least = state.least_rtt_s.unwrap();
        assert!(least > 0.0 && least <= 1.5 * state.rtt_s, "{state:?}");
        let mut bytes = [0; 9];
        assert_eq!(receive_now(&server, &mut bytes, true).unwrap(), 5);
        assert_eq!(receive_now(&server, &mut bytes, false).unwrap(), 5);
        let none = receive_now(&server, &mut bytes, false).unwrap_err();
        assert_eq!(none.kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn a_connection_that_was_made_ends_by_a_reset() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = dial(listener.local_addr().unwrap(), Duration::from_secs(1)).unwrap();
        let server = listener.accept().unwrap().0;
        drop(client);
        let error = receive_now(&server, &mut [0], false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }
}
