//! What goes over TCP: each file holds the near and the server of one protocol.

pub(super) mod connect;
pub(super) mod rtt;
pub(super) mod stream;
