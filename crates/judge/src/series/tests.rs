//! Tests of series with known levels.

use proofmark_model::{Conditions, Timestamp, testing};

use super::*;
use crate::testing::*;

/// A result sampled once per second, at that share of its usual rate, with noise of some tenths of
/// a percent.
pub(crate) fn over_time(m: Measurement, n: usize, share: impl Fn(usize) -> f64) -> Measurement {
    let usual = m.trials[0].clone();
    let start = 1_700_000_000_000_i64;
    let mut random = xorshift();
    let mut m = m;
    m.trials = (0..n)
        .map(|i| {
            let mut t = usual.clone();
            let factor = 1.0 / usual.seconds;
            t.value = usual.value * share(i) * (1.0 + 0.004 * (random() - 0.5));
            t.seconds = 1.0;
            t.work = t.value;
            t.conditions.own_cpu_s = t.conditions.own_cpu_s.map(|a| a * factor);
            if let (Some(device), Some(file)) = (&mut t.device, &mut t.file) {
                let scale = |bytes: u64| (bytes as f64 * factor * share(i)) as u64;
                file.asked_read_bytes = scale(file.asked_read_bytes);
                file.asked_written_bytes = scale(file.asked_written_bytes);
                device.read_bytes = file.asked_read_bytes;
                device.written_bytes = file.asked_written_bytes;
            }
            t.started = Timestamp::from_millis(start + 1000 * i as i64).unwrap();
            t
        })
        .collect();
    let values: Vec<f64> = m.trials.iter().map(|t| t.value).collect();
    m.summary = summary(&values);
    m.series = Some(testing::series(Timestamp::from_millis(start).unwrap(), n as u32));
    m.verification = None;
    m
}

/// A series whose rate is that share of the first one from the hundredth sample on.
pub(crate) fn stepped(share: f64) -> Measurement {
    over_time(flops(1), 300, |i| if i < 100 { 1.0 } else { share })
}

#[test]
fn levels_and_changes_are_reported_with_their_times() {
    let mut m = stepped(0.5);
    // The change is in the middle of sample 100.
    m.trials[100].value *= 1.5;
    let series = analyse(&context_on(&host()), &m).unwrap();
    let usual = flops(1).trials[0].value;
    let [before, after] = series.levels.as_slice() else { panic!("{:?}", series.levels) };
    assert!(
        (before.median / usual - 1.0).abs() < 0.002 && (after.median / usual - 0.5).abs() < 0.002
    );
    assert_eq!((before.from_s, after.until_s, before.trials + after.trials), (0.0, 300.0, 300));
    let [low, high] = after.ci95.unwrap();
    assert!(low <= after.median && after.median <= high && high / low < 1.01);
    let [change] = series.changes.as_slice() else { panic!("{:?}", series.changes) };
    assert!((change.at_s - 100.5).abs() < 0.05 && (change.ratio - 0.5).abs() < 0.01, "{change:?}");
    assert_eq!((before.until_s, after.from_s), (change.at_s, change.at_s));
    assert_eq!(Some(change.at), series.moment(change.at_s));
    assert_eq!(change.cause, None, "nothing that was recorded changed");
    assert!(series.trend.is_some());
}

#[test]
fn what_a_journal_writes_for_the_load_is_no_others_traffic() {
    let mut m = over_time(fsync(1), 300, |i| if i < 100 { 1.0 } else { 0.3 });
    for (i, t) in m.trials.iter_mut().enumerate() {
        let (Some(device), Some(file)) = (&mut t.device, &t.file) else { panic!("a disk") };
        let others = if i < 100 { 0 } else { 80_000_000 };
        device.written_bytes = 3 * file.asked_written_bytes + others;
    }
    let series = analyse(&context_on(&with_storage(|_| {})), &m).unwrap();
    let cause = series.changes[0].cause.clone().unwrap_or_default();
    assert!(cause.contains("the device's other traffic: 0.000 B/s before, "), "{cause}");
}

