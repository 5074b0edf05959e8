//! `in_cache`: what a trial touched comes again while a cache still holds it, though the name says
//! memory.

use proofmark_model::{Finding, Measurement, Severity, format_size};

use super::{Check, Class, Examine, percent};
use crate::Context;
use crate::memory::{array_bytes, cache_share, touched_bytes};
use crate::words::counted;

/// The rule of STREAM (McCalpin) for the size of data: so many times all last-level caches together.
const TIMES: u64 = 4;

/// Enough for the reuse distance of data that meets the rule. Each thread passes over its own part: one
/// that progresses faster than others comes again to a line after fewer bytes of theirs. On 16 quiet
/// CPUs of a virtual machine the least distance of a trial was 0.77 to 0.98 of the data. A cache that
/// evicts the oldest line then serves nothing, one that evicts at random (h = exp(-(1 - h) x), x times
/// the cache) at most 6 % at 3 times; 2 % at 4 times, and 20 % at twice.
const TIMES_AGAIN: u64 = 3;
const LINE: u64 = 64;

pub(super) static CHECK: Check = Check {
    id: "in_cache",
    class: Class::claim("how much of the data came from the cache is unknown"),
    title: "Cache measured as memory",
    about: "Data that comes again while a cache still holds it does not measure memory. The check uses the \
         reuse distance of each trial: the least bytes of other lines that all threads touched before a \
         line came again. Without a recorded distance (tools, older files) it uses the size of the data. \
         At most the last-level caches of all usable CPUs, or 4 MiB: invalid. Below 4 times the caches \
         (STREAM's rule): suspect, with the share that the cache may serve. Where an array meets the \
         rule, a distance of 3 times is enough, since a thread that progresses faster than others meets \
         its own lines earlier. It is a note if no cache is reported, if the distance of a random \
         order is missing, or for random blocks smaller than a line. memory.sweep and memory.latency are \
         not examined: their names state the set.",
    examine: Examine::Each(of_ours, of_tool),
};

fn of_ours(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let touched: Vec<_> = m.trials.iter().filter_map(|t| t.touched).collect();
    let recorded = touched.len() == m.trials.len();
    let distances = touched.into_iter().filter_map(|t| t.reuse_bytes).collect();
    Data::of(ctx, m)?.examine(ctx, m, (recorded, distances))
}

fn of_tool(ctx: &Context, m: &Measurement) -> Option<Finding> {
    // No tool records it, and none is expected to.
    Data::of(ctx, m)?.examine(ctx, m, (true, Vec::new()))
}

/// How large the data is, in bytes: the largest array or set, and all of them.
#[derive(Clone, Copy)]
struct Data {
    array: u64,
    all: u64,
}

impl Data {
    /// That of a workload whose data must come from memory.
    fn of(ctx: &Context, m: &Measurement) -> Option<Self> {
        if ctx.work(m).any_level() || m.trials.is_empty() {
            return None;
        }
        Some(Self { array: array_bytes(ctx, m)?, all: touched_bytes(ctx, m)? })
    }

