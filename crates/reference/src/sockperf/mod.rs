//! sockperf: what its client prints of a ping-pong.

use proofmark_model::{Latency, Params, Unit};

use crate::network::{figure, finite, with_path};
use crate::text::{lines, positive, whole};
use crate::{Malformed, Output, Tool, trial};

pub(crate) struct Sockperf;

impl Tool for Sockperf {
    fn id(&self) -> &'static str {
        "sockperf"
    }

    fn title(&self) -> &'static str {
        "sockperf (Mellanox)"
    }

    fn about(&self) -> &'static str {
        "The client's output of a ping-pong over one socket, UDP or TCP. A latency is a full round trip: what \
         sockperf halves, as it does without --full-rtt, is doubled here. Round trips a second are those \
         of the valid part of the run, which leaves out its warm-up. The size of a message is not told."
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(|l| l.starts_with("sockperf:") && l.contains("== version #"))
    }

    fn parse(&self, text: &str) -> Result<Output, Malformed> {
        let mut read = Read::default();
        let mut last = 1;
        for (at, line) in lines(text) {
            last = at;
            read.take(line, at)?;
        }
        read.output(last)
    }
}

/// What has been read so far; times are as printed, in microseconds.
#[derive(Default)]
struct Read {
    version: Option<String>,
    udp: Option<bool>,
    params: Params,
    /// Seconds, and messages received in them.
    valid: Option<(f64, u64)>,
    /// The mean, and whether it is of half of a round trip.
    mean: Option<(f64, bool)>,
    count: Option<u64>,
    min: Option<f64>,
    max: Option<f64>,
    p50: Option<f64>,
    p90: Option<f64>,
    p99: Option<f64>,
    p999: Option<f64>,
}

impl Read {
    fn take(&mut self, line: &str, at: usize) -> Result<(), Malformed> {
        let after = |mark: &str| line.split_once(mark).map(|(_, rest)| rest);
        let first = |rest: &str| positive(rest.split_whitespace().next().unwrap_or(""), at);
        if let Some(rest) = after("== version #") {
            self.version = rest.split_whitespace().next().map(str::to_owned);
        } else if let Some(rest) = after("] IP = ") {
            if self.udp.is_some() {
                return Err(Malformed::at(at, "several sockets are not read"));
            }
            self.udp = Some(rest.contains("# UDP"));
            let far = rest.split_whitespace().next().unwrap_or("");
            self.params = with_path(Params::default().with("streams", 1), "", far);
        } else if let Some(rest) = after("[Valid Duration] RunTime=") {
            let received = rest.split_once("ReceivedMessages=").map_or("", |(_, count)| count);
            self.valid = Some((first(rest)?, whole(received.trim(), at)?));
        } else if let Some(rest) = after("Summary: Latency is ") {
            self.mean = Some((first(rest)?, true));
        } else if let Some(rest) = after("Summary: Round trip is ") {
            self.mean = Some((first(rest)?, false));
        } else if let Some((count, _)) = after("Total ").and_then(|r| r.split_once(" observations"))
        {
            self.count = Some(whole(count, at)?);
        } else if let Some((name, time)) = after("---> ").and_then(|r| r.split_once('=')) {
            let place = match name.trim() {
                "<MIN> observation" => &mut self.min,
                "<MAX> observation" => &mut self.max,
                "percentile 50.000" => &mut self.p50,
                "percentile 90.000" => &mut self.p90,
                "percentile 99.000" => &mut self.p99,
                "percentile 99.900" => &mut self.p999,
                _ => return Ok(()),
            };
            *place = Some(first(time)?);
        }
        Ok(())
    }

