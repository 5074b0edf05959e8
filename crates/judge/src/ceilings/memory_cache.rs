//! `memory.cache`: what the first or the second level gives in a cycle.

use proofmark_model::{Bottleneck, Ceiling, Host, Measurement};

use super::CeilingRule;
use super::parts::{Derived, at_clock, clock, cores, memory_row, quota, tabled};
use crate::memory::{cache_at, l1_at_most, traffic};
use crate::microarchitecture::Width;
use crate::microarchitecture::memory::MemoryRow;
use crate::words::counted;
use crate::{Capacity, Context};

/// A set up to this share of a cache lies in it whole: the stack and the loop's own
/// data need the rest.
const FITS: f64 = 0.9;
/// From so many times the first level on a set is the second level's: less would
/// come from the first for a half or more.
const BEYOND_L1: f64 = 2.0;

/// The rule.
pub(super) struct MemoryCache;

/// The level that a set lies in, and the share of it that a smaller level may give.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Level {
    L1,
    L2 { from_l1: f64 },
}

fn level(host: &Host, set: f64) -> Result<Level, String> {
    let size = |n: u32| cache_at(host, n).map(|c| c.size_bytes as f64);
    let (Some(l1), Some(l2)) = (size(1), size(2)) else {
        return Err("the sizes of the L1 and L2 caches are unknown".to_owned());
    };
    let l1_at_most = l1_at_most(host) as f64;
    if set <= FITS * l1 {
        Ok(Level::L1)
    } else if set < BEYOND_L1 * l1_at_most {
        Err("the set is about as large as the L1 cache and is served by two levels".to_owned())
    } else if set <= FITS * l2 {
        Ok(Level::L2 { from_l1: l1_at_most / set })
    } else {
        Err("the bandwidth of levels beyond L2 is not documented".to_owned())
    }
}

/// Bytes a cycle that a loop can count from the first level.
///
/// The portable loop goes by the name of scalar, and the compiler may have made
/// 128-bit code of it.
pub(crate) fn l1_bytes(ctx: &Context, m: &Measurement, row: &MemoryRow) -> Option<f64> {
    let traffic = traffic(ctx, m).ok()?;
    let at = |width: Width| row.l1_bytes(traffic.read, traffic.written, width);
    match m.params.text("isa") {
        Some("scalar" | "sse2") => at(Width::V128),
        Some("avx2") => at(Width::V256),
        Some("avx512") => at(Width::V512),
        // The workload takes what is fastest here.
        None => [Width::V128, Width::V256, Width::V512].into_iter().filter_map(at).reduce(f64::max),
        Some(_) => None,
    }
}

