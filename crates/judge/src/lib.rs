//! Judges results: theoretical ceiling, efficiency, bottleneck, disturbances, and the verdict that
//! follows.
//!
//! Pure functions from host and raw result to judgement. Nothing is read, run or printed here, so
//! any run file can be judged again, and judging twice gives the same. Method: METHOD.md; ceilings
//! after Williams et al., *Roofline* (CACM 2009); checks after Hoefler and Belli (SC'15) and
//! Gregg's benchmarking checklist.

mod between;
pub mod bottleneck;
mod capacity;
pub mod ceilings;
pub mod checks;
pub mod compare;
mod disk;
mod execution;
pub mod fleet;
pub mod group;
mod imported;
mod levels;
mod memory;
pub mod microarchitecture;
mod network;
mod placement;
#[cfg(test)]
mod property;
mod quota;
mod raw;
mod references;
pub mod requirements;
pub mod reread;
mod run;
mod series;
mod statistics;
#[cfg(test)]
mod testing;
mod threads;
mod width;
mod words;

use std::collections::BTreeMap;

use proofmark_model::{
    Better, Ceiling, FigureKind, Host, Measurement, OtherPrograms, Params, Policy, Property,
    Quantity, Round, Trial, Work, WorkloadSpec, ceiling_id, format_percent,
};

pub use between::between_runs;
pub use capacity::{Bound, Capacity};
pub use levels::level_changes;
pub use raw::raw_of;
pub use run::judge;

/// The facts that a result is judged with.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The machine.
    pub host: &'a Host,
    /// The declarations of the run's workloads, by id.
    pub specs: &'a BTreeMap<String, WorkloadSpec>,
    /// The policy of the trials.
    pub policy: &'a Policy,
    /// All results of the run so far; the judged one may be among them.
    pub others: &'a [Measurement],
    /// Other programs that used CPU time during the run.
    pub programs: OtherPrograms<'a>,
    /// True if another tool measured it, so that only its output is known.
    pub imported: bool,
}

impl<'a> Context<'a> {
    pub(crate) fn spec(&self, m: &Measurement) -> Option<&'a WorkloadSpec> {
        self.specs.get(&m.workload)
    }

    /// The scale of values of a result: that in which reports show its figure.
    pub(crate) fn quantity(&self, m: &Measurement) -> Quantity {
        let value = m.summary.as_ref().map_or(0.0, |s| s.value());
        let of = (m.subsystem, self.work(m).is_random());
        Quantity::for_result(value, m.unit, of, &m.params)
    }

    /// The declared work of a result's workload.
    pub(crate) fn work(&self, m: &Measurement) -> &'a Work {
        self.spec(m).map_or(&UNDECLARED, |spec| &spec.work)
    }

    /// The results of the run whose figures give a property of the machine.
    pub(crate) fn giving(&self, property: Property) -> impl Iterator<Item = &'a Measurement> {
        let specs = self.specs;
        let gives = move |o: &&Measurement| {
            specs.get(&o.workload).is_some_and(|spec| spec.role.gives(property))
        };
        self.others.iter().filter(gives)
    }

    /// The result with the same parameters on one thread, if the run has it.
    pub(crate) fn on_one_thread(&self, m: &Measurement) -> Option<&'a Measurement> {
        self.differing_in_threads(m).find(|other| other.params.threads() == 1)
    }

    /// The result with the same parameters on the most threads, at most `up_to`.
    pub(crate) fn on_most_threads(&self, m: &Measurement, up_to: u64) -> Option<&'a Measurement> {
        let few = self.differing_in_threads(m).filter(|other| other.params.threads() <= up_to);
        few.max_by_key(|other| other.params.threads())
    }

    /// The results of the run with the same parameters except threads.
    fn differing_in_threads(&self, m: &Measurement) -> impl Iterator<Item = &'a Measurement> {
        let same = |other: &&Measurement| {
            other.workload == m.workload
                && other.params.differs_only_in(&m.params, &Params::THREADS)
        };
        self.others.iter().filter(same)
    }
}

/// The work of a workload without a declaration.
static UNDECLARED: Work = Work::CORE;

