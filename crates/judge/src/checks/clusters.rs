//! `clusters`: the values of the trials form separate groups.

use proofmark_model::{Finding, Measurement, check_id};

use super::{Check, Class, Examine, percent, value_word};
use crate::statistics::median;
use crate::{Context, series};

/// Fewest trials; in fewer, groups are chance.
const LEAST_GROUPED: usize = 8;
/// Fewest trials in a group: one or two are outliers, which do not move the median.
const LEAST_MEMBERS: usize = 3;
/// Smallest gap that matters, as a share of the median, unless the policy's target is larger.
const LEAST_GAP: f64 = 0.01;
/// Smallest gap between groups in widths of the widest group. Eight or more values of one normal
/// distribution reach it in less than 1 of 50 samples (see the test). Then they must also spread
/// over percents.
const GAP_TO_WIDTH: f64 = 2.0;
/// Largest number of cuts: two or three groups.
const MOST_CUTS: usize = 2;

/// Groups of the sorted values, if they are clearly apart.
fn groups(sorted: &[f64], apart_by: f64) -> Option<Vec<&[f64]>> {
    let mut gaps: Vec<(f64, usize)> =
        sorted.windows(2).enumerate().map(|(i, pair)| (pair[1] - pair[0], i + 1)).collect();
    gaps.sort_by(|a, b| b.0.total_cmp(&a.0));
    (1..=MOST_CUTS.min(gaps.len())).find_map(|cuts| {
        let least_gap = gaps[cuts - 1].0;
        let mut at: Vec<usize> = gaps[..cuts].iter().map(|g| g.1).collect();
        at.sort_unstable();
        let mut parts = Vec::with_capacity(cuts + 1);
        let mut rest = sorted;
        for cut in at.into_iter().rev() {
            let (left, right) = rest.split_at(cut);
            parts.push(right);
            rest = left;
        }
        parts.push(rest);
        parts.reverse();
        let width = parts.iter().map(|g| g[g.len() - 1] - g[0]).fold(0.0, f64::max);
        let apart = least_gap >= apart_by && least_gap >= GAP_TO_WIDTH * width;
        (apart && parts.iter().all(|g| g.len() >= LEAST_MEMBERS)).then_some(parts)
    })
}

pub(super) static CHECK: Check = Check {
    id: check_id::CLUSTERS,
    class: Class::Context,
    title: "Trials in separate groups",
    about: "Applies from 8 trials on. The values form two or three groups of at least three \
         trials. The gaps must be at least the target and 1 %, and at least twice the width of the \
         widest group. A note: the rate varies between states, such as two clock steps, other \
         placements of threads and memory, or a neighbour that came and went. A cause that is \
         known is reported by its own check.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let mut sorted: Vec<f64> = m.trials.iter().map(|t| t.value).filter(|v| v.is_finite()).collect();
    // Levels that follow each other are reported by `level_change`.
    if sorted.len() < LEAST_GROUPED || series::has_changes(m) {
        return None;
    }
    sorted.sort_by(f64::total_cmp);
    let centre = median(&sorted).filter(|c| *c > 0.0)?;
    let groups = groups(&sorted, LEAST_GAP.max(ctx.policy.target_for(m.subsystem)) * centre)?;
    let shown: Vec<String> = groups
        .iter()
        .filter_map(|g| Some(format!("{} at {}", g.len(), percent(median(g)? / centre))))
        .collect();
    let sizes: Vec<usize> = groups.iter().map(|g| g.len()).collect();
    let centres: Vec<f64> = groups.iter().filter_map(|g| median(g)).collect();
    let message = format!(
        "the {} varies: the trials form separate groups, {} of the median",
        value_word(m),
        shown.join(", ")
    );
    let advice = "compare the trials' clocks and starting times to find what changed between the \
                  groups";
    Some(CHECK.note(message, advice).with("sizes", sizes).with("centres", centres))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    fn in_states(factors: &[f64]) -> Measurement {
        let values: Vec<f64> =
            around(60e9).iter().enumerate().map(|(i, v)| v * factors[i % factors.len()]).collect();
        with_values(flops(1), &values)
    }

    #[test]
    fn groups_are_noted_and_outliers_are_none() {
        let halved = |trials: &[usize]| {
            let mut values = around(60e9);
            trials.iter().for_each(|i| values[*i] *= 0.5);
            with_values(flops(1), &values)
        };
        let states: Vec<f64> =
            in_states(&[1.0, 0.8]).trials.iter().map(|t| t.value / 6e17).collect();
        let times = with_values(latency(1 << 30, 1e-7), &states);
        let mut few = in_states(&[1.0, 0.9]);
        few.trials.truncate(7);
        CHECK.expect([
            ("two", in_states(&[1.0, 0.95]), note("^the rate varies")),
            ("three", in_states(&[1.0, 0.95, 0.9]), NOTE),
            ("of times", times, note("^the time varies")),
            ("near states", in_states(&[1.0, 0.995]), SILENT),
            ("within 1 %", in_states(&[1.0, 0.993]), SILENT),
            ("an outlier", halved(&[3]), SILENT),
            ("two are no state", halved(&[3, 7]), SILENT),
            ("three are", halved(&[3, 7, 5]), NOTE),
            ("too few", few, SILENT),
        ]);
    }

    #[test]
    fn one_noisy_state_is_seldom_taken_for_two() {
        let mut random = xorshift();
        for n in [8, 12, 30] {
            let mut one_state = || {
                let mut v: Vec<f64> = (0..n).map(|_| 100.0 + 5.0 * normal(&mut random)).collect();
                v.sort_by(f64::total_cmp);
                groups(&v, 1.0).is_some()
            };
            let wrong = (0..2000).filter(|_| one_state()).count();
            assert!(wrong < 40, "{wrong} of 2000 samples of {n}");
        }
    }
}
