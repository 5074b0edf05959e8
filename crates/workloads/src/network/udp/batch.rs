//! Batches of datagrams per system call (sendmmsg(2), recvmmsg(2)).
//!
//! Every datagram has its own head. The rest is the same memory for all. So a batch of large
//! datagrams stays in a core's own cache, and each byte of each datagram is still copied.

#![allow(unsafe_code)] // Two system calls that take vectors of pointers.

use std::ffi::c_void;
use std::io;
use std::mem::zeroed;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::ptr;
use std::time::Duration;

use crate::network::payload::PayloadCursor;
use crate::network::stamp::{self, MIN_NUMBERED, NUMBER};

/// Target bytes of a batch.
const FILL: usize = 128 << 10;
const MAX_MESSAGES: usize = 64;

type Head = [u8; MIN_NUMBERED];

/// Memory for a batch of datagrams of one size.
pub(super) struct Batch {
    block: usize,
    heads: Vec<Head>,
    /// The part after each head, with one more byte to detect longer datagrams.
    rest: Vec<u8>,
    /// The part after each head instead, where the payload must not repeat.
    moving: Option<PayloadCursor>,
    vectors: Vec<[libc::iovec; 2]>,
    messages: Vec<libc::mmsghdr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrival {
    /// Length in bytes.
    pub(super) bytes: usize,
    /// Number and send time, if the datagram is long enough to contain them.
    pub(super) head: Option<(u64, u64)>,
}

impl Batch {
    pub(super) fn new(block: usize, moving: Option<PayloadCursor>) -> Self {
        let most = (FILL / block).clamp(1, MAX_MESSAGES);
        // SAFETY: all zeros is a valid value of both types: no memory, no length.
        let (vector, message) = unsafe { (zeroed::<libc::iovec>(), zeroed::<libc::mmsghdr>()) };
        let (vectors, messages) = (vec![[vector; 2]; most], vec![message; most]);
        let rest = stamp::payload(rest_of(block) + 1);
        Self { block, heads: vec![[0; MIN_NUMBERED]; most], rest, moving, vectors, messages }
    }

    /// Returns the maximum datagrams of one call.
    pub(super) fn most(&self) -> u64 {
        self.messages.len() as u64
    }

    /// Sends up to `count` datagrams with numbers from `first` on, and returns how many.
    pub(super) fn send(
        &mut self,
        socket: &UdpSocket,
        (first, count): (u64, u64),
        now_ns: impl Fn() -> u64,
    ) -> io::Result<u64> {
        let count = count.min(self.most()) as usize;
        if self.block >= MIN_NUMBERED {
            for (head, number) in self.heads[..count].iter_mut().zip(first..) {
                head[..NUMBER].copy_from_slice(&number.to_le_bytes());
                head[NUMBER..].copy_from_slice(&now_ns().to_le_bytes());
            }
        }
        self.point(count, rest_of(self.block), self.block >= MIN_NUMBERED);
        if let Some(moving) = &mut self.moving {
            for [_, rest] in &mut self.vectors[..count] {
                rest.iov_base = moving.next(rest.iov_len).as_ptr().cast_mut().cast();
            }
        }
        let (fd, messages) = (socket.as_raw_fd(), self.messages.as_mut_ptr());
        // SAFETY: `point` has just set the vectors of these `count` messages. The rest may also be
        // in a pool that lives forever. The call only reads this memory.
        counted(unsafe { libc::sendmmsg(fd, messages, count as libc::c_uint, libc::MSG_NOSIGNAL) })
    }

    /// Waits for a datagram, and receives all that have arrived with it. If none is there, it first
    /// sleeps for `nap`, if given.
    pub(super) fn receive(
        &mut self,
        socket: &UdpSocket,
        nap: Option<Duration>,
    ) -> io::Result<impl Iterator<Item = Arrival>> {
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
            let word = |at: usize| stamp::get(&head[at..]).filter(|_| bytes >= MIN_NUMBERED);
            Arrival { bytes, head: word(0).zip(word(NUMBER)) }
        }))
    }

    /// Receives datagrams into the memory of the messages.
    fn take(&mut self, socket: &UdpSocket, flags: libc::c_int) -> io::Result<u64> {
        let (fd, messages) = (socket.as_raw_fd(), self.messages.as_mut_ptr());
        let most = self.messages.len() as libc::c_uint;
        // SAFETY: as in `send`. The heads and the rest are writable.
        counted(unsafe { libc::recvmmsg(fd, messages, most, flags as _, ptr::null_mut()) })
    }

    /// Points the messages to their memory: the heads, if used, and then the rest.
    fn point(&mut self, count: usize, rest: usize, heads: bool) {
        let rest = libc::iovec { iov_base: self.rest.as_mut_ptr().cast(), iov_len: rest };
        let own = self.heads[..count].iter_mut();
        for ((head, vectors), message) in own.zip(&mut self.vectors).zip(&mut self.messages) {
            let base = head.as_mut_ptr().cast::<c_void>();
            *vectors = [libc::iovec { iov_base: base, iov_len: MIN_NUMBERED }, rest];
            let used = if heads { &mut vectors[..] } else { &mut vectors[1..] };
            message.msg_hdr.msg_iov = used.as_mut_ptr();
            message.msg_hdr.msg_iovlen = used.len() as _;
        }
    }
}

/// Returns the bytes of a datagram that are not in its head.
fn rest_of(block: usize) -> usize {
    if block >= MIN_NUMBERED { block - MIN_NUMBERED } else { block }
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
            let head = (block >= MIN_NUMBERED).then_some((7, 99));
            assert_eq!(came, [Arrival { bytes: block, head }]);
            if block > MIN_NUMBERED {
                assert_eq!(back.rest[..block - MIN_NUMBERED], out.rest[..block - MIN_NUMBERED]);
            }
        }
    }

    #[test]
    fn a_longer_datagram_than_the_block_is_received_whole() {
        let (a, b) = pair();
        a.send(&[7_u64.to_le_bytes(), 9_u64.to_le_bytes()].concat()).unwrap();
        let came: Vec<_> = Batch::new(1, None).receive(&b, None).unwrap().collect();
        assert_eq!(came, [Arrival { bytes: MIN_NUMBERED, head: Some((7, 9)) }]);
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
