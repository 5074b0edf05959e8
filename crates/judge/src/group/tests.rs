//! Tests that plant differences between the runs of a group.

use proofmark_model::{OverRuns, Probe, Run, Timestamp, Verdict, testing::rescale};

use super::*;
use crate::testing::{flops, host, stream};

/// Runs one minute apart whose `cpu.flops` has these values relative to the first.
fn runs(factors: &[f64]) -> Vec<Run> {
    let run = |(minute, factor): (i64, &f64)| {
        let mut m = flops(1);
        rescale(m.summary.as_mut().unwrap(), *factor);
        let started = Timestamp::from_millis(60_000 * minute).unwrap();
        Run { started, ..crate::testing::run(host(), vec![m, stream("triad", 1)]) }
    };
    (0..).zip(factors).map(run).collect()
}

fn grouped(runs: &[Run]) -> RunGroup {
    let members: Vec<Member> = runs.iter().map(|run| Member { name: "a run", run }).collect();
    group(&members)
}

#[test]
fn each_result_has_its_values_in_the_order_of_the_starts() {
    let mut all = runs(&[1.0, 1.1, 0.9]);
    all.rotate_left(1);
    let found = grouped(&all);
    assert!(found.runs.is_sorted_by_key(|run| run.started));
    let [flops, triad] = &found.results[..] else { panic!("{found:?}") };
    let values: Vec<f64> = flops.values.iter().flatten().map(|v| v.value).collect();
    assert!(
        (values[1] / values[0] - 1.1).abs() < 1e-9 && (values[2] / values[0] - 0.9).abs() < 1e-9
    );
    let Some(OverRuns::One(level)) = &flops.over_runs else { panic!("{flops:?}") };
    assert!((level.median / values[0] - 1.0).abs() < 1e-9 && level.deviation > 0.09);
    assert!(matches!(&triad.over_runs, Some(OverRuns::One(level)) if level.deviation == 0.0));
    assert_eq!(flops.figure, all[0].measurements[0].summary.as_ref().unwrap().headline);
}

#[test]
fn a_result_that_is_invalid_or_missing_in_a_run_has_no_value_there() {
    let mut all = runs(&[1.0; 4]);
    all[1].measurements[0].verdict = Verdict::Invalid;
    all[2].measurements.remove(0);
    all[3].measurements[0].verdict = Verdict::Suspect;
    let found = grouped(&all);
    let has: Vec<bool> = found.results[0].values.iter().map(Option::is_some).collect();
    assert_eq!(has, [true, false, false, true]);
    assert_eq!(found.results[0].values[3].unwrap().verdict, Verdict::Suspect);
    // A result that only a later run has comes after those of the first.
    all[0].measurements.remove(1);
    let found = grouped(&all);
    assert_eq!(found.results.len(), 2);
    assert!(found.results[1].values[0].is_none() && found.results[1].values[1].is_some());
}

#[test]
fn a_change_of_level_names_its_run_whatever_is_missing() {
    let mut random = crate::testing::xorshift();
    let mut near = |level: f64| level * (0.004 * crate::testing::normal(&mut random)).exp();
    let factors: Vec<f64> = (0..24).map(|i| near(if i < 14 { 1.0 } else { 0.8 })).collect();
    let mut all = runs(&factors);
    all[3].measurements.remove(0);
    let found = grouped(&all);
    let [level] = &found.results[0].level_changes[..] else { panic!("{:?}", found.results[0]) };
    assert_eq!((level.run, level.runs), (14, [13, 10]));
    assert!((level.medians[1] / level.medians[0] - 0.8).abs() < 0.01, "{level:?}");
    assert_eq!(found.results[1].level_changes, []);
    let few = grouped(&runs(&[1.0, 1.0, 0.8, 0.8]));
    assert_eq!(few.results[0].level_changes, [], "four runs have none that can be told");
}

#[test]
fn a_fact_that_changed_is_named_with_the_run() {
    let mut all = runs(&[1.0; 4]);
    assert_eq!(grouped(&all).changes, []);
    for run in &mut all[2..] {
        run.host.os.kernel = Probe::known("6.19.1".to_owned(), "test");
    }
    let found = grouped(&all);
    let [change] = &found.changes[..] else { panic!("{:?}", found.changes) };
    assert_eq!((change.run, change.differences.len()), (2, 1));
    assert_eq!((&*change.differences[0].what, &*change.differences[0].b), ("kernel", "6.19.1"));
}

#[test]
fn two_states_are_two_values() {
    let found = grouped(&runs(&[1.0, 0.6, 1.001, 0.999, 0.601, 1.0, 0.6]));
    let Some(OverRuns::Two { states: [low, high] }) = &found.results[0].over_runs else {
        panic!("{:?}", found.results[0].over_runs)
    };
    assert_eq!((low.places.as_slice(), high.runs), (&[1, 4, 6][..], 4));
}
