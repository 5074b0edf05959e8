//! The caches: `in_cache`, the data fits into one, while the name says memory;
//! `cache_disagreement`, those found by measurement are not those that the machine reports.

use proofmark_model::{CacheKind, Finding, Host, Measurement, Severity, Unit, format_size};

use super::{Check, Class, Examine, percent, size, with_known};
use crate::Context;
use crate::memory::{array_bytes, cache_share, touched_bytes};

/// The rule of STREAM (McCalpin): so many times all last-level caches together.
const TIMES: u64 = 4;

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// What to do about too little data: nobody can give more of it than the memory holds.
fn advice(ctx: &Context, m: &Measurement) -> String {
    let caches = "to measure the caches themselves use memory.sweep";
    let enough = || {
        let (array, all) = (array_bytes(ctx, m)?, touched_bytes(ctx, m)?);
        let times = TIMES as f64 * ctx.host.largest_cached() as f64 / array.max(1) as f64;
        Some((all as f64 * times) as u64)
    };
    match enough().filter(|enough| *enough > ctx.host.usable_memory()) {
        Some(enough) => {
            let (enough, limit) = (format_size(enough), ctx.host.tight_memory_limit());
            let what = format!("4 times the last-level cache, which takes {enough}");
            match limit.map(format_size) {
                Some(limit) => {
                    format!("raise the memory limit: {limit} leave no room for {what}; {caches}")
                }
                None => format!("free memory: there is no room for {what}; {caches}"),
            }
        }
        None => format!(
            "give each array 4 times the last-level cache of all CPUs in use, or leave its size to \
             proofmark (auto); {caches}"
        ),
    }
}

/// Blocks smaller than a line, in random order, meet each line again and again.
fn met_again(ctx: &Context, m: &Measurement, all: u64) -> Option<Finding> {
    let block = m.params.int("block_size").filter(|b| *b < LINE)?;
    if !ctx.work(m).is_random() {
        return None;
    }
    let share = cache_share(ctx.host, all);
    let message = format!(
        "in random order a pass meets each line for up to {} blocks of {block} B: up to {} of \
         them may come from the cache",
        LINE / block.max(1),
        percent(share)
    );
    Some(IN_CACHE.note(message, advice(ctx, m)).with("cache_share", share))
}

const LINE: u64 = 64;

pub(super) static IN_CACHE: Check = Check {
    id: "in_cache",
    class: Class::claim("how much of the data came from the cache is unknown"),
    title: "Cache measured as memory",
    about: "Compares the array, region or set of a memory workload with the last-level caches of the \
         usable CPUs, all instances. Data not larger than these, or than 4 MiB whatever is \
         reported, is invalid: the result is that of a cache. Data below 4 times the caches \
         (STREAM's rule) is suspect, with the share that may come from the cache. A note where no \
         cache is reported, and for random blocks smaller than a line, which meet each line \
         several times. memory.sweep and memory.latency are named by their set and are not \
         examined.",
    examine: Examine::Both(in_cache),
};

fn in_cache(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if ctx.work(m).any_level() || m.trials.is_empty() {
        return None;
    }
    let (array, all) = (array_bytes(ctx, m)?, touched_bytes(ctx, m)?);
    let says = |severity, message| IN_CACHE.finding(severity, message, advice(ctx, m));
    let cache = ctx.host.usable_cache();
    let at_least = ctx.host.largest_cached();
    let finding = if array <= at_least {
        let what = if array <= cache.unwrap_or(0) {
            format!("fits into {} of last-level cache", mib(at_least))
        } else {
            format!("is smaller than any current last-level cache ({})", mib(at_least))
        };
        let message = format!("{} of data {what}: this measures a cache", mib(array));
        says(Severity::Invalid, message)
    } else if let Some(cache) = cache {
        if array >= TIMES.saturating_mul(cache) {
            return met_again(ctx, m, all);
        }
        let share = cache_share(ctx.host, all);
        let ([data, cache], part) = ([array, cache].map(mib), percent(share));
        let message = format!(
            "{data} of data is less than 4 times the {cache} of last-level cache: up to {part} of \
             the data may come from the cache"
        );
        says(Severity::Suspect, message).with("cache_share", share)
    } else {
        let message = "no cache is reported, so it is unknown whether the data exceeds the caches";
        says(Severity::Note, message.to_owned())
    };
    let finding = finding.with("data_bytes", array);
    Some(match cache {
        Some(cache) => finding.with("cache_bytes", cache),
        None => finding,
    })
}

