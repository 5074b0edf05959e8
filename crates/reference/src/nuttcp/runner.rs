//! The options with which nuttcp runs a configuration.

use std::net::TcpListener;

use proofmark_model::Direction;

use super::{Nuttcp, TCP, UDP};
use crate::network::{HERE, Length, Parameters, find_figure, flag, option, pair};
use crate::{Figure, Installed, Invocation, Output, ReferenceRunner, Task, refuse_if};

/// nuttcp uses datagrams of up to 4 bytes as its own marks.
const DATAGRAM: std::ops::RangeInclusive<u64> = 5..=65_507;
/// The seconds that nuttcp sleeps at the end of a UDP run.
const UDP_END: f64 = 2.5;

impl ReferenceRunner for Nuttcp {
    fn installed(&self) -> Option<Installed> {
        Installed::on_path(&["nuttcp"], "-V")
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        match test {
            TCP => Some(
                "payload that the receiver read until the sender had closed, over the receiver's \
                 time, of a connection made for it",
            ),
            UDP => Some("payload of the received datagrams, over the receiver's time"),
            _ => None,
        }
    }

    fn invocation(&self, installed: &Installed, task: &Task) -> Result<Invocation, String> {
        let udp = task.test == UDP;
        let parameters = Parameters::read(task)?;
        refuse_if(parameters.direction == Direction::Both, "it sends in one direction only")?;
        refuse_if(parameters.connections() > 1, "one thread of it serves all streams")?;
        refuse_if(parameters.congestion.is_some(), "it has no option for the congestion control")?;
        let fits = !udp || DATAGRAM.contains(&parameters.block);
        refuse_if(!fits, "its datagrams carry 5 B to 65,507 B")?;
        let length = match parameters.length()? {
            Length::Bytes(bytes) => format!(" -n {}", bytes.div_ceil(parameters.block)),
            Length::Seconds(seconds) => format!(" -T {seconds:.3}"),
        };
        let pace = udp.then(|| pace(parameters.rate_each())).transpose()?;
        let (port, data) = (task.port, data_port(task.port));
        let line = format!("-v -P {port} -p {data} -l {}", parameters.block)
            + &flag("-r", parameters.direction == Direction::Reverse)
            + &length
            + &option("-u -R", pace)
            + &option("-w", parameters.buffer(udp).map(|bytes| format!("{bytes}b")))
            + &flag("-D", parameters.no_delay);
        // The server stays in the foreground, and serves only one run.
        let server = format!("-1 --nofork -P {port}");
        Ok(pair(&format!("{line} {HERE}"), &installed.program, &server))
    }

    fn takes(&self, task: &Task) -> f64 {
        task.seconds + if task.test == UDP { UDP_END } else { 0.5 }
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        find_figure(task, output.figures, &[task.test])
    }
}

/// Returns a port for the data, which must differ from that of the control connection.
fn data_port(control: u16) -> u16 {
    let is_free = |port: &u16| TcpListener::bind((HERE, *port)).is_ok();
    let mut next = (1..=20).filter_map(|n| control.checked_add(n));
    next.find(is_free).unwrap_or(control ^ 1)
}

/// Converts a pace, which nuttcp takes in whole kbit/s.
fn pace(bits: Option<u64>) -> Result<String, String> {
    let Some(bits) = bits else { return Ok("u".to_owned()) };
    refuse_if(bits % 1000 != 0, "it paces by whole kbit/s")?;
    Ok((bits / 1000).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::testing::{tcp, udp, with_task};
    use crate::testing::does;

    #[test]
    fn as_much_as_our_trial_or_why_not() {
        let rows = [
            (
                TCP,
                "",
                Ok(
                    "-v -P 5201 -p ..-l 65536 -n 3663 127.0.0.1 | /usr/bin/tool -1 --nofork -P 5201 (Tcp)",
                ),
            ),
            (
                TCP,
                "direction=reverse no_delay=on socket_buffer=1000",
                Ok(".. -r -n 3663 -w 1000b -D 127.0.0.1 | .."),
            ),
            (TCP, "direction=both", Err("it sends in one direction only")),
            (TCP, "streams=2", Err("one thread of it..")),
            (TCP, "congestion=reno", Err("..congestion control")),
            (TCP, "path=peer", Err("..server on the peer")),
        ];
        with_task("", &tcp(), |task| does(&Nuttcp, "8.2.2", task, &rows));
        let rows = [
            (UDP, "", Ok(".. -n 3664 -u -R u -w 4194304b 127.0.0.1 | ..")),
            (UDP, "rate=300m", Err("..whole kbit/s")),
            (UDP, "rate=300000000", Ok(".. -u -R 300000 ..")),
            (UDP, "block_size=4", Err("..5 B to..")),
            (UDP, "block_size=65508", Err("..5 B to..")),
        ];
        with_task("", &udp(), |task| {
            does(&Nuttcp, "8.2.2", task, &rows);
            let few = Task { work: 8e6, ..*task };
            does(&Nuttcp, "8.2.2", &few, &[(UDP, "", Ok(".. -T 0.100 -u .."))]);
        });
        assert_eq!(Nuttcp.counts("TCP.paced"), None);
    }

    #[test]
    fn the_bytes_have_a_port_of_their_own() {
        let taken = TcpListener::bind((HERE, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let data = data_port(port - 1);
        assert!(data != port - 1 && data != port);
        assert_ne!(data_port(u16::MAX), u16::MAX);
    }
}
