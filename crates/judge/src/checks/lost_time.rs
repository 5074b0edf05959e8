//! Checks `stopped` and `unaccounted`: time that a trial's threads lost although no program used
//! their CPUs, by a signal or without an account.

use proofmark_model::{End, Finding, Measurement, TimeAccount, Trial, check_id};

use super::share::{Share, worst_tenth};
use super::weight::Weight;
use super::{Check, Class, Examine, percent};
use crate::Context;

/// Share of lost time that is reported; the account is exact to a tenth of it.
const LOST: f64 = 0.01;

pub(super) static STOPPED: Check = Check {
    id: check_id::STOPPED,
    class: Class::TAKEN_TIME,
    title: "Stopped by a signal",
    about: concat!(
        "Examines time that threads were neither on a CPU nor waiting for one, over wall time. \
         For loads in slices it counts in trials in which the process was continued after a \
         stop (SIGCONT). For complete solves it is that of the thread that lost least, in any \
         trial. For disk and network loads, also at the server, an extra thread sleeps 20 ms at \
         a time and was woken later than a busy CPU, steal or a quota explains. More than 1 % \
         is a note. ",
        worst_tenth!(),
        " Causes: a debugger, a job scheduler, Ctrl-Z, a frozen cgroup, or a paused guest. Find \
         the cause, then run again."
    ),
    examine: Examine::Ours(stopped),
};

fn stopped(_: &Context, m: &Measurement) -> Option<Finding> {
    let what = "the process was stopped by a signal for";
    let advice = "find what stops the process (debugger, job scheduler, Ctrl-Z), then run again";
    let uncut = stopped_uncut(m);
    uncut.or_else(|| lost(&STOPPED, m, |t| t.stopped_s, (what, advice)))
}

/// The same for loads without slices, at the end that was stopped longer.
fn stopped_uncut(m: &Measurement) -> Option<Finding> {
    let server = |t: &Trial| End::ServerSide.counters(t.network.as_ref()?).stopped_s;
    let sum =
        |stopped_s: &dyn Fn(&Trial) -> Option<f64>| Share::sum(&m.trials, stopped_s, |t| t.seconds);
    let ends = [("the process", sum(&|t| t.conditions.stopped_s)), ("the server", sum(&server))];
    let ends = ends.into_iter().filter_map(|(who, share)| Some((who, share?)));
    let (who, share) = ends.max_by(|a, b| a.1.all.total_cmp(&b.1.all))?;
    let weight = Weight::derive(m);
    let severity = weight.taken(&share, LOST)?;
    let message = format!(
        "{who} could not run at all for {} of the trials' time: it was stopped, its cgroup frozen, or \
         the guest paused",
        percent(share.all.min(1.0))
    );
    let advice = "find what stops the process (debugger, job scheduler, freezer), then run again";
    Some(share.add_to(STOPPED.finding(severity, message, advice), "seconds"))
}

pub(super) static UNACCOUNTED: Check = Check {
    id: "unaccounted",
    class: Class::TAKEN_TIME,
    title: "Lost time that nothing accounts for",
    about: concat!(
        "Applies to loads in slices. The check compares the time that the threads were neither \
         on a CPU nor waiting for one, although no signal stopped them, with their wall time. \
         More than 1 % is a note. ",
        worst_tenth!(),
        " Causes: a frozen cgroup (freezer), a CPU quota that cannot be read, a hypervisor that \
         takes time without reporting it, or a load that sleeps. Ask who controls the machine, \
         or use another."
    ),
    examine: Examine::Ours(unaccounted),
};

fn unaccounted(_: &Context, m: &Measurement) -> Option<Finding> {
    let what = "the threads neither ran nor waited for a CPU, for no known reason, for";
    let advice = "ask who controls the machine (a frozen cgroup, an unreadable CPU quota, the \
                  hypervisor), or use another";
    lost(&UNACCOUNTED, m, |t| t.unaccounted_s, (what, advice))
}

fn lost(
    check: &Check,
    m: &Measurement,
    lost_s: fn(&TimeAccount) -> f64,
    (what, advice): (&str, &str),
) -> Option<Finding> {
    let all = m.trials.iter().filter_map(|t| t.time_account).reduce(|a, b| a + b)?;
    if lost_s(&all.divided()) <= LOST * all.wall_s {
        return None; // Steal has ticks of 10 ms, so single trials may lack or exceed it.
    }
    let wall_s = |t: &Trial| t.time_account.map_or(0.0, |t| t.wall_s);
    let share = Share::sum(&m.trials, |t| Some(lost_s(&t.time_account?.divided())), wall_s)?;
    let weight = Weight::derive(m);
    let severity = weight.taken(&share, LOST)?;
    let message = format!("{what} {} of their time{}", percent(share.all), weight.ending());
    Some(share.add_to(check.finding(severity, message, advice), "seconds"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn lost_time_is_named_by_its_cause() {
        let with = |value: fn(usize) -> TimeAccount| {
            each(flops(1), |i, t| t.time_account = Some(value(i)))
        };
        let lost = |_| TimeAccount { wall_s: 0.1, unaccounted_s: 0.002, ..Default::default() };
        let held = |_| TimeAccount { wall_s: 0.1, stopped_s: 0.03, ..Default::default() };
        let little = |_| TimeAccount {
            wall_s: 0.1,
            unaccounted_s: 0.0005,
            stopped_s: 0.0005,
            ..Default::default()
        };
        // A tick in every fifth trial is what all of them lack.
        let stolen = |i| TimeAccount {
            wall_s: 0.1,
            stolen_s: Some(if i % 5 == 0 { 0.01 } else { 0.0 }),
            unaccounted_s: 0.002,
            ..Default::default()
        };
        STOPPED.expect([
            ("a third", with(held), SUSPECT),
            ("none", with(lost), SILENT),
            ("half a percent", with(little), SILENT),
            ("no account", flops(1), SILENT),
        ]);
        UNACCOUNTED.expect([
            ("twice the threshold", with(lost), SUSPECT),
            ("stopped", with(held), SILENT),
            ("half a percent", with(little), SILENT),
            ("no account", flops(1), SILENT),
            ("ticks of steal", with(stolen), SILENT),
        ]);
    }

    #[test]
    fn each_trial_of_a_delivered_figure_is_weighed() {
        // A guest that was paused once.
        let paused = |m| {
            each(m, |i, t| {
                t.conditions.stopped_s = Some(if i == 3 { 4.0 * t.seconds } else { 0.0 })
            })
        };
        STOPPED.expect([("a disk", paused(rand_read(1)), SUSPECT)]);
        let about = [STOPPED.about, UNACCOUNTED.about];
        assert!(about.iter().all(|text| text.contains("unless the figure is delivered")));
    }

    #[test]
    fn a_disk_or_a_server_that_was_frozen_is_named() {
        let frozen = |m: Measurement, share: f64| {
            each(m, |_, t| t.conditions.stopped_s = Some(share * t.seconds))
        };
        let server = each_network(tcp(1, "peer"), |n| n.server.stopped_s = Some(0.03));
        STOPPED.expect([
            (
                "a disk",
                frozen(rand_read(1), 0.3),
                suspect("^the process could not run at all for 30.0 %"),
            ),
            ("never", frozen(rand_read(1), 0.0), SILENT),
            ("for a moment", frozen(rand_read(1), 0.005), SILENT),
            ("a server", server, suspect("^the server could not run")),
        ]);
    }
}
