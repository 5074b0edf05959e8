//! The measurement method in brief, with this run's own parameters.
//!
//! Sources: Hoefler and Belli, SC'15 (intervals of medians, what to report); Kalibera and Jones,
//! ISMM'13 (how many repetitions).

use std::cmp::Reverse;

use proofmark_model::{Measurement, Pace, Run, Subsystem, format_quantity, format_seconds};

use super::grouping::{distinct, grouped};
use super::network::is_network;
use super::num::percentage;
use super::sentences::{number_of_trials, shorter_than_planned, taken};
use super::text::{and_list, clean, enclosed, joined};

const FIGURES: &str = "Figures. CPU and memory loads run in slices of about 20 us, which show when \
    the thread did not run. A window of 0.25 ms (memory: 1 ms) is clean if no time was taken in \
    it. Attainable is what the hardware does when it is left alone. For CPU loads it is the 95th \
    percentile of each core's clean windows. For memory loads it is the same for all threads \
    together, in the rounds that saw the highest state. For complete solves it is the best one. \
    Typical is the rate over the clean windows; for complete solves, the median. Delivered is all \
    work divided by all time. The headline figure is attainable for CPU loads, typical for memory \
    loads, delivered for complete solves and for single operations of disk and network.";

const STATISTICS: &str = "Statistics. Attainable and typical are the median of the rounds. A trial \
    of a CPU or memory load is cut into rounds; of other loads each trial is one round. The \
    interval of a median contains it with at least 95 % confidence and assumes no distribution. It \
    comes from order statistics. Delivered is one ratio of two sums over all rounds. Its 95 % \
    interval is the jackknife's, of the ratio's logarithm. Its slow end includes one more round, \
    since a longer run may stall: of at most a quarter of the usual rate, or 60 % of it where \
    each trial does a fixed work. An interval needs 6 rounds of a fixed number, or 8 where the \
    interval decides the number. The standard deviation is that of the trials, as a sample (n - 1). \
    Every trial is kept and shown.";

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

/// How many trials the configurations took: first those whose number was fixed, then those whose
/// interval decided it.
fn trials(run: &Run) -> String {
    let policy = &run.plan.policy;
    let (fixed, open): (Vec<&Measurement>, Vec<&Measurement>) =
        run.measurements.iter().partition(|m| policy.is_fixed(&m.workload));
    let counts = fixed.iter().filter_map(|m| Some((taken([*m])?, clean(&m.workload))));
    let mut counts = grouped(counts);
    counts.sort_by_key(|(_, ids)| Reverse(ids.len()));
    let other = |(taken, ids): &([u64; 2], Vec<String>)| {
        format!("; one of {} took {}", and_list(distinct(ids)), number_of_trials(*taken))
    };
    let others: String = counts.iter().skip(1).map(other).collect();
    let fixed = counts.first().map(|(taken, _)| {
        format!("A configuration took {}, a fixed number{others}.", number_of_trials(*taken))
    });
    let open = taken(open).map(|taken| {
        format!(
            "A configuration {}took {}. It was complete when half the 95 % interval of its headline \
             was at most {} of the figure, or when its time was used up.",
            if counts.is_empty() { "" } else { "of another workload " },
            number_of_trials(taken),
            targets(run)
        )
    });
    match (fixed, open) {
        (None, None) => "No configuration was measured in trials.".to_owned(),
        (fixed, open) => joined(fixed.into_iter().chain(open), " "),
    }
}

/// How long a trial lasts: as planned, or as long as the work of one that is one piece.
fn lengths(run: &Run) -> String {
    let policy = &run.plan.policy;
    let of_run = |workload: &str| {
        run.plan.points.iter().any(|p| p.workload == workload)
            || run.measurements.iter().any(|m| m.workload == workload)
    };
    let others = policy.trial_s_of.iter().filter(|(workload, _)| of_run(workload));
    let others = others.map(|(workload, s)| format!("{} for {}", seconds(*s), clean(workload)));
    let others = enclosed(" (", &joined(others, ", "), ")");
    let measured = run.measurements.iter().filter(|m| m.series.is_none());
    let by_workload = grouped(measured.map(|m| (m.workload.as_str(), m)));
    let shorter = by_workload.iter().filter_map(|(id, all)| {
        let trials = all.iter().flat_map(|m| &m.trials);
        let shortest = shorter_than_planned(policy.trial_s_for(id), trials)?;
        Some(format!("{} for {}", seconds(shortest), clean(id)))
    });
    let shorter = enclosed(" Some were shorter, down to ", &joined(shorter, ", "), ".");
    format!("A trial is planned to last at least {}{others}.{shorter}", seconds(policy.trial_s))
}

fn seconds(v: f64) -> String {
    if v.is_finite() && v >= 0.0 { format_seconds(v) } else { "an unknown time".to_owned() }
}

/// The paragraphs of the method.
pub fn paragraphs(run: &Run) -> Vec<String> {
    let policy = &run.plan.policy;
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
    let mut out = vec![
        format!(
            "Time. A rate is the work of all threads divided by wall time: from the first \
             thread's start to the last thread's end, on CLOCK_MONOTONIC_RAW. CPU time is never \
             used. {}{timer}",
            lengths(run)
        ),
        format!(
            "Threads. {} More threads than usable CPUs share the CPUs and are marked \
             oversubscribed.",
            threads(run)
        ),
        format!(
            "Trials. {}{budget} Warm-up is not counted. It is 20 ms before each trial of a \
             CPU or memory load; for other loads, it lasts until the rate is steady.",
            trials(run)
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
