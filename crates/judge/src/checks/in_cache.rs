//! `in_cache`: a workload that is named after memory touched data again while a cache still held
//! it.

use proofmark_model::{Finding, Measurement, Severity, check_id, format_size, key};

use super::{Check, Class, Examine, percent};
use crate::Context;
use crate::memory::{array_bytes, cache_share, touched_bytes};
use crate::words::counted;

/// Smallest array in multiples of all last-level caches together: the rule of STREAM (McCalpin).
const TIMES: u64 = 4;

/// Smallest reuse distance, in multiples of the caches, of data that meets the rule. Each thread
/// passes over its own part. One that progresses faster than the others returns to a line after
/// fewer bytes of theirs. On 16 quiet CPUs of a virtual machine the least distance of a trial was
/// 0.77 to 0.98 of the data. A cache that evicts the oldest line then serves nothing. One that
/// evicts at random serves at most 20 % at twice the cache, 6 % at 3 times and 2 % at 4 times. Its
/// share h follows from h = exp(-(1 - h) x) at x times the cache.
const TIMES_AGAIN: u64 = 3;
const LINE: u64 = 64;

pub(super) static CHECK: Check = Check {
    id: check_id::IN_CACHE,
    class: Class::claim("how much of the data came from the cache is unknown"),
    title: "Cache measured as memory",
    about: "Data that is touched again while a cache still holds it does not measure memory. The \
         check uses the reuse distance of each trial: the least bytes of other lines that all \
         threads touched before they touched a line again. Without a recorded distance (tools, \
         older files) it uses the size of the data. Up to the last-level caches of all usable \
         CPUs, or 4 MiB, the result is invalid. Below 4 times the caches (STREAM's rule) it is \
         suspect, with the share that the cache may serve. Where an array meets the rule, 3 times \
         is enough, since a thread that progresses faster than others returns to its lines \
         earlier. It is a note if no cache is reported, if a random order has no distance, or for \
         random blocks smaller than a line. memory.sweep and memory.latency are not examined: \
         their names state the set.",
    examine: Examine::Each(examine_ours, examine_tool),
};

fn examine_ours(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let touched: Vec<_> = m.trials.iter().filter_map(|t| t.touched).collect();
    // No tool records them, so an imported result does not lack them.
    let recorded = ctx.imported || touched.len() == m.trials.len();
    let distances = touched.into_iter().filter_map(|t| t.reuse_bytes).collect();
    Data::touched(ctx, m)?.examine(ctx, m, (recorded, distances))
}

fn examine_tool(ctx: &Context, m: &Measurement) -> Option<Finding> {
    // No tool records reuse distances, so the finding does not mention that they are missing.
    Data::touched(ctx, m)?.examine(ctx, m, (true, Vec::new()))
}

/// Size of the data in bytes: the largest array or set, and all of them.
#[derive(Clone, Copy)]
struct Data {
    array: u64,
    all: u64,
}

impl Data {
    /// The data of a workload that must read them from memory.
    fn touched(ctx: &Context, m: &Measurement) -> Option<Self> {
        if ctx.work(m).any_level() || m.trials.is_empty() {
            return None;
        }
        Some(Self { array: array_bytes(ctx, m)?, all: touched_bytes(ctx, m)? })
    }

