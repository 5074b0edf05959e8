//! Delivered figures that a CPU quota makes meaningless, in older files whose rounds do not record
//! the quota.
//!
//! A quota is granted by the period. A round shorter than that may have all of a CPU, or none.
//! Under a quota of half, rounds of 50 ms show up to the full rate, or nearly nothing.

use proofmark_model::{CpuQuota, Figure, Host, Measurement, Summary};

use crate::capacity::Capacity;

/// The summary, without the delivered figure if the file does not record the effect of the quota.
pub(crate) fn as_recorded(host: &Host, m: &Measurement) -> Option<Summary> {
    let summary = m.summary.clone()?;
    if !is_unrecorded(host, m) {
        return Some(summary);
    }
    let why = "a CPU quota limited the threads, and this file of an older version does not record its \
               effect on the rounds";
    Some(Summary { delivered: Figure::none(why), ..summary })
}

fn is_unrecorded(host: &Host, m: &Measurement) -> bool {
    let is_recorded = m.trials.iter().any(|t| t.quota.is_some());
    let Ok(Capacity { quota: Some(quota), threads, cpus, .. }) = Capacity::derive(host, m) else {
        return false;
    };
    let period_s = host.limits.cpu_quota.get().map_or(CpuQuota::USUAL_PERIOD_S, CpuQuota::period);
    let is_short = |seconds: f64| seconds < CpuQuota::PERIODS * period_s;
    m.has_rounds()
        && !is_recorded
        && quota < threads.min(cpus) as f64
        && m.all_rounds().any(|r| is_short(r.seconds))
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Cut, Probe, QuotaTrial, Round, summarise_trials};

    use super::*;
    use crate::testing::*;

    /// Rounds of that duration of a load on two CPUs, at its full rate.
    fn in_rounds(seconds: f64, quota: Option<QuotaTrial>) -> Measurement {
        let mut m = each(flops(2), |_, t| {
            let round = Round { seconds, delivered: t.value, clean_s: 0.1, ..Round::default() };
            t.rounds = vec![Round { typical: Some(t.value), attainable: Some(t.value), ..round }];
            t.quota = quota;
        });
        m.summary = summarise_trials(Cut::Core, m.unit, &m.trials, false);
        m
    }

    fn limited(cpus: f64) -> Host {
        let mut host = host();
        let quota = CpuQuota { cpus: Some(cpus), period_s: Some(0.1), burst_s: None };
        host.limits.cpu_quota = Probe::known(quota, "cpu.max");
        host
    }

    fn delivered(host: &Host, m: &Measurement) -> Figure {
        as_recorded(host, m).unwrap().delivered
    }

    #[test]
    fn short_rounds_of_an_older_file_have_no_delivered_figure_under_a_quota() {
        let old = in_rounds(0.1, None);
        let found = delivered(&limited(0.5), &old);
        assert!(found.value.is_none() && found.missing.unwrap().contains("older version"));
        let measured = old.summary.as_ref().unwrap().delivered.value.unwrap();
        for (name, host, m) in [
            ("no quota", host(), old.clone()),
            ("a quota of all CPUs used", limited(2.0), old),
            ("rounds of five periods", limited(0.5), in_rounds(0.5, None)),
            ("a file that records it", limited(0.5), in_rounds(0.1, Some(QuotaTrial::default()))),
        ] {
            let value = delivered(&host, &m).value.unwrap();
            assert!((value / measured - 1.0).abs() < 1e-9, "{name}: {value}");
        }
    }
}
