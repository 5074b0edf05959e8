//! `cpu_saturated`: the CPUs of one end limited the rate, not the network.

use proofmark_model::{End, Finding, Measurement};

use super::weight::Weight;
use super::{Check, Class, Examine, percent, with_known};
use crate::Context;
use crate::network::{BUSY, over_loopback, own_of_system, own_share, polls, system_share};

/// Share of an end's busy time below which other programs took its CPUs. The kernel's work for the
/// packets is seldom twice that of the threads.
const OWN: f64 = 1.0 / 3.0;

fn examine_end(m: &Measurement, end: End) -> Option<Finding> {
    let (own, system) = (own_share(m, end), system_share(m, end));
    let (full, all) = (own.filter(|s| *s >= BUSY), system.filter(|s| *s >= BUSY));
    let whose = end.word();
    let own_part = own_of_system(m, end).filter(|s| all.is_some() && *s < OWN);
    let finding = match (full.map(percent), all.map(percent)) {
        (_, Some(all)) if let Some(part) = own_part => CHECK.finding(
            Weight::derive(m).lost(1.0 - part),
            format!("all CPUs of the {whose} were busy ({all}), mostly with other programs"),
            "stop the other programs on that machine",
        ),
        (Some(own), _) => CHECK.note(
            format!(
                "the threads of the {whose} used {own} of their CPU time: the CPU limits the \
                 rate, not the network"
            ),
            "use more streams if there are more CPUs, or larger blocks",
        ),
        (None, Some(all)) => CHECK.note(
            format!(
                "the CPUs of the {whose} were busy {all} of the time: they limit the rate, not \
                 the network"
            ),
            "give that machine more CPUs, or a network device with more offloads",
        ),
        (None, None) => return None,
    };
    let finding = finding.with("end", whose);
    Some(with_known(with_known(finding, "own_share", own), "system_share", system))
}

pub(super) static CHECK: Check = Check {
    id: "cpu_saturated",
    class: Class::DISTURBANCE,
    title: "CPU saturated at one end",
    about: "Examines the CPU time used at each end. That of its threads is compared with one CPU \
         per thread (at most all CPUs), that of all programs with the CPUs that the end may use. \
         From 90 % it is a note: that end's CPU limits the rate, not the network. If all CPUs were \
         busy and less than a third of that was the end's own work, other programs ran, and the \
         rest is weighed. The check applies only to a peer, since loopback consists of CPU time, \
         and not to ends that poll.",
    examine: Examine::Ours(examine),
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    if over_loopback(m) || polls(m) {
        return None;
    }
    End::BOTH.into_iter().filter_map(|end| examine_end(m, end)).max_by_key(|f| f.severity)
}

#[cfg(test)]
mod tests {
    use proofmark_model::NetworkTraffic;

    use super::*;
    use crate::testing::*;

    fn peer(streams: u64, spoil: impl Fn(&mut NetworkTraffic)) -> Measurement {
        each_network(tcp(streams, "peer"), spoil)
    }

    /// A result whose server machine was busy for `all` seconds, its own threads for `own` of them.
    fn busy(streams: u64, all: f64, own: f64) -> Measurement {
        peer(streams, |n| (n.server.busy_s, n.server.own_cpu_s) = (Some(all), Some(own)))
    }

    #[test]
    fn a_busy_end_is_named() {
        // A trial lasts 0.1 s, and one stream has one thread.
        let server = |own: f64| peer(1, move |n| n.server.own_cpu_s = Some(own));
        let client = |own: f64| peer(1, move |n| n.client.own_cpu_s = Some(own));
        let others = suspect("mostly with other programs");
        let full = |path| each_network(tcp(1, path), |n| n.client.own_cpu_s = Some(0.1));
        CHECK.expect([
            ("server", server(0.098), note("^the threads of the server used 98.0 %")),
            ("client", client(0.095), note("client")),
            ("time left", client(0.08), SILENT),
            ("half of four CPUs", peer(4, |n| n.server.own_cpu_s = Some(0.2)), SILENT),
            ("with something else", busy(1, 0.39, 0.05), others),
            ("with packets", busy(4, 0.39, 0.2), note("CPUs of the server were busy 97.5 %")),
            ("not all of them", peer(1, |n| n.server.busy_s = Some(0.3)), SILENT),
            ("at most all of the time", server(0.106), note("used 100.0 %")),
            ("a wrong account", server(0.3), SILENT),
            ("eight on four CPUs", busy(8, 0.1, 0.38), note("used 95.0 %")),
            ("more than there is", busy(4, 0.5, 0.2), SILENT),
            ("at most all CPUs", busy(1, 0.43, 0.05), suspect("busy (100.0 %)")),
            ("loopback", full("loopback"), SILENT),
            ("polling", with_param(full("peer"), "mode", "poll"), SILENT),
            ("not reported", each(tcp(1, "peer"), |_, t| t.network = None), SILENT),
        ]);
    }
}
