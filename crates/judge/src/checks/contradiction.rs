//! `contradiction`: recorded values of one result contradict each other. Work, time and counters of
//! a trial come from different sources, so a value that was edited or miscounted contradicts the
//! others. An edit that changes all of them consistently stays undetected.

use proofmark_model::{Cut, Finding, Flush, Measurement, Trial, check_id};

use super::{Check, Class, Examine, percent};
use crate::Context;
use crate::disk::{in_flight_at_most, ios};
use crate::memory::touched_bytes;

pub(super) static CHECK: Check = Check {
    id: check_id::CONTRADICTION,
    class: Class::CLAIM,
    title: "Counters of a trial disagree",
    about: "Compares what was recorded of a trial in several ways. A result is invalid in any of \
         these cases. Its unit is not its workload's. Its data is larger than the memory. Its \
         threads used more CPU time than there was. Its rounds do not add up to its trial. A \
         workload that only writes has read, or the other way round. Rate x mean latency (I/Os in \
         flight; not of the page cache) does not fit threads x queue depth. The file was edited, \
         or proofmark counted wrongly. Use the original file, or measure again.",
    examine: Examine::Ours(check),
};

fn check(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let found: Vec<String> = ALL.iter().filter_map(|contradiction| contradiction(ctx, m)).collect();
    let message = (!found.is_empty()).then(|| found.join("; "))?;
    Some(CHECK.invalid(message, "use the original file, or measure again"))
}

/// Returns the description of a contradiction in the result, if there is one.
type Contradiction = fn(&Context, &Measurement) -> Option<String>;

const ALL: &[Contradiction] = &[
    another_unit,
    more_than_memory,
    more_cpu_time,
    longer_rounds,
    undeclared_direction,
    in_flight,
];

fn another_unit(ctx: &Context, m: &Measurement) -> Option<String> {
    let spec = ctx.spec(m)?;
    let same = (spec.unit, spec.better, spec.subsystem) == (m.unit, m.better, m.subsystem);
    (!same).then(|| format!("it is in {}, but its workload counts in {}", m.unit, spec.unit))
}

fn more_than_memory(ctx: &Context, m: &Measurement) -> Option<String> {
    let (data, memory) = (touched_bytes(ctx, m)?, *ctx.host.memory.total_bytes.get()?);
    (data > memory && !m.trials.is_empty()).then(|| {
        let [data, memory] = [data, memory].map(proofmark_model::format_size);
        format!("its data of {data} did not fit into the memory of {memory}")
    })
}

/// Largest CPU time per thread, as a multiple of the timed part: it is counted over a little more
/// than that, and scaled to it.
const MOST_CPU: f64 = 1.1;
/// Seconds of CPU time allowed in addition, per thread.
const COUNTED_S: f64 = 0.01;

fn more_cpu_time(ctx: &Context, m: &Measurement) -> Option<String> {
    if !ctx.work(m).cut().has_slices() {
        return None;
    }
    let threads = m.params.threads() as f64;
    let too_much = |t: &&Trial| {
        let most = threads * (MOST_CPU * t.seconds + COUNTED_S);
        t.conditions.own_cpu_s.is_some_and(|used| used > most)
    };
    let t = m.trials.iter().find(too_much)?;
    let used = t.conditions.own_cpu_s?;
    Some(format!("{threads} threads used {used:.3} s of CPU time in {:.3} s", t.seconds))
}

/// Smallest and largest time of all rounds as a share of their trial. Rounds leave out our own
/// readings of the clock, at most a tenth.
const ROUNDS: [f64; 2] = [0.85, 1.02];

fn longer_rounds(_: &Context, m: &Measurement) -> Option<String> {
    let share = |t: &Trial| {
        let seconds: f64 = t.rounds.iter().map(|r| r.seconds).sum();
        Some(seconds / t.seconds).filter(|_| seconds > 0.0)
    };
    let off = |share: &f64| !(ROUNDS[0]..=ROUNDS[1]).contains(share);
    let share = m.trials.iter().filter_map(share).find(off)?;
    Some(format!("the rounds of a trial took {} of its time", percent(share)))
}

fn undeclared_direction(ctx: &Context, m: &Measurement) -> Option<String> {
    let traffic =
        ctx.work(m).traffic(&m.params).filter(|_| m.subsystem.info().uses_block_devices)?;
    let files = || m.trials.iter().filter_map(|t| t.file.as_ref());
    let read: f64 = files().map(|f| f.asked_read_bytes as f64).sum();
    let written: f64 = files().map(|f| f.asked_written_bytes as f64).sum();
    let undeclared = |bytes: f64, declared: f64| bytes > 0.0 && declared == 0.0;
    if undeclared(read, traffic.read) {
        return Some(format!("{read} bytes were read by a workload that only writes"));
    }
    undeclared(written, traffic.written)
        .then(|| format!("{written} bytes were written by a workload that only reads"))
}

/// Smallest and largest I/Os in flight, by Little's law (rate x mean latency), as multiples of what
/// the parameters allow. A thread also works between two I/Os, and only a sample of them is timed.
const IN_FLIGHT: [f64; 2] = [0.1, 1.25];

/// Fewest I/Os per trial, in multiples of those in flight, from which too few in flight are a
/// contradiction.
const FULL: f64 = 10.0;

