//! Rules against figures of a machine that they were not written for: honest ones, and the
//! published kinds of faults in other numbers, words and tools.
//!
//! The last column, `wrong`, holds the ids of every rule that must find something, joined by
//! `+`; empty: none may. Of honest figures it holds those that may doubt them, since a fault
//! looks the same, and that must never call them invalid.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use std::collections::BTreeSet;

use proofmark_audit::{Judged, Sheet, audit, choose, read_figures, read_machines};
use proofmark_model::{Finding, Verdict};

const HONEST: &str = include_str!("data/honest.csv");
const LIES: &str = include_str!("data/lies.csv");

fn judged(machine: &str, text: &str) -> Vec<Judged> {
    let machines = read_machines(include_str!("data/modern.toml")).unwrap();
    let machine = choose(&machines, Some(machine), None).unwrap();
    audit(&Sheet::new(machine, read_figures(text.as_bytes()).unwrap()))
}

fn ids(wrong: &str) -> BTreeSet<&str> {
    wrong.split('+').filter(|w| !w.is_empty()).collect()
}

fn checks(findings: &[Finding]) -> BTreeSet<&str> {
    findings.iter().map(|f| f.check.as_ref()).collect()
}

/// Each row, what is wrong with it, and what was found.
fn rows<'a>(
    text: &'a str,
    judged: &'a [Judged],
) -> impl Iterator<Item = (&'a str, &'a str, &'a [Finding])> {
    assert_eq!(text.lines().count(), judged.len() + 1);
    text.lines()
        .skip(1)
        .zip(judged)
        .map(|(row, judged)| (row, row.rsplit(',').next().unwrap(), judged.findings.as_slice()))
}

#[test]
fn honest_figures_are_left_alone_or_doubted_where_a_fault_looks_the_same() {
    let mut doubted = 0;
    for (row, wrong, findings) in rows(HONEST, &judged("server", HONEST)) {
        assert_eq!(checks(findings), ids(wrong), "{row}: {findings:?}");
        assert_ne!(Verdict::of(findings), Verdict::Invalid, "{row}: {findings:?}");
        doubted += usize::from(!findings.is_empty());
    }
    assert!(doubted * 4 <= HONEST.lines().count(), "{doubted}");
}

#[test]
fn honest_figures_are_not_invalid_because_the_machine_is_not_declared() {
    let judged = judged("undeclared", HONEST);
    for (row, _, findings) in rows(HONEST, &judged) {
        assert_ne!(Verdict::of(findings), Verdict::Invalid, "{row}: {findings:?}");
    }
    // Above what is assumed, and it says so; or doubted of the declared machine too.
    let suspect: BTreeSet<&str> = judged
        .iter()
        .filter(|j| j.verdict == Verdict::Suspect)
        .flat_map(|j| j.findings.iter().map(|f| f.check.as_ref()))
        .collect();
    let known = [
        "above_own_ceiling",
        "below_one_cycle",
        "loopback",
        "reciprocal_latency",
        "thread_multiplied",
    ];
    assert_eq!(suspect, BTreeSet::from(known));
}

#[test]
fn lies_are_found_by_their_rules_and_the_rows_between_them_are_left_alone() {
    for (row, wrong, findings) in rows(LIES, &judged("server", LIES)) {
        assert_eq!(checks(findings), ids(wrong), "{row}: {findings:?}");
    }
}

#[test]
fn every_rule_meets_a_lie() {
    let met: BTreeSet<&str> = LIES
        .lines()
        .skip(1)
        .flat_map(|row| row.rsplit(',').next().unwrap().split('+'))
        .filter(|wrong| !wrong.is_empty())
        .collect();
    assert_eq!(met, proofmark_audit::rules::ALL.iter().map(|rule| rule.id).collect());
}
