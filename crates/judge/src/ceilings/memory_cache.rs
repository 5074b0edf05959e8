//! `memory.cache`: the bytes per cycle of the L1 or the L2 cache.

use proofmark_model::{Bottleneck, Ceiling, Host, Isa, Measurement, ceiling_id, key};

use super::CeilingRule;
use super::parts::{Formula, Purpose, at_clock, clock, cores, memory_row, tabled};
use crate::memory::{cache_at, l1_at_most, traffic};
use crate::microarchitecture::{Row, Width};
use crate::words::counted;
use crate::{Capacity, Context};

/// Largest set that is wholly in a cache, as a share of it; the stack and the loop's data need the
/// rest.
const FITS: f64 = 0.9;
/// Smallest set of the L2 cache, in multiples of the L1 cache: of a smaller one, half is in L1.
const BEYOND_L1: f64 = 2.0;

/// The level that holds a set, and the share of it that a smaller level may serve.
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

/// Bytes per cycle that a loop can count from the L1 cache. The portable loop is called scalar,
/// though the compiler may have made 128-bit code of it.
pub(crate) fn l1_bytes(ctx: &Context, m: &Measurement, row: &Row) -> Option<f64> {
    let traffic = traffic(ctx, m).ok()?;
    let at = |width: Width| row.l1_bytes(traffic.read, traffic.written, width);
    match m.params.get(key::ISA).map(Isa::named) {
        Some(Some(Isa::Scalar)) => at(Width::V128),
        Some(isa) => at(Width::for_isa(isa?)),
        // The workload uses the fastest set here.
        None => [Width::V128, Width::V256, Width::V512].into_iter().filter_map(at).reduce(f64::max),
    }
}

pub(super) static RULE: CeilingRule = CeilingRule {
    id: ceiling_id::MEMORY_CACHE,
    title: "Bandwidth of the L1 and L2 caches",
    about: "Cores x clock x bytes per cycle. proofmark measures the clock under the load. For sets \
         up to 90 % of the L1 cache: what the core can load and store per cycle with the loop's \
         instruction set. For a copy the narrower side decides. For sets from twice the L1 cache \
         to 90 % of the L2 cache: the path between the two. The figures come from a table by core \
         design. Uncertainty: that of the clock; for the L2 cache also what the L1 cache may still \
         have held. Shared levels have no documented figure and no ceiling.",
    derive: |ctx, m| ceiling(ctx, m, Purpose::Share),
    bound: |ctx, m| ceiling(ctx, m, Purpose::Bound),
    bottleneck: Some(bottleneck),
};

fn ceiling(ctx: &Context, m: &Measurement, purpose: Purpose) -> Result<Ceiling, String> {
    let data = ctx.work(m).data.as_ref().filter(|data| data.any_level);
    let data = data.ok_or("the data of this workload is in memory, not in a cache")?;
    let set =
        m.params.number(&data.parameter).ok_or("the configuration has no working set")? as f64;
    let capacity = Capacity::derive(ctx.host, m)?;
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
    let (clock, spread) = clock(ctx.host, m, purpose)?;
    let slack = capacity.quota_slack(&m.trials);
    let formula = Formula::from_input(cores(ctx.host, &capacity)).times(clock);
    let uncertainty = (1.0 + spread + slack) / (1.0 - from_l1) - 1.0;
    Ok(RULE.ceiling(m, formula.times(tabled(name, bytes, "B", row)), uncertainty))
}

fn bottleneck(ceiling: &Ceiling, capacity: &Capacity, share: &str) -> Bottleneck {
    let level = if ceiling.formula.contains("l1_") { "L1" } else { "L2" };
    Bottleneck {
        resource: format!("{level} bandwidth"),
        evidence: format!("{share}{} on {}", at_clock(ceiling), counted(capacity.cores, "core")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    fn with_isa(op: &str, isa: &str) -> Measurement {
        with_param(sweep(op, 1, 32 << 10), "isa", isa)
    }

    #[test]
    fn by_hand_on_golden_cove_at_4_gigahertz() {
        let h = host_with_caches();
        RULE.on(&h, &[]).expect([
            // Two 64-byte loads per cycle; three of 32; three of 16.
            ("512 bits", with_isa("read", "avx512"), Ok(4e9 * 128.0)),
            ("256 bits", with_isa("read", "avx2"), Ok(4e9 * 96.0)),
            ("128 bits", with_isa("read", "sse2"), Ok(4e9 * 48.0)),
            ("portable", with_isa("read", "scalar"), Ok(4e9 * 48.0)),
            // One 64-byte store per cycle, and with it one load.
            ("write", with_isa("write", "avx512"), Ok(4e9 * 64.0)),
            ("copy", with_isa("copy", "avx512"), Ok(4e9 * 128.0)),
            ("two threads", sweep("read", 2, 32 << 10), Ok(2.0 * 4e9 * 128.0)),
            ("the path from L2", sweep("read", 1, 1 << 20), Ok(4e9 * 64.0)),
            ("as large as L1", sweep("read", 1, 46 << 10), Err("as large as the L1")),
            ("near L1", sweep("read", 1, 100 << 10), Err("served by two levels")),
            ("as large as L2", sweep("read", 1, 2 << 20), Err("beyond L2")),
            ("memory", stream("read", 1), Err("memory")),
        ]);
        // A sixteenth of the set may be in an L1 cache of 64 KiB.
        let c = RULE.on(&h, &[]).derive(&sweep("read", 1, 1 << 20)).unwrap();
        assert!((c.uncertainty - (1.005 / (1.0 - 0.0625) - 1.0)).abs() < 1e-9, "{}", c.uncertainty);
        let no_caches = host();
        RULE.on(&no_caches, &[]).expect([("no caches", with_isa("read", "avx2"), Err("unknown"))]);
        let arm = with_design(h.clone(), "neoverse_v1");
        let m = with_param(sweep("read", 1, 1 << 20), "isa", "scalar");
        RULE.on(&arm, &[]).expect([("no figure", m, Err("not documented"))]);
        let h = host_with_caches();
        let at = |set: u64, rate: f64| with_values(sweep("read", 1, set), &around(rate));
        let l1 = "^L1 bandwidth$ 95.0 % of the ceiling at 4.000 GHz on 1 core";
        expect_bottleneck(&h, at(32 << 10, 0.95 * 512e9), &[], l1);
        expect_bottleneck(&h, at(1 << 20, 0.95 * 256e9), &[], "^L2 bandwidth$");
    }
}
