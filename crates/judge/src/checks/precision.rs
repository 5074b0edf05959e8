//! How sure the median is: `short_trial`, a trial was too short for the clock, or shorter than the
//! policy asks; `wide_interval`, the time ran out before the interval was narrow enough;
//! `clusters`, the trials fall into groups that are clearly apart.

use proofmark_model::{Ending, Finding, Measurement, Severity, Summary, format_seconds};

use super::{Check, Class, Examine, percent};
use crate::execution::long_whole;
use crate::statistics::{median, typical};
use crate::words::counted;
use crate::{Context, series};

/// Steps of the clock that a trial must last: 0.1 % of error at most.
const STEPS: f64 = 1000.0;
/// A trial may be this much shorter than the policy asks: calibration is not exact.
const ALLOWANCE: f64 = 0.9;

pub(super) static SHORT_TRIAL: Check = Check {
    id: "short_trial",
    class: Class::Precision,
    title: "Trial too short for the clock",
    about: "The median duration of the trials. Below 1000 times the timer's resolution it is invalid: \
         one clock step could change the result by more than 0.1 %. Below the policy's trial \
         duration by more than a tenth it is a note: short trials include less of the machine's \
         usual disturbances and of its steady clock. Where a trial is one complete solve, only the \
         clock's steps count. Set more iterations, or a larger problem.",
    examine: Examine::Ours(short_trial),
};

fn short_trial(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let typical = typical(&m.trials, |t| Some(t.seconds))?;
    let resolution =
        ctx.host.timer.resolution_s.get().copied().filter(|r| r.is_finite()).unwrap_or(0.0);
    let whole = ctx.work(m).whole_problem;
    let advice = if whole {
        "choose a larger problem (n)"
    } else {
        "set more iterations, or a longer trial"
    };
    let asked = ctx.policy.trial_s_for(&m.workload);
    let [lasts, step, least] = [typical, resolution, asked].map(format_seconds);
    let finding = if typical < STEPS * resolution {
        let what = format!("less than {STEPS} steps of the clock ({step} each)");
        SHORT_TRIAL.invalid(format!("a trial lasts {lasts}, {what}"), advice)
    } else if !whole && typical < ALLOWANCE * asked {
        SHORT_TRIAL
            .note(format!("a trial lasts {lasts}, less than the {least} of the policy"), advice)
    } else {
        return None;
    };
    Some(finding.with("median_s", typical).with("resolution_s", resolution))
}

/// A half range of more than this x the target is suspect, even if nobody asked for more trials.
const FAR_FACTOR: f64 = 5.0;

/// Half of the range of all trials, as a share of their median.
fn half_range(s: &Summary) -> f64 {
    (s.trials.max - s.trials.min) / 2.0 / s.value().abs()
}

/// What was cut short before there could be an interval.
fn too_few(ctx: &Context, m: &Measurement, summary: &Summary) -> Finding {
    let half = half_range(summary);
    let close = long_whole(ctx, m) && half <= ctx.policy.target_for(m.subsystem);
    let severity = if close { Severity::Note } else { Severity::Suspect };
    let mut message = format!(
        "time limit reached after {}; a 95 % interval needs 6",
        counted(m.trials.len(), "trial")
    );
    if close {
        message += &format!("; all are within {} of their middle", percent(half));
    }
    WIDE_INTERVAL.finding(severity, message, MORE_TIME).with("trials", m.trials.len())
}

/// So few trials that there is no interval, as was asked for, and yet far apart.
fn far_apart(m: &Measurement, summary: &Summary, target: f64) -> Option<Finding> {
    let half = half_range(summary);
    (half > FAR_FACTOR * target).then(|| {
        let [range, target] = [2.0 * half, target].map(percent);
        let message = format!(
            "{} are too few for a 95 % interval and differ by up to {range} of their median; the \
             target is ±{target}",
            counted(m.trials.len(), "trial")
        );
        WIDE_INTERVAL
            .suspect(message, MORE_TRIALS)
            .with("trials", m.trials.len())
            .with("half_range", half)
    })
}

const MORE_TIME: &str =
    "set the number of trials with --trials, or raise --budget or the profile's time_of_point";
const MORE_TRIALS: &str = "raise the number of trials, or stop other load";
const MORE_SAMPLES: &str = "sample for longer, or stop other load";
const MORE_OF_BOTH: &str =
    "raise --budget, or the profile's time_of_point or max_trials; or stop other load";

