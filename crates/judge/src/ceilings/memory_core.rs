//! `memory.core`: the rate of one core's lines in flight.
//!
//! Little's law: as many lines as a core can have in flight arrive in the time of one line.

use proofmark_model::{
    Ceiling, Finding, Input, Measurement, Property, Provenance, Severity, ceiling_id, check_id,
    key, word,
};

use super::CeilingRule;
use super::parts::{Formula, LATENCY_INPUT, cores, input, memory_row, tabled};
use crate::memory::{
    LINE, MOSTLY_CACHE, array_bytes, cache_share, from_memory, line_share, touched_bytes, traffic,
};
use crate::statistics::median_over;
use crate::{Capacity, Context};

/// Share by which a line of a stream may arrive sooner than the measured latency. Lines that a
/// prefetcher fetched into the last-level cache occupy the core's own queue for only a part of the
/// way.
const SOONER: f64 = 1.0;

/// Share of huge pages from which a latency includes no page walks.
const HUGE: f64 = 0.9;

/// Checks whose finding means that a latency is above the memory's.
const LONGER: &[&str] = &[
    check_id::OTHER_CPU,
    check_id::STEAL,
    check_id::THROTTLED,
    check_id::SWAP,
    check_id::SMALL_PAGES,
    check_id::MISPLACED_MEMORY,
];

/// The latency of memory that this run measured, without page walks: with huge pages, in the local
/// order. It is that of the fastest round, since disturbances only make a chase slower.
fn latency(ctx: &Context) -> Result<Input, String> {
    let of_memory = |o: &&Measurement| {
        o.summary.is_some()
            && o.params.get(key::PAGES) == Some(word::HUGE)
            && o.params.get(key::ORDER) == Some(word::LOCAL)
            && o.findings.iter().all(|f| f.severity != Severity::Invalid)
    };
    let set = |o: &Measurement| array_bytes(ctx, o).unwrap_or(0);
    let measured = ctx.giving(Property::LoadLatency).filter(of_memory);
    let Some(largest) = measured.max_by_key(|o| set(o)) else {
        return Err(
            "this run did not measure the load latency with huge pages and order=local".to_owned()
        );
    };
    let name = &largest.workload;
    let longer =
        |f: &&Finding| f.severity == Severity::Suspect && LONGER.contains(&f.check.as_ref());
    if let Some(finding) = largest.findings.iter().find(longer) {
        return Err(format!("{name} itself is suspect ({})", finding.check));
    }
    let huge = median_over(&largest.trials, |t| t.conditions.huge_pages);
    if huge.is_none_or(|h| h < HUGE) {
        return Err(format!("{name} got no huge pages, so its time includes page walks"));
    }
    let bytes = touched_bytes(ctx, largest).unwrap_or(0);
    if cache_share(ctx.host, bytes) >= MOSTLY_CACHE {
        return Err(format!("{name}'s largest set is below twice the last-level cache"));
    }
    let seconds = fastest(largest).filter(|s| s.is_finite() && *s > 0.0);
    let seconds = seconds.ok_or_else(|| format!("{name} has no value"))?;
    let note = format!(
        "{name} of this run with {} MiB in huge pages, order=local, the fastest round",
        bytes >> 20
    );
    Ok(input(LATENCY_INPUT, seconds, "s", Provenance::Measured, note))
}

/// The shortest time of a round without taken time; without rounds, of a trial.
fn fastest(m: &Measurement) -> Option<f64> {
    let rounds = m.trials.iter().flat_map(|t| t.rounds.iter().filter_map(|r| r.typical));
    rounds.reduce(f64::min).or_else(|| m.summary.as_ref().map(|s| s.trials.min))
}

/// Lines read per line counted, without those that are only overwritten, which some cores do not
/// read.
fn lines_read(ctx: &Context, m: &Measurement) -> Result<f64, String> {
    let traffic = traffic(ctx, m)?;
    if traffic.read == 0.0 {
        return Err("data that is only written need not be read first".to_owned());
    }
    Ok(traffic.read / traffic.counted())
}

pub(super) static RULE: CeilingRule = CeilingRule {
    id: ceiling_id::MEMORY_CORE,
    title: "Lines in flight of a core",
    about: "Cores x lines in flight x bytes counted per line read / latency (Little's law). The \
         latency is the run's memory.latency at its largest set, with huge pages and order=local, \
         the fastest round. The lines are the greater of what the L1 and the L2 cache track, from \
         a table by design. Bytes counted per line read are 64 for read, 128 for copy and scale, \
         96 for add and triad. Lines that ordinary stores read first are omitted, since some cores \
         avoid them. Workloads that only write have no such ceiling. Uncertainty: 100 %, because \
         prefetchers work ahead in the last-level cache, plus what the cache may have held. So it \
         gives no share: it shows only which rates are impossible.",
    derive,
    bound: derive,
    bottleneck: None,
};

