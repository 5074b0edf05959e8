//! System settings that affect speed, by their usual names. Machines of one model that differ in a
//! setting may differ in results.
//!
//! Sources: Linux `Documentation/ABI/testing/sysfs-devices-system-cpu`,
//! `admin-guide/pm/cpuidle.rst`, `admin-guide/pm/cpufreq.rst`, `admin-guide/pm/intel_pstate.rst`,
//! `admin-guide/sysctl/kernel.rst`, `admin-guide/mm/ksm.rst`, `core-api/irq/irq-affinity.rst`;
//! `networking/ip-sysctl.rst`; proc(5).

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::{FactId, Probe};

use crate::cards::{firmware, network_cards};
use crate::environment;
use crate::process_limits;
use crate::root::{Reason, Root, fault, probe, probe_from};
use crate::route;
use crate::text::format_cpus;
use crate::topology::CPUS;

const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";
const NO_TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
const BOOST: &str = "/sys/devices/system/cpu/cpufreq/boost";
const CMDLINE: &str = "/proc/cmdline";
const IRQ: &str = "/proc/irq";

/// Settings in files of one line.
const LINES: [(&str, &str); 5] = [
    ("cpuidle driver", "/sys/devices/system/cpu/cpuidle/current_driver"),
    ("KSM", "/sys/kernel/mm/ksm/run"),
    ("NUMA balancing", "/proc/sys/kernel/numa_balancing"),
    (FactId::Smt.as_str(), "/sys/devices/system/cpu/smt/control"),
    ("swappiness", "/proc/sys/vm/swappiness"),
];

/// Sizes of the socket buffers of TCP in bytes: minimum, default and maximum.
const TCP_BUFFERS: [(FactId, &str); 2] = [
    (FactId::TcpReceive, "/proc/sys/net/ipv4/tcp_rmem"),
    (FactId::TcpSend, "/proc/sys/net/ipv4/tcp_wmem"),
];

/// Detects all settings; an unreadable one has its reason.
pub(crate) fn detect(root: &Root, online: &[u32]) -> BTreeMap<String, Probe<String>> {
    let lines = LINES.map(|(name, path)| (name, probe(root.line(path), path)));
    let others = [
        (FactId::CStates.as_str(), common_value(root, online, "cpuidle", c_states)),
        (
            FactId::Governor.as_str(),
            common_value(root, online, "cpufreq/scaling_governor", Root::line),
        ),
        (FactId::Affinity.as_str(), probe_from(affinity(root))),
        (FactId::Environment.as_str(), environment::detect(root)),
        (FactId::Firmware.as_str(), probe_from(firmware(root))),
        (FactId::NetworkCards.as_str(), probe_from(network_cards(root))),
        (FactId::Mtu.as_str(), probe_from(route::mtu(root))),
        ("IRQ affinity", probe(irq_affinity(root), IRQ)),
        ("kernel command line", probe(root.line(CMDLINE).map(|l| options(&l)), CMDLINE)),
        (FactId::Microcode.as_str(), probe_from(microcode(root))),
        (FactId::Turbo.as_str(), probe_from(turbo(root))),
    ];
    let buffers = TCP_BUFFERS.map(|(id, path)| {
        let spaced = |line: String| line.split_whitespace().collect::<Vec<_>>().join(" ");
        (id.as_str(), probe(root.line(path).map(spaced), path))
    });
    let others = others.into_iter().chain(buffers).chain(process_limits::detect(root));
    let mut all: BTreeMap<String, Probe<String>> =
        lines.into_iter().chain(others).map(|(name, found)| (name.to_owned(), found)).collect();
    for name in root.names(VULNERABILITIES, "").unwrap_or_default() {
        let path = format!("{VULNERABILITIES}/{name}");
        all.insert(format!("mitigation of {name}"), probe(root.line(&path), path));
    }
    all
}

/// Returns a value once if all CPUs have the same, else each with its number of CPUs.
fn common_value(
    root: &Root,
    online: &[u32],
    below: &str,
    read: impl Fn(&Root, &str) -> Result<String, Reason>,
) -> Probe<String> {
    let path = |cpu: &dyn std::fmt::Display| format!("{CPUS}/cpu{cpu}/{below}");
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for cpu in online {
        match read(root, &path(cpu)) {
            Ok(value) => *counts.entry(value).or_default() += 1,
            Err(reason) => return Probe::missing(reason),
        }
    }
    let alike = counts.len() == 1;
    let words = counts.into_iter().map(|(value, cpus)| match alike {
        true => value,
        false => format!("{value} ({cpus} of {} CPUs)", online.len()),
    });
    let words: Vec<String> = words.collect();
    match words.as_slice() {
        [] => Probe::missing("no CPU is known"),
        _ => Probe::known(words.join(", "), path(&"*")),
    }
}

