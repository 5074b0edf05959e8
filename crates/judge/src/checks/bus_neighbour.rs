//! `bus_neighbour`: CPUs that the threads do not use were busy, and share the path to memory.

use proofmark_model::{Cut, Finding, Measurement, Trial, median};

use super::share::Share;
use super::weight::Weight;
use super::{Check, Class, Examine, percent};
use crate::Context;

/// A system's own housekeeping takes less.
const BUSY: f64 = 0.1;

/// Rounds with and without a neighbour are compared if there are so many of each.
const LEAST_ROUNDS: usize = 3;

/// A neighbour worked in a round of which another CPU was busy for this share at least, and not in
/// one in which none was for this one.
const WITH: f64 = 0.5;
const WITHOUT: f64 = 0.05;

pub(super) static CHECK: Check = Check {
    id: "bus_neighbour",
    class: Class::DISTURBANCE,
    title: "Other CPUs were busy beside a memory load",
    about: "Loads of memory and caches. Time that CPUs which the threads do not use were busy, over the \
         trials' time, by /proc/stat. More than 10 % of one CPU is a note: what runs there shares caches and \
         the path to memory, whether it uses them much or not. What it cost is told only if at least 3 \
         rounds had a neighbour (busy for half of one CPU's time or more) and 3 had none: their median \
         rates are compared, and the difference is weighed. Stop other programs, or measure with all CPUs.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if ctx.work(m).cut() != Cut::Bus {
        return None;
    }
    let share = Share::sum(&m.trials, |t| t.conditions.elsewhere_cpu_s, |t| t.seconds)?;
    if share.all <= BUSY {
        return None;
    }
    let cost = cost(m);
    let severity = Weight::derive(ctx, m).change(cost.unwrap_or(0.0));
    let costs = match cost {
        Some(cost) => format!("rounds with it were {} slower than those without", percent(cost)),
        None => "what that cost is unknown: too few rounds with it, or without".to_owned(),
    };
    let message =
        format!("other CPUs were busy for {} of one CPU's time; {costs}", percent(share.all));
    let advice = "stop other programs (top lists them), or measure with all CPUs";
    Some(share.add_to(CHECK.finding(severity, message, advice), "elsewhere_cpu_s"))
}

/// By how much the rounds with a neighbour were slower, as a share; at least 0.
fn cost(m: &Measurement) -> Option<f64> {
    let busy = |t: &Trial| Some(t.conditions.elsewhere_cpu_s? / t.seconds);
    let rates = |of: &dyn Fn(f64) -> bool| {
        let trials = m.trials.iter().filter(|t| busy(t).is_some_and(of));
        let rounds = trials.flat_map(|t| &t.rounds).filter_map(|r| r.typical);
        let rates: Vec<f64> = rounds.map(|v| m.unit.rate(v)).collect();
        median(&rates).filter(|_| rates.len() >= LEAST_ROUNDS)
    };
    let (with, without) = (rates(&|busy| busy >= WITH)?, rates(&|busy| busy <= WITHOUT)?);
    Some((1.0 - with / without).max(0.0)).filter(|cost| cost.is_finite())
}

#[cfg(test)]
mod tests {
    use proofmark_model::{FigureKind, Round};

    use super::*;
    use crate::testing::*;

    /// Rounds in turn with neighbours that were busy so long; those with one at this share of the others'
    /// rate, around the same middle.
    fn beside(m: Measurement, busy: [f64; 2], rate: f64) -> Measurement {
        let mut m = headed(m, FigureKind::Typical, 0.01);
        for (i, t) in m.trials.iter_mut().enumerate() {
            t.conditions.elsewhere_cpu_s = Some(busy[i % 2] * t.seconds);
            let at = if busy[i % 2] > 0.5 { rate } else { 1.0 };
            let middle = if busy[0] == busy[1] { at } else { f64::midpoint(rate, 1.0) };
            t.rounds = vec![Round { typical: Some(at / middle * t.value), ..Round::default() }];
        }
        m
    }

    #[test]
    fn a_neighbour_is_named_and_its_cost_is_told_from_rounds_with_and_without_it() {
        CHECK.expect([
            ("always", beside(stream("triad", 1), [1.0, 1.0], 0.8), NOTE),
            ("every second round", beside(stream("triad", 1), [1.0, 0.0], 0.8), SUSPECT),
            ("without a cost", beside(stream("triad", 1), [1.0, 0.0], 1.0), NOTE),
            ("housekeeping", beside(stream("triad", 1), [0.05, 0.02], 1.0), SILENT),
            ("a core of its own", beside(flops(1), [1.0, 0.0], 0.8), SILENT),
            ("not reported", stream("triad", 1), SILENT),
        ]);
        let said = |m| CHECK.found(m).unwrap().message;
        assert_eq!(
            said(beside(stream("triad", 1), [1.0, 0.0], 0.8)),
            "other CPUs were busy for 50.0 % of one CPU's time; rounds with it were 20.0 % slower than \
             those without"
        );
        assert!(said(beside(stream("triad", 1), [1.0, 1.0], 0.8)).contains("unknown"));
        // Of a time, more is slower.
        let slower = said(beside(latency(1 << 30, 1e-7), [1.0, 0.0], 1.25));
        assert!(slower.contains("20.0 % slower"), "{slower}");
    }
}