fn derive(ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
    let capacity = Capacity::derive(ctx.host, m)?;
    let read = lines_read(ctx, m)?;
    let from_cache = from_memory(ctx, m)?;
    let row = memory_row(ctx.host)?;
    let lines =
        row.lines.ok_or_else(|| format!("the lines in flight of {} are not documented", row.id))?;
    let latency = latency(ctx)?;
    let used = line_share(ctx, m);
    let slack = capacity.quota_slack(&m.trials);
    let per_line = used / read;
    let counted = input(
        "counted_per_line_read",
        LINE * per_line,
        "B",
        Provenance::Reported,
        "bytes counted per line that the workload reads",
    );
    let formula = Formula::from_input(cores(ctx.host, &capacity))
        .times(tabled("lines_in_flight", lines, "", row))
        .times(counted)
        .over(latency);
    let uncertainty = (1.0 + SOONER + slack) / (1.0 - from_cache) - 1.0;
    Ok(RULE.ceiling(m, formula, uncertainty))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofmark_model::Round;

    use crate::testing::{latency as chase, *};

    const LATENCY: f64 = 1e-7;
    /// 48 lines of 64 bytes in 100 ns, less 0.1 % in the fastest trial.
    const READ: f64 = 48.0 * 64.0 / (LATENCY * 0.999);

    fn memory() -> Measurement {
        chase(1 << 30, LATENCY)
    }

    #[test]
    fn lines_read_bound_the_counted_bytes() {
        let temporal = with_param(stream("triad", 1), "stores", "temporal");
        RULE.on(&host_with_caches(), &[memory()]).expect([
            ("read", stream("read", 1), Ok(READ)),
            ("two threads", stream("read", 2), Ok(2.0 * READ)),
            ("copy", stream("copy", 1), Ok(2.0 * READ)),
            ("triad", stream("triad", 1), Ok(1.5 * READ)),
            ("blocks", blocks("rand_read_write", 8192), Ok(2.0 * READ)),
            ("small blocks", blocks("rand_read", 8), Ok(READ / 8.0)),
            ("in order", blocks("seq_read", 8), Ok(READ)),
            // Lines that ordinary stores read first are left out.
            ("sweep", sweep("copy", 1, 1 << 30), Ok(2.0 * READ)),
            ("ordinary stores", temporal, Ok(1.5 * READ)),
            ("written", stream("write", 1), Err("only written")),
            ("a written sweep", sweep("write", 1, 1 << 30), Err("only written")),
            ("written blocks", blocks("rand_write", 8), Err("only written")),
            ("a set in the cache", sweep("read", 1, 16 << 20), Err("cache")),
        ]);
        let unknown = with_design(host(), "zen");
        let m = stream("read", 1);
        RULE.on(&unknown, &[memory()]).expect([("an unknown core", m, Err("not documented"))]);
    }

    #[test]
    fn data_that_the_cache_may_have_held_adds_uncertainty() {
        let (h, others) = (host_with_caches(), [chase(64 << 30, LATENCY)]);
        let sure = |m: &Measurement| RULE.on(&h, &others).derive(m).unwrap().uncertainty;
        assert!((sure(&stream("copy", 1)) - 1.0).abs() < 0.04);
        assert!(sure(&sweep("copy", 1, 128 << 20)) > sure(&sweep("copy", 1, 8 << 30)));
        let hidden = RULE.on(&host(), &others).derive(&stream("copy", 1)).unwrap().uncertainty;
        assert!((hidden - (2.0 / 0.75 - 1.0)).abs() < 1e-9, "no cache is reported: {hidden}");
    }

    #[test]
    fn the_latency_must_be_that_of_memory() {
        let disturbed = suspected(chase(1 << 30, 2.0 * LATENCY), "other_cpu");
        // A quota took three quarters of each trial, which windows leave out.
        let taken = each(chase(1 << 30, 4.0 * LATENCY), |_, t| {
            let typical = Some(LATENCY * 0.999);
            t.rounds = vec![Round { typical, delivered: t.value, ..Round::default() }];
        });
        let walks = each_condition(memory(), |_, c| c.huge_pages = Some(0.0));
        for (others, expected) in [
            (vec![], Err("did not measure")),
            (vec![with_param(memory(), "pages", "small")], Err("did not measure")),
            (vec![with_param(memory(), "order", "rand")], Err("order=local")),
            (vec![walks], Err("page walks")),
            (vec![chase(32 << 20, 1e-8)], Err("twice")),
            (vec![disturbed], Err("other_cpu")),
            (vec![taken], Ok(READ)),
            (vec![memory(), chase(1 << 20, 4e-9)], Ok(READ)),
        ] {
            let name = format!("{expected:?}");
            RULE.on(&host_with_caches(), &others).expect([(name, stream("read", 1), expected)]);
        }
        // The limit may be twice as high: no share, and no bottleneck.
        let m = with_values(stream("read", 1), &around(0.95 * READ));
        let m = judged(&host_with_caches(), m, &[memory()]);
        assert_eq!((m.ceiling.map(|c| c.id).as_deref(), m.efficiency), (Some("memory.core"), None));
        assert!(m.missing["efficiency"].contains("shows nothing; declare the rate of the memory"));
        assert!(m.bottleneck.is_none() && m.missing["bottleneck"].contains("vague"));
    }
}