impl CeilingRule for MemoryCache {
    fn id(&self) -> &'static str {
        "memory.cache"
    }

    fn title(&self) -> &'static str {
        "Bandwidth of the L1 and L2 caches"
    }

    fn about(&self) -> &'static str {
        "Cores x clock x bytes per cycle. proofmark measures the clock under the load. For sets up \
         to 90 % of the L1 cache: what the core can load and store per cycle with the loop's \
         instruction set. For a copy the narrower side decides. For sets from twice the L1 cache \
         to 90 % of the L2 cache: the path between the two. The figures come from a table by core \
         design. Uncertainty: that of the clock; for the L2 cache also what the L1 cache may still \
         have held. Shared levels have no documented figure and no ceiling."
    }

    fn derive(&self, ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
        let data = ctx.work(m).data.as_ref().filter(|data| data.any_level);
        let data = data.ok_or("the data of this workload is in memory, not in a cache")?;
        let set = m.params.int(&data.parameter).ok_or("the point has no working set")? as f64;
        let capacity = Capacity::of(ctx.host, m)?;
        let row = memory_row(ctx.host)?;
        let l1 = l1_bytes(ctx, m, row).ok_or_else(|| {
            format!("the loads and stores per cycle of {} are not documented", row.id)
        })?;
        let (name, bytes, from_l1) = match level(ctx.host, set)? {
            Level::L1 => ("l1_bytes_per_cycle", l1, 0.0),
            Level::L2 { from_l1 } => {
                let path = row
                    .l2_bytes
                    .ok_or_else(|| format!("the L2 bandwidth of {} is not documented", row.id))?;
                ("l2_bytes_per_cycle", path.min(l1), from_l1)
            }
        };
        let (clock, spread) = clock(ctx.host, m)?;
        let slack = capacity.quota_slack(&m.trials);
        Ok(Derived {
            value: capacity.cores * clock.value * bytes,
            formula: format!("cores x clock x {name}"),
            inputs: vec![cores(ctx.host, &capacity), clock, tabled(name, bytes, "B", row)],
            uncertainty: (1.0 + spread + slack) / (1.0 - from_l1) - 1.0,
        }
        .by(self, m))
    }

    fn bottleneck(&self, ceiling: &Ceiling, capacity: &Capacity, share: &str) -> Bottleneck {
        if let Some(bottleneck) = quota(ceiling, capacity, share) {
            return bottleneck;
        }
        let level = if ceiling.formula.contains("l1_") { "L1" } else { "L2" };
        Bottleneck {
            resource: format!("{level} bandwidth"),
            evidence: format!(
                "{share}{} on {}",
                at_clock(ceiling),
                counted(capacity.cores, "core")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{
        around, context, host, host_with_caches, judged, policy, set_microarchitecture, spec,
        stream, sweep, with_values,
    };

    fn on(h: &Host, m: &Measurement) -> Result<Ceiling, String> {
        let (spec, policy) = (spec("memory.sweep"), policy());
        MemoryCache.derive(&context(h, &spec, &policy, &[]), m)
    }

    fn value(m: &Measurement) -> f64 {
        on(&host_with_caches(), m).unwrap().value
    }

    fn with_isa(op: &str, isa: &str) -> Measurement {
        let mut m = sweep(op, 1, 32 << 10);
        m.params = m.params.with("isa", isa);
        m
    }

    #[test]
    fn by_hand_on_golden_cove_at_4_gigahertz() {
        // Two 64-byte loads a cycle; three of 32; three of 16.
        assert_eq!(value(&with_isa("read", "avx512")), 4e9 * 128.0);
        assert_eq!(value(&with_isa("read", "avx2")), 4e9 * 96.0);
        assert_eq!(value(&with_isa("read", "sse2")), 4e9 * 48.0);
        assert_eq!(value(&with_isa("read", "scalar")), 4e9 * 48.0);
        // One 64-byte store a cycle, beside which one load is read.
        assert_eq!(value(&with_isa("write", "avx512")), 4e9 * 64.0);
        assert_eq!(value(&with_isa("copy", "avx512")), 4e9 * 128.0);
        assert_eq!(value(&sweep("read", 2, 32 << 10)), 2.0 * 4e9 * 128.0);
    }

    #[test]
    fn the_second_level_is_its_path() {
        let c = on(&host_with_caches(), &sweep("read", 1, 1 << 20)).unwrap();
        assert_eq!(c.value, 4e9 * 64.0);
        // A sixteenth of the set may lie in a first level of 64 KiB.
        assert!((c.uncertainty - (1.005 / (1.0 - 0.0625) - 1.0)).abs() < 1e-9, "{}", c.uncertainty);
    }

    #[test]
    fn other_sets_and_workloads_have_none() {
        let why = |h: &Host, m: Measurement| on(h, &m).unwrap_err();
        let h = host_with_caches();
        assert!(why(&h, sweep("read", 1, 46 << 10)).contains("as large as the L1"));
        assert!(why(&h, sweep("read", 1, 100 << 10)).contains("served by two levels"));
        assert!(why(&h, sweep("read", 1, 2 << 20)).contains("beyond L2"));
        assert!(why(&host(), sweep("read", 1, 32 << 10)).contains("unknown"));
        assert!(why(&h, stream("read", 1)).contains("memory"));
        let mut arm = host_with_caches();
        set_microarchitecture(&mut arm, "neoverse_v1");
        let mut m = sweep("read", 1, 1 << 20);
        m.params = m.params.with("isa", "scalar");
        assert!(why(&arm, m).contains("not documented"));
    }

    #[test]
    fn the_level_is_the_bottleneck() {
        let bottleneck = |set: u64, rate: f64| {
            let m = with_values(sweep("read", 1, set), &around(rate));
            judged(&host_with_caches(), m, &[]).bottleneck.unwrap()
        };
        let l1 = bottleneck(32 << 10, 0.95 * 512e9);
        assert_eq!(l1.resource, "L1 bandwidth");
        assert!(l1.evidence.starts_with("95.0 % of the ceiling at 4.000 GHz on 1 core"));
        assert_eq!(bottleneck(1 << 20, 0.95 * 256e9).resource, "L2 bandwidth");
    }
}
