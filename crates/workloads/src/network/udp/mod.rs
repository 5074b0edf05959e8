//! What goes over UDP: `stream` and `rtt` hold the client and the server of one protocol
//! each, `reach` what comes before both, `batch` gets datagrams to the system and from it,
//! `window` counts them, and `pace` says when those of a rate are due.

mod batch;
mod pace;
pub(super) mod reach;
pub(super) mod rtt;
pub(super) mod stream;
mod window;

pub(super) use rtt::LOST_AFTER;
