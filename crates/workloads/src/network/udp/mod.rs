//! The UDP workloads: `stream` and `rtt` have the client and the server of one protocol each.
//! `reach` authenticates the client before both. `batch` sends and receives datagrams, `window`
//! counts them, and `pace` computes when paced ones are due.

mod batch;
mod pace;
pub(super) mod reach;
pub(super) mod rtt;
pub(super) mod stream;
mod window;

pub(super) use rtt::LOST_AFTER;