    /// Judges the least of the distances of all trials, where these are recorded.
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
                format!("{} of data {what}", mib(self.array))
            } else {
                let short = distances.iter().filter(|d| **d <= at_least).count();
                format!("{}. That {what}", self.came_again(ctx, m, (distance, short)))
            };
            let message = format!("{cause}: this measures a cache");
            self.says(ctx, m, (Severity::Invalid, distance), message)
        } else if let Some(cache) = cache {
            let meets_rule = self.array >= TIMES.saturating_mul(cache);
            let times = if meets_rule { TIMES_AGAIN } else { TIMES };
            let enough = times.saturating_mul(cache);
            if distance >= enough {
                return self.allowed(ctx, m, recorded);
            }
            let (share, cause) = match seen {
                Some(distance) => {
                    let short = distances.iter().filter(|d| **d < enough).count();
                    let came = self.came_again(ctx, m, (distance, short));
                    (cache_share(ctx.host, distance), format!("{came}. That"))
                }
                None => (cache_share(ctx.host, self.all), format!("{} of data", mib(self.array))),
            };
            let message = format!(
                "{cause} is less than {times} times the {} of last-level cache: up to {} of the data may \
                 come from the cache",
                mib(cache),
                percent(share)
            );
            self.says(ctx, m, (Severity::Suspect, distance), message).with("cache_share", share)
        } else {
            let message =
                "no cache is reported, so it is unknown whether the data exceeds the caches";
            self.says(ctx, m, (Severity::Note, distance), message.to_owned())
        };
        let known = [("reuse_bytes", seen), ("cache_bytes", cache)];
        let finding = with_lack(finding, recorded).with("data_bytes", self.array);
        Some(known.into_iter().fold(finding, |finding, (name, bytes)| match bytes {
            Some(bytes) => finding.with(name, bytes),
            None => finding,
        }))
    }

    /// What came again too soon in so many trials, and why, in words.
    fn came_again(self, ctx: &Context, m: &Measurement, (distance, short): (u64, usize)) -> String {
        let trials = counted(m.trials.len() as f64, "trial");
        let what = format!("in {short} of {trials} a line came again after {}", mib(distance));
        let although = format!("{what}, although the data is {}", mib(self.array));
        match self.why_again(ctx, m, distance) {
            Why::Whole => format!("{what}, once round the data"),
            Why::Uneven([least, most]) => format!(
                "{although}: threads progressed unevenly ({least} to {most} rounds of their parts), \
                 and the fastest came round before the others"
            ),
            Why::PartOfOrder => format!(
                "{although}: the random order held only a part of the data, as versions that sized it \
                 by a calibration made it"
            ),
        }
    }

    /// Why a line came again after so many bytes.
    fn why_again(self, ctx: &Context, m: &Measurement, distance: u64) -> Why {
        if distance >= self.array / 10 * 9 {
            return Why::Whole;
        }
        let touched = m.trials.iter().filter_map(|t| t.touched);
        let Some(t) = touched.min_by_key(|t| t.reuse_bytes.unwrap_or(u64::MAX)) else {
            return Why::Whole;
        };
        let rounds = [t.least_visits, t.most_visits];
        // Threads at one pace are within a round of each other.
        let at_one_pace = rounds[1] <= rounds[0] + 1;
        let a_part = t.places.saturating_mul(t.place_bytes) < self.array / 10 * 9;
        match ctx.work(m).is_random() && at_one_pace && a_part {
            true => Why::PartOfOrder,
            false => Why::Uneven(rounds),
        }
    }

    fn says(
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

    /// What to do where the data is large enough for threads at one pace.
    fn advice_to_uneven(self, ctx: &Context, m: &Measurement, distance: u64) -> String {
        let evenly = "stop other load on these CPUs, so that the threads progress evenly";
        let rule = TIMES as f64 * ctx.host.largest_cached() as f64;
        let times = rule / distance.max(1) as f64;
        let size = ["array_size", "data_size"].into_iter().find(|p| m.params.get(p).is_some());
        match size.filter(|_| self.all as f64 * times <= ctx.host.usable_memory() as f64) {
            Some(size) => {
                let bytes = (self.array as f64 * times) as u64;
                let gib = bytes.div_ceil(1 << 30);
                format!("{evenly}; or set {size}={gib}GiB")
            }
            None => evenly.to_owned(),
        }
    }

    /// What to do about too little data: nobody can give more of it than the memory holds.
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

    /// What is still said where the distance is large enough.
    fn allowed(self, ctx: &Context, m: &Measurement, recorded: bool) -> Option<Finding> {
        if !ctx.work(m).is_random() {
            return None;
        }
        let note = |message| self.says(ctx, m, (Severity::Note, self.array), message);
        let Some(block) = m.params.int("block_size").filter(|b| *b < LINE) else {
            let message = "how soon a block came again is unknown".to_owned();
            return (!recorded).then(|| with_lack(note(message), recorded));
        };
        let share = cache_share(ctx.host, self.all);
        let message = format!(
            "in random order a pass meets each line for up to {} blocks of {block} B: up to {} of \
             them may come from the cache",
            LINE / block.max(1),
            percent(share)
        );
        Some(with_lack(note(message), recorded).with("cache_share", share))
    }
}

