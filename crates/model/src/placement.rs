//! The placement of a run's CPUs: the distance between those of two threads, round by round.
//!
//! A hypervisor may move virtual CPUs at any time: two of them are SMT siblings now, and on two
//! dies a second later. The name of a placement is a measured distance, so that placements of two
//! runs can be compared.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statistics::median;
use crate::{Figure, Trial, counted, format_percent};

/// SMT siblings issue less than this share of their instructions while the other one is busy: about
/// 65 %. CPUs of two cores issue 99 % or more.
const SIBLINGS: f64 = 0.75;

/// The name of hardware threads of one core.
const SMT_SIBLINGS: &str = "SMT siblings";
const SEVERAL: &str = "pairs that differ";

/// The longest round trip of a distance is less than this multiple of the shortest.
const SAME: f64 = 2.0;

/// Two CPUs, right before a trial's timed part and right after it. A hypervisor may have moved them
/// in between. Null where one of the threads lost its CPU during the probe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuPairSeen {
    /// Numbers of the CPUs.
    pub cpus: [u32; 2],
    /// Distance right before.
    pub before: Option<CpuDistance>,
    /// Distance right after.
    pub after: Option<CpuDistance>,
}

/// The distance between two CPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuDistance {
    /// Seconds in which a cache line goes to the other CPU and back: the fastest of several probes.
    pub round_trip_s: f64,
    /// Instructions that the first CPU issues while the other is busy, as a share of those while
    /// that one waits. It is about 0.65 for SMT siblings, 0.99 or more for two cores.
    pub issue_ratio: f64,
}

impl CpuDistance {
    /// Returns true if they are hardware threads of one core.
    pub fn are_siblings(&self) -> bool {
        self.issue_ratio < SIBLINGS
    }
}

/// A placement that some rounds of a run share; of a whole run, that of its pairs in each round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuPlacement {
    /// Name, such as `SMT siblings` or `far (310 ns)`.
    pub name: String,
    /// Seconds of a round trip between the two CPUs of its pairs; null for SMT siblings, and where
    /// it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_s: Option<f64>,
    /// Number of rounds.
    pub rounds: u64,
    /// Share of the time of all rounds whose placement was probed.
    pub share: f64,
    /// The headline figure of these rounds; null for the run as a whole, and for rounds whose
    /// placement changed or is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<Figure>,
}

/// The placement of a pair, or of all pairs of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Placement {
    /// Hardware threads of one core.
    Siblings,
    /// A distance: an index in [`CpuPlacements`].
    Apart(usize),
    /// Several pairs with different distances.
    Several,
    /// Different distances at both ends of the round.
    Moved,
    /// A thread lost its CPU during the probe.
    Unknown,
}

/// The distances that occur in a run.
#[derive(Debug, Clone, Default)]
pub struct CpuPlacements {
    /// Round trips in seconds: the upper end of each distance, rising, and its median.
    distances: Vec<(f64, f64)>,
}

