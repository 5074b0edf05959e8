//! `memory.load_use`: the shortest time from a load to the next one that needs its value.

use proofmark_model::{Bottleneck, Ceiling, Measurement, Provenance, ceiling_id};

use super::CeilingRule;
use super::parts::{Formula, Purpose, at_clock, clock, input, memory_row, tabled};
use crate::memory::{cache_at, l1_at_most, touched_bytes};
use crate::{Capacity, Context};

/// Largest set that is wholly in the L2 cache, as a share of it.
const FITS: f64 = 0.9;

pub(super) static RULE: CeilingRule = CeilingRule {
    id: ceiling_id::MEMORY_LOAD_USE,
    title: "Load-to-use latency",
    about: "A floor, since less is better: cycles from a load to the use of its value / clock. The \
         cycles of the L1 and L2 caches come from a table by core design; where sources differ, \
         the lower figure counts. proofmark measures the clock under the load. For a set beyond \
         the L1 cache, the share that L1 can hold (at least 64 KiB, whatever is reported) has the \
         L1 latency. The rest has the L2 latency. Shared levels and memory have no documented \
         latency in core cycles, so sets beyond 90 % of the L2 cache have no such ceiling. A time \
         below the L2 latency is still impossible. Uncertainty: that of the clock.",
    derive,
    bound: |ctx, m| floor(ctx, m, Purpose::Bound),
    bottleneck: Some(bottleneck),
};

fn derive(ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
    let set = touched_bytes(ctx, m).ok_or("the configuration has no working set")?;
    let l2 = cache_at(ctx.host, 2).ok_or("the size of the L2 cache is unknown")?;
    if set as f64 > FITS * l2.size_bytes as f64 {
        return Err(
            "the latency of the shared cache and of memory is not documented in core cycles"
                .to_owned(),
        );
    }
    floor(ctx, m, Purpose::Share)
}

/// The floor of a chase: L1 cycles for the share that fits L1, else L2 cycles.
fn floor(ctx: &Context, m: &Measurement, purpose: Purpose) -> Result<Ceiling, String> {
    let set = touched_bytes(ctx, m).ok_or("the configuration has no working set")?;
    let row = memory_row(ctx.host)?;
    let unknown = || format!("the load-to-use latency of {} is not documented", row.id);
    let l1 = row.l1_cycles.ok_or_else(unknown)?;
    let (clock, uncertainty) = clock(ctx.host, m, purpose)?;
    let in_l1 = l1_at_most(ctx.host) as f64 / set.max(1) as f64;
    let mut cycles = Formula::from_input(tabled("l1_cycles", l1, "", row));
    if in_l1 < 1.0 {
        let l2 = row.l2_cycles.ok_or_else(unknown)?;
        let note = "the largest share of the set that the L1 cache can hold";
        cycles.inputs.push(tabled("l2_cycles", l2, "", row));
        cycles.inputs.push(input("in_l1", in_l1, "", Provenance::Reported, note));
        cycles.value = in_l1 * l1 + (1.0 - in_l1) * l2;
        cycles.text = "(in_l1 x l1_cycles + (1 - in_l1) x l2_cycles)".to_owned();
    }
    Ok(RULE.ceiling(m, cycles.over(clock), uncertainty))
}

fn bottleneck(ceiling: &Ceiling, _: &Capacity, share: &str) -> Bottleneck {
    let evidence = format!("{share}, the documented load-to-use time{}", at_clock(ceiling));
    Bottleneck::new("load latency", evidence)
}

#[cfg(test)]
mod tests {
    use proofmark_model::Severity;

    use super::*;
    use crate::testing::*;

    #[test]
    fn cycles_of_the_level_over_the_clock() {
        let walk = |set: u64| latency(set, 1e-7);
        let h = host_with_caches();
        RULE.on(&h, &[]).expect([
            ("L1", walk(32 << 10), Ok(5.0 / 4e9)),
            ("the largest L1", walk(64 << 10), Ok(5.0 / 4e9)),
            // Half of 128 KiB may be in an L1 cache of 64 KiB.
            ("twice that", walk(128 << 10), Ok(9.5 / 4e9)),
            ("L2", walk(1 << 20), Ok((14.0 - 9.0 / 16.0) / 4e9)),
            ("beyond", walk(2 << 20), Err("not documented in core cycles")),
        ]);
        RULE.on(&host(), &[]).expect([("no caches", walk(32 << 10), Err("L2 cache"))]);
        let unknown = with_design(h.clone(), "crestmont");
        RULE.on(&unknown, &[]).expect([("an unknown core", walk(1 << 20), Err("crestmont"))]);
    }

    #[test]
    fn beyond_l2_there_is_a_bound_and_no_ceiling() {
        let h = host_with_caches();
        let m = judged(&h, latency(1 << 30, 1e-7), &[]);
        assert!(m.ceiling.is_none() && m.findings.is_empty(), "{:?}", m.findings);
        assert!(m.missing["efficiency"].contains("no ceiling"));
        let m = judged(&h, latency(1 << 30, 3e-9), &[]);
        assert_eq!(m.findings[0].check, "above_ceiling");
        assert_eq!(m.findings[0].severity, Severity::Invalid);
    }

    #[test]
    fn a_slower_clock_makes_a_longer_time_and_the_same_efficiency() {
        let slow = each(latency(32 << 10, 1.25e-9 / 0.99), |i, t| {
            if i % 2 == 0 {
                t.conditions.clock_hz = Some(3e9);
                t.value *= 4.0 / 3.0;
                t.seconds *= 4.0 / 3.0;
            }
        });
        let judged = judged(&host_with_caches(), with_delivered(slow), &[]);
        assert!((judged.efficiency.unwrap() - 0.99).abs() < 0.005, "{:?}", judged.efficiency);
        let m = latency(32 << 10, 1.26e-9);
        expect_bottleneck(&host_with_caches(), m, &[], "^load latency$ ... 4.000 GHz");
    }
}
