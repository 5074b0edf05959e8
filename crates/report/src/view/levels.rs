//! Cache levels as the machine reports them, and results measured within them.

use proofmark_model::{Cache, CacheKind, Finding, Host, Measurement, Run, check_id, key};

use super::grouping::grouped;
use super::text::clean;

/// Share of a level that a working set may fill and still be within it. The rest is for the code,
/// the stack and other programs.
const WITHIN: f64 = 0.75;
/// Data of at least this many times the last-level cache count as memory (STREAM's rule).
const TIMES: u64 = 4;

/// One level of cache.
pub struct Level<'a> {
    /// `L1d`, `L2`, `L3`.
    pub name: &'static str,
    /// Size of one instance in bytes, as reported.
    pub bytes: u64,
    cache: &'a Cache,
}

/// The levels that hold data, the nearest first.
pub fn levels(host: &Host) -> Vec<Level<'_>> {
    let mut caches: Vec<&Cache> = host
        .cpu
        .caches
        .get()
        .into_iter()
        .flatten()
        .filter(|c| c.kind != CacheKind::Instruction && c.size_bytes > 0)
        .collect();
    caches.sort_by_key(|c| c.level);
    caches.dedup_by_key(|c| c.level);
    caches
        .into_iter()
        .filter_map(|c| Some(Level { name: name(c.level.into())?, bytes: c.size_bytes, cache: c }))
        .collect()
}

/// The name of a level that holds data.
fn name(level: u64) -> Option<&'static str> {
    let names = ["L1d", "L2", "L3", "L4"];
    names.get(usize::try_from(level.checked_sub(1)?).ok()?).copied()
}

impl Level<'_> {
    /// Bytes per thread, where that many threads share the instance.
    fn each(&self, host: &Host, threads: u64) -> f64 {
        let used = host.limits.usable_cpus.iter().take(usize::try_from(threads).unwrap_or(0));
        let here = used.filter(|c| self.cache.shared_by.contains(c)).count().max(1);
        self.bytes as f64 / here as f64
    }
}

/// `within L2` where a level holds the whole working set of each thread, as reported. `partly
/// within L3` where the last level could hold more than a quarter of all sets. `None` for memory.
pub fn within(host: &Host, set: u64, threads: u64) -> Option<String> {
    let levels = levels(host);
    if let Some(level) = levels.iter().find(|l| set as f64 <= l.each(host, threads)) {
        return Some(format!("within {}", level.name));
    }
    let last = levels.last()?.name;
    let large = TIMES.saturating_mul(host.usable_cache()?);
    (set.saturating_mul(threads) < large).then(|| format!("partly within {last}"))
}

/// A measurement that lies within one level, or in memory beyond all of them.
pub struct Plateau<'a> {
    /// The level's name; `None` for memory.
    pub level: Option<&'static str>,
    /// True for the last level of a virtual machine: other guests may fill it.
    pub is_shared: bool,
    /// The measurement.
    pub m: &'a Measurement,
    /// The working set in bytes.
    pub set: u64,
}

/// Selects for each level the largest working set that is surely within it, and the largest of all
/// if no cache holds it. A measured size of a level is used where it is smaller than the reported
/// one. `series` differs in `working_set` only.
pub fn plateaus<'a>(run: &Run, series: &[&'a Measurement]) -> Vec<Plateau<'a>> {
    let host = &run.host;
    let found = disagreements(run.measurements.iter());
    let sets: Vec<(u64, &Measurement)> =
        series.iter().filter_map(|m| Some((m.params.get(key::WORKING_SET)?, *m))).collect();
    let mut out = Vec::new();
    let mut nearer = 0.0;
    let all = levels(host);
    let last =
        all.last().map(|l| l.name).filter(|_| all.len() > 2 && host.is_virtual() == Some(true));
    for level in all {
        let threads = series.first().map_or(1, |m| m.params.threads());
        let measured = found.iter().filter(|d| d.level == level.name).map(|d| d.measured);
        let bytes = measured.fold(level.each(host, threads), f64::min);
        let fits = |set: u64| set as f64 > nearer && set as f64 <= bytes * WITHIN;
        let most = sets.iter().filter(|(set, _)| fits(*set)).max_by_key(|(set, _)| *set);
        let (name, is_shared) = (Some(level.name), last == Some(level.name));
        out.extend(most.map(|(set, m)| Plateau { level: name, is_shared, m, set: *set }));
        nearer = bytes.max(nearer);
    }
    let last = sets.iter().max_by_key(|(set, _)| *set).filter(|(set, _)| *set as f64 > nearer);
    out.extend(last.map(|(set, m)| Plateau { level: None, is_shared: false, m, set: *set }));
    out
}

/// A level whose measured size differs from the reported one.
pub struct Disagreement {
    /// The name as in [`levels`], where there is such a level.
    pub level: String,
    /// Reported size in bytes.
    pub reported: f64,
    /// Bytes at which the measured plateau ends.
    pub measured: f64,
}

/// Disagreements that the check `cache_disagreement` found, each once.
pub fn disagreements<'a>(among: impl Iterator<Item = &'a Measurement>) -> Vec<Disagreement> {
    let disagreement = |f: &Finding| {
        let bytes = |name| f.evidence.get(name)?.as_f64();
        let level = f.evidence.get("level")?;
        let level = level.as_str().map_or_else(|| level.to_string(), str::to_owned);
        let number = level.strip_prefix('L').unwrap_or(&level);
        let level = match number.parse().ok().and_then(name) {
            Some(known) => known.to_owned(),
            None if number.parse::<u64>().is_ok() => format!("L{number}"),
            None => clean(&level),
        };
        let (reported, measured) = (bytes("reported_bytes")?, bytes("measured_bytes")?);
        Some(((level.clone(), measured), Disagreement { level, reported, measured }))
    };
    let findings =
        among.flat_map(|m| &m.findings).filter(|f| f.check == check_id::CACHE_DISAGREEMENT);
    let each = grouped(findings.filter_map(disagreement)).into_iter();
    each.filter_map(|(_, same)| same.into_iter().next()).collect()
}