/// Sets from so many times the level below on are a level's: less than a quarter is from below.
const BEYOND: f64 = 4.0;
/// The same past the last level, where a smaller share of hits counts more.
const BEYOND_LAST: f64 = 8.0;
/// So much more than on the plateau is off it.
const EDGE: f64 = 1.5;
/// A plateau need not reach to the very size: a set needs its pages in the right places.
const WITHIN: f64 = 0.75;

/// Where a plateau ended: between these two sets, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Edge {
    on: f64,
    off: f64,
}

/// The end of the plateau that begins at `from` bytes, if it ends by `to`.
fn edge(series: &[(f64, f64)], from: f64, to: f64) -> Option<Edge> {
    let mut sets = series.iter().filter(|(set, _)| (from..=to).contains(set));
    let (mut on, plateau) = *sets.next()?;
    for (set, cost) in sets {
        if *cost > EDGE * plateau {
            return Some(Edge { on, off: *set });
        }
        on = *set;
    }
    None
}

/// Levels of data cache and their sizes in bytes, the smallest first.
fn levels(host: &Host) -> Vec<(u32, f64)> {
    let caches = host.cpu.caches.get().map_or(&[][..], Vec::as_slice);
    let data = caches.iter().filter(|c| c.kind != CacheKind::Instruction);
    let mut levels: Vec<_> = data.map(|c| (c.level, c.size_bytes as f64)).collect();
    levels.sort_by_key(|(level, _)| *level);
    levels
}

/// Points that differ in the set alone: its bytes and what an access costs, sorted by the bytes.
fn series(ctx: &Context, m: &Measurement) -> Vec<(f64, f64)> {
    let set = |o: &Measurement| o.params.int("working_set");
    let same = |o: &&Measurement| {
        o.workload == m.workload
            && set(o) != set(m)
            && o.params.differs_only_in(&m.params, &["working_set"])
    };
    let point = |o: &Measurement| {
        let median = o.summary.as_ref()?.value();
        let cost = if o.unit == Unit::Second { median } else { 1.0 / median };
        Some((set(o)? as f64, cost)).filter(|(_, cost)| cost.is_finite() && *cost > 0.0)
    };
    let others = ctx.others.iter().filter(same).filter_map(point);
    let mut series: Vec<_> = others.chain(point(m)).collect();
    series.sort_by(|a, b| a.0.total_cmp(&b.0));
    series
}

fn finding(level: u32, reported: Option<f64>, edge: Edge) -> Finding {
    let measured = (edge.on * edge.off).sqrt();
    let place = format!("between {} and {}", size(edge.on), size(edge.off));
    let message = match reported {
        Some(bytes) => format!(
            "the L{level} cache is reported as {}, but its plateau ends {place}",
            size(bytes)
        ),
        None => format!(
            "beyond the last reported cache another plateau ends {place}: an unreported level \
             {level}"
        ),
    };
    let advice = "size data by the larger of the two figures; others may share the cache, the \
             hypervisor may hide a part of it, or page walks may count (huge pages backed by base \
                  pages)";
    let finding = CACHE_DISAGREEMENT
        .note(message, advice)
        .with("level", level)
        .with("measured_bytes", measured);
    with_known(finding, "reported_bytes", reported)
}

