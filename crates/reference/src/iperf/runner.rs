//! The options with which iperf, version 2, runs a configuration.

use proofmark_model::Direction;

use super::{Iperf, SENT, TCP, UDP};
use crate::network::{HERE, Length, Parameters, find_figure, flag, option, pair};
use crate::text::numbers;
use crate::{Figure, Installed, Invocation, Output, Ready, ReferenceRunner, Task, refuse_if};

/// The first version whose client waits until the server has read everything. Earlier ones count
/// bytes that are still in a socket's buffer.
const WAITS: (u32, u32) = (2, 1);
const DATAGRAM: std::ops::RangeInclusive<u64> = 16..=65_507;
/// An unreachable rate. By default iperf sends UDP at 1 Mbit/s, and it refuses 0.
const UNPACED: &str = "1000g";

impl ReferenceRunner for Iperf {
    fn installed(&self) -> Option<Installed> {
        Installed::on_path(&["iperf"], "-v").filter(|found| found.version.starts_with("2."))
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        match test {
            TCP => Some(
                "payload that the sender wrote, over its time until the receiver had closed, some \
                 milliseconds more, of connections made for it; in reverse what the receiver read",
            ),
            UDP => Some("payload of the received datagrams, over the receiver's time"),
            _ => None,
        }
    }

    fn invocation(&self, installed: &Installed, task: &Task) -> Result<Invocation, String> {
        let udp = task.test == UDP;
        let parameters = Parameters::read(task)?;
        cannot(&parameters, udp, &installed.version)?;
        let reverse = parameters.direction == Direction::Reverse;
        // -f b prints all digits, -e the size of a block.
        let mut line = format!("-c {HERE} -p {} -e -f b -l {}", task.port, parameters.block)
            + &option("-P", Some(parameters.streams).filter(|n| *n > 1))
            + &flag("-R", reverse)
            + &length(&parameters, udp)?;
        let mut server = format!("-s -B {HERE} -p {}", task.port);
        if udp {
            let rate = parameters.rate_each().map_or(UNPACED.to_owned(), |rate| rate.to_string());
            line += &format!(" -u -b {rate}");
            server += &format!(" -u -l {}", parameters.block);
        }
        // Options of both ends are on both command lines.
        let both = option("-w", parameters.buffer(udp)) + &option("-Z", parameters.congestion);
        let client = format!("{line}{both}{}", flag("-N", parameters.no_delay));
        let pair = pair(&client, &installed.program, &format!("{server}{both}"));
        Ok(Invocation { ready: if udp { Ready::Udp } else { Ready::Tcp }, ..pair })
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        let sent = if task.test == TCP { SENT } else { task.test };
        find_figure(task, output.figures, &[task.test, sent])
            .map(|figure| figure.with_test_of(task))
    }
}

fn cannot(parameters: &Parameters, udp: bool, version: &str) -> Result<(), String> {
    let forward = parameters.direction == Direction::Forward;
    let both = parameters.direction == Direction::Both;
    let waits = numbers(version).is_some_and(|number| number >= WAITS);
    let fits = !udp || DATAGRAM.contains(&parameters.block);
    refuse_if(both, "proofmark does not read its output of both directions at once")?;
    refuse_if(!fits, "its datagrams have 16 B to 65,507 B")?;
    let early = "before version 2.1 it counts bytes that are still in its socket buffer";
    refuse_if(!udp && forward && !waits, early)?;
    refuse_if(parameters.no_delay && !forward, "its server has no option for no_delay")
}

/// Returns the option for the amount: bytes per stream, or a time in hundredths of a second.
/// Datagrams get a time: after an amount of them, iperf pauses and counts the pause.
fn length(parameters: &Parameters, udp: bool) -> Result<String, String> {
    let bytes = |bytes: u64| format!(" -n {}", (bytes / parameters.streams).max(1));
    match parameters.length()? {
        Length::Bytes(all) if !udp || parameters.fixed => Ok(bytes(all)),
        _ => Ok(format!(" -t {:.2}", parameters.seconds.max(0.01))),
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Params, key};

    use super::*;
    use crate::Tool;
    use crate::network::testing::{tcp, udp, with_task};
    use crate::testing::does;

    #[test]
    fn the_same_bytes_as_our_trial_or_why_not() {
        const BYTES: &str = "-c 127.0.0.1 -p 5201 -e -f b -l 65536 -n 240000000 \
                             | /usr/bin/tool -s -B 127.0.0.1 -p 5201 (Tcp)";
        let all = "streams=4 socket_buffer=64k congestion=reno no_delay=on";
        let rows = [
            (TCP, "", Ok(BYTES)),
            (TCP, all, Ok(".. -P 4 -n 60000000 -w 65536 -Z reno -N | .. -w 65536 -Z reno (Tcp)")),
            (TCP, "direction=reverse", Ok(".. -R -n 240000000 ..")),
            (TCP, "path=peer", Err("..server on the peer")),
            (TCP, "direction=both", Err("..both directions..")),
            (TCP, "direction=reverse no_delay=on", Err("..no_delay")),
        ];
        with_task("", &tcp(), |task| does(&Iperf, "2.1.8", task, &rows));
        let older = [
            (TCP, "", Err("before version 2.1..")),
            // The receiver counts.
            (TCP, "direction=reverse", Ok("..")),
        ];
        with_task("", &tcp(), |task| does(&Iperf, "2.0.14a", task, &older));
        with_task("", &udp(), |task| does(&Iperf, "2.0.14a", task, &[(UDP, "", Ok(".."))]));
    }

    #[test]
    fn datagrams_are_not_paced_at_its_default_nor_cut_off() {
        const UNPACED: &str = ".. -l 65507 -t 0.10 -u -b 1000g -w 4194304 | \
                               .. -u -l 65507 -w 4194304 (Udp)";
        let rows = [
            (UDP, "", Ok(UNPACED)),
            // The rate of each stream.
            (UDP, "rate=1000000000 streams=4", Ok(".. -b 250000000 ..")),
            (UDP, "amount=240000000", Ok(".. -n 240000000 ..")),
            (UDP, "block_size=15", Err("..datagrams have..")),
            (UDP, "block_size=65508", Err("..datagrams have..")),
        ];
        with_task("", &udp(), |task| does(&Iperf, "2.1.8", task, &rows));
    }

    #[test]
    fn its_figure_is_the_tasks() {
        let figure = |test, params: &Params, text| {
            with_task(test, params, |task| Iperf.figure(task, Iperf.parse(text).unwrap()))
        };
        let sent = include_str!("captured/2.1.8-tcp-enhanced.txt");
        let params = tcp().with(key::BLOCK_SIZE, 131_072);
        assert_eq!(figure(TCP, &params, sent).unwrap().test, TCP);
        assert_eq!(figure(TCP, &tcp(), sent), None, "blocks of another size");
        let lost = include_str!("captured/2.1.8-udp-lost.txt");
        let params = udp().with(key::BLOCK_SIZE, 1400).with(key::STREAMS, 2);
        assert_eq!(figure(UDP, &params, lost), None, "no report of the receiver");
        let came = include_str!("captured/2.1.8-udp.txt");
        assert!(figure(UDP, &params.with(key::STREAMS, 1), came).is_some());
    }
}
