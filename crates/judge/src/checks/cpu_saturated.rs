//! `cpu_saturated`: a CPU was the limit, not the network.

use proofmark_model::{End, Finding, Measurement, Severity};

use super::{Check, Class, percent};
use crate::Context;
use crate::network::{
    BUSY, measured, over_loopback, own_of_system, own_share, polls, system_share,
};

/// Where less than this of an end's busy time is its own threads', somebody else took its
/// CPUs: what the kernel does for the packets beside the threads is seldom twice as much.
const OWN: f64 = 1.0 / 3.0;

fn of(m: &Measurement, end: End) -> Option<Finding> {
    let (own, system) = (own_share(m, end), system_share(m, end));
    let (full, all) = (own.filter(|s| *s >= BUSY), system.filter(|s| *s >= BUSY));
    let whose = end.word();
    let others = all.is_some() && own_of_system(m, end).is_some_and(|s| s < OWN);
    let (severity, message, advice) = match (full, all) {
        (_, Some(all)) if others => (
            Severity::Suspect,
            format!(
                "all CPUs of the {whose} were busy ({}), mostly with other programs",
                percent(all)
            ),
            "stop the other programs on that machine",
        ),
        (Some(own), _) => (
            Severity::Note,
            format!(
                "the threads of the {whose} used {} of their CPU time: the CPU limits the \
                 rate, not the network",
                percent(own)
            ),
            "use more streams if there are more CPUs, or larger blocks",
        ),
        (None, Some(all)) => (
            Severity::Note,
            format!(
                "the CPUs of the {whose} were busy {} of the time: they limit the rate, not \
                 the network",
                percent(all)
            ),
            "give that machine more CPUs, or a network device with more offloads",
        ),
        (None, None) => return None,
    };
    let mut finding = Finding::new(CHECK.id, severity, message, advice).with("end", whose);
    for (name, share) in [("own_share", own), ("system_share", system)] {
        if let Some(share) = share {
            finding = finding.with(name, share);
        }
    }
    Some(finding)
}

pub(super) static CHECK: Check = Check {
    id: "cpu_saturated",
    class: Class::Disturbance,
    title: "CPU saturated at one end",
    about: "The share of CPU time used at each end: by its threads, of one CPU per thread (at most \
         the number of CPUs), and by all programs, of the CPUs that the end may use. From 90 % it \
         is a note: that end's CPU limits the rate, not the network. It is suspect if all CPUs \
         were busy and less than a third of that was the end's own work: other programs ran. The \
         check applies only to a peer, since loopback consists of CPU time, and not to ends that \
         poll.",
    examine,
    examine_reference: None,
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    if !measured(m) || over_loopback(m) || polls(m) {
        return None;
    }
    End::BOTH.into_iter().filter_map(|end| of(m, end)).max_by_key(|f| f.severity)
}

#[cfg(test)]
mod tests {
    use proofmark_model::NetworkTraffic;

    use super::*;
    use crate::testing::{each, found_on, host_with_network, tcp, told_so};

    fn says(m: Measurement) -> Option<(Severity, String)> {
        let found = found_on(&host_with_network("peer"), &CHECK, m, &[]);
        found.map(|f| (f.severity, f.message))
    }

    fn spoiled(spoil: impl Fn(&mut NetworkTraffic)) -> Option<(Severity, String)> {
        says(told_so(tcp(1, "peer"), spoil))
    }

    #[test]
    fn a_thread_without_time_left_is_named_with_its_end() {
        // A trial lasts 0.1 s, and one stream has one thread.
        let (severity, message) = spoiled(|n| n.server.own_cpu_s = Some(0.098)).unwrap();
        assert_eq!(severity, Severity::Note);
        assert!(message.starts_with("the threads of the server used 98.0 %"), "{message}");
        assert!(spoiled(|n| n.client.own_cpu_s = Some(0.095)).unwrap().1.contains("client"));
        assert!(spoiled(|n| n.client.own_cpu_s = Some(0.08)).is_none());
        let four = told_so(tcp(4, "peer"), |n| n.server.own_cpu_s = Some(0.2));
        assert_eq!(says(four), None, "half of four CPUs");
    }

    #[test]
    fn a_machine_that_is_busy_is_named_and_suspect_if_with_something_else() {
        let busy = |own: f64| {
            spoiled(move |n| (n.server.busy_s, n.server.own_cpu_s) = (Some(0.39), Some(own)))
        };
        let (severity, message) = busy(0.05).unwrap();
        assert_eq!(severity, Severity::Suspect);
        assert!(message.contains("mostly with other programs"), "{message}");
        assert!(
            says(told_so(tcp(4, "peer"), |n| {
                (n.server.busy_s, n.server.own_cpu_s) = (Some(0.39), Some(0.2));
            }))
            .is_some_and(|(severity, message)| {
                severity == Severity::Note
                    && message.contains("CPUs of the server were busy 97.5 %")
            })
        );
        assert!(spoiled(|n| n.server.busy_s = Some(0.3)).is_none());
    }

    #[test]
    fn nothing_is_busy_for_more_than_all_of_the_time() {
        let message = |change: fn(&mut NetworkTraffic)| spoiled(change).unwrap().1;
        let own = message(|n| n.server.own_cpu_s = Some(0.106));
        assert!(own.contains("used 100.0 %"), "{own}");
        assert!(spoiled(|n| n.server.own_cpu_s = Some(0.3)).is_none(), "a wrong account");
        let all = message(|n| (n.server.busy_s, n.server.own_cpu_s) = (Some(0.43), Some(0.05)));
        assert!(all.contains("busy (100.0 %)"), "{all}");
    }

    #[test]
    fn loopback_and_polling_are_silent() {
        let full = |n: &mut NetworkTraffic| n.client.own_cpu_s = Some(0.1);
        assert_eq!(says(told_so(tcp(1, "loopback"), full)), None);
        let mut polling = told_so(tcp(1, "peer"), full);
        polling.params = polling.params.with("mode", "poll");
        assert_eq!(says(polling), None);
        assert_eq!(says(each(tcp(1, "peer"), |_, t| t.network = None)), None);
    }
}
