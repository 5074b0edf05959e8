//! `cache_disagreement`: the measured cache sizes differ from the reported ones.

use proofmark_model::{CacheKind, Finding, Host, Measurement, Unit, check_id, key, word};

use super::{Check, Class, Examine, size, with_known};
use crate::Context;

/// Multiple of the level below at which a level's plateau begins: less than a quarter of the hits
/// are from below.
const BEYOND: f64 = 4.0;
/// The same multiple beyond the last level, where a smaller share of hits counts more.
const BEYOND_LAST: f64 = 8.0;
/// Multiple of the plateau's cost above which a set is beyond the plateau.
const EDGE: f64 = 1.5;
/// Share of the reported size that a plateau must reach: a set needs its pages in the right places.
const WITHIN: f64 = 0.75;

/// The end of a plateau: the last working set on it and the first one beyond it, in bytes.
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

/// Results that differ only in their working set: bytes and cost of an access, sorted by bytes.
fn series(ctx: &Context, m: &Measurement) -> Vec<(f64, f64)> {
    let set = |o: &Measurement| o.params.get(key::WORKING_SET);
    let same = |o: &&Measurement| {
        o.workload == m.workload
            && set(o) != set(m)
            && o.params.differs_only_in(&m.params, &[key::WORKING_SET])
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

fn report(level: u32, reported: Option<f64>, edge: Edge) -> Finding {
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
    id: check_id::CACHE_DISAGREEMENT,
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
    if !by_set || m.params.threads() != 1 || m.params.get(key::PAGES) != Some(word::HUGE) {
        return None;
    }
    let here = m.params.get(key::WORKING_SET)? as f64;
    let (series, levels) = (series(ctx, m), levels(ctx.host));
    let mut below = 0.0;
    for (level, bytes) in &levels {
        let found = edge(&series, BEYOND * below, WITHIN * bytes);
        if let Some(found) = found.filter(|e| e.off == here) {
            return Some(report(*level, Some(*bytes), found));
        }
        below = *bytes;
    }
    let (last, bytes) = levels.last()?;
    let found = edge(&series, BEYOND_LAST * bytes, f64::INFINITY)?;
    (found.off == here).then(|| report(last + 1, None, found))
}

#[cfg(test)]
mod tests {
    use proofmark_model::Severity;

    use super::*;
    use crate::testing::*;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    /// Pointer chases through caches of 48 KiB, 2 MiB and `l3` bytes, with working sets of powers
    /// of two.
    fn chases(l3: u64) -> Vec<Measurement> {
        let levels = [(48 * KIB, 5.0), (2 * MIB, 14.0), (l3, 70.0), (u64::MAX, 400.0)];
        (12..=32).map(|power| 1_u64 << power).map(|set| latency(set, mean(set, &levels))).collect()
    }

    /// Mean seconds of a load at 4 GHz; each level holds as much of the set as fits.
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
            Some((m.params.get(key::WORKING_SET)?, finding))
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
