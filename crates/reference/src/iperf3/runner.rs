//! The options with which iperf3 runs a configuration.

use std::fs;
use std::path::Path;

use proofmark_model::Direction;

use super::{Iperf3, TCP, UDP};
use crate::network::{HERE, Length, Parameters, find_figure, flag, option, pair, whole};
use crate::text::numbers;
use crate::{Figure, Installed, Invocation, Output, ReferenceRunner, Task, refuse_if};

/// The first version with a thread per stream. An unknown version counts as older.
const THREADS: (u32, u32) = (3, 16);
/// The largest block of TCP in bytes.
const BLOCK: u64 = 1 << 20;
const DATAGRAM: std::ops::RangeInclusive<u64> = 16..=65_507;

impl ReferenceRunner for Iperf3 {
    fn installed(&self) -> Option<Installed> {
        Installed::on_path(&["iperf3"], "--version")
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        match test {
            TCP => Some(
                "payload that the receiver had read when the sender ended, over the receiver's time, of \
                 connections made for it",
            ),
            UDP => Some("payload of the received datagrams, over the receiver's time"),
            _ => None,
        }
    }

    fn invocation(&self, installed: &Installed, task: &Task) -> Result<Invocation, String> {
        let udp = task.test == UDP;
        let parameters = Parameters::read(task)?;
        let threads = numbers(&installed.version).is_some_and(|number| number >= THREADS);
        let several = parameters.connections() > 1;
        refuse_if(!threads && several, "before 3.16 one thread of it serves all streams")?;
        let length = match length(&parameters, udp, threads)? {
            Length::Bytes(bytes) => format!(" -n {bytes}"),
            Length::Seconds(seconds) => format!(" -t {seconds}"),
        };
        let buffer = parameters.buffer(udp).map(|bytes| granted(bytes, most())).transpose()?;
        let line = format!("-c {HERE} -p {} -J -l {}", task.port, block(&parameters, udp)?)
            + &option("-P", Some(parameters.streams).filter(|n| *n > 1))
            + &flag("-R", parameters.direction == Direction::Reverse)
            + &flag("--bidir", parameters.direction == Direction::Both)
            + &length
            + &option("-u -b", udp.then(|| parameters.rate_each().unwrap_or(0)))
            + &option("-C", parameters.congestion.filter(|_| !udp))
            + &option("-w", buffer)
            + &flag("-N", parameters.no_delay);
        let server = format!("-s -1 -B {HERE} -p {}", task.port);
        Ok(pair(&line, &installed.program, &server))
    }

    fn takes(&self, task: &Task) -> f64 {
        whole(task.seconds) as f64 + 0.5
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        find_figure(task, output.figures, &[task.test])
    }
}

/// Returns the bytes of a block, which iperf3 must accept unchanged.
fn block(parameters: &Parameters, udp: bool) -> Result<u64, String> {
    let (allowed, what) = match udp {
        true => (DATAGRAM, "its datagrams carry 16 B to 65,507 B"),
        false => (1..=BLOCK, "its blocks have 1 MiB at most"),
    };
    allowed.contains(&parameters.block).then_some(parameters.block).ok_or_else(|| what.to_owned())
}

/// Returns the length of the test. With threads, iperf3 checks an amount only once per second, and
/// divides by those whole seconds. A client that receives datagrams waits for the lost ones.
fn length(parameters: &Parameters, udp: bool, threads: bool) -> Result<Length, String> {
    let receives = parameters.direction != Direction::Forward;
    let only_seconds = threads || (udp && receives);
    if !only_seconds {
        let length = parameters.length()?;
        if matches!(length, Length::Bytes(_)) {
            return Ok(length);
        }
    }
    refuse_if(parameters.fixed, "it accepts only whole seconds here, no amount")?;
    Ok(Length::Seconds(whole(parameters.seconds) as f64))
}

/// Returns the system's limits of a socket's receive and send buffers, in bytes.
fn most() -> [Option<u64>; 2] {
    ["rmem_max", "wmem_max"].map(|name| {
        let text = fs::read_to_string(Path::new("/proc/sys/net/core").join(name)).ok()?;
        text.trim().parse().ok()
    })
}

