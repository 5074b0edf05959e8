//! Measures many machines in rounds: starts one process a node, has all of them measure round by
//! round, and appends what they answer to a file.
//!
//! A launcher ([`launch`]) knows how nodes are reached, and nothing of rounds; [`measure`] asks them
//! round by round, and knows nothing of ssh or Slurm; [`answer_orders`] is the other end, on each node.

mod hosts;
pub mod launch;
mod log;
mod node;
mod protocol;
mod rounds;
mod subnet;

pub use hosts::{LARGEST_LIST, named_hosts};
pub use log::{FleetLog, ResumeState};
pub use node::{Done, answer_orders};
pub use protocol::{Answer, AnswerReader, MOST_ADDRESSES, Order, PairKey, Work, read_answer};
pub use rounds::{Fleet, NetworkPass, TimeLimits, Unfinished, measure};
pub use subnet::Subnet;
