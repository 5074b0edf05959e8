//! Smallest difference between two runs that is more than noise.
//!
//! Trials of one run share its circumstances: the places of its pages, its neighbours, the
//! machine's temperature. So two runs of one machine differ by more than the trials of either show
//! (Kalibera and Jones, ISMM'13: repeat at the level where it varies; Maricq et al., OSDI'18, for
//! how much it does in clouds). An interval from trials alone would find hundreds of differences in
//! hundreds of results. So a difference is shown only if the whole interval is beyond a margin, the
//! largest of these:
//!
//! - **base**: a multiple of the policy's target, or of 2 % if that is more, since two runs differ
//!   by as much however narrow an interval is. It is larger on a virtual machine, whose neighbours
//!   no counter here shows;
//! - **known**: the largest difference that two runs of one such machine are known to have ([`Prior`]);
//! - **spread** of the comparison's own ratios in that subsystem, each relative to the median of
//!   its group: the results of one workload with equal thread counts. A change of a whole group, or
//!   of all results, is therefore no spread: a thread count that lost a third is a difference, not
//!   noise;
//! - **width**: the sum of the half-widths of both figures' intervals. The slow end of a delivered one
//!   allows for a stall that no round had, so its fast side counts;
//! - **disturbed**: the share that steal or other processes took on *both* sides, the smaller of
//!   the two. It does not apply to a figure made of windows, which leave that out.
//!
//! A fault may split a group in halves, and would then widen its own margin. So neither spread nor
//! width hides a factor of more than 1.5. Taken time can: a result that it could hide, and that
//! shows no difference, is not judged ([`Margins::hidden`]).
//!
//! The whole interval must be beyond the margin, which also keeps false differences rare among many
//! results. At the target an interval reaches a quarter of the smallest margin. So a result without
//! a difference exceeds it by chance about as often as a normal variable exceeds three intervals,
//! not one time in 20.

use std::collections::BTreeMap;

use proofmark_model::{
    Better, Figure, FigureKind, LEAST_MARGIN, Measurement, Pace, Run, Subsystem, Verdict, check_id,
    median,
};

use super::comparable::Figured;
use super::effect::share;
use super::variation::Prior;

/// Base margin in targets.
const TARGETS: f64 = 2.0;
/// The same on a virtual machine, except for CPU results.
const TARGETS_SHARED: f64 = 4.0;
const LEAST_TARGET: f64 = 0.02;
const LARGEST_TARGET: f64 = 0.25;
/// Fewest results that have a spread.
const ENOUGH: usize = 5;
/// Spread in robust standard deviations.
const DEVIATIONS: f64 = 3.0;
/// Largest difference that a spread may hide, for a result that was not disturbed in both runs.
const MOST_QUIET: f64 = 0.2;
/// Largest difference that a spread or a width may hide.
const MOST: f64 = 1.0 / 3.0;
/// Largest share of taken time that is accepted, so that a margin stays finite.
const MOST_TAKEN: f64 = 0.9;

/// Checks that report time taken by others, as a share of the trials' CPU time.
const TAKEN: [&str; 2] = [check_id::STEAL, check_id::OTHER_CPU];

/// Speed of B relative to A in one result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Speed<'a> {
    pub(super) workload: &'a str,
    /// Number of threads; `None` for all CPUs of machines that do not have as many.
    pub(super) threads: Option<u64>,
    /// Logarithm of the speed; above 0 if B is better.
    pub(super) log: f64,
}

#[derive(Debug)]
pub(super) struct Margins {
    requested: Option<f64>,
    prior: Prior,
    margins: BTreeMap<Subsystem, [f64; 2]>,
}

impl Margins {
    /// Derives the margins from both policies and the speeds by subsystem, or takes the requested
    /// one.
    pub(super) fn new(
        [a, b]: [&Run; 2],
        prior: Prior,
        speeds: &BTreeMap<Subsystem, Vec<Speed>>,
        requested: Option<f64>,
    ) -> Self {
        let margins = |subsystem: Subsystem| {
            let spread = speeds.get(&subsystem).map_or(0.0, |speeds| spread(speeds));
            (subsystem, [base(a, b, subsystem), spread])
        };
        Self { requested, prior, margins: Subsystem::KNOWN.iter().copied().map(margins).collect() }
    }

    /// Returns true if the user gave the margin.
    pub(super) fn is_given(&self) -> bool {
        self.requested.is_some()
    }

    fn at_most(&self, subsystem: Subsystem, most: f64) -> f64 {
        let [base, spread] = self.margins.get(&subsystem).copied().unwrap_or_default();
        self.requested.unwrap_or_else(|| base.max(spread.min(most)))
    }

    pub(super) fn for_result(&self, a: &Measurement, b: &Measurement, figure: &Figured) -> f64 {
        if let Some(requested) = self.requested {
            return requested;
        }
        let taken = taken(a, b, figure);
        let width = (width(a, figure.kind) + width(b, figure.kind)).min(MOST);
        // The interval has what the margin allows for elsewhere.
        match &figure.variation {
            Some(variation) if variation.is_of_several() => return LEAST_MARGIN,
            Some(_) => return LEAST_MARGIN.max(width).max(taken),
            None => {}
        }
        let suspect = [a, b].into_iter().all(|m| m.verdict == Verdict::Suspect);
        let both = taken > 0.0 || suspect;
        let least = self.at_most(a.subsystem, if both { MOST } else { MOST_QUIET });
        let known = self.prior.of_two_runs(a);
        // One run may have had all of the taken time, the other none.
        [width, taken, known].into_iter().fold(least, f64::max)
    }

