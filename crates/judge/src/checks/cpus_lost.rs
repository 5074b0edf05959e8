//! `cpus_lost`: a CPU of the run went away while it was measured.

use std::collections::BTreeSet;

use proofmark_model::{Finding, Measurement, Severity, Trial, agree, check_id};

use super::{Check, Class, Examine};
use crate::words::counted;
use crate::{Context, from_windows};

/// Largest share of the trials whose figures leave the median of all as it is. Of a delivered
/// figure, to which each trial adds, the largest share of the time.
const FEW: f64 = 0.1;

pub(super) static CPUS_LOST: Check = Check {
    id: check_id::CPUS_LOST,
    class: Class::claim("the other trials had all CPUs, and the figure is mostly theirs"),
    title: "CPUs lost during the run",
    about: "Reads before and after each trial on which CPU each thread is, and which CPUs the \
         process may use. A CPU that went offline, or was taken from the cpuset or the affinity \
         mask, leaves its thread on a CPU that another one has: the result is not that of as many \
         CPUs as it names. Invalid if that happened in more than a tenth of the trials (of a \
         delivered figure, of their time), else suspect; suspect for a disk or a network, whose threads are not pinned. Keep the run's \
         CPUs online and in its cpuset, then run again.",
    examine: Examine::Ours(cpus_lost),
};

/// True if a pinned thread had no CPU of its own for a while.
pub(super) fn shared_by_us(t: &Trial) -> bool {
    t.ran_on.as_ref().is_some_and(|ran_on| !ran_on.strayed.is_empty() && ran_on.most_on_one > 1)
}

fn cpus_lost(_: &Context, m: &Measurement) -> Option<Finding> {
    let has_lost = |t: &&Trial| {
        shared_by_us(t) || t.ran_on.as_ref().is_some_and(|ran_on| !ran_on.gone.is_empty())
    };
    let affected: Vec<&Trial> = m.trials.iter().filter(has_lost).collect();
    if affected.is_empty() {
        return None;
    }
    let all = || affected.iter().filter_map(|t| t.ran_on.as_ref());
    let strayed = all().flat_map(|r| r.strayed.iter().map(|s| s.pinned_to));
    let lost: BTreeSet<u32> = all().flat_map(|r| r.gone.iter().copied()).chain(strayed).collect();
    let lost: Vec<String> = lost.iter().map(u32::to_string).collect();
    let cpus = agree(lost.len() as u64, ["CPU", "CPUs"]);
    let most = all().map(|r| r.most_on_one).max().unwrap_or(0);
    let together = if most > 1 {
        format!("; up to {} shared one CPU", counted(most, "thread"))
    } else {
        String::new()
    };
    let gone = all().any(|r| !r.gone.is_empty());
    let was = agree(lost.len() as u64, ["was", "were"]);
    let what = match gone {
        true => {
            let lost = lost.join(", ");
            format!(
                "{cpus} {lost} went offline or {was} taken from the run's cpuset or affinity mask"
            )
        }
        false => format!("threads were moved off {cpus} {}", lost.join(", ")),
    };
    let message =
        format!("{what} in {} of {}{together}", affected.len(), counted(m.trials.len(), "trial"),);
    let share = match from_windows(m) {
        true => affected.len() as f64 / m.trials.len() as f64,
        false => seconds(affected.iter().copied()) / seconds(&m.trials),
    };
    let pinned = m.trials.iter().any(|t| t.conditions.migrations.is_some());
    // Sums of seconds are rounded.
    let severity =
        if pinned && share > FEW * (1.0 + 1e-9) { Severity::Invalid } else { Severity::Suspect };
    let advice = "keep the run's CPUs online and in its cpuset (CPU hotplug, container manager), then \
                  run again";
    let finding = CPUS_LOST.finding(severity, message, advice);
    Some(finding.with("trials_affected", affected.len()).with("trials", m.trials.len()))
}

fn seconds<'a>(trials: impl IntoIterator<Item = &'a Trial>) -> f64 {
    trials.into_iter().map(|t| t.seconds).sum()
}

#[cfg(test)]
mod tests {
    use proofmark_model::RanOn;

    use super::*;
    use crate::testing::*;

    /// Two threads, of which the second had no CPU of its own in the first `trials` trials and ran
    /// with the first one; `still`: its CPU was gone at an end, too.
    fn without_a_cpu(m: Measurement, trials: usize, still: bool) -> Measurement {
        each(m, |i, t| {
            let usable: &[u32] = if i < trials && still { &[2] } else { &[2, 5] };
            let second = if i < trials { [2, 2] } else { [5, 5] };
            t.ran_on = Some(RanOn::from_pinned(&[(2, [2, 2]), (5, second)], [usable, usable]));
        })
    }

    #[test]
    fn threads_that_shared_a_cpu_do_not_make_the_figure_of_two() {
        let gone = "CPU 5 went offline or was taken from the run's cpuset or affinity mask in 4 of 10 trials; up to 2 \
                    threads shared one CPU$";
        let moved = "^threads were moved off CPU 5 in 4 of 10 trials; up to 2 threads shared";
        CPUS_LOST.expect([
            ("none", without_a_cpu(flops(2), 0, true), SILENT),
            ("four of ten", without_a_cpu(flops(2), 4, true), invalid(gone)),
            ("back at both ends", without_a_cpu(flops(2), 4, false), invalid(moved)),
            ("one of ten", without_a_cpu(flops(2), 1, true), SUSPECT),
            ("not reported", flops(2), SILENT),
        ]);
        // A solve on one of two CPUs takes twice the time: 2 of 11 parts of all.
        let slow = each(without_a_cpu(linpack(5000, 2), 1, true), |i, t| {
            let slower = if i == 0 { 2.0 } else { 1.0 };
            (t.seconds, t.value) = (t.seconds * slower, t.value / slower);
        });
        CPUS_LOST.expect([("a solve of ten, twice as long", slow, INVALID)]);
        let away =
            |m| each(m, |_, t| t.ran_on = Some(RanOn::from_process(&[0, 1], [&[0, 1], &[1]])));
        CPUS_LOST.expect([(
            "a disk",
            each_condition(away(rand_read(1)), |_, c| c.migrations = None),
            SUSPECT,
        )]);
    }

    #[test]
    fn our_own_other_thread_is_no_competing_process() {
        let busy = |m| each_condition(m, |_, c| c.other_cpu_s = Some(0.09));
        let found = judged(&host(), busy(without_a_cpu(flops(2), 10, true)), &[]).findings;
        let ids: Vec<&str> = found.iter().map(|f| f.check.as_ref()).collect();
        assert!(ids.contains(&"cpus_lost") && !ids.contains(&"other_cpu"), "{ids:?}");
        assert!(!ids.contains(&"migration"), "one finding reports it: {ids:?}");
    }
}