impl CpuPlacements {
    /// Finds the distances between CPUs of these trials.
    pub fn from_trials<'a>(trials: impl Iterator<Item = &'a Trial>) -> Self {
        let ends = trials.flat_map(|t| &t.pairs).flat_map(|p| [p.before, p.after]);
        let apart = ends.flatten().filter(|d| !d.are_siblings()).map(|d| d.round_trip_s);
        let mut rest: Vec<f64> = apart.filter(|s| *s > 0.0).collect();
        rest.sort_by(f64::total_cmp);
        let (mut rest, mut distances) = (rest.as_slice(), Vec::new());
        while let Some(least) = rest.first() {
            let (group, others) = rest.split_at(rest.partition_point(|s| *s < SAME * least));
            distances.extend(group.last().copied().zip(median(group)));
            rest = others;
        }
        Self { distances }
    }

    fn place_end(&self, distance: &CpuDistance) -> Placement {
        if distance.are_siblings() {
            return Placement::Siblings;
        }
        Placement::Apart(self.distances.partition_point(|(end, _)| *end < distance.round_trip_s))
    }

    fn place_pair(&self, pair: &CpuPairSeen) -> Placement {
        match [pair.before, pair.after].map(|end| end.as_ref().map(|end| self.place_end(end))) {
            [Some(before), Some(after)] if before == after => before,
            [Some(_), Some(_)] => Placement::Moved,
            _ => Placement::Unknown,
        }
    }

    /// Returns the placement of all pairs of a trial that is one round; `None` where no pair worked
    /// in it.
    fn place_round(&self, trial: &Trial) -> Option<Placement> {
        let mut all = trial.pairs.iter().map(|pair| self.place_pair(pair));
        let first = all.next().filter(|_| trial.rounds.len() == 1)?;
        let agree = |one: Placement, other| match (one, other) {
            _ if one == other => one,
            (Placement::Unknown, _) | (_, Placement::Unknown) => Placement::Unknown,
            (Placement::Moved, _) | (_, Placement::Moved) => Placement::Moved,
            _ => Placement::Several,
        };
        Some(all.fold(first, agree))
    }

    /// Names the placements of a round's pairs.
    pub fn names_of(&self, trial: &Trial) -> Vec<String> {
        let pairs = trial.pairs.iter().filter(|_| trial.rounds.len() == 1);
        pairs.map(|pair| self.name(self.place_pair(pair))).collect()
    }

    /// Names a placement, with two digits: measured distances of two runs differ by a few percent.
    /// Of several distances, the shortest is near and the longest far.
    fn name(&self, placement: Placement) -> String {
        match placement {
            Placement::Siblings => SMT_SIBLINGS.to_owned(),
            Placement::Several => SEVERAL.to_owned(),
            Placement::Moved => "moved in the round".to_owned(),
            Placement::Unknown => "unknown".to_owned(),
            Placement::Apart(distance) => {
                let ns = 1e9 * self.round_trip_s(placement).unwrap_or(0.0);
                let unit = 10_f64.powf(ns.max(1.0).log10().floor() - 1.0);
                let word = match (distance, self.distances.len()) {
                    (_, 1) => "two cores",
                    (0, _) => "near",
                    (at, all) if at + 1 == all => "far",
                    _ => "between",
                };
                format!("{word} ({} ns)", (ns / unit).round() * unit)
            }
        }
    }

    fn round_trip_s(&self, placement: Placement) -> Option<f64> {
        let Placement::Apart(distance) = placement else { return None };
        Some(self.distances.get(distance)?.1)
    }

    /// Returns how long the pairs of these trials were in each placement, the most frequent first.
    pub fn of_pairs<'a>(&self, trials: impl Iterator<Item = &'a Trial>) -> Vec<CpuPlacement> {
        let rounds = trials.filter(|t| t.rounds.len() == 1);
        let pairs = rounds.flat_map(|t| t.pairs.iter().map(move |pair| (self.place_pair(pair), t)));
        self.collect_placements(pairs, |_| None)
    }

    /// Returns the rounds in which all pairs had each placement, the most frequent first, with the
    /// figure of these rounds.
    pub fn of_rounds<'a>(
        &self,
        trials: impl Iterator<Item = &'a Trial>,
        figure: impl Fn(&[&'a Trial]) -> Option<Figure>,
    ) -> Vec<CpuPlacement> {
        self.collect_placements(trials.filter_map(|t| Some((self.place_round(t)?, t))), figure)
    }

    fn collect_placements<'a>(
        &self,
        seen: impl Iterator<Item = (Placement, &'a Trial)>,
        figure: impl Fn(&[&'a Trial]) -> Option<Figure>,
    ) -> Vec<CpuPlacement> {
        let mut trials_of: BTreeMap<Placement, Vec<&Trial>> = BTreeMap::new();
        for (placement, trial) in seen {
            trials_of.entry(placement).or_default().push(trial);
        }
        let seconds = |trials: &[&Trial]| trials.iter().map(|t| t.seconds).sum::<f64>();
        let all: f64 = trials_of.values().map(|trials| seconds(trials)).sum();
        let one = |(placement, trials): (&Placement, &Vec<&'a Trial>)| CpuPlacement {
            name: self.name(*placement),
            round_trip_s: self.round_trip_s(*placement),
            rounds: trials.len() as u64,
            share: seconds(trials) / all.max(f64::MIN_POSITIVE),
            figure: match placement {
                Placement::Siblings | Placement::Apart(_) => figure(trials),
                _ => None,
            },
        };
        let mut placements: Vec<CpuPlacement> = trials_of.iter().map(one).collect();
        placements.sort_by(|a, b| b.share.total_cmp(&a.share));
        placements
    }
}

impl CpuPlacement {
    /// Returns true if it is a known place of the CPUs, and one place.
    pub fn is_known(&self) -> bool {
        self.round_trip_s.is_some() || self.are_siblings()
    }

    /// Returns true if the CPUs were hardware threads of one core.
    pub fn are_siblings(&self) -> bool {
        self.name == SMT_SIBLINGS
    }

    /// Returns true if the pairs of a round had different placements, all of them known.
    pub fn are_several(&self) -> bool {
        self.name == SEVERAL
    }

    /// Returns true if it is the same in two runs, within the spread of measured distances.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self.round_trip_s, other.round_trip_s) {
            (Some(a), Some(b)) => a < SAME * b && b < SAME * a,
            _ => self.name == other.name,
        }
    }
}

impl Trial {
    /// Returns true if two of its threads were on one core at its start or end.
    pub fn on_one_core(&self) -> bool {
        let ends = self.pairs.iter().flat_map(|p| [&p.before, &p.after]);
        ends.flatten().any(CpuDistance::are_siblings)
    }
}

