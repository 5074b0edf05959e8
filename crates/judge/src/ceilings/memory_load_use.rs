//! `memory.load_use`: the least time from a load to the next one that needs it.

use proofmark_model::{Bottleneck, Ceiling, Measurement, Provenance};

use super::CeilingRule;
use super::parts::{Derived, at_clock, clock, input, memory_row, tabled};
use crate::memory::{cache_at, l1_at_most, touched_bytes};
use crate::{Capacity, Context};

/// A set up to this share of the second level lies in it whole.
const FITS: f64 = 0.9;

/// The rule.
pub(super) struct MemoryLoadUse;

/// The floor of a chase through this many bytes: in cycles of the first level for
/// the share of the set that the first level can hold, of the second for the rest.
fn floor(
    rule: &MemoryLoadUse,
    ctx: &Context,
    m: &Measurement,
    set: u64,
) -> Result<Ceiling, String> {
    let row = memory_row(ctx.host)?;
    let unknown = || format!("the load-to-use latency of {} is not documented", row.id);
    let l1 = row.l1_cycles.ok_or_else(unknown)?;
    let (clock, uncertainty) = clock(ctx.host, m)?;
    let in_l1 = l1_at_most(ctx.host) as f64 / set.max(1) as f64;
    let mut inputs = vec![tabled("l1_cycles", l1, "", row)];
    let (cycles, formula) = if in_l1 >= 1.0 {
        (l1, "l1_cycles / clock")
    } else {
        let l2 = row.l2_cycles.ok_or_else(unknown)?;
        let note = "the largest share of the set that the L1 cache can hold";
        inputs.push(tabled("l2_cycles", l2, "", row));
        inputs.push(input("in_l1", in_l1, "", Provenance::Reported, note));
        (in_l1 * l1 + (1.0 - in_l1) * l2, "(in_l1 x l1_cycles + (1 - in_l1) x l2_cycles) / clock")
    };
    let value = cycles / clock.value;
    inputs.push(clock);
    Ok(Derived { value, formula: formula.to_owned(), inputs, uncertainty }.by(rule, m))
}

impl CeilingRule for MemoryLoadUse {
    fn id(&self) -> &'static str {
        "memory.load_use"
    }

    fn title(&self) -> &'static str {
        "Load-to-use latency"
    }

    fn about(&self) -> &'static str {
        "A floor, since less is better: cycles from a load to the use of its value / clock. The \
         cycles of the L1 and L2 caches come from a table by core design; where sources differ, \
         the lower figure counts. proofmark measures the clock under the load. For a set beyond \
         the L1 cache, the share that L1 can hold (at least 64 KiB, whatever is reported) has the \
         L1 latency. The rest has the L2 latency. Shared levels and memory have no documented \
         latency in core cycles, so sets beyond 90 % of the L2 cache have no such ceiling. A time \
         below the L2 latency is still impossible. Uncertainty: that of the clock."
    }

    fn derive(&self, ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
        let set = touched_bytes(ctx, m).ok_or("the point has no working set")?;
        let l2 = cache_at(ctx.host, 2).ok_or("the size of the L2 cache is unknown")?;
        if set as f64 > FITS * l2.size_bytes as f64 {
            return Err(
                "the latency of the shared cache and of memory is not documented in core cycles"
                    .to_owned(),
            );
        }
        floor(self, ctx, m, set)
    }

    fn bound(&self, ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
        floor(self, ctx, m, touched_bytes(ctx, m).ok_or("the point has no working set")?)
    }

    fn bottleneck(&self, ceiling: &Ceiling, _: &Capacity, share: &str) -> Bottleneck {
        let evidence = format!("{share}, the documented load-to-use time{}", at_clock(ceiling));
        Bottleneck::new("load latency", evidence)
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Host, Severity};

    use super::*;
    use crate::testing::{
        context, each, host, host_with_caches, judged, latency, policy, set_microarchitecture, spec,
    };

    fn on(h: &Host, set: u64) -> Result<Ceiling, String> {
        let (spec, policy) = (spec("memory.latency"), policy());
        MemoryLoadUse.derive(&context(h, &spec, &policy, &[]), &latency(set, 1e-7))
    }

    #[test]
    fn cycles_of_the_level_over_the_clock() {
        let value = |set: u64| on(&host_with_caches(), set).unwrap().value;
        assert_eq!(value(32 << 10), 5.0 / 4e9);
        assert_eq!(value(64 << 10), 5.0 / 4e9);
        // Half of 128 KiB may lie in a first level of 64 KiB.
        assert_eq!(value(128 << 10), 9.5 / 4e9);
        assert!((value(1 << 20) / ((14.0 - 9.0 / 16.0) / 4e9) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn past_the_second_level_there_is_a_bound_and_no_ceiling() {
        let h = host_with_caches();
        assert!(on(&h, 2 << 20).unwrap_err().contains("not documented in core cycles"));
        let m = judged(&h, latency(1 << 30, 1e-7), &[]);
        assert!(m.ceiling.is_none() && m.findings.is_empty(), "{:?}", m.findings);
        assert!(m.missing["efficiency"].contains("no ceiling"));
        let m = judged(&h, latency(1 << 30, 3e-9), &[]);
        assert_eq!(m.findings[0].check, "above_ceiling");
        assert_eq!(m.findings[0].severity, Severity::Invalid);
    }

    #[test]
    fn a_slower_clock_makes_a_longer_time_and_the_same_efficiency() {
        let m = latency(32 << 10, 1.25e-9 / 0.99);
        let slow = each(m, |i, t| {
            if i % 2 == 0 {
                t.conditions.clock_hz = Some(3e9);
                t.value *= 4.0 / 3.0;
                t.seconds *= 4.0 / 3.0;
            }
        });
        let judged = judged(&host_with_caches(), slow, &[]);
        assert!((judged.efficiency.unwrap() - 0.99).abs() < 0.005, "{:?}", judged.efficiency);
    }

    #[test]
    fn near_it_the_load_is_the_bottleneck() {
        let m = judged(&host_with_caches(), latency(32 << 10, 1.26e-9), &[]);
        let bottleneck = m.bottleneck.unwrap();
        assert_eq!(bottleneck.resource, "load latency");
        assert!(bottleneck.evidence.contains("4.000 GHz"), "{}", bottleneck.evidence);
        assert!(m.missing["latency"].contains("dependent loads"));
    }

    #[test]
    fn unknown_caches_and_cores_have_none() {
        assert!(on(&host(), 32 << 10).unwrap_err().contains("L2 cache"));
        let mut h = host_with_caches();
        set_microarchitecture(&mut h, "crestmont");
        assert!(on(&h, 1 << 20).unwrap_err().contains("crestmont"));
    }
}
