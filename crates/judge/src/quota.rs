//! What a CPU quota leaves of the delivered figure, where the rounds are too short to show it.
//!
//! A quota is granted by the period. A round shorter than that may see all of a CPU: under a quota
//! of half, rounds of 50 ms read up to all of it, and their median too.

use proofmark_model::{Better, Figure, Host, Measurement, Summary, counted};

use crate::capacity::Capacity;

/// The summary with its delivered figure and that one's interval bounded by what the quota leaves of
/// the attainable figure and of its interval. Doing it again changes nothing.
pub(crate) fn bounded(host: &Host, m: &Measurement) -> Option<Summary> {
    let summary = m.summary.clone()?;
    let delivered = delivered_under_quota(host, m, &summary);
    Some(Summary { delivered: delivered.unwrap_or(summary.delivered), ..summary })
}

/// The delivered figure where a quota bounds it.
fn delivered_under_quota(host: &Host, m: &Measurement, summary: &Summary) -> Option<Figure> {
    if !m.has_rounds() {
        return None;
    }
    let Ok(Capacity { quota: Some(quota), threads, cpus, .. }) = Capacity::derive(host, m) else {
        return None;
    };
    let (better, used) = (m.better, threads.min(cpus));
    let (attainable, mut delivered) = (&summary.attainable, summary.delivered.clone());
    let (seen, measured) = (attainable.value?, delivered.value?);
    let bounded =
        |measured: f64, attainable| match (allowed(attainable, quota, used, better), better) {
            (Some(most), Better::Higher) => measured.min(most),
            (Some(least), Better::Lower) => measured.max(least),
            (None, _) => measured,
        };
    let value = bounded(measured, seen);
    if value == measured {
        return None;
    }
    let [lower, upper] = attainable.ci95.unwrap_or([seen; 2]);
    delivered.ci95 = delivered.ci95.map(|[low, high]| [bounded(low, lower), bounded(high, upper)]);
    delivered.value = Some(value);
    delivered.bound = Some(format!(
        "the attainable figure x {} of quota / {} used: the rounds were too short to show the quota",
        counted(quota, "CPU"),
        counted(used as f64, "CPU")
    ));
    Some(delivered)
}

/// What a quota leaves of the attainable figure on so many CPUs (quota x attainable / CPUs used; of
/// a time, its inverse); `None` where it does not limit them.
fn allowed(attainable: f64, quota_cpus: f64, cpus: u64, better: Better) -> Option<f64> {
    let share = quota_cpus / cpus.max(1) as f64;
    let limits = share > 0.0 && share < 1.0 && attainable.is_finite() && attainable > 0.0;
    limits.then(|| match better {
        Better::Higher => attainable * share,
        Better::Lower => attainable / share,
    })
}

#[cfg(test)]
mod tests {
    use proofmark_model::{CpuQuota, Cut, Figure, Probe, Round, summarise_trials};

    use super::*;
    use crate::testing::*;

    const ATTAINABLE: f64 = 60e9;

    /// Twelve rounds of 100 ms under a quota of half with this period, on `threads` CPUs: the quota
    /// of a period is used up at once, and the wait for the next one falls between most rounds.
    fn cut_in_rounds(m: Measurement) -> Measurement {
        let mut m = m;
        let times = m.better == Better::Lower;
        let value = |share: f64| if times { 1e-7 / share } else { ATTAINABLE * share };
        for (i, t) in m.trials.iter_mut().enumerate() {
            let wobble = 1.0 + 1e-4 * (i % 3) as f64;
            // One round in five meets the wait.
            let share = if i % 5 == 4 { 0.3 } else { 0.95 };
            t.rounds = vec![Round {
                seconds: 0.1,
                delivered: value(share) * wobble,
                typical: Some(value(0.99) * wobble),
                attainable: Some(value(1.0) * wobble),
                clean_s: 0.03,
                ..Round::default()
            }];
        }
        m.summary = summarise_trials(Cut::Core, m.unit, &m.trials, false);
        m
    }

    fn half(period_s: f64) -> Host {
        let mut host = host();
        let quota = CpuQuota { cpus: Some(0.5), period_s: Some(period_s), burst_s: None };
        host.limits.cpu_quota = Probe::known(quota, "cpu.max");
        host
    }

    fn delivered(host: &Host, m: &Measurement) -> Figure {
        judged(host, m.clone(), &[]).summary.unwrap().delivered
    }

    #[test]
    fn a_quota_allows_its_share_of_what_the_cpus_used_could() {
        use Better::{Higher, Lower};
        for (attainable, quota, cpus, better, expected) in [
            (100.0, 0.5, 1, Higher, Some(50.0)),
            (200.0, 0.5, 2, Higher, Some(50.0)),
            (1.0, 0.25, 1, Lower, Some(4.0)),
            // It does not limit them.
            (100.0, 1.0, 1, Higher, None),
            (100.0, 4.0, 2, Higher, None),
            (100.0, f64::NAN, 1, Higher, None),
            (f64::NAN, 0.5, 1, Higher, None),
        ] {
            assert_eq!(allowed(attainable, quota, cpus, better), expected, "{quota} of {cpus}");
        }
    }

    #[test]
    fn short_rounds_under_a_quota_deliver_the_quota() {
        for period_s in [0.01, 0.1, 1.0] {
            let host = half(period_s);
            let m = cut_in_rounds(flops(1));
            let raw = m.summary.as_ref().unwrap().delivered.value.unwrap();
            assert!(raw > 0.8 * ATTAINABLE, "the rounds alone read {raw}");
            let once = judged(&host, m, &[]);
            let s = once.summary.as_ref().unwrap();
            let (value, [low, high]) = (s.delivered.value.unwrap(), s.delivered.ci95.unwrap());
            assert!((value / ATTAINABLE - 0.5).abs() < 1e-3, "{period_s} s: {value}");
            assert!(low <= value && value <= high && high < 0.51 * ATTAINABLE, "{low} {high}");
            let bound = s.delivered.bound.as_deref().unwrap();
            assert!(bound.contains("0.5 CPUs of quota / 1 CPU used"), "{bound}");
            assert_eq!(s.attainable.bound, None);
            assert_eq!(judged(&host, once.clone(), &[]), once, "judged again");
        }
    }

    #[test]
    fn a_time_is_the_greater() {
        let found = delivered(&half(0.1), &cut_in_rounds(latency(1 << 20, 1e-7)));
        let value = found.value.unwrap();
        assert!((value / 2e-7 - 1.0).abs() < 1e-3 && found.bound.is_some(), "{found:?}");
        assert!(found.ci95.is_some_and(|[low, high]| low <= value && value <= high), "{found:?}");
    }

    #[test]
    fn what_no_quota_bounds_stays_as_measured() {
        let two = cut_in_rounds(flops(2));
        assert!(delivered(&with_quota(host(), 0.5), &two).bound.is_some());
        for (name, host, m) in [
            ("no quota", host(), cut_in_rounds(flops(1))),
            ("a quota of all CPUs used", with_quota(host(), 1.0), cut_in_rounds(flops(1))),
            ("two threads, two CPUs' worth", with_quota(host(), 2.0), two),
            ("trials without rounds", half(0.1), flops(1)),
        ] {
            let found = delivered(&host, &m);
            assert_eq!(found, m.summary.unwrap().delivered, "{name}");
        }
        // No attainable figure: nothing to take the quota's share of.
        let mut unseen = cut_in_rounds(flops(1));
        unseen.summary.as_mut().unwrap().attainable = Figure::none("not seen");
        assert_eq!(delivered(&half(0.1), &unseen).bound, None);
    }
}
