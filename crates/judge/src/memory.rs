//! What a memory workload touches, in which order, and how much of it a cache could have given.

use proofmark_model::{Cache, CacheKind, Host, Measurement, Traffic, key};

use crate::Context;

/// Bytes of a cache line on every machine that is known here.
pub(crate) const LINE: f64 = 64.0;

/// The largest first-level data cache of the designs in the tables, in bytes. A hypervisor may
/// report a smaller one than there is, so what is between is not taken for the second level.
pub(crate) const LARGEST_L1: u64 = 64 << 10;

/// Share that an unreported cache could hold: workloads take at least 4 times one that they know.
const HIDDEN_CACHE: f64 = 0.25;

/// From this share on that the cache could hold, memory no longer bounds the number.
pub(crate) const MOSTLY_CACHE: f64 = 0.5;

/// Bytes of the largest array or set, over all threads, for STREAM's rule of 4 times the cache.
pub(crate) fn array_bytes(ctx: &Context, m: &Measurement) -> Option<u64> {
    ctx.work(m).array_bytes(&m.params)
}

/// Bytes of all that the workload touches, over all threads.
pub(crate) fn touched_bytes(ctx: &Context, m: &Measurement) -> Option<u64> {
    ctx.work(m).touched_bytes(&m.params)
}

/// What one counted operation reads and writes; fails if the workload counts no bytes.
pub(crate) fn traffic<'a>(ctx: &Context<'a>, m: &Measurement) -> Result<&'a Traffic, String> {
    let traffic = ctx.work(m).traffic(&m.params);
    traffic.ok_or_else(|| "this workload counts no bytes".to_owned())
}

/// Share of a line that one access of a random order uses: small blocks waste the rest.
pub(crate) fn line_share(ctx: &Context, m: &Measurement) -> f64 {
    let random = ctx.work(m).is_random();
    let block = m.params.get(key::BLOCK_SIZE).filter(|_| random);
    block.map_or(1.0, |b| (b as f64 / LINE).clamp(1.0 / LINE, 1.0))
}

/// Share of the data, 0 to 1, that the usable last-level cache could have held.
pub(crate) fn cache_share(host: &Host, bytes: u64) -> f64 {
    let cache = host.usable_cache().map(|c| c as f64 / bytes.max(1) as f64);
    cache.unwrap_or(HIDDEN_CACHE).min(1.0)
}

/// That share, where most of the data must come from memory.
/// Fails if the data's size is not known, or the cache could have given half of it.
pub(crate) fn from_memory(ctx: &Context, m: &Measurement) -> Result<f64, String> {
    let bytes = touched_bytes(ctx, m).ok_or("the size of the data is unknown")?;
    let share = cache_share(ctx.host, bytes);
    if share >= MOSTLY_CACHE {
        return Err("the last-level cache could hold half of the data or more".to_owned());
    }
    Ok(share)
}

/// The data cache of a level, as the first CPU sees it.
pub(crate) fn cache_at(host: &Host, level: u32) -> Option<&Cache> {
    let caches = host.cpu.caches.get()?;
    caches.iter().find(|c| c.level == level && c.kind != CacheKind::Instruction)
}

/// First-level data cache in bytes, as reported, but not less than [`LARGEST_L1`].
pub(crate) fn l1_at_most(host: &Host) -> u64 {
    cache_at(host, 1).map_or(LARGEST_L1, |c| c.size_bytes.max(LARGEST_L1))
}
