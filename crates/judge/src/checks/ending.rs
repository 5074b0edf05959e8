//! Checks `crashed`, `system_limit`, `refused`, `left_out` and `unfinished`: the worker died, a limit
//! ended it, the workload cannot run here, there was no time for it, or it was stopped.

use proofmark_model::{Ending, Finding, LOOKS, Measurement, check_id, format_seconds};

use super::{Check, Class, Examine};
use crate::Context;
use crate::words::counted;

pub(super) static CRASHED: Check = Check {
    id: "crashed",
    class: Class::CLAIM,
    title: "Worker crashed or was killed",
    about: "Each configuration runs in its own process. If that process ends before its work is \
         done, the result is invalid, and the finding names the signal. SIGKILL usually means that \
         a person or a supervisor ended it, SIGILL an instruction that the CPU lacks, SIGSEGV a \
         defect. Where a limit of the system explains the end, the check is system_limit instead. \
         Other results are not affected.",
    examine: Examine::Ours(crashed),
};

fn crashed(_: &Context, m: &Measurement) -> Option<Finding> {
    let Ending::Crashed { signal, detail } = &m.ending else { return None };
    let message = format!("{} before its work was done", m.ending.crash()?);
    let advice = match signal.as_deref() {
        Some("SIGKILL") => {
            "check the kernel log and the supervisor for who killed it; then repeat the measurement"
        }
        Some("SIGILL") => {
            "choose another isa: the CPU or its hypervisor announces an instruction that it lacks"
        }
        _ => "repeat the measurement; if it ends the same way, report it as a defect of proofmark",
    };
    let mut finding = CRASHED
        .invalid(message, advice)
        .with("detail", detail.as_str())
        .with("trials_done", m.trials.len());
    if let Some(signal) = signal {
        finding = finding.with("signal", signal.as_str());
    }
    Some(finding)
}

pub(super) static SYSTEM_LIMIT: Check = Check {
    id: "system_limit",
    class: Class::claim("the limit ended a measurement that had begun; its trials so far count"),
    title: "Ended by a limit of the system",
    about: "A limit of the system ended the worker, or kept it from starting: of open files, \
         processes, file size, stack, address space, CPU time, or memory of a cgroup or the \
         machine. proofmark concludes that from the error or signal, the limits, and the kernel's \
         counts of processes refused or killed, before and after. A configuration without a trial \
         is not run; with some, the result is suspect. The exit status is 1; other results are \
         kept. Raise the limit that the finding names, or measure with less.",
    examine: Examine::Ours(system_limit),
};

fn system_limit(_: &Context, m: &Measurement) -> Option<Finding> {
    let Ending::Limited { limit, detail } = &m.ending else { return None };
    let cause = limit.cause();
    let finding = match m.trials.len() {
        0 => SYSTEM_LIMIT.not_run(format!("not measured because of {cause}"), limit.action()),
        n => {
            let trials = counted(n, "trial");
            SYSTEM_LIMIT.suspect(format!("ended after {trials} because of {cause}"), limit.action())
        }
    };
    let finding = finding.with("limit", cause).with("detail", detail.as_str());
    Some(finding.with("trials_done", m.trials.len()))
}

pub(super) static REFUSED: Check = Check {
    id: "refused",
    class: Class::claim("the workload could not go on; its trials so far count"),
    title: "Configuration not possible here",
    about: "A workload that lacks an instruction set, memory or a device refuses its configuration \
         instead of measuring something else. The configuration is not run, and the finding has \
         the workload's reason. If it cannot continue after some trials, the result is suspect. \
         Remove the configuration, or choose another value of the parameter that it names.",
    examine: Examine::Ours(refused),
};

fn refused(_: &Context, m: &Measurement) -> Option<Finding> {
    let Ending::Refused { reason } = &m.ending else { return None };
    let finding = match m.trials.len() {
        0 => REFUSED.not_run(
            format!("the workload refuses this configuration: {reason}"),
            "remove the configuration, or choose another value of the parameter",
        ),
        n => REFUSED.suspect(
            format!("the workload could not go on after {}: {reason}", counted(n, "trial")),
            "remove what the reason names, and repeat the measurement",
        ),
    };
    Some(finding.with("reason", reason.as_str()))
}

