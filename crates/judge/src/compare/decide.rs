//! Decides what a figure of two results shows, and why.

use std::cmp::Ordering;

use proofmark_model::{
    Better, Comparability, ComparedRuns, Margin, Measurement, contradicts, margin_bounds,
};

use super::cause::{self, Causes, Differing};
use super::comparable::{Compared, Figured};
use super::facts::Fact;
use super::variation::Variation;
use super::{Judge, reason};
use crate::words::counted;

/// The conclusion about one figure.
pub(super) struct Decided {
    pub(super) outcome: Comparability,
    pub(super) why: String,
    /// True if a hypervisor's choice, or that of other CPUs, may be the cause of a difference.
    pub(super) by_placement: bool,
    /// The checks that found what others did, if that alone is named as what made B slower.
    pub(super) disturbances: Vec<String>,
}

impl Judge<'_> {
    /// Decides between faster, slower and neither, with the reason. The figure is not comparable if
    /// too little is known, or if the share `hidden` was taken from both.
    pub(super) fn decide(
        &self,
        compared: &Compared,
        figure: &Figured,
        margin: Margin,
        hidden: Option<f64>,
        runs: Option<&ComparedRuns>,
    ) -> Decided {
        let open = |outcome, why| {
            let (by_placement, disturbances) = (false, Vec::new());
            Decided { outcome, why, by_placement, disturbances }
        };
        let (a, b, estimate) = (compared.a, compared.b, &figure.estimate);
        let letters = [self.a.letter, self.b.letter];
        let sides = [(letters[0], a), (letters[1], b)];
        let Some([low, high]) = estimate.ends else {
            let many = |m: &Measurement, n| match m.has_rounds() {
                _ if m.trials.is_empty() => "only a figure".to_owned(),
                true => counted(n, "round"),
                false => counted(n, "trial"),
            };
            let ([of_a, of_b], [letter_a, letter_b]) = (figure.counts, letters);
            let reason = format!(
                "{} in {letter_a} and {} in {letter_b} are too few to judge",
                many(a, of_a),
                many(b, of_b)
            );
            return open(Comparability::NotComparable, reason);
        };
        let beyond = beyond([low, high], margin.share);
        if is_undecided(figure.value, [low, high], margin.share) {
            return open(Comparability::Undecided, reason::undecided(a, figure, [low, high]));
        }
        let too_few = figure.variation.as_ref().is_some_and(Variation::has_too_few_runs);
        if too_few && self::beyond([figure.value; 2], margin.share).is_some() {
            let why = reason::too_few_runs(runs, [low, high]) + &reason::needed(runs);
            return open(Comparability::Undecided, why);
        }
        let Some(side) = beyond else {
            return match hidden {
                Some(taken) => open(Comparability::NotComparable, reason::both_disturbed(taken)),
                None => open(
                    Comparability::NoDifferenceShown,
                    reason::within(a.better, estimate, [low, high], margin) + &reason::needed(runs),
                ),
            };
        };
        let faster = side.is_gt() == (a.better == Better::Higher);
        let (outcome, [worse, better]) = match faster {
            true => (Comparability::Faster, sides),
            false => (Comparability::Slower, [sides[1], sides[0]]),
        };
        let differing = Differing {
            kind: figure.kind,
            windows: figure.windows,
            log: estimate.ratio.median.ln().abs(),
            are_virtual: self.are_virtual,
            same_machine: self.same_machine,
        };
        let mut causes = cause::find(worse, better, differing);
        // More CPUs explain a higher rate, and no lower one. They may explain any other time.
        let by_cpus = compared.cpus.is_some_and(|[of_a, of_b]| {
            a.better == Better::Lower || (of_b > of_a) == (outcome == Comparability::Faster)
        });
        let by_set = compared.best_of_each && causes.named.is_empty();
        let by_placement = causes.by_placement && !by_cpus;
        let differ = [(by_cpus, "the CPU counts differ"), (by_set, "the instruction sets differ")];
        let known = differ.into_iter().filter(|(is_it, _)| *is_it).map(|(_, text)| text.to_owned());
        let mut known: Vec<String> = known.collect();
        let is_disturbed = known.is_empty() && outcome == Comparability::Slower;
        let disturbances = std::mem::take(&mut causes.disturbances);
        let disturbances = if is_disturbed { disturbances } else { Vec::new() };
        match known.is_empty() {
            true => known.push(self.explained(a, causes)),
            false => known.extend(Some(causes.named).filter(|named| !named.is_empty())),
        }
        let mut why = known.join("; ");
        if estimate.ratio.ci95.is_none() {
            why = format!(
                "no trial of one run lies within the other's range, but there is no \
                              interval; {why}"
            );
        }
        Decided { outcome, why, by_placement, disturbances }
    }

    /// The cause, or a sentence that there is none, with what may explain it: facts that differ, and
    /// causes that are too small.
    fn explained(&self, m: &Measurement, causes: Causes) -> String {
        if !causes.named.is_empty() {
            return causes.named;
        }
        let facts: Vec<String> = self
            .facts
            .iter()
            .filter(|f| f.touches(m))
            .take(3)
            .map(|Fact { difference: d, .. }| {
                let (a, b) = (self.a.letter, self.b.letter);
                format!("{} {} in {a}, {} in {b}", d.what, d.a, d.b)
            })
            .collect();
        let small = causes.too_small.join("; ");
        let mut text = match (small.is_empty(), facts.is_empty()) {
            (true, true) => {
                return "no finding and no fact about the machines explains it".to_owned();
            }
            (true, false) => "no finding explains it".to_owned(),
            (false, _) => {
                format!("no finding explains a difference of that size; smaller: {small}")
            }
        };
        if !facts.is_empty() {
            text += &format!("; differences between the machines: {}", facts.join("; "));
        }
        text
    }
}

/// Returns true if the ratio of the figures contradicts the interval of their pairs. Two estimates
/// that differ are no doubt where both lead to one conclusion.
pub(super) fn is_undecided(value: f64, ends: [f64; 2], margin: f64) -> bool {
    contradicts(value, ends) && beyond(ends, margin) != beyond([value; 2], margin)
}

/// The side on which the whole of a range of ratios is beyond the margin; `None` if a part is not.
pub(super) fn beyond([low, high]: [f64; 2], margin: f64) -> Option<Ordering> {
    let [least, most] = margin_bounds(margin);
    match () {
        () if low > most => Some(Ordering::Greater),
        () if high < least => Some(Ordering::Less),
        () => None,
    }
}