pub(super) static CACHE_DISAGREEMENT: Check = Check {
    id: "cache_disagreement",
    class: Class::Context,
    title: "Cache size differs from the reported one",
    about: "Compares the reported caches with the results of memory.latency, or of memory.sweep on \
         one thread, that differ only in their working set, with huge pages. The check looks for \
         an access that costs 1.5 times the level's plateau at a set of up to 75 % of the reported \
         size. Then the level is smaller than reported for this process: others share it, or the \
         hypervisor reports a wrong size. An edge far beyond the last level shows an unreported \
         level. A note on the first result off the plateau, with both sizes. The plateau begins at \
         4 times the level below, and beyond the last level at 8 times its size.",
    examine: Examine::Ours(cache_disagreement),
};

fn cache_disagreement(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let by_set = ctx.work(m).any_level();
    if !by_set || m.params.threads() != 1 || m.params.text("pages") != Some("huge") {
        return None;
    }
    let here = m.params.int("working_set")? as f64;
    let (series, levels) = (series(ctx, m), levels(ctx.host));
    let mut below = 0.0;
    for (level, bytes) in &levels {
        let found = edge(&series, BEYOND * below, WITHIN * bytes);
        if let Some(found) = found.filter(|e| e.off == here) {
            return Some(finding(*level, Some(*bytes), found));
        }
        below = *bytes;
    }
    let (last, bytes) = levels.last()?;
    let found = edge(&series, BEYOND_LAST * bytes, f64::INFINITY)?;
    (found.off == here).then(|| finding(last + 1, None, found))
}

#[cfg(test)]
mod tests {
    use proofmark_model::Probe;

    use super::*;
    use crate::testing::*;

    fn sized(m: Measurement, bytes: u64) -> Measurement {
        let arrays = m.params.get("array_size").is_some();
        with_param(m, if arrays { "array_size" } else { "data_size" }, bytes)
    }

    #[test]
    fn two_megabytes_under_the_name_of_memory_are_invalid_on_any_host() {
        let small = with_caches(|caches| caches.truncate(1));
        for h in [host_with_caches(), small, host()] {
            let all = [stream("triad", 1), stream("read", 2), blocks("rand_read", 8)];
            IN_CACHE
                .on(&h, &[])
                .expect(all.map(|m| (m.workload.clone(), sized(m, 2 << 20), INVALID)));
        }
        IN_CACHE.on(&host(), &[]).expect([("none reported", stream("triad", 1), NOTE)]);
    }

    #[test]
    fn nobody_is_told_to_give_more_data_than_the_memory_holds() {
        let mut host = host_with_caches();
        let said = |host: &Host| {
            let small = sized(stream("triad", 1), 2 << 20);
            found_on(host, &IN_CACHE, small, &[]).unwrap().advice
        };
        host.memory.available_bytes = Probe::known(64 << 30, "test");
        assert!(said(&host).contains("leave its size to proofmark"), "{}", said(&host));
        host.limits.memory_bytes = Probe::known(Some(64 << 20), "test");
        let limited = said(&host);
        assert!(limited.starts_with("raise the memory limit: 64 MiB leave no room"), "{limited}");
        assert!(!limited.contains("auto"), "it was auto");
        host.limits.memory_bytes = Probe::known(None, "test");
        host.memory.available_bytes = Probe::known(100 << 20, "test");
        assert!(said(&host).starts_with("free memory"), "{}", said(&host));
    }

