//! Circumstances of two runs that differ: the clock under load, the placement of the CPUs, and the
//! programs that took time. No two runs have exactly the same, so small differences are left out.

use std::collections::BTreeMap;

use proofmark_model::{
    Difference, FactId, Measurement, Pace, Run, Unit, format_quantity, median, placement_words,
};

use super::facts::{COMPUTING, Fact, NONE};

/// Smallest difference of the clock, as a share.
const CLOCK: f64 = 0.01;
/// Smallest share of the time in placements that the other run had less.
const IN_PLACEMENTS: f64 = 0.1;
/// Most placements that are compared.
const MOST: usize = 32;
/// Smallest difference in the share of the time at work.
const AT_WORK: f64 = 0.02;
/// Smallest share of taken time that is named.
const LEAST: f64 = 5e-3;

pub(super) fn differences(a: &Run, b: &Run) -> impl Iterator<Item = Fact> {
    let fact = |(what, [a, b], scope): (FactId, [String; 2], _)| Fact {
        difference: Difference { what: what.as_str().to_owned(), a, b },
        scope,
    };
    [
        clock(a, b).map(|both| (FactId::LoadClock, both, COMPUTING)),
        // That of a result's own rounds may explain it.
        placements(a, b).map(|both| (FactId::VcpuPlacement, both, NONE)),
        // Windows leave taken time out, so that it does not explain every figure.
        time(a, b).map(|both| (FactId::ThreadTime, both, NONE)),
    ]
    .into_iter()
    .flatten()
    .map(fact)
}

/// The clock of each CPU configuration: each load has a clock of its own.
fn clocks(run: &Run) -> BTreeMap<String, f64> {
    let clock_hz = |m: &Measurement| {
        let hz: Vec<f64> = m.trials.iter().filter_map(|t| t.conditions.clock_hz).collect();
        median(&hz)
    };
    let cpu = run.measurements.iter().filter(|m| m.subsystem.info().pace == Pace::Core);
    cpu.filter_map(|m| Some((m.point().to_string(), clock_hz(m)?))).collect()
}

/// Returns the median clock over the CPU configurations, in hertz; `None` where it was not measured.
pub(crate) fn clock_under_load(run: &Run) -> Option<f64> {
    median(&clocks(run).into_values().collect::<Vec<_>>())
}

/// The clocks, of the CPU configurations that both have.
fn clock(a: &Run, b: &Run) -> Option<[String; 2]> {
    let (a, b) = (clocks(a), clocks(b));
    let both = a.iter().filter_map(|(point, hz)| Some((*hz, *b.get(point)?)));
    let (a, b): (Vec<f64>, Vec<f64>) = both.unzip();
    let (a, b) = (median(&a)?, median(&b)?);
    ((a / b - 1.0).abs() > CLOCK).then(|| [a, b].map(|hz| format_quantity(hz, Unit::Hertz)))
}

fn placements(a: &Run, b: &Run) -> Option<[String; 2]> {
    let [a, b] = [a, b].map(|run| &run.cpu_placements[..run.cpu_placements.len().min(MOST)]);
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let mut left: Vec<f64> = b.iter().map(|p| p.share).collect();
    let mut in_both = 0.0;
    for one in a {
        let mut of_one = one.share;
        for (_, left) in b.iter().zip(&mut left).filter(|(other, _)| one.is_like(other)) {
            let both = of_one.min(*left);
            (in_both, of_one, *left) = (in_both + both, of_one - both, *left - both);
        }
    }
    (in_both < 1.0 - IN_PLACEMENTS).then(|| [a, b].map(placement_words))
}

fn time(a: &Run, b: &Run) -> Option<[String; 2]> {
    let (a, b) = (a.time_account()?, b.time_account()?);
    let differs = (a.at_work() - b.at_work()).abs() > AT_WORK;
    Some([a.words(LEAST)?, b.words(LEAST)?]).filter(|_| differs)
}

#[cfg(test)]
mod tests {
    use proofmark_model::{CpuPlacement, TimeAccount, Trial};

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
        m.trials = vec![Trial { time_account: Some(time), ..Trial::default() }];
        m.trials[0].conditions.clock_hz = Some(hz);
        let mut run = run(host(), vec![m]);
        run.cpu_placements = states
            .iter()
            .map(|(name, ns, share)| CpuPlacement {
                name: (*name).to_owned(),
                round_trip_s: (*ns > 0.0).then_some(1e-9 * ns),
                share: *share,
                ..CpuPlacement::default()
            })
            .collect();
        run
    }

    #[test]
    fn differences_beyond_chance_are_named() {
        let found = |a: &Run, b: &Run| -> Vec<(String, String, String)> {
            let all = differences(a, b).map(|f| f.difference);
            all.map(|d| (d.what, d.a, d.b)).collect()
        };
        let a = with(3.7e9, &[("near (72 ns)", 72.0, 0.6), ("SMT siblings", 0.0, 0.4)], 9.8);
        let alike = with(3.69e9, &[("near (75 ns)", 75.0, 0.65), ("SMT siblings", 0.0, 0.35)], 9.7);
        assert_eq!(found(&a, &alike), []);
        assert_eq!(found(&a, &with(3.7e9, &[], 9.8)), [], "placements that were not measured");
        let b = with(2.6e9, &[("far (310 ns)", 310.0, 1.0)], 7.0);
        let expected = [
            ("clock under load", "3.700 GHz", "2.600 GHz"),
            ("vCPU placement", "near (72 ns) 60.0 %, SMT siblings 40.0 %", "far (310 ns) 100.0 %"),
            (
                "time of the threads",
                "98.0 % at work, 2.0 % used by other processes",
                "70.0 % at work, 30.0 % used by other processes",
            ),
        ];
        assert_eq!(found(&a, &b), expected.map(|(w, a, b)| (w.into(), a.into(), b.into())));
    }
}
