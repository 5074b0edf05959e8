//! Where the time of the run's threads went, in a sentence.

use proofmark_model::Run;

use super::num::percent;

/// Less is not worth a word.
const LEAST: f64 = 5e-4;

/// `Time of the threads: 90.0 % at work, 8.0 % taken by other processes, 2.0 % held back by a CPU
/// quota.` `None` where no trial has an account of its time.
pub(super) fn sentence(run: &Run) -> Option<String> {
    let trials = run.measurements.iter().flat_map(|m| &m.trials);
    let all = trials.filter_map(|t| t.time).reduce(|a, b| a + b)?;
    let mut others = [
        (all.waiting_s, "taken by other processes"),
        (all.throttled_s, "held back by a CPU quota"),
        (all.stopped_s, "stopped by a signal"),
        (all.stolen_s, "stolen by the hypervisor"),
        (all.interrupted_s, "interrupted (by the system, or from outside of it unreported)"),
        (all.unaccounted_s, "unaccounted for"),
    ];
    others.sort_by(|a, b| b.0.total_cmp(&a.0));
    let others = others.into_iter().filter(|(seconds, _)| *seconds >= LEAST * all.wall_s);
    let part =
        |(seconds, word): (f64, &str)| Some(format!("{} % {word}", percent(seconds / all.wall_s)?));
    let parts: Option<Vec<String>> =
        [(all.working_s, "at work")].into_iter().chain(others).map(part).collect();
    Some(format!("Time of the threads: {}.", parts?.join(", ")))
}

#[cfg(test)]
mod tests {
    use proofmark_model::testing::{measurement, run, spec};
    use proofmark_model::{Params, TimeAccount, Trial, Unit};

    use super::*;

    #[test]
    fn the_largest_part_comes_first_and_small_ones_are_left_out() {
        let with = |time: Option<TimeAccount>| {
            let mut run = run(vec![measurement(
                &spec("cpu.flops", Unit::FlopPerSecond),
                Params::default(),
                &[1.0],
            )]);
            run.measurements[0].trials = vec![Trial { time, ..Trial::default() }; 2];
            sentence(&run)
        };
        assert_eq!(with(None), None);
        let time = TimeAccount { wall_s: 1.0, working_s: 0.9, ..TimeAccount::default() };
        assert_eq!(with(Some(time)).unwrap(), "Time of the threads: 90.0 % at work.");
        let time = TimeAccount { throttled_s: 0.02, waiting_s: 0.08, stolen_s: 1e-4, ..time };
        let expected = "Time of the threads: 90.0 % at work, 8.0 % taken by other processes, \
                        2.0 % held back by a CPU quota.";
        assert_eq!(with(Some(time)).unwrap(), expected);
    }
}
