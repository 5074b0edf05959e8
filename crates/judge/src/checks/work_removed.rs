//! `work_removed`: more operations or bytes a cycle than any known core can do.

use proofmark_model::{Finding, Measurement, Pace, Trial, Unit};

use super::{Check, Class};
use crate::Context;
use crate::capacity::Capacity;
use crate::ceilings::{Peak, l1_bytes, mix_cycles};
use crate::microarchitecture::{Row, rows};
use crate::statistics::typical;

/// What the clock readings may be off by, generously: a workload whose work was
/// removed is off by a multiple, not by a tenth.
const MARGIN: f64 = 1.1;

/// Operations a cycle of one core of a design, for this workload and its parameters.
fn per_cycle(ctx: &Context, m: &Measurement, row: &Row) -> Option<f64> {
    match Peak::derive(ctx, m) {
        Ok(peak) => {
            peak.instructions_per_cycle(row).map(|rate| rate * peak.lanes * peak.operations)
        }
        Err(_) => mix_cycles(m, row),
    }
}

/// The design that does most of something in a cycle, and how much.
fn widest(of: impl Fn(&Row) -> Option<f64>) -> Option<(f64, &'static str)> {
    let each = rows().filter_map(|row| Some((of(row)?, row.id)));
    each.max_by(|a, b| a.0.total_cmp(&b.0))
}

/// Work of one core in one cycle of its clock.
fn each_cycle(m: &Measurement, capacity: &Capacity) -> Option<f64> {
    let cores = capacity.threads.min(capacity.physical) as f64;
    by_trial(m, |value, clock| value / (cores * clock))
}

fn loads_each_cycle(m: &Measurement) -> Option<f64> {
    by_trial(m, |value, clock| 1.0 / (value * clock))
}

/// The median over the trials that know their clock.
fn by_trial(m: &Measurement, of: impl Fn(f64, f64) -> f64) -> Option<f64> {
    let clock = |t: &Trial| t.conditions.clock_hz.filter(|c| *c > 0.0);
    typical(&m.trials, |t| Some(of(t.value, clock(t)?)))
}

pub(super) static CHECK: Check = Check {
    id: "work_removed",
    class: Class::Claim,
    title: "Work removed by the compiler or the core",
    about: "Operations per cycle per core, at the clock measured under the load, against the widest \
         known core for that instruction set and type. Exceeding it by 10 % is invalid, even if \
         this machine's own design is unknown: the compiler, or a core that fuses or folds \
         instructions, did not execute what was counted. The workload needs a loop that cannot be \
         simplified. For memory workloads the check compares bytes per cycle per core with the \
         widest L1 cache, or dependent loads with the shortest L1 latency.",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let capacity = Capacity::derive(ctx.host, m).ok()?;
    let (done, most, design, unit) = match (ctx.work(m).pace, m.unit) {
        (Pace::Core, _) => {
            let (most, design) = widest(|row| per_cycle(ctx, m, row))?;
            (each_cycle(m, &capacity)?, most, design, "operations")
        }
        (Pace::Memory, Unit::BytePerSecond) => {
            let (most, design) = widest(|row| l1_bytes(ctx, m, row))?;
            (each_cycle(m, &capacity)?, most, design, "bytes")
        }
        (Pace::Memory, Unit::Second) => {
            let (most, design) = widest(|row| Some(1.0 / row.l1_cycles?))?;
            (loads_each_cycle(m)?, most, design, "dependent loads")
        }
        _ => return None,
    };
    if done <= most * MARGIN {
        return None;
    }
    let message = format!(
        "{done:.1} {unit} per cycle per core, but the widest known core ({design}) \
         does {most:.1}"
    );
    let advice = "check the machine code of the loop: not all counted operations were executed";
    Some(CHECK.invalid(message, advice).with("per_cycle", done).with("most_per_cycle", most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn more_than_any_core_can_do_is_invalid_even_on_an_unknown_one() {
        let h = with_design(host(), "unheard_of");
        let at = |m, per_cycle: f64| with_values(m, &around(per_cycle * 4e9));
        let chase = |cycles: f64| latency(1 << 30, cycles / 4e9);
        let untimed = each_condition(at(iops(1), 100.0), |_, c| c.clock_hz = None);
        CHECK.on(&h, &[]).expect([
            ("a folded loop", at(iops(1), 10.0), INVALID),
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
        ]);
        CHECK.expect([
            ("what some core can do", at(iops(1), 7.5), SILENT),
            ("threads in turns", flops(8), SILENT),
            ("no clock", untimed, SILENT),
        ]);
    }
}
