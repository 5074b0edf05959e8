//! The states of a run's CPUs: how far those that work together are from each other, round by round.
//!
//! On a virtual machine they change without a word: two CPUs may be hardware threads of one core now,
//! and on two dies a second later. What a state is called says what was measured, so that states of
//! two runs can be compared.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statistics::median;
use crate::{CpuDistance, CpuPairSeen, Figure, Trial};

/// A thread that issues less than this share of its instructions while the other one is busy is on the
/// same core. On one core it is some 65 %, on two 99 % or more.
const ONE_CORE: f64 = 0.85;

/// Round trips of one distance lie nearer to each other than that.
const APART: f64 = 1.6;

/// What some rounds of a run have in common.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuState {
    /// Such as `one core` or `310 ns apart`; where several pairs of CPUs worked, with their numbers.
    pub name: String,
    /// Seconds of a round trip between the two CPUs of its pairs; null on one core, and where the
    /// pairs' states differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_s: Option<f64>,
    /// Rounds in it, and the share of the time of all rounds whose state was looked for.
    pub rounds: u64,
    /// See `rounds`.
    pub share: f64,
    /// The configuration's headline figure within it; null for the run as a whole, and of rounds whose
    /// state changed or was not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<Figure>,
}

/// How far the two CPUs of a pair are from each other; the distances of a run are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    OneCore,
    Apart(usize),
}

/// The state of the CPUs in a round.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The same at both ends of the round: a number in [`CpuStates::name`].
    Known(usize),
    /// Not the same at both ends.
    Changed,
    /// A thread lost its CPU while it was looked for.
    Unseen,
}

/// The states that occur in a run.
#[derive(Debug, Clone, Default)]
pub struct CpuStates {
    /// Round trips in seconds: where a distance ends, rising, and its median.
    distances: Vec<(f64, f64)>,
    /// How many pairs are in each class; by number.
    known: Vec<BTreeMap<Class, usize>>,
}

impl CpuStates {
    /// Those in which these trials ran.
    pub fn of<'a>(trials: impl Iterator<Item = &'a Trial> + Clone) -> Self {
        let ends = trials.clone().flat_map(|t| &t.pairs).flat_map(|p| [p.before, p.after]);
        let apart = ends.flatten().filter(|d| !d.on_one_core()).map(|d| d.round_trip_s);
        let mut round_trips: Vec<f64> = apart.collect();
        round_trips.sort_by(f64::total_cmp);
        let groups = round_trips.chunk_by(|a, b| *b < APART * a);
        let distance = |g: &[f64]| Some((*g.last()?, median(g)?));
        let mut states = Self { distances: groups.filter_map(distance).collect(), known: vec![] };
        let mut known: Vec<_> = trials.filter_map(|t| states.classes(t).ok()).collect();
        known.sort();
        known.dedup();
        states.known = known;
        states
    }

    /// That of a trial which is one round; `None` where no pair of CPUs worked in it.
    pub fn state(&self, trial: &Trial) -> Option<State> {
        if trial.pairs.is_empty() || trial.rounds.len() != 1 {
            return None;
        }
        Some(match self.classes(trial) {
            Ok(classes) => self.number(&classes).map_or(State::Unseen, State::Known),
            Err(state) => state,
        })
    }

    fn number(&self, classes: &BTreeMap<Class, usize>) -> Option<usize> {
        self.known.iter().position(|known| known == classes)
    }

    /// How many pairs are in each class, where all are in the same one at both ends.
    fn classes(&self, trial: &Trial) -> Result<BTreeMap<Class, usize>, State> {
        let mut classes = BTreeMap::new();
        for CpuPairSeen { before, after, .. } in &trial.pairs {
            let [before, after] =
                [before, after].map(|end| end.as_ref().map(|end| self.class(end)));
            match (before, after) {
                (Some(before), Some(after)) if before == after => {
                    *classes.entry(before).or_insert(0) += 1;
                }
                (Some(_), Some(_)) => return Err(State::Changed),
                _ => return Err(State::Unseen),
            }
        }
        Ok(classes)
    }

    fn class(&self, distance: &CpuDistance) -> Class {
        if distance.on_one_core() {
            return Class::OneCore;
        }
        Class::Apart(self.distances.partition_point(|(end, _)| *end < distance.round_trip_s))
    }

    /// What a state is called.
    pub fn name(&self, state: &State) -> String {
        let State::Known(number) = state else {
            let changed = *state == State::Changed;
            return if changed { "changed meanwhile" } else { "not seen" }.to_owned();
        };
        let classes = self.known.get(*number);
        let names = classes.into_iter().flatten().map(|(class, pairs)| (self.word(*class), pairs));
        let all: Vec<_> = names.collect();
        match all.as_slice() {
            [(one, _)] => one.clone(),
            several => {
                let each = several.iter().map(|(name, pairs)| format!("{pairs} pairs {name}"));
                each.collect::<Vec<_>>().join(", ")
            }
        }
    }

    fn round_trip_s(&self, state: &State) -> Option<f64> {
        let State::Known(number) = state else { return None };
        let mut classes = self.known.get(*number)?.keys();
        match (classes.next()?, classes.next()) {
            (Class::Apart(distance), None) => Some(self.distances.get(*distance)?.1),
            _ => None,
        }
    }

    /// With two digits: what is measured in two runs differs by some percent.
    fn word(&self, class: Class) -> String {
        let Class::Apart(number) = class else { return "one core".to_owned() };
        let ns = 1e9 * self.distances.get(number).map_or(0.0, |(_, median)| *median);
        let unit = 10_f64.powf(ns.max(1.0).log10().floor() - 1.0);
        format!("{} ns apart", (ns / unit).round() * unit)
    }

    /// The states of these trials, the most frequent first, with what of the trials in each.
    pub fn seen_in<'a>(
        &self,
        trials: impl Iterator<Item = &'a Trial>,
        figure: impl Fn(&[&'a Trial]) -> Option<Figure>,
    ) -> Vec<CpuState> {
        let mut by_state: BTreeMap<State, Vec<&Trial>> = BTreeMap::new();
        for trial in trials {
            if let Some(state) = self.state(trial) {
                by_state.entry(state).or_default().push(trial);
            }
        }
        let seconds = |trials: &[&Trial]| trials.iter().map(|t| t.seconds).sum::<f64>();
        let all: f64 = by_state.values().map(|trials| seconds(trials)).sum();
        let state = |(state, trials): (&State, &Vec<&'a Trial>)| CpuState {
            name: self.name(state),
            round_trip_s: self.round_trip_s(state),
            rounds: trials.len() as u64,
            share: seconds(trials) / all.max(f64::MIN_POSITIVE),
            figure: matches!(state, State::Known(_)).then(|| figure(trials)).flatten(),
        };
        let mut seen: Vec<CpuState> = by_state.iter().map(state).collect();
        seen.sort_by(|a, b| b.share.total_cmp(&a.share));
        seen
    }
}

