//! What else runs: load averages, stolen time, how busy the CPUs are.
//!
//! Source: proc(5), proc_loadavg(5), proc_stat(5).

use proofmark_model::Load;

use crate::root::{Reason, Root, fault, probe};

const LOADAVG: &str = "/proc/loadavg";
const STAT: &str = "/proc/stat";

pub(crate) fn look(root: &Root) -> Load {
    Load {
        average: probe(root.line(LOADAVG).and_then(|line| averages(&line)), LOADAVG),
        // The first line is enough; with many CPUs and interrupts the file is long.
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

/// Time of all CPUs since boot, in ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuTicks {
    all: f64,
    idle: f64,
    stolen: f64,
}

impl CpuTicks {
    /// As the system counts it now; `None` where it does not.
    pub fn now(root: &Root) -> Option<Self> {
        Self::parse(&root.head(STAT, 512).ok()?).ok()
    }

    /// The line `cpu  user nice system idle iowait irq softirq steal guest guest_nice`. Guest time is
    /// part of user time already.
    fn parse(text: &str) -> Result<Self, Reason> {
        let line = text.lines().find_map(|l| l.strip_prefix("cpu "));
        let line = line.ok_or_else(|| fault(STAT, "no line 'cpu'"))?;
        let ticks: Option<Vec<u64>> =
            line.split_whitespace().take(8).map(|word| word.parse().ok()).collect();
        match ticks.as_deref() {
            Some(&[user, nice, system, idle, waiting, irq, softirq, stolen]) => {
                let busy = [user, nice, system, irq, softirq, stolen].map(|t| t as f64);
                let idle = idle as f64 + waiting as f64;
                let all = busy.iter().sum::<f64>() + idle;
                Ok(Self { all, idle, stolen: stolen as f64 })
            }
            _ => Err(fault(STAT, "the line 'cpu' does not hold eight numbers")),
        }
    }

    /// Since an earlier look: the share of the CPUs' time in which they worked for anybody, and the
    /// share that was stolen. `None` where no tick has passed.
    pub fn since(self, earlier: Self) -> Option<[f64; 2]> {
        let all = self.all - earlier.all;
        let shares = [all - (self.idle - earlier.idle), self.stolen - earlier.stolen];
        (all > 0.0).then(|| shares.map(|s| (s / all).clamp(0.0, 1.0)))
    }
}

/// Stolen ticks over all ticks since boot.
fn steal(text: &str) -> Result<f64, Reason> {
    let ticks = CpuTicks::parse(text)?;
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
        // Without steal, as before Linux 2.6.11; without a tick; without the line of all CPUs.
        for bad in ["cpu  1 1 1 1 1 1 1\n", "cpu  0 0 0 0 0 0 0 0\n", "cpu0 1 1 1 1 1 1 1 1\n"] {
            assert!(steal(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn busy_and_stolen_time_are_shares_since_the_look_before() {
        let at = |line: &str| CpuTicks::parse(&format!("cpu  {line}\n")).unwrap();
        let (before, after) = (at("100 0 50 800 10 0 0 5 0 0"), at("150 0 60 820 20 0 0 15 0 0"));
        assert_eq!(after.since(before), Some([0.7, 0.1]));
        assert_eq!(after.since(after), None);
    }
}
