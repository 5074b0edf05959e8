//! `core_shared`: the result is far below the rate of the execution ports, and no known fact
//! explains it.
//!
//! A clock chain uses few ports, so a neighbour on the same core does not slow it. It slows a loop
//! that needs all ports at once. A steady clock with a low port rate therefore suggests a hardware
//! thread that this system cannot see.

use std::ops::RangeInclusive;

use proofmark_model::{Finding, Isa, Measurement, Pace, Severity, check_id};

use super::weight::Weight;
use super::{Check, Class, Examine, found_before, percent};
use crate::Context;
use crate::capacity::Capacity;
use crate::ceilings::Peak;
use crate::execution::{cpu_share, long_whole};
use crate::microarchitecture;
use crate::statistics::median_over;

/// The shares of the execution ports that a kind of workload reaches.
struct Reach {
    /// Smallest share on a core of its own.
    least: f64,
    /// About half of the 512-bit figure: the share that one unit gives instead of two.
    one_unit: RangeInclusive<f64>,
}

/// Share of the ports that a pure loop reaches on a core of its own.
const REACHED: f64 = 0.97;
/// Limits of a pure loop: below 80 %, a whole port or a fifth of the time is missing.
const LOOP: Reach = Reach { least: 0.8, one_unit: 0.45..=0.52 };
/// Limits of a large complete solve, which also copies, exchanges and waits. It reaches 60 to 90 %
/// on a core of its own, and at most half of that on half a core.
const WHOLE: Reach = Reach { least: 0.5, one_unit: 0.3..=0.5 };
/// Largest spread of the clock's readings; a larger one may itself be the cause.
const STEADY: f64 = 0.05;

/// True if the loop is written for the ports: plain Rust, on other architectures, does not reach
/// them.
fn is_tuned(ctx: &Context, m: &Measurement) -> bool {
    ctx.host.cpu.arch == "x86_64" && ctx.work(m).pace == Pace::Core
}

/// Share of the design's rate on a core of its own that a loop that fills the ports lost; `None` if
/// the design does not state that rate.
pub(super) fn missing_by_design(ctx: &Context, m: &Measurement) -> Option<f64> {
    let fills = is_tuned(ctx, m) && !ctx.work(m).whole_problem && Peak::derive(ctx, m).is_ok();
    let efficiency = m.efficiency.filter(|_| fills && !may_have_one_unit(ctx, m))?;
    Some(if efficiency < REACHED { 1.0 - efficiency } else { 0.0 })
}

impl Reach {
    /// The limits of a workload that the ports bound. `None` if its share is unknown: small
    /// problems have other limits, the smaller the more.
    fn expect(ctx: &Context, m: &Measurement) -> Option<Self> {
        Peak::derive(ctx, m).ok()?;
        match (ctx.work(m).whole_problem, long_whole(ctx, m)) {
            (false, _) => Some(LOOP),
            (true, true) => Some(WHOLE),
            (true, false) => None,
        }
    }
}

/// True if the product may have one 512-bit unit where its design has two.
fn may_have_one_unit(ctx: &Context, m: &Measurement) -> bool {
    Isa::from_params(&m.params).is_some_and(|isa| isa.vector_bits() == Some(512))
        && ctx
            .host
            .cpu
            .microarchitecture
            .get()
            .and_then(|found| microarchitecture::find(&found.id))
            .is_some_and(|row| row.wide_varies)
}

/// Share of the time on a CPU below which the threads of a complete solve waited for each other.
const AT_WORK: f64 = 0.9;

/// Share of the time for which the threads of a complete solve were on their CPUs, if they waited.
fn waited(ctx: &Context, m: &Measurement) -> Option<f64> {
    let whole = ctx.work(m).whole_problem && m.params.threads() > 1;
    cpu_share(ctx.host, m).filter(|share| whole && *share < AT_WORK)
}

/// Checks that name what preempted the threads.
const PREEMPTING: [&str; 3] =
    [check_id::OTHER_CPU, check_id::INVOLUNTARY_SWITCHES, check_id::TAKEN_IN_FIGURE];

