//! `busy_sibling`: another thread used an SMT sibling of a core that the workload's threads ran on.
//!
//! A core issues a fixed number of instructions per cycle for all its hardware threads together.
//! Between slices each thread runs a loop of NOPs: alone it gets every issue slot, with a busy
//! sibling about half. No counter of the system shows that if the sibling belongs to another guest.

use proofmark_model::{
    Cut, Finding, Isa, Measurement, Property, Trial, check_id, is_alone, key, widest,
};

use super::core_shared::missing_by_design;
use super::weight::Weight;
use super::{Check, Class, Examine, percent};
use crate::Context;
use crate::capacity::Capacity;

/// Share of the usual issue width below which (times 97 %) a memory load's core is shared. On a
/// free core its readings differ by some percent.
const BUS: f64 = 0.96;
/// The same share for complete solves: readings between tiles are short and differ by more.
const WHOLE: f64 = 0.9;

pub(super) static CHECK: Check = Check {
    id: check_id::BUSY_SIBLING,
    class: Class::DISTURBANCE,
    title: "A core's other hardware thread was busy",
    about: "Applies to loads in slices and dense matrices. Once per millisecond each thread runs a \
         loop of NOPs, which shows how many instructions its core issues for it per cycle. A busy \
         SMT sibling takes about half, whether it belongs to this system or to another guest. A \
         round is shared if its 95th percentile is below 97 % (memory loads: 93 %) of a reference. \
         That is the third highest of its workload and thread count, or of the same CPU load on \
         one thread. The latter is needed since the narrowest of many threads counts, and one of \
         their cores may be shared in each round. Without rounds on one thread the finding names \
         the widest round on as many threads. A solve or product is shared if its median is below \
         87 % of its reference: the highest of its kind, or the third highest of a CPU load \
         without AVX-512. Attainable of CPU loads leaves shared rounds out; they are a note. If \
         most rounds of a load that fills the execution ports were shared, the others may have \
         been too. The check then weighs the distance to the ceiling, from 3 % on. If all rounds \
         of another CPU load were shared, it weighs the missing issue slots, at most that \
         distance. Of solves and products it adds up the missing issue slots of all, by their time, but no more than \
         the delivered rate is below the fastest one on cores of its own. For clocks and memory loads the cost is unknown: a note. The check \
         is silent if there are more threads than cores. Use a host with dedicated cores, or treat \
         the rate as that of shared cores.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    // Our own threads share cores then, and the width depends on what the other one runs.
    if Capacity::derive(ctx.host, m).is_ok_and(|c| c.threads > c.physical) {
        return None;
    }
    let widths = widths(m);
    let cut = ctx.work(m).cut();
    let here = widest_of(&widths, cut);
    let alone = width_on_one_thread(ctx, m);
    let usual = usual_width(ctx, m).max(here).max(alone.unwrap_or(0.0));
    let free = match cut {
        Cut::Core => usual,
        Cut::Whole => WHOLE * usual,
        _ => BUS * usual,
    };
    let is_shared = |(width, _): &&(f64, bool)| !is_alone(*width, free);
    let (all, shared) = (widths.len(), widths.iter().filter(is_shared).count());
    let by_us = widths.iter().filter(is_shared).filter(|(_, by_us)| *by_us).count();
    if shared == 0 || by_us == shared && shared < all {
        return None; // Our own threads slowed each other: `vcpu_placement` reports it.
    }
    let change = cost_at_most(ctx, m, &widths, (shared, here, usual, free))?;
    let severity = Weight::derive(m).change(change);
    let (what, keys) = match cut {
        Cut::Whole => ("trials", ["trials_affected", "trials"]),
        _ => ("rounds", ["rounds_affected", "rounds"]),
    };
    let narrowest = widths.iter().fold(usual, |least, (width, _)| least.min(*width));
    let less = percent(1.0 - narrowest / usual);
    let threads = m.params.threads();
    let took = match alone.is_some() || threads == 1 {
        true => format!("and took up to {less} of the core's issue slots"),
        // The widest may have shared their cores, too.
        false => format!(
            "and took issue slots: up to {less} fewer than in the widest {what} on {threads} threads, \
             which may have been shared, too"
        ),
    };
    let message = format!(
        "an SMT sibling was busy in {shared} of {all} {what}{} {took}{}",
        if by_us > 0 { format!(" (in {by_us} a thread of this run)") } else { String::new() },
        if change > 0.0 { format!("; it cost at most {}", percent(change)) } else { String::new() },
    );
    let advice = "use a host with dedicated cores, or treat the rate as that of shared cores";
    let finding = CHECK.finding(severity, message, advice);
    Some(finding.with(keys[0], shared).with(keys[1], all).with("issue_width", usual))
}

