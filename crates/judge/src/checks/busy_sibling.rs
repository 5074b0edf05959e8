//! `busy_sibling`: somebody used another hardware thread of a core that the threads ran on.
//!
//! A core issues so many instructions a cycle, whoever they are from. Between slices each thread
//! runs a loop of instructions that do nothing: alone it gets all of them, beside another hardware
//! thread about half. No counter of the system shows that if the other belongs to another guest.

use proofmark_model::{Cut, Finding, Measurement, Property, Round, widest};

use super::weight::Weight;
use super::{Check, Class, Examine, percent};
use crate::Context;

/// Beside memory loads readings of a core alone differ by some percent: there a round is shared below 97 %
/// of this.
const BUS: f64 = 0.96;

pub(super) static CHECK: Check = Check {
    id: "busy_sibling",
    class: Class::DISTURBANCE,
    title: "A core's other hardware thread was busy",
    about: "Loads in slices. Once per millisecond each thread runs a loop of NOPs, which shows how many \
         instructions its core issues for it per cycle. A round is shared if its 95th percentile is \
         below 97 % (of memory loads 93 %) of the third highest that the run saw under the same workload on as \
         many threads: an SMT sibling worked in nearly all of that round, of this system or, on a virtual \
         machine, of another guest. Attainable of CPU loads leaves these rounds out, and it is a note. If \
         all rounds of a CPU load were shared, what is missing to the ceiling, or of the issue slots, is \
         weighed. The cost to clocks and memory loads is unknown: a note. The check is silent if \
         the threads are known to share cores. Use a host with dedicated cores, or treat the rate as \
         that of shared cores.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let here = widest(m.all_rounds());
    // What an own thread beside ours leaves depends on what it runs.
    let known_siblings = m.params.threads() > ctx.host.limits.usable_cores as u64;
    if known_siblings {
        return None;
    }
    let is_alike =
        |o: &&Measurement| o.workload == m.workload && o.params.threads() == m.params.threads();
    let alike = ctx.others.iter().filter(is_alike);
    let usual = alike.map(|o| widest(o.all_rounds())).fold(here, f64::max);
    let all = m.all_rounds().filter(|r| r.issue_width.is_some()).count();
    let apart = if ctx.work(m).cut() == Cut::Bus { BUS } else { 1.0 };
    let is_shared = |r: &&Round| !r.alone(apart * usual);
    let shared = m.all_rounds().filter(is_shared).count();
    let on_one_core = m.trials.iter().filter(|t| t.on_one_core());
    let by_us = on_one_core.flat_map(|t| &t.rounds).filter(is_shared).count();
    if shared == 0 || by_us == shared && shared < all {
        return None; // What our own threads did to each other is a state of the CPUs.
    }
    let missing = 1.0 - here / usual;
    // A clock is that of one instruction after the other, and a bus may have had enough: there the
    // cost is not known.
    let is_clock = ctx.spec(m).is_some_and(|spec| spec.role.gives(Property::CoreClock));
    let costs = ctx.work(m).cut() == Cut::Core && !is_clock;
    let most = if costs { missing } else { 0.0 };
    let change = m.efficiency.map_or(most, |e| most.min(1.0 - e));
    let change = if shared == all { change } else { 0.0 };
    let severity = Weight::derive(ctx, m).change(change);
    let message = format!(
        "an SMT sibling was busy in {shared} of {all} rounds{} and took up to {} of the core's issue \
         slots",
        if by_us > 0 { format!(" (in {by_us} it was our own)") } else { String::new() },
        percent(1.0 - narrowest(m) / usual),
    );
    let advice = "use a host with dedicated cores, or treat the rate as that of shared cores";
    let finding = CHECK.finding(severity, message, advice);
    Some(finding.with("shared_rounds", shared).with("rounds", all).with("issue_width", usual))
}

/// The least that a round's cores issued a cycle.
fn narrowest(m: &Measurement) -> f64 {
    m.all_rounds().filter_map(|r| r.issue_width).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use proofmark_model::{CpuDistance, CpuPairSeen, FigureKind, Round};

    use super::*;
    use crate::testing::*;

    /// Rounds in which the cores issued so many instructions a cycle.
    fn with_widths(m: Measurement, widths: &[f64]) -> Measurement {
        let mut m = headed(m, FigureKind::Attainable, 0.001);
        for (i, t) in m.trials.iter_mut().enumerate() {
            let issue_width = Some(widths[i % widths.len()]);
            let attainable = Some(t.value);
            t.rounds = vec![Round { attainable, issue_width, ..Round::default() }];
        }
        m
    }

    /// The first so many rounds on one core.
    fn on_one_core(mut m: Measurement, rounds: usize) -> Measurement {
        let before = Some(CpuDistance { round_trip_s: 5e-8, issue_ratio: 0.65 });
        for t in &mut m.trials[..rounds] {
            t.pairs = vec![CpuPairSeen { before, after: before, ..CpuPairSeen::default() }];
        }
        m
    }

    fn at(threads: u64, share: f64) -> Measurement {
        with_values(flops(threads), &around(share * 64e9 * threads as f64))
    }

    #[test]
    fn a_core_that_was_shared_is_named_and_weighed_where_it_was_shared_throughout() {
        let free = [
            with_widths(at(1, 0.99), &[11.7]),
            with_widths(clock(3.7e9), &[11.7]),
            with_widths(stream("triad", 1), &[11.7]),
        ];
        CHECK.on(&host(), &free).expect([
            ("never", with_widths(at(1, 0.99), &[11.7, 11.5]), SILENT),
            ("at times", with_widths(at(1, 0.99), &[7.0, 11.7]), NOTE),
            ("always, which cost a tenth", with_widths(at(1, 0.9), &[7.0, 8.0]), SUSPECT),
            ("always, at the ceiling", with_widths(at(1, 0.999), &[7.0, 8.0]), NOTE),
            ("a clock", with_widths(clock(3.7e9), &[7.0, 8.0]), NOTE),
            ("memory", with_widths(stream("triad", 1), &[7.0, 8.0]), NOTE),
            ("unknown", at(1, 0.9), SILENT),
            (
                "one too wide",
                with_widths(
                    at(1, 0.9),
                    &[11.6, 11.6, 11.7, 11.6, 11.6, 11.6, 11.6, 11.6, 11.6, 13.0],
                ),
                SILENT,
            ),
            // Two threads on one core have half of it each, all the time.
            ("siblings", with_widths(at(2, 0.5), &[5.9, 5.8]), SILENT),
            ("our own", on_one_core(with_widths(at(1, 0.99), &[7.0, 11.7]), 10), SILENT),
            ("our own, always", on_one_core(with_widths(at(1, 0.6), &[7.0]), 10), SUSPECT),
        ]);
        let said = |m| {
            let m = judged(&host(), m, &free);
            m.findings.into_iter().find(|f| f.check == CHECK.id).unwrap().message
        };
        assert_eq!(
            said(with_widths(at(1, 0.99), &[7.02, 11.7])),
            "an SMT sibling was busy in 5 of 10 rounds and took up to 40.0 % of the core's issue slots"
        );
        let some = said(on_one_core(with_widths(at(1, 0.99), &[7.02, 11.7]), 4));
        assert!(some.contains("in 5 of 10 rounds (in 2 it was our own) and"), "{some}");
    }
}
