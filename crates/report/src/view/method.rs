//! How the numbers were made, in brief, with this run's own figures.
//!
//! Sources: Hoefler and Belli, SC'15 (intervals of medians, what to report);
//! Kalibera and Jones, ISMM'13 (how many repetitions).

use proofmark_model::{Measurement, Run, Subsystem, format_quantity, format_seconds};

use super::network::of_network;
use super::num::percent;
use super::text::clean;

/// What is counted in memory.
const MEMORY: &str = "Memory. Bytes are counted as STREAM counts them: what the program asked \
    to read and to write, once each. Bytes moved include the lines that an ordinary store reads \
    before it overwrites them. Pages are touched before the time runs. A latency is the time of \
    a load that waited for the one before it; time divided by operations is called reciprocal \
    throughput.";

/// What is counted on a network.
const NETWORK: &str = "Network. Both ends are processes of their own, over loopback too, and \
    loopback is named so wherever a number of it stands. Bits are those of payload, without any \
    header, as the receiver counted them. A round trip is the full one. The counters of both ends' \
    interfaces and protocols are read around each trial.";

/// Where threads run.
fn threads(run: &Run) -> String {
    let any = |is: fn(&Measurement) -> bool| run.measurements.iter().any(is);
    let (disk, network) = (any(of_disk), any(of_network));
    let pinned = "Each is pinned to a CPU that this process may use, physical cores before the \
                  second threads of a core";
    let free = "run where the scheduler puts them";
    let rest = any(|m| !of_disk(m) && !of_network(m)) || !(disk || network);
    let mut parts = match (rest, disk) {
        (true, false) => vec![format!("{pinned}.")],
        (true, true) => vec![format!("{pinned}; those of disk workloads {free}.")],
        (false, true) if !network => vec![format!("They {free}.")],
        (false, true) => vec![format!("Those of disk workloads {free}.")],
        (false, false) => Vec::new(),
    };
    if network {
        parts.push("Those of network workloads run where the parameter placement says.".to_owned());
    }
    parts.join(" ")
}

fn of_disk(m: &Measurement) -> bool {
    m.subsystem == Subsystem::Disk
}

/// A paragraph each.
pub fn paragraphs(run: &Run) -> Vec<String> {
    let policy = &run.plan.policy;
    let seconds = |v: f64| {
        if v.is_finite() && v >= 0.0 { format_seconds(v) } else { "an unknown time".to_owned() }
    };
    let told = |share| percent(share).unwrap_or_else(|| "an unknown share, in".to_owned());
    let mut target = format!("{} %", told(policy.target));
    for (subsystem, own) in &policy.target_of {
        target += &format!(" ({subsystem}: {} %)", told(*own));
    }
    let trials = if policy.min_trials == policy.max_trials {
        format!("Each point took {} trials, as was asked.", policy.min_trials)
    } else {
        format!(
            "Trials were taken until the 95 % interval of the median was within {target} of it, \
             or the time was spent: at least {}, at most {}.",
            policy.min_trials, policy.max_trials
        )
    };
    let budget = policy
        .budget_s
        .map_or_else(String::new, |b| format!(" The whole run was given {}.", seconds(b)));
    let timer =
        run.host.timer.resolution_s.get().filter(|v| v.is_finite()).map_or_else(String::new, |r| {
            format!(
                " The smallest step of that clock is {}.",
                format_quantity(*r, proofmark_model::Unit::Second)
            )
        });
    let of_run = |workload: &str| {
        run.plan.points.iter().any(|p| p.workload == workload)
            || run.measurements.iter().any(|m| m.workload == workload)
    };
    let others: Vec<String> = policy
        .trial_s_of
        .iter()
        .filter(|(workload, _)| of_run(workload))
        .map(|(workload, s)| format!("{} with {}", seconds(*s), clean(workload)))
        .collect();
    let others =
        if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
    let mut out = vec![
        format!(
            "Time. A rate is the work of all threads divided by the wall time from the first \
             thread's start to the last one's end, on the monotonic clock. CPU time is never used \
             for it. A trial lasts at least {}{others}.{timer}",
            seconds(policy.trial_s)
        ),
        format!(
            "Threads. {} More than usable CPUs share them, and are named oversubscribed.",
            threads(run)
        ),
        format!(
            "Trials. {trials}{budget} Warm-up is taken until the rate is steady, and is not counted."
        ),
        "Statistics. The number is the median of the trials. Its interval holds the true median \
         with at least 95 % confidence and assumes no distribution: it is made from order \
         statistics, which fewer than 6 trials cannot give; then there is none. The standard \
         deviation is that of a sample (n - 1). Every trial is kept and shown."
            .to_owned(),
        "Ceiling and efficiency. A ceiling is the most that the hardware could show, as a formula \
         whose inputs are measured, reported by the machine, assumed from a table that names its \
         source, or declared by the user. Efficiency is the median of measured / ceiling, each \
         trial against the ceiling at its own clock."
            .to_owned(),
        "Verdict. Checks look for what makes a number wrong. Suspect: something disturbed it. \
         Invalid: it does not measure what its name says. The worst finding decides."
            .to_owned(),
    ];
    if run.measurements.iter().any(|m| m.subsystem == Subsystem::Memory) {
        out.insert(2, MEMORY.to_owned());
    }
    if run.measurements.iter().any(of_network) {
        out.insert(2, NETWORK.to_owned());
    }
    out
}
