//! `other_cpus_busy`: CPUs that the threads do not use were busy, and share the path to memory.

use proofmark_model::{Cut, Finding, Measurement, Severity, Trial, check_id, median};

use super::programs;
use super::share::Share;
use super::weight::Weight;
use super::{Check, Class, Examine, percent};
use crate::Context;
use crate::capacity::Capacity;
use crate::statistics::rank_score;

/// Share of one CPU that is reported; a system's own housekeeping takes less.
const BUSY: f64 = 0.1;

/// Share of a round for which another CPU must be busy, so that the round counts as one with it.
const WITH: f64 = 0.5;
/// Largest such share of a round without it.
const WITHOUT: f64 = 0.05;

/// Number of cores that may fill the path to memory of a socket.
const MANY: f64 = 4.0;

/// Standard score that chance exceeds once in a hundred times.
const SURE: f64 = 2.58;

pub(super) static CHECK: Check = Check {
    id: check_id::OTHER_CPUS_BUSY,
    class: Class::DISTURBANCE,
    title: "Other CPUs were busy during a memory load",
    about: "Applies to loads of memory and caches. The check compares the busy time of CPUs that \
         the threads do not use (/proc/stat) with the trials' time. More than 10 % of one CPU is a \
         note: a program there shares caches and the path to memory, whether it uses them much or \
         not. proofmark reports the cost only if it shows in rounds with it (a CPU busy for half \
         of the time or more) and rounds without: their rates must differ by a rank test \
         (Mann-Whitney, 1 %). That cost is weighed. If half of the other CPUs were busy in all \
         rounds, or 4, the cost is unknown, and the result suspect. Stop other programs, or \
         measure with all CPUs.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if ctx.work(m).cut() != Cut::Bus {
        return None;
    }
    let share = Share::sum(&m.trials, |t| t.conditions.elsewhere_cpu_s, |t| t.seconds)?;
    // The ticks of 10 ms may exceed the time of all of them.
    let share = share.at_most(other_cpus(ctx, m).unwrap_or(f64::INFINITY));
    if share.all <= BUSY {
        return None;
    }
    let cost = cost(m);
    let severity = match cost {
        Some(cost) => Weight::derive(m).change(cost),
        None if is_always(ctx, m) => Severity::Suspect,
        None => Severity::Note,
    };
    let costs = match cost {
        Some(cost) => format!("rounds with it were {} slower than those without", percent(cost)),
        None if rates(m, |busy| busy <= WITHOUT).is_empty() => {
            "its cost is unknown: no round was without it".to_owned()
        }
        None => "its cost is unknown: rounds with and without it do not differ enough".to_owned(),
    };
    let message =
        format!("other CPUs were busy for {} of one CPU's time; {costs}", percent(share.all));
    let advice =
        format!("stop other programs ({}), or measure with all CPUs", programs::cpu_users(ctx));
    Some(share.add_to(CHECK.finding(severity, message, advice), "elsewhere_cpu_s"))
}

/// True if in all trials half of the other CPUs were busy, or enough to fill the path to memory.
fn is_always(ctx: &Context, m: &Measurement) -> bool {
    let Some(others) = other_cpus(ctx, m) else { return false };
    let many = (WITH * others).min(MANY);
    m.trials.iter().all(|t| busy(t).is_some_and(|cpus| cpus >= many))
}

/// Number of CPUs of the machine that the threads do not use; at least 1, since one was busy.
fn other_cpus(ctx: &Context, m: &Measurement) -> Option<f64> {
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    let all = ctx.host.cpu.logical_cpus.get().map_or(capacity.cpus, |n| u64::from(*n));
    Some(all.saturating_sub(capacity.threads.min(capacity.cpus)).max(1) as f64)
}

/// Number of other CPUs that were busy during a trial.
fn busy(t: &Trial) -> Option<f64> {
    Some(t.conditions.elsewhere_cpu_s? / t.seconds)
}

/// Rates of the rounds of trials whose number of other busy CPUs `is_wanted` accepts.
fn rates(m: &Measurement, is_wanted: impl Fn(f64) -> bool) -> Vec<f64> {
    let trials = m.trials.iter().filter(|t| busy(t).is_some_and(&is_wanted));
    let rounds = trials.flat_map(|t| &t.rounds).filter_map(|r| r.typical);
    rounds.map(|v| m.unit.rate(v)).collect()
}

/// Share by which the rounds with another busy CPU were slower, if they were.
fn cost(m: &Measurement) -> Option<f64> {
    let (with, without) = (rates(m, |busy| busy >= WITH), rates(m, |busy| busy <= WITHOUT));
    let cost = 1.0 - median(&with)? / median(&without)?;
    let differ = rank_score(&with, &without).is_some_and(|score| score < -SURE);
    Some(cost).filter(|cost| differ && cost.is_finite() && *cost > 0.0)
}

#[cfg(test)]
mod tests {
    use proofmark_model::{FigureKind, Round};

    use super::*;
    use crate::testing::*;

    /// Alternating rounds with neighbours that were busy for those times. Rounds with one have that
    /// share of the others' rate, around the same middle.
    fn with_neighbour(m: Measurement, busy: [f64; 2], rate: f64) -> Measurement {
        let mut m = headed(m, FigureKind::Typical, 0.01);
        for (i, t) in m.trials.iter_mut().enumerate() {
            t.conditions.elsewhere_cpu_s = Some(busy[i % 2] * t.seconds);
            let at = if busy[i % 2] > 0.5 { rate } else { 1.0 };
            let middle = if busy[0] == busy[1] { at } else { f64::midpoint(rate, 1.0) };
            let noise = 1.0 + 0.001 * ((i / 2) as f64 - 2.0);
            t.rounds =
                vec![Round { typical: Some(noise * at / middle * t.value), ..Round::default() }];
        }
        m
    }

    #[test]
    fn a_neighbour_is_named_and_its_cost_is_from_rounds_with_and_without_it() {
        CHECK.expect([
            ("always", with_neighbour(stream("triad", 1), [1.0, 1.0], 0.8), SUSPECT),
            ("half of the time", with_neighbour(stream("triad", 1), [0.3, 0.3], 0.8), NOTE),
            ("every second round", with_neighbour(stream("triad", 1), [1.0, 0.0], 0.8), SUSPECT),
            ("without a cost", with_neighbour(stream("triad", 1), [1.0, 0.0], 1.0), NOTE),
            ("housekeeping", with_neighbour(stream("triad", 1), [0.05, 0.02], 1.0), SILENT),
            ("a core of its own", with_neighbour(flops(1), [1.0, 0.0], 0.8), SILENT),
            ("not reported", stream("triad", 1), SILENT),
        ]);
        let text = |m| CHECK.found(m).unwrap().message;
        let sometimes = text(with_neighbour(stream("triad", 1), [1.0, 0.0], 0.8));
        let expected = "other CPUs were busy for 50.0 % of one CPU's time; rounds with it were 20.";
        assert!(sometimes.starts_with(expected), "{sometimes}");
        assert!(text(with_neighbour(stream("triad", 1), [1.0, 1.0], 0.8)).contains("unknown"));
        let more = text(with_neighbour(stream("triad", 1), [1.04, 1.04], 0.8));
        assert!(more.starts_with("other CPUs were busy for 100.0 % of"), "one other CPU: {more}");
        // Of a time, more is slower.
        let slower = text(with_neighbour(latency(1 << 30, 1e-7), [1.0, 0.0], 1.25));
        assert!(
            slower.contains("with it were 20.") || slower.contains("with it were 19."),
            "{slower}"
        );
    }
}
