//! Measurement of many machines in rounds. It starts one process per node, has all of them measure
//! in each round, and appends their answers to a file.
//!
//! A launcher ([`launch`]) reaches the nodes and knows nothing of rounds. [`measure`] orders rounds
//! and knows nothing of ssh or Slurm. [`answer_orders`] runs on each node and answers them.

mod hosts;
pub mod launch;
mod log;
mod node;
mod protocol;
mod rounds;
mod subnet;

pub use hosts::{LARGEST_LIST, named_hosts};
pub use log::{FleetLog, ResumeState};
pub use node::{OrderOutcome, answer_orders};
pub use protocol::{Answer, AnswerReader, MAX_ADDRESSES, NodeTask, Order, PairKey, read_answer};
pub use rounds::{Fleet, NetworkPass, TimeLimits, Unfinished, measure};
pub use subnet::Subnet;