/// Why a line came again when it did.
enum Why {
    /// Everything was passed over before anything came again.
    Whole,
    /// One thread went round its part faster than others: the rounds of the slowest and the fastest.
    Uneven([u64; 2]),
    /// The random order was shorter than the data.
    PartOfOrder,
}

/// Says that the file lacks the distance, where it does.
fn with_lack(mut finding: Finding, recorded: bool) -> Finding {
    if !recorded {
        finding.message.push_str(
            "; this run file does not record the reuse distance of each trial, as those of older versions \
             do not: where it is missing the size of the data is judged",
        );
    }
    finding
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Host, Probe, Touched};

    use super::*;
    use crate::testing::*;

    fn sized(m: Measurement, bytes: u64) -> Measurement {
        let arrays = m.params.get("array_size").is_some();
        with_param(m, if arrays { "array_size" } else { "data_size" }, bytes)
    }

    #[test]
    fn nobody_is_told_to_give_more_data_than_the_memory_holds() {
        let mut host = host_with_caches();
        let said = |host: &Host| {
            let small = sized(stream("triad", 1), 2 << 20);
            found_on(host, &CHECK, small, &[]).unwrap().advice
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

    /// The trials with these reuse distances, in turn.
    fn coming_again(m: Measurement, after: &[Option<u64>]) -> Measurement {
        each(m, |i, t| {
            let reuse_bytes = after[i % after.len()];
            t.touched = t.touched.map(|touched| Touched { reuse_bytes, ..touched });
        })
    }

    const MIB: u64 = 1 << 20;

    #[test]
    fn what_comes_again_too_soon_is_the_cache_however_large_the_data_is() {
        let random = |block, after: &[Option<u64>]| coming_again(blocks("rand_read", block), after);
        let often = Some(1 << 30);
        CHECK.expect([
            (
                "as much",
                random(1024, &[Some(32 * MIB)]),
                invalid("32.0 MiB ... fits into 32.0 MiB"),
            ),
            (
                "a little",
                random(8, &[Some(MIB)]),
                invalid("1.0 MiB, although the data is 1024.0 MiB"),
            ),
            ("once", random(64, &[often, often, often, Some(MIB)]), invalid("in 2 of 10 trials")),
            ("cause", random(8, &[Some(MIB)]), invalid("held only a part of the data")),
            ("twice", random(64, &[Some(64 * MIB)]), suspect("64.0 MiB ... up to 50.0 %")),
            ("nearly 3 times", random(64, &[Some(95 * MIB)]), suspect("3 times the 32.0 MiB")),
            ("3 times", random(64, &[Some(96 * MIB)]), SILENT),
            ("not at all", random(64, &[None]), SILENT),
            ("in order", coming_again(stream("copy", 2), &[Some(MIB)]), INVALID),
            // Two arrays pass through the caches before a line comes again.
            (
                "two arrays",
                coming_again(sized(stream("add", 1), 70 * MIB), &[Some(140 * MIB)]),
                SILENT,
            ),
            (
                "two small ones",
                coming_again(sized(stream("add", 1), 40 * MIB), &[Some(80 * MIB)]),
                suspect("once round the data. That is less than 4 times"),
            ),
            // What an array loses at the ends of its parts.
            (
                "a part left over",
                coming_again(sized(stream("read", 3), 128 * MIB), &[Some(120 * MIB)]),
                SILENT,
            ),
        ]);
        let hidden = with_caches(|caches| caches.truncate(1));
        CHECK.on(&hidden, &[]).expect([
            ("hidden", random(8, &[Some(3 * MIB)]), invalid("smaller than any current")),
            ("not reported", random(8, &[Some(64 * MIB)]), NOTE),
        ]);
    }

    /// The rounds of the slowest thread and the fastest, and the distance of the fastest.
    fn uneven(m: Measurement, rounds: [u64; 2], distance: u64) -> Measurement {
        let all = m.params.int("array_size").or(m.params.int("data_size")).unwrap();
        each(m, |_, t| {
            t.touched = Some(Touched {
                place_bytes: 1 << 17,
                places: all >> 17,
                least_visits: rounds[0],
                most_visits: rounds[1],
                reuse_bytes: Some(distance),
            });
        })
    }

    /// As 16 threads on 16 quiet CPUs did, in parts of this host's 32 MiB of caches: at the end of a trial
    /// the slowest had come round 4 times, the fastest 9 times.
    #[test]
    fn threads_that_progress_unevenly_through_enough_data_measure_memory() {
        let copy = |bytes| sized(stream("copy", 16), bytes);
        let size = 128 * MIB;
        CHECK.expect([
            ("in order", uneven(copy(size), [4, 9], 106 * MIB), SILENT),
            ("the least of 20 runs", uneven(copy(size), [10, 20], 99 * MIB), SILENT),
            (
                "at random",
                uneven(sized(blocks("rand_read", 8192), size), [7, 12], 101 * MIB),
                SILENT,
            ),
            (
                "two threads race",
                uneven(copy(size), [2, 9], 70 * MIB),
                suspect(
                    "unevenly (2 to 9 rounds ... less than 3 times the 32.0 MiB ... up to 45.7 %",
                ),
            ),
            (
                "at random, too",
                uneven(sized(blocks("rand_read", 8192), size), [2, 9], 70 * MIB),
                suspect("unevenly (2 to 9 rounds"),
            ),
            (
                "one within a pass of the others",
                uneven(copy(size), [1, 2], 70 * MIB),
                suspect("unevenly (1 to 2 rounds"),
            ),
            (
                "a part that a cache holds",
                uneven(copy(size), [1, 40], 20 * MIB),
                invalid("unevenly (1 to 40 rounds ... fits into 32.0 MiB"),
            ),
            // Too little for threads at one pace.
            ("twice the caches", uneven(copy(64 * MIB), [4, 5], 64 * MIB), suspect("once round")),
            (
                "twice the caches, one races",
                uneven(copy(64 * MIB), [1, 12], 30 * MIB),
                invalid("unevenly (1 to 12 rounds ... fits into 32.0 MiB"),
            ),
            (
                "twice the caches, one is faster",
                uneven(copy(64 * MIB), [4, 9], 50 * MIB),
                suspect("unevenly ... less than 4 times"),
            ),
        ]);
        let advice = |bytes| {
            let m = uneven(copy(bytes), [2, 9], 70 * MIB);
            found_on(&host_with_caches(), &CHECK, m, &[]).unwrap().advice
        };
        let said = advice(size);
        assert!(said.starts_with("stop other load") && said.ends_with("array_size=1GiB"), "{said}");
        assert!(!said.contains("version"), "{said}");
    }

    #[test]
    fn an_older_file_is_judged_by_its_data_and_says_so() {
        let older = |m| each(m, |_, t| t.touched = None);
        let lacks = "does not record the reuse distance";
        CHECK.expect([
            ("small", older(sized(stream("read", 1), 32 * MIB)), invalid(lacks)),
            ("twice", older(sized(stream("read", 1), 64 * MIB)), suspect(lacks)),
            ("at random", older(blocks("rand_read", 1024)), note(lacks)),
            ("small blocks", older(blocks("rand_write", 8)), note(lacks)),
            ("in order", older(blocks("seq_read", 1024)), SILENT),
        ]);
    }
}
