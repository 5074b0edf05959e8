//! `proofmark run`: measure, judge, report.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use proofmark_model::{
    Host, LOOKS, Plan, Policy, WorkloadSpec, and_list, counted, format_percent, format_seconds,
    or_list,
};
use proofmark_process::end_with_parent;
use proofmark_run::{
    Machine, contradictions, estimate, plan, takes, titles, tools_s, without_interval,
};
use rustix::process::Signal;

use super::repeat;
use crate::cli::{ResultFiles, RunArgs};
use crate::error::Outcome;
use crate::measuring::{Shown, carry_out, print_before_run};
use crate::quiet;
use crate::text::{print, say, say_left_out};

pub fn run(args: &RunArgs) -> Result<Outcome> {
    if let Some(dir) = &args.repeat.resume {
        return repeat::resume(dir);
    }
    if args.for_repeat.is_some()
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
    let repeated = match args.for_repeat {
        None => repeat::Asked::new(&args.repeat, &args.results, run_s)?,
        Some(_) => None,
    };
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
    let out = args.for_repeat.clone().or_else(|| args.results.out.clone());
    let results = ResultFiles { out, ..args.results.clone() };
    carry_out(machine, planned, (&results, Some(&args.history)), shown)
}

/// Describes the number of trials: `3 or 10 trials each`, or `8 to 12 trials each, ending after 8 or 12
/// if the interval is within 2.0 %`.
fn trials(plan: &Plan) -> String {
    let policy = &plan.policy;
    let workloads = || plan.points.iter().map(|p| p.workload.as_str());
    let fixed = workloads().filter(|w| policy.is_fixed(w)).map(|w| policy.trials_for(w).0);
    let fixed: Vec<u32> = fixed.collect::<BTreeSet<_>>().into_iter().collect();
    let trial = match fixed[..] {
        [1] => "trial",
        _ => "trials",
    };
    let fixed = (!fixed.is_empty()).then(|| format!("{} {trial} each", numbers(&fixed)));
    let open: BTreeSet<&str> = workloads().filter(|w| !policy.is_fixed(w)).collect();
    fixed.into_iter().chain(open_trials(policy, &open)).collect::<Vec<_>>().join(", or ")
}

fn numbers(all: &[u32]) -> String {
    or_list(all.iter().map(u32::to_string))
}

/// Numbers of trials after which workloads may end, their target, and the workloads.
type Endings<'a> = BTreeMap<(Vec<u32>, String), Vec<&'a str>>;

/// Describes the numbers of trials that the interval decides, of these workloads.
fn open_trials(policy: &Policy, ids: &BTreeSet<&str>) -> Option<String> {
    let (least, most) = policy.trials_for(ids.first()?);
    let looks: Vec<u32> = LOOKS.map(|n| n as u32).into_iter().collect();
    let looks = || looks.iter().copied().filter(|n| (least..=most).contains(n));
    let mut endings = Endings::new();
    for id in ids {
        let target = target(policy, id);
        let reached = |n: &u32| half_width_of_equal(id, *n) <= target;
        let reached = looks().filter(reached).collect();
        endings.entry((reached, format_percent(target))).or_default().push(id);
    }
    let each = format!("{least} to {most} trials each");
    if looks().next().is_none() {
        return Some(each);
    }
    let all = most.min((LOOKS[2] as u32).max(least));
    let mut lines: Vec<String> = Vec::new();
    for ((looks, target), of) in endings.iter().rev() {
        let whose = whose(of, ids);
        lines.push(match (looks.is_empty(), endings.len()) {
            (true, _) => format!("all {all} for {whose}, whose interval is never within {target}"),
            (_, 1) => format!("ending after {} if the interval is within {target}", numbers(looks)),
            _ => format!(
                "ending after {} if the interval of {whose} is within {target}",
                numbers(looks)
            ),
        });
    }
    Some(format!("{each}, {}", lines.join("; ")))
}

fn spec(id: &str) -> Option<&'static WorkloadSpec> {
    Some(proofmark_workloads::find(id)?.spec())
}

fn target(policy: &Policy, id: &str) -> f64 {
    spec(id).map_or(policy.target, |spec| policy.target_for(spec.subsystem))
}

/// Half the width of the interval that a workload's headline has at best after so many trials.
fn half_width_of_equal(id: &str, trials: u32) -> f64 {
    spec(id).map_or(0.0, |spec| spec.work.cut().half_width_of_equal(trials as usize))
}

/// Names workloads by their subsystem, where the plan has no others of it.
fn whose(of: &[&str], all: &BTreeSet<&str>) -> String {
    let subsystem = |id: &str| spec(id).map(|spec| spec.subsystem);
    let is_whole = |id: &str| {
        all.iter().filter(|other| subsystem(other) == subsystem(id)).all(|other| of.contains(other))
    };
    let name = |id: &&str| match subsystem(id).filter(|_| is_whole(id)) {
        Some(subsystem) => subsystem.to_string(),
        None => (*id).to_owned(),
    };
    and_list(of.iter().map(name).collect::<BTreeSet<_>>())
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

    #[test]
    fn only_looks_at_which_an_interval_can_be_narrow_enough_are_named() {
        let describe = |ids: &[&str], max_trials| {
            let point = |id: &&str| Point { workload: (*id).to_owned(), params: Params::default() };
            let policy = Policy { max_trials, ..Policy::default() };
            trials(&Plan { policy, points: ids.iter().map(point).collect(), ..Plan::default() })
        };
        // Equal trials of a fixed work are within 4.6 % after 20, not after 12.
        let all = ["cpu.flops", "cpu.linpack", "memory.copy", "disk.fsync", "network.tcp.rtt"];
        assert_eq!(
            describe(&all, 20),
            "8 to 20 trials each, ending after 20 if the interval of disk and network is within \
             5.0 %; ending after 8, 12 or 20 if the interval of memory is within 3.0 %; ending after \
             8, 12 or 20 if the interval of cpu.flops is within 0.5 %; all 20 for cpu.linpack, whose \
             interval is never within 0.5 %"
        );
        assert_eq!(
            describe(&["disk.fsync"], 12),
            "8 to 12 trials each, all 12 for disk, whose interval is never within 5.0 %"
        );
    }
}
