//! sockperf: the output of its client for a ping-pong, under load, and for a throughput.

mod run;
mod runner;

use proofmark_model::Printed;

use crate::network::{EndpointFigure, add_endpoints};
use crate::text::each_line;
use crate::{Description, Malformed, Output, Tool, same_work};
use run::Run;

pub(crate) struct Sockperf;

impl Tool for Sockperf {
    fn description(&self) -> &Description {
        &Description {
            id: "sockperf",
            printed: Printed::Mean,
            title: "sockperf (Mellanox)",
            package: "Debian: sockperf",
            reads: "its text",
            same_work: const {
                &[
                    same_work("TCP ping-pong", "network.tcp.rtt"),
                    same_work("UDP ping-pong", "network.udp.rtt"),
                ]
            },
            about: "Reads the client's output of a ping-pong over one socket, UDP or TCP, one or \
                    several runs. A latency is a full round trip: proofmark doubles the one-way \
                    latency that sockperf prints without --full-rtt. Round trips a second are those \
                    of the valid part of the run, which excludes the warm-up. sockperf does not \
                    report the message size. If the answers' times do not fill the valid part, as \
                    with under-load, playback and --mps, messages did not follow one another. Then \
                    the figure is sockperf.udp.answers or sockperf.tcp.answers and counts the timed \
                    answers. Throughput counts the messages sent (sockperf.udp.sent or \
                    sockperf.tcp.sent), whether or not they arrived. Dropped, duplicated and \
                    out-of-order messages are findings. Not read: bursts, --full-log, a server's \
                    output.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        let marks = ["== version #", "[Valid Duration]", "Summary: "];
        let own = |l: &str| l.starts_with("sockperf:") && marks.iter().any(|mark| l.contains(mark));
        text.lines().any(own)
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let (mut run, mut runs) = (Run::default(), Vec::new());
        let mut version = None;
        let last = each_line(text, |at, line| {
            if let Some((_, rest)) = line.split_once("== version #") {
                let word = rest.split_whitespace().next().filter(|word| *word != "==");
                version = version.take().or(word.map(str::to_owned));
                if run.has_begun() {
                    runs.push(std::mem::take(&mut run).finish(at - 1)?);
                }
            }
            run.take(line, at)
        })?;
        runs.push(run.finish(last)?);
        let runs: Vec<EndpointFigure> = runs;
        Ok(Output { version, figures: add_endpoints(runs), ..Output::default() })
    }
}

/// The tests in which one answer follows another.
const TCP: &str = "TCP ping-pong";
const UDP: &str = "UDP ping-pong";

#[cfg(test)]
mod tests;
