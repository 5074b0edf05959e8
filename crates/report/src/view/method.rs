//! The measurement method in brief, with this run's own parameters.
//!
//! Sources: Hoefler and Belli, SC'15 (intervals of medians, what to report); Kalibera and Jones,
//! ISMM'13 (how many repetitions).

use proofmark_model::{Measurement, Pace, Run, Subsystem, format_quantity, format_seconds};

use super::grouping::grouped;
use super::network::is_network;
use super::num::percentage;
use super::text::{clean, counted, enclosed, joined};

const FIGURES: &str = "Figures. CPU and memory loads run in slices of about 20 us, which show when \
    the thread did not run. A window of 0.25 ms (memory: 1 ms) is clean if no time was taken in \
    it. Attainable is what the hardware does when it is left alone. For CPU loads it is the 95th \
    percentile of each core's clean windows. For memory loads it is the same for all threads \
    together, in the rounds that saw the highest state. For complete solves it is the best one. \
    Typical is the rate over the clean windows; for complete solves, the median. Delivered is all \
    work divided by all time. The headline figure is attainable for CPU loads, typical for memory \
    loads, delivered for complete solves and for single operations of disk and network.";

const STATISTICS: &str = "Statistics. A figure is the median of its rounds. A trial of 0.1 s is \
    one round; a longer trial of a CPU or memory load has several. The interval contains the true \
    median with at least 95 % confidence and assumes no distribution. It comes from order \
    statistics and needs at least 8 rounds. For other loads each trial is one round. The standard \
    deviation is that of the trials, as a sample (n - 1). Every trial is kept and shown.";

const MEMORY: &str = "Memory. Bytes are counted as in STREAM: each byte that the program reads \
    or writes counts once. Bytes moved include the lines that an ordinary store reads before it \
    overwrites them. Pages are touched before timing starts. A latency is the time of a load that \
    waits for the one before it. Time divided by operations is called reciprocal throughput.";

const NETWORK: &str = "Network. Client and server are separate processes, also over loopback. \
    Every loopback result is marked as such. Rates count payload bits without headers, as \
    received. A round trip is the full one, not half. The counters of both interfaces and \
    protocols are read before and after each trial.";

fn threads(run: &Run) -> String {
    let any = |is: fn(&Measurement) -> bool| run.measurements.iter().any(is);
    let (disk, network) = (any(is_disk), any(is_network));
    let rest = any(|m| !is_disk(m) && !is_network(m)) || !(disk || network);
    let pinned = "Each thread is pinned to a usable CPU, one per physical core first";
    let whose = match (rest, network) {
        (true, _) => "those of disk workloads",
        (false, true) => "Those of disk workloads",
        (false, false) => "They",
    };
    let free = format!("{whose} run where the scheduler puts them");
    let both = joined(rest.then_some(pinned).into_iter().chain(disk.then_some(&*free)), "; ");
    let placed = "Those of network workloads run where the parameter placement states.";
    joined([&*enclosed("", &both, "."), if network { placed } else { "" }], " ")
}

fn is_disk(m: &Measurement) -> bool {
    m.subsystem.info().uses_block_devices
}

/// The targets of the measured subsystems, grouped by value: `0.5 % (CPU), 5.0 % (disk, network)`.
fn targets(run: &Run) -> String {
    let policy = &run.plan.policy;
    let target = |share| percentage(share).unwrap_or_else(|| "an unknown share".to_owned());
    let here = |s: &Subsystem| run.measurements.iter().any(|m| m.subsystem == *s);
    let here = Subsystem::KNOWN.iter().copied().filter(here);
    let targets = grouped(here.map(|s| (target(policy.target_for(s)), s.info().word)));
    match targets.as_slice() {
        [] => target(policy.target),
        [(one, _)] => one.clone(),
        several => joined(several.iter().map(|(t, of)| format!("{t} ({})", of.join(", "))), ", "),
    }
}

/// The paragraphs of the method.
pub fn paragraphs(run: &Run) -> Vec<String> {
    let policy = &run.plan.policy;
    let seconds = |v: f64| {
        if v.is_finite() && v >= 0.0 { format_seconds(v) } else { "an unknown time".to_owned() }
    };
    let target = targets(run);
    let trials = if policy.min_trials == policy.max_trials {
        let trials = counted(u64::from(policy.min_trials), "trial");
        format!("Each configuration took {trials}, as requested.")
    } else {
        format!(
            "Each configuration took {} to {} trials. It was complete when half the 95 % interval \
             of its headline was at most {target} of the figure, or when its time was used up.",
            policy.min_trials, policy.max_trials
        )
    };
    let budget = policy
        .budget_s
        .map_or_else(String::new, |b| format!(" The time budget of the run was {}.", seconds(b)));
    let timer =
        run.host.timer.resolution_s.get().filter(|v| v.is_finite()).map_or_else(String::new, |r| {
            format!(
                " The resolution of that clock is {}.",
                format_quantity(*r, proofmark_model::Unit::Second)
            )
        });
    let of_run = |workload: &str| {
        run.plan.points.iter().any(|p| p.workload == workload)
            || run.measurements.iter().any(|m| m.workload == workload)
    };
    let others = policy.trial_s_of.iter().filter(|(workload, _)| of_run(workload));
    let others = others.map(|(workload, s)| format!("{} for {}", seconds(*s), clean(workload)));
    let others = enclosed(" (", &joined(others, ", "), ")");
    let mut out = vec![
        format!(
            "Time. A rate is the work of all threads divided by wall time: from the first \
             thread's start to the last thread's end, on CLOCK_MONOTONIC_RAW. CPU time is never \
             used. A trial lasts at least {}{others}.{timer}",
            seconds(policy.trial_s)
        ),
        format!(
            "Threads. {} More threads than usable CPUs share the CPUs and are marked \
             oversubscribed.",
            threads(run)
        ),
        format!(
            "Trials. {trials}{budget} Warm-up is not counted. It is 20 ms before each trial of a \
             CPU or memory load; for other loads, it lasts until the rate is steady."
        ),
        FIGURES.to_owned(),
        STATISTICS.to_owned(),
        "Ceiling and efficiency. A ceiling is the most that the hardware could reach, as a \
         formula. Its inputs are measured, reported by the machine, assumed from a table that \
         names its source, or declared by the user. Efficiency, in the column \"of ceiling\", is \
         figure / ceiling. The clock of a ceiling is that of the figure: the median over its \
         rounds, and of delivered loads the mean over the time of the trials. A ceiling whose \
         uncertainty is 100 % or more gives no efficiency."
            .to_owned(),
        "Verdict. Checks look for errors in a result. Suspect: a named cause changed it, or what \
         its name says cannot be confirmed. Invalid: the result is not what its name says. The \
         worst finding decides. Precision is not a verdict: it compares the width of the interval \
         with the target."
            .to_owned(),
    ];
    if run.measurements.iter().any(|m| m.subsystem.info().pace == Pace::Memory) {
        out.insert(2, MEMORY.to_owned());
    }
    if run.measurements.iter().any(is_network) {
        out.insert(2, NETWORK.to_owned());
    }
    out
}