    /// Judges the shortest recorded distance of all trials.
    fn examine(
        self,
        ctx: &Context,
        m: &Measurement,
        (recorded, distances): (bool, Vec<u64>),
    ) -> Option<Finding> {
        let (cache, seen) = (ctx.host.usable_cache(), distances.iter().min().copied());
        let (at_least, distance) = (ctx.host.largest_cached(), seen.unwrap_or(self.array));
        let finding = if self.array.min(distance) <= at_least {
            let what = match cache {
                Some(cache) if self.array.min(distance) <= cache => {
                    format!("fits into {} of last-level cache", mib(at_least))
                }
                _ => format!("is smaller than any current last-level cache ({})", mib(at_least)),
            };
            let cause = if self.array <= at_least {
                format!("{} {what}", self.amount())
            } else {
                let short = distances.iter().filter(|d| **d <= at_least).count();
                format!("{}. That {what}", self.came_again(ctx, m, (distance, short)))
            };
            let message = format!("{cause}: this measures a cache");
            self.report(ctx, m, (Severity::Invalid, distance), message)
        } else if let Some(cache) = cache {
            let meets_rule = self.array >= TIMES.saturating_mul(cache);
            let times = if meets_rule { TIMES_AGAIN } else { TIMES };
            let enough = times.saturating_mul(cache);
            if distance >= enough {
                return self.allowed(ctx, m, recorded);
            }
            let several = seen.is_none() && self.all != self.array;
            let (share, cause) = match seen {
                Some(distance) => {
                    let short = distances.iter().filter(|d| **d < enough).count();
                    let came = self.came_again(ctx, m, (distance, short));
                    (cache_share(ctx.host, distance), format!("{came}. That"))
                }
                None => (cache_share(ctx.host, self.all), self.amount()),
            };
            let message = format!(
                "{cause} is less than {times} times the {} of last-level cache: up to {} of {} may come \
                 from the cache",
                mib(cache),
                percent(share),
                if several { "all arrays" } else { "the data" }
            );
            self.report(ctx, m, (Severity::Suspect, distance), message).with("cache_share", share)
        } else {
            let message =
                "no cache is reported, so it is unknown whether the data exceeds the caches";
            self.report(ctx, m, (Severity::Note, distance), message.to_owned())
        };
        let known = [("reuse_bytes", seen), ("cache_bytes", cache)];
        let finding = with_lack(finding, recorded).with("data_bytes", self.array);
        Some(known.into_iter().fold(finding, |finding, (name, bytes)| match bytes {
            Some(bytes) => finding.with(name, bytes),
            None => finding,
        }))
    }

    /// The size that the rule is about.
    fn amount(self) -> String {
        let what = if self.all == self.array { "of data" } else { "in the largest array" };
        format!("{} {what}", mib(self.array))
    }

    /// Describes in how many trials a line came again too soon, and why.
    fn came_again(self, ctx: &Context, m: &Measurement, (distance, short): (u64, usize)) -> String {
        let trials = counted(m.trials.len() as f64, "trial");
        let what = format!(
            "in {short} of {trials} a line was accessed again after {} of other data",
            mib(distance)
        );
        let although = format!("{what}, although the data is {}", mib(self.array));
        match self.why_again(ctx, m, distance) {
            Why::Whole => format!("{what}, once round the data"),
            Why::Uneven([least, most]) => format!(
                "{although}: threads progressed unevenly ({least} to {most} rounds of their parts), \
                 and the fastest finished a pass before the others"
            ),
            Why::PartOfOrder => format!(
                "{although}: the random order held only a part of the data, as versions that sized it \
                 by a calibration made it"
            ),
        }
    }

    /// The reason why a line came again after `distance` bytes.
    fn why_again(self, ctx: &Context, m: &Measurement, distance: u64) -> Why {
        if distance >= self.array / 10 * 9 {
            return Why::Whole;
        }
        let touched = || m.trials.iter().filter_map(|t| t.touched);
        let Some(t) = touched().min_by_key(|t| t.reuse_bytes.unwrap_or(u64::MAX)) else {
            return Why::Whole;
        };
        let rounds = [t.least_visits, t.most_visits];
        // Threads that progress evenly are within one round of each other.
        let at_one_pace = rounds[1] <= rounds[0] + 1;
        let a_part = t.places.saturating_mul(t.place_bytes) < self.array / 10 * 9;
        // One order is that of all trials. Places that differ are those of passes cut short.
        let of_order = touched().all(|other| other.places == t.places);
        match ctx.work(m).is_random() && at_one_pace && a_part && of_order {
            true => Why::PartOfOrder,
            false => Why::Uneven(rounds),
        }
    }

