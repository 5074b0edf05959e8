//! What else ran when the host was looked at: load averages, stolen time.
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

/// Stolen ticks over all ticks of the line `cpu  user nice system idle iowait irq
/// softirq steal guest guest_nice`. Guest time is part of user time already.
fn steal(text: &str) -> Result<f64, Reason> {
    let line = text.lines().find_map(|l| l.strip_prefix("cpu "));
    let line = line.ok_or_else(|| fault(STAT, "no line 'cpu'"))?;
    let ticks: Option<Vec<u64>> =
        line.split_whitespace().take(8).map(|word| word.parse().ok()).collect();
    match ticks.as_deref() {
        Some(ticks @ [.., stolen]) if ticks.len() == 8 => {
            let all: f64 = ticks.iter().map(|&t| t as f64).sum();
            let share = *stolen as f64 / all;
            share.is_finite().then_some(share).ok_or(fault(STAT, "no tick is counted"))
        }
        _ => Err(fault(STAT, "the line 'cpu' does not hold eight numbers")),
    }
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
}
