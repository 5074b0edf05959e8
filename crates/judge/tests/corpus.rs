//! The recorded corpus: single points of real machines, each measured between two quiet ones
//! (`scripts/corpus`). What was planted is no label: a reading is off if it differs from its quiet
//! neighbours by more than the tolerance. None that is off may be called valid, coarse or without
//! interval, but for those that are named here; and most of those that are not off must be.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use proofmark_judge::{judge, raw_of};
use proofmark_model::{Run, Verdict};
use serde::Deserialize;
use serde_json::Value;

const CORPUS: &str = include_str!("corpus.jsonl");

/// Of readings within half the tolerance so many must be undoubted.
const LEAST_PASSED: f64 = 0.8;

/// Points that are off and whose own run shows nothing of it.
const NOT_SEEN: &[(&str, &str)] = &[
    ("0063", "the memory bus has two states, and the run was in the other one than its neighbours"),
    ("0054", "a tenth of the CPU time was taken, and TCP over loopback lost 28 %"),
];

/// A point: what was planted, the figures of its quiet neighbours, and the run beside it.
#[derive(Deserialize)]
struct Point {
    id: String,
    kind: String,
    strength: u32,
    point: String,
    quiet: [f64; 2],
    run: Value,
}

#[derive(Default)]
struct Row {
    off: u32,
    missed: u32,
    within: u32,
    alarms: u32,
    harmless: u32,
    passed: u32,
}

/// Judges the point again: how far its headline is off, in tolerances, and its verdict.
fn judged(point: &Point) -> Option<(f64, Verdict)> {
    let mut run = point.run.clone();
    let workload = run["measurements"][0]["workload"].as_str().unwrap().to_owned();
    let spec = proofmark_workloads::find(&workload).unwrap().spec();
    run["workloads"] = serde_json::json!({ workload: spec });
    let run: Run = serde_json::from_value(run).unwrap();
    let m = judge(&raw_of(&run)).measurements.swap_remove(0);
    let truth = (point.quiet[0] * point.quiet[1]).sqrt();
    // A result without a headline claims none.
    let value = m.summary.as_ref().map(|s| s.value()).filter(|v| v.is_finite())?;
    Some(((value / truth - 1.0) / m.subsystem.tolerance(), m.verdict))
}

#[test]
fn no_reading_that_is_off_is_undoubted_and_most_others_are() {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut wrong = String::new();
    for line in CORPUS.lines() {
        let point: Point = serde_json::from_str(line).unwrap();
        let Some((off, verdict)) = judged(&point) else { continue };
        let row = rows.entry(point.kind.clone()).or_default();
        let undoubted = verdict.is_undoubted();
        let is_named = NOT_SEEN.iter().any(|(id, _)| *id == point.id);
        let missed = undoubted && !is_named;
        match off.abs() > 1.0 {
            true => (row.off, row.missed) = (row.off + 1, row.missed + u32::from(missed)),
            false => {
                (row.within, row.alarms) = (row.within + 1, row.alarms + u32::from(!undoubted))
            }
        }
        if off.abs() <= 0.5 {
            (row.harmless, row.passed) = (row.harmless + 1, row.passed + u32::from(undoubted));
        }
        if (off.abs() > 1.0) == undoubted {
            let Point { id, kind, strength, point, .. } = point;
            let _ =
                writeln!(wrong, "{id} {kind} {strength} {point}: {off:+.2} tolerances, {verdict}");
        }
    }
    let sum = |of: fn(&Row) -> u32| rows.values().map(of).sum::<u32>();
    for (kind, r) in &rows {
        println!(
            "{kind:8} off {} missed {} within {} alarms {}",
            r.off, r.missed, r.within, r.alarms
        );
    }
    println!("{wrong}");
    assert!(sum(|r| r.off) >= 5 && sum(|r| r.harmless) >= 10, "the corpus was not read");
    assert_eq!(sum(|r| r.missed), 0, "{wrong}");
    let passed = f64::from(sum(|r| r.passed)) / f64::from(sum(|r| r.harmless));
    assert!(passed >= LEAST_PASSED, "{passed}: {wrong}");
}
