//! Rules against published reports whose faults were listed by people beforehand.
//!
//! The fixtures' last column, `wrong`, was filled in by hand from that list, not from the
//! rules: ids of the faults that a figure has, joined by `+`; empty: none that the list
//! names; `?`: the list cannot decide, so the figure counts for neither side. `?` are
//! deviations of which not all trials are printed, bytes written one by one below the link's
//! rate, nanosecond disk latencies above a cycle, two threads on one CPU that are half as
//! fast again, threads of a large machine below linear, and a misprint.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

use std::collections::BTreeMap;

use proofmark_audit::{Judged, Machine, Sheet, audit, choose, read_figures, read_machines};
use proofmark_model::Verdict;

/// Faults that must be found; the others are counted only.
const WANTED: [&str; 7] = [
    "page_cache",
    "thread_multiplied",
    "reciprocal_latency",
    "below_one_cycle",
    "above_own_ceiling",
    "socket_buffer",
    "loopback",
];

const REPORTS: [(&str, &str); 3] = [
    ("report-a", include_str!("data/report-a.csv")),
    ("report-b", include_str!("data/report-b.csv")),
    ("report-d", include_str!("data/report-d.csv")),
];

fn machine(name: &str) -> Machine {
    let machines = read_machines(include_str!("data/machines.toml")).unwrap();
    choose(&machines, None, Some(name)).unwrap()
}

/// The column `wrong` of every row.
fn truth(text: &str) -> Vec<&str> {
    text.lines().skip(1).map(|l| l.rsplit(',').next().unwrap()).collect()
}

fn found(judged: &Judged, fault: &str) -> bool {
    judged.findings.iter().any(|f| f.check == fault)
}

/// A filled buffer and a loopback look alike: no figure of a table tells them apart.
fn same(wrong: &str, reason: &str) -> bool {
    let alike = ["socket_buffer", "loopback"];
    wrong == reason || (alike.contains(&wrong) && alike.contains(&reason))
}

#[derive(Default)]
struct Tally {
    wrong: usize,
    found: usize,
    /// Found by that rule and explained by it, or by another that the list names too.
    first: usize,
}

#[test]
fn faults_that_people_found_are_found() {
    let (mut faults, mut rest, mut alarms, mut undecided) = (BTreeMap::new(), 0, Vec::new(), 0);
    for (name, text) in REPORTS {
        let sheet = Sheet::new(machine(name), read_figures(text.as_bytes()).unwrap());
        let judged = audit(&sheet);
        let truth = truth(text);
        assert_eq!(truth.len(), judged.len());
        for ((wrong, judged), figure) in truth.iter().zip(&judged).zip(sheet.figures()) {
            let flagged = judged.verdict != Verdict::Valid;
            let reason = judged.reason().map_or("", |r| r.check.as_ref());
            match *wrong {
                "?" => undecided += 1,
                "" | "population_deviation" => {
                    rest += 1;
                    if flagged {
                        alarms.push(format!("{name}:{} {reason}", figure.line));
                    }
                }
                _ => {}
            }
            for fault in wrong.split('+').filter(|w| !w.is_empty() && *w != "?") {
                let tally: &mut Tally = faults.entry(fault).or_default();
                tally.wrong += 1;
                tally.found += usize::from(found(judged, fault));
                tally.first += usize::from(wrong.split('+').any(|w| same(w, reason)));
                if !found(judged, fault) {
                    println!("missed: {name}:{} {fault}", figure.line);
                }
            }
        }
    }
    println!("{:<22}{:>6}{:>6}{:>6}", "fault", "wrong", "found", "first");
    for (fault, t) in &faults {
        println!("{fault:<22}{:>6}{:>6}{:>6}", t.wrong, t.found, t.first);
    }
    println!("rest {rest}, flagged {}: {alarms:?}; undecided {undecided}", alarms.len());
    for fault in WANTED {
        let tally = &faults[fault];
        assert!(
            tally.found * 100 >= tally.wrong * 95,
            "{fault}: {} of {}",
            tally.found,
            tally.wrong
        );
        assert!(tally.first * 100 >= tally.wrong * 95, "{fault} explains {}", tally.first);
    }
    assert!(alarms.len() * 50 <= rest, "{} of {rest}: {alarms:?}", alarms.len());
    assert_eq!(undecided, 58);
}

#[test]
fn every_fault_of_the_fixtures_is_a_rule() {
    let ids: Vec<&str> = proofmark_audit::rules::ALL.iter().map(|r| r.id).collect();
    for (name, text) in REPORTS {
        for fault in truth(text).iter().flat_map(|w| w.split('+')) {
            assert!(fault.is_empty() || fault == "?" || ids.contains(&fault), "{name}: {fault}");
        }
    }
}
