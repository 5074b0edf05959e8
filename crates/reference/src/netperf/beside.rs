//! netperf beside our round trips and streams of one connection.

use proofmark_model::{Direction, Unit};

use super::Netperf;
use crate::network::{HERE, Length, Parameters, figure_of, whole, words};
use crate::{Beside, Figure, Installed, Invocation, Output, Task};

/// Its other end, which lies where it does.
const SERVER: &str = "netserver";
/// By how many seconds a time of two decimals may be off.
const ROUNDED: f64 = 0.0051;

impl Beside for Netperf {
    fn installed(&self) -> Option<Installed> {
        let found = Installed::on_path(&["netperf"], "-V");
        found.filter(|found| found.program.with_file_name(SERVER).is_file())
    }

    fn package(&self) -> &'static str {
        "Debian: netperf (non-free)"
    }

    fn counts(&self, workload: &str) -> Option<&'static str> {
        match workload {
            "network.tcp.stream" => Some(
                "payload that was sent over one connection made for it, over the time until the receiver \
                 has taken it",
            ),
            "network.tcp.rtt" | "network.udp.rtt" => Some("round trips, one in flight"),
            _ => None,
        }
    }

    fn invocation(&self, installed: &Installed, task: &Task) -> Result<Invocation, String> {
        let parameters = Parameters::of(task)?;
        parameters.one_connection()?;
        let (test, length, more) = match task.workload {
            "network.tcp.stream" => stream(&parameters)?,
            "network.tcp.rtt" => round_trips("TCP_RR", &parameters, "-D")?,
            _ => round_trips("UDP_RR", &parameters, "-n -N")?,
        };
        let ends = format!("-H {HERE},4 -L {HERE},4 -p {}", task.port);
        let server = format!("-D -4 -L {HERE} -p {}", task.port);
        Ok(Invocation {
            arguments: words(&format!("{ends} -t {test} -l {length} -- {more}")),
            server: Some((installed.program.with_file_name(SERVER), words(&server))),
            ..Invocation::default()
        })
    }

    /// Its time has two decimals, too few for a tenth of a second; the amount is known.
    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        let mut figure = figure_of(task, output.figures, &[task.workload])?;
        for t in &mut figure.trials {
            let seconds = task.work / t.value;
            if (seconds - t.seconds).abs() <= ROUNDED && seconds > 0.0 {
                (t.seconds, t.work) = (seconds, task.work);
            }
        }
        (figure.unit == unit(task.workload)).then_some(figure)
    }
}

fn unit(workload: &str) -> Unit {
    if workload == "network.tcp.stream" { Unit::BitPerSecond } else { Unit::OpPerSecond }
}

/// Test, length and the test's own options: `-l` takes seconds, or less than zero bytes.
fn stream(parameters: &Parameters) -> Result<(&'static str, String, String), String> {
    let length = match parameters.length()? {
        Length::Bytes(bytes) => format!("-{bytes}"),
        Length::Seconds(seconds) => whole(seconds).to_string(),
    };
    // Of whom a size is comes before the comma (the client) or after it.
    let (test, mut more) = match parameters.direction {
        Direction::Forward => ("TCP_STREAM", format!("-m {}", parameters.block)),
        _ => ("TCP_MAERTS", format!("-m ,{}", parameters.block)),
    };
    if let Some(bytes) = parameters.socket_buffer {
        more += &format!(" -s {bytes} -S {bytes}");
    }
    if let Some(name) = parameters.congestion {
        more += &format!(" -K {name},{name}");
    }
    if parameters.no_delay {
        more += " -D";
    }
    Ok((test, length, more))
}

/// The same of round trips, of which `-l` takes the number, less than zero.
fn round_trips(
    test: &'static str,
    parameters: &Parameters,
    more: &str,
) -> Result<(&'static str, String, String), String> {
    if parameters.poll {
        return Err("it sleeps until the answer comes".to_owned());
    }
    let block = parameters.block;
    Ok((test, format!("-{}", parameters.operations()), format!("-r {block},{block} {more}")))
}