pub(super) static LEFT_OUT: Check = Check {
    id: "left_out",
    class: Class::CLAIM,
    title: "Left out for the time limit",
    about: "A run with --budget, or of a profile without named workloads, has a time limit. Where the machine is slower \
         than estimated, the time does not hold the minimum of all configurations. That is 8 rounds, or \
         3 trials of loads that are not cut. proofmark then leaves out those that are wanted least, \
         as late as possible. Rows of the summary stay longest, then one result of each table of the \
         profile. Such a configuration is not run. Raise --budget, name fewer workloads, or stop other \
         load.",
    examine: Examine::Ours(left_out),
};

fn left_out(_: &Context, m: &Measurement) -> Option<Finding> {
    let Ending::LeftOut { needs_s } = m.ending else { return None };
    let message =
        format!("left out for the time limit; it needs about {}", format_seconds(needs_s));
    let finding = LEFT_OUT.not_run(message, "raise --budget, or name fewer workloads");
    Some(finding.with("needs_s", needs_s))
}

pub(super) static UNFINISHED: Check = Check {
    id: check_id::UNFINISHED,
    class: Class::claim(
        "fewer trials or rounds were taken than the figure needs; those that were taken count",
    ),
    title: "Too few trials or rounds",
    about: "A run that is stopped, or whose main process is killed, keeps the trials taken so far, \
         which are fewer than the policy requires. A result with undisturbed time in fewer than 8 of \
         its rounds shows too little of it. All are suspect, with the signal where known; without any \
         trial the configuration is not run. Few trials alone are no reason for doubt: such a result \
         has no interval. Repeat the measurement to its end, or when other load is gone.",
    examine: Examine::Ours(unfinished),
};

/// Reports a load in slices of whose rounds too few saw undisturbed time.
fn too_few_rounds(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let headline = m.summary.as_ref().map_or_else(Default::default, |s| s.headline);
    let rounds = m.all_rounds().filter(|round| round.figure(headline).is_some()).count();
    let (all, least) = (m.all_rounds().count(), LOOKS[0]);
    let is_seen = m.summary.as_ref().is_some_and(|s| s.figure(headline).value.is_some());
    if !ctx.work(m).cut().has_slices() || !(1..least.min(all)).contains(&rounds) || !is_seen {
        return None;
    }
    let message =
        format!("undisturbed time was seen in {rounds} of {all} rounds; the figure needs {least}");
    let advice = "repeat when other load is gone, or without the CPU quota";
    Some(UNFINISHED.suspect(message, advice).with("rounds", rounds))
}