/// The largest share of the figure that a neighbour can have cost; 0 if unknown. The last argument
/// has the number of shared rounds or trials, the widest width here, the usual width, and that of a
/// free core.
fn cost_at_most(
    ctx: &Context,
    m: &Measurement,
    widths: &[(f64, bool)],
    (shared, here, usual, free): (usize, f64, f64, f64),
) -> Option<f64> {
    let all = widths.len();
    // A clock measures dependent instructions, and a memory load may be limited by the bus: their
    // cost is unknown.
    let is_clock = ctx.spec(m).is_some_and(|spec| spec.role.gives(Property::CoreClock));
    // Where most rounds were shared, the widest may have been too.
    let by_design = missing_by_design(ctx, m).filter(|_| 2 * shared > all);
    let missing = match ctx.work(m).cut() {
        Cut::Core if let Some(missing) = by_design => missing,
        Cut::Core if shared == all && !is_clock => 1.0 - here / usual,
        Cut::Whole => lost_by_solves(m, usual, free),
        _ => 0.0,
    };
    Some(m.efficiency.map_or(missing, |e| missing.min(1.0 - e)))
}

/// The largest share of the time of all complete solves that busy siblings can have cost. Delivered
/// counts each solve: its missing issue slots by its time, at most what all lack of the fastest
/// solve on cores of its own.
fn lost_by_solves(m: &Measurement, usual: f64, free: f64) -> f64 {
    let seen = || m.trials.iter().filter_map(|t| Some((t, t.conditions.issue_width?)));
    let shared = seen().filter(|(_, width)| !is_alone(*width, free));
    let lost: f64 = shared.map(|(t, width)| t.seconds * (1.0 - width / usual)).sum();
    let seconds: f64 = seen().map(|(t, _)| t.seconds).sum();
    let alone = seen().filter(|(_, width)| is_alone(*width, free));
    let fastest = alone.map(|(t, _)| t.value).reduce(f64::max);
    let delivered = m.summary.as_ref().map(|s| s.value());
    let shown = delivered.zip(fastest).map(|(delivered, fastest)| 1.0 - delivered / fastest);
    (lost / seconds).min(shown.unwrap_or(1.0)).max(0.0)
}

/// Instructions issued per cycle in each round or complete solve, and true if its threads were on
/// one core.
fn widths(m: &Measurement) -> Vec<(f64, bool)> {
    let of_trial = |t: &Trial| {
        let by_us = t.on_one_core();
        let of_rounds: Vec<f64> = t.rounds.iter().filter_map(|r| r.issue_width).collect();
        let all = of_rounds.into_iter().chain(t.conditions.issue_width);
        all.filter(|width| *width > 0.0).map(move |width| (width, by_us))
    };
    m.trials.iter().flat_map(of_trial).collect()
}

/// The largest width of complete solves, whose widths are medians of many readings; else the third
/// highest round.
fn widest_of(widths: &[(f64, bool)], cut: Cut) -> f64 {
    let widths = widths.iter().map(|(width, _)| *width);
    if cut == Cut::Whole { widths.fold(0.0, f64::max) } else { widest(widths) }
}

/// Share of the ceiling above which our threads are on cores of their own: on hidden siblings they
/// reach half at most.
const OWN_CORES: f64 = 0.6;

/// The issue width of the same loop on one thread, if the run has such rounds. One thread seldom
/// has a busy sibling in all of them, while of many threads one mostly has. `None` for memory
/// loads, whose width depends on the shared bus, and for threads that may be each other's siblings.
fn width_on_one_thread(ctx: &Context, m: &Measurement) -> Option<f64> {
    let cut = ctx.work(m).cut();
    let one = |o: &&Measurement| {
        o.workload == m.workload
            && o.params.threads() == 1
            && o.params.differs_only_in(&m.params, &[key::THREADS])
    };
    let apart = m.trials.iter().any(|t| !t.pairs.is_empty() && !t.on_one_core());
    let own_cores = apart && m.efficiency.is_none_or(|e| e > OWN_CORES);
    if m.params.threads() == 1 || cut == Cut::Bus || !own_cores {
        return None;
    }
    let widths = ctx.others.iter().filter(one).map(|o| widest_of(&widths(o), cut));
    widths.filter(|width| *width > 0.0).max_by(f64::total_cmp)
}

