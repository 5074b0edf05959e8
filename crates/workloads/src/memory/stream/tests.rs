//! Tests that every workload proves its work, and that omitted work is found.

#![allow(unsafe_code)] // Faulty loops on raw memory.

use proofmark_model::key;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::segment::Segment;
use super::super::testing::host;
use super::*;
use crate::params::testing::{WorkloadExt, params, prove, verified};

const ALL: [&Stream; 6] = [&COPY, &SCALE, &ADD, &TRIAD, &READ, &WRITE];

#[test]
fn every_supported_point_proves_its_work_on_every_thread() {
    let sizes = [(8192, 2), (70_000, 1), (600_000, 2), (1_500_001, 3)];
    let sets = [(4096, 2), (1 << 20, 2), (777_777, 3)];
    let arrays = ALL.map(|workload| (workload, "array_size", &sizes[..], 8));
    let sweep = (&SWEEP, "working_set", &sets[..], 18);
    for (workload, size_of, sizes, least) in arrays.into_iter().chain([sweep]) {
        let mut ran = 0;
        for (size, threads) in sizes {
            let fixed = params(&format!("threads={threads} {size_of}={size}"));
            for params in workload.spec().choices(fixed) {
                let what = format!("{} {params:?}", workload.spec().id);
                let setup = workload.setup(&params);
                assert_eq!(workload.refusal(&params), setup.as_ref().err().map(|r| r.0.clone()));
                match setup {
                    Ok(setup) => {
                        prove(&*setup, *threads, &[1, 30, 7, 0], &what);
                        assert_eq!(setup.moved_per_iteration().is_some(), workload.op.is_some());
                        ran += 1;
                    }
                    Err(refusal) => eprintln!("skipped {what}: {refusal}"),
                }
            }
        }
        assert!(ran >= least, "{} ran {ran} points", workload.spec().id);
    }
}

fn point(threads: u64, size: u64) -> Params {
    let words = format!("threads={threads} array_size={size}");
    params(&format!("{words} isa=scalar stores=temporal pages=small"))
}

/// Creates the only thread's part of a configuration, with this loop.
fn planted(op: Op, hot: Loop, size: u64) -> Box<dyn Load> {
    let workload = Stream { spec: &spec::COPY, op: Some(op), find };
    let task = Task { hot, ..workload.task(&point(1, size)).unwrap() };
    Box::new(task).setup().unwrap().thread(0, 1).unwrap()
}

fn honest(op: Op) -> Loop {
    find(op, Stores::Temporal, Isa::Scalar).unwrap()
}

unsafe extern "C" fn idle(_: &Segment, _: u64, _: f64, _: f64) -> u64 {
    0
}

/// Writes the stamps and nothing else.
unsafe extern "C" fn stamps_only(s: &Segment, passes: u64, stamp: f64, _: f64) -> u64 {
    for at in s.bytes / 8 - 8..s.bytes / 8 {
        // SAFETY: within the segment, which the caller promises to be valid.
        unsafe {
            *s.a.add(at) = stamp + passes as f64 - 1.0;
            *s.dst.add(at) = stamp + passes as f64 - 1.0;
        }
    }
    0
}

/// Defines a loop that changes the arguments or the results of the correct loop.
macro_rules! faulty {
    ($name:ident, $op:expr, |$segment:ident, $passes:ident, $stamp:ident, $inner:ident| $body:expr) => {
        unsafe extern "C" fn $name($segment: &Segment, $passes: u64, $stamp: f64, k: f64) -> u64 {
            let $inner = |segment: &Segment, passes: u64, stamp: f64| {
                // SAFETY: the caller's promise, passed on.
                unsafe { honest($op)(segment, passes, stamp, k) }
            };
            $body
        }
    };
}