fn unfinished(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let message = match &m.ending {
        Ending::Unfinished => "the file was written before the measurement ended".to_owned(),
        Ending::Interrupted { by } => format!("interrupted by {by}"),
        _ => return too_few_rounds(ctx, m),
    };
    let n = m.trials.len();
    let message = format!("{message}, after {}", counted(n, "trial"));
    let advice = "repeat the measurement to its end";
    let finding = match n {
        0 => UNFINISHED.not_run(message, advice),
        _ => UNFINISHED.suspect(message, advice),
    };
    let mut finding = finding.with("trials_done", n);
    if let Ending::Interrupted { by } = &m.ending {
        finding = finding.with("signal", by.as_str());
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use proofmark_model::{
        Figure, FigureKind, LimitKind, LimitReached, Round, SystemLimit, Verdict,
    };

    use super::*;
    use crate::testing::*;

    #[test]
    fn how_it_ended_is_found_with_its_reason() {
        let ended = |ending| Measurement { ending, ..flops(1) };
        let empty = |ending| Measurement { trials: Vec::new(), summary: None, ..ended(ending) };
        let crashed = |signal: Option<&str>| Ending::Crashed {
            signal: signal.map(str::to_owned),
            detail: "exit status 101".to_owned(),
        };
        CRASHED.expect([
            ("killed", ended(crashed(Some("SIGKILL"))), invalid("SIGKILL")),
            ("by itself", empty(crashed(None)), INVALID),
        ]);
        let (kind, source) = (LimitKind::OpenFiles, None);
        let limit = LimitReached::one(SystemLimit { kind, value: Some(12), source });
        let limited = Ending::Limited { limit, detail: "os error 24".to_owned() };
        let some = Measurement { ending: limited.clone(), ..flops(1) };
        SYSTEM_LIMIT.expect([
            ("a limit", empty(limited), not_run("not measured ... 12 open files (RLIMIT_NOFILE)")),
            ("after some", some, suspect("10 trials ... 12 open files")),
            ("a crash", ended(crashed(None)), SILENT),
        ]);
        let refused = Ending::Refused { reason: "this CPU has no avx512".to_owned() };
        let later = Measurement { ending: refused.clone(), ..flops(1) };
        REFUSED.expect([
            ("refused", empty(refused), not_run("no avx512")),
            ("after some trials", later, suspect("could not go on after 10 trials ... no avx512")),
        ]);
        let by = Ending::Interrupted { by: "SIGINT".to_owned() };
        UNFINISHED.expect([
            ("interrupted", ended(by), suspect("SIGINT ... 10 trials")),
            ("unfinished", ended(Ending::Unfinished), SUSPECT),
            ("before the first trial", empty(Ending::Unfinished), not_run("0 trials")),
        ]);
    }

    #[test]
    fn what_had_no_time_is_not_run_and_no_problem_of_the_figure() {
        let left_out = Ending::LeftOut { needs_s: 12.3 };
        let empty = Measurement { trials: Vec::new(), summary: None, ending: left_out, ..flops(1) };
        let m = judged(&host(), empty.clone(), &[]);
        assert_eq!(m.verdict, Verdict::NotRun, "{:?}", m.findings);
        LEFT_OUT.expect([
            ("left out", empty, not_run("^left out for the time limit; it needs about 12 s")),
            ("measured", flops(1), SILENT),
        ]);
    }

    /// `proofmark run memory.rand_read --trials 3`, and three trials of a published profile.
    #[test]
    fn few_trials_are_no_reason_for_doubt_and_none_for_a_tick() {
        for (trials, rounds) in [(3, 1), (7, 1), (1, 4), (1, 1)] {
            for m in [flops(1), stream("triad", 1)] {
                let mut m = m;
                m.trials.truncate(trials);
                let m = each(m, |_, t| {
                    let each = Round {
                        seconds: t.seconds / f64::from(rounds),
                        delivered: t.value,
                        typical: Some(t.value),
                        attainable: Some(t.value),
                        clean_s: t.seconds / f64::from(rounds),
                        ..Round::default()
                    };
                    t.rounds = vec![each; rounds as usize];
                });
                let spec = spec(&m.workload);
                let raw = crate::raw::raw_measurement(&m);
                let m = Measurement { summary: raw.summary(Some(&spec), &policy()), ..m };
                let m = judged(&usual_host(&m), m, &[]);
                assert_eq!(m.verdict, Verdict::NoInterval, "{trials}: {:?}", m.findings);
                let precision = &m.missing["precision"];
                assert_eq!(*precision, format!("{}, no interval", counted(trials, "trial")));
            }
        }
    }

    #[test]
    fn rounds_that_saw_no_undisturbed_time_support_no_figure() {
        // The first `trials` of ten trials, with that number of rounds each.
        let cut = |mut m: Measurement, trials: usize, rounds: usize| {
            m.trials.truncate(trials);
            each(m, |_, t| t.rounds = vec![Round::default(); rounds])
        };
        UNFINISHED.expect([
            ("eight in all", cut(flops(1), 2, 4), SILENT),
            ("no rounds", cut(flops(1), 3, 0), SILENT),
            ("complete solves", cut(linpack(10_000, 1), 3, 0), SILENT),
        ]);
        // 20 rounds, of which those of the first `trials` saw undisturbed time.
        let seen = |trials: usize| {
            let m = headed(cut(stream("triad", 1), 10, 2), FigureKind::Typical, 0.001);
            each(m, |i, t| {
                t.rounds.iter_mut().for_each(|r| r.typical = (i < trials).then_some(1.0));
            })
        };
        let mut unseen = seen(1);
        unseen.summary.as_mut().unwrap().typical = Figure::none("");
        UNFINISHED.expect([
            ("disturbed", seen(3), suspect("^undisturbed time was seen in 6 of 20 rounds")),
            ("in enough", seen(4), SILENT),
            ("no_headline reports it", unseen, SILENT),
        ]);
    }
}
