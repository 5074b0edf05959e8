//! Tests of data that a cache holds, and of data that is touched again too soon.

use proofmark_model::{Host, Probe, Touched, key};

use super::*;
use crate::testing::*;

fn sized(m: Measurement, bytes: u64) -> Measurement {
    let arrays = m.params.has(key::ARRAY_SIZE);
    with_param(m, if arrays { "array_size" } else { "data_size" }, bytes)
}

#[test]
fn the_advice_asks_for_no_more_data_than_the_memory_holds() {
    let mut host = host_with_caches();
    let text = |host: &Host| {
        let small = sized(stream("triad", 1), 2 << 20);
        found_on(host, &CHECK, small, &[]).unwrap().advice
    };
    host.memory.available_bytes = Probe::known(64 << 30, "test");
    assert!(text(&host).contains("leave its size to proofmark"), "{}", text(&host));
    host.limits.memory_bytes = Probe::known(Some(64 << 20), "test");
    let limited = text(&host);
    assert!(limited.starts_with("raise the memory limit: 64 MiB leave no room"), "{limited}");
    assert!(!limited.contains("auto"), "it was auto");
    host.limits.memory_bytes = Probe::known(None, "test");
    host.memory.available_bytes = Probe::known(100 << 20, "test");
    assert!(text(&host).starts_with("free memory"), "{}", text(&host));
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
        ("three arrays", sized(stream("triad", 1), 64 << 20), suspect("16.7 % of all arrays")),
        ("with a load", loaded, INVALID),
        ("blocks that share lines", shared("rand_read", 8), NOTE),
        ("lines", shared("rand_read", 64), SILENT),
        ("in order", shared("seq_read", 8), SILENT),
    ]);
}

/// The result with these reuse distances, assigned to its trials in turn.
fn coming_again(m: Measurement, after: &[Option<u64>]) -> Measurement {
    each(m, |i, t| {
        let reuse_bytes = after[i % after.len()];
        t.touched = t.touched.map(|touched| Touched { reuse_bytes, ..touched });
    })
}

const MIB: u64 = 1 << 20;

#[test]
fn data_touched_again_too_soon_is_from_the_cache_however_large_it_is() {
    let random = |block, after: &[Option<u64>]| coming_again(blocks("rand_read", block), after);
    let often = Some(1 << 30);
    CHECK.expect([
        ("as much", random(1024, &[Some(32 * MIB)]), invalid("32.0 MiB ... fits into 32.0 MiB")),
        (
            "a little",
            random(8, &[Some(MIB)]),
            invalid("1.0 MiB of other data, although the data is 1024.0 MiB"),
        ),
        ("once", random(64, &[often, often, often, Some(MIB)]), invalid("in 2 of 10 trials")),
        ("cause", random(8, &[Some(MIB)]), invalid("held only a part of the data")),
        ("twice", random(64, &[Some(64 * MIB)]), suspect("64.0 MiB ... up to 50.0 %")),
        ("nearly 3 times", random(64, &[Some(95 * MIB)]), suspect("3 times the 32.0 MiB")),
        ("3 times", random(64, &[Some(96 * MIB)]), SILENT),
        ("not at all", random(64, &[None]), SILENT),
        ("in order", coming_again(stream("copy", 2), &[Some(MIB)]), INVALID),
        // Two arrays pass through the caches before a line is touched again.
        ("two arrays", coming_again(sized(stream("add", 1), 70 * MIB), &[Some(140 * MIB)]), SILENT),
        (
            "two small ones",
            coming_again(sized(stream("add", 1), 40 * MIB), &[Some(80 * MIB)]),
            suspect("once round the data. That is less than 4 times"),
        ),
        // The rest that is left over at the ends of an array's parts.
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

/// The result with the rounds of the slowest and the fastest thread, and the distance of the
/// fastest.
fn uneven(m: Measurement, rounds: [u64; 2], distance: u64) -> Measurement {
    let all = m.params.get(key::ARRAY_SIZE).or(m.params.get(key::DATA_SIZE)).unwrap();
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

/// Recorded with 16 threads on 16 quiet CPUs, here for parts of this host's 32 MiB of caches. At
/// the end of a trial the slowest had passed over its part 4 times, the fastest 9 times.
#[test]
fn threads_that_progress_unevenly_through_enough_data_measure_memory() {
    let copy = |bytes| sized(stream("copy", 16), bytes);
    let size = 128 * MIB;
    CHECK.expect([
        ("in order", uneven(copy(size), [4, 9], 106 * MIB), SILENT),
        ("the least of 20 runs", uneven(copy(size), [10, 20], 99 * MIB), SILENT),
        ("at random", uneven(sized(blocks("rand_read", 8192), size), [7, 12], 101 * MIB), SILENT),
        (
            "two threads race",
            uneven(copy(size), [2, 9], 70 * MIB),
            suspect("unevenly (2 to 9 rounds ... less than 3 times the 32.0 MiB ... up to 45.7 %"),
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
        // Too little data for threads that progress evenly.
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
    // Another program had a CPU: no trial was a pass of both parts, and each ended elsewhere.
    let mut starved = uneven(sized(blocks("rand_read", 8192), size), [1, 2], 70 * MIB);
    for (i, t) in starved.trials.iter_mut().enumerate() {
        t.touched.iter_mut().for_each(|t| t.places = t.places / 10 * 7 - i as u64);
    }
    CHECK.expect([("cut short", starved, suspect("unevenly (1 to 2 rounds"))]);
    let advice = |bytes| {
        let m = uneven(copy(bytes), [2, 9], 70 * MIB);
        found_on(&host_with_caches(), &CHECK, m, &[]).unwrap().advice
    };
    let text = advice(size);
    assert!(text.starts_with("stop other load") && text.ends_with("array_size=1GiB"), "{text}");
    assert!(!text.contains("version"), "{text}");
}

#[test]
fn an_older_file_is_judged_by_its_data_and_says_so() {
    let older = |m| each(m, |_, t| t.touched = None);
    let lacks = "lacks reuse distances";
    CHECK.expect([
        ("small", older(sized(stream("read", 1), 32 * MIB)), invalid(lacks)),
        ("twice", older(sized(stream("read", 1), 64 * MIB)), suspect(lacks)),
        ("at random", older(blocks("rand_read", 1024)), note(lacks)),
        ("small blocks", older(blocks("rand_write", 8)), note(lacks)),
        ("in order", older(blocks("seq_read", 1024)), SILENT),
    ]);
}
