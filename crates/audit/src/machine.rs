//! What is known of a machine whose figures are judged, and the limits that follow.

use proofmark_model::Severity;

use crate::directions;
use crate::figure::Figure;
use crate::quantity::Metric;

/// A number that may be declared of a machine.
pub(crate) struct Fact {
    pub key: &'static str,
    /// What it is, and its unit.
    pub about: &'static str,
    /// Parts of keys that people try for it, separated by spaces.
    pub tried: &'static str,
    /// Where it is kept.
    pub field: fn(&mut Machine) -> &mut Option<f64>,
}

/// How a fact ends that reports say, and no rule uses.
pub(crate) const UNUSED: &str = "no rule uses it";

/// Declares the facts once: the struct, reading, refusing and `explain audit` follow.
macro_rules! facts {
    ($($key:ident: $about:literal, tried $tried:literal;)*) => {
        /// Facts about one machine; each may be missing.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Machine {
            $(#[doc = $about] pub $key: Option<f64>,)*
        }

        /// Every fact.
        pub(crate) const FACTS: &[Fact] = &[
            $(Fact { key: stringify!($key), about: $about, tried: $tried, field: |m| &mut m.$key },)*
        ];
    };
}

facts! {
    cpus: "logical CPUs", tried "thread";
    vcpus: "logical CPUs of a guest", tried "";
    cores: "physical cores", tried "";
    clock_hz_nominal: "clock that the vendor states, Hz", tried "ghz mhz";
    clock_hz_running: "highest clock while it ran, Hz", tried "turbo";
    claimed_peak_gflops: "peak that the report states, 10^9 FLOP/s", tried "";
    claimed_memory_bytes_per_s: "memory bandwidth that the report states, B/s", tried "";
    disk_link_bytes_per_s: "what the disk's link carries in one direction, B/s", tried "";
    disk_limit_bytes_per_s: "what the device or its provider allows, B/s", tried "";
    disk_limit_operations_per_s: "what the provider allows, or disks x operations of each", tried "iops ops rpm";
    network_link_bits_per_s: "what the network's link carries in one direction, bit/s", tried "link_speed bandwidth_network gbps mbps nic ethernet";
    network_limit_packets_per_s: "packets per second that the provider allows", tried "pps packet";
    sockets: "processor sockets; no rule uses it", tried "";
    ram_bytes: "memory; no rule uses it", tried "";
    disk_bytes: "capacity of the disk; no rule uses it", tried "";
    data_bytes: "data that the tests used; no rule uses it", tried "";
}

impl Machine {
    /// Threads that can run at once: one a logical CPU; where only cores are declared, two a core.
    pub(crate) fn logical_cpus(&self) -> Option<Limit> {
        let declared = self.cpus.or(self.vcpus).map(|n| n.max(self.cores.unwrap_or(n)));
        declared.map(|n| Limit::declared(n, "threads can run at once")).or_else(|| {
            let whose = "threads can run at once, at 2 per core (no logical CPUs are declared)";
            self.cores.map(|n| Limit::assumed(n * THREADS_A_CORE, whose))
        })
    }

    /// The highest clock that is declared, in Hz. No bound: a turbo clock may be above it.
    pub(crate) fn clock(&self) -> Option<f64> {
        [self.clock_hz_nominal, self.clock_hz_running].into_iter().flatten().reduce(f64::max)
    }

    /// What the disk can carry at most of such a figure, in B/s: of reads and writes together
    /// both directions of a link that is no SATA. An allowance is one of reads and writes
    /// together already, and of many operations, so it says nothing of the time of one.
    pub(crate) fn disk_limit(&self, figure: &Figure) -> Limit {
        let one_operation = figure.metric == Metric::Latency;
        let link = self.disk_link_bytes_per_s;
        let sata = link.is_some_and(|v| SATA.iter().any(|s| (v / s - 1.0).abs() <= SAME_LINK));
        let both = !one_operation && !sata && directions::both(figure);
        let link = link.map(|v| match both {
            true => Limit::declared(2.0 * v, "the disk's link carries in both directions"),
            false => Limit::declared(v, "the disk's link carries"),
        });
        let allowed =
            self.disk_limit_bytes_per_s.map(|v| Limit::declared(v, "the provider allows"));
        [link, allowed.filter(|_| !one_operation)]
            .into_iter()
            .flatten()
            .reduce(|a, b| if b.most < a.most { b } else { a })
            .unwrap_or(if both { FASTEST_DISK_BOTH } else { FASTEST_DISK })
    }