fn in_flight(ctx: &Context, m: &Measurement) -> Option<String> {
    let asks_a_disk = m.subsystem.info().uses_block_devices && ctx.work(m).cut() == Cut::Single;
    let latency = m.latency.as_ref().filter(|_| asks_a_disk)?;
    // Reading the clock takes longer than a block from the page cache.
    let waits = |t: &Trial| {
        t.file.as_ref().is_some_and(|f| f.direct == Some(true) || f.flush == Flush::Each)
    };
    // The time of a trial includes its flush at the end; no I/O's latency does.
    let flushes = |t: &Trial| t.file.as_ref().is_some_and(|f| f.flush == Flush::End);
    if m.trials.is_empty() || !m.trials.iter().all(waits) {
        return None;
    }
    let seconds: f64 = m.trials.iter().map(|t| t.seconds).sum();
    let all = ios(m, m.trials.iter().map(|t| t.work).sum())?;
    let (seen, most) = (all / seconds * latency.mean, in_flight_at_most(m));
    // Other work of a tool may pace itself or wait for a flush between I/Os.
    let is_ours = !ctx.imported || ctx.spec(m).is_some_and(|spec| !spec.ceilings.is_empty());
    let is_full =
        is_ours && all >= FULL * most * m.trials.len() as f64 && !m.trials.iter().any(flushes);
    let least = if is_full { IN_FLIGHT[0] * most } else { 0.0 };
    let off = !(least..=IN_FLIGHT[1] * most).contains(&seen);
    (off && seen.is_finite())
        .then(|| format!("rate x mean latency is {seen:.2} I/Os in flight, with {most:.0} allowed"))
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Round, Unit, WorkloadSpec, key};

    use super::*;
    use crate::testing::*;

    fn cpu_time(m: Measurement, share: f64) -> Measurement {
        let threads = m.params.threads() as f64;
        each(m, |_, t| t.conditions.own_cpu_s = Some(share * threads * t.seconds))
    }

    fn rounds(share: f64) -> Measurement {
        each(flops(1), |_, t| {
            let seconds = share * t.seconds;
            t.rounds = vec![Round { seconds, delivered: t.value, ..Round::default() }];
        })
    }

    #[test]
    fn recorded_values_that_contradict_each_other_are_invalid() {
        CHECK.expect([
            (
                "another unit",
                Measurement { unit: Unit::BytePerSecond, ..flops(1) },
                invalid("^it is in B/s, but its workload counts in FLOP/s$"),
            ),
            ("two threads called one", with_param(cpu_time(flops(2), 1.0), "threads", 1), INVALID),
            ("half of the time", cpu_time(flops(2), 2.0), invalid("^2 threads used")),
            ("all of the time", cpu_time(flops(2), 1.0), SILENT),
            ("half of its rounds", rounds(0.5), invalid("took 50.0 % of its time")),
            ("rounds of twice its time", rounds(2.0), INVALID),
            ("rounds with pauses for the clock", rounds(0.97), SILENT),
            ("nothing recorded", stream("copy", 2), SILENT),
        ]);
    }

    #[test]
    fn data_larger_than_memory_were_never_there() {
        let mut host = host();
        host.memory.total_bytes = proofmark_model::Probe::known(8 << 30, "test");
        let copy = |bytes: u64| with_param(stream("copy", 2), "array_size", bytes);
        CHECK.on(&host, &[]).expect([
            ("arrays of a terabyte", copy(1 << 40), invalid("^its data of 2 TiB did not fit")),
            ("two arrays of 1 GiB", copy(1 << 30), SILENT),
        ]);
    }

    /// Direct reads of 100 us each with that mean number in flight.
    fn reads(in_flight: f64, depth: u64) -> Measurement {
        let mut m = with_param(rand_read(depth), "queue_depth", depth);
        let mut latency = m.latency.take().unwrap();
        let rate: f64 = m.trials.iter().map(|t| t.work).sum::<f64>()
            / m.trials.iter().map(|t| t.seconds).sum::<f64>();
        latency.mean = in_flight * 4096.0 / rate;
        m.params = m.params.with(key::BLOCK_SIZE, 4096);
        Measurement { latency: Some(latency), ..m }
    }

    #[test]
    fn a_disk_does_as_much_at_once_as_its_parameters_allow() {
        let flushed = |m| each_file(m, |_, f| f.flush = Flush::End);
        let cached = |m| each_file(m, |_, f| f.direct = Some(false));
        let few = |m| each(m, |_, t| (t.work, t.seconds) = (t.work / 1e3, t.seconds / 1e3));
        let written = |m: Measurement| {
            each_file(m, |_, f| {
                f.asked_written_bytes = f.asked_read_bytes;
            })
        };
        CHECK.expect([
            ("depth 32", reads(31.0, 32), SILENT),
            ("depth 32 called 1", reads(31.0, 1), invalid("^rate x mean latency is 31.00 I/Os")),
            ("twice the rate", reads(64.0, 32), INVALID),
            ("a tenth of the time", reads(3.0, 32), INVALID),
            ("as much, of few I/Os", few(reads(3.0, 32)), SILENT),
            ("as much, with a flush", flushed(reads(3.0, 32)), SILENT),
            ("in the page cache", cached(reads(64.0, 32)), SILENT),
            ("depth 1", reads(0.97, 1), SILENT),
            ("a reader that wrote", written(reads(31.0, 32)), invalid("only reads$")),
        ]);
    }

    #[test]
    fn a_tools_other_work_may_be_idle_but_not_do_more_at_once() {
        let other = WorkloadSpec {
            id: "tool.read".into(),
            ceilings: Vec::new().into(),
            ..spec("disk.rand_read")
        };
        let (host, policy) = (host(), policy());
        let ctx = Context { imported: true, ..context(&host, &other, &policy, &[]) };
        let found = |seen| {
            let m = Measurement { workload: "tool.read".into(), ..reads(seen, 32) };
            in_flight(&ctx, &m).is_some()
        };
        assert_eq!([0.1, 31.0, 64.0].map(found), [false, false, true]);
    }
}
