//! Matches the results on all CPUs of two machines that do not have as many.
//!
//! All of 2 CPUs and all of 1 are two configurations, but either is what its whole machine does, and
//! what its price buys. So each result on all usable CPUs of A is compared with the one of B of the
//! same workload and other parameters. One of B may count twice: against A's result on as many
//! threads, and as that of all its CPUs. Threads of a device are no CPUs: they match so only where A's
//! result has no other counterpart.

use std::collections::BTreeMap;

use proofmark_model::{
    Better, ComparedPoint, MainRow, Measurement, Params, PickedValue, Run, Subsystem, counted, key,
};

use super::pairs::{Match, Pair, matched};

/// The numbers of usable CPUs of A and of B; `None` where they are alike, or one is unknown.
pub(super) fn counts(runs: [&Run; 2]) -> Option<[u64; 2]> {
    let [a, b] = runs.map(|run| run.host.limits.usable_cpus.len() as u64);
    (a != b && a.min(b) > 0).then_some([a, b])
}

/// Adds the pairs of results on all CPUs of each machine. They replace what only one run has.
pub(super) fn with_pairs<'a>(
    runs: [&'a Run; 2],
    letters: [char; 2],
    mut pairs: Vec<Pair<'a>>,
) -> Vec<Pair<'a>> {
    let Some(cpus) = counts(runs) else { return pairs };
    let of_machine = [0, 1].map(|side: usize| {
        let all = runs[side].measurements.iter();
        all.filter(|m| is_on_all(&m.params, cpus[side])).collect()
    });
    for pair in matched(runs, letters, of_machine, true) {
        let Pair::Both(a, b, how) = pair else { continue };
        let Some(place) = pairs.iter().position(|p| p.in_a().is_some_and(|m| std::ptr::eq(m, a)))
        else {
            continue;
        };
        let pair = Pair::Both(a, b, Match { cpus: Some(cpus), ..how });
        match pairs[place] {
            Pair::OnlyA(_) => pairs[place] = pair,
            _ if computes(a.subsystem) => pairs.insert(place + 1, pair),
            _ => continue,
        }
        pairs.retain(|p| !matches!(p, Pair::OnlyB(m) if std::ptr::eq(*m, b)));
    }
    pairs
}

/// Returns true if a result has one thread per CPU of a machine with that many.
pub(super) fn is_on_all(params: &Params, cpus: u64) -> bool {
    params.get(key::THREADS) == Some(cpus)
}

/// Returns true if CPUs, and no device or server, do the work of a subsystem.
pub(super) fn computes(subsystem: Subsystem) -> bool {
    let info = subsystem.info();
    !info.uses_block_devices && !info.has_server
}

/// Returns true if a rate on so many threads leaves CPUs of the larger machine idle: it is no measure
/// of a machine with more CPUs than the other. A time is, on however few threads.
pub(super) fn is_of_a_part(
    (subsystem, better): (Subsystem, Better),
    params: &Params,
    [a, b]: [u64; 2],
) -> bool {
    computes(subsystem) && better == Better::Higher && params.threads() < a.max(b)
}

/// Returns true if a matched result is a rate that leaves CPUs of the larger machine idle. `cpus` are the
/// numbers of CPUs, if the machines differ; `on_all` is true for a result on all CPUs of each.
pub(super) fn is_partial_rate(m: &Measurement, cpus: Option<[u64; 2]>, on_all: bool) -> bool {
    let is_partial = |cpus| is_of_a_part((m.subsystem, m.better), &m.params, cpus);
    !on_all && cpus.is_some_and(is_partial)
}

/// Leaves out the rates on some of the CPUs, in subsystems that have results on all CPUs of machines
/// that do not have as many. Returns these numbers, too.
pub(super) fn of_whole_machines(
    mut all: Vec<&ComparedPoint>,
) -> (Vec<&ComparedPoint>, Option<[u64; 2]>) {
    let on_all = all.iter().filter_map(|p| Some((p.subsystem, p.all_cpus?)));
    let on_all: BTreeMap<Subsystem, [u64; 2]> = on_all.collect();
    all.retain(|p| {
        let is_in_both = p.a.is_some() && p.b.is_some() && p.all_cpus.is_none();
        let of_a_part = |cpus: &[u64; 2]| is_of_a_part((p.subsystem, p.better), &p.params, *cpus);
        !is_in_both || !on_all.get(&p.subsystem).is_some_and(of_a_part)
    });
    let cpus = on_all.into_values().next();
    (all, cpus)
}

/// Returns true if the row is that of one CPU, however many the machine has.
pub(super) fn is_row_of_one(row: &MainRow) -> bool {
    let is_one = |value: &PickedValue| *value == PickedValue::Smallest;
    row.picks.iter().any(|pick| key::THREADS == *pick.parameter && is_one(&pick.value))
}

/// Returns a title or name with `all CPUs` in place of the number: `FP peak, all CPUs`.
pub(super) fn named(text: &str, m: &Measurement) -> String {
    let words = if computes(m.subsystem) { "all CPUs" } else { "1 thread per CPU" };
    let count = ["CPU", "thread"].map(|noun| counted(m.params.threads(), noun));
    let mut parts: Vec<&str> = text.split(", ").filter(|part| !part.is_empty()).collect();
    match parts.iter().position(|part| count.iter().any(|one| one == part)) {
        Some(at) => parts[at] = words,
        None => parts.push(words),
    }
    parts.join(", ")
}

/// Returns `2 in A, 1 in B`.
pub(super) fn words([a, b]: [u64; 2], [letter_a, letter_b]: [char; 2]) -> String {
    format!("{a} in {letter_a}, {b} in {letter_b}")
}
