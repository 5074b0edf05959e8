//! Where the time of the run's threads went, and where their CPUs were, in sentences.

use proofmark_model::{CpuState, Run};

use super::num::percent;
use super::text::clean;

/// Less is not worth a word.
const LEAST: f64 = 5e-4;

/// What follows, as far as it is known.
pub(super) fn sentences(run: &Run) -> Option<String> {
    let both: Vec<String> = account(run).into_iter().chain(states(run)).collect();
    (!both.is_empty()).then(|| both.join(" "))
}

/// `CPUs that worked together, by time: 72 ns apart 60.0 %, one core 40.0 %.` `None` with one state.
fn states(run: &Run) -> Option<String> {
    let share = |s: &CpuState| Some(format!("{} {} %", clean(&s.name), percent(s.share)?));
    let all: Option<Vec<String>> = run.cpu_states.iter().map(share).collect();
    let all = all.filter(|all| all.len() > 1)?;
    Some(format!("CPUs that worked together, by time: {}.", all.join(", ")))
}

/// `Time of the threads: 90.0 % at work, 8.0 % taken by other processes, 2.0 % held back by a CPU
/// quota.` `None` where no trial has an account of its time.
fn account(run: &Run) -> Option<String> {
    let all = run.time()?;
    let part =
        |(seconds, word): (f64, &str)| Some(format!("{} % {word}", percent(seconds / all.wall_s)?));
    let taken = all.taken(LEAST * all.wall_s);
    let parts: Option<Vec<String>> =
        [(all.working_s, "at work")].into_iter().chain(taken).map(part).collect();
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
            sentences(&run)
        };
        assert_eq!(with(None), None);
        let time = TimeAccount { wall_s: 1.0, working_s: 0.9, ..TimeAccount::default() };
        assert_eq!(with(Some(time)).unwrap(), "Time of the threads: 90.0 % at work.");
        let time = TimeAccount { throttled_s: 0.02, waiting_s: 0.08, stolen_s: 1e-4, ..time };
        let expected = "Time of the threads: 90.0 % at work, 8.0 % taken by other processes, \
                        2.0 % held back by a CPU quota.";
        assert_eq!(with(Some(time)).unwrap(), expected);
    }

    #[test]
    fn several_states_of_the_cpus_are_told() {
        let state = |name: &str, share| CpuState { name: name.into(), share, ..Default::default() };
        let mut run = run(Vec::new());
        run.cpu_states = vec![state("72 ns apart", 0.6)];
        assert_eq!(sentences(&run), None);
        run.cpu_states.push(state("one core", 0.4));
        let expected = "CPUs that worked together, by time: 72 ns apart 60.0 %, one core 40.0 %.";
        assert_eq!(sentences(&run).unwrap(), expected);
    }
}