    /// What the network's link carries at most of such a figure, in bit/s.
    pub(crate) fn network_limit(&self, figure: &Figure) -> Limit {
        match (self.network_link_bits_per_s, directions::both(figure)) {
            (Some(link), false) => Limit::declared(link, "the link carries"),
            (Some(link), true) => {
                Limit::declared(2.0 * link, "the link carries in both directions")
            }
            (None, false) => FASTEST_FLOW,
            (None, true) => FASTEST_FLOW_BOTH,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limit {
    /// In base units.
    pub most: f64,
    /// Its source, as the words before the number in a message.
    pub whose: &'static str,
    /// Severity of exceeding it: only a declared limit makes a figure impossible.
    pub severity: Severity,
}

impl Limit {
    const fn declared(most: f64, whose: &'static str) -> Self {
        Self { most, whose, severity: Severity::Invalid }
    }

    const fn assumed(most: f64, whose: &'static str) -> Self {
        Self { most, whose, severity: Severity::Suspect }
    }
}

/// In Hz. No processor was ever run at it: the record under liquid helium is 9.1 GHz.
pub(crate) const NO_CLOCK: f64 = 10e9;

/// What a core runs at once of x86 and ARM, where it does more than one; POWER runs up to eight.
const THREADS_A_CORE: f64 = 2.0;

/// 4 lanes x 32 GT/s x 128/130 / 8: the fastest link of one drive in common use.
const FASTEST_DISK: Limit =
    Limit::assumed(15.754e9, "no link is declared, and one drive on PCIe 5.0 x4 carries");
const FASTEST_DISK_BOTH: Limit = Limit::assumed(
    2.0 * FASTEST_DISK.most,
    "no link is declared, and one drive on PCIe 5.0 x4 carries in both directions",
);

/// 1.5, 3 and 6 Gbit/s after 8b/10b, in B/s. SATA answers a frame before it sends the next, so
/// that reads and writes share one direction's rate; PCIe has lanes for each.
const SATA: [f64; 3] = [150e6, 300e6, 600e6];
/// How near a declared link is to be the same: people round.
const SAME_LINK: f64 = 0.01;

/// 10GBASE-T: more is rare in machines whose owner does not say so.
const FASTEST_FLOW: Limit =
    Limit::assumed(10e9, "no link is declared, and one flow carries at most");
const FASTEST_FLOW_BOTH: Limit = Limit::assumed(
    2.0 * FASTEST_FLOW.most,
    "no link is declared, and one flow carries in both directions at most",
);

#[cfg(test)]
mod tests {
    use proofmark_model::Subsystem;

    use super::*;
    use crate::testing::{INVALID, SUSPECT, figures, machine, row};

    #[test]
    fn what_disks_and_networks_carry() {
        const ALLOWED: &str = "disk_limit_bytes_per_s = 1.6e8";
        const NVME: &str = "disk_link_bytes_per_s = 7.877e9";
        const SATA: &str = "disk_link_bytes_per_s = 5.98e8";
        const GIGABIT: &str = "network_link_bits_per_s = 1e9";
        let both = [NVME, ALLOWED].join("\n");
        for (facts, figure, most, severity) in [
            // The lower limit counts, and an allowance is none of a latency.
            (&*both, "disk read throughput", 1.6e8, INVALID),
            (&both, "disk read latency", 7.877e9, INVALID),
            (NVME, "disk read throughput", 7.877e9, INVALID),
            ("", "disk read throughput", FASTEST_DISK.most, SUSPECT),
            (ALLOWED, "disk read latency", FASTEST_DISK.most, SUSPECT),
            // Both directions count twice where the link has two.
            (NVME, "disk randrw throughput", 15.754e9, INVALID),
            (NVME, "disk randread throughput", 7.877e9, INVALID),
            (NVME, "disk randrw latency", 7.877e9, INVALID),
            (SATA, "disk randrw throughput", 5.98e8, INVALID),
            ("", "disk randrw rate", 31.508e9, SUSPECT),
            (&both, "disk randrw throughput", 1.6e8, INVALID),
            (GIGABIT, "network tcp_bidir throughput", 2e9, INVALID),
            (GIGABIT, "network tcp throughput", 1e9, INVALID),
            ("", "network tcp_bidir throughput", 20e9, SUSPECT),
            ("", "network tcp throughput", 10e9, SUSPECT),
        ] {
            let (machine, named) = (machine(facts), figure);
            let figure = figures(&row(&format!("{figure} 1"))).swap_remove(0);
            let limit = match figure.subsystem {
                Subsystem::Network => machine.network_limit(&figure),
                _ => machine.disk_limit(&figure),
            };
            assert_eq!((limit.most, Some(limit.severity)), (most, severity), "{facts} {named}");
        }
    }

    #[test]
    fn cores_are_no_logical_cpus() {
        for (facts, cpus) in [
            ("cpus = 16\ncores = 8", Some((16.0, Severity::Invalid))),
            ("vcpus = 8\ncores = 8", Some((8.0, Severity::Invalid))),
            // Who counts sockets as CPUs has a thread a core at least.
            ("cpus = 2\ncores = 8", Some((8.0, Severity::Invalid))),
            ("cores = 8", Some((16.0, Severity::Suspect))),
            ("", None),
        ] {
            let found = machine(facts).logical_cpus().map(|l| (l.most, l.severity));
            assert_eq!(found, cpus, "{facts}");
        }
    }
}