/// Returns the size to request, so that iperf3 gets the buffers of a program that requests `asked`
/// bytes. Linux grants the double, up to the double of its limit. iperf3 ends with an error if it
/// gets less than it requested.
fn granted(asked: u64, most: [Option<u64>; 2]) -> Result<u64, String> {
    let most = most.map(|most| most.unwrap_or(asked));
    if most.iter().all(|most| asked <= most.saturating_mul(2)) {
        return Ok(asked);
    }
    match most {
        [receive, send] if receive == send => Ok(receive),
        _ => Err("the system limits its socket buffers: it would end with an error".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Params, UDP_BUFFER, key};

    use super::*;
    use crate::Tool;
    use crate::network::testing::{tcp, udp, with_task};
    use crate::testing::does;

    #[test]
    fn the_same_work_as_our_trial_or_why_not() {
        const BYTES: &str = "-c 127.0.0.1 -p 5201 -J -l 65536 -n 240000000 \
                             | /usr/bin/tool -s -1 -B 127.0.0.1 -p 5201 (Tcp)";
        let all = "direction=reverse congestion=reno no_delay=on socket_buffer=64k";
        let rows = [
            (TCP, "", Ok(BYTES)),
            (TCP, all, Ok(".. -R -n 240000000 -C reno -w 65536 -N | ..")),
            (TCP, "amount=240000000", Ok(".. -n 240000000 ..")),
            (TCP, "path=peer", Err("..own server on the peer")),
            (TCP, "streams=2", Err("..one thread..")),
            (TCP, "direction=both", Err("..one thread..")),
            (TCP, "block_size=2m", Err("..1 MiB..")),
        ];
        for version in ["3.12", "3.9", "3.15.1", "unknown version"] {
            with_task("", &tcp(), |task| does(&Iperf3, version, task, &rows));
        }
        let threads = [
            (TCP, "streams=4 direction=both", Ok(".. -l 65536 -P 4 --bidir -t 1 | ..")),
            (TCP, "streams=2", Ok("..")),
            (TCP, "direction=both", Ok("..")),
            (TCP, "amount=240000000", Err("..no amount..")),
        ];
        with_task("", &tcp(), |task| does(&Iperf3, "3.16", task, &threads));
        let small = |work, row| {
            with_task("", &tcp(), |task| does(&Iperf3, "3.12", &Task { work, ..*task }, &[row]));
        };
        small(1e6, (TCP, "", Ok(".. -t 1 | ..")));
        small(1_048_576.0, (TCP, "amount=128k", Err("..buffers..")));
    }

    #[test]
    fn datagrams_are_not_paced_at_its_default() {
        let limit = granted(UDP_BUFFER, most()).unwrap();
        let unpaced = format!(
            "-c 127.0.0.1 -p 5201 -J -l 65507 -n 240000000 -u -b 0 -w {limit} | \
             /usr/bin/tool -s -1 -B 127.0.0.1 -p 5201 (Tcp)"
        );
        let rows = [
            (UDP, "", Ok(&*unpaced)),
            (UDP, "direction=reverse", Ok(".. -R -t 1 ..")),
            (UDP, "block_size=15", Err("..datagrams carry..")),
            (UDP, "block_size=65508", Err("..datagrams carry..")),
        ];
        with_task("", &udp(), |task| does(&Iperf3, "3.12", task, &rows));
        // The rate of each connection.
        let paced = [(UDP, "rate=1000000000 streams=4 direction=both", Ok(".. -b 125000000 .."))];
        with_task("", &udp(), |task| does(&Iperf3, "3.16", task, &paced));
    }

    #[test]
    fn buffers_are_those_that_we_get() {
        let limits = |receive, send| [Some(receive), Some(send)];
        assert_eq!(granted(4 << 20, limits(4 << 20, 4 << 20)), Ok(4 << 20));
        assert_eq!(granted(4 << 20, limits(212_992, 212_992)), Ok(212_992));
        assert_eq!(granted(400_000, limits(212_992, 300_000)), Ok(400_000), "gets 425,984");
        assert!(granted(4 << 20, limits(4 << 20, 212_992)).unwrap_err().contains("limits its"));
        assert_eq!(granted(4 << 20, [None, None]), Ok(4 << 20));
    }

    #[test]
    fn its_figure_is_the_tasks() {
        let output = || Iperf3.parse(include_str!("captured/3.12-tcp.json")).unwrap();
        let (own, block) = (output().figures.remove(0), 131_072);
        let figure =
            |test, params: &Params| with_task(test, params, |task| Iperf3.figure(task, output()));
        let params = tcp().with(key::BLOCK_SIZE, block);
        assert_eq!(figure(TCP, &params), Some(own));
        assert_eq!(figure(TCP, &params.clone().with(key::STREAMS, 2)), None, "other work");
        assert_eq!(figure(UDP, &params), None);
    }
}
