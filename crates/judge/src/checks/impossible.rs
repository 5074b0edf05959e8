//! Checks `above_ceiling`, `above_limit` and `work_removed`: the result exceeds this machine's
//! ceilings, a configured limit, or any known core.

use proofmark_model::{
    Better, Ceiling, Finding, Measurement, Pace, Provenance, Severity, Unit, ceiling_id, check_id,
};

use super::{Check, Class, Examine, percent};
use crate::capacity::Capacity;
use crate::ceilings::{
    CLOCK_INPUT, Peak, bounds, input_of_our_loops, is_limit, l1_bytes, mix_operations_per_cycle,
};
use crate::microarchitecture::{ANY_CORE, Row, find, rows};
use crate::{Context, by_stretch, from_windows, share_of, share_of_median_trial};

/// Difference between sums of the same values.
const ROUNDING: f64 = 1e-9;

/// The ceiling that a result exceeds most.
struct Exceeded {
    ceiling: Ceiling,
    efficiency: f64,
    /// True if the efficiency is that of the median trial, which is faster than the result.
    of_median: bool,
}

impl Exceeded {
    /// `None` if the result exceeds none of these.
    fn most(m: &Measurement, ceilings: Vec<Ceiling>) -> Option<Self> {
        let beyond = |one: &Self| one.efficiency / (1.0 + one.ceiling.uncertainty);
        let all = ceilings.into_iter().filter_map(|ceiling| Self::derive(m, ceiling));
        all.max_by(|a, b| beyond(a).total_cmp(&beyond(b))).filter(|most| beyond(most) > 1.0)
    }

    fn derive(m: &Measurement, ceiling: Ceiling) -> Option<Self> {
        let result = share_of(&ceiling, m);
        // The figure of windows is the median itself. Of delivered, a slow trial does not hide that
        // most were faster than possible.
        let median = if from_windows(m) { None } else { share_of_median_trial(&ceiling, m) };
        let efficiency = [result, median].into_iter().flatten().reduce(f64::max)?;
        let of_median = result.is_some_and(|result| result < (1.0 - ROUNDING) * efficiency);
        Some(Self { ceiling, efficiency, of_median })
    }

    fn whose(&self) -> &'static str {
        if self.of_median { "the median trial" } else { "the result" }
    }
}

/// The names of a ceiling's inputs, after a colon.
fn inputs(ceiling: &Ceiling) -> String {
    let names: Vec<&str> = ceiling.inputs.iter().map(|input| &*input.name).collect();
    if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) }
}

/// The finding for a result above that ceiling.
fn finding(m: &Measurement, exceeded: &Exceeded) -> Finding {
    let Exceeded { ceiling, efficiency, .. } = exceeded;
    let (whose, efficiency) = (exceeded.whose(), *efficiency);
    let what = match m.better {
        Better::Higher => format!("{whose} is {} of its ceiling", percent(efficiency)),
        Better::Lower => {
            format!("{whose} is {} of the shortest possible time", percent(1.0 / efficiency))
        }
    };
    ABOVE_CEILING
        .invalid(
            format!(
                "{what} ({}), whose uncertainty is only {}",
                ceiling.id,
                percent(ceiling.uncertainty)
            ),
            format!(
                "compare the ceiling's inputs with the machine{}; if they are right, the workload did \
                 less work than it counted",
                inputs(ceiling)
            ),
        )
        .with("efficiency", efficiency)
        .with("uncertainty", ceiling.uncertainty)
        .with("ceiling", ceiling.value)
}

pub(super) static ABOVE_CEILING: Check = Check {
    id: check_id::ABOVE_CEILING,
    class: Class::CLAIM,
    title: "Above its ceiling",
    about: "A result above its ceiling by more than the ceiling's own uncertainty is invalid: \
         either it does not measure what its name says, or an input of the ceiling is wrong. The \
         report lists the inputs with their sources. What counts is the result or its median \
         trial, whichever is higher, each at its own clock. The result is compared with every ceiling that \
         applies, not only the tightest, but with no configured limit (above_limit). For times, \
         being below the floor is impossible. For a reference tool it is a note if the ceiling \
         uses a clock or latency that proofmark's loops measured: the tool's own may have been \
         better.",
    examine: Examine::Each(above_ceiling, above_ceiling_of_tool),
};

/// The ceilings that the machine itself cannot exceed, without configured limits.
fn physical(ctx: &Context, m: &Measurement) -> Vec<Ceiling> {
    bounds(ctx, m).into_iter().filter(|c| !is_limit(c)).collect()
}

