//! Tasks for the tests of the tools for networks.

use proofmark_model::{Params, key};

use crate::Task;
use crate::testing::{task, with};

pub(crate) fn tcp() -> Params {
    let all = "block_size=64k streams=1 direction=forward path=loopback congestion=auto \
               no_delay=off placement=free socket_buffer=auto amount=auto";
    with(&Params::default(), all)
}

pub(crate) fn udp() -> Params {
    let all = "block_size=65507 streams=1 direction=forward path=loopback rate=auto \
               placement=apart socket_buffer=auto amount=auto";
    with(&Params::default(), all)
}

pub(crate) fn rtt(mode: &str) -> Params {
    let all = "block_size=1k streams=1 path=loopback placement=apart";
    with(&Params::default(), all).with(key::MODE, mode)
}

/// Calls a function with a task of these parameters that takes 0.1 s: 240 MB, or as many operations
/// as bits.
pub(crate) fn with_task<T>(test: &str, params: &Params, f: impl FnOnce(&Task) -> T) -> T {
    f(&Task { seconds: 0.1, work: 1.92e9, port: 5201, ..task(test, params) })
}
