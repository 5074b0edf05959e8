//! Where the time of the run's threads went, who else worked, and where the CPUs were, in sentences.

use proofmark_model::{CpuPlacement, Program, Run, placement_words};

use super::text::clean;

/// Less is not worth a word; on a first screen.
const LEAST: f64 = 5e-4;
const LEAST_BRIEFLY: f64 = 0.01;
/// What others took is looked for among the programs from this share on.
const LEAST_TAKEN: f64 = 0.01;
/// A first screen names programs if one of them took so much, and so many of them.
const MUCH_PROGRAM: f64 = 0.05;
const FEW_PROGRAMS: usize = 3;

/// Where the time went and who took it, for a first screen.
pub(super) fn briefly(run: &Run) -> Option<String> {
    let named = run.programs.iter().any(|p| p.of_one_cpu >= MUCH_PROGRAM);
    let all = account(run, LEAST_BRIEFLY)
        .into_iter()
        .chain(programs(run, FEW_PROGRAMS).filter(|_| named));
    let all: Vec<String> = all.collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// What is known of it.
pub(super) fn sentences(run: &Run) -> Option<String> {
    let all =
        account(run, LEAST).into_iter().chain(programs(run, usize::MAX)).chain(placements(run));
    let all: Vec<String> = all.collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// `Time of the threads: 90.0 % at work, 8.0 % used by other processes, 2.0 % throttled by a CPU quota.`
/// `None` where no load ran in slices.
fn account(run: &Run, least: f64) -> Option<String> {
    if let Some(all) = run.time_account() {
        return Some(format!("Time of the threads: {}.", all.words(least)));
    }
    let mut trials = run.measurements.iter().flat_map(|m| &m.trials);
    trials.any(|t| t.rounds.iter().any(|r| !r.strip.is_empty())).then(|| {
        "Time of the threads: not known, since the system does not count waiting time (schedstat) or the \
         threads took turns."
            .to_owned()
    })
}

/// `CPU use of other programs (100 % = one CPU): cargo 4.0 %, sshd 1.0 %.`
fn programs(run: &Run, most: usize) -> Option<String> {
    let named = Program::words(&run.programs, most)
        .map(|all| format!("CPU use of other programs (100 % = one CPU): {all}."));
    let seen_s: f64 = run.programs.iter().map(|p| p.cpu_s).sum();
    let unseen = run.time_account().is_some_and(|t| {
        // Else a CPU quota may have taken it.
        t.throttled_s.is_some()
            && t.waiting_s >= LEAST_TAKEN * t.wall_s
            && seen_s < t.waiting_s / 2.0
    });
    let unseen = unseen.then(|| {
        "Other processes took more time than the visible programs used; some may be in other \
         containers."
            .to_owned()
    });
    let all: Vec<String> = named.into_iter().chain(unseen).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// `vCPU placement, by time: 72 ns round trip 60.0 %, SMT siblings 40.0 %.` `None` with one placement.
fn placements(run: &Run) -> Option<String> {
    let cleaned = |p: &CpuPlacement| CpuPlacement { name: clean(&p.name), ..p.clone() };
    let all: Vec<CpuPlacement> = run.cpu_placements.iter().map(cleaned).collect();
    (all.len() > 1).then(|| format!("vCPU placement, by time: {}.", placement_words(&all)))
}

#[cfg(test)]
mod tests {
    use proofmark_model::testing::{measurement, run, spec};
    use proofmark_model::{Params, Round, TimeAccount, Unit};

    use super::*;

    fn measured() -> Run {
        let spec = spec("cpu.flops", Unit::FlopPerSecond);
        run(vec![measurement(&spec, Params::default(), &[1.0])])
    }

    fn account_of(time: TimeAccount) -> Run {
        let mut run = measured();
        run.measurements[0].trials[0].time_account = Some(time);
        run
    }

    #[test]
    fn the_largest_part_comes_first_and_small_ones_are_left_out() {
        assert_eq!(account(&measured(), LEAST), None);
        let time = TimeAccount { wall_s: 1.0, working_s: 0.9, ..TimeAccount::default() };
        let time =
            TimeAccount { throttled_s: Some(0.02), waiting_s: 0.08, stopped_s: 1e-4, ..time };
        let expected = "Time of the threads: 90.0 % at work, 8.0 % used by other processes, \
                        2.0 % throttled by a CPU quota.";
        assert_eq!(account(&account_of(time), LEAST).unwrap(), expected);
        let small = TimeAccount { stopped_s: 0.009, ..time };
        assert_eq!(account(&account_of(small), LEAST_BRIEFLY).unwrap(), expected);
        let mut unknown = measured();
        let strip = "99".to_owned();
        unknown.measurements[0].trials[0].rounds = vec![Round { strip, ..Round::default() }];
        assert!(account(&unknown, LEAST).unwrap().contains("not known, since"));
    }

    #[test]
    fn programs_are_named_and_those_that_cannot_be_seen_are_told() {
        let program =
            |name: &str, of_one_cpu| Program { name: name.into(), cpu_s: 1.0, of_one_cpu };
        let time = TimeAccount {
            wall_s: 100.0,
            working_s: 90.0,
            waiting_s: 10.0,
            throttled_s: Some(0.0),
            ..Default::default()
        };
        let mut run = account_of(time);
        run.programs = vec![program("cargo", 0.04), program("sshd", 0.01), program("cron", 0.001)];
        let named = "CPU use of other programs (100 % = one CPU): cargo 4.0 %, sshd 1.0 %.";
        let said = programs(&run, usize::MAX).unwrap();
        assert!(said.starts_with(named) && said.ends_with("in other containers."), "{said}");
        run.programs[0].cpu_s = 5.0;
        assert_eq!(programs(&run, usize::MAX).unwrap(), named);
        run.programs[0].cpu_s = 1.0;
        run.measurements[0].trials[0].time_account =
            Some(TimeAccount { throttled_s: None, ..time });
        assert_eq!(programs(&run, usize::MAX).unwrap(), named, "a quota may have done it");
    }

    #[test]
    fn several_placements_are_told() {
        let one =
            |name: &str, share| CpuPlacement { name: name.into(), share, ..Default::default() };
        let mut run = run(Vec::new());
        run.cpu_placements = vec![one("72 ns round trip", 0.6)];
        assert_eq!(sentences(&run), None);
        run.cpu_placements.push(one("SMT siblings", 0.4));
        let expected = "vCPU placement, by time: 72 ns round trip 60.0 %, SMT siblings 40.0 %.";
        assert_eq!(sentences(&run).unwrap(), expected);
    }
}
