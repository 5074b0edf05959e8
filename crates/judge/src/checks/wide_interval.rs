//! `wide_interval`: the time ran out before the interval was narrow enough.

use proofmark_model::{Ending, Finding, Measurement, Severity, Summary};

use super::{Check, Class, percent};
use crate::Context;
use crate::execution::long_whole;
use crate::series;
use crate::words::counted;

/// A half range of more than this many times the target is suspect, even if nobody asked for more
/// trials.
const FAR_FACTOR: f64 = 5.0;

/// Half of the range of all trials, as a share of their median.
fn half_range(s: &Summary) -> f64 {
    (s.max - s.min) / 2.0 / s.median.abs()
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
    CHECK.finding(severity, message, MORE_TIME).with("trials", m.trials.len())
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
        CHECK.suspect(message, MORE_TRIALS).with("trials", m.trials.len()).with("half_range", half)
    })
}

const MORE_TIME: &str =
    "set the number of trials with --trials, or raise --budget or the profile's time_of_point";
const MORE_TRIALS: &str = "raise the number of trials, or stop other load";
const MORE_SAMPLES: &str = "sample for longer, or stop other load";
const MORE_OF_BOTH: &str =
    "raise --budget, or the profile's time_of_point or max_trials; or stop other load";

pub(super) static CHECK: Check = Check {
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
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
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
    if summary.ci95.is_none() {
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
    let finding = CHECK.finding(severity, message, advice);
    Some(finding.with("half_width", half).with("target", target).with("trials", m.trials.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    fn with_interval(width: f64, ending: Ending) -> Measurement {
        let mut m = Measurement { ending, ..flops(1) };
        let s = m.summary.as_mut().unwrap();
        s.ci95 = Some([s.median * (1.0 - width), s.median * (1.0 + width)]);
        m
    }

    #[test]
    fn a_wide_interval_is_suspect_if_it_was_cut_short_or_is_very_wide() {
        let cut = suspect("is ±5.0 % when the budget ... time_of_point");
        CHECK.expect([
            ("a fixed number", with_interval(0.05, Ending::Complete), NOTE),
            ("far too wide", with_interval(0.15, Ending::Complete), SUSPECT),
            ("cut short", with_interval(0.05, Ending::Budget), cut),
            ("narrow", with_interval(0.019, Ending::Budget), SILENT),
        ]);
        let advice = CHECK.found(with_interval(0.05, Ending::Complete)).unwrap().advice;
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
        CHECK.expect([
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
}