    /// The share that others took from both, if it could hide more than a spread or a width may.
    pub(super) fn hidden(&self, a: &Measurement, b: &Measurement, figure: &Figured) -> Option<f64> {
        let taken = taken(a, b, figure);
        (self.requested.is_none() && taken > MOST).then_some(taken)
    }
}

fn base(a: &Run, b: &Run, subsystem: Subsystem) -> f64 {
    let target = |run: &Run| {
        let target = run.plan.policy.target_for(subsystem);
        if target.is_finite() { target.clamp(LEAST_TARGET, LARGEST_TARGET) } else { LEAST_TARGET }
    };
    let virtual_machine = |run: &Run| run.host.is_virtual() == Some(true);
    let shared = subsystem.info().pace != Pace::Core && [a, b].into_iter().any(virtual_machine);
    let times = if shared { TARGETS_SHARED } else { TARGETS };
    (times * target(a).max(target(b))).min(MOST)
}

fn spread(speeds: &[Speed]) -> f64 {
    let mut groups: BTreeMap<(&str, Option<u64>), Vec<f64>> = BTreeMap::new();
    for s in speeds {
        groups.entry((s.workload, s.threads)).or_default().push(s.log);
    }
    let mut off: Vec<f64> = groups.values().flat_map(|logs| deviations(logs)).collect();
    if off.len() < ENOUGH {
        off = deviations(&speeds.iter().map(|s| s.log).collect::<Vec<_>>());
    }
    if off.len() < ENOUGH {
        return 0.0;
    }
    let sd = 1.4826 * median(&off).unwrap_or(0.0);
    (-(-DEVIATIONS * sd).exp_m1()).clamp(0.0, MOST)
}

/// Distances of values from their median; none for fewer than two. Few values are nearer to their
/// own median than to that of their distribution, which the factor corrects.
fn deviations(logs: &[f64]) -> Vec<f64> {
    let n = logs.len() as f64;
    let Some(middle) = median(logs).filter(|_| logs.len() > 1) else { return Vec::new() };
    logs.iter().map(|v| (v - middle).abs() * (n / (n - 1.0)).sqrt()).collect()
}

fn width(m: &Measurement, kind: FigureKind) -> f64 {
    let half = m.summary.as_ref().and_then(|s| {
        let figure = s.figure(kind);
        match kind {
            FigureKind::Delivered => fast_side(figure, m.better),
            FigureKind::Attainable | FigureKind::Typical => figure.half_width(),
        }
    });
    half.map_or(0.0, |w| w.clamp(0.0, MOST))
}

/// The width of an interval on its fast side, as a share of the value.
fn fast_side(figure: &Figure, better: Better) -> Option<f64> {
    let (value, [low, high]) = (figure.value?, figure.ci95?);
    let share = match better {
        Better::Higher => high / value,
        Better::Lower => value / low,
    };
    Some(share - 1.0).filter(|share| share.is_finite())
}

/// The share of the figure that others took on both sides, whatever the severity of the findings.
fn taken(a: &Measurement, b: &Measurement, figure: &Figured) -> f64 {
    if figure.windows {
        return 0.0;
    }
    let share_of =
        |m: &Measurement, check: &str| m.findings.iter().find(|f| f.check == check).and_then(share);
    let both = |check: &&str| Some(share_of(a, check)?.min(share_of(b, check)?));
    TAKEN.iter().filter_map(both).fold(0.0, f64::max).min(MOST_TAKEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(workload: &str, threads: u64, log: f64) -> Speed<'_> {
        Speed { workload, threads: Some(threads), log }
    }

    fn of_all(logs: &[f64]) -> f64 {
        spread(&logs.iter().map(|log| at("k", 1, *log)).collect::<Vec<_>>())
    }

    #[test]
    fn a_shift_of_all_is_no_spread_and_neither_is_one_outlier() {
        assert_eq!(of_all(&[-0.7; 9]), 0.0);
        let mut some = vec![-0.01, 0.01, 0.0, 0.005, -0.005, 0.02];
        let calm = of_all(&some);
        assert!((0.02..0.06).contains(&calm), "{calm}");
        some.push(5.0);
        assert!(of_all(&some) < 0.1);
        assert_eq!(of_all(&[0.0, 1.0, 2.0, 3.0]), 0.0, "too few for a spread");
        assert_eq!(of_all(&[-9.0, 9.0, 5.0, -5.0, 1.0]), MOST);
    }

    #[test]
    fn a_group_that_moved_as_a_whole_is_no_spread() {
        let noise = [0.003, -0.004, 0.001, 0.002, -0.002, 0.0];
        let both = |fell: f64| {
            let one = noise.map(|v| at("k", 1, v));
            let two = noise.map(|v| at("k", 2, v + fell));
            spread(&[one, two].concat())
        };
        assert!((both(-0.36) - both(0.0)).abs() < 1e-9);
        assert!(both(0.0) < 0.02, "{}", both(0.0));
        // Without groups, with one result per workload, the spread is about all results.
        let apart = ["a", "b", "c", "d", "e", "f"].map(|k| at(k, 1, noise[k.len()]));
        assert!(spread(&apart) < 0.02);
    }
}