fn above_ceiling(ctx: &Context, m: &Measurement) -> Option<Finding> {
    Some(finding(m, &Exceeded::most(m, physical(ctx, m))?))
}

pub(super) static ABOVE_LIMIT: Check = Check {
    id: "above_limit",
    class: Class::claim("whether the limit holds is not known; the figure is what was measured"),
    title: "Above a limit",
    about: "A result above a limit that the user declared (--limit) or a cgroup sets, by more than \
         its uncertainty, is suspect: a burst was allowed, a cache served a part, the limit \
         changed during the run, or is not enforced. The figure is what was measured. Measure for \
         longer, so that bursts end, or correct the limit.",
    examine: Examine::Both(above_limit),
};

fn above_limit(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let limits = bounds(ctx, m).into_iter().filter(is_limit).collect();
    let exceeded = Exceeded::most(m, limits)?;
    let Exceeded { ceiling, efficiency, .. } = &exceeded;
    let declared = ceiling.inputs.iter().any(|i| i.source == Provenance::Declared);
    let (whose, why) = match declared {
        true if ceiling.id == ceiling_id::MEMORY_LIMIT => {
            ("declared limit", "it is not the rate of all sockets, or a cache served a part")
        }
        true => {
            ("declared limit", "it allows bursts, a cache served a part, or it is not enforced")
        }
        false => ("cgroup's limit", "it changed during the run, allows bursts, or is not enforced"),
    };
    let message = format!("{} is {} of the {whose}: {why}", exceeded.whose(), percent(*efficiency));
    let advice = match ceiling.id == ceiling_id::MEMORY_LIMIT {
        true => "compare the limit with the memory modules of all sockets, and correct it",
        false => "measure for longer, so that bursts end, or correct the limit",
    };
    let finding = ABOVE_LIMIT.suspect(message, advice).with("efficiency", *efficiency);
    Some(finding.with("limit", ceiling.value))
}

fn above_ceiling_of_tool(ctx: &Context, theirs: &Measurement) -> Option<Finding> {
    let (at_ours, firm) = physical(ctx, theirs)
        .into_iter()
        .partition(|ceiling| input_of_our_loops(ceiling, theirs).is_some());
    // The figure of a tool is the median of its values.
    let most = |ceilings| Some(Exceeded { of_median: false, ..Exceeded::most(theirs, ceilings)? });
    if let Some(exceeded) = most(firm) {
        return Some(finding(theirs, &exceeded));
    }
    let exceeded = most(at_ours)?;
    let ours = input_of_our_loops(&exceeded.ceiling, theirs)?;
    let better = if ours.name == CLOCK_INPUT { "higher" } else { "shorter" };
    let mut finding = finding(theirs, &exceeded);
    finding.severity = Severity::Note;
    finding.message += &format!(
        "; that ceiling uses proofmark's {}, and the tool's may have been {better}",
        ours.name
    );
    finding.advice =
        "compare the tool's result with proofmark's rather than with the ceiling".to_owned();
    Some(finding)
}

/// Generous error of the clock readings: if work was removed, the rate is off by a multiple, not by
/// a tenth.
const MARGIN: f64 = 1.1;

/// Operations per cycle of one core of a design, for this workload and its parameters.
fn per_cycle(ctx: &Context, m: &Measurement, row: &Row) -> Option<f64> {
    match Peak::derive(ctx, m) {
        Ok(peak) => {
            peak.instructions_per_cycle(row).map(|rate| rate * peak.lanes * peak.operations)
        }
        Err(_) => mix_operations_per_cycle(m, row),
    }
}

/// The most work per cycle of a core, and who does it in words.
///
/// Where this machine's design and its figure are known: the widest known core. Else only what no
/// core of any kind does, since an unknown core may be wider than every known one.
fn bound(ctx: &Context, per_cycle: impl Fn(&Row) -> Option<f64>) -> Option<(f64, String)> {
    let own = ctx.host.cpu.microarchitecture.get().and_then(|design| find(&design.id));
    if own.and_then(&per_cycle).is_none() {
        return Some((per_cycle(&ANY_CORE)?, "no core of any kind does more than".to_owned()));
    }
    let each = rows().filter_map(|row| Some((per_cycle(row)?, row.id)));
    let (most, design) = each.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((most, format!("the widest known core ({design}) does at most")))
}

/// Work per core per clock cycle.
fn each_cycle(m: &Measurement, capacity: &Capacity) -> Option<f64> {
    let cores = capacity.threads.min(capacity.physical) as f64;
    by_trial(m, |value, clock| value / (cores * clock))
}