faulty!(last_pass_left_out, Op::Copy, |s, n, stamp, run| run(s, n - 1, stamp));
faulty!(one_element_left_out, Op::Copy, |s, n, stamp, run| {
    // SAFETY: the segment has at least 128 elements.
    let element = unsafe { &mut *s.dst.add(101) };
    let kept = *element;
    let sum = run(s, n, stamp);
    *element = kept;
    sum
});
faulty!(every_third_segment_left_out, Op::Copy, |s, n, stamp, run| {
    if (stamp as u64).is_multiple_of(3) { 0 } else { run(s, n, stamp) }
});
faulty!(neighbour_copied, Op::Copy, |s, n, stamp, run| {
    run(&Segment { a: s.a.wrapping_sub(8), ..*s }, n, stamp)
});
faulty!(backwards, Op::Copy, |s, n, stamp, run| {
    run(&Segment { dst: s.a, a: s.dst, ..*s }, n, stamp)
});
faulty!(old_stamp, Op::Copy, |s, n, stamp, run| run(s, n, stamp - 1.0));
faulty!(one_result_off, Op::Scale, |s, n, stamp, run| {
    let sum = run(s, n, stamp);
    // SAFETY: the segment has at least 128 elements.
    unsafe { *s.dst.add(127) += 1.0 };
    sum
});
faulty!(half_a_number, Op::Scale, |s, n, stamp, run| {
    let sum = run(s, n, stamp);
    // SAFETY: as above; only the upper half of the number is kept.
    unsafe { s.dst.add(64).cast::<u32>().write(0xffff_ffff) };
    sum
});
faulty!(sources_swapped, Op::Triad, |s, n, stamp, run| {
    run(&Segment { a: s.b, b: s.a, ..*s }, n, stamp)
});
faulty!(half_written, Op::Write, |s, n, stamp, run| {
    run(&Segment { bytes: s.bytes - 256, ..*s }, n, stamp)
});
faulty!(half_read, Op::Read, |s, n, stamp, run| {
    run(&Segment { bytes: s.bytes - 256, ..*s }, n, stamp)
});
// With 1 iteration ahead, this is the third one that counts.
faulty!(fourth_copy_left_out, Op::Copy, |s, n, stamp, run| {
    if stamp == 4.0 { 0 } else { run(s, n, stamp) }
});
faulty!(fourth_write_left_out, Op::Write, |s, n, stamp, run| {
    if stamp == 4.0 { 0 } else { run(s, n, stamp) }
});
faulty!(fourth_read_left_out, Op::Read, |s, n, stamp, run| {
    if stamp == 4.0 { 0 } else { run(s, n, stamp) }
});
faulty!(read_once_only, Op::Read, |s, _n, stamp, run| run(s, 1, stamp));

#[test]
fn each_fault_is_found() {
    let one = 64 << 10; // One segment.
    let many = 3 << 20; // Several segments.
    let faults: &[(&str, Op, Loop, u64)] = &[
        ("idle", Op::Copy, idle, one),
        ("idle", Op::Write, idle, many),
        ("idle", Op::Read, idle, many),
        ("stamps only", Op::Copy, stamps_only, one),
        ("stamps only", Op::Copy, stamps_only, many),
        ("last pass", Op::Copy, last_pass_left_out, one),
        ("last pass", Op::Copy, last_pass_left_out, many),
        ("element", Op::Copy, one_element_left_out, one),
        ("element", Op::Copy, one_element_left_out, many),
        ("third segment", Op::Copy, every_third_segment_left_out, many),
        ("neighbour", Op::Copy, neighbour_copied, many),
        ("backwards", Op::Copy, backwards, many),
        ("old stamp", Op::Copy, old_stamp, one),
        ("result", Op::Scale, one_result_off, many),
        ("half a number", Op::Scale, half_a_number, many),
        ("sources swapped", Op::Triad, sources_swapped, many),
        ("half written", Op::Write, half_written, one),
        ("half read", Op::Read, half_read, many),
        ("read once", Op::Read, read_once_only, one),
        ("late", Op::Copy, late, many),
        ("fourth", Op::Copy, fourth_copy_left_out, many),
        ("fourth", Op::Write, fourth_write_left_out, many),
        ("fourth", Op::Read, fourth_read_left_out, many),
    ];
    for (name, op, hot, size) in faults {
        for slices in [&[5][..], &[1, 3, 1]] {
            LATE.store(0, Ordering::Relaxed);
            // The iterations ahead are verified too.
            let mut part = planted(*op, *hot, *size);
            part.run(1);
            assert!(verified(part.as_mut(), slices).is_err(), "{name} {op:?} {size} {slices:?}");
            let mut part = planted(*op, honest(*op), *size);
            let verified = verified(part.as_mut(), slices);
            assert_eq!(verified, Ok(5), "{name} {op:?} {size}: an honest loop");
        }
    }
}

/// Calls of the loops below.
static LATE: AtomicU64 = AtomicU64::new(0);
static TIRES: AtomicU64 = AtomicU64::new(0);

