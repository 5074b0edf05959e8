//! `work_removed`: more operations a cycle than any known core can start.

use proofmark_model::{Finding, Measurement, Severity, Subsystem};

use super::Check;
use crate::Context;
use crate::capacity::Capacity;
use crate::ceilings::{Peak, mix_cycles};
use crate::microarchitecture::{Row, rows};
use crate::statistics::median;

/// What the clock readings may be off by, generously: a kernel whose work was
/// removed is off by a multiple, not by a tenth.
const MARGIN: f64 = 1.1;

pub(super) struct WorkRemoved;

/// Operations a cycle of one core of a design, for this kernel and its knobs.
fn per_cycle(m: &Measurement, row: &Row) -> Option<f64> {
    match Peak::of(m) {
        Ok(peak) => {
            peak.instructions_per_cycle(row).map(|rate| rate * peak.lanes * peak.operations)
        }
        Err(_) => mix_cycles(m, row),
    }
}

/// The design that does most, and how much.
fn widest(m: &Measurement) -> Option<(f64, &'static str)> {
    rows().filter_map(|row| Some((per_cycle(m, row)?, row.id))).max_by(|a, b| a.0.total_cmp(&b.0))
}

impl Check for WorkRemoved {
    fn id(&self) -> &'static str {
        "work_removed"
    }

    fn title(&self) -> &'static str {
        "Work removed by the compiler or the core"
    }

    fn about(&self) -> &'static str {
        "Operations per cycle and core, at the clock measured under the load, against the widest core \
         that is known for that instruction set and type. More than that by a tenth is invalid, also \
         where this machine's own design is unknown: the compiler, or a core that fuses or folds \
         instructions, did not execute what was counted. The kernel needs a loop that cannot be \
         simplified."
    }

    fn examine(&self, ctx: &Context, m: &Measurement) -> Option<Finding> {
        if m.subsystem != Subsystem::Cpu {
            return None;
        }
        let capacity = Capacity::of(ctx.host, m).ok()?;
        let cores = capacity.threads.min(capacity.physical) as f64;
        let each: Vec<f64> = m
            .trials
            .iter()
            .filter_map(|t| Some(t.value / (cores * t.conditions.clock_hz.filter(|c| *c > 0.0)?)))
            .collect();
        let done = median(&each)?;
        let (most, design) = widest(m)?;
        if done <= most * MARGIN {
            return None;
        }
        Some(
            Finding::new(
                self.id(),
                Severity::Invalid,
                format!(
                    "{done:.1} operations a cycle and core, where the widest known core ({design}) \
                     starts {most:.1}"
                ),
                "the counted operations were not all executed; look at the machine code of the loop",
            )
            .with("operations_per_cycle", done)
            .with("most_per_cycle", most),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{
        around, flops, found_on, host, iops, mix, set_microarchitecture, severity, with_values,
    };

    #[test]
    fn a_folded_loop_is_found_even_on_an_unknown_core() {
        let mut h = host();
        set_microarchitecture(&mut h, "unheard_of");
        let m = with_values(iops(1), &around(10.0 * 4e9));
        let finding = found_on(&h, &WorkRemoved, m, &[]).unwrap();
        assert_eq!(finding.severity, Severity::Invalid);
        let mut removed = mix(true, "add16", "scalar");
        removed = with_values(removed, &around(16.0 * 4e9));
        assert!(found_on(&h, &WorkRemoved, removed, &[]).is_some());
    }

    #[test]
    fn what_some_core_can_do_is_silent() {
        let m = with_values(iops(1), &around(7.5 * 4e9));
        assert_eq!(severity(&WorkRemoved, m), None);
        assert_eq!(severity(&WorkRemoved, flops(8)), None);
    }

    #[test]
    fn without_a_clock_nothing_can_be_said() {
        let mut m = with_values(iops(1), &around(100.0 * 4e9));
        for t in &mut m.trials {
            t.conditions.clock_hz = None;
        }
        assert_eq!(severity(&WorkRemoved, m), None);
    }
}