/// The median over the trials or rounds with a known clock.
fn by_trial(m: &Measurement, per_cycle: impl Fn(f64, f64) -> f64) -> Option<f64> {
    by_stretch(m, |value, clock| Some(per_cycle(value, clock.filter(|c| *c > 0.0)?)))
}

pub(super) static WORK_REMOVED: Check = Check {
    id: "work_removed",
    class: Class::CLAIM,
    title: "Work removed by the compiler or the core",
    about: "Compares operations per cycle per core, at the clock measured under the load, with the \
         widest known core for that instruction set and type. Exceeding it by 10 % is invalid: the \
         compiler, or a core that fuses or folds instructions, did not execute what was counted. \
         The workload needs a loop that cannot be simplified. For memory workloads the check \
         compares bytes per cycle per core with the widest L1 cache, or dependent loads with the \
         shortest L1 latency. If the figure of this machine's own design is unknown, it may be \
         wider than every known core. Then the limits are those of any core: 10 instructions per \
         cycle, the widest decoder, and 2 cycles for a load.",
    examine: Examine::Ours(work_removed),
};

fn work_removed(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    let ((most, who), done, unit) = match (ctx.work(m).pace, m.unit) {
        (Pace::Core, _) => {
            let bound = bound(ctx, |row| per_cycle(ctx, m, row))?;
            (bound, each_cycle(m, &capacity)?, "operations")
        }
        (Pace::Memory, Unit::BytePerSecond) => {
            (bound(ctx, |row| l1_bytes(ctx, m, row))?, each_cycle(m, &capacity)?, "bytes")
        }
        (Pace::Memory, Unit::Second) => {
            let done = by_trial(m, |value, clock| 1.0 / (value * clock))?;
            (bound(ctx, |row| Some(1.0 / row.l1_cycles?))?, done, "dependent loads")
        }
        _ => return None,
    };
    if done <= most * MARGIN {
        return None;
    }
    let message = format!("{done:.1} {unit} per cycle per core, but {who} {most:.1}");
    let advice = "check the machine code of the loop: not all counted operations were executed";
    Some(WORK_REMOVED.invalid(message, advice).with("per_cycle", done).with("most_per_cycle", most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn more_than_the_machine_can_do_is_invalid() {
        let ports = |share: f64| with_values(flops(1), &around(share * 64e9));
        let solve = |share: f64| at_rate(linpack(5000, 2), share * 128e9);
        let cache = |share: f64| with_values(sweep("read", 1, 32 << 10), &around(share * 512e9));
        ABOVE_CEILING.expect([
            ("more than the ports can start", ports(1.02), INVALID),
            ("within the uncertainty", ports(1.003), SILENT),
            ("a solve above the ports", solve(1.02), INVALID),
            ("a solve below them", solve(0.98), SILENT),
            ("a cache that gives more than its path", cache(1.02), INVALID),
            ("a cache that does not", cache(0.99), SILENT),
            // 4 cycles at 4 GHz where 5 are documented; 4.3 ns in memory are 17 cycles.
            ("4 cycles", latency(32 << 10, 1e-9), invalid("80.0 % of the shortest")),
            ("5 cycles", latency(32 << 10, 1.26e-9), SILENT),
            ("12 cycles in memory", latency(1 << 30, 3e-9), INVALID),
            ("17 cycles in memory", latency(1 << 30, 4.3e-9), SILENT),
        ]);
        // A ceiling that is not the tightest counts, too. The lines in flight allow 31 GB/s within
        // a factor of two; the bus allows 717 GB/s.
        let read = |rate: f64| with_values(stream("read", 1), &around(rate));
        ABOVE_CEILING.on(&host_with_caches(), &[latency(1 << 30, 1e-7)]).expect([
            ("twice the lines in flight", read(60e9), SILENT),
            ("more", read(70e9), invalid("memory.core")),
        ]);
        ABOVE_CEILING.expect([("beyond the bus", read(800e9), invalid("memory.dram"))]);
    }

    /// Most solves are faster than the ports allow; a few slow ones lower the delivered figure.
    #[test]
    fn the_median_trial_is_named_where_it_is_meant() {
        let solves = |fast: f64, slow: f64| {
            let value = |i: usize| 128e9 * if i.is_multiple_of(5) { slow } else { fast };
            let m = with_values(linpack(5000, 2), &(0..10).map(value).collect::<Vec<_>>());
            with_delivered(each(m, |_, t| (t.work, t.seconds) = (1e10, 1e10 / t.value)))
        };
        ABOVE_CEILING.expect([
            ("slow ones", solves(1.1, 0.5), invalid("^the median trial is 110.0 % of its ceiling")),
            ("all", solves(1.1, 1.1), invalid("^the result is 110.0 % of its ceiling")),
        ]);
        let limited = crate::testing::with_declared(host(), &[("memory.dram", 1e10)]);
        let read = with_values(stream("read", 1), &around(2e10));
        ABOVE_LIMIT.on(&limited, &[]).expect([(
            "windows",
            read,
            suspect("^the result is 200.0 %"),
        )]);
    }

    fn at(m: Measurement, per_cycle: f64) -> Measurement {
        with_values(m, &around(per_cycle * 4e9))
    }

    fn chase(cycles: f64) -> Measurement {
        latency(1 << 30, cycles / 4e9)
    }

    #[test]
    fn more_than_the_widest_known_core_is_invalid_on_a_known_one() {
        let untimed = each_condition(at(iops(1), 100.0), |_, c| c.clock_hz = None);
        WORK_REMOVED.expect([
            ("a folded loop", at(iops(1), 10.0), invalid("the widest known core")),
            ("a mix", at(mix(true, "add16", "scalar"), 16.0), INVALID),
            ("a solve", linpack(5000, 2), SILENT),
            // 16 operations a cycle are the most that any known core does with AVX2.
            ("a shortened solve", at_rate(linpack(5000, 2), 2.0 * 18.0 * 4e9), INVALID),
            ("a product", dgemm(2000, 2), SILENT),
            ("a shortened product", at_rate(dgemm(2000, 2), 2.0 * 18.0 * 4e9), INVALID),
            ("more than any L1 cache", at(stream("read", 1), 160.0), INVALID),
            ("as much as one", at(stream("read", 1), 120.0), SILENT),
            ("loads that did not wait", chase(2.0), INVALID),
            ("an L1 cache", chase(3.0), SILENT),
            ("memory", chase(400.0), SILENT),
            ("what some core can do", at(iops(1), 7.5), SILENT),
            ("threads in turns", flops(8), SILENT),
            ("no clock", untimed, SILENT),
        ]);
    }

    /// A design without a row: a core may be wider, or nearer to its cache, than every known one.
    #[test]
    fn an_unknown_core_is_judged_by_what_no_core_does() {
        let any = "no core of any kind does more than 10.0$";
        WORK_REMOVED.on(&with_design(host(), "unheard_of"), &[]).expect([
            ("eight adders", at(iops(1), 8.0), SILENT),
            ("a folded loop", at(with_param(iops(1), "isa", "scalar"), 20.0), invalid(any)),
            ("six adders", at(mix(true, "add16", "scalar"), 6.0), SILENT),
            ("a mix", at(mix(true, "add16", "scalar"), 32.0), INVALID),
            ("pipelined division", at(mix(true, "arith17", "scalar"), 4.5), SILENT),
            ("no division", at(mix(true, "arith17", "scalar"), 34.0), INVALID),
            ("pipelined division of integers", at(mix(false, "arith17", "scalar"), 7.0), SILENT),
            ("no division of integers", at(mix(false, "arith17", "scalar"), 34.0), INVALID),
            ("four fused units", at_rate(linpack(5000, 2), 2.0 * 32.0 * 4e9), SILENT),
            ("a removed solve", at_rate(linpack(5000, 2), 2.0 * 100.0 * 4e9), INVALID),
            ("three wide loads", at(stream("read", 1), 192.0), SILENT),
            ("a removed loop", at(stream("read", 1), 1000.0), INVALID),
            ("the shortest load", chase(2.0), SILENT),
            ("loads that did not wait", chase(1.5), INVALID),
        ]);
    }

    /// A known design of which one figure is unknown.
    #[test]
    fn a_missing_figure_is_no_limit() {
        let mixes = |design: &str, float, name: &str, isa: &str, per_cycle| {
            let m = at(mix(float, name, isa), per_cycle);
            let label = format!("{design} {float} {name} {isa} {per_cycle}");
            WORK_REMOVED.on(&with_design(host(), design), &[]).expect([(label, m, SILENT)]);
        };
        for design in ["neoverse_v2", "gracemont", "lion_cove"] {
            mixes(design, true, "arith17", "scalar", 4.2);
            mixes(design, false, "arith17", "scalar", 3.4);
        }
        mixes("lion_cove", true, "arith17", "avx2", 12.0);
        mixes("sandy_bridge", false, "add16", "avx2", 24.0);
        // Two divisions of 4 cycles for 4 x 17 operations.
        mixes("zen5", true, "arith17", "avx2", 8.5);
        mixes("zen5", false, "arith17", "scalar", 1.04);
    }
}
