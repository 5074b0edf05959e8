//! How much of the ratio of two results the variation between runs of the same machines explains.
//!
//! An interval of rounds holds for the minutes of its run. Between runs, hypervisors place virtual
//! CPUs otherwise, neighbours come and go, and the level of a machine moves within hours. So each run
//! is one value here, on the logarithm (Kalibera and Jones, *Rigorous benchmarking in reasonable
//! time*, ISMM'13). A run varies about the level of its time; more runs reduce that. Runs close in
//! time share the level, however many they are: its part of the variance follows from their times
//! (`level`). Runs of one machine that alternate see the same levels, which cancel.
//!
//! The first variance is known from the runs themselves and from successive earlier runs, the second
//! from all earlier runs: those that the history had before the first one. Beside few of them, and
//! instead of none, counts what machines of that kind vary (`Prior`).
//!
//! The interval is that of Student with the degrees of freedom of Satterthwaite (1946), for all
//! figures of a comparison together (Bonferroni; half of the misses are for the figures of results,
//! half for the means of subsystems): at most one comparison in 20 of equal machines has a difference
//! by chance.

use proofmark_model::{ComparedRuns, FigureKind, Measurement, Pace, Run, Subsystem};

use super::rank::NORMAL_QUANTILE;
use super::side_runs::{SideRuns, Values};
use super::variance::Variance;

/// Fewest runs per side that need no history.
pub(super) const FEWEST_RUNS: usize = 4;
/// Most runs per side that are advised.
const MOST_ADVISED: u64 = 200;
/// Seconds in which the correlation of a level with itself falls to 1 / e.
const LEVEL_S: f64 = 900.0;
/// What the levels of a machine without a hypervisor vary, as a share of those of a virtual one.
const PHYSICAL: f64 = 0.25;
/// What one run varies about its level, as a share of what levels vary.
const OF_ONE_RUN: f64 = 0.5;
/// What the level of work that waits for its slowest thread varies, relative to that of other work.
const OF_SLOWEST: f64 = 2.0;

/// What is assumed of two machines beside what their runs show.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prior {
    /// True if both are one machine, whose levels alternating runs share.
    pub(super) same_machine: bool,
    /// True if neither has a hypervisor, as far as that is known.
    pub(super) are_physical: bool,
}

impl Prior {
    pub(super) fn new(a: &Run, b: &Run) -> Self {
        let are_physical = [a, b].iter().all(|run| run.host.is_virtual() == Some(false));
        Self { same_machine: a.host.is_same_machine(&b.host), are_physical }
    }

    /// The standard deviation of levels, as a share.
    pub(super) fn of_level(self, subsystem: Subsystem) -> f64 {
        self.known(subsystem.info().between_runs)
    }

    /// The largest difference between two runs of one machine that is known of such a result, as a share.
    pub(super) fn of_two_runs(self, m: &Measurement) -> f64 {
        let info = m.subsystem.info();
        match info.pace == Pace::Core && !waits_for_slowest(m) {
            true => NORMAL_QUANTILE * 2.0_f64.sqrt() * self.of_level(m.subsystem),
            false => self.known(info.between_two_runs),
        }
    }

    fn known(self, of_virtual_machines: f64) -> f64 {
        of_virtual_machines * if self.are_physical { PHYSICAL } else { 1.0 }
    }
}

/// The variation between runs of B / A of one figure.
#[derive(Debug, Clone)]
pub(super) struct Variation {
    /// Logarithm of B / A: the difference of the means over the runs of each.
    pub(super) log: f64,
    /// Number of runs of A and of B that have the figure.
    pub(super) runs: [usize; 2],
    /// Number of earlier runs of each.
    pub(super) earlier: [u64; 2],
    /// Number of results whose mean it is.
    pub(super) results: usize,
    /// The variances of one run of A and of B about its level.
    of_run: [f64; 2],
    /// The variance of the levels of two machines, which do not cancel; 0 for one machine.
    of_levels: f64,
    /// Variance of the logarithm of B / A.
    all: Variance,
}

/// Estimates how a figure of two results varies between runs; `None` if nothing shows it.
pub(super) fn variation(
    [runs_a, runs_b]: [&SideRuns; 2],
    [m, n]: [&Measurement; 2],
    kind: FigureKind,
    prior: Prior,
) -> Option<Variation> {
    let (a, b) = (runs_a.values(m, kind), runs_b.values(n, kind));
    let times = if waits_for_slowest(m) { OF_SLOWEST } else { 1.0 };
    let of_level = prior.of_level(m.subsystem) * times;
    between([&a, &b], of_level, prior.same_machine)
}

/// True for a complete solve by several threads, which waits for the slowest one; work in rounds does not.
fn waits_for_slowest(m: &Measurement) -> bool {
    m.subsystem.info().pins_threads && m.params.threads() > 1 && !m.has_rounds()
}

/// Estimates how the mean over the results of a subsystem varies between runs: of those pairs of
/// results that all runs have.
pub(super) fn of_subsystem(
    [runs_a, runs_b]: [&SideRuns; 2],
    (subsystem, delivered): (Subsystem, bool),
    pairs: &[([&Measurement; 2], FigureKind)],
    prior: Prior,
) -> Option<Variation> {
    let in_all = pairs.iter().filter(|([m, n], _)| runs_a.has_all(m) && runs_b.has_all(n));
    let (of_a, of_b): (Vec<_>, Vec<_>) =
        in_all.map(|([m, n], kind)| ((*m, *kind), (*n, *kind))).unzip();
    if of_a.len() < 2 {
        return None;
    }
    let a = runs_a.means((subsystem, delivered), &of_a);
    let b = runs_b.means((subsystem, delivered), &of_b);
    let found = between([&a, &b], prior.of_level(subsystem), prior.same_machine)?;
    Some(Variation { results: of_a.len(), ..found })
}

