//! The options with which qperf runs a configuration.

use proofmark_model::Direction;

use super::{Qperf, TCP_BW, TCP_LAT, UDP_BW, UDP_LAT};
use crate::network::{HERE, Parameters, find_figure, option, pair, whole};
use crate::{Figure, Installed, Invocation, Output, ReferenceRunner, Task, refuse_if};

/// The largest datagram in bytes.
const DATAGRAM: u64 = 65_507;
/// The seconds before and after a test.
const AROUND: f64 = 0.5;

impl ReferenceRunner for Qperf {
    fn installed(&self) -> Option<Installed> {
        Installed::on_path(&["qperf"], "--version")
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        match test {
            TCP_BW => {
                Some("payload that the receiver read until the time was over, of a new connection")
            }
            UDP_BW => Some("payload of the datagrams received until the time was over"),
            TCP_LAT | UDP_LAT => Some("round trips, one in flight, with Nagle's algorithm"),
            _ => None,
        }
    }

    fn invocation(&self, installed: &Installed, task: &Task) -> Result<Invocation, String> {
        let parameters = Parameters::read(task)?;
        let udp = [UDP_BW, UDP_LAT].contains(&task.test);
        parameters.one_connection()?;
        refuse_if(parameters.direction != Direction::Forward, "its client only sends")?;
        refuse_if(parameters.poll, "it sleeps while it waits: set mode=block")?;
        refuse_if(parameters.fixed, "it accepts only whole seconds, no amount")?;
        refuse_if(parameters.congestion.is_some(), "it has no option for the congestion control")?;
        refuse_if(parameters.no_delay, "it has no option for no_delay")?;
        refuse_if(parameters.rate.is_some(), "it has no rate limit")?;
        refuse_if(udp && parameters.block > DATAGRAM, "its datagrams carry 65,507 B at most")?;
        let buffer = option("-sb", parameters.buffer(task.test == UDP_BW));
        let line = format!("{HERE} -lp {} -t {} -m {}", task.port, seconds(task), parameters.block);
        // -uu prints all digits.
        let client = format!("{line}{buffer} -vv -uu {}", task.test);
        Ok(pair(&client, &installed.program, &format!("-lp {}", task.port)))
    }

    fn takes(&self, task: &Task) -> f64 {
        seconds(task) as f64 + AROUND
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        find_figure(task, output.figures, &[task.test])
    }
}

/// Returns qperf's time, which is whole seconds.
fn seconds(task: &Task) -> u64 {
    whole(task.seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::testing::{rtt, tcp, udp, with_task};
    use crate::testing::does;

    #[test]
    fn whole_seconds_of_one_connection_or_why_not() {
        const TCP: &str = "127.0.0.1 -lp 5201 -t 1 -m 65536 -vv -uu tcp_bw \
                           | /usr/bin/tool -lp 5201 (Tcp)";
        let rows = [
            (TCP_BW, "", Ok(TCP)),
            (TCP_BW, "socket_buffer=1000", Ok(".. -sb 1000 -vv ..")),
            (TCP_BW, "streams=2", Err("it supports one connection")),
            (TCP_BW, "direction=reverse", Err("its client only sends")),
            (TCP_BW, "amount=1000000", Err("..whole seconds..")),
            (TCP_BW, "congestion=reno", Err("..congestion control")),
            (TCP_BW, "no_delay=on", Err("..no_delay")),
            (TCP_BW, "path=peer", Err("..server on the peer")),
        ];
        with_task("", &tcp(), |task| does(&Qperf, "0.4.11", task, &rows));
        let rows = [
            (UDP_BW, "", Ok(".. -m 65507 -sb 4194304 -vv -uu udp_bw | ..")),
            (UDP_BW, "rate=300000000", Err("it has no rate limit")),
            (UDP_BW, "block_size=65508", Err("..65,507 B..")),
        ];
        with_task("", &udp(), |task| does(&Qperf, "0.4.11", task, &rows));
        let rows = [
            (TCP_LAT, "", Ok(".. -t 1 -m 1024 -vv -uu tcp_lat | ..")),
            (UDP_LAT, "mode=poll", Err("it sleeps..")),
        ];
        with_task("", &rtt("block"), |task| does(&Qperf, "0.4.11", task, &rows));
        assert_eq!(Qperf.counts("sctp_bw"), None);
    }
}
