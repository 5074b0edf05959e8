//! `wide_interval`: a known cause made the interval wide.
//!
//! A wide interval by itself makes a result imprecise, not doubtful. But if the trials that others
//! disturbed widen it, the figure is that of a shared machine.

use proofmark_model::{Finding, Measurement, Trial, Width, check_id};

use super::cost::cost_of_cpu_time;
use super::loss::{Loss, is_disturbed};
use super::share::Share;
use super::shared_device::{cost_of_share, others_in_device};
use super::{Check, Class, Examine, percent};
use crate::capacity::Capacity;
use crate::execution::others;
use crate::words::counted;
use crate::{Context, from_windows, width};

/// Smallest part of a loss that a cause must be able to explain, to be named.
const EXPLAINS: f64 = 0.5;

/// A cause, in words, the share of a trial that it took, and what such a share costs.
struct Cause<'a> {
    words: &'static str,
    share: &'a dyn Fn(&Trial) -> Option<f64>,
    cost: &'a dyn Fn(f64) -> f64,
}

pub(super) static CHECK: Check = Check {
    id: check_id::WIDE_INTERVAL,
    class: Class::DISTURBANCE,
    title: "A known cause made the interval wide",
    about: "Applies to results of single operations and complete solves with a coarse interval. \
         For each cause the check leaves out the trials of which it took more than 5 %. Causes: \
         others on the CPUs or the device, a CPU quota, the hypervisor, stops. The result is \
         suspect if at least 6 trials remain, their interval is not coarse, and the trials with \
         the cause cost the figure more than the tolerance. The cause must be able to explain half of that: \
         by its share of the trials' time, times the cost that other_cpu names, or by the rule \
         of shared_device. Repeat when the cause is gone.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if from_windows(m) || width::classify(ctx, m) != Width::Coarse || m.series.is_some() {
        return None;
    }
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    let cpu = |seconds: Option<f64>, t: &Trial| Some(seconds? / capacity.cpu_seconds(t));
    let by_cpu_time = |share: f64| cost_of_cpu_time(m) * share;
    let causes = [
        Cause {
            words: "other processes used the CPUs",
            share: &|t| cpu(others(&capacity, m, t), t),
            cost: &by_cpu_time,
        },
        Cause {
            words: "other programs used the device",
            share: &|t| others_in_device(ctx, m, t),
            cost: &cost_of_share,
        },
        Cause {
            words: "a CPU quota throttled the process",
            share: &|t| cpu(t.conditions.throttled_s, t),
            cost: &by_cpu_time,
        },
        Cause {
            words: "the hypervisor took CPU time",
            share: &|t| cpu(t.conditions.steal_s, t),
            cost: &by_cpu_time,
        },
        Cause {
            words: "the process could not run",
            share: &|t| Some(t.conditions.stopped_s? / t.seconds),
            cost: &|share| share,
        },
    ];
    causes.iter().find_map(|cause| without(m, cause))
}

/// Reports the loss that the trials without that cause show, if their interval is not coarse and
/// the cause can explain it. A loss within the tolerance leaves a coarse figure valid.
fn without(m: &Measurement, cause: &Cause) -> Option<Finding> {
    let loss = Loss::from_trials(m, cause.share)?;
    let taken = Share::sum(&m.trials, |t| Some((cause.share)(t)? * t.seconds), |t| t.seconds)?;
    if (cause.cost)(taken.all) < EXPLAINS * loss.value {
        return None;
    }
    if loss.value <= m.subsystem.info().tolerance || loss.width > m.subsystem.info().coarse_from() {
        return None;
    }
    let (all, disturbed) =
        (m.trials.len(), m.trials.iter().filter(|t| is_disturbed((cause.share)(t))).count());
    let message = format!(
        "in {disturbed} of {} {}: they cost the figure {}, compared with the others, whose interval is narrow",
        counted(all, "trial"),
        cause.words,
        percent(loss.value.max(0.0)),
    );
    let advice = "repeat when the cause is gone, or reserve the CPUs and the device for the run";
    let finding = CHECK.suspect(message, advice).with("trials_affected", disturbed);
    Some(finding.with("trials", all).with("loss", loss.value))
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Cut, summarise_trials};

    use super::*;
    use crate::testing::*;

    /// Commits of which `of_five` in five trials were slow, while processes took that share of the
    /// CPUs.
    fn commits(of_five: usize, slow: f64, taken: f64) -> Measurement {
        let mut m = each(fsync(1), |i, t| {
            if i % 5 < of_five {
                t.work *= slow;
                t.value = t.work / t.seconds;
                let file = t.file.as_mut().unwrap();
                file.asked_written_bytes = (t.work * 4096.0) as u64;
                t.conditions.other_cpu_s = Some(taken * 2.0 * t.seconds);
            }
        });
        m.summary = summarise_trials(Cut::Single, m.unit, &m.trials, false);
        m
    }

    #[test]
    fn an_interval_that_is_narrow_without_the_cause_is_suspect() {
        let some =
            suspect("^in 4 of 10 trials other processes ... they cost the figure 36.0 %, compared");
        CHECK.expect([
            ("a cause", commits(2, 0.1, 0.3), some),
            ("one that costs less than the tolerance", commits(1, 0.1, 0.3), SILENT),
            ("no cause", commits(2, 0.1, 0.0), SILENT),
            ("one that took too little", commits(2, 0.1, 0.06), SILENT),
            ("a narrow interval", commits(2, 0.98, 0.3), SILENT),
        ]);
        let all = each_condition(commits(2, 0.1, 0.3), |_, c| c.other_cpu_s = Some(0.05));
        CHECK.expect([("in all trials", all, SILENT)]);
    }
}
