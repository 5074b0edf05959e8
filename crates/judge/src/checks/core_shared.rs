//! `core_shared`: far below the ports' rate with nothing in sight to explain it.
//!
//! A clock chain uses one port in a few, so a neighbour on the same core does not
//! slow it; a loop that needs all ports is slowed at once. A steady clock with a low
//! port rate therefore points at a hardware thread that this system cannot see.

use proofmark_model::{Finding, Measurement, Severity, Subsystem};

use super::{Check, percent};
use crate::Context;
use crate::capacity::Capacity;
use crate::ceilings::Peak;
use crate::microarchitecture;
use crate::statistics::median;

/// Peak kernels reach 97 % and more of their ports; below this a whole port, or a
/// fifth of the time, is missing.
const THRESHOLD: f64 = 0.8;
/// A clock whose readings lie further apart may itself be the cause.
const STEADY: f64 = 0.05;
/// Half of the 512-bit figure, give or take, is what one unit instead of two gives.
const ONE_UNIT: std::ops::RangeInclusive<f64> = 0.45..=0.52;

pub(super) struct CoreShared;

fn one_wide_unit(ctx: &Context, m: &Measurement, efficiency: f64) -> bool {
    let varies = ctx
        .host
        .cpu
        .microarchitecture
        .get()
        .and_then(|found| microarchitecture::find(&found.id))
        .is_some_and(|row| row.wide_varies);
    varies && m.params.text("isa") == Some("avx512") && ONE_UNIT.contains(&efficiency)
}

impl Check for CoreShared {
    fn id(&self) -> &'static str {
        "core_shared"
    }

    fn title(&self) -> &'static str {
        "Core shared with something unseen"
    }

    fn about(&self) -> &'static str {
        "A peak kernel (cpu.flops, cpu.iops) on x86-64 below 80 % of its execution ports, with a verified \
         result, a steady clock, a thread for each CPU and no other finding that explains it. On one \
         thread it is suspect: another hardware thread of the same core, hidden by the hypervisor, \
         took the ports. On several threads, where one alone reached its ceiling, it is a note: the \
         CPUs that this system calls cores are hardware threads of fewer cores, and the ceiling \
         counts too many. A note also where 512-bit code reaches half: some products of the design \
         have one such unit. Use a host with dedicated cores, or read the rate as that of shared ones."
    }

    fn examine(&self, ctx: &Context, m: &Measurement) -> Option<Finding> {
        let efficiency = m.efficiency.filter(|e| *e < THRESHOLD)?;
        // Elsewhere the loops are plain Rust, which does not reach the ports.
        let tuned = ctx.host.cpu.arch == "x86_64";
        if m.subsystem != Subsystem::Cpu || Peak::of(m).is_err() || !tuned {
            return None;
        }
        let capacity = Capacity::of(ctx.host, m).ok()?;
        let spreads: Vec<f64> = m.trials.iter().filter_map(|t| t.conditions.clock_spread).collect();
        let steady = median(&spreads).is_some_and(|s| s <= STEADY);
        let explained = m.findings.iter().any(|f| f.severity >= Severity::Suspect);
        if !steady || explained || capacity.oversubscribed() || capacity.quota.is_some() {
            return None;
        }
        let alone = ctx.on_one_thread(m).and_then(|one| one.efficiency);
        let cores_counted_twice = capacity.threads > 1 && alone.is_some_and(|e| e >= THRESHOLD);
        let (severity, why) = if one_wide_unit(ctx, m, efficiency) {
            (Severity::Note, "this product may have one 512-bit unit where its design has two")
        } else if cores_counted_twice {
            (
                Severity::Note,
                "one thread alone reaches its ceiling, so the CPUs seem to be hardware threads that \
                 share cores",
            )
        } else {
            (Severity::Suspect, "something unseen shares the core, such as a hidden SMT sibling")
        };
        Some(
            Finding::new(
                self.id(),
                severity,
                format!("{} of the execution ports at a steady clock: {why}", percent(efficiency)),
                "use a host with dedicated cores; or read this as the rate of shared ones",
            )
            .with("efficiency", efficiency)
            .with("clock_spread", median(&spreads).unwrap_or_default()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{
        around, each, flops, found_on, host, judged, set_microarchitecture, severity, with_values,
    };

    fn at(threads: u64, share: f64) -> Measurement {
        let full = 64e9 * threads.clamp(1, 2) as f64;
        with_values(flops(threads), &around(share * full))
    }

    #[test]
    fn half_of_the_ports_on_one_thread_is_suspect() {
        assert_eq!(severity(&CoreShared, at(1, 0.55)), Some(Severity::Suspect));
        assert_eq!(severity(&CoreShared, at(1, 0.85)), None);
    }

    #[test]
    fn siblings_that_are_called_cores_are_a_note() {
        let one = judged(&host(), flops(1), &[]);
        let finding = found_on(&host(), &CoreShared, at(2, 0.5), &[one]).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.message.contains("share cores"));
    }

    #[test]
    fn one_512_bit_unit_is_a_note() {
        let mut h = host();
        set_microarchitecture(&mut h, "skylake_server");
        let mut m = with_values(flops(1), &around(0.5 * 128e9));
        m.params = m.params.with("isa", "avx512");
        assert_eq!(found_on(&h, &CoreShared, m, &[]).unwrap().severity, Severity::Note);
    }

    #[test]
    fn a_known_cause_is_not_said_twice() {
        let m = each(at(1, 0.55), |_, t| t.conditions.other_cpu_s = Some(0.05));
        assert_eq!(severity(&CoreShared, m), None);
        assert_eq!(severity(&CoreShared, at(8, 0.55)), None);
        let mut portable = host();
        portable.cpu.arch = "aarch64".to_owned();
        assert!(found_on(&portable, &CoreShared, at(1, 0.55), &[]).is_none());
        let m = each(at(1, 0.55), |_, t| t.conditions.clock_spread = Some(0.2));
        assert_eq!(severity(&CoreShared, m), None);
    }
}
