//! `stalls`: a trial without slices stopped for a while, and its delivered figure includes that
//! time.

use proofmark_model::{
    Cut, Finding, Measurement, Trial, check_id, counted, format_seconds, median,
};

use super::{Check, Class, Examine};
use crate::Context;

/// Smallest duration of a stalled trial as a multiple of the usual one for its work.
const TIMES: f64 = 1.5;
/// Smallest loss in seconds: shorter pauses are the device's own.
const LEAST_S: f64 = 0.02;

pub(super) static CHECK: Check = Check {
    id: check_id::STALLS,
    class: Class::Context,
    title: "Stalled trials",
    about: "Single operations and complete solves cannot be cut into slices, so a stall is part of \
         the trial, and of delivered: all work over all time. A trial that took 1.5 times as long \
         as the median trial for its work, and 20 ms longer, is a note. The finding has the time \
         lost, and the longest single operation where those were timed. Look for what stopped the \
         device, the network or the threads at that time.",
    examine: Examine::Ours(check),
};

fn check(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if !matches!(ctx.work(m).cut(), Cut::Single | Cut::Whole) || m.series.is_some() {
        return None;
    }
    let each: Vec<f64> = m.trials.iter().map(|t| t.seconds / t.work).collect();
    let usual = median(&each)?;
    let lost = |t: &Trial| {
        let usual_s = usual * t.work;
        Some(t.seconds - usual_s).filter(|lost| *lost > LEAST_S && t.seconds > TIMES * usual_s)
    };
    let lost: Vec<f64> = m.trials.iter().filter_map(lost).collect();
    let longest = lost.iter().copied().reduce(f64::max)?;
    let all: f64 = lost.iter().sum();
    let timed: f64 = m.trials.iter().map(|t| t.seconds).sum();
    let mut message = format!(
        "{} of {} lost {} of {}, up to {} each",
        lost.len(),
        counted(m.trials.len(), "trial"),
        format_seconds(all),
        format_seconds(timed),
        format_seconds(longest),
    );
    if let Some(latency) = &m.latency {
        message += &format!("; the longest operation took {}", format_seconds(latency.max));
    }
    message += "; the delivered figure counts that time";
    let advice = "look for what stopped the device, the network or the threads at that time";
    Some(CHECK.note(message, advice).with("trials", lost.len()).with("lost_s", all))
}

#[cfg(test)]
mod tests {
    use proofmark_model::Verdict;

    use super::*;
    use crate::testing::*;

    /// The same work in `more_s` seconds more, for the trials with these numbers.
    fn stalled(m: Measurement, which: &'static [usize], more_s: f64) -> Measurement {
        each(m, |i, t| {
            if which.contains(&i) {
                t.seconds += more_s;
                t.value = t.work / t.seconds;
            }
        })
    }

    #[test]
    fn trials_that_took_much_longer_are_counted_with_what_they_lost() {
        let lost = note("^2 of 10 trials lost 1.4 s of ... s, up to 699.9 ms each");
        CHECK.expect([
            ("two commits", stalled(fsync(1), &[2, 5], 0.7), lost),
            ("a solve", stalled(linpack(5000, 2), &[1], 30.0), NOTE),
            ("a little longer", stalled(fsync(1), &[2], 0.01), SILENT),
            ("cut into windows", stalled(flops(1), &[2], 0.7), SILENT),
            ("none", fsync(1), SILENT),
        ]);
        let m = judged(&host_with_disk(), stalled(fsync(1), &[2], 0.7), &[]);
        assert!(m.findings.iter().all(|f| f.check != CHECK.id || m.verdict < Verdict::Invalid));
    }
}
