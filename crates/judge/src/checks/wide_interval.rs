//! `wide_interval`: the time ran out before the interval was narrow enough.

use proofmark_model::{Ending, Finding, Measurement, Severity, Summary};

use super::{Check, Class, percent};
use crate::Context;
use crate::execution::long_whole;
use crate::series;
use crate::words::counted;

/// Times the target from which on a number is unsure even if nobody asked for more trials.
const SERVER: f64 = 5.0;

/// Half of the range of all trials, as a share of their median.
fn half_range(s: &Summary) -> f64 {
    (s.max - s.min) / 2.0 / s.median.abs()
}

/// What was cut short before there could be an interval.
fn too_few(ctx: &Context, m: &Measurement, summary: &Summary) -> Finding {
    let half = half_range(summary);
    let client = long_whole(ctx, m) && half <= ctx.policy.target_for(m.subsystem);
    let severity = if client { Severity::Note } else { Severity::Suspect };
    let mut message = format!(
        "time limit reached after {}; a 95 % interval needs 6",
        counted(m.trials.len(), "trial")
    );
    if client {
        message += &format!("; all are within {} of their middle", percent(half));
    }
    Finding::new(CHECK.id, severity, message, MORE_TIME).with("trials", m.trials.len())
}

/// So few trials that there is no interval, as was asked for, and yet far apart.
fn far_apart(m: &Measurement, summary: &Summary, target: f64) -> Option<Finding> {
    let half = half_range(summary);
    let server = half > SERVER * target;
    server.then(|| {
        let message = format!(
            "{} are too few for a 95 % interval and differ by up to {} of their median; the \
             target is ±{}",
            counted(m.trials.len(), "trial"),
            percent(2.0 * half),
            percent(target)
        );
        Finding::new(CHECK.id, Severity::Suspect, message, MORE_TRIALS)
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
    // A median over several levels has no interval worth telling.
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
        let severity = if half > SERVER * target { Severity::Suspect } else { Severity::Note };
        match m.series {
            Some(_) => (severity, "after all samples", MORE_SAMPLES),
            None => (severity, "after the fixed number of trials", MORE_TRIALS),
        }
    };
    Some(
        Finding::new(
            CHECK.id,
            severity,
            format!(
                "the 95 % interval is ±{} {why} (target ±{}); another run may give another median",
                percent(half),
                percent(target)
            ),
            advice,
        )
        .with("half_width", half)
        .with("target", target)
        .with("trials", m.trials.len()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{dgemm, flops, found, found_on, host, linpack, severity, summary};

    fn with_interval(width: f64, ending: Ending) -> Measurement {
        let mut m = flops(1);
        let s = m.summary.as_mut().unwrap();
        s.ci95 = Some([s.median * (1.0 - width), s.median * (1.0 + width)]);
        m.ending = ending;
        m
    }

    #[test]
    fn server_too_wide_is_suspect_even_after_a_fixed_number() {
        let client = with_interval(0.05, Ending::Complete);
        assert_eq!(severity(&CHECK, client), Some(Severity::Note));
        let server = with_interval(0.15, Ending::Complete);
        assert_eq!(severity(&CHECK, server), Some(Severity::Suspect));
    }

    #[test]
    fn wide_at_the_end_of_the_budget_is_suspect() {
        let m = with_interval(0.05, Ending::Budget);
        assert_eq!(severity(&CHECK, m.clone()), Some(Severity::Suspect));
        let cut = found_on(&host(), &CHECK, m, &[]).unwrap();
        assert!(cut.message.contains("is ±5.0 % when the budget"), "{}", cut.message);
        assert!(cut.advice.contains("time_of_point"), "{}", cut.advice);
        let m = with_interval(0.05, Ending::Complete);
        let fixed = found_on(&host(), &CHECK, m, &[]).unwrap();
        assert_eq!(fixed.severity, Severity::Note);
        assert!(!fixed.advice.contains("budget"), "nothing cut it short: {}", fixed.advice);
    }

    #[test]
    fn too_few_trials_are_said() {
        let mut m = flops(1);
        m.ending = Ending::Budget;
        m.trials.truncate(4);
        m.summary.as_mut().unwrap().ci95 = None;
        let finding = found_on(&host(), &CHECK, m.clone(), &[]).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        // Whose time it was, the run's or the point's, no ending tells.
        assert_eq!(finding.message, "time limit reached after 4 trials; a 95 % interval needs 6");
        for word in ["time_of_point", "--budget"] {
            assert!(finding.advice.contains(word), "{}", finding.advice);
        }
        m.ending = Ending::Complete;
        assert_eq!(severity(&CHECK, m), None);
    }

    /// The first trials of a measurement that the budget cut short.
    fn cut_to(n: usize, mut m: Measurement) -> Measurement {
        m.trials.truncate(n);
        let values: Vec<f64> = m.trials.iter().map(|t| t.value).collect();
        m.summary = summary(&values);
        m.ending = Ending::Budget;
        m
    }

    #[test]
    fn a_few_long_solves_that_agree_are_a_note() {
        // 5.8 s each, 0.1 % apart.
        let (weight, message) = found(&CHECK, cut_to(4, linpack(10_000, 2))).unwrap();
        assert_eq!(weight, Severity::Note);
        assert!(message.contains("after 4 trials") && message.contains("all are within 0.1 %"));
        let mut apart = linpack(10_000, 2);
        let slow = &mut apart.trials[1];
        (slow.value, slow.seconds) = (slow.value * 0.9, slow.seconds / 0.9);
        assert_eq!(severity(&CHECK, cut_to(4, apart)), Some(Severity::Suspect));
        let short = cut_to(4, dgemm(1000, 2));
        assert_eq!(severity(&CHECK, short), Some(Severity::Suspect));
        let mut sliced = cut_to(4, flops(1));
        for t in &mut sliced.trials {
            (t.seconds, t.work) = (10.0, t.value * 10.0);
        }
        assert_eq!(severity(&CHECK, sliced), Some(Severity::Suspect));
    }

    #[test]
    fn few_trials_that_were_asked_for_are_suspect_where_they_lie_far_apart() {
        let of = |shares: [f64; 3]| {
            let mut m = flops(1);
            m.trials.truncate(3);
            for (t, share) in m.trials.iter_mut().zip(shares) {
                (t.value, t.work) = (t.value * share, t.work * share);
            }
            let values: Vec<f64> = m.trials.iter().map(|t| t.value).collect();
            m.summary = summary(&values);
            m.ending = Ending::Complete;
            found_on(&host(), &CHECK, m, &[])
        };
        assert!(of([0.9, 0.95, 1.0]).is_none());
        let finding = of([0.3, 0.45, 0.9]).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(
            finding
                .message
                .starts_with("3 trials are too few for a 95 % interval and differ by up to 133")
        );
    }

    #[test]
    fn narrow_is_silent() {
        assert_eq!(severity(&CHECK, with_interval(0.019, Ending::Budget)), None);
    }
}
