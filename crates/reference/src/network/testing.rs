//! Tasks for the tests of the tools for networks.

use proofmark_model::Params;

use crate::testing::{self, task};
use crate::{Invocation, ReferenceRunner, Task};

fn stream() -> Params {
    let open = ["socket_buffer", "amount"];
    open.into_iter()
        .fold(Params::default(), |params, parameter| params.with(parameter, "auto"))
        .with("streams", 1)
        .with("direction", "forward")
        .with("path", "loopback")
}

/// The parameters of a point of TCP.
pub(crate) fn tcp() -> Params {
    stream()
        .with("block_size", 65_536)
        .with("congestion", "auto")
        .with("no_delay", "off")
        .with("placement", "free")
}

/// The parameters of a point of UDP.
pub(crate) fn udp() -> Params {
    stream().with("block_size", 65_507).with("rate", "auto").with("placement", "apart")
}

/// The parameters of a point of a round trip.
pub(crate) fn rtt(mode: &str) -> Params {
    Params::default()
        .with("streams", 1)
        .with("block_size", 1024)
        .with("mode", mode)
        .with("path", "loopback")
        .with("placement", "apart")
}

/// Calls with a task of these parameters that takes a tenth of a second: 240 MB, or as many operations
/// as bits.
pub(crate) fn with_task<T>(test: &str, params: &Params, f: impl FnOnce(&Task) -> T) -> T {
    f(&Task { seconds: 0.1, work: 1.92e9, port: 5201, ..task(test, params) })
}

/// How a tool of that version, at `/usr/bin/tool`, does such a task.
pub(crate) fn asked(
    tool: &dyn ReferenceRunner,
    version: &str,
    test: &str,
    params: &Params,
) -> Result<Invocation, String> {
    with_task(test, params, |task| testing::asked(tool, version, task))
}

/// The command line of it and of its server.
pub(crate) fn lines(invocation: Invocation) -> (String, String) {
    let (program, arguments) = invocation.server.unwrap();
    (invocation.arguments.join(" "), format!("{} {}", program.display(), arguments.join(" ")))
}
