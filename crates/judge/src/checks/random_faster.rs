//! `random_faster`: random order came out faster than sequential order.
//!
//! Published reports show random accesses up to 72 times faster than sequential
//! ones, without remark: the sequential pass met first-touch page faults, or left the
//! data in a cache for the random one.

use proofmark_model::{Finding, Measurement, Severity, Summary};

use super::Check;
use crate::Context;
use crate::memory::array_bytes;
use crate::statistics::median;
use crate::words::counted;

/// Larger blocks hide their order: the first line of a block is one of many.
const LARGEST_BLOCK: u64 = 1 << 20;
/// Random kernels and their sequential partners.
const PAIRS: &[(&str, &str)] = &[
    ("memory.rand_read_write", "memory.read_write"),
    ("memory.rand_write", "memory.seq_write"),
    ("memory.rand_read", "memory.seq_read"),
];
/// Page faults a trial that explain a slow sequential pass.
const FAULTS: f64 = 16.0;
/// Difference between two shares of huge pages that explains one between rates.
const HUGE: f64 = 0.1;

pub(super) struct RandomFaster;

/// The interval of the median, or the range where there is none.
fn interval(s: &Summary) -> [f64; 2] {
    s.ci95.unwrap_or([s.min, s.max])
}

/// What in the evidence would make the random order the faster one.
fn why(ctx: &Context, random: &Measurement, sequential: &Measurement) -> Option<String> {
    let of = |m: &Measurement, what: &dyn Fn(&proofmark_model::Conditions) -> Option<f64>| {
        median(&m.trials.iter().filter_map(|t| what(&t.conditions)).collect::<Vec<_>>())
    };
    let faults = |m: &Measurement| {
        let minor = of(m, &|c| c.minor_faults.map(|n| n as f64)).unwrap_or(0.0);
        minor + of(m, &|c| c.major_faults.map(|n| n as f64)).unwrap_or(0.0)
    };
    if faults(sequential) > FAULTS + faults(random) {
        let each = counted(faults(sequential), "page fault");
        return Some(format!("the sequential trials met {each} each"));
    }
    let huge = |m: &Measurement| of(m, &|c| c.huge_pages);
    if let (Some(r), Some(s)) = (huge(random), huge(sequential))
        && r > s + HUGE
    {
        return Some(format!(
            "huge pages back {:.0} % of the random kernel's memory and {:.0} % of the other's",
            r * 100.0,
            s * 100.0
        ));
    }
    let cache = ctx.host.usable_cache()?;
    if array_bytes(random)? < cache.saturating_mul(4) {
        return Some("the data is less than 4 times the last-level cache".to_owned());
    }
    let disturbed = sequential.findings.iter().find(|f| f.severity >= Severity::Suspect)?;
    Some(format!("the sequential point is disturbed itself ({})", disturbed.check))
}

impl Check for RandomFaster {
    fn id(&self) -> &'static str {
        "random_faster"
    }

    fn title(&self) -> &'static str {
        "Random order faster than sequential order"
    }

    fn about(&self) -> &'static str {
        "A kernel of random order against the same operation in sequential order with the same knobs, \
         for blocks of up to 1 MiB. Prefetchers, open DRAM rows and lines shared by neighbouring \
         blocks all help the sequential order; so a random one that is faster beyond both intervals \
         is suspect. The finding names what explains it where the evidence does: page faults in the \
         sequential trials, fewer huge pages there, data that a cache may have held, or a sequential \
         point that is disturbed itself; else it says that nothing does."
    }

    fn examine(&self, ctx: &Context, m: &Measurement) -> Option<Finding> {
        let (_, partner) = PAIRS.iter().find(|(random, _)| *random == m.kernel)?;
        if m.params.int("block_size")? > LARGEST_BLOCK {
            return None;
        }
        let sequential =
            ctx.others.iter().find(|o| o.kernel == *partner && o.params == m.params)?;
        let (random, other) = (m.summary.as_ref()?, sequential.summary.as_ref()?);
        let ratio = random.median / other.median;
        if !ratio.is_finite() || ratio <= 1.0 || interval(random)[0] <= interval(other)[1] {
            return None;
        }
        let explained = why(ctx, m, sequential);
        let reason =
            explained.clone().unwrap_or_else(|| "nothing in the evidence explains it".to_owned());
        Some(
            Finding::new(
                self.id(),
                Severity::Suspect,
                format!("random order is {ratio:.2} times as fast as {partner}: {reason}"),
                "run the two again in turn, with more data and memory that is touched before; do \
                 not quote this ratio as a property of the machine",
            )
            .with("ratio", ratio)
            .with("explained", explained.is_some()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{around, blocks, each, found_on, host_with_caches, with_values};

    const BLOCK: u64 = 8192;

    fn sequential() -> Measurement {
        blocks("seq_read", BLOCK)
    }

    fn says(factor: f64, sequential: Measurement) -> Option<Finding> {
        let m = with_values(blocks("rand_read", BLOCK), &around(factor * 1e10));
        let m = each(m, |_, t| t.conditions.huge_pages = Some(1.0));
        found_on(&host_with_caches(), &RandomFaster, m, &[sequential])
    }

    #[test]
    fn faster_without_a_reason_is_suspect_and_says_so() {
        let finding = says(1.1, sequential()).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.message.contains("1.10 times") && finding.message.contains("nothing"));
    }

    #[test]
    fn every_pair_is_looked_at() {
        for (random, partner) in PAIRS {
            let name = |id: &str| id.strip_prefix("memory.").unwrap().to_owned();
            let m = with_values(blocks(&name(random), 8), &around(2e10));
            let others = [blocks(&name(partner), 8)];
            assert!(found_on(&host_with_caches(), &RandomFaster, m, &others).is_some(), "{random}");
        }
    }

    #[test]
    fn what_explains_it_is_named() {
        let faulty = each(sequential(), |_, t| t.conditions.minor_faults = Some(1000));
        assert!(says(72.0, faulty).unwrap().message.contains("1000 page faults"));
        let small = each(sequential(), |_, t| t.conditions.huge_pages = Some(0.0));
        assert!(says(1.5, small).unwrap().message.contains("100 %"));
        let mut disturbed = sequential();
        disturbed.findings.push(Finding::new("steal", Severity::Suspect, "", ""));
        assert!(says(1.5, disturbed).unwrap().message.contains("(steal)"));
        let mut little = with_values(blocks("rand_read", BLOCK), &around(2e10));
        little.params = little.params.with("data_size", 64 << 20);
        let mut other = sequential();
        other.params = little.params.clone();
        let finding = found_on(&host_with_caches(), &RandomFaster, little, &[other]).unwrap();
        assert!(finding.message.contains("last-level cache"), "{}", finding.message);
    }

    #[test]
    fn slower_within_the_intervals_or_incomparable_is_silent() {
        assert!(says(0.9, sequential()).is_none());
        assert!(says(1.0005, sequential()).is_none());
        let mut other = sequential();
        other.params = other.params.with("threads", 2);
        assert!(says(1.5, other).is_none());
        let m = with_values(blocks("rand_read", 8 << 20), &around(2e10));
        let others = [blocks("seq_read", 8 << 20)];
        assert!(found_on(&host_with_caches(), &RandomFaster, m, &others).is_none());
    }
}