/// Efficiency: headline / ceiling, at the clock of the headline. If less is better, it is ceiling /
/// headline, so 1 is always the ceiling itself.
fn efficiency(m: &Measurement) -> Result<f64, String> {
    let ceiling = m.ceiling.as_ref().ok_or("there is no ceiling to compare with")?;
    if m.summary.as_ref().is_some_and(|s| s.figure(s.headline).value.is_none()) {
        return Err("there is no headline figure to compare with the ceiling".to_owned());
    }
    let share = share_of(ceiling, m).ok_or("there is no trial to compare with the ceiling")?;
    let uncertainty = format_percent(ceiling.uncertainty);
    if ceiling.is_vague() {
        let declare =
            match [ceiling_id::MEMORY_CORE, ceiling_id::MEMORY_DRAM].contains(&&*ceiling.id) {
                true => "; declare the rate of the memory (--limit memory.dram)",
                false => "",
            };
        return Err(format!(
            "the uncertainty of this ceiling is {uncertainty}, so a share of it shows nothing{declare}"
        ));
    }
    if share > 1.0 && share <= 1.0 + ceiling.uncertainty && ceiling.is_rough() {
        return Err(format!(
            "the result is above this ceiling but within its uncertainty of {uncertainty}, so its \
             share of the ceiling is meaningless"
        ));
    }
    Ok(share)
}

/// The share of any ceiling that the headline is.
pub(crate) fn share_of(ceiling: &Ceiling, m: &Measurement) -> Option<f64> {
    share(m.better, m.summary.as_ref()?.value(), ceiling.value)
}

/// The share of the median trial, each at its own clock.
pub(crate) fn share_of_median_trial(ceiling: &Ceiling, m: &Measurement) -> Option<f64> {
    let of_trial =
        |t: &Trial| share(m.better, t.value, ceiling_at(m.better, ceiling, t.conditions.clock_hz));
    statistics::median_over(&m.trials, of_trial)
}

/// Returns true if the headline is made of undisturbed windows.
pub(crate) fn from_windows(m: &Measurement) -> bool {
    let headline = m.summary.as_ref().map(|s| s.headline);
    headline.is_some_and(|kind| kind != FigureKind::Delivered) && m.has_rounds()
}

/// Share of the threads' time that was taken in parts too short for the windows to leave out: a
/// figure made of windows includes it. `None` if unknown.
pub(crate) fn taken_in_figure(m: &Measurement) -> Option<f64> {
    let all = m.trials.iter().filter_map(|t| t.time_account).reduce(|a, b| a + b)?;
    all.taken_in_figure().filter(|_| from_windows(m))
}

/// The median of a function of the headline's value and its clock. If the headline is made of
/// windows, it is over the rounds, so that value and clock match; else over the trials.
pub(crate) fn by_stretch(
    m: &Measurement,
    derive: impl Fn(f64, Option<f64>) -> Option<f64>,
) -> Option<f64> {
    let Some(headline) = m.summary.as_ref().map(|s| s.headline).filter(|_| from_windows(m)) else {
        return statistics::median_over(&m.trials, |t| derive(t.value, t.conditions.clock_hz));
    };
    let in_headline = m.in_headline();
    let each =
        |t: &Trial, r: &Round| derive(r.figure(headline)?, r.clock_hz.or(t.conditions.clock_hz));
    let all = m.trials.iter().flat_map(|t| t.rounds.iter().map(move |r| (t, r)));
    let all = all.filter(|(_, r)| in_headline(r)).filter_map(|(t, r)| each(t, r));
    statistics::median(&all.collect::<Vec<_>>())
}

/// The ceiling at that clock, if it depends on the clock.
fn ceiling_at(better: Better, ceiling: &Ceiling, clock: Option<f64>) -> f64 {
    let usual = ceilings::input_of(ceiling, ceilings::CLOCK_INPUT).map(|i| i.value);
    match (usual, clock) {
        (Some(usual), Some(own)) if own.is_finite() && own > 0.0 && usual > 0.0 => {
            match better {
                Better::Higher => ceiling.value * (own / usual),
                // A time in cycles grows as the clock falls.
                Better::Lower => ceiling.value * (usual / own),
            }
        }
        _ => ceiling.value,
    }
}

