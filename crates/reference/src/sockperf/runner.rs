//! The options with which sockperf runs a configuration.

use super::{Sockperf, TCP, UDP};
use crate::network::{HERE, Parameters, flag, pair, whole};
use crate::{Installed, Invocation, Ready, ReferenceRunner, Task, refuse_if};

const MESSAGE: std::ops::RangeInclusive<u64> = 14..=65_507;
/// The seconds at the start and the end of a run that sockperf excludes.
const LEFT_OUT: f64 = 0.45;

/// The seconds before and after a run, which sockperf mostly sleeps.
const AROUND: f64 = 2.5;

impl ReferenceRunner for Sockperf {
    fn installed(&self) -> Option<Installed> {
        Installed::on_path(&["sockperf"], "--version")
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        match test {
            TCP => Some("round trips of the part that it calls valid, some half a second"),
            UDP => Some(
                "round trips of the part that it calls valid, some half a second, over sockets that \
                 are not connected",
            ),
            _ => None,
        }
    }

    fn invocation(&self, installed: &Installed, task: &Task) -> Result<Invocation, String> {
        let parameters = Parameters::read(task)?;
        parameters.one_connection()?;
        refuse_if(!MESSAGE.contains(&parameters.block), "its messages have 14 B to 65,507 B")?;
        let tcp = task.test == TCP;
        let mode = flag("--tcp", tcp) + &flag("--nonblocked", parameters.poll);
        let ends = format!("-i {HERE} -p {}{mode}", task.port);
        let line = format!("pp {ends} -m {} -t {} --full-rtt", parameters.block, seconds(task));
        let pair = pair(&line, &installed.program, &format!("sr {ends}"));
        Ok(Invocation { ready: if tcp { Ready::Tcp } else { Ready::Udp }, ..pair })
    }

    fn takes(&self, task: &Task) -> f64 {
        seconds(task) as f64 + AROUND
    }
}

/// Returns the whole seconds of a run whose valid part lasts as long as one of proofmark's trials.
fn seconds(task: &Task) -> u64 {
    whole(task.seconds + LEFT_OUT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::testing::{rtt, with_task};
    use crate::testing::does;

    #[test]
    fn one_message_after_the_other_or_why_not() {
        const BLOCKING: &str = "pp -i 127.0.0.1 -p 5201 --tcp -m 1024 -t 1 --full-rtt \
                                | /usr/bin/tool sr -i 127.0.0.1 -p 5201 --tcp (Tcp)";
        const POLLING: &str = "pp -i 127.0.0.1 -p 5201 --nonblocked -m 1024 -t 1 --full-rtt \
                               | /usr/bin/tool sr -i 127.0.0.1 -p 5201 --nonblocked (Udp)";
        let rows = [
            (TCP, "", Ok(BLOCKING)),
            (UDP, "mode=poll", Ok(POLLING)),
            (UDP, "streams=2", Err("it supports one connection")),
            (UDP, "path=peer", Err("..server on the peer")),
            (UDP, "block_size=1", Err("..14 B to..")),
            (UDP, "block_size=13", Err("..14 B to..")),
            (UDP, "block_size=65508", Err("..14 B to..")),
        ];
        with_task("", &rtt("block"), |task| {
            does(&Sockperf, "3.7", task, &rows);
            let long = Task { seconds: 0.6, ..*task };
            does(&Sockperf, "3.7", &long, &[(UDP, "", Ok(".. -t 2 .."))]);
        });
        assert_eq!(Sockperf.counts("TCP.answers"), None);
    }
}
