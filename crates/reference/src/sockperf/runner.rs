//! How sockperf's ping-pong is run.

use super::{Sockperf, TCP, UDP};
use crate::network::{HERE, Parameters, find_figure, whole, words};
use crate::{Figure, Installed, Invocation, Output, Ready, ReferenceRunner, Task};

/// Bytes of a message.
const MESSAGE: std::ops::RangeInclusive<u64> = 14..=65_507;
/// Seconds at the begin and the end of a run that it leaves out.
const LEFT_OUT: f64 = 0.45;

/// Seconds that it takes before and after a run, most of them asleep.
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
        if !MESSAGE.contains(&parameters.block) {
            return Err("its messages are of 14 B to 65,507 B".to_owned());
        }
        let tcp = task.test == TCP;
        let protocol = if tcp { " --tcp" } else { "" };
        let mode = if parameters.poll { " --nonblocked" } else { "" };
        let ends = format!("-i {HERE} -p {}{protocol}{mode}", task.port);
        let line = format!("pp {ends} -m {} -t {} --full-rtt", parameters.block, seconds(task));
        let server = format!("sr {ends}");
        Ok(Invocation {
            arguments: words(&line),
            server: Some((installed.program.clone(), words(&server))),
            ready: if tcp { Ready::Tcp } else { Ready::Udp },
            ..Invocation::default()
        })
    }

    fn takes(&self, task: &Task) -> f64 {
        seconds(task) as f64 + AROUND
    }

    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        find_figure(task, output.figures, &[task.test])
    }
}

/// Whole seconds of a run whose valid part lasts as long as one of our trials.
fn seconds(task: &Task) -> u64 {
    whole(task.seconds + LEFT_OUT)
}

#[cfg(test)]
mod tests {
    use proofmark_model::Params;

    use super::*;
    use crate::Tool;
    use crate::network::testing::{asked, lines, rtt, with_task};

    #[test]
    fn one_message_after_the_other() {
        let (client, server) = lines(asked(&Sockperf, "3.7", TCP, &rtt("block")).unwrap());
        assert_eq!(client, "pp -i 127.0.0.1 -p 5201 --tcp -m 1024 -t 1 --full-rtt");
        assert_eq!(server, "/usr/bin/tool sr -i 127.0.0.1 -p 5201 --tcp");
        assert_eq!(asked(&Sockperf, "3.7", TCP, &rtt("block")).unwrap().ready, Ready::Tcp);
        let invocation = asked(&Sockperf, "3.7", UDP, &rtt("poll")).unwrap();
        assert_eq!(invocation.ready, Ready::Udp);
        let (client, server) = lines(invocation);
        assert_eq!(client, "pp -i 127.0.0.1 -p 5201 --nonblocked -m 1024 -t 1 --full-rtt");
        assert_eq!(server, "/usr/bin/tool sr -i 127.0.0.1 -p 5201 --nonblocked");
        let long = with_task(UDP, &rtt("block"), |task| seconds(&Task { seconds: 0.6, ..*task }));
        assert_eq!(long, 2);
    }

    #[test]
    fn what_it_cannot_do_is_refused() {
        let no = |params: &Params| asked(&Sockperf, "3.7", UDP, params).unwrap_err();
        assert!(no(&rtt("block").with("streams", 2)).contains("one connection"));
        assert!(no(&rtt("block").with("path", "peer")).contains("server"));
        for bytes in [1, 13, 65_508] {
            assert!(no(&rtt("block").with("block_size", bytes)).contains("14 B to"), "{bytes}");
        }
        assert_eq!(Sockperf.counts("TCP.answers"), None);
    }

    #[test]
    fn its_figure_is_the_tasks() {
        let output = || Sockperf.parse(include_str!("captured/3.7-tcp.txt")).unwrap();
        let figure = |test| with_task(test, &rtt("block"), |task| Sockperf.figure(task, output()));
        assert!(figure(TCP).is_some());
        assert_eq!(figure(UDP), None);
    }
}