/// The highest issue width on as many threads: of the same workload, for complete solves also of
/// CPU loads. AVX-512 loads are left out, since a core may raise its clock while NOPs run.
fn usual_width(ctx: &Context, m: &Measurement) -> f64 {
    let whole = ctx.work(m).cut() == Cut::Whole;
    let is_alike = |o: &&Measurement| {
        let highest_licence = Isa::from_params(&o.params).is_some_and(|isa| isa.licence() == 2);
        let is_core = ctx.work(o).cut() == Cut::Core && !highest_licence;
        (o.workload == m.workload || whole && is_core) && o.params.threads() == m.params.threads()
    };
    let alike = ctx.others.iter().filter(is_alike);
    alike.map(|o| widest_of(&widths(o), ctx.work(o).cut())).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use proofmark_model::{CpuDistance, CpuPairSeen, FigureKind, Round, Severity};

    use super::*;
    use crate::testing::*;

    /// A result with one round per width, in instructions per cycle.
    fn with_widths(m: Measurement, widths: &[f64]) -> Measurement {
        let mut m = headed(m, FigureKind::Attainable, 0.001);
        for (i, t) in m.trials.iter_mut().enumerate() {
            let issue_width = Some(widths[i % widths.len()]);
            let attainable = Some(t.value);
            t.rounds = vec![Round { attainable, issue_width, ..Round::default() }];
        }
        m
    }

    /// The same with its first `rounds` rounds on one core.
    fn on_one_core(mut m: Measurement, rounds: usize) -> Measurement {
        let before = Some(CpuDistance { round_trip_s: 5e-8, issue_ratio: 0.65 });
        for t in &mut m.trials[..rounds] {
            t.pairs = vec![CpuPairSeen { before, after: before, ..CpuPairSeen::default() }];
        }
        m
    }

    #[test]
    fn solves_on_shared_cores_are_named_and_weighed_by_what_all_solves_lost() {
        let free = [with_widths(at(1, 0.99), &[7.0])];
        let with = |share: f64, widths: &'static [f64]| {
            let m = linpack(1000, 1);
            let value = share * m.summary.as_ref().unwrap().value();
            let m = with_values(m, &around(value));
            each_condition(m, move |i, c| c.issue_width = Some(widths[i % widths.len()]))
        };
        // Every n-th solve takes twice its time.
        let slowed = |nth: usize| {
            let m = linpack(1000, 1);
            let value = |i: usize| 0.9 * 64e9 * if i.is_multiple_of(nth) { 0.5 } else { 1.0 };
            let m = with_values(m, &(0..10).map(value).collect::<Vec<_>>());
            let m = each(m, |_, t| (t.work, t.seconds) = (5.76e9, 5.76e9 / t.value));
            let mut m = each_condition(m, |i, c| {
                c.issue_width = Some(if i.is_multiple_of(nth) { 3.5 } else { 7.0 });
            });
            let (work, seconds) =
                m.trials.iter().fold((0.0, 0.0), |s, t| (s.0 + t.work, s.1 + t.seconds));
            m.summary.as_mut().unwrap().delivered.value = Some(work / seconds);
            m
        };
        CHECK.on(&host(), &free).expect([
            ("alone", with(0.9, &[7.0, 6.7]), SILENT),
            ("one of three, as fast as the others", with(0.9, &[3.9, 6.7, 6.7]), NOTE),
            ("all", with(0.5, &[3.9]), SUSPECT),
            ("most, as fast as the others", with(0.5, &[3.9, 3.9, 7.0]), NOTE),
            // Delivered is all work over all time: each slow solve is in it.
            ("one of five, half as fast", slowed(5), suspect("in 2 of 10 ... at most 16.7 %$")),
            ("one of ten", slowed(10), suspect("in 1 of 10 ... at most 9.1 %$")),
            ("unknown", linpack(1000, 1), SILENT),
        ]);
        let found = judged(&host(), with(0.5, &[3.5]), &free).findings;
        let text = &found.iter().find(|f| f.check == CHECK.id).unwrap().message;
        assert!(
            text.starts_with("an SMT sibling was busy in 10 of 10 trials and took up to 50.0 %")
        );
    }

    fn at(threads: u64, share: f64) -> Measurement {
        with_values(flops(threads), &around(share * 64e9 * threads as f64))
    }

    /// Recorded on 16 CPUs: the narrowest of 16 threads issued 2.1 to 2.7 NOPs per cycle in each
    /// round, one thread 4.9. So no round of 16 threads had a free core.
    #[test]
    fn many_threads_are_compared_with_one_where_the_run_has_rounds_of_it() {
        let wide = || with_widths(at(1, 0.95), &[4.9]);
        // Our own threads do not take issue slots from each other.
        let apart = |m| {
            let before = Some(CpuDistance { round_trip_s: 2.2e-7, issue_ratio: 1.0 });
            let pair = CpuPairSeen { before, after: before, ..CpuPairSeen::default() };
            each(m, |_, t| t.pairs = vec![pair; 8])
        };
        let many = |share: f64| {
            let widths = [2.67, 2.67, 2.6, 2.41, 2.11, 2.67, 2.66, 2.67, 2.3, 2.67];
            apart(with_widths(at(16, share), &widths))
        };
        let mut host = host();
        (host.limits.usable_cpus, host.limits.usable_cores) = ((0..16).collect(), 16);
        let text = |m: Measurement, others: &[Measurement]| {
            let m = judged(&host, m, others);
            m.findings.into_iter().find(|f| f.check == CHECK.id).map(|f| (f.severity, f.message))
        };
        let (severity, message) = text(many(0.9), &[wide()]).unwrap();
        assert_eq!(severity, Severity::Suspect);
        assert!(
            message.starts_with(
                "an SMT sibling was busy in 10 of 10 rounds and took up to 56.9 % of the core's"
            ),
            "{message}"
        );
        // Another instruction set, another loop, memory loads: no reference.
        let other = with_param(wide(), "isa", "sse2");
        for others in [vec![], vec![other], vec![with_widths(stream("triad", 1), &[5.6])]] {
            let (_, message) = text(many(0.9), &others).unwrap();
            let expected = "an SMT sibling was busy in 3 of 10 rounds and took issue slots: up to 21.0 % fewer \
                            than in the widest rounds on 16 threads, which may have been shared, too";
            assert_eq!(message, expected);
        }
        let memory = with_widths(stream("triad", 16), &[2.6, 2.6, 2.6, 2.2]);
        let (severity, message) = text(memory, &[with_widths(stream("triad", 1), &[5.6])]).unwrap();
        assert!(severity == Severity::Note && message.contains("which may have been"), "{message}");
        // Threads that are each other's siblings.
        let ours = apart(with_widths(at(16, 0.5), &[2.45, 2.4]));
        assert_eq!(text(ours, &[wide()]), None);
        // As wide as one thread: free cores.
        let free = apart(with_widths(at(16, 0.98), &[4.9, 4.85]));
        assert_eq!(text(free, &[wide()]), None);
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
            ("mostly, and the rest was", with_widths(at(1, 0.92), &[9.0, 9.0, 11.7]), SUSPECT),
            ("mostly, and the rest was not", with_widths(at(1, 0.975), &[9.0, 9.0, 11.7]), NOTE),
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
        // No round of the run was free: its widest is no reference.
        let narrow = with_widths(at(1, 0.94), &[8.0, 8.1, 8.2, 9.0, 9.0, 9.1, 8.0, 8.3, 8.0, 8.6]);
        CHECK.on(&host(), &[]).expect([("a polluted reference", narrow, SUSPECT)]);
        let text = |m| {
            let m = judged(&host(), m, &free);
            m.findings.into_iter().find(|f| f.check == CHECK.id).unwrap().message
        };
        assert_eq!(
            text(with_widths(at(1, 0.99), &[7.02, 11.7])),
            "an SMT sibling was busy in 5 of 10 rounds and took up to 40.0 % of the core's issue slots"
        );
        let some = text(on_one_core(with_widths(at(1, 0.99), &[7.02, 11.7]), 4));
        assert!(some.contains("in 5 of 10 rounds (in 2 a thread of this run) and"), "{some}");
    }
}
