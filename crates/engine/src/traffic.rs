//! The traffic of one end of a network trial, from counters read before and after it.
//!
//! Sources: Linux `Documentation/networking/snmp_counter.rst` and `statistics.rst`;
//! `net/core/net-procfs.c` (/proc/net/dev, /proc/net/softnet_stat), `net/ipv4/proc.c`
//! (/proc/net/snmp), `net/ipv6/proc.c` (/proc/net/snmp6); proc_stat(5);
//! clock_gettime(2) for the CPU time of this process.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use proofmark_model::EndTraffic;
use rustix::process::getpid;
use rustix::time::{ClockId, clock_gettime};

use crate::affinity::usable_cpus;
use crate::clock::raw_seconds;
use crate::conditions::cpu_ticks;
use crate::heartbeat::{self, Heartbeat};
use crate::net_dev::{all_devices, device, text_of};
use crate::quota::{self, Group};
use crate::tracer::Tracer;

/// A count per CPU, by the CPU's number or its position.
type ByCpu = BTreeMap<u32, u64>;

/// Counters of one end since its system started. Those in one field are known together or not at
/// all: a counter that went backwards is no longer the same one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EndCounters {
    /// Time of the reading, in seconds on the clock of trials.
    at_s: Option<f64>,
    /// Bytes in and out, packets in and out, dropped or damaged.
    interface: Option<[u64; 5]>,
    /// Bytes in and out of all interfaces except the loopback.
    all_interfaces: Option<[u64; 2]>,
    /// TCP segments sent again, over IPv4 and IPv6.
    retransmits: Option<[u64; 1]>,
    /// Datagrams over IPv4: in, out, and dropped because a buffer was full.
    udp: Option<[u64; 3]>,
    /// Datagrams over IPv6 in the same order. A machine without IPv6 is no error.
    udp6: Option<[u64; 3]>,
    /// Packets that each CPU in use dropped.
    cpu_dropped: Option<ByCpu>,
    own_ns: Option<[u64; 1]>,
    /// Ticks in which each CPU that this process may use ran anything.
    busy_ticks: Option<ByCpu>,
    cpus: Option<u64>,
    /// Ticks stolen from each CPU that this process may use.
    stolen_ticks: Option<ByCpu>,
    /// Run delay of all threads that exist at the time.
    waiting_ns: Option<[u64; 1]>,
    groups: Vec<Group>,
    stopped_ns: Option<[u64; 1]>,
    tracer: Tracer,
}

/// Maximum number of threads of an end whose run delay and tracers are read.
const MAX_THREADS: usize = 256;

impl EndCounters {
    /// Reads the counters of an interface by its name, such as `eth0`, if there is one, of these
    /// cpu.stat files, and of a heartbeat.
    pub fn read(
        interface: Option<&str>,
        cpu_stat: &[PathBuf],
        heartbeat: Option<&Heartbeat>,
    ) -> Self {
        let (snmp, devices) = (text_of("/proc/net/snmp"), text_of("/proc/net/dev"));
        // CPUs of the first thread: others may be pinned.
        let usable = usable_cpus(Some(getpid()));
        let stat = text_of("/proc/stat");
        let ticks = |place| ticks(&stat, usable.as_deref().unwrap_or_default(), place);
        Self {
            at_s: Some(raw_seconds()),
            interface: interface.and_then(|name| device(&devices, name)),
            all_interfaces: all_devices(&devices),
            retransmits: retransmits(&snmp),
            udp: udp(|name| snmp_value(&snmp, "Udp", name)),
            udp6: udp6(&text_of("/proc/net/snmp6")),
            cpu_dropped: softnet_dropped(&text_of("/proc/net/softnet_stat")),
            busy_ticks: ticks(0),
            stolen_ticks: ticks(1),
            waiting_ns: waiting_ns().map(|ns| [ns]),
            groups: quota::read_all(cpu_stat),
            stopped_ns: heartbeat.map(|beats| [(beats.held_up_s() * 1e9) as u64]),
            tracer: Tracer::for_this_process(MAX_THREADS),
            own_ns: Some([own_ns()]),
            cpus: usable.map(|cpus| cpus.len() as u64),
        }
    }

    /// The traffic since `before`. A field is `None` if one of the two lacks it or it went
    /// backwards.
    pub fn since(&self, before: &Self) -> EndTraffic {
        let interface = grown(self.interface, before.interface);
        let all = grown(self.all_interfaces, before.all_interfaces);
        let datagrams = self.datagrams_since(before);
        let busy = grown_of_cpus(self.busy_ticks.as_ref(), before.busy_ticks.as_ref());
        let tick = (rustix::param::clock_ticks_per_second() as f64).recip();
        let seconds = |later, earlier, unit: f64| grown(later, earlier).map(|[n]| n as f64 * unit);
        let steal_s = grown_of_cpus(self.stolen_ticks.as_ref(), before.stolen_ticks.as_ref())
            .map(|n| n as f64 * tick);
        let throttled_s = quota::throttled_s(&before.groups, &self.groups);
        EndTraffic {
            counted_s: self.at_s.zip(before.at_s).map(|(later, earlier)| later - earlier),
            in_bytes: interface.map(|i| i[0]),
            out_bytes: interface.map(|i| i[1]),
            all_in_bytes: all.map(|i| i[0]),
            all_out_bytes: all.map(|i| i[1]),
            in_packets: interface.map(|i| i[2]),
            out_packets: interface.map(|i| i[3]),
            dropped: interface.map(|i| i[4]),
            retransmits: grown(self.retransmits, before.retransmits).map(|[n]| n),
            in_datagrams: datagrams.map(|d| d[0]),
            out_datagrams: datagrams.map(|d| d[1]),
            full_buffers: datagrams.map(|d| d[2]),
            cpu_dropped: grown_of_cpus(self.cpu_dropped.as_ref(), before.cpu_dropped.as_ref()),
            own_cpu_s: seconds(self.own_ns, before.own_ns, 1e-9),
            busy_s: busy.map(|n| n as f64 * tick),
            cpus: self.cpus,
            steal_s,
            waiting_s: seconds(self.waiting_ns, before.waiting_ns, 1e-9),
            throttled_s,
            quota: quota::between(&before.groups, &self.groups)
                .map(|quota| quota.after)
                .filter(|quota| quota.cpus.is_some()),
            stopped_s: seconds(self.stopped_ns, before.stopped_ns, 1e-9)
                .map(|held_up_s| heartbeat::stopped_s(held_up_s, steal_s, throttled_s)),
            tracer: self.tracer.clone().or(before.tracer.clone()).name().map(str::to_owned),
        }
    }