    fn report(
        self,
        ctx: &Context,
        m: &Measurement,
        (severity, distance): (Severity, u64),
        message: String,
    ) -> Finding {
        let advice = match self.why_again(ctx, m, distance) {
            Why::Whole => self.advice(ctx),
            Why::Uneven(_) => self.advice_to_uneven(ctx, m, distance),
            Why::PartOfOrder => {
                "measure again with the current version, whose orders do not depend on a speed"
                    .to_owned()
            }
        };
        CHECK.finding(severity, message, advice)
    }

    /// The advice if the data is large enough for threads that progress evenly.
    fn advice_to_uneven(self, ctx: &Context, m: &Measurement, distance: u64) -> String {
        let evenly = "stop other load on these CPUs, so that the threads progress evenly";
        let rule = TIMES as f64 * ctx.host.largest_cached() as f64;
        let times = rule / distance.max(1) as f64;
        let size = [key::ARRAY_SIZE, key::DATA_SIZE].into_iter().find(|key| m.params.has(*key));
        match size.filter(|_| self.all as f64 * times <= ctx.host.usable_memory() as f64) {
            Some(size) => {
                let bytes = (self.array as f64 * times) as u64;
                let gib = bytes.div_ceil(1 << 30);
                format!("{evenly}; or set {size}={gib}GiB")
            }
            None => evenly.to_owned(),
        }
    }

    /// The advice for too little data; it does not ask for more than the memory holds.
    fn advice(self, ctx: &Context) -> String {
        let caches = "to measure the caches themselves use memory.sweep";
        let times = TIMES as f64 * ctx.host.largest_cached() as f64 / self.array.max(1) as f64;
        let enough = (self.all as f64 * times) as u64;
        if enough <= ctx.host.usable_memory() {
            return format!(
                "give each array 4 times the last-level cache of all CPUs in use, or leave its size to \
                 proofmark (auto); {caches}"
            );
        }
        let what = format!("4 times the last-level cache, which takes {}", format_size(enough));
        match ctx.host.tight_memory_limit().map(format_size) {
            Some(limit) => {
                format!("raise the memory limit: {limit} leave no room for {what}; {caches}")
            }
            None => format!("free memory: there is no room for {what}; {caches}"),
        }
    }

    /// The remaining notes if the distance is large enough.
    fn allowed(self, ctx: &Context, m: &Measurement, recorded: bool) -> Option<Finding> {
        if !ctx.work(m).is_random() {
            return None;
        }
        let note = |message| self.report(ctx, m, (Severity::Note, self.array), message);
        let Some(block) = m.params.get(key::BLOCK_SIZE).filter(|b| *b < LINE) else {
            let message = "the reuse distance of the blocks is unknown".to_owned();
            return (!recorded).then(|| with_lack(note(message), recorded));
        };
        let share = cache_share(ctx.host, self.all);
        let message = format!(
            "in random order a pass accesses each line for up to {} blocks of {block} B: up to {} of \
             them may come from the cache",
            LINE / block.max(1),
            percent(share)
        );
        Some(with_lack(note(message), recorded).with("cache_share", share))
    }
}

/// The reason why a line came again too soon.
enum Why {
    /// All data was touched before a line came again.
    Whole,
    /// One thread progressed faster than the others: rounds of the slowest and of the fastest.
    Uneven([u64; 2]),
    /// The random order was shorter than the data.
    PartOfOrder,
}

/// Adds to the message that the run file lacks the distances, if it does.
fn with_lack(mut finding: Finding, recorded: bool) -> Finding {
    if !recorded {
        finding.message.push_str(
            "; this run file lacks reuse distances, as files of older versions do; such trials are \
             judged by the size of the data",
        );
    }
    finding
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests;