#[cfg(test)]
mod tests {
    use proofmark_model::Params;

    use super::*;
    use crate::Tool;
    use crate::network::testing::{asked, lines, rtt, tcp, with_task};

    fn line(workload: &str, params: &Params) -> String {
        lines(asked(&Netperf, "2.7.0", workload, params).unwrap()).0
    }

    fn no(workload: &str, params: &Params) -> String {
        asked(&Netperf, "2.7.0", workload, params).unwrap_err()
    }

    const ENDS: &str = "-H 127.0.0.1,4 -L 127.0.0.1,4 -p 5201";

    #[test]
    fn a_stream_is_as_long_as_our_trial() {
        let (client, server) =
            lines(asked(&Netperf, "2.7.0", "network.tcp.stream", &tcp()).unwrap());
        assert_eq!(client, format!("{ENDS} -t TCP_STREAM -l -240000000 -- -m 65536"));
        assert_eq!(server, "/usr/bin/netserver -D -4 -L 127.0.0.1 -p 5201");
        let params = tcp()
            .with("direction", "reverse")
            .with("socket_buffer", 1000)
            .with("congestion", "reno")
            .with("no_delay", "on");
        let told = line("network.tcp.stream", &params);
        let more = "TCP_MAERTS -l -240000000 -- -m ,65536 -s 1000 -S 1000 -K reno,reno -D";
        assert!(told.ends_with(more), "{told}");
    }

    #[test]
    fn round_trips_are_as_many_as_ours() {
        let few = |workload: &'static str| {
            with_task(workload, &rtt("block"), |task| {
                let installed = Installed { program: "/x/netperf".into(), version: String::new() };
                let task = Task { work: 1475.0, ..*task };
                Netperf.invocation(&installed, &task).unwrap().arguments.join(" ")
            })
        };
        assert_eq!(few("network.tcp.rtt"), format!("{ENDS} -t TCP_RR -l -1475 -- -r 1024,1024 -D"));
        let udp = format!("{ENDS} -t UDP_RR -l -1475 -- -r 1024,1024 -n -N");
        assert_eq!(few("network.udp.rtt"), udp);
    }

    #[test]
    fn what_it_cannot_do_is_refused() {
        assert!(no("network.tcp.rtt", &rtt("poll")).contains("sleeps"));
        assert!(no("network.udp.rtt", &rtt("block").with("streams", 2)).contains("one connection"));
        assert!(
            no("network.tcp.stream", &tcp().with("direction", "both")).contains("one connection")
        );
        assert!(no("network.tcp.stream", &tcp().with("path", "peer")).contains("server"));
        for workload in ["network.tcp.connect", "network.udp.stream", "disk.read"] {
            assert_eq!(Netperf.counts(workload), None);
        }
    }

    #[test]
    fn the_work_is_known_to_more_digits_than_the_time() {
        let told = "MIGRATED TCP REQUEST/RESPONSE TEST from 127.0.0.1 () port 0 AF_INET to 127.0.0.1 () \
                    port 0 AF_INET : nodelay : demo : first burst 0\n\
                    16384  131072 1024     1024     0.11     13000.00\n";
        let figure = |work| {
            with_task("network.tcp.rtt", &rtt("block"), |task| {
                let output = Netperf.parse(told).unwrap();
                Netperf.figure(&Task { work, ..*task }, output).unwrap().trials.remove(0)
            })
        };
        let t = figure(1475.0);
        assert_eq!((t.value, t.work, t.seconds), (13_000.0, 1475.0, 1475.0 / 13_000.0));
        assert_eq!(figure(9000.0).seconds, 0.11, "it did something else");
        let other = with_task("network.tcp.rtt", &rtt("block").with("block_size", 1), |task| {
            Netperf.figure(task, Netperf.parse(told).unwrap())
        });
        assert_eq!(other, None);
    }
}
