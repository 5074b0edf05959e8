//! Facts declared about the audited machine, and the limits that follow from them.

use proofmark_model::Severity;

use crate::directions;
use crate::figure::Figure;
use crate::quantity::Metric;

/// Declarable fact: a number.
pub(crate) struct Fact {
    pub key: &'static str,
    /// Meaning and unit.
    pub about: &'static str,
    /// Parts of other keys that people try for it, separated by spaces.
    pub tried: &'static str,
    /// Returns the fact's field.
    pub field: fn(&mut Machine) -> &mut Option<f64>,
}

/// End of the description of a fact that reports print but no rule uses.
pub(crate) const UNUSED: &str = "no rule uses it";

/// Declares each fact once; from it follow the struct, the reader, its errors and `explain audit`.
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
    clock_hz_nominal: "nominal clock stated by the vendor, Hz", tried "ghz mhz";
    clock_hz_running: "highest clock during the tests, Hz", tried "turbo";
    claimed_peak_gflops: "peak stated by the report, 10^9 FLOP/s", tried "";
    claimed_memory_bytes_per_s: "memory bandwidth stated by the report, B/s", tried "";
    disk_link_bytes_per_s: "rate of the disk's link in one direction, B/s", tried "";
    disk_limit_bytes_per_s: "limit of the device or its provider, B/s", tried "";
    disk_limit_operations_per_s: "operations per second: the provider's limit, or disks x operations of each", tried "iops ops rpm";
    network_link_bits_per_s: "rate of the network's link in one direction, bit/s", tried "link_speed bandwidth_network gbps mbps nic ethernet";
    network_limit_packets_per_s: "packets per second: the provider's limit", tried "pps packet";
    sockets: "processor sockets; no rule uses it", tried "";
    ram_bytes: "memory; no rule uses it", tried "";
    disk_bytes: "capacity of the disk; no rule uses it", tried "";
    data_bytes: "data that the tests used; no rule uses it", tried "";
}

impl Machine {
    /// Returns the limit of threads that run at once: the logical CPUs, or two per declared core.
    pub(crate) fn logical_cpus(&self) -> Option<Limit> {
        let declared = self.cpus.or(self.vcpus).map(|n| n.max(self.cores.unwrap_or(n)));
        declared.map(|n| Limit::declared(n, "threads can run at once")).or_else(|| {
            let source = "threads can run at once, at 2 per core (no logical CPUs are declared)";
            self.cores.map(|n| Limit::assumed(n * THREADS_PER_CORE, source))
        })
    }

    /// Returns the highest declared clock in Hz. It is no upper bound: a turbo clock may exceed it.
    pub(crate) fn clock(&self) -> Option<f64> {
        [self.clock_hz_nominal, self.clock_hz_running].into_iter().flatten().reduce(f64::max)
    }

    /// Returns the disk's limit in B/s for such a figure. Reads and writes together may use both
    /// directions of a link other than SATA. An allowance already covers reads and writes together,
    /// and many operations, so it does not limit the time of one.
    pub(crate) fn disk_limit(&self, figure: &Figure) -> Limit {
        let one_operation = figure.metric == Metric::Latency;
        let link = self.disk_link_bytes_per_s;
        let sata = link.is_some_and(|v| SATA.iter().any(|s| (v / s - 1.0).abs() <= SAME_LINK));
        let both = !one_operation && !sata && directions::both(figure);
        let link = link.map(|v| match both {
            true => Limit::declared(2.0 * v, "the rate of the disk's link in both directions"),
            false => Limit::declared(v, "the rate of the disk's link"),
        });
        let allowed =
            self.disk_limit_bytes_per_s.map(|v| Limit::declared(v, "the provider's limit"));
        [link, allowed.filter(|_| !one_operation)]
            .into_iter()
            .flatten()
            .reduce(|a, b| if b.most < a.most { b } else { a })
            .unwrap_or(if both { FASTEST_DISK_BOTH } else { FASTEST_DISK })
    }

    /// Returns the limit of the network's link in bit/s for such a figure.
    pub(crate) fn network_limit(&self, figure: &Figure) -> Limit {
        match (self.network_link_bits_per_s, directions::both(figure)) {
            (Some(link), false) => Limit::declared(link, "the rate of the link"),
            (Some(link), true) => {
                Limit::declared(2.0 * link, "the rate of the link in both directions")
            }
            (None, false) => ASSUMED_LINK,
            (None, true) => ASSUMED_LINK_BOTH,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limit {
    /// Limit in base units.
    pub most: f64,
    /// Source of the limit, in the words of a message.
    pub source: &'static str,
    /// Severity of exceeding it: only a declared limit makes a figure impossible.
    pub severity: Severity,
}

impl Limit {
    const fn declared(most: f64, source: &'static str) -> Self {
        Self { most, source, severity: Severity::Invalid }
    }

    const fn assumed(most: f64, source: &'static str) -> Self {
        Self { most, source, severity: Severity::Suspect }
    }
}

/// Upper bound of clocks in Hz: the record under liquid helium is 9.1 GHz.
pub(crate) const MAX_CLOCK: f64 = 10e9;

/// Threads per core of x86 and ARM with simultaneous multithreading; POWER has up to 8.
const THREADS_PER_CORE: f64 = 2.0;

/// The fastest common link of one drive: 4 lanes x 32 GT/s x 128/130 / 8.
const FASTEST_DISK: Limit =
    Limit::assumed(15.754e9, "the rate of one drive on PCIe 5.0 x4 (no link is declared)");
const FASTEST_DISK_BOTH: Limit = Limit::assumed(
    2.0 * FASTEST_DISK.most,
    "the rate of one drive on PCIe 5.0 x4 in both directions (no link is declared)",
);

/// SATA's rates of 1.5, 3 and 6 Gbit/s after 8b/10b, in B/s. SATA answers a frame before it sends
/// the next, so reads and writes share one direction's rate. PCIe has lanes for each direction.
const SATA: [f64; 3] = [150e6, 300e6, 600e6];
/// Tolerance for recognising a declared link: people round.
const SAME_LINK: f64 = 0.01;

/// 10GBASE-T; owners of a faster link usually declare it.
const ASSUMED_LINK: Limit = Limit::assumed(10e9, "the assumed rate of the link (none is declared)");
const ASSUMED_LINK_BOTH: Limit = Limit::assumed(
    2.0 * ASSUMED_LINK.most,
    "the assumed rate of the link in both directions (none is declared)",
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
            // The lower of two limits applies; an allowance does not limit a latency.
            (&*both, "disk read throughput", 1.6e8, INVALID),
            (&both, "disk read latency", 7.877e9, INVALID),
            (NVME, "disk read throughput", 7.877e9, INVALID),
            ("", "disk read throughput", FASTEST_DISK.most, SUSPECT),
            (ALLOWED, "disk read latency", FASTEST_DISK.most, SUSPECT),
            // A link with separate directions counts twice.
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
            // A machine has at least one thread per core, even if its owner counts sockets as CPUs.
            ("cpus = 2\ncores = 8", Some((8.0, Severity::Invalid))),
            ("cores = 8", Some((16.0, Severity::Suspect))),
            ("", None),
        ] {
            let found = machine(facts).logical_cpus().map(|l| (l.most, l.severity));
            assert_eq!(found, cpus, "{facts}");
        }
    }
}