pub(super) static CHECK: Check = Check {
    id: check_id::CORE_SHARED,
    class: Class::DISTURBANCE,
    title: "Core shared with an unknown load",
    about: "Examines peak workloads (cpu.flops, cpu.iops) on x86-64 below 80 % of their execution \
         ports. The result must be verified, the clock steady, with at most one thread per CPU and \
         no other finding that explains it. For dense matrices (cpu.dgemm, cpu.linpack) the limit \
         is 50 %, with trials of at least one second. On one thread the missing share is weighed: \
         another hardware thread of the same core, hidden by the hypervisor, used the ports. On \
         several threads it is a note if one thread alone came near its ceiling: the reported \
         cores are hardware threads of fewer cores, and the ceiling counts too many. If the \
         threads of a dense matrix were on their CPUs for less than 90 % of the time, the finding \
         states that they waited for the slowest. It is also a note if 512-bit code reaches half: \
         some products of the design have one such unit. Use a host with dedicated cores, or treat \
         the rate as that of shared cores.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let reach = Reach::expect(ctx, m)?;
    let efficiency = m.efficiency.filter(|e| *e < reach.least)?;
    if !is_tuned(ctx, m) {
        return None;
    }
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    let spread = median_over(&m.trials, |t| t.conditions.clock_spread);
    let steady = spread.is_some_and(|s| s <= STEADY);
    let explained = m.findings.iter().any(|f| f.severity >= Severity::Suspect);
    if !steady || explained || capacity.oversubscribed() || capacity.quota.is_some() {
        return None;
    }
    let alone = ctx.on_one_thread(m).and_then(|one| one.efficiency);
    let cores_counted_twice = capacity.threads > 1 && alone.is_some_and(|e| e >= reach.least);
    let (severity, why) = if reach.one_unit.contains(&efficiency) && may_have_one_unit(ctx, m) {
        (Severity::Note, "this product may have one 512-bit unit where its design has two")
    } else if cores_counted_twice {
        (
            Severity::Note,
            "one thread alone comes near its ceiling, so the CPUs seem to be hardware threads \
             that share cores",
        )
    } else {
        let missing = 1.0 - efficiency / reach.least;
        let changed = Weight::derive(m).change(missing);
        // A program that the system saw preempt the threads explains the loss without a sibling.
        let preempted = PREEMPTING.iter().any(|id| found_before(m, id, Severity::Note));
        let why = match preempted {
            true => "a program that preempts the threads repeatedly slows them",
            false => "an unknown load shares the core, such as a hidden SMT sibling",
        };
        (changed, why)
    };
    let waited = waited(ctx, m);
    let why = match waited {
        Some(share) => format!(
            "the threads were on their CPUs for {} of the time, and waited for the slowest of them for \
             the rest",
            percent(share)
        ),
        None => why.to_owned(),
    };
    let message = format!(
        "the rate is {} of what the execution ports can start, at a steady clock: {why}",
        percent(efficiency)
    );
    let advice = match waited {
        Some(_) => {
            "use cores that are equally fast, or treat the rate as that of the slowest of them: each \
             thread has a fixed part of the work"
        }
        None => "use a host with dedicated cores, or treat the rate as that of shared cores",
    };
    let finding = CHECK.finding(severity, message, advice);
    Some(finding.with("efficiency", efficiency).with("clock_spread", spread.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    fn at(threads: u64, share: f64) -> Measurement {
        let full = 64e9 * threads.clamp(1, 2) as f64;
        with_values(flops(threads), &around(share * full))
    }

    /// A complete solve on one thread at that share of the ports.
    fn solve(n: u64, share: f64) -> Measurement {
        at_rate(linpack(n, 1), share * 64e9)
    }

    #[test]
    fn half_of_the_ports_is_suspect() {
        let disturbed = |spoil: fn(&mut proofmark_model::Conditions)| {
            each_condition(at(1, 0.55), |_, c| spoil(c))
        };
        CHECK.expect([
            ("half of the ports", at(1, 0.55), SUSPECT),
            ("nearly all", at(1, 0.85), SILENT),
            // Recorded: 10.4 s on a core of its own and 20.8 s on half of one.
            ("a good library", solve(10_000, 0.65), SILENT),
            ("another", solve(10_000, 0.6), SILENT),
            ("more than half", solve(10_000, 0.51), SILENT),
            ("a large system on half a core", solve(10_000, 0.45), SUSPECT),
            ("on less", solve(10_000, 0.32), SUSPECT),
            ("a product", at_rate(dgemm(4000, 1), 0.45 * 64e9), SUSPECT),
            ("a system on two threads", at_rate(linpack(10_000, 2), 0.4 * 128e9), SUSPECT),
            ("a small system reaches no ports", solve(300, 0.5), SILENT),
            ("nor here", solve(300, 0.2), SILENT),
            ("another process", disturbed(|c| c.other_cpu_s = Some(0.05)), SILENT),
            ("more threads than CPUs", at(8, 0.55), SILENT),
            ("an unsteady clock", disturbed(|c| c.clock_spread = Some(0.2)), SILENT),
        ]);
        let mut portable = host();
        portable.cpu.arch = "aarch64".to_owned();
        CHECK.on(&portable, &[]).expect([("plain Rust", at(1, 0.55), SILENT)]);
    }

    /// Recorded: 16 threads of a product used 11 to 12 of 16 CPUs and reached 17.9 % of the ports.
    #[test]
    fn threads_that_waited_for_the_slowest_are_no_unknown_load() {
        let product = |busy: f64| {
            let m = at_rate(dgemm(4000, 2), 0.18 * 128e9);
            each(m, |_, t| t.conditions.own_cpu_s = Some(busy * 2.0 * t.seconds))
        };
        CHECK.expect([
            ("waiting", product(0.72), suspect("72.0 % of the time, and waited for the slowest")),
            ("at work", product(0.99), suspect("an unknown load")),
        ]);
        let advice = CHECK.found(product(0.72)).unwrap().advice;
        assert!(advice.contains("equally fast"), "{advice}");
    }

    #[test]
    fn a_wide_interval_silences_nothing() {
        // 42 to 57 % of the ports from trial to trial.
        let values: Vec<f64> =
            (0..10).map(|i| 64e9 * (0.42 + 0.15 * f64::from(i % 4) / 3.0)).collect();
        let m = with_values(flops(1), &values);
        let half = m.summary.as_ref().unwrap().half_width().unwrap();
        assert!(half > 0.1, "{half}");
        CHECK.expect([("it varies", m, SUSPECT)]);
    }

    #[test]
    fn siblings_that_are_called_cores_are_a_note() {
        for (one, two) in
            [(flops(1), at(2, 0.5)), (solve(10_000, 0.8), at_rate(linpack(10_000, 2), 0.4 * 128e9))]
        {
            let one = judged(&host(), one, &[]);
            CHECK.on(&host(), &[one]).expect([("siblings", two, note("share cores"))]);
        }
    }

    #[test]
    fn one_512_bit_unit_is_a_note() {
        let h = with_design(host(), "skylake_server");
        let wide = |m| with_param(m, "isa", "avx512");
        CHECK.on(&h, &[]).expect([
            ("half", wide(with_values(flops(1), &around(0.5 * 128e9))), NOTE),
            ("84 % of one unit", wide(solve(10_000, 2.0 * 0.42)), NOTE),
            ("less", wide(solve(10_000, 2.0 * 0.2)), SUSPECT),
        ]);
    }
}
