//! What is known of a machine whose figures are judged: tables of a TOML file.

use std::collections::BTreeMap;

use proofmark_model::{Severity, nearest};
use serde::Deserialize;

use crate::directions;
use crate::figure::{Figure, Metric};

/// Facts about one machine; each may be missing. Other keys of the table are ignored: reports say
/// more about a machine than the rules use.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// What it is, in words.
    pub machine: Option<String>,
    /// Logical CPUs of a guest.
    pub vcpus: Option<f64>,
    /// Logical CPUs.
    pub cpus: Option<f64>,
    /// Physical cores.
    pub cores: Option<f64>,
    /// Clock that the vendor states, in Hz.
    pub clock_hz_nominal: Option<f64>,
    /// Clock while it ran, in Hz.
    pub clock_hz_running: Option<f64>,
    /// The report's own theoretical peak, in 10^9 FLOP/s.
    pub claimed_peak_gflops: Option<f64>,
    /// The report's own theoretical memory bandwidth, in B/s.
    pub claimed_memory_bytes_per_s: Option<f64>,
    /// What the disk's link carries after coding, in B/s, in one direction.
    pub disk_link_bytes_per_s: Option<f64>,
    /// What the device or its provider allows, in B/s.
    pub disk_limit_bytes_per_s: Option<f64>,
    /// What the network link carries, in bit/s, in one direction.
    pub network_link_bits_per_s: Option<f64>,
}

/// Why no machine was found.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// Not TOML, or a value of the wrong type.
    #[error("line {line}: {message}")]
    Toml {
        /// Line, from 1.
        line: usize,
        /// What the parser said.
        message: String,
    },
    /// A number that no machine has.
    #[error("[{table}]: {key} = {value} is not a finite number above 0")]
    Number {
        /// Table's name.
        table: String,
        /// Key.
        key: &'static str,
        /// What stands there.
        value: f64,
    },
    /// No table of that name.
    #[error("no machine '{name}'; the file has: {known}{meant}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What is there.
        known: String,
        /// A suggestion, or nothing.
        meant: String,
    },
    /// Several tables, and none named.
    #[error("the file has several machines: {0}; choose one with --name")]
    Ambiguous(String),
    /// No table at all.
    #[error("the file has no [table] with a machine")]
    Empty,
}

/// Reads the tables of a TOML file.
///
/// # Errors
/// If it is not TOML, or a number is not above 0.
pub fn read_machines(text: &str) -> Result<BTreeMap<String, Machine>, MachineError> {
    let machines: BTreeMap<String, Machine> =
        toml::from_str(text).map_err(|e| toml_error(text, &e))?;
    for (table, machine) in &machines {
        let wrong = machine.numbers().into_iter().find_map(|(key, value)| {
            value.filter(|v| !(v.is_finite() && *v > 0.0)).map(|v| (key, v))
        });
        if let Some((key, value)) = wrong {
            return Err(MachineError::Number { table: table.clone(), key, value });
        }
    }
    Ok(machines)
}

/// One line, with the line of the file.
fn toml_error(text: &str, error: &toml::de::Error) -> MachineError {
    let start = error.span().map_or(0, |s| s.start);
    let line = text.bytes().take(start).filter(|b| *b == b'\n').count() + 1;
    MachineError::Toml { line, message: error.message().to_owned() }
}

/// The machine that was named; else the one named like the file; else the only one.
///
/// # Errors
/// If there is none of that name, or several and none is named.
pub fn choose(
    machines: &BTreeMap<String, Machine>,
    name: Option<&str>,
    stem: Option<&str>,
) -> Result<Machine, MachineError> {
    let known = || machines.keys().cloned().collect::<Vec<_>>().join(", ");
    if let Some(name) = name {
        return machines.get(name).cloned().ok_or_else(|| MachineError::Unknown {
            name: name.to_owned(),
            known: known(),
            meant: nearest(name, machines.keys().map(String::as_str))
                .map_or_else(String::new, |n| format!("; did you mean '{n}'?")),
        });
    }
    if let Some(machine) = stem.and_then(|s| machines.get(s)) {
        return Ok(machine.clone());
    }
    match machines.values().collect::<Vec<_>>().as_slice() {
        [] => Err(MachineError::Empty),
        [only] => Ok((*only).clone()),
        _ => Err(MachineError::Ambiguous(known())),
    }
}