    #[test]
    fn as_much_as_the_cache_is_invalid_and_less_than_4_times_suspect() {
        let read = |bytes: u64| sized(stream("read", 1), bytes);
        let mut loaded = latency(16 << 20, 1e-8);
        loaded.workload = "memory.loaded_latency".to_owned();
        let shared = |workload, block| sized(blocks(workload, block), 64 << 30);
        IN_CACHE.expect([
            ("as much", read(32 << 20), INVALID),
            ("twice", read(64 << 20), SUSPECT),
            ("4 times", read(128 << 20), SILENT),
            ("three arrays", sized(stream("triad", 1), 64 << 20), suspect("16.7 %")),
            ("with a load", loaded, INVALID),
            ("blocks that share lines", shared("rand_read", 8), NOTE),
            ("lines", shared("rand_read", 64), SILENT),
            ("in order", shared("seq_read", 8), SILENT),
        ]);
    }

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    /// A chase through caches of 48 KiB, 2 MiB and so many bytes, in sets of powers of two.
    fn chases(l3: u64) -> Vec<Measurement> {
        let levels = [(48 * KIB, 5.0), (2 * MIB, 14.0), (l3, 70.0), (u64::MAX, 400.0)];
        (12..=32).map(|power| 1_u64 << power).map(|set| latency(set, mean(set, &levels))).collect()
    }

    /// Mean time of a load at 4 GHz, where each level holds what fits of the set.
    fn mean(set: u64, levels: &[(u64, f64)]) -> f64 {
        let (mut held, mut cycles) = (0.0, 0.0);
        for (bytes, cost) in levels {
            let share = (*bytes as f64 / set as f64).min(1.0) - held;
            cycles += share.max(0.0) * cost;
            held += share.max(0.0);
        }
        cycles / 4e9
    }

    fn found(h: &Host, series: &[Measurement]) -> Vec<(u64, Finding)> {
        let on = |m: &Measurement| {
            let finding = found_on(h, &CACHE_DISAGREEMENT, m.clone(), series)?;
            Some((m.params.int("working_set")?, finding))
        };
        series.iter().filter_map(on).collect()
    }

    fn reporting(l3: u64) -> Host {
        with_caches(|caches| caches[2].size_bytes = l3)
    }

    #[test]
    fn a_last_level_that_others_share_is_noted_with_both_sizes() {
        let found = found(&reporting(480 * MIB), &chases(32 * MIB));
        let [(set, finding)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((*set, finding.severity), (64 * MIB, Severity::Note));
        assert_eq!(finding.evidence["level"], 3);
        assert_eq!(finding.evidence["reported_bytes"], (480 * MIB) as f64);
        let measured = finding.evidence["measured_bytes"].as_f64().unwrap();
        assert!((measured / MIB as f64 - 45.25).abs() < 0.1, "{measured}");
        assert!(finding.message.contains("480 MiB"), "{}", finding.message);
    }

    #[test]
    fn a_level_that_is_not_reported_is_noted() {
        let found = found(&with_caches(|caches| caches.truncate(2)), &chases(64 * MIB));
        let [(set, finding)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(*set, 128 * MIB);
        assert_eq!(finding.evidence["level"], 3);
        assert!(!finding.evidence.contains_key("reported_bytes"));
    }

    #[test]
    fn a_sweeps_fall_is_an_edge_too() {
        let at = |set: u64, rate: f64| with_values(sweep("read", 1, set), &[rate; 6]);
        let mut series: Vec<_> = (12..=20).map(|p| at(1 << p, 2e11)).collect();
        series.extend((21..=25).map(|p| at(1 << p, 4e10)));
        series.extend((26..=32).map(|p| at(1 << p, 1.5e10)));
        let found = found(&reporting(480 * MIB), &series);
        assert_eq!(found.iter().map(|f| f.0).collect::<Vec<_>>(), [64 * MIB]);
    }

    #[test]
    fn caches_as_reported_and_other_series_are_silent() {
        for l3 in [32 * MIB, 480 * MIB] {
            assert!(found(&reporting(l3), &chases(l3)).is_empty());
        }
        let h = reporting(480 * MIB);
        let walks = chases(32 * MIB).into_iter().map(|m| with_param(m, "pages", "small"));
        let walks: Vec<_> = walks.collect();
        assert!(found(&h, &walks).is_empty(), "page walks cause edges of their own");
        assert!(found(&h, &chases(32 * MIB)[14..15]).is_empty(), "one alone");
    }
}
