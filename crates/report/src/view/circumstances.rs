//! Sentences on where the time of the run's threads went, which programs ran, and where the CPUs
//! were.

use proofmark_model::{CpuPlacement, OtherPrograms, Run, placement_words};

use super::text::{clean, joined};

/// Smaller shares of the threads' time are left out: in the report, and on the first screen.
const LEAST: f64 = 5e-4;
const LEAST_BRIEFLY: f64 = 0.01;
/// Share of waiting from which the programs that ran are compared with it.
const LEAST_TAKEN: f64 = 0.01;
/// Maximum number of programs that a first screen names.
const FEW_PROGRAMS: usize = 3;

/// Names where the time went and which programs took it, for a first screen.
pub(super) fn briefly(run: &Run) -> [Option<String>; 2] {
    let one_took_much = run.programs.iter().any(|p| p.of_one_cpu >= OtherPrograms::MUCH);
    let much = one_took_much || run.other_programs().took_much();
    let programs = programs(run, FEW_PROGRAMS).filter(|_| much);
    [account(run, LEAST_BRIEFLY), programs]
}

/// Names all that is known of where the time went.
pub(super) fn sentences(run: &Run) -> Option<String> {
    one_text([account(run, LEAST), programs(run, usize::MAX), placements(run)])
}

/// The sentences as one text; `None` without any.
fn one_text(sentences: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    Some(joined(sentences.into_iter().flatten(), " ")).filter(|text| !text.is_empty())
}

/// `Time of the threads: 90.0 % at work, 10.0 % used by other processes.` `None` where no load ran
/// in slices.
fn account(run: &Run, least: f64) -> Option<String> {
    if let Some(all) = run.time_account() {
        return all.words(least).map(|words| format!("Time of the threads: {words}."));
    }
    let mut trials = run.measurements.iter().flat_map(|m| &m.trials);
    trials.any(|t| t.rounds.iter().any(|r| !r.strip.is_empty())).then(|| {
        "Time of the threads: not known, since the system does not count waiting time (schedstat) \
         or threads shared CPUs."
            .to_owned()
    })
}

/// `CPU use of other programs (100 % = one CPU): cargo 4.0 %, sshd 1.0 %.`
fn programs(run: &Run, most: usize) -> Option<String> {
    let named = run
        .other_programs()
        .words(most)
        .map(|all| format!("CPU use of other programs (100 % = one CPU): {all}."));
    let seen_s: f64 = run.programs.iter().map(|p| p.cpu_s).sum();
    // Where the system counts the time of all programs, those not named are in the words.
    let uncounted = run.programs_of_one_cpu.is_none();
    let unseen = run.time_account().filter(|_| uncounted).is_some_and(|t| {
        // Without the throttled time, the waiting may be that of a CPU quota.
        t.throttled_s.is_some()
            && t.waiting_s >= LEAST_TAKEN * t.wall_s
            && seen_s < t.waiting_s / 2.0
    });
    let unseen = unseen.then(|| {
        "Other processes took more time than these programs used; some ended meanwhile, or are in \
         other containers."
            .to_owned()
    });
    one_text([named, unseen])
}

/// `vCPU placement, by time: near (72 ns) 60.0 %, SMT siblings 40.0 %.` `None` with one
/// placement.
fn placements(run: &Run) -> Option<String> {
    let cleaned = |p: &CpuPlacement| CpuPlacement { name: clean(&p.name), ..p.clone() };
    let all: Vec<CpuPlacement> = run.cpu_placements.iter().map(cleaned).collect();
    (all.len() > 1).then(|| format!("vCPU placement, by time: {}.", placement_words(&all)))
}