impl CpuState {
    /// Whether it is the same in two runs: no distance is measured the same twice.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self.round_trip_s, other.round_trip_s) {
            (Some(a), Some(b)) => a < APART * b && b < APART * a,
            _ => self.name == other.name,
        }
    }
}

impl Trial {
    /// Whether two of its threads were on one core at an end of it.
    pub fn on_one_core(&self) -> bool {
        let ends = self.pairs.iter().flat_map(|p| [&p.before, &p.after]);
        ends.flatten().any(CpuDistance::on_one_core)
    }
}

impl CpuDistance {
    /// Whether they are hardware threads of one core.
    pub fn on_one_core(&self) -> bool {
        self.issues_beside < ONE_CORE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Round;

    fn end(ns: f64, issues_beside: f64) -> Option<CpuDistance> {
        Some(CpuDistance { round_trip_s: 1e-9 * ns, issues_beside })
    }

    fn trial(ends: &[[Option<CpuDistance>; 2]]) -> Trial {
        let pair =
            |[before, after]: &[_; 2]| CpuPairSeen { cpus: [0, 1], before: *before, after: *after };
        let pairs = ends.iter().map(pair).collect();
        Trial { seconds: 0.1, pairs, rounds: vec![Round::default()], ..Trial::default() }
    }

    #[test]
    fn a_round_has_the_state_of_both_its_ends() {
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
        let states = CpuStates::of(trials.iter());
        let seen = states.seen_in(trials.iter(), |_| None);
        let seen: Vec<_> = seen.iter().map(|s| (s.name.as_str(), s.rounds)).collect();
        let expected = [
            ("72 ns apart", 2),
            ("one core", 1),
            ("310 ns apart", 1),
            ("changed meanwhile", 1),
            ("not seen", 1),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn of_several_pairs_the_numbers_count_and_not_which_they_are() {
        let [near, far] = [end(50.0, 1.0), end(200.0, 1.0)].map(|e| [e, e]);
        let trials = [trial(&[near, far, far]), trial(&[far, far, near]), trial(&[near; 3])];
        let states = CpuStates::of(trials.iter());
        let seen = states.seen_in(trials.iter(), |_| None);
        let names: Vec<_> = seen.iter().map(|s| (s.name.as_str(), s.rounds)).collect();
        assert_eq!(names, [("1 pairs 50 ns apart, 2 pairs 200 ns apart", 2), ("50 ns apart", 1)]);
    }

    #[test]
    fn shares_are_of_the_time_and_sum_to_one() {
        let [near, core] = [end(50.0, 1.0), end(60.0, 0.6)].map(|e| [e, e]);
        let long = Trial { seconds: 0.75, ..trial(&[core]) };
        let short = Trial { seconds: 0.25, ..trial(&[near]) };
        let trials = [short, long];
        let states = CpuStates::of(trials.iter());
        let figure = |of: &[&Trial]| Some(Figure::alone(of.len() as f64, "few"));
        let seen = states.seen_in(trials.iter(), figure);
        assert_eq!((seen[0].name.as_str(), seen[0].share), ("one core", 0.75));
        assert_eq!(seen[1].figure.as_ref().unwrap().value, Some(1.0));
        assert!(CpuStates::default().seen_in([].iter(), |_| None).is_empty());
    }
}
