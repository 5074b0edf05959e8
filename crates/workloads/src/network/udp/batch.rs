//! Several datagrams a system call (sendmmsg(2), recvmmsg(2)).
//!
//! Every datagram has a head of its own; what follows is the same memory for all. So a batch of
//! large datagrams stays in a core's own cache, and each byte of each is still copied.

#![allow(unsafe_code)] // Two system calls that take vectors of pointers.

use std::ffi::c_void;
use std::io;
use std::mem::zeroed;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::ptr;
use std::time::Duration;

use crate::network::payload::Moving;
use crate::network::stamp::{self, LEAST, NUMBER};

/// Bytes that a batch is filled up to.
const FILL: usize = 128 << 10;
const MOST: usize = 64;

type Head = [u8; LEAST];

/// Memory for a batch of datagrams of one size.
pub(super) struct Batch {
    block: usize,
    heads: Vec<Head>,
    /// What follows each head; a byte longer than that, to see datagrams that are.
    rest: Vec<u8>,
    /// What follows each head instead, where the payload must not come again.
    moving: Option<Moving>,
    vectors: Vec<[libc::iovec; 2]>,
    messages: Vec<libc::mmsghdr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Came {
    /// Its length in bytes.
    pub(super) bytes: usize,
    /// Its number and when it was sent, where it is long enough to say so.
    pub(super) head: Option<(u64, u64)>,
}

impl Batch {
    pub(super) fn new(block: usize, moving: Option<Moving>) -> Self {
        let most = (FILL / block).clamp(1, MOST);
        // SAFETY: all zeros is a value of both: no memory, no length.
        let (vector, message) = unsafe { (zeroed::<libc::iovec>(), zeroed::<libc::mmsghdr>()) };
        let (vectors, messages) = (vec![[vector; 2]; most], vec![message; most]);
        let rest = stamp::payload(rest_of(block) + 1);
        Self { block, heads: vec![[0; LEAST]; most], rest, moving, vectors, messages }
    }

    /// Most datagrams of one call.
    pub(super) fn most(&self) -> u64 {
        self.messages.len() as u64
    }

    /// Sends up to `count` datagrams, whose numbers begin with `first`; returns how many.
    pub(super) fn send(
        &mut self,
        socket: &UdpSocket,
        (first, count): (u64, u64),
        now_ns: impl Fn() -> u64,
    ) -> io::Result<u64> {
        let count = count.min(self.most()) as usize;
        if self.block >= LEAST {
            for (head, number) in self.heads[..count].iter_mut().zip(first..) {
                head[..NUMBER].copy_from_slice(&number.to_le_bytes());
                head[NUMBER..].copy_from_slice(&now_ns().to_le_bytes());
            }
        }
        self.point(count, rest_of(self.block), self.block >= LEAST);
        if let Some(moving) = &mut self.moving {
            for [_, rest] in &mut self.vectors[..count] {
                rest.iov_base = moving.next(rest.iov_len).as_ptr().cast_mut().cast();
            }
        }
        let (fd, messages) = (socket.as_raw_fd(), self.messages.as_mut_ptr());
        // SAFETY: `count` messages, whose vectors `point` has just made, or whose rest is in a pool that
        // lasts; it is only read.
        counted(unsafe { libc::sendmmsg(fd, messages, count as libc::c_uint, libc::MSG_NOSIGNAL) })
    }

    /// Waits for a datagram, and takes those that are there with it. Where there is none, it
    /// takes a `nap` first, if that is given.
    pub(super) fn receive(
        &mut self,
        socket: &UdpSocket,
        nap: Option<Duration>,
    ) -> io::Result<impl Iterator<Item = Came>> {
        self.point(self.messages.len(), self.rest.len(), true);
        let there = match nap.map(|nap| (nap, self.take(socket, libc::MSG_DONTWAIT))) {
            Some((nap, Err(e))) if e.kind() == io::ErrorKind::WouldBlock => {
                std::thread::sleep(nap);
                None
            }
            tried => tried.map(|(_, taken)| taken),
        };
        let n = there.unwrap_or_else(|| self.take(socket, libc::MSG_WAITFORONE))? as usize;
        Ok(self.messages[..n].iter().zip(&self.heads).map(|(message, head)| {
            let bytes = message.msg_len as usize;
            let word = |at: usize| stamp::get(&head[at..]).filter(|_| bytes >= LEAST);
            Came { bytes, head: word(0).zip(word(NUMBER)) }
        }))
    }