fn share(better: Better, value: f64, ceiling: f64) -> Option<f64> {
    let ratio = match better {
        Better::Higher => value / ceiling,
        Better::Lower => ceiling / value,
    };
    (ratio.is_finite() && ratio >= 0.0).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Finding, Severity, Verdict, key};

    use super::*;
    use crate::testing::*;

    #[test]
    fn a_healthy_measurement_is_valid_and_silent() {
        let mut all = vec![flops(1), flops(2), iops(1), mix(true, "add16", "scalar"), clock(4e9)];
        for (n, threads) in [(300, 1), (1000, 2), (20_000, 2)] {
            all.extend([linpack(n, threads), dgemm(n, threads)]);
        }
        all.extend([stream("triad", 2), sweep("copy", 2, 1 << 20), blocks("rand_read", 8192)]);
        all.extend([latency(1 << 30, 1e-7), latency(1 << 20, 5e-9)]);
        all.extend(healthy_disk());
        all.extend(healthy_network("peer"));
        all.extend(healthy_network("loopback"));
        for m in all {
            let m = judged(&usual_host(&m), m, &[]);
            let here = m.params.get(key::PATH) == Some("loopback");
            let found: Vec<_> = m.findings.iter().map(|f| f.check.as_ref()).collect();
            let label = if here { &["one_machine"][..] } else { &[] };
            assert_eq!((found.as_slice(), m.verdict), (label, Verdict::Valid), "{}", m.workload);
        }
    }

    #[test]
    fn figure_ceiling_and_efficiency_agree_where_the_clock_falls() {
        // The clock and the rate fall by a fifth in the trials that take most of the time.
        let m = with_delivered(each(linpack(2000, 1), |i, t| {
            let share = if i < 6 { 0.8 } else { 1.0 };
            (t.value, t.seconds) = (t.value * share, t.seconds / share);
            t.conditions.clock_hz = t.conditions.clock_hz.map(|hz| hz * share);
        }));
        let m = judged(&host(), m, &[]);
        let ceiling = m.ceiling.as_ref().unwrap().value;
        let share = m.efficiency.unwrap();
        assert!((share - m.summary.as_ref().unwrap().value() / ceiling).abs() < 1e-12);
        // The same as all work over what each trial's own clock allowed: 16 operations a cycle.
        let sum = |of: fn(&Trial) -> f64| m.trials.iter().map(of).sum::<f64>();
        let allowed = sum(|t| t.seconds * 16.0 * t.conditions.clock_hz.unwrap());
        assert!((share - sum(|t| t.work) / allowed).abs() < 1e-9, "{share}");
    }

    #[test]
    fn one_slow_trial_lowers_the_efficiency_as_it_lowers_the_delivered_figure() {
        // The last of ten trials took as long as all others together.
        let m = each(linpack(2000, 1), |i, t| {
            if i == 9 {
                (t.value, t.seconds) = (t.value / 9.0, 9.0 * t.seconds);
            }
        });
        let share = |m| judged(&host(), with_delivered(m), &[]).efficiency.unwrap();
        let ratio = share(m) / share(linpack(2000, 1));
        assert!((ratio - 10.0 / 18.0).abs() < 0.01, "{ratio}");
    }

    #[test]
    fn the_efficiency_is_that_of_the_headline() {
        // Half of each trial was taken; the windows show what the core does.
        let mut m = each(flops(1), |_, t| {
            let round = Round {
                attainable: Some(0.95 * 60.8e9),
                typical: Some(50e9),
                delivered: 0.5 * t.value,
                clock_hz: Some(3.8e9),
                ..Round::default()
            };
            (t.value, t.work) = (0.5 * t.value, 0.5 * t.work);
            t.rounds = vec![round; 2];
        });
        let s = m.summary.as_mut().unwrap();
        s.headline = FigureKind::Attainable;
        s.attainable.value = Some(0.95 * 60.8e9);
        // The same if a quota took the other half.
        for h in [host(), with_quota(host(), 0.5)] {
            let m = judged(&h, m.clone(), &[]);
            let e = m.efficiency.unwrap();
            assert!((e - 0.95).abs() < 1e-9, "against the ceiling at the windows' clock: {e}");
            assert!(m.verdict.is_undoubted(), "{:?}", m.findings);
        }
    }

    #[test]
    fn the_efficiency_is_that_of_the_rounds_that_the_headline_counts() {
        // Six of ten rounds had a busy sibling, which slowed the chain that shows the clock by 2 %.
        let mut m = headed(flops(1), FigureKind::Attainable, 0.001);
        for (i, t) in m.trials.iter_mut().enumerate() {
            let (hz, width) = if i < 6 { (3.724e9, 4.0) } else { (3.8e9, 6.0) };
            t.rounds = vec![Round {
                attainable: Some(60.8e9),
                clock_hz: Some(hz),
                issue_width: Some(width),
                ..Round::default()
            }];
        }
        m.summary.as_mut().unwrap().attainable.value = Some(60.8e9);
        let m = judged(&host(), m, &[]);
        assert!((m.efficiency.unwrap() - 1.0).abs() < 1e-9, "{:?}", m.efficiency);
        assert!((m.ceiling.unwrap().value / 60.8e9 - 1.0).abs() < 1e-9);
        assert!(m.verdict.is_undoubted(), "{:?}", m.findings);
    }

    #[test]
    fn of_a_vague_ceiling_and_above_a_rough_one_there_is_no_share() {
        let with = |uncertainty: f64, value: f64| {
            let mut m = with_values(flops(1), &around(value));
            let (value, unit) = (64e9, m.unit.to_string());
            let (id, formula, inputs) = (String::new(), String::new(), Vec::new());
            m.ceiling = Some(Ceiling { id, value, unit, formula, inputs, uncertainty });
            efficiency(&m)
        };
        assert!(with(0.9, 70e9).unwrap_err().contains("above this ceiling"));
        assert!(with(0.9, 60e9).unwrap() < 1.0);
        assert!(with(0.9, 160e9).unwrap() > 2.0, "beyond the uncertainty it is reported");
        assert!(with(1.0, 60e9).unwrap_err().contains("uncertainty of this ceiling is 100.0 %"));
        assert!(with(0.02, 65e9).unwrap() > 1.0);
        // If less is better, the ratio is inverted.
        assert_eq!(share(Better::Lower, 2.0, 1.0), Some(0.5));
        assert_eq!(share(Better::Higher, 2.0, 1.0), Some(2.0));
        assert_eq!(share(Better::Higher, 2.0, 0.0), None);
    }

    #[test]
    fn every_null_part_has_its_reason() {
        let h = host_with_caches();
        let why = |m: Measurement, part: &str| judged(&h, m, &[]).missing[part].clone();
        let empty =
            Measurement { trials: Vec::new(), summary: None, verification: None, ..flops(1) };
        for part in [
            "summary",
            "precision",
            "latency",
            "verification",
            "efficiency",
            "bottleneck",
            "references",
        ] {
            assert!(!why(empty.clone(), part).is_empty(), "{part}");
        }
        let whole = judged(&host(), flops(1), &[]);
        assert_eq!(whole.missing.keys().collect::<Vec<_>>(), ["latency", "references"]);
        assert!(why(latency(1 << 30, 1e-7), "latency").contains("mean over many dependent loads"));
        assert!(why(flops(1), "latency").contains("a rate"));
    }

    #[test]
    fn findings_of_the_measurement_stay_and_judged_parts_are_replaced() {
        let mut m = Measurement { verification: None, ..flops(1) };
        m.missing.insert("references.fio".to_owned(), "it is not installed".to_owned());
        m.missing.insert("ceiling".to_owned(), "stale".to_owned());
        let finding = |id: &'static str| Finding::new(id, Severity::Note, "", "");
        m.findings = vec![finding("engine.remark"), finding("swap")];
        let m = judged(&host(), m, &[]);
        assert_eq!(m.missing["references.fio"], "it is not installed");
        assert!(!m.missing.contains_key("ceiling"));
        assert_eq!(m.findings, [finding("engine.remark")]);
    }

    #[test]
    fn a_workload_without_a_known_ceiling_is_judged_too() {
        let (h, policy) = (host(), policy());
        let declared =
            [(vec!["no.such".into()], "no such ceiling"), (vec![], "declares no ceiling")];
        for (ceilings, why) in declared {
            let spec = WorkloadSpec { ceilings: ceilings.into(), ..spec("cpu.flops") };
            let m = judged_in(&context(&h, &spec, &policy, &[]), flops(1));
            assert!(m.missing["ceiling"].contains(why), "{:?}", m.missing);
        }
    }
}
