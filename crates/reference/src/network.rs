//! Common code of the tools for networks.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;

use proofmark_model::{
    Datagrams, Finding, NetworkTraffic, Params, Severity, Subsystem, Trial, Unit, is_quantity, key,
    word,
};

use crate::text::wrong_if;
use crate::{Figure, Malformed};

mod parameters;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use parameters::{HERE, Length, Parameters, find_figure, flag, option, pair, whole};

pub(crate) fn figure(
    test: impl Into<Cow<'static, str>>,
    title: impl Into<String>,
    unit: Unit,
    params: Params,
    trial: Trial,
) -> Figure {
    Figure::rate(test, title, (Subsystem::Network, unit), params, trial)
}

/// Creates the figure of a throughput. Test and title name the end that counted it, and whether it
/// was paced; UDP always is.
pub(crate) fn throughput(
    protocol: &str,
    by_sender: bool,
    paced: bool,
    params: Params,
    trial: Trial,
) -> Figure {
    let paced = paced && protocol != "UDP";
    let (sent, sender) = if by_sender { (".sent", ", by the sender") } else { ("", "") };
    let (pace, paced) = if paced { (".paced", ", paced") } else { ("", "") };
    let what = if by_sender && protocol == "UDP" { "rate" } else { "throughput" };
    let title = format!("{protocol} {what}{paced}{sender}");
    figure(format!("{protocol}{sent}{pace}"), title, Unit::BitPerSecond, params, trial)
}

/// Returns the traffic that both ends counted.
pub(crate) fn traffic(
    sent_bytes: u64,
    received_bytes: u64,
    datagrams: Option<Datagrams>,
) -> NetworkTraffic {
    NetworkTraffic { sent_bytes, received_bytes, datagrams, ..NetworkTraffic::default() }
}

/// Adds the path if the two addresses prove loopback: they are equal, or the server's belongs to
/// this machine alone. Two addresses do not prove two machines.
pub(crate) fn with_path(params: Params, client: &str, server: &str) -> Params {
    let own = |address: &str| {
        address == "localhost"
            || address.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
    };
    if own(server) || (client == server && client.parse::<IpAddr>().is_ok()) {
        return params.with(key::PATH, word::LOOPBACK);
    }
    params
}

/// The figure of a run, with the known addresses of its client and server.
pub(crate) struct EndpointFigure {
    pub(crate) client: String,
    pub(crate) server: String,
    pub(crate) figure: Figure,
}

/// Returns the figures of several runs. With several servers, or several clients of one, the
/// addresses become parameters: runs between other machines are not repetitions.
pub(crate) fn add_endpoints(runs: Vec<EndpointFigure>) -> Vec<Figure> {
    let mut of_server: BTreeMap<&str, &str> = BTreeMap::new();
    let mut clients = false;
    for run in &runs {
        clients |= *of_server.entry(&run.server).or_insert(&run.client) != run.client;
    }
    let servers = of_server.len() > 1;
    let named = |address: &str, is_one_of_several: bool| {
        (is_one_of_several && !address.is_empty()).then(|| Malformed::excerpt(address))
    };
    let figure = |run: EndpointFigure| {
        let params =
            run.figure.params.known_named("client", named(&run.client, clients).as_deref());
        let params = params.known_named("server", named(&run.server, servers).as_deref());
        Figure { params, ..run.figure }
    };
    runs.into_iter().map(figure).collect()
}

/// The default rate of a UDP stream in iperf, iperf3 and nuttcp, in bit/s: 10^6 or 2^20, by
/// version.
const DEFAULT_PACE: std::ops::RangeInclusive<f64> = 0.99e6..=1.06e6;
/// The same as measured: a short test has one datagram more than fits its time.
const DEFAULT_MEASURED: std::ops::RangeInclusive<f64> = 0.99e6..=1.08e6;

/// Reports UDP at the default rate, by the pace of a stream if the output has it, otherwise by its
/// rate.
pub(crate) fn default_rate(pace: Option<f64>, measured: f64) -> Option<Finding> {
    let is_default = match pace {
        Some(pace) => DEFAULT_PACE.contains(&pace),
        None => DEFAULT_MEASURED.contains(&measured),
    };
    is_default.then(|| {
        Finding::new(
            "udp_default_rate",
            Severity::Invalid,
            "the tool paced it: each stream sends at the default rate for UDP, 1 Mbit/s",
            "set a rate above the link's (-b of iperf, -R of nuttcp), and use the receiver's count",
        )
    })
}

/// Refuses numbers that are out of range in combination.
pub(crate) fn finite(figure: Figure, at: usize) -> Result<Figure, Malformed> {
    let good = |v: f64| is_quantity(v) && v > 0.0;
    let all = figure.trials.iter().all(|t| good(t.value) && good(t.seconds) && good(t.work));
    wrong_if(!all, at, "the numbers are out of range").map(|()| figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_printed_agrees_with_itself() {
        let mut read = 0;
        for (folder, path) in crate::captured::folders() {
            let Some(tool) =
                ["iperf", "iperf3", "netperf", "sockperf"].iter().find(|t| **t == folder)
            else {
                continue;
            };
            for (name, text) in crate::captured::outputs(&path) {
                let output = crate::find(tool).unwrap().parse(&text).unwrap_or_default();
                let findings = output.figures.iter().flat_map(|f| &f.findings);
                let differ: Vec<_> = findings.filter(|f| f.check == "two_accounts").collect();
                assert!(differ.is_empty(), "{folder}/{name}: {differ:?}");
                read += output.figures.len();
            }
        }
        assert!(read > 60, "{read}");
    }

    #[test]
    fn only_an_address_of_its_own_is_loopback() {
        let path = |client, server| {
            with_path(Params::default(), client, server).get(key::PATH).map(str::to_owned)
        };
        let loopback = Some("loopback".to_owned());
        for server in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "localhost"] {
            assert_eq!(path("0.0.0.0", server), loopback, "{server}");
        }
        assert_eq!(path("192.0.2.1", "192.0.2.1"), loopback);
        assert_eq!(path("192.0.2.1", "192.0.2.2"), None);
        assert_eq!(path("peer", "peer"), None, "names, not addresses");
    }
}
