//! Other load: load averages, stolen time, and how busy the CPUs are.
//!
//! Source: proc(5), proc_loadavg(5), proc_stat(5).

use proofmark_model::Load;

use crate::root::{Reason, Root, fault, probe};

const LOADAVG: &str = "/proc/loadavg";
const STAT: &str = "/proc/stat";
/// Prefix of the line for all CPUs.
const ALL: &str = "cpu ";

pub(crate) fn detect(root: &Root) -> Load {
    Load {
        average: probe(root.line(LOADAVG).and_then(|line| averages(&line)), LOADAVG),
        // Read only the first line: with many CPUs and interrupts the file is long.
        steal_since_boot: probe(root.head(STAT, 512).and_then(|text| steal(&text)), STAT),
    }
}

fn averages(line: &str) -> Result<[f64; 3], Reason> {
    let mut numbers = line
        .split_whitespace()
        .map(|w| w.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0));
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some(Some(one)), Some(Some(five)), Some(Some(fifteen))) => Ok([one, five, fifteen]),
        _ => Err(fault(LOADAVG, format!("'{line}' does not hold three averages"))),
    }
}

/// Time of a set of CPUs since boot, in ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuTicks {
    all: f64,
    idle: f64,
    stolen: f64,
    /// Time of programs and of kernel threads, without interrupts.
    used: f64,
}

impl CpuTicks {
    /// Reads the sum of these CPUs, or that of all CPUs if none of them is listed. `None` if the
    /// system counts nothing.
    pub fn now(root: &Root, cpus: &[u32]) -> Option<Self> {
        Self::sum_of_cpus(&root.read(STAT).ok()?, cpus)
    }

    fn sum_of_cpus(text: &str, cpus: &[u32]) -> Option<Self> {
        let each = cpus.iter().filter_map(|cpu| Self::parse(text, &format!("cpu{cpu} ")).ok());
        let sum = |a: Self, b: Self| Self {
            all: a.all + b.all,
            idle: a.idle + b.idle,
            stolen: a.stolen + b.stolen,
            used: a.used + b.used,
        };
        each.reduce(sum).or_else(|| Self::parse(text, ALL).ok())
    }

    /// Parses the line with this prefix: `cpu  user nice system idle iowait irq softirq steal guest
    /// guest_nice`. User time already includes guest time.
    fn parse(text: &str, begins: &str) -> Result<Self, Reason> {
        let line = text.lines().find_map(|l| l.strip_prefix(begins));
        let line = line.ok_or_else(|| fault(STAT, format!("no line '{}'", begins.trim_end())))?;
        let ticks: Option<Vec<u64>> =
            line.split_whitespace().take(8).map(|word| word.parse().ok()).collect();
        match ticks.as_deref() {
            Some(&[user, nice, system, idle, waiting, irq, softirq, stolen]) => {
                let busy = [user, nice, system, irq, softirq, stolen].map(|t| t as f64);
                let idle = idle as f64 + waiting as f64;
                let all = busy.iter().sum::<f64>() + idle;
                let used = [user, nice, system].map(|t| t as f64).iter().sum();
                Ok(Self { all, idle, stolen: stolen as f64, used })
            }
            _ => Err(fault(STAT, "the line 'cpu' does not hold eight numbers")),
        }
    }

    /// Returns the fraction of CPU time since `earlier` that was busy, and the stolen fraction.
    /// `None` if no tick has passed.
    pub fn since(self, earlier: Self) -> Option<[f64; 2]> {
        let all = self.all - earlier.all;
        let shares = [all - (self.idle - earlier.idle), self.stolen - earlier.stolen];
        (all > 0.0).then(|| shares.map(|s| (s / all).clamp(0.0, 1.0)))
    }

    /// Returns the ticks since `earlier`: those that programs and kernel threads used, and those of
    /// all CPUs. `None` if no tick has passed.
    pub fn used_since(self, earlier: Self) -> Option<[f64; 2]> {
        let all = self.all - earlier.all;
        (all > 0.0).then(|| [(self.used - earlier.used).clamp(0.0, all), all])
    }
}

/// Returns stolen ticks divided by all ticks since boot.
fn steal(text: &str) -> Result<f64, Reason> {
    let ticks = CpuTicks::parse(text, ALL)?;
    let share = ticks.stolen / ticks.all;
    share.is_finite().then_some(share).ok_or(fault(STAT, "no tick is counted"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_averages() {
        assert_eq!(averages("0.50 1.25 2.00 1/86 8326"), Ok([0.5, 1.25, 2.0]));
        for bad in ["0.50 1.25", "a b c", "NaN 1 1", "-1 0 0"] {
            assert!(averages(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn steal_is_a_share_without_guest_time() {
        assert_eq!(steal("cpu  50 0 20 20 0 0 0 10 40 0\ncpu0 1\n"), Ok(0.1));
        // Without steal (before Linux 2.6.11), without a tick, and without the line of all CPUs.
        for bad in ["cpu  1 1 1 1 1 1 1\n", "cpu  0 0 0 0 0 0 0 0\n", "cpu0 1 1 1 1 1 1 1 1\n"] {
            assert!(steal(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn busy_and_stolen_time_are_shares_since_the_look_before() {
        let at = |line: &str| CpuTicks::parse(&format!("cpu  {line}\n"), ALL).unwrap();
        let (before, after) = (at("100 0 50 800 10 0 0 5 0 0"), at("150 0 60 820 20 0 0 15 0 0"));
        assert_eq!(after.since(before), Some([0.7, 0.1]));
        assert_eq!(after.since(after), None);
    }

    #[test]
    fn of_a_few_cpus_the_others_do_not_count() {
        let text = |busy: u64| {
            format!(
                "cpu  {busy} 0 0 900 0 0 0 0\ncpu0 0 0 0 500 0 0 0 0\ncpu1 {busy} 0 0 400 0 0 0 0\n"
            )
        };
        let later = |text: String| text.replace("500", "600").replace("900", "1000");
        let ticks_of = |cpus: &[u32]| {
            let [before, after] =
                [text(100), later(text(200))].map(|t| CpuTicks::sum_of_cpus(&t, cpus));
            after.unwrap().since(before.unwrap()).unwrap()[0]
        };
        assert_eq!([ticks_of(&[0]), ticks_of(&[1]), ticks_of(&[0, 1])], [0.0, 1.0, 0.5]);
        assert_eq!(ticks_of(&[7]), 0.5, "all, if the system does not list it");
        assert_eq!(CpuTicks::sum_of_cpus("intr 1\n", &[0]), None);
    }
}