faulty!(late, Op::Copy, |s, n, stamp, run| {
    if LATE.fetch_add(1, Ordering::Relaxed) == 0 { 0 } else { run(s, n, stamp) }
});
faulty!(tires, Op::Copy, |s, n, stamp, run| {
    if TIRES.fetch_add(1, Ordering::Relaxed) < 8 {
        return run(s, n, stamp);
    }
    // SAFETY: the caller's promise, passed on.
    unsafe { stamps_only(s, n, stamp, 0.0) }
});

#[test]
fn a_loop_that_stops_working_is_found_although_old_results_are_right() {
    // The first run is correct, so every element has been right once.
    let mut part = planted(Op::Copy, tires, 1 << 20);
    assert_eq!(verified(part.as_mut(), &[5, 3]), Ok(8));
    let error = verified(part.as_mut(), &[1, 7]).unwrap_err();
    assert!(error.contains("was not written, expected "), "{error}");
}

#[test]
fn bytes_are_counted_as_stream_does_and_moved_with_write_allocate() {
    for (workload, counted, temporal) in [
        (&COPY, 16, 24),
        (&SCALE, 16, 24),
        (&ADD, 24, 32),
        (&TRIAD, 24, 32),
        (&READ, 8, 8),
        (&WRITE, 8, 16),
    ] {
        let elements = (128_u64 << 10) as f64 / 8.0;
        let setup = workload.setup(&point(1, 4 << 20)).unwrap();
        assert_eq!(setup.work_per_iteration() / elements, f64::from(counted));
        assert_eq!(setup.moved_per_iteration(), Some(f64::from(temporal) * elements));
        let point = point(1, 4 << 20).with(key::ISA, "sse2").with(key::STORES, "nontemporal");
        match workload.setup(&point) {
            Ok(setup) => assert_eq!(
                setup.moved_per_iteration(),
                Some(f64::from(counted) * elements),
                "{}",
                workload.spec().id
            ),
            Err(refusal) => proofmark_testing::skip(refusal),
        }
    }
}

#[test]
fn arrays_are_filled_once_for_the_points_that_share_them() {
    let content = |workload: &Stream, threads, size| {
        let task = workload.task(&point(threads, size)).unwrap();
        task.content()
    };
    // On several nodes the pages are where the threads are.
    let two = if arena::split(2) == 0 { 2 } else { 1 };
    assert_eq!(content(&COPY, 1, 64 << 20), content(&SCALE, two, 64 << 20));
    assert_eq!(content(&ADD, 1, 1 << 20), content(&TRIAD, two, 1 << 20));
    assert_eq!(content(&READ, 1, 1 << 20), content(&WRITE, two, 1 << 20));
    for (one, other) in [
        ((&COPY, 1, 64 << 20), (&COPY, 1, 32 << 20)),
        ((&COPY, 1, 64 << 20), (&COPY, 3, 64 << 20)),
        ((&WRITE, 2, 10_000), (&WRITE, 2, 8192)), // The same extent, but other gaps.
    ] {
        assert_ne!(content(one.0, one.1, one.2), content(other.0, other.1, other.2));
    }
}

#[test]
fn all_operations_take_turns_on_the_same_arrays() {
    // A size that no other test uses, so that no other test uses these arrays.
    let at = |threads| point(threads, 7 << 20).with(key::PAGES, "huge");
    let all = [&READ, &WRITE, &COPY, &SCALE, &ADD, &TRIAD];
    let setups: Vec<_> = all
        .iter()
        .flat_map(|w| [1, 2].map(|threads| (w.setup(&at(threads)).unwrap(), threads as usize)))
        .collect();
    let parts = |(setup, threads): &(Box<dyn Setup>, usize)| -> Vec<_> {
        (0..*threads).map(|i| setup.thread(i, *threads).unwrap()).collect()
    };
    let mut loads: Vec<Vec<Box<dyn Load>>> = setups.iter().map(parts).collect();
    for round in 0..5 {
        for load in loads.iter_mut().flatten() {
            load.run(3);
            load.begin();
            (0..17 + round).for_each(|_| load.run(5));
            assert_eq!(load.verify(), Ok(5 * (17 + round)));
        }
    }
}

