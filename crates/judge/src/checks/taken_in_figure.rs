//! `taken_in_figure`: other processes or the hypervisor took more of the threads' time than the windows left out.

use proofmark_model::{Cut, Finding, Measurement, TIME_ACCOUNT_ERROR, check_id};

use super::weight::{Weight, most_lost};
use super::{Check, Class, Examine, percent, programs};
use crate::{Context, taken_in_figure};

/// Cost of time that is taken in small parts from a load that shares a bus, as a multiple of that
/// time. Each part also costs cached data and requests in flight. Measured: a database that takes
/// 7 % in parts of 10 us costs a copy 16 to 34 %.
const COST_ON_A_BUS: f64 = 4.0;

pub(super) static CHECK: Check = Check {
    id: check_id::TAKEN_IN_FIGURE,
    class: Class::DISTURBANCE,
    title: "The figure includes time that was taken from the threads",
    about: "Applies to loads in slices, over all trials if these are a second or more. The system \
         counts the time that the threads were off their CPUs (run delay, quotas, stops). The \
         check compares it with the gaps of the slices, which the windows leave out. The rest was \
         taken in parts too short for a gap, and is in the figure. More than 0.3 % of the threads' \
         time, the error of the account, is a note. It is weighed; for memory loads four times \
         over, since each part costs caches as well; at most what the result lacks of its ceiling. No thread's account counts interrupts, so the \
         check does not see them. Stop the program that wakes up so often, or reserve CPUs for the \
         run.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let share = taken_in_figure(m).filter(|share| *share > 0.0)?;
    let cost = if ctx.work(m).cut() == Cut::Bus { COST_ON_A_BUS } else { 1.0 };
    let most = most_lost(m);
    let severity = Weight::derive(m).change((cost * share).min(most));
    let included = match most < cost * share {
        true => format!("by its ceiling the figure lost at most {}", percent(most)),
        false => "the figure includes that time".to_owned(),
    };
    let switches: u64 = m.trials.iter().filter_map(|t| t.conditions.involuntary_switches).sum();
    let seconds: f64 = m.trials.iter().map(|t| t.seconds).sum();
    let message = format!(
        "{} of the threads' time was taken in parts too short for the windows to leave out ({:.0} \
         involuntary switches per second; counting error {}): {included}",
        percent(share),
        switches as f64 / seconds,
        percent(TIME_ACCOUNT_ERROR),
    );
    let advice = format!(
        "stop the program that wakes up so often ({}), or reserve CPUs for the run",
        programs::cpu_users(ctx)
    );
    let finding = CHECK.finding(severity, message, advice);
    Some(finding.with("share", share).with("involuntary_switches", switches))
}

#[cfg(test)]
mod tests {
    use proofmark_model::{FigureKind, TimeAccount};

    use super::*;
    use crate::testing::*;

    /// The result with those shares of each trial's time taken, and removed by windows.
    fn account(m: Measurement, taken: f64, removed: Option<f64>) -> Measurement {
        each(m, |_, t| {
            t.time_account = Some(TimeAccount {
                wall_s: 0.2,
                waiting_s: 0.2 * taken,
                removed_s: removed.map(|share| 0.2 * share),
                ..TimeAccount::default()
            });
            t.conditions.other_cpu_s = Some(taken * t.seconds);
            t.conditions.involuntary_switches = Some(700);
        })
    }

    fn core() -> Measurement {
        let far_below = with_values(flops(1), &around(0.8 * 64e9));
        headed(in_windows(far_below), FigureKind::Attainable, 0.001)
    }

    fn bus() -> Measurement {
        headed(in_windows(stream("copy", 1)), FigureKind::Typical, 0.01)
    }

    #[test]
    fn more_taken_than_removed_is_in_the_figure_and_weighed() {
        CHECK.expect([
            ("all removed", account(core(), 0.08, Some(0.08)), SILENT),
            ("within the error", account(core(), 0.08, Some(0.079)), SILENT),
            (
                "not removed",
                account(core(), 0.08, Some(0.001)),
                suspect("7.9 % of the threads' time"),
            ),
            ("little", account(bus(), 0.006, Some(0.001)), NOTE),
            ("small parts of a bus", account(bus(), 0.05, Some(0.0)), SUSPECT),
            ("an older version", account(core(), 0.08, None), SILENT),
        ]);
        // At 99 % of its ceiling it cannot have lost 8 %.
        let near = with_values(flops(1), &around(0.99 * 64e9));
        let near = headed(in_windows(near), FigureKind::Attainable, 0.001);
        let words = note("7.9 % of the threads' time ... by its ceiling the figure lost at most");
        CHECK.expect([("near its ceiling", account(near, 0.08, Some(0.001)), words)]);
        let short = each(account(bus(), 0.08, Some(0.0)), |_, t| {
            t.time_account.as_mut().unwrap().wall_s = 0.09;
        });
        CHECK.expect([("less than a second", short, SILENT)]);
    }

    #[test]
    fn the_text_does_not_claim_that_the_figure_leaves_out_what_it_includes() {
        let text = |m: Measurement| {
            let found = judged(&host(), m, &[]).findings;
            found.into_iter().find(|f| f.check == "other_cpu").unwrap().message
        };
        assert!(
            text(account(core(), 0.08, Some(0.08))).ends_with("the figure leaves that time out")
        );
        assert!(!text(account(core(), 0.08, Some(0.001))).contains("leaves"));
    }
}
