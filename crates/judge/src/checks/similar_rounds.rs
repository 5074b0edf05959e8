//! `similar_rounds`: each round resembles the one before it, so the interval holds only for the
//! time of the run.

use proofmark_model::{Finding, Measurement};

use super::{Check, Class, Examine};
use crate::Context;
use crate::statistics::neighbour_score;

/// Fewest rounds; in fewer, chance resembles a pattern.
const LEAST: usize = 12;

/// Standard normal quantile of 1 in 100.
const RARE: f64 = -2.326;

pub(super) static CHECK: Check = Check {
    id: "similar_rounds",
    class: Class::Context,
    title: "Successive rounds resemble each other",
    about: "Applies from 12 rounds on. The check uses the rank version of von Neumann's ratio \
         (Bartels, 1982) of the rounds' headline figures, in order of time. A score that \
         independent rounds have in 1 of 100 cases is a note: the machine's state lasts longer \
         than the rounds are apart, such as a neighbour that comes and goes every few seconds. The \
         95 % interval assumes that rounds are interchangeable; it then describes the time of this \
         run only, and another run may be outside of it. States of 5 s, seen every 3 s, lower its \
         coverage to 85 %. Run several times, hours apart.",
    examine: Examine::Ours(check),
};

fn check(_: &Context, m: &Measurement) -> Option<Finding> {
    let headline = m.summary.as_ref()?.headline;
    let figures: Vec<f64> = m.all_rounds().filter_map(|r| r.figure(headline)).collect();
    let score = neighbour_score(&figures).filter(|_| figures.len() >= LEAST)?;
    (score < RARE).then(|| {
        let message = "successive rounds resemble each other: the 95 % interval describes the time of \
                       this run only";
        let advice = "run it again, hours apart, and compare the results";
        CHECK.note(message, advice).with("score", score).with("rounds", figures.len())
    })
}

#[cfg(test)]
mod tests {
    use proofmark_model::{FigureKind, Round};

    use super::*;
    use crate::testing::*;

    fn in_rounds(values: &[f64]) -> Measurement {
        let mut m = headed(with_values(flops(1), values), FigureKind::Attainable, 0.1);
        for (trial, value) in m.trials.iter_mut().zip(values) {
            trial.rounds = vec![Round { attainable: Some(*value), ..Round::default() }];
        }
        m
    }

    #[test]
    fn rounds_that_follow_each_other_are_noted_and_independent_ones_are_not() {
        let slow: Vec<f64> = (0..20).map(|i| if i / 5 % 2 == 0 { 60e9 } else { 40e9 }).collect();
        let by_turns: Vec<f64> = (0..20).map(|i| if i % 2 == 0 { 60e9 } else { 40e9 }).collect();
        CHECK.expect([
            ("states of five rounds", in_rounds(&slow), NOTE),
            ("too few rounds", in_rounds(&slow[..10]), SILENT),
            ("states that alternate", in_rounds(&by_turns), SILENT),
            ("all the same", in_rounds(&[60e9; 20]), SILENT),
        ]);
        let mut random = xorshift();
        let mut seen = |n: usize| {
            let values: Vec<f64> = (0..n).map(|_| 60e9 + 1e9 * normal(&mut random)).collect();
            neighbour_score(&values).is_some_and(|score| score < RARE)
        };
        let wrong = (0..2000).filter(|i| seen(12 + i % 9)).count();
        assert!(wrong < 40, "{wrong} of 2000 samples without a resemblance");
    }

    /// Figures of a machine that stays in one of two states for 5 s on average, seen every
    /// `apart_s` seconds.
    fn states(random: &mut impl FnMut() -> f64, apart_s: f64) -> Vec<f64> {
        let stays = (-apart_s / 2.5_f64).exp();
        let mut is_upper = random() < 0.5;
        let mut next = || {
            if random() > stays {
                is_upper = random() < 0.5;
            }
            (if is_upper { 1.0 } else { 0.55 }) * (1.0 + 0.01 * normal(random))
        };
        (0..20).map(|_| next()).collect()
    }

    #[test]
    fn the_faster_rounds_follow_each_other_the_more_often_states_are_seen() {
        let mut random = xorshift();
        let mut seen = |apart_s: f64| {
            let found = |_: &usize| {
                neighbour_score(&states(&mut random, apart_s)).is_some_and(|s| s < RARE)
            };
            (0..1000).filter(found).count()
        };
        let (dense, sparse) = (seen(0.5), seen(3.0));
        println!("seen in {dense} of 1000 runs with rounds 0.5 s apart, {sparse} with 3 s");
        assert!(dense > 250, "{dense} of 1000 runs");
        assert!(sparse < dense, "{sparse} of 1000 runs");
    }
}
