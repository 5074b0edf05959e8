//! `in_cache`: the data fits into a cache, while the name says memory.
//!
//! After the rule of STREAM (McCalpin): each array at least 4 times the size of all
//! last-level caches together.

use proofmark_model::{Access, Finding, Measurement, Severity};

use super::{Check, Class, percent};
use crate::Context;
use crate::memory::{array_bytes, cache_share, touched_bytes};

/// STREAM's rule.
const TIMES: u64 = 4;
/// Data up to this size is no measure of memory whatever caches are reported, in
/// bytes: a hypervisor may hide the shared cache, and no server has had less of it
/// than this for ten years.
const LEAST_CACHE: u64 = 4 << 20;

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

fn says(severity: Severity, message: String) -> Finding {
    let advice = "give each array 4 times the last-level cache of all CPUs in use, or leave \
                  its size to proofmark (auto); to measure the caches themselves use \
                  memory.sweep";
    CHECK.finding(severity, message, advice)
}

/// Blocks smaller than a line, in random order, meet each line again and again.
fn met_again(ctx: &Context, m: &Measurement, all: u64) -> Option<Finding> {
    let block = m.params.int("block_size").filter(|b| *b < LINE)?;
    if ctx.work(m).access != Some(Access::Random) {
        return None;
    }
    let share = cache_share(ctx.host, all);
    let message = format!(
        "in random order a pass meets each line for up to {} blocks of {block} B: up to {} of \
         them may come from the cache",
        LINE / block.max(1),
        percent(share)
    );
    Some(says(Severity::Note, message).with("cache_share", share))
}

const LINE: u64 = 64;

pub(super) static CHECK: Check = Check {
    id: "in_cache",
    class: Class::Claim,
    title: "Cache measured as memory",
    about: "Compares the array, region or set of a memory workload with the last-level caches of the \
         usable CPUs, all instances. Data not larger than these, or than 4 MiB whatever is \
         reported, is invalid: the result is that of a cache. Data below 4 times the caches \
         (STREAM's rule) is suspect, with the share that may come from the cache. A note where no \
         cache is reported, and for random blocks smaller than a line, which meet each line \
         several times. memory.sweep and memory.latency are named by their set and are not \
         examined.",
    examine,
    examine_reference: Some(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if ctx.work(m).any_level() || m.trials.is_empty() {
        return None;
    }
    let (array, all) = (array_bytes(ctx, m)?, touched_bytes(ctx, m)?);
    let cache = ctx.host.usable_cache();
    let at_least = cache.unwrap_or(0).max(LEAST_CACHE);
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

#[cfg(test)]
mod tests {
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
            CHECK.on(&h, &[]).expect(all.map(|m| (m.workload.clone(), sized(m, 2 << 20), INVALID)));
        }
        CHECK.on(&host(), &[]).expect([("none reported", stream("triad", 1), NOTE)]);
    }

    #[test]
    fn as_much_as_the_cache_is_invalid_and_less_than_4_times_suspect() {
        let read = |bytes: u64| sized(stream("read", 1), bytes);
        let mut loaded = latency(16 << 20, 1e-8);
        loaded.workload = "memory.loaded_latency".to_owned();
        let shared = |workload, block| sized(blocks(workload, block), 64 << 30);
        CHECK.expect([
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
}