    /// Takes datagrams into memory that the messages point to.
    fn take(&mut self, socket: &UdpSocket, flags: libc::c_int) -> io::Result<u64> {
        let (fd, messages) = (socket.as_raw_fd(), self.messages.as_mut_ptr());
        let most = self.messages.len() as libc::c_uint;
        // SAFETY: as in `send`; the heads and the rest can be written to.
        counted(unsafe { libc::recvmmsg(fd, messages, most, flags as _, ptr::null_mut()) })
    }

    /// Points the messages to their memory: heads, where they have some, and then the rest.
    fn point(&mut self, count: usize, rest: usize, heads: bool) {
        let rest = libc::iovec { iov_base: self.rest.as_mut_ptr().cast(), iov_len: rest };
        let own = self.heads[..count].iter_mut();
        for ((head, vectors), message) in own.zip(&mut self.vectors).zip(&mut self.messages) {
            let base = head.as_mut_ptr().cast::<c_void>();
            *vectors = [libc::iovec { iov_base: base, iov_len: LEAST }, rest];
            let used = if heads { &mut vectors[..] } else { &mut vectors[1..] };
            message.msg_hdr.msg_iov = used.as_mut_ptr();
            message.msg_hdr.msg_iovlen = used.len() as _;
        }
    }
}

/// Bytes of a datagram that are not in its head.
fn rest_of(block: usize) -> usize {
    if block >= LEAST { block - LEAST } else { block }
}

fn counted(result: libc::c_int) -> io::Result<u64> {
    u64::try_from(result).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (UdpSocket, UdpSocket) {
        let bind = || UdpSocket::bind("127.0.0.1:0").unwrap();
        let (a, b) = (bind(), bind());
        a.connect(b.local_addr().unwrap()).unwrap();
        b.connect(a.local_addr().unwrap()).unwrap();
        b.set_read_timeout(Some(proofmark_testing::DEADLINE)).unwrap();
        (a, b)
    }

    #[test]
    fn datagrams_arrive_as_they_were_sent() {
        for block in [1, 15, 16, 17, 1000, 65_507] {
            let (a, b) = pair();
            let (mut out, mut back) = (Batch::new(block, None), Batch::new(block, None));
            assert!(out.most() * block as u64 <= (FILL + block) as u64);
            assert_eq!(out.send(&a, (7, 1), || 99).unwrap(), 1);
            let came: Vec<_> = back.receive(&b, None).unwrap().collect();
            let head = (block >= LEAST).then_some((7, 99));
            assert_eq!(came, [Came { bytes: block, head }]);
            if block > LEAST {
                assert_eq!(back.rest[..block - LEAST], out.rest[..block - LEAST]);
            }
        }
    }

    #[test]
    fn where_datagrams_are_short_a_longer_one_is_seen_whole() {
        let (a, b) = pair();
        a.send(&[7_u64.to_le_bytes(), 9_u64.to_le_bytes()].concat()).unwrap();
        let came: Vec<_> = Batch::new(1, None).receive(&b, None).unwrap().collect();
        assert_eq!(came, [Came { bytes: LEAST, head: Some((7, 9)) }]);
    }

    #[test]
    fn a_batch_keeps_their_order_and_sees_another_length() {
        let (a, b) = pair();
        let (mut out, mut back) = (Batch::new(100, None), Batch::new(100, None));
        assert_eq!(out.send(&a, (0, 3), || 5).unwrap(), 3);
        a.send(&[0; 101]).unwrap();
        a.send(&[0; 9]).unwrap();
        let mut came = Vec::new();
        while came.len() < 5 {
            came.extend(back.receive(&b, None).unwrap());
        }
        let numbers: Vec<_> = came.iter().map(|c| (c.bytes, c.head.map(|h| h.0))).collect();
        let sent = [(100, Some(0)), (100, Some(1)), (100, Some(2)), (101, Some(0)), (9, None)];
        assert_eq!(numbers, sent);
    }
}
