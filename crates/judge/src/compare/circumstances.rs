//! What two runs saw of their machines while they measured: the clock under load, where the CPUs
//! were, and who else took time. No two runs see exactly the same, so little is not worth a word.

use proofmark_model::{CpuState, Difference, Run, Subsystem, Unit, format_quantity, median};

use super::facts::{COMPUTING, Fact};

/// Of the clock, as a share.
const CLOCK: f64 = 0.01;
/// Of the time in states that the other run saw less.
const IN_STATES: f64 = 0.1;
/// Of the time at work.
const AT_WORK: f64 = 0.02;

pub(super) fn differences(a: &Run, b: &Run) -> impl Iterator<Item = Fact> {
    let fact = |(what, [a, b]): (&str, [String; 2])| Fact {
        difference: Difference { what: what.to_owned(), a, b },
        touches: COMPUTING,
    };
    [
        clock(a, b).map(|both| ("clock under load", both)),
        states(a, b).map(|both| ("CPUs that worked together", both)),
        time(a, b).map(|both| ("time of the threads", both)),
    ]
    .into_iter()
    .flatten()
    .map(fact)
}

fn clock(a: &Run, b: &Run) -> Option<[String; 2]> {
    let of = |run: &Run| {
        let cpu = run.measurements.iter().filter(|m| m.subsystem == Subsystem::Cpu);
        let trials = cpu.flat_map(|m| &m.trials);
        median(&trials.filter_map(|t| t.conditions.clock_hz).collect::<Vec<_>>())
    };
    let (a, b) = (of(a)?, of(b)?);
    ((a / b - 1.0).abs() > CLOCK).then(|| [a, b].map(|hz| format_quantity(hz, Unit::Hertz)))
}

fn states(a: &Run, b: &Run) -> Option<[String; 2]> {
    let (a, b) = (&a.cpu_states, &b.cpu_states);
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let in_both = |state: &CpuState| {
        let like = b.iter().filter(|other| state.is_like(other)).map(|other| other.share);
        state.share.min(like.sum())
    };
    let differs = a.iter().map(in_both).sum::<f64>() < 1.0 - IN_STATES;
    let words = |all: &[CpuState]| {
        let each = all.iter().map(|s| format!("{} {:.0} %", s.name, 100.0 * s.share));
        each.collect::<Vec<_>>().join(", ")
    };
    differs.then(|| [a, b].map(|all| words(all)))
}

fn time(a: &Run, b: &Run) -> Option<[String; 2]> {
    let (a, b) = (a.time()?, b.time()?);
    let at_work = [a, b].map(|t| t.working_s / t.wall_s);
    let words = |t: proofmark_model::TimeAccount| {
        let part =
            |(seconds, who): (f64, &str)| format!("{:.1} % {who}", 100.0 * seconds / t.wall_s);
        let taken = t.taken(AT_WORK / 4.0 * t.wall_s).into_iter().map(|(s, who)| (s, who.words));
        let all = [(t.working_s, "at work")].into_iter().chain(taken);
        all.map(part).collect::<Vec<_>>().join(", ")
    };
    ((at_work[0] - at_work[1]).abs() > AT_WORK).then(|| [a, b].map(words))
}

#[cfg(test)]
mod tests {
    use proofmark_model::{TimeAccount, Trial};

    use super::*;
    use crate::testing::*;

    fn with(hz: f64, states: &[(&str, f64, f64)], working_s: f64) -> Run {
        let time = TimeAccount {
            wall_s: 10.0,
            working_s,
            waiting_s: 10.0 - working_s,
            ..Default::default()
        };
        let mut m = flops(1);
        m.trials = vec![Trial { time: Some(time), ..Trial::default() }];
        m.trials[0].conditions.clock_hz = Some(hz);
        let mut run = run(host(), vec![m]);
        run.cpu_states = states
            .iter()
            .map(|(name, ns, share)| CpuState {
                name: (*name).to_owned(),
                round_trip_s: (*ns > 0.0).then_some(1e-9 * ns),
                share: *share,
                ..CpuState::default()
            })
            .collect();
        run
    }

    #[test]
    fn what_differs_by_more_than_chance_is_named() {
        let found = |a: &Run, b: &Run| -> Vec<(String, String, String)> {
            let all = differences(a, b).map(|f| f.difference);
            all.map(|d| (d.what, d.a, d.b)).collect()
        };
        let a = with(3.7e9, &[("72 ns apart", 72.0, 0.6), ("one core", 0.0, 0.4)], 9.8);
        let alike = with(3.69e9, &[("75 ns apart", 75.0, 0.65), ("one core", 0.0, 0.35)], 9.7);
        assert_eq!(found(&a, &alike), []);
        assert_eq!(found(&a, &with(3.7e9, &[], 9.8)), [], "states that were not looked for");
        let b = with(2.6e9, &[("310 ns apart", 310.0, 1.0)], 7.0);
        let expected = [
            ("clock under load", "3.700 GHz", "2.600 GHz"),
            ("CPUs that worked together", "72 ns apart 60 %, one core 40 %", "310 ns apart 100 %"),
            (
                "time of the threads",
                "98.0 % at work, 2.0 % taken by other processes",
                "70.0 % at work, 30.0 % taken by other processes",
            ),
        ];
        assert_eq!(found(&a, &b), expected.map(|(w, a, b)| (w.into(), a.into(), b.into())));
    }
}
