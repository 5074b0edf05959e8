//! Whatever a run file holds, judging it neither panics nor prints what is no number.

use proofmark_model::{Ending, Measurement, Trial, Unit};
use proptest::prelude::*;

use crate::testing::{
    blocks, clock, flops, host_with_caches, iops, judged, latency, mix, stream, sweep, trial,
};

fn wild() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        Just(0.0),
        Just(-1.0),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE),
        1e6..1e12_f64,
    ]
}

prop_compose! {
    fn any_trial()(
        v in wild(), s in wild(), w in wild(), clock in proptest::option::of(wild()),
        a in proptest::option::of(wild()), b in proptest::option::of(wild()),
        n in proptest::option::of(any::<u64>()),
    ) -> Trial {
        let mut t = trial(v, s);
        t.work = w;
        t.conditions.clock_hz = clock;
        t.conditions.clock_spread = a;
        t.conditions.clock_disagreement = b;
        t.conditions.steal_s = a;
        t.conditions.throttled_s = b;
        t.conditions.other_cpu_s = a;
        t.conditions.own_cpu_s = b;
        t.conditions.involuntary_switches = n;
        t.conditions.migrations = n;
        t.conditions.minor_faults = n;
        t.conditions.major_faults = n;
        t.conditions.swapped_pages = n;
        t.conditions.huge_pages = a;
        t.conditions.misplaced_pages = b;
        t.moved = a;
        t
    }
}

fn no_nan(m: &Measurement) -> Result<(), TestCaseError> {
    if let Some(e) = m.efficiency {
        prop_assert!(e.is_finite());
    }
    if let Some(c) = &m.ceiling {
        prop_assert!(c.value.is_finite() && c.value > 0.0 && c.uncertainty.is_finite());
        prop_assert!(c.inputs.iter().all(|i| i.value.is_finite()));
    }
    let mut words = m.limiter.as_ref().map_or(String::new(), |l| l.evidence.clone());
    for f in &m.findings {
        words.push_str(&f.message);
        for (name, value) in &f.evidence {
            prop_assert!(!value.is_null(), "{}: {name} is null", f.check);
        }
    }
    prop_assert!(!words.contains("NaN") && !words.contains("inf "), "{words}");
    Ok(())
}

proptest! {
    #[test]
    fn no_trials_panic_or_yield_nan(
        trials in proptest::collection::vec(any_trial(), 0..14),
        median in wild(), low in wild(), high in wild(),
        set in prop_oneof![Just(0_u64), Just(1), Just(1 << 20), any::<u64>()],
        threads in prop_oneof![Just(0_u64), Just(1), Just(2), Just(8), any::<u64>()],
        kind in 0..8_usize,
        budget in any::<bool>(),
        consistent in any::<bool>(),
        quota in proptest::option::of(wild()),
    ) {
        let mut m = match kind {
            0 => flops(threads),
            1 => iops(threads),
            2 => mix(true, "arith17", "scalar"),
            3 => clock(median),
            4 => stream("triad", threads),
            5 => sweep("copy", threads, set),
            6 => blocks("rand_write", set),
            _ => latency(set, median),
        };
        m.trials = trials;
        if budget {
            m.ending = Ending::Budget;
        }
        if consistent {
            for t in &mut m.trials {
                t.work = match m.unit {
                    Unit::Second => t.seconds / t.value,
                    _ => t.value * t.seconds,
                };
            }
        }
        if let Some(s) = m.summary.as_mut() {
            s.median = median;
            s.ci95 = Some([low, high]);
        }
        let mut h = host_with_caches();
        h.limits.cpu_quota =
            proofmark_model::Probe::known(proofmark_model::CpuQuota { cpus: quota }, "");
        let mut other = m.clone();
        other.params = other.params.with("threads", 1);
        let others = [other, flops(1), latency(1 << 30, low), latency(set, high)];
        let once = judged(&h, m, &others);
        no_nan(&once)?;
        let twice = judged(&h, once.clone(), &others);
        // NaN in the trials is not equal to itself: compare what was concluded.
        prop_assert_eq!(once.findings, twice.findings);
        prop_assert_eq!(once.ceiling, twice.ceiling);
        prop_assert_eq!(once.efficiency, twice.efficiency);
        prop_assert_eq!(once.missing, twice.missing);
    }
}
