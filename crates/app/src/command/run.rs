//! `proofmark run`: measure, judge, report.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use proofmark_model::{
    Host, LOOKS, Plan, Policy, counted, format_percent, format_seconds, or_list,
};
use proofmark_process::end_with_parent;
use proofmark_run::{
    Machine, contradictions, estimate, plan, takes, titles, tools_s, without_interval,
};
use rustix::process::Signal;

use super::repeat;
use crate::cli::RunArgs;
use crate::error::Outcome;
use crate::measuring::{Shown, carry_out, print_before_run};
use crate::quiet;
use crate::text::{print, say, say_left_out};

pub fn run(args: &RunArgs) -> Result<Outcome> {
    if let Some(dir) = &args.repeat.resume {
        return repeat::resume(dir);
    }
    if args.for_repeat
        && !end_with_parent(Signal::TERM).context("cannot watch the parent process")?
    {
        return Ok(Outcome::Failed);
    }
    let request = args.request();
    let machine = Machine::for_run(&request)?;
    let planned = plan(&request, &machine.host)?;
    // A run prints what this machine cannot do only if options ask for it by name.
    let unsupported = planned.unsupported.iter().filter(|_| args.dry_run || !args.set.is_empty());
    for reason in unsupported {
        say_left_out(reason);
    }
    let run_s = estimate(&planned.plan).1 + tools_s(&planned.plan);
    let repeated = repeat::Asked::new(&args.repeat, &args.results, run_s)?;
    if let Some(repeated) = repeated.as_ref().filter(|_| !args.dry_run) {
        // Each run prints its own, and opens its own session with a server.
        drop(machine);
        return repeated.carry_out(args.results.out.as_deref());
    }
    print_before_run(&machine, &planned);
    if args.dry_run {
        print(&dry_run(&planned.plan, &machine.host))?;
        if let Some(repeated) = repeated {
            print(&format!("{}\n", repeated.words()))?;
        }
        return Ok(Outcome::Done);
    }
    for line in contradictions(&planned.plan) {
        say(&format!("proofmark: {line}"));
    }
    let waited = quiet::look(&machine.host, args.before)?;
    let shown = Shown { waited, ..Shown::RUN };
    carry_out(machine, planned, (&args.results, Some(&args.history)), shown)
}

/// The targets of the subsystems: `2.0 %`, or `2.0 % (disk 5.0 %, network 5.0 %)`.
fn targets(policy: &Policy) -> String {
    let others =
        policy.target_of.iter().map(|(of, target)| format!("{of} {}", format_percent(*target)));
    let others: Vec<_> = others.collect();
    match others.is_empty() {
        true => format_percent(policy.target),
        false => format!("{} ({})", format_percent(policy.target), others.join(", ")),
    }
}

/// Describes the number of trials: `3 or 10 trials each`, or `8 to 12 trials each, ending after 8 or 12
/// if the interval is within 2.0 %`.
fn trials(plan: &Plan) -> String {
    let policy = &plan.policy;
    let numbers = |all: &[u32]| or_list(all.iter().map(u32::to_string));
    let workloads = || plan.points.iter().map(|p| p.workload.as_str());
    let fixed = workloads().filter(|w| policy.is_fixed(w)).map(|w| policy.trials_for(w).0);
    let fixed: Vec<u32> = fixed.collect::<BTreeSet<_>>().into_iter().collect();
    let trial = match fixed[..] {
        [1] => "trial",
        _ => "trials",
    };
    let fixed = (!fixed.is_empty()).then(|| format!("{} {trial} each", numbers(&fixed)));
    let open = workloads().find(|w| !policy.is_fixed(w)).map(|workload| {
        let (least, most) = policy.trials_for(workload);
        let looks = LOOKS.map(|n| n as u32).into_iter().filter(|n| (least..=most).contains(n));
        let looks: Vec<u32> = looks.collect();
        let until = match looks.is_empty() {
            true => String::new(),
            false => {
                let targets = targets(policy);
                let looks = numbers(&looks);
                format!(", ending after {looks} if the interval is within {targets}")
            }
        };
        format!("{least} to {most} trials each{until}")
    });
    fixed.into_iter().chain(open).collect::<Vec<_>>().join(", or ")
}

/// The configurations of a plan with the names of their results, and their estimated duration.
fn dry_run(plan: &Plan, host: &Host) -> String {
    let titles = titles(plan, host.limits.usable_cpus.len() as u64);
    let mut text = String::new();
    for (index, (point, title)) in plan.points.iter().zip(&titles).enumerate() {
        let here = plan.references.iter().filter(|(_, all)| all.iter().any(|r| r.point == index));
        let names: Vec<_> = here.map(|(name, _)| name.as_str()).collect();
        text += &match proofmark_workloads::find(&point.workload) {
            Some(workload) => workload.spec().describe(&point.params),
            None => point.to_string(),
        };
        text += &format!("  # {}", title.whole);
        if let Some(series) = plan.series_of(index) {
            let [every, length] = [series.every_s, series.for_s].map(format_seconds);
            text += &format!("  (every {every} for {length})");
        }
        if !names.is_empty() {
            text += &format!("  (reference: {})", names.join(", "));
        }
        text.push('\n');
    }
    text += &format!(
        "\n{}\n{}{} of profile {}; {}\n",
        trials(plan),
        without_interval(plan).iter().map(|line| format!("{line}\n")).collect::<String>(),
        counted(plan.points.len() as u64, "configuration"),
        plan.profile,
        takes(plan)
    );
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proofmark_model::{Params, Point};

    use super::*;

    #[test]
    fn the_looks_are_those_that_the_number_of_trials_allows() {
        let describe = |min_trials, max_trials, own: &[u32]| {
            let ids = || (0..own.len() + 1).map(|i| i.to_string());
            let points = ids().map(|workload| Point { workload, params: Params::default() });
            let trials_of = ids().zip(own.iter().copied()).collect();
            let (target, target_of) = (0.02, BTreeMap::new());
            let policy = Policy { target, target_of, min_trials, max_trials, ..Policy::default() };
            let policy = Policy { trials_of, ..policy };
            trials(&Plan { policy, points: points.collect(), ..Plan::default() })
        };
        let until = |looks: &str| format!(", ending after {looks} if the interval is within 2.0 %");
        assert_eq!(describe(8, 20, &[]), "8 to 20 trials each".to_owned() + &until("8, 12 or 20"));
        assert_eq!(describe(8, 12, &[]), "8 to 12 trials each".to_owned() + &until("8 or 12"));
        assert_eq!(describe(9, 30, &[]), "9 to 30 trials each".to_owned() + &until("12 or 20"));
        assert_eq!(describe(3, 5, &[]), "3 to 5 trials each");
        assert_eq!(describe(3, 3, &[10, 10]), "3 or 10 trials each");
        assert_eq!(describe(8, 8, &[]), "8 trials each");
        assert_eq!(
            describe(3, 8, &[2]),
            "2 trials each, or 3 to 8 trials each".to_owned() + &until("8")
        );
    }
}