pub(super) static WIDE_INTERVAL: Check = Check {
    id: "wide_interval",
    class: Class::Precision,
    title: "Target precision missed",
    about: "Half the 95 % interval of the median, as a share of the median, against the target \
         precision (by default 2 %, for disk and network 5 %). Wider because the budget, the time \
         of a configuration or the maximum number of trials ended it: suspect, the median is less \
         precise than requested. Wider with a fixed number of trials: a note; suspect beyond five \
         times the target. Fewer than 6 trials cannot give an interval by order statistics. That \
         is suspect if a time limit cut them short. It is a note if each trial is one complete \
         solve of at least a second and all are within the target. If so few were requested, it is \
         suspect when they differ by more than five times the target to either side. Set the \
         number of trials with --trials, raise --budget or the profile's time_of_point, or stop \
         other load.",
    examine: Examine::Ours(wide_interval),
};

fn wide_interval(ctx: &Context, m: &Measurement) -> Option<Finding> {
    // A median over several levels has no interval worth reporting.
    if series::has_changes(m) {
        return None;
    }
    let cut_short = match m.ending {
        Ending::Budget => true,
        Ending::Complete => false,
        _ => return None,
    };
    let summary = m.summary.as_ref()?;
    let target = ctx.policy.target_for(m.subsystem);
    if summary.ci95().is_none() {
        return if cut_short {
            Some(too_few(ctx, m, summary))
        } else {
            far_apart(m, summary, target)
        };
    }
    let half = summary.half_width().filter(|half| *half > target)?;
    let (severity, why, advice) = if cut_short {
        (
            Severity::Suspect,
            "when the budget, the time or the maximum number of trials was \
             reached",
            MORE_OF_BOTH,
        )
    } else {
        let severity = if half > FAR_FACTOR * target { Severity::Suspect } else { Severity::Note };
        match m.series {
            Some(_) => (severity, "after all samples", MORE_SAMPLES),
            None => (severity, "after the fixed number of trials", MORE_TRIALS),
        }
    };
    let message = format!(
        "the 95 % interval is ±{} {why} (target ±{}); another run may give another median",
        percent(half),
        percent(target)
    );
    let finding = WIDE_INTERVAL.finding(severity, message, advice);
    Some(finding.with("half_width", half).with("target", target).with("trials", m.trials.len()))
}

/// With fewer trials groups are chance.
const LEAST_GROUPED: usize = 8;
/// Trials of a group: one or two are outliers, which the median does not follow, not a state.
const LEAST_MEMBERS: usize = 3;
/// Groups nearer to each other than this, or than the policy's target, do not matter.
const LEAST_GAP: f64 = 0.01;
/// Groups are apart if the gap between them is this many times the widest group.
/// Eight or more values of one normal distribution do that in less than 1 of 50
/// samples (see the test), and then only if they also spread over percents.
const GAP_TO_WIDTH: f64 = 2.0;
/// Cuts tried: two or three groups.
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

pub(super) static CLUSTERS: Check = Check {
    id: "clusters",
    class: Class::Precision,
    title: "Trials in separate groups",
    about: "From 8 trials on: whether the values fall into two or three groups of at least three \
         trials. The gaps must be at least the target precision (2 % by default) and at least \
         twice the width of the widest group. Suspect: the machine was in several states, such as \
         two clock steps or a neighbour that came and went, and the median describes none of them. \
         Compare the trials' clocks and times.",
    examine: Examine::Ours(clusters),
};

fn clusters(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let mut sorted: Vec<f64> = m.trials.iter().map(|t| t.value).filter(|v| v.is_finite()).collect();
    // Levels one after the other are reported as such.
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
    let message = format!("the trials form separate groups: {} of the median", shown.join(", "));
    let advice = "compare the trials' clocks and starting times to find what changed between the \
                  groups";
    Some(CLUSTERS.suspect(message, advice).with("sizes", sizes).with("centres", centres))
}

#[cfg(test)]
mod tests {
    use proofmark_model::Probe;

    use super::*;
    use crate::testing::*;

    #[test]
    fn trials_that_are_too_short() {
        let lasting = |s: f64| each(flops(1), |_, t| (t.seconds, t.work) = (s, t.value * s));
        SHORT_TRIAL.expect([
            ("within 1000 steps of the clock", lasting(1e-5), INVALID),
            ("shorter than the policy", lasting(0.05), NOTE),
            ("nearly as long", lasting(0.095), SILENT),
            ("longer", lasting(3.0), SILENT),
            // 4.5 us are less than 1000 steps.
            ("less than the clock can tell", linpack(70, 1), invalid("larger problem")),
        ]);
        let mut coarse = host();
        coarse.timer.resolution_s = Probe::known(1e-3, "test");
        SHORT_TRIAL.on(&coarse, &[]).expect([("a coarse clock", lasting(0.1), INVALID)]);
    }