    /// Datagrams over both versions of IP; without IPv6 only those over IPv4.
    fn datagrams_since(&self, before: &Self) -> Option<[u64; 3]> {
        let v4 = grown(self.udp, before.udp)?;
        if self.udp6.is_none() && before.udp6.is_none() {
            return Some(v4);
        }
        let v6 = grown(self.udp6, before.udp6)?;
        Some([v4[0].checked_add(v6[0])?, v4[1].checked_add(v6[1])?, v4[2].checked_add(v6[2])?])
    }
}

/// The growth of counters, summed over all CPUs; `None` also if a CPU came or went.
fn grown_of_cpus(later: Option<&ByCpu>, earlier: Option<&ByCpu>) -> Option<u64> {
    let (later, earlier) = (later?, earlier?);
    let mut pairs = later.values().zip(earlier.values());
    let sum = || pairs.try_fold(0_u64, |sum, (l, e)| sum.checked_add(l.checked_sub(*e)?));
    later.keys().eq(earlier.keys()).then(sum)?
}

fn grown<const N: usize>(later: Option<[u64; N]>, earlier: Option<[u64; N]>) -> Option<[u64; N]> {
    let (mut grown, earlier) = (later?, earlier?);
    for (later, earlier) in grown.iter_mut().zip(earlier) {
        *later = later.checked_sub(earlier)?;
    }
    Some(grown)
}

/// TCP segments sent again, from the text of /proc/net/snmp.
fn retransmits(snmp: &str) -> Option<[u64; 1]> {
    Some([snmp_value(snmp, "Tcp", "RetransSegs")?])
}

/// A protocol's counter in /proc/net/snmp, where a line of names is above one of values.
fn snmp_value(text: &str, protocol: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|l| l.strip_prefix(protocol)?.strip_prefix(':'));
    let column = lines.next()?.split_ascii_whitespace().position(|n| n == name)?;
    lines.next()?.split_ascii_whitespace().nth(column)?.parse().ok()
}

/// Datagrams over IPv6 from the text of /proc/net/snmp6, which has a name and a value a line.
fn udp6(text: &str) -> Option<[u64; 3]> {
    udp(|name| {
        let value = |line: &str| {
            let (key, value) = line.split_once(char::is_whitespace)?;
            (key.strip_prefix("Udp6")? == name).then(|| value.trim().parse().ok())?
        };
        text.lines().find_map(value)
    })
}

/// Datagrams by the counters of one version of IP. A buffer is that of one socket (RcvbufErrors) or
/// of all together (MemErrors, since Linux 5.16).
fn udp(value: impl Fn(&str) -> Option<u64>) -> Option<[u64; 3]> {
    let full = value("RcvbufErrors")?.checked_add(value("MemErrors").unwrap_or(0))?;
    Some([value("InDatagrams")?, value("OutDatagrams")?, full])
}

/// Packets that each CPU dropped because its backlog was full, from the text of
/// /proc/net/softnet_stat. It has a line for each CPU in use; the second number counts.
fn softnet_dropped(text: &str) -> Option<ByCpu> {
    let dropped = |line: &str| u64::from_str_radix(line.split_ascii_whitespace().nth(1)?, 16).ok();
    let lines = (0..).zip(text.lines());
    let all: ByCpu = lines.map(|(n, line)| Some((n, dropped(line)?))).collect::<Option<_>>()?;
    (!all.is_empty()).then_some(all)
}

/// Ticks of each of these CPUs: busy ones at `place` 0, stolen ones at 1; `None` without any CPU.
fn ticks(text: &str, cpus: &[u32], place: usize) -> Option<ByCpu> {
    let ticks = cpu_ticks(text, cpus).filter(|_| !cpus.is_empty())?;
    Some(ticks.into_iter().map(|(cpu, counts)| (cpu, counts[place])).collect())
}

/// Run delay of the threads of this process, in nanoseconds; `None` where the system does not report it.
fn waiting_ns() -> Option<u64> {
    let tasks = fs::read_dir("/proc/self/task").ok()?.flatten().take(MAX_THREADS);
    let of_task = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()
    };
    // A thread that has just ended has no file any more.
    tasks.filter_map(of_task).reduce(u64::saturating_add)
}

/// CPU time of all threads of this process. getrusage(2) reports only microseconds.
fn own_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests;
