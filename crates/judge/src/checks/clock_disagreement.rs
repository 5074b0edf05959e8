//! `clock_disagreement`: two ways to measure the clock do not agree.

use proofmark_model::{Finding, Measurement, Pace};

use super::{Check, Class, percent};
use crate::Context;
use crate::statistics::typical;

/// Two chains on one clock agree within some 0.2 %.
const THRESHOLD: f64 = 0.02;

pub(super) static CHECK: Check = Check {
    id: "clock_disagreement",
    class: Class::Claim,
    title: "Clock measurements disagree",
    about: "proofmark measures the clock with two chains of different dependent instructions. If they \
         differ by more than 2 % (median over the trials), one of them does not take its known \
         cycles on this core, or another program ran. The ceiling depends on these chains, so the \
         result is suspect. Check whether the core is shared, and compare with the reported \
         frequency.",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if ctx.work(m).pace != Pace::Core {
        return None;
    }
    let gap = typical(&m.trials, |t| t.conditions.clock_disagreement)?.abs();
    if gap <= THRESHOLD {
        return None;
    }
    let message = format!("two instruction chains measure clocks that differ by {}", percent(gap));
    let advice = "check whether another busy process or hardware thread shares the core, and \
                  compare with the reported frequency";
    Some(CHECK.suspect(message, advice).with("disagreement", gap))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn chains_that_disagree_are_suspect_and_one_trial_is_not() {
        let apart = |of: fn(usize) -> f64| {
            each_condition(flops(1), |i, c| c.clock_disagreement = Some(of(i)))
        };
        CHECK.expect([
            ("all trials", apart(|_| 0.03), SUSPECT),
            ("one trial", apart(|i| if i == 0 { 0.5 } else { 0.001 }), SILENT),
        ]);
    }
}
