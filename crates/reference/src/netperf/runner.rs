//! The options with which netperf runs a configuration: round trips, and streams of one connection.

use proofmark_model::Direction;

use super::{MAERTS, Netperf, STREAM, TCP_RR, UDP_RR};
use crate::network::{HERE, Length, Parameters, find_figure, flag, option, pair, whole};
use crate::{Figure, Installed, Invocation, Output, ReferenceRunner, Task, refuse_if};

/// The server, in the same folder.
const SERVER: &str = "netserver";
/// The rounding error of a time with two decimals, in seconds.
const ROUNDED: f64 = 0.0051;

impl ReferenceRunner for Netperf {
    fn installed(&self) -> Option<Installed> {
        let found = Installed::on_path(&["netperf"], "-V");
        found.filter(|found| found.program.with_file_name(SERVER).is_file())
    }

    fn counts(&self, test: &str) -> Option<&'static str> {
        match test {
            STREAM => Some(
                "payload that was sent over one connection made for it, over the time until the receiver \
                 has taken it",
            ),
            TCP_RR | UDP_RR => Some("round trips, one in flight"),
            _ => None,
        }
    }

    fn invocation(&self, installed: &Installed, task: &Task) -> Result<Invocation, String> {
        let parameters = Parameters::read(task)?;
        parameters.one_connection()?;
        let (test, length, more) = match task.test {
            STREAM => stream(&parameters)?,
            TCP_RR => round_trips(TCP_RR, &parameters, "-D")?,
            _ => round_trips(UDP_RR, &parameters, "-n -N")?,
        };
        let ends = format!("-H {HERE},4 -L {HERE},4 -p {}", task.port);
        let server = format!("-D -4 -L {HERE} -p {}", task.port);
        let client = format!("{ends} -t {test} -l {length} -- {more}");
        Ok(pair(&client, &installed.program.with_file_name(SERVER), &server))
    }

    /// Replaces the time, whose two decimals are too few for 0.1 s: the amount is known.
    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        let tests = if task.test == STREAM { &[STREAM, MAERTS][..] } else { &[task.test] };
        let mut figure = find_figure(task, output.figures, tests)?;
        for t in &mut figure.trials {
            let seconds = task.work / t.value;
            if (seconds - t.seconds).abs() <= ROUNDED && seconds > 0.0 {
                (t.seconds, t.work) = (seconds, task.work);
            }
        }
        Some(figure.with_test_of(task))
    }
}

/// Returns the test, its length and its own options. `-l` takes seconds, or the negative number of
/// bytes.
fn stream(parameters: &Parameters) -> Result<(&'static str, String, String), String> {
    let length = match parameters.length()? {
        Length::Bytes(bytes) => format!("-{bytes}"),
        Length::Seconds(seconds) => whole(seconds).to_string(),
    };
    // A size before the comma is the client's, after it the server's.
    let (test, message) = match parameters.direction {
        Direction::Forward => (STREAM, format!("-m {}", parameters.block)),
        _ => (MAERTS, format!("-m ,{}", parameters.block)),
    };
    let buffer = parameters.socket_buffer;
    let more = message
        + &option("-s", buffer)
        + &option("-S", buffer)
        + &option("-K", parameters.congestion.map(|name| format!("{name},{name}")))
        + &flag("-D", parameters.no_delay);
    Ok((test, length, more))
}

/// Returns the same for round trips, whose negative number `-l` takes.
fn round_trips(
    test: &'static str,
    parameters: &Parameters,
    more: &str,
) -> Result<(&'static str, String, String), String> {
    refuse_if(parameters.poll, "it sleeps while it waits: set mode=block")?;
    let block = parameters.block;
    Ok((test, format!("-{}", parameters.operations()), format!("-r {block},{block} {more}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tool;
    use crate::network::testing::{rtt, tcp, with_task};
    use crate::testing::does;
    use proofmark_model::key;

    #[test]
    fn as_much_as_our_trial_or_why_not() {
        const BYTES: &str = "-H 127.0.0.1,4 -L 127.0.0.1,4 -p 5201 -t TCP_STREAM -l -240000000 -- \
                             -m 65536 | /usr/bin/netserver -D -4 -L 127.0.0.1 -p 5201 (Tcp)";
        let all = "direction=reverse socket_buffer=1000 congestion=reno no_delay=on";
        let more = ".. TCP_MAERTS -l -240000000 -- -m ,65536 -s 1000 -S 1000 -K reno,reno -D | ..";
        let rows = [
            (STREAM, "", Ok(BYTES)),
            (STREAM, all, Ok(more)),
            (STREAM, "direction=both", Err("it supports one connection")),
            (STREAM, "path=peer", Err("..server on the peer")),
        ];
        with_task("", &tcp(), |task| does(&Netperf, "2.7.0", task, &rows));
        let rows = [
            (TCP_RR, "", Ok(".. -t TCP_RR -l -1475 -- -r 1024,1024 -D | ..")),
            (UDP_RR, "", Ok(".. -t UDP_RR -l -1475 -- -r 1024,1024 -n -N | ..")),
            (TCP_RR, "mode=poll", Err("it sleeps..")),
            (UDP_RR, "streams=2", Err("it supports one connection")),
        ];
        with_task("", &rtt("block"), |task| {
            does(&Netperf, "2.7.0", &Task { work: 1475.0, ..*task }, &rows);
        });
        for test in ["TCP_CRR", "UDP_STREAM", MAERTS] {
            assert_eq!(Netperf.counts(test), None);
        }
    }

    #[test]
    fn the_work_is_known_to_more_digits_than_the_time() {
        let text = "MIGRATED TCP REQUEST/RESPONSE TEST from 127.0.0.1 () port 0 AF_INET to 127.0.0.1 () \
                    port 0 AF_INET : nodelay : demo : first burst 0\n\
                    Send   Recv   Size     Size    Time     Rate\n\
                    16384  131072 1024     1024     0.11     13000.00\n";
        let figure = |work| {
            with_task(TCP_RR, &rtt("block"), |task| {
                let output = Netperf.parse(text).unwrap();
                Netperf.figure(&Task { work, ..*task }, output).unwrap().trials.remove(0)
            })
        };
        let t = figure(1475.0);
        assert_eq!((t.value, t.work, t.seconds), (13_000.0, 1475.0, 1475.0 / 13_000.0));
        assert_eq!(figure(9000.0).seconds, 0.11, "it did something else");
        let other = with_task(TCP_RR, &rtt("block").with(key::BLOCK_SIZE, 1), |task| {
            Netperf.figure(task, Netperf.parse(text).unwrap())
        });
        assert_eq!(other, None);
    }
}