impl Machine {
    fn numbers(&self) -> [(&'static str, Option<f64>); 10] {
        [
            ("vcpus", self.vcpus),
            ("cpus", self.cpus),
            ("cores", self.cores),
            ("clock_hz_nominal", self.clock_hz_nominal),
            ("clock_hz_running", self.clock_hz_running),
            ("claimed_peak_gflops", self.claimed_peak_gflops),
            ("claimed_memory_bytes_per_s", self.claimed_memory_bytes_per_s),
            ("disk_link_bytes_per_s", self.disk_link_bytes_per_s),
            ("disk_limit_bytes_per_s", self.disk_limit_bytes_per_s),
            ("network_link_bits_per_s", self.network_link_bits_per_s),
        ]
    }

    /// Threads that can run at once: one a logical CPU; where only cores are declared, two a
    /// core.
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

/// What a machine does at most.
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
    use super::*;
    use crate::testing::figures;

    const TWO: &str = "[one]\nvcpus = 2\nwords = \"are ignored\"\n[two]\ncpus = 4\nvcpus = 9\n";

    #[test]
    fn a_table_is_chosen_by_name_by_file_or_because_it_is_the_only_one() {
        let two = read_machines(TWO).unwrap();
        let cpus = |machine: Machine| machine.logical_cpus().unwrap().most;
        assert_eq!(cpus(choose(&two, Some("two"), Some("one")).unwrap()), 4.0);
        assert_eq!(cpus(choose(&two, None, Some("one")).unwrap()), 2.0);
        let said = choose(&two, None, Some("x")).unwrap_err().to_string();
        assert!(said.contains("one, two"), "{said}");
        let said = choose(&two, Some("tow"), None).unwrap_err().to_string();
        assert!(said.contains("did you mean 'two'"), "{said}");
        let one = read_machines("[a]\ncores = 3\n").unwrap();
        assert_eq!(choose(&one, None, Some("x")).unwrap().cores, Some(3.0));
        assert!(matches!(choose(&BTreeMap::new(), None, None), Err(MachineError::Empty)));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["[a]\nvcpus = 0\n", "[a]\nvcpus = nan\n", "[a]\nclock_hz_nominal = -1\n"] {
            assert!(matches!(read_machines(text), Err(MachineError::Number { .. })), "{text}");
        }
        for (text, line) in [
            ("\n[a]\nvcpus = \"two\"\n", "line 3: invalid type: string"),
            ("[a\n", "line 1: "),
            ("[b]\na = \n", "line 2: "),
            ("a = 3\n", "line 1: "),
        ] {
            let said = read_machines(text).unwrap_err().to_string();
            assert!(said.starts_with(line) && said.lines().count() == 1, "{said}");
        }
    }

    fn only(text: &str) -> Machine {
        choose(&read_machines(text).unwrap(), None, None).unwrap()
    }

    #[test]
    fn the_lower_limit_of_a_disk_counts_and_an_allowance_is_none_of_a_latency() {
        let limit = |text, metric: &str| {
            let figure = figures(&format!("disk,x,read,{metric},,,,1,x,1,y\n")).swap_remove(0);
            let limit = only(text).disk_limit(&figure);
            (limit.most, limit.severity)
        };
        let both = "[a]\ndisk_link_bytes_per_s = 6e8\ndisk_limit_bytes_per_s = 1.6e8\n";
        assert_eq!(limit(both, "throughput"), (1.6e8, Severity::Invalid));
        assert_eq!(limit(both, "latency"), (6e8, Severity::Invalid));
        let link = "[a]\ndisk_link_bytes_per_s = 600_000_000\n";
        assert_eq!(limit(link, "throughput"), (6e8, Severity::Invalid));
        let none = (FASTEST_DISK.most, Severity::Suspect);
        assert_eq!(limit("[a]\n", "throughput"), none);
        assert_eq!(limit("[a]\ndisk_limit_bytes_per_s = 1.6e8\n", "latency"), none);
    }

    #[test]
    fn both_directions_count_twice_where_the_link_has_two() {
        let figure = |row: &str| figures(&format!("{row},1,x,1,y\n")).swap_remove(0);
        let disk = |text, operation: &str, metric: &str| {
            let limit = only(text).disk_limit(&figure(&format!("disk,x,{operation},{metric},,,")));
            (limit.most, limit.severity)
        };
        let (invalid, suspect) = (Severity::Invalid, Severity::Suspect);
        let (nvme, sata) =
            ("[a]\ndisk_link_bytes_per_s = 7.877e9\n", "[a]\ndisk_link_bytes_per_s = 5.98e8\n");
        assert_eq!(disk(nvme, "randrw", "throughput"), (15.754e9, invalid));
        assert_eq!(disk(nvme, "randread", "throughput"), (7.877e9, invalid));
        assert_eq!(disk(nvme, "randrw", "latency"), (7.877e9, invalid));
        assert_eq!(disk(sata, "randrw", "throughput"), (5.98e8, invalid));
        assert_eq!(disk("[a]\n", "randrw", "rate"), (31.508e9, suspect));
        let allowed = "[a]\ndisk_link_bytes_per_s = 7.877e9\ndisk_limit_bytes_per_s = 1e9\n";
        assert_eq!(disk(allowed, "randrw", "throughput"), (1e9, invalid));
        let network = |text, operation: &str| {
            let row = format!("network,x,{operation},throughput,,,");
            let limit = only(text).network_limit(&figure(&row));
            (limit.most, limit.severity)
        };
        let gigabit = "[a]\nnetwork_link_bits_per_s = 1e9\n";
        assert_eq!(network(gigabit, "tcp_bidir"), (2e9, invalid));
        assert_eq!(network(gigabit, "tcp"), (1e9, invalid));
        assert_eq!(network("[a]\n", "tcp_bidir"), (20e9, suspect));
        assert_eq!(network("[a]\n", "tcp"), (10e9, suspect));
    }

    #[test]
    fn cores_are_no_logical_cpus() {
        let cpus = |text| only(text).logical_cpus().map(|l| (l.most, l.severity));
        let (invalid, suspect) = (Severity::Invalid, Severity::Suspect);
        assert_eq!(cpus("[a]\ncpus = 16\ncores = 8\n"), Some((16.0, invalid)));
        assert_eq!(cpus("[a]\nvcpus = 8\ncores = 8\n"), Some((8.0, invalid)));
        // Who counts sockets as CPUs has a thread a core at least.
        assert_eq!(cpus("[a]\ncpus = 2\ncores = 8\n"), Some((8.0, invalid)));
        assert_eq!(cpus("[a]\ncores = 8\n"), Some((16.0, suspect)));
        assert_eq!(cpus("[a]\n"), None);
    }
}