#[test]
fn arrays_that_were_found_wrong_are_filled_again() {
    let task = || COPY.task(&point(1, 1 << 20)).unwrap();
    let arena = Arena::get(task().layout.bytes(), Pages::Small, 1).unwrap();
    let part = |hot: Loop, fill| {
        StreamLoad::new((Op::Copy, hot, Stores::Temporal), &arena, &task().layout, 0, fill)
    };
    assert!(!arena.holds(&task().content()));
    let mut wrong = part(backwards, true);
    wrong.run(8);
    assert!(wrong.verify().is_err());
    assert!(!arena.holds(&task().content()));
    let mut right = part(honest(Op::Copy), true);
    right.run(8);
    assert_eq!(right.verify(), Ok(8));
    assert!(arena.holds(&task().content()));
}

#[test]
fn results_of_another_point_are_not_taken_for_those_of_this_one() {
    let layout = COPY.layout(&point(1, 1 << 20)).unwrap();
    let arena = Arena::get(layout.bytes(), Pages::Small, 1).unwrap();
    let part =
        |hot: Loop| StreamLoad::new((Op::Copy, hot, Stores::Temporal), &arena, &layout, 0, true);
    part(honest(Op::Copy)).run(8);
    let mut idler = part(stamps_only);
    idler.run(8);
    assert_eq!(idler.verify().unwrap_err(), "element 0 was not written, expected 1");
}

#[test]
fn parameters_left_to_the_machine_are_resolved() {
    let auto = params(
        "threads=4 array_size=auto working_set=auto isa=auto op=copy stores=temporal pages=huge",
    );
    let host = host(Some(100 << 20));
    for workload in [&COPY as &dyn Workload, &READ, &SWEEP] {
        let point = workload.resolve_auto(auto.clone(), &host).remove(0);
        assert_eq!(workload.refusal(&point), None, "{}", workload.spec().id);
        let best = [Isa::Avx512, Isa::Avx2, Isa::Sse2].into_iter().find(|i| i.is_supported());
        let best = best.unwrap_or(Isa::Scalar).name();
        assert_eq!(point.get(key::ISA), Some(best), "every instruction set has every loop");
    }
    assert_eq!(COPY.resolve_auto(auto.clone(), &host)[0].get(key::ARRAY_SIZE), Some(400 << 20));
    assert_eq!(SWEEP.resolve_auto(auto, &host)[0].get(key::WORKING_SET), Some(100 << 20));
}

#[test]
fn unsupported_parameters_are_refused_with_the_reason() {
    let good = "threads=2 array_size=1048576 isa=scalar stores=temporal pages=small";
    assert_eq!(COPY.refusal(&params(good)), None);
    for (change, reason) in [
        (
            "stores=nontemporal",
            "memory.copy has no scalar loop with nontemporal stores on this architecture",
        ),
        ("stores=lazy", "stores has no value 'lazy'"),
        ("isa=mmx", "isa has no value 'mmx'"),
        ("pages=none", "pages has no value 'none'"),
        (
            "threads=4096",
            "an array of 1 MiB is too small for 4096 threads: each part needs at least 1 KiB",
        ),
    ] {
        let refused = COPY.refusal(&params(&format!("{good} {change}")));
        assert_eq!(refused.as_deref(), Some(reason));
    }
    assert_eq!(COPY.refusal(&Params::default()).as_deref(), Some("stores is not set"));
}

/// Checks the bytes that pass through the caches between two visits of a segment, and the segments
/// of a round.
#[test]
fn a_segment_comes_again_after_all_arrays() {
    const SIZE: u64 = 1 << 20;
    for (op, stores, arrays) in [
        (Op::Read, Stores::Temporal, 1),
        (Op::Write, Stores::Temporal, 1),
        (Op::Write, Stores::NonTemporal, 1),
        (Op::Copy, Stores::Temporal, 2),
        (Op::Copy, Stores::NonTemporal, 1),
        (Op::Triad, Stores::Temporal, 3),
        (Op::Triad, Stores::NonTemporal, 2),
    ] {
        let Some(hot) = find(op, stores, Isa::Sse2) else { continue };
        let layout = Layout::new(op, SIZE, 1).unwrap();
        let arena = Arena::get(layout.bytes(), Pages::Small, 1).unwrap();
        let mut part = StreamLoad::new((op, hot, stores), &arena, &layout, 0, true);
        part.run(3);
        part.begin();
        part.run(layout.segments);
        assert_eq!(part.verify(), Ok(layout.segments));
        let v = part.visits().unwrap();
        assert_eq!((v.place_bytes * v.round, v.visits), (SIZE, 3 + layout.segments), "{op:?}");
        assert_eq!(v.round_bytes, arrays * SIZE, "{op:?} {stores:?}");
    }
}
