//! What goes over TCP: each file holds the client and the server of one protocol.

pub(super) mod connect;
pub(super) mod rtt;
pub(super) mod stream;