    fn output(self, last: usize) -> Result<Output, Malformed> {
        let missing = |what: &str| Malformed::at(last, format!("no {what}: not a whole ping-pong"));
        let udp = self.udp.ok_or_else(|| missing("address"))?;
        let (seconds, received) = self.valid.ok_or_else(|| missing("valid duration"))?;
        let (mean, half) = self.mean.ok_or_else(|| missing("mean"))?;
        let seconds_of = |us: f64| us * 1e-6 * if half { 2.0 } else { 1.0 };
        let needed = |us: Option<f64>, what| us.map(seconds_of).ok_or_else(|| missing(what));
        let latency = Latency {
            unit: "s".to_owned(),
            count: self.count.ok_or_else(|| missing("number of observations"))?,
            min: needed(self.min, "least time")?,
            mean: seconds_of(mean),
            p50: needed(self.p50, "median")?,
            p90: self.p90.map(seconds_of),
            p99: self.p99.map(seconds_of),
            p999: self.p999.map(seconds_of),
            max: needed(self.max, "greatest time")?,
            buckets: Vec::new(),
        };
        let (kernel, title) = match udp {
            true => ("network.udp.rtt", "UDP ping-pong"),
            false => ("network.tcp.rtt", "TCP ping-pong"),
        };
        let trial = trial(Unit::OpPerSecond, received as f64, seconds);
        let mut figure =
            finite(figure(kernel, title, Unit::OpPerSecond, self.params, trial), last)?;
        figure.latency = Some(latency);
        Ok(Output { version: self.version, figures: vec![figure], ..Output::default() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::told;
    use crate::testing::{captured, damaged, survives};

    macro_rules! texts {
        ($($name:literal)*) => {
            &[$(($name, include_str!(concat!("captured/", $name, ".txt")))),*]
        };
    }

    const CAPTURED: &[(&str, &str)] =
        texts!("3.6-tcp" "3.6-udp-full-rtt" "3.7-tcp" "3.7-udp" "3.7-udp-full-rtt");
    const FAILED: &[(&str, &str)] = texts!("3.7-throughput-refused" "3.7-refused");

    fn text(name: &str) -> &'static str {
        CAPTURED.iter().chain(FAILED).find(|(n, _)| *n == name).unwrap().1
    }

    fn refused(text: &str) -> String {
        Sockperf.parse(text).unwrap_err().to_string()
    }

    #[test]
    fn what_was_captured_is_read() {
        let one = |(n, t): &(&str, &str)| format!("{n}: {}", told(&captured(&Sockperf, t)));
        insta::assert_snapshot!(CAPTURED.iter().map(one).collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn a_latency_is_a_full_round_trip() {
        let near = |v: f64, us: f64| (v / (us * 1e-6) - 1.0).abs() < 1e-9;
        let read = |name| Sockperf.parse(text(name)).unwrap().figures.remove(0);
        let f = read("3.6-tcp");
        let l = f.latency.unwrap();
        assert_eq!(
            (&*f.kernel, l.count, f.trials[0].work),
            ("network.tcp.rtt", 108_979, 108_979.0)
        );
        assert_eq!((f.trials[0].seconds, f.params.text("path")), (0.55, Some("loopback")));
        assert!(near(l.mean, 2.0 * 2.516) && near(l.min, 2.0 * 2.379) && near(l.max, 2.0 * 78.401));
        assert!(near(l.p50, 2.0 * 2.453) && near(l.p90.unwrap(), 2.0 * 2.595));
        assert!(near(l.p99.unwrap(), 2.0 * 2.699) && near(l.p999.unwrap(), 2.0 * 15.448));
        let f = read("3.7-udp-full-rtt");
        assert_eq!(f.kernel, "network.udp.rtt");
        assert!(near(f.latency.unwrap().mean, 11.610), "already whole");
    }

    #[test]
    fn what_is_no_whole_ping_pong_is_refused() {
        assert!(refused(text("3.7-throughput-refused")).contains("no valid duration"));
        assert!(refused(text("3.7-refused")).contains("no address"));
        let with = |from: &str, to: &str| refused(&text("3.7-tcp").replace(from, to));
        assert!(with("Summary: Latency", "Summary:").contains("no mean"));
        assert!(with("<MIN>", "").contains("no least time"));
        assert!(with("<MAX>", "").contains("no greatest time"));
        assert!(with("percentile 50.000", "").contains("no median"));
        assert!(with(" observations", "").contains("no number of observations"));
        assert!(with("ReceivedMessages=106574", "ReceivedMessages=0").contains("out of range"));
        let two = text("3.7-tcp").replace("[ 0] IP", "[ 1] IP = ::1 # TCP\n[ 0] IP");
        assert!(refused(&two).contains("several sockets"));
    }

    #[test]
    fn any_damage_is_survived() {
        for (_, text) in CAPTURED.iter().chain(FAILED) {
            proptest!(|(text in damaged(text))| survives(&Sockperf, &text));
        }
    }
}