/// Describes placements; it names the first 4.
pub fn placement_words(all: &[CpuPlacement]) -> String {
    const NAMED: usize = 4;
    let mut words: Vec<String> =
        all.iter().take(NAMED).map(|p| format!("{} {}", p.name, format_percent(p.share))).collect();
    if let Some(others @ 1..) = all.len().checked_sub(NAMED) {
        let rest = all.iter().skip(NAMED).map(|p| p.share).sum();
        words.push(format!("{} {}", counted(others as u64, "other"), format_percent(rest)));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Round;

    fn end(ns: f64, issue_ratio: f64) -> Option<CpuDistance> {
        Some(CpuDistance { round_trip_s: 1e-9 * ns, issue_ratio })
    }

    fn trial(ends: &[[Option<CpuDistance>; 2]]) -> Trial {
        let pair =
            |[before, after]: &[_; 2]| CpuPairSeen { cpus: [0, 1], before: *before, after: *after };
        let pairs = ends.iter().map(pair).collect();
        Trial { seconds: 0.1, pairs, rounds: vec![Round::default()], ..Trial::default() }
    }

    fn rounds(all: &[CpuPlacement]) -> Vec<(&str, u64)> {
        all.iter().map(|p| (p.name.as_str(), p.rounds)).collect()
    }

    #[test]
    fn a_round_has_the_placement_of_both_its_ends() {
        let [near, nearer, far, core] =
            [end(72.0, 1.0), end(61.0, 1.2), end(310.0, 1.0), end(58.0, 0.65)];
        let mut trials = vec![
            trial(&[[near, near]]),
            trial(&[[near, nearer]]),
            trial(&[[far, far]]),
            trial(&[[core, core]]),
            trial(&[[core, near]]),
            trial(&[[None, near]]),
            trial(&[]),
        ];
        // Cut into several, of which only the first and the last have an end.
        trials.push(Trial { rounds: vec![Round::default(); 2], ..trial(&[[far, far]]) });
        let placements = CpuPlacements::from_trials(trials.iter());
        let seen = placements.of_rounds(trials.iter(), |_| None);
        let expected = [
            ("near (72 ns)", 2),
            ("SMT siblings", 1),
            ("far (310 ns)", 1),
            ("moved in the round", 1),
            ("unknown", 1),
        ];
        assert_eq!(rounds(&seen), expected);
        assert_eq!(placements.of_pairs(trials.iter()), seen);
        assert_eq!(placements.names_of(&trials[3]), ["SMT siblings"]);
    }

    #[test]
    fn distances_do_not_chain_into_one() {
        let trials: Vec<Trial> =
            [80.0, 120.0, 185.0, 290.0, -1.0].map(|ns| trial(&[[end(ns, 1.0); 2]])).into();
        let placements = CpuPlacements::from_trials(trials.iter());
        let seen = placements.of_rounds(trials[..4].iter(), |_| None);
        assert_eq!(rounds(&seen), [("near (100 ns)", 2), ("far (240 ns)", 2)]);
    }

    #[test]
    fn of_several_pairs_all_must_agree_and_each_counts() {
        let [near, far] = [end(50.0, 1.0), end(200.0, 1.0)].map(|e| [e, e]);
        let gone = [None, None];
        let trials = [trial(&[near, far, far]), trial(&[near; 3]), trial(&[near, near, gone])];
        let placements = CpuPlacements::from_trials(trials.iter());
        let of_rounds = placements.of_rounds(trials.iter(), |_| None);
        let mut each = rounds(&of_rounds);
        each.sort_unstable();
        assert_eq!(each, [("near (50 ns)", 1), ("pairs that differ", 1), ("unknown", 1)]);
        let of_pairs = placements.of_pairs(trials.iter());
        assert_eq!(rounds(&of_pairs), [("near (50 ns)", 6), ("far (200 ns)", 2), ("unknown", 1)]);
        assert!((of_pairs.iter().map(|p| p.share).sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn shares_are_of_the_time_and_figures_of_placements() {
        let [near, core] = [end(50.0, 1.0), end(60.0, 0.6)].map(|e| [e, e]);
        let long = Trial { seconds: 0.75, ..trial(&[core]) };
        let short = Trial { seconds: 0.25, ..trial(&[near]) };
        let trials = [short, long];
        let placements = CpuPlacements::from_trials(trials.iter());
        let figure = |of: &[&Trial]| Some(Figure::alone(of.len() as f64, "few"));
        let seen = placements.of_rounds(trials.iter(), figure);
        assert_eq!((seen[0].name.as_str(), seen[0].share), ("SMT siblings", 0.75));
        assert_eq!(seen[1].figure.as_ref().unwrap().value, Some(1.0));
        assert!(CpuPlacements::default().of_rounds([].iter(), |_| None).is_empty());
    }

    #[test]
    fn few_are_named() {
        let one = |share| CpuPlacement { name: "x".into(), share, ..Default::default() };
        assert_eq!(placement_words(&[one(0.6), one(0.4)]), "x 60.0 %, x 40.0 %");
        assert_eq!(
            placement_words(&[one(0.2), one(0.2), one(0.2), one(0.2), one(0.1), one(0.1)]),
            "x 20.0 %, x 20.0 %, x 20.0 %, x 20.0 %, 2 others 20.0 %"
        );
    }
}
