//! The TCP workloads: each file has the client and the server of one protocol.

pub(super) mod connect;
pub(super) mod rtt;
pub(super) mod stream;
