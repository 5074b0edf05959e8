//! `network.loopback`: what the CPUs can copy, where there is no wire.

use std::collections::BTreeSet;

use proofmark_model::{Bottleneck, Ceiling, Measurement, Provenance, Unit, format_quantity};

use super::CeilingRule;
use super::parts::{Derived, input};
use crate::network::{of_stream, over_loopback};
use crate::threads::threads_here;
use crate::words::counted;
use crate::{Capacity, Context};

/// Times that each byte is copied: into the kernel by who sends it, and out of it by who
/// receives it.
const COPIES: f64 = 2.0;
/// The copy rate was measured within one core's cache and by a loop of its own; the
/// workload's may be that much faster.
const OTHER_LOOP: f64 = 0.1;

/// The rule.
pub(super) struct NetworkLoopback;

impl CeilingRule for NetworkLoopback {
    fn id(&self) -> &'static str {
        "network.loopback"
    }

    fn title(&self) -> &'static str {
        "Copying over loopback"
    }

    fn about(&self) -> &'static str {
        "The sending CPU copies each byte into the kernel, and the receiving CPU copies it out. So \
         the ceiling is copy rate x CPUs / 2. The copy rate is that of one CPU within its own \
         cache, measured in this run. The CPUs are those that copy at the same time, at most the \
         threads of both ends. It applies to TCP and UDP. It is an upper bound, since the cost of \
         the protocol and of the path between two cores is not included. Uncertainty: 10 %, since \
         the kernel uses its own copy loop. It is a ceiling of loopback, not of a network."
    }

    fn derive(&self, ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
        let network = of_stream(ctx, m)?;
        if !over_loopback(m) {
            return Err("the packets leave this machine".to_owned());
        }
        let copy = network
            .copy_bytes_per_s
            .ok_or("the copy rate of this machine's CPUs was not measured")?;
        let client = ctx.host.limits.usable_cpus.iter();
        let cpus = client.chain(&network.server.cpus).collect::<BTreeSet<_>>().len() as u64;
        let threads = threads_here(m);
        let copying = threads.min(cpus);
        let note = format!(
            "{} of both ends on {}",
            counted(threads, "thread"),
            counted(cpus, "usable CPU")
        );
        Ok(Derived {
            value: copy * 8.0 * copying as f64 / COPIES,
            formula: "copy_rate x 8 x cpus / copies".to_owned(),
            inputs: vec![
                input("copy_rate", copy, "B/s", Provenance::Measured, "one CPU, in its own cache"),
                input("cpus", copying as f64, "", Provenance::Reported, note),
                input("copies", COPIES, "", Provenance::Assumed, "one at each end"),
            ],
            uncertainty: OTHER_LOOP,
        }
        .by(self, m))
    }

    fn bottleneck(&self, ceiling: &Ceiling, _: &Capacity, share: &str) -> Bottleneck {
        let of =
            |name: &str| ceiling.inputs.iter().find(|i| i.name == name).map_or(0.0, |i| i.value);
        let rate = format_quantity(of("copy_rate"), Unit::BytePerSecond);
        let cpus = counted(of("cpus"), "CPU");
        let evidence = format!("{share} of loopback: {cpus}, each copies {rate}");
        Bottleneck::new("CPU (copying)", evidence)
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Host, Severity};

    use super::*;
    use crate::testing::{
        at_rate, context, each, host_with_network, judged, policy, round_trips, spec, tcp, udp,
        with_network,
    };

    fn on(host: &Host, m: &Measurement) -> Result<Ceiling, String> {
        let (spec, policy) = (spec(&m.workload), policy());
        NetworkLoopback.derive(&context(host, &spec, &policy, &[]), m)
    }

    #[test]
    fn both_ends_copy_each_byte() {
        let host = host_with_network("loopback");
        // 10 GB/s on each of two CPUs, and two copies of each byte.
        for m in [tcp(1, "loopback"), tcp(8, "loopback"), udp(1, "loopback")] {
            assert_eq!(on(&host, &m).unwrap().value, 80e9, "{}", m.workload);
        }
        let mut one = host.clone();
        one.limits.usable_cpus = vec![0];
        let mut network = one.network.get().unwrap().clone();
        network.server.cpus = vec![0];
        one.network = proofmark_model::Probe::known(network, "test");
        assert_eq!(on(&one, &tcp(8, "loopback")).unwrap().value, 40e9);
        one.limits.usable_cpus = vec![1];
        let apart = on(&one, &tcp(8, "loopback")).unwrap();
        assert_eq!(apart.value, 80e9, "the two ends have a CPU each");
        let mut wide = host_with_network("loopback");
        wide.limits.usable_cpus = (0..8).collect();
        let value = |m: &Measurement| on(&wide, m).unwrap().value / 40e9;
        assert_eq!([value(&tcp(1, "loopback")), value(&tcp(3, "loopback"))], [2.0, 6.0]);
        let mut both = tcp(1, "loopback");
        both.params = both.params.with("direction", "both");
        assert_eq!(value(&both), 4.0);
    }

    #[test]
    fn elsewhere_there_is_none() {
        let why = |host: &Host, m: &Measurement| on(host, m).unwrap_err();
        let host = host_with_network("loopback");
        assert!(why(&host, &tcp(1, "peer")).contains("leave this machine"));
        assert!(why(&host, &round_trips("udp", "block")).contains("a rate does not limit"));
        let unknown = with_network("loopback", |n| n.copy_bytes_per_s = None);
        assert!(why(&unknown, &tcp(1, "loopback")).contains("not measured"));
    }

    #[test]
    fn near_it_copying_is_the_bottleneck_and_above_it_the_number_is_invalid() {
        let at = |rate: f64| {
            let m = each(at_rate(tcp(1, "loopback"), rate), |_, t| {
                let n = t.network.as_mut().unwrap();
                let bytes = (t.work / 8.0) as u64 + 1;
                (n.sent_bytes, n.received_bytes) = (bytes, bytes);
                n.client.in_bytes = Some(bytes);
                n.client.out_bytes = Some(bytes);
            });
            judged(&host_with_network("loopback"), m, &[])
        };
        let bottleneck = at(0.95 * 80e9).bottleneck.unwrap();
        assert_eq!(bottleneck.resource, "CPU (copying)");
        assert!(bottleneck.evidence.contains("2 CPUs, each copies 10.00 GB/s"));
        let above = at(1.2 * 80e9);
        let beyond = above.findings.iter().find(|f| f.check == "above_ceiling").unwrap();
        assert_eq!(beyond.severity, Severity::Invalid);
    }
}
