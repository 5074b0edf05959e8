//! Where the time of the run's threads went, and where their CPUs were, in sentences.

use proofmark_model::{CpuState, Program, Run};

use super::num::percent;
use super::text::clean;

/// Less is not worth a word.
const LEAST: f64 = 5e-4;
const LEAST_PROGRAM: f64 = 0.01;

/// What follows, as far as it is known.
pub(super) fn sentences(run: &Run) -> Option<String> {
    let all = account(run).into_iter().chain(programs(run)).chain(states(run));
    let all: Vec<String> = all.collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// `Other programs, of one CPU's time: cargo 4.0 %, sshd 1.0 %.` Where more was taken than programs that
/// are seen can have, that is said.
fn programs(run: &Run) -> Option<String> {
    let named = run.programs.iter().filter(|p| p.of_one_cpu >= LEAST_PROGRAM);
    let share = |p: &Program| Some(format!("{} {} %", clean(&p.name), percent(p.of_one_cpu)?));
    let named: Option<Vec<String>> = named.map(share).collect();
    let named = named.filter(|all| !all.is_empty());
    let seen_s: f64 = run.programs.iter().map(|p| p.cpu_s).sum();
    let unseen = run
        .time()
        .is_some_and(|t| t.waiting_s >= LEAST_PROGRAM * t.wall_s && seen_s < t.waiting_s / 2.0);
    let unseen = unseen.then_some("Not all programs that took time can be seen from here.");
    let named = named.map(|all| format!("Other programs, of one CPU's time: {}.", all.join(", ")));
    let all: Vec<String> = named.into_iter().chain(unseen.map(str::to_owned)).collect();
    (!all.is_empty()).then(|| all.join(" "))
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
    let taken = all.taken(LEAST * all.wall_s).into_iter().map(|(s, cause)| (s, cause.words));
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
            account(&run)
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
    fn programs_are_named_and_those_that_cannot_be_seen_are_told() {
        let program =
            |name: &str, of_one_cpu| Program { name: name.into(), cpu_s: 1.0, of_one_cpu };
        let mut run = run(vec![measurement(
            &spec("cpu.flops", Unit::FlopPerSecond),
            Params::default(),
            &[1.0],
        )]);
        run.programs = vec![program("cargo", 0.04), program("sshd", 0.01), program("cron", 0.001)];
        let expected = "Other programs, of one CPU's time: cargo 4.0 %, sshd 1.0 %.";
        assert_eq!(sentences(&run).unwrap(), expected);
        let time =
            TimeAccount { wall_s: 100.0, working_s: 90.0, waiting_s: 10.0, ..Default::default() };
        run.measurements[0].trials[0].time = Some(time);
        assert!(
            sentences(&run)
                .unwrap()
                .ends_with("Not all programs that took time can be seen from here.")
        );
        run.programs[0].cpu_s = 5.0;
        assert!(sentences(&run).unwrap().ends_with("sshd 1.0 %."));
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