/// Returns the enabled idle states of a CPU, the shallowest first.
fn c_states(root: &Root, folder: &str) -> Result<String, Reason> {
    let mut states: Vec<(u32, String)> = Vec::new();
    for name in root.names(folder, "state")? {
        let Ok(number) = name.trim_start_matches("state").parse() else { continue };
        let at = |file: &str| format!("{folder}/{name}/{file}");
        if root.line(&at("disable")).is_ok_and(|off| off != "0") {
            continue;
        }
        states.push((number, root.line(&at("name"))?));
    }
    states.sort();
    match states.as_slice() {
        [] => Err(fault(folder, "no state")),
        _ => Ok(states.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(" ")),
    }
}

/// Returns the kernel's part of its command line: arguments after ` -- ` are for init.
fn options(line: &str) -> String {
    line.split(" -- ").next().unwrap_or(line).to_owned()
}

fn affinity(root: &Root) -> Result<(String, &'static str), Reason> {
    root.affinity().map(|(cpus, origin)| (format_cpus(&cpus), origin))
}

fn turbo(root: &Root) -> Result<(String, &'static str), Reason> {
    let words = |on: bool| if on { "on" } else { "off" }.to_owned();
    root.line(NO_TURBO)
        .map(|off| (words(off == "0"), NO_TURBO))
        .or_else(|_| root.line(BOOST).map(|on| (words(on != "0"), BOOST)))
}

/// Returns the first CPU's microcode, from its own file or /proc/cpuinfo.
fn microcode(root: &Root) -> Result<(String, String), Reason> {
    const VERSION: &str = "/sys/devices/system/cpu/cpu0/microcode/version";
    const CPUINFO: &str = "/proc/cpuinfo";
    if let Ok(version) = root.line(VERSION) {
        return Ok((version, VERSION.to_owned()));
    }
    let text = root.read(CPUINFO)?;
    let value = |line: &str| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == "microcode").then(|| value.trim().to_owned())
    };
    let version = text.lines().find_map(value).ok_or_else(|| fault(CPUINFO, "no microcode"))?;
    Ok((version, CPUINFO.to_owned()))
}

/// Returns the CPUs that may receive interrupts, each list once.
fn irq_affinity(root: &Root) -> Result<String, Reason> {
    let lists: BTreeSet<String> = root
        .names(IRQ, "")?
        .iter()
        .filter_map(|irq| root.line(&format!("{IRQ}/{irq}/smp_affinity_list")).ok())
        .collect();
    match lists.len() {
        0 => Err(fault(IRQ, "no affinity can be read")),
        _ => Ok(lists.into_iter().collect::<Vec<_>>().join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Machine;

    fn value(all: &BTreeMap<String, Probe<String>>, name: &str) -> Option<String> {
        all[name].get().cloned()
    }

    #[test]
    fn settings_are_read_of_every_cpu() {
        let machine = Machine::new(&[
            ("/proc/cmdline", "quiet mitigations=off -- --token 7\n"),
            ("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n"),
            ("/proc/cpuinfo", "processor\t: 0\nmicrocode\t: 0xa101144\n"),
            ("/proc/irq/4/smp_affinity_list", "0-1\n"),
            ("/proc/irq/9/smp_affinity_list", "0-1\n"),
            ("/proc/irq/10/smp_affinity_list", "1\n"),
            ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
            ("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n"),
            ("/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "0\n"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C1\n"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state2/name", "C6\n"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "1\n"),
            ("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
            ("/sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"),
        ]);
        let all = detect(&machine.root(), &[0, 1, 2]);
        for (name, expected) in [
            ("kernel command line", "quiet mitigations=off"),
            ("microcode", "0xa101144"),
            ("TCP receive buffer", "4096 131072 6291456"),
            ("IRQ affinity", "0-1; 1"),
            ("governor", "performance (1 of 3 CPUs), powersave (2 of 3 CPUs)"),
            ("turbo", "off"),
            ("mitigation of meltdown", "Not affected"),
        ] {
            assert_eq!(value(&all, name).as_deref(), Some(expected), "{name}");
        }
        assert_eq!(value(&detect(&machine.root(), &[0]), "C-states").unwrap(), "POLL C1");
        assert_eq!(value(&all, "C-states"), None, "not of every CPU");
        assert!(!all["KSM"].origin().is_empty());
    }

    #[test]
    fn either_switch_tells_of_turbo() {
        let found = |path: &str, text: &str| {
            value(&detect(&Machine::new(&[(path, text)]).root(), &[0]), "turbo")
        };
        let cases = [(NO_TURBO, "0"), (NO_TURBO, "1"), (BOOST, "0"), (BOOST, "1"), ("/x", "1")];
        let cases = cases.map(|(path, text)| found(path, text));
        let [on, off] = ["on", "off"].map(|w| Some(w.to_owned()));
        assert_eq!(cases, [on.clone(), off.clone(), off, on, None]);
    }
}