#[test]
fn each_cause_is_named_with_its_figures() {
    type Spoil = fn(&mut Conditions, bool);
    let causes: [(Spoil, &str); 6] = [
        (
            |c, late| c.throttled_s = Some(if late { 0.5 } else { 0.0 }),
            "CPU quota: 0.0 % of the time before, 50.0 % after",
        ),
        (|c, late| c.steal_s = Some(if late { 0.4 } else { 0.1 }), "by the hypervisor: 10.0 %"),
        (|c, late| c.other_cpu_s = Some(if late { 0.4 } else { 0.0 }), "by other processes"),
        (
            |c, late| c.clock_hz = Some(if late { 2e9 } else { 4e9 }),
            "core clock: 4.000 GHz before, 2.000 GHz after",
        ),
        (
            |c, late| {
                c.clock_hz = Some(if late { 2e9 } else { 4e9 });
                c.temperature_c = Some(if late { 95.0 } else { 60.0 });
            },
            "60 °C before, 95 °C after",
        ),
        (
            |c, late| {
                c.clock_hz = Some(if late { 2e9 } else { 4e9 });
                c.thermal_throttles = Some(u64::from(late));
            },
            "thermal throttlings",
        ),
    ];
    let cause = |m: &Measurement| {
        analyse(&context_on(&host()), m).unwrap().changes[0].cause.clone().unwrap_or_default()
    };
    for (spoil, words) in causes {
        let found = cause(&each_condition(stepped(0.5), |i, c| spoil(c, i >= 100)));
        assert!(found.contains(words), "{found} instead of {words}");
        // A condition that improved at the same time is no cause.
        assert_eq!(cause(&each_condition(stepped(0.5), |i, c| spoil(c, i < 100))), "", "{words}");
        // A disturbance that ended is the cause of a rise.
        let m = over_time(flops(1), 300, |i| if i < 100 { 0.5 } else { 1.0 });
        assert_ne!(cause(&each_condition(m, |i, c| spoil(c, i < 100))), "", "{words}");
    }
}

#[test]
fn a_series_that_is_steady_is_valid_and_one_that_drifts_is_not() {
    let m = judged(&host(), over_time(flops(1), 600, |_| 1.0), &[]);
    assert!(m.findings.is_empty(), "{:?}", m.findings);
    assert_eq!(m.series.as_ref().map(|s| s.levels.len()), Some(1));
    let m = judged(&host(), over_time(flops(1), 600, |i| 1.0 - 0.03 * i as f64 / 600.0), &[]);
    let all: Vec<_> = m.findings.iter().map(|f| (f.check.as_ref(), f.message.as_str())).collect();
    let [("drift", message)] = all.as_slice() else { panic!("{all:?}") };
    assert!(message.contains("fell by 3") && message.contains("over 10 min"), "{message}");
    assert!(policy().target_for(m.subsystem) < 0.03);
}

#[test]
fn shares_are_of_the_cpus_that_there_are() {
    // On the two CPUs of this host.
    let spoilt = |threads: u64, steal: f64, throttled: f64| {
        each(over_time(flops(threads), 20, |_| 1.0), move |_, t| {
            t.conditions.steal_s = Some(steal);
            t.conditions.throttled_s = Some(throttled);
        })
    };
    for (threads, steal, throttled) in [(1, 0.5, 0.5), (2, 1.0, 1.0), (4, 1.0, 1.0)] {
        let m = spoilt(threads, steal, throttled);
        let share = shares(&host(), &m, &m.trials);
        assert_eq!((share.steal, share.throttled), (Some(0.5), Some(0.5)), "{threads}");
    }
}

#[test]
fn a_condition_that_explains_little_of_a_change_is_no_cause() {
    let with = |others: f64, fall: f64| {
        let m = over_time(flops(1), 300, move |i| if i < 100 { 1.0 } else { 1.0 - fall });
        let m = each(m, |i, t| t.conditions.other_cpu_s = Some(if i < 100 { 0.0 } else { others }));
        analyse(&context_on(&host()), &m).unwrap().changes[0].cause.clone()
    };
    assert_eq!(with(0.011, 0.5), None);
    assert!(with(0.011, 0.05).is_some());
    assert!(with(0.06, 0.5).is_some());
}