/// `of_level` is the prior deviation of levels.
fn between([a, b]: [&Values; 2], of_level: f64, same_machine: bool) -> Option<Variation> {
    if a.logs.is_empty() || b.logs.is_empty() {
        return None;
    }
    let counts = [a, b].map(|side| side.logs.len() as f64);
    let (of_run, levels, parts) = match same_machine {
        true => of_one_machine([a, b], counts, of_level)?,
        false => of_two_machines([a, b], counts, of_level)?,
    };
    Some(Variation {
        log: b.mean() - a.mean(),
        runs: [a.logs.len(), b.logs.len()],
        earlier: [a, b].map(|side| side.earlier.map_or(0, |earlier| earlier.runs)),
        results: 1,
        of_run,
        of_levels: levels,
        all: Variance::sum(&parts),
    })
}

/// The variances of one run of each side, that of levels that do not cancel, and the parts of the
/// variance of B / A.
type Parts = ([f64; 2], f64, Vec<Variance>);

/// One machine has one variation, known from the runs of both sides and one history.
fn of_one_machine([a, b]: [&Values; 2], counts: [f64; 2], prior: f64) -> Option<Parts> {
    let [first, second] = if a.first() <= b.first() { [a, b] } else { [b, a] };
    // The history of the later side has the runs of the earlier one.
    let later = || second.earlier.filter(|_| first.logs.len() == 1);
    let earlier = first.earlier.or_else(later);
    let known = earlier.map(|e| e.of_run());
    let of_run = Variance::pooled([a.of_own_runs(), b.of_own_runs(), known].into_iter().flatten())?;
    let of_run = of_run.with_prior(OF_ONE_RUN * prior);
    let level = level(earlier.map(|e| e.of_level()), prior);
    let shared = correlation(&a.times, &a.times) + correlation(&b.times, &b.times)
        - 2.0 * correlation(&a.times, &b.times);
    // Two single runs are two levels: their history has what they differ by.
    let shared = if counts == [1.0, 1.0] { 2.0 } else { shared.max(0.0) };
    let parts = vec![of_run.times(1.0 / counts[0] + 1.0 / counts[1]), level.times(shared)];
    Some(([of_run.value; 2], 0.0, parts))
}

/// Two machines vary each by itself.
fn of_two_machines(sides: [&Values; 2], counts: [f64; 2], prior: f64) -> Option<Parts> {
    let mut parts = Vec::new();
    let (mut of_run, mut levels) = ([0.0; 2], 0.0);
    for (i, side) in sides.into_iter().enumerate() {
        let known = side.earlier.map(|e| e.of_run());
        let own = Variance::pooled([side.of_own_runs(), known].into_iter().flatten())?;
        let own = own.with_prior(OF_ONE_RUN * prior);
        let level = level(side.earlier.map(|e| e.of_level()), prior)
            .times(correlation(&side.times, &side.times));
        (of_run[i], levels) = (own.value, levels + level.value);
        parts.extend([own.times(1.0 / counts[i]), level]);
    }
    Some((of_run, levels, parts))
}

/// The variance of a level: that of the history with the prior, or the prior alone.
fn level(known: Option<Variance>, prior: f64) -> Variance {
    let alone = Variance { value: prior.ln_1p().powi(2), freedom: f64::INFINITY };
    known.map_or(alone, |known| known.with_prior(prior))
}

/// The mean correlation of the levels of runs at two sets of times.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let each = a.iter().flat_map(|x| b.iter().map(move |y| (-(x - y).abs() / LEVEL_S).exp()));
    each.sum::<f64>() / (a.len() * b.len()).max(1) as f64
}

impl Variation {
    /// True for several runs of a side.
    pub(super) fn is_of_several(&self) -> bool {
        self.runs.iter().any(|n| *n > 1)
    }

    /// True if a side has neither enough runs with the figure nor earlier ones.
    pub(super) fn has_too_few_runs(&self) -> bool {
        let few = |(runs, earlier): (&usize, &u64)| *runs < FEWEST_RUNS && *earlier == 0;
        self.is_of_several() && self.runs.iter().zip(&self.earlier).any(few)
    }

    /// Half of the interval of the logarithm of B / A, each end of which misses so often.
    pub(super) fn half(&self, misses: f64) -> f64 {
        self.all.half(misses)
    }

    /// The interval of B / A about this logarithm.
    pub(super) fn ends(&self, middle: f64, misses: f64) -> [f64; 2] {
        let half = self.half(misses);
        [middle - half, middle + half].map(|log| log.exp().clamp(f64::MIN_POSITIVE, f64::MAX))
    }

    /// The number of alternating runs per side that would show this difference beyond a margin; `None`
    /// for a difference within it, and where no advised number would.
    pub(super) fn needs(&self, log: f64, margin: f64, misses: f64) -> Option<u64> {
        let beyond = log.abs() + (1.0 - margin).ln();
        let shows = |n: &u64| {
            let value = (self.of_run[0] + self.of_run[1]) / *n as f64 + self.of_levels;
            let freedom = 2.0 * (*n as f64 - 1.0);
            Variance { value, freedom }.half(misses) <= beyond
        };
        (beyond > 0.0).then(|| (FEWEST_RUNS as u64..=MOST_ADVISED).find(shows)).flatten()
    }

    /// What a comparison says of it.
    pub(super) fn compared_runs(&self, needs: Option<u64>) -> ComparedRuns {
        ComparedRuns {
            runs: self.runs.map(|n| n as u64),
            earlier: self.earlier,
            deviation: self.of_run[0].max(self.of_run[1]).sqrt().exp_m1(),
            needs,
        }
    }
}

#[cfg(test)]
mod tests;
