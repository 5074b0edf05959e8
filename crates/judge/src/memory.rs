//! Data of a memory workload: its sizes, traffic and order, and the share that a cache could have
//! served.

use proofmark_model::{Cache, CacheKind, Host, Measurement, Traffic, key};

use crate::Context;

/// Bytes of a cache line on every machine in the tables.
pub(crate) const LINE: f64 = 64.0;

/// Largest L1 data cache of the designs in the tables, in bytes. A hypervisor may report a smaller
/// one, so sets in between do not count as L2.
pub(crate) const LARGEST_L1: u64 = 64 << 10;

/// Share that an unreported cache could hold: workloads use at least 4 times a known one.
const HIDDEN_CACHE: f64 = 0.25;

/// Share of the data in the cache from which memory no longer bounds the result.
pub(crate) const MOSTLY_CACHE: f64 = 0.5;

/// Bytes of the largest array or set, over all threads, for STREAM's rule of 4 times the cache.
pub(crate) fn array_bytes(ctx: &Context, m: &Measurement) -> Option<u64> {
    ctx.work(m).array_bytes(&m.params)
}

/// Bytes of all data that the workload touches, over all threads.
pub(crate) fn touched_bytes(ctx: &Context, m: &Measurement) -> Option<u64> {
    ctx.work(m).touched_bytes(&m.params)
}

/// Bytes that one counted operation reads and writes. Fails if the workload counts no bytes.
pub(crate) fn traffic<'a>(ctx: &Context<'a>, m: &Measurement) -> Result<&'a Traffic, String> {
    let traffic = ctx.work(m).traffic(&m.params);
    traffic.ok_or_else(|| "this workload counts no bytes".to_owned())
}

/// Share of a line that one access in random order uses; small blocks do not use the rest.
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

/// The same share, for data that must mostly come from memory. Fails if the size is unknown, or the
/// cache could have served half of it.
pub(crate) fn from_memory(ctx: &Context, m: &Measurement) -> Result<f64, String> {
    let bytes = touched_bytes(ctx, m).ok_or("the size of the data is unknown")?;
    let share = cache_share(ctx.host, bytes);
    if share >= MOSTLY_CACHE {
        return Err("the last-level cache could hold half of the data or more".to_owned());
    }
    Ok(share)
}

/// The data cache of a level, as reported for the first CPU.
pub(crate) fn cache_at(host: &Host, level: u32) -> Option<&Cache> {
    let caches = host.cpu.caches.get()?;
    caches.iter().find(|c| c.level == level && c.kind != CacheKind::Instruction)
}

/// L1 data cache in bytes, as reported, but at least [`LARGEST_L1`].
pub(crate) fn l1_at_most(host: &Host) -> u64 {
    cache_at(host, 1).map_or(LARGEST_L1, |c| c.size_bytes.max(LARGEST_L1))
}
