//! Budgets that hold more of a plan, found by asking the planner: sums of estimates would be contradicted
//! by it.

use std::collections::BTreeMap;

use crate::planned::Planned;
use crate::request::LONGEST_RUN;

/// Whole multiples of 5 s up to this number of them, then whole minutes.
const FIVES: u64 = 24;

/// Seconds of the n-th budget that is named, from 1.
fn seconds(n: u64) -> u64 {
    if n <= FIVES { 5 * n } else { 60 * (n - FIVES + 2) }
}

/// Asks the planner for plans of longer budgets.
pub(super) struct Budgets<'a> {
    plan_within: &'a dyn Fn(f64) -> Planned,
    /// The first budget that is longer than that of the run.
    first: u64,
    /// Plans so far.
    known: BTreeMap<u64, Planned>,
}

impl<'a> Budgets<'a> {
    /// Asks `plan_within`, which gets seconds, for budgets longer than `budget_s`.
    pub(super) fn new(plan_within: &'a dyn Fn(f64) -> Planned, budget_s: f64) -> Self {
        let first = (1..).find(|n| seconds(*n) as f64 > budget_s).unwrap_or(1);
        Self { plan_within, first, known: BTreeMap::new() }
    }

    /// A short budget whose plan `has` what is wanted, as typed: `34m`; `None`: no budget has it.
    pub(super) fn sufficient(&mut self, has: impl Fn(&Planned) -> bool) -> Option<String> {
        let mut has = |n: u64| {
            let plan_within = self.plan_within;
            has(self.known.entry(n).or_insert_with(|| plan_within(seconds(n) as f64)))
        };
        let (mut too_short, mut n, mut step) = (self.first - 1, self.first, 1);
        while !has(n) {
            (too_short, n, step) = (n, n + step, 2 * step);
            if seconds(n) > LONGEST_RUN.as_secs() {
                return None;
            }
        }
        while n - too_short > 1 {
            let middle = too_short.midpoint(n);
            *(if has(middle) { &mut n } else { &mut too_short }) = middle;
        }
        let seconds = seconds(n);
        Some(if n < FIVES { format!("{seconds}s") } else { format!("{}m", seconds / 60) })
    }
}