    fn with_interval(width: f64, ending: Ending) -> Measurement {
        let mut m = Measurement { ending, ..flops(1) };
        let s = m.summary.as_mut().unwrap();
        proofmark_model::testing::restate(
            s,
            s.value(),
            Some([s.value() * (1.0 - width), s.value() * (1.0 + width)]),
        );
        m
    }

    #[test]
    fn a_wide_interval_is_suspect_if_it_was_cut_short_or_is_very_wide() {
        let cut = suspect("is ±5.0 % when the budget ... time_of_point");
        WIDE_INTERVAL.expect([
            ("a fixed number", with_interval(0.05, Ending::Complete), NOTE),
            ("far too wide", with_interval(0.15, Ending::Complete), SUSPECT),
            ("cut short", with_interval(0.05, Ending::Budget), cut),
            ("narrow", with_interval(0.019, Ending::Budget), SILENT),
        ]);
        let advice = WIDE_INTERVAL.found(with_interval(0.05, Ending::Complete)).unwrap().advice;
        assert!(!advice.contains("budget"), "nothing cut it short: {advice}");
    }

    /// The first trials of a measurement that the budget cut short.
    fn cut_to(n: usize, mut m: Measurement) -> Measurement {
        m.trials.truncate(n);
        let values: Vec<f64> = m.trials.iter().map(|t| t.value).collect();
        Measurement { summary: summary(&values), ending: Ending::Budget, ..m }
    }

    #[test]
    fn too_few_trials_are_reported() {
        // No ending says whose time it was, the run's or the configuration's.
        let limit = "^time limit reached after 4 trials; a 95 % interval needs 6$ ... --budget ... \
                     time_of_point";
        let asked = Measurement { ending: Ending::Complete, ..cut_to(4, flops(1)) };
        // 5.8 s each, 0.1 % apart.
        let near = note("after 4 trials ... all are within 0.1 %");
        let apart = each(linpack(10_000, 2), |i, t| {
            let share = if i == 1 { 0.9 } else { 1.0 };
            (t.value, t.seconds) = (t.value * share, t.seconds / share);
        });
        let sliced = each(flops(1), |_, t| (t.seconds, t.work) = (10.0, t.value * 10.0));
        let three = |shares: [f64; 3]| with_values(flops(1), &shares.map(|share| share * 63e9));
        let few = "^3 trials are too few for a 95 % interval and differ by up to 133";
        WIDE_INTERVAL.expect([
            ("cut short", cut_to(4, flops(1)), suspect(limit)),
            ("as requested", asked, SILENT),
            ("long solves that agree", cut_to(4, linpack(10_000, 2)), near),
            ("long solves far apart", cut_to(4, apart), SUSPECT),
            ("short solves", cut_to(4, dgemm(1000, 2)), SUSPECT),
            ("long slices", cut_to(4, sliced), SUSPECT),
            ("three, requested", three([0.9, 0.95, 1.0]), SILENT),
            ("three, requested, far apart", three([0.3, 0.45, 0.9]), suspect(few)),
        ]);
    }

    fn in_states(factors: &[f64]) -> Measurement {
        let values: Vec<f64> =
            around(60e9).iter().enumerate().map(|(i, v)| v * factors[i % factors.len()]).collect();
        with_values(flops(1), &values)
    }

    #[test]
    fn groups_are_suspect_and_outliers_are_none() {
        let halved = |trials: &[usize]| {
            let mut values = around(60e9);
            trials.iter().for_each(|i| values[*i] *= 0.5);
            with_values(flops(1), &values)
        };
        let mut few = in_states(&[1.0, 0.9]);
        few.trials.truncate(7);
        CLUSTERS.expect([
            ("two", in_states(&[1.0, 0.95]), SUSPECT),
            ("three", in_states(&[1.0, 0.95, 0.9]), SUSPECT),
            ("near states", in_states(&[1.0, 0.995]), SILENT),
            ("within the target", in_states(&[1.0, 0.985]), SILENT),
            ("an outlier", halved(&[3]), SILENT),
            ("two are no state", halved(&[3, 7]), SILENT),
            ("three are", halved(&[3, 7, 5]), SUSPECT),
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
