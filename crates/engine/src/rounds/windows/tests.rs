use super::*;

const SLICE_S: f64 = 20e-6;

/// A thread on this CPU of this core that does one iteration per slice, except for these gaps. A
/// slice with a gap ends after it.
fn track(cpu: u32, core: u32, seconds: f64, gaps: &[(f64, f64)]) -> Track {
    let (mut slices, mut from) = (Vec::new(), 0.0);
    while from < seconds {
        let inside = |at: f64| gaps.iter().find(|(start, _)| (at..at + SLICE_S).contains(start));
        let to = from + SLICE_S + inside(from).map_or(0.0, |(_, length)| *length);
        slices.push(Slice { from, to, work: 1.0 });
        from = to;
    }
    Track { cpu, core, slices, ..Track::default() }
}

const RATE: f64 = 1.0 / SLICE_S;

fn core_shape() -> Shape {
    Shape::new(Cut::Core, SLICE_S)
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!((found / expected - 1.0).abs() < 1e-3, "{found}, not {expected}");
}

/// Gaps of this length every so often.
fn gaps(every: f64, length: f64, seconds: f64) -> Vec<(f64, f64)> {
    (0..(seconds / every) as usize).map(|i| (i as f64 * every + 0.1e-3, length)).collect()
}

#[test]
fn what_is_taken_in_bursts_leaves_the_rate_of_clean_windows_as_it_is() {
    for (every, length) in [(4e-3, 1e-3), (2e-3, 1e-3), (20e-3, 10e-3)] {
        let taken = track(0, 0, 0.1, &gaps(every, length, 0.1));
        let cores = cores(&[taken], 0.1, core_shape(), 1);
        near(cores[0].attainable, RATE);
        near(cores[0].typical(), RATE);
        let clean_s = cores[0].clean_s(core_shape());
        assert!((0.03..0.08).contains(&clean_s), "{clean_s}");
    }
}

#[test]
fn no_window_is_clean_where_every_one_has_a_gap() {
    let taken = track(0, 0, 0.1, &gaps(2e-4, 1e-4, 0.1));
    let cores = cores(&[taken], 0.1, core_shape(), 1);
    assert_eq!(cores[0].attainable, None);
    assert_eq!(cores[0].clean_s(core_shape()), 0.0);
}

#[test]
fn a_thread_that_was_held_back_in_every_slice_has_no_clean_window() {
    let slice = |from: f64| Slice { from, to: from + 0.01, work: 1.0 };
    let held = Track { cpu: 1, core: 1, ..Track::default() };
    let held = Track { slices: (0..10).map(|i| slice(0.01 * f64::from(i))).collect(), ..held };
    for shape in [core_shape(), Shape::new(Cut::Bus, SLICE_S)] {
        let core = cores(std::slice::from_ref(&held), 0.1, shape, 2);
        assert_eq!((core[0].attainable, core[0].clean_s(shape)), (None, 0.0));
    }
}

#[test]
fn cores_are_summed_and_the_threads_of_one_are_looked_at_together() {
    let free = |cpu, core| track(cpu, core, 0.1, &[]);
    let cores_of = |tracks: &[Track]| cores(tracks, 0.1, core_shape(), 64);
    let apart = cores_of(&[free(0, 0), free(1, 1)]);
    assert_eq!(apart.len(), 2);
    near(apart.iter().map(|c| c.attainable).sum(), 2.0 * RATE);
    let siblings = cores_of(&[free(0, 0), free(1, 0)]);
    assert_eq!(siblings.len(), 1);
    near(siblings[0].attainable, 2.0 * RATE);
    // While one sibling's thread is stopped, the other is faster than its share.
    let mut faster = free(1, 0);
    faster.slices.iter_mut().filter(|s| s.from > 0.05).for_each(|s| s.work = 1.4);
    let held = track(0, 0, 0.1, &[(0.05, 0.06)]);
    near(cores_of(&[held, faster])[0].attainable, 2.0 * RATE);
}

#[test]
fn many_cores_do_not_wait_for_a_moment_when_all_are_free() {
    // Each of 256 CPUs loses 5 % at other times, so no window is free on all.
    let tracks: Vec<Track> = (0..256_u32)
        .map(|cpu| {
            let shifted = |(at, length): (f64, f64)| (at + f64::from(cpu % 97) * 2e-4, length);
            let gaps: Vec<_> = gaps(20e-3, 1e-3, 0.1).into_iter().map(shifted).collect();
            track(cpu, cpu, 0.1, &gaps)
        })
        .collect();
    let all = cores(&tracks, 0.1, core_shape(), 256);
    near(all.iter().map(|c| c.attainable).sum(), 256.0 * RATE);
}

#[test]
fn threads_that_take_turns_on_a_cpu_are_one_cpu() {
    // Each runs for 3 ms while the other waits.
    let turn = |first: f64| {
        let gaps: Vec<_> = (0..20).map(|i| (first + f64::from(i) * 6e-3, 3e-3)).collect();
        track(0, 0, 0.1, &gaps)
    };
    let mut late = turn(0.0);
    late.slices.retain(|s| s.to <= 0.1);
    let both = cores(&[late, turn(3e-3)], 0.1, core_shape(), 2);
    assert_eq!(both.len(), 1);
    near(both[0].attainable, RATE);
    let unpinned = |thread| Track { cpu: thread, core: u32::MAX, ..track(0, 0, 0.1, &[]) };
    let spread = cores(&[unpinned(0), unpinned(1)], 0.1, core_shape(), 2);
    near(spread[0].attainable, 2.0 * RATE);
}

#[test]
fn our_own_readings_of_the_clock_cost_nothing() {
    let mut read = track(0, 0, 0.1, &[]);
    for i in 0..100 {
        let at = f64::from(i) * 1e-3;
        read.slices.retain(|s| s.to <= at + 1e-9 || s.from >= at + 19e-6);
        read.pauses.push((at, 20e-6));
    }
    let cores = cores(&[read], 0.1, core_shape(), 1);
    near(cores[0].typical(), RATE);
    assert!(cores[0].clean_s(core_shape()) > 0.099);
}

#[test]
fn threads_on_a_bus_share_windows_and_slow_slices_of_theirs_are_no_gaps() {
    let shape = Shape::new(Cut::Bus, SLICE_S);
    let mut slow = track(0, 0, 0.1, &[]);
    // Every tenth slice takes three times as long, as when a page is walked.
    let mut shift = 0.0;
    for (i, slice) in slow.slices.iter_mut().enumerate() {
        slice.from += shift;
        shift += if i % 10 == 0 { 2.0 * SLICE_S } else { 0.0 };
        slice.to += shift;
    }
    let held = track(1, 1, 0.1, &[(0.02, 0.03)]);
    let all = cores(&[slow, held], 0.1, shape, 2);
    assert_eq!(all.len(), 1);
    let clean_s = all[0].clean_s(shape);
    assert!((clean_s - 0.07).abs() < 2.1e-3, "{clean_s}");
    near(all[0].typical(), RATE / 1.2 + RATE);
}

#[test]
fn what_was_worked_outside_of_a_stretch_leaves_out_gaps_at_its_edges() {
    let shape = Shape::new(Cut::Core, 2e-5);
    // From 1 ms before to 1 ms after, except for a gap across the start and a long one across the
    // end.
    let slice = |from: f64, to: f64| Slice { from, to, work: 1.0 };
    let each = |from: f64, n: usize| (0..n).map(move |i| from + 2e-5 * i as f64);
    let mut slices: Vec<Slice> = each(-1e-3, 40).map(|at| slice(at, at + 2e-5)).collect();
    slices.push(slice(-2e-4, 3e-4));
    slices.extend(each(3e-4, 485).map(|at| slice(at, at + 2e-5)));
    slices.push(slice(0.01, 0.085));
    slices.extend(each(0.085, 5).map(|at| slice(at, at + 2e-5)));
    let track = Track { slices, pauses: vec![(-5e-4, 1e-5), (5e-3, 1e-5)], ..Track::default() };
    let outside_s = track.worked_outside_s(shape, 0.05);
    // 40 slices and a pause before, and 5 after; at most one slice of each gap.
    let expected = 45.0 * 2e-5 + 1e-5 + 2.0 * 2e-5;
    assert!((outside_s - expected).abs() < 1e-9, "{outside_s} for {expected}");
}

/// The windows of a thread that is twice as fast while no load is there, from 40 to 70 ms.
fn beside_load(away: &[Vec<(f64, f64)>]) -> Core {
    let mut works = track(0, 0, 0.1, &[]);
    let alone = |s: &&mut Slice| s.from >= 0.04 && s.to <= 0.07;
    works.slices.iter_mut().filter(alone).for_each(|s| s.work = 2.0);
    let shape = Shape::new(Cut::Bus, SLICE_S);
    let mut cores = cores(&[works], 0.1, shape, 1);
    without_load(&mut cores, away, shape);
    cores.swap_remove(0)
}

#[test]
fn windows_in_which_the_load_was_away_are_not_clean() {
    let shape = Shape::new(Cut::Bus, SLICE_S);
    let core = beside_load(&[vec![(0.04, 0.0701)]]);
    near(core.typical(), RATE);
    near(core.attainable, RATE);
    let clean_s = core.clean_s(shape);
    assert!((0.068..0.0705).contains(&clean_s), "{clean_s}");
    for whole in [&[][..], &[vec![]]] {
        near(beside_load(whole).attainable, 2.0 * RATE);
        near(Some(beside_load(whole).clean_s(shape)), 0.1);
    }
    // Before and after the round.
    near(Some(beside_load(&[vec![(-0.2, -0.1), (-0.1, 1e-5), (0.2, 0.3)]]).clean_s(shape)), 0.1);
    near(beside_load(&[vec![(-0.1, 0.095)]]).typical(), RATE);
    let core = beside_load(&[vec![(-0.1, 0.3)]]);
    assert_eq!((core.typical(), core.attainable, core.clean_s(shape)), (None, None, 0.0));
}

#[test]
fn one_of_many_loading_threads_that_is_away_is_a_small_part_of_the_load() {
    let shape = Shape::new(Cut::Bus, SLICE_S);
    let of_threads = |threads: usize| {
        let mut away = vec![vec![]; threads];
        away[threads - 1] = vec![(0.0, 0.1)];
        beside_load(&away).clean_s(shape)
    };
    near(Some(of_threads(64)), 0.1);
    assert_eq!(of_threads(32), 0.0);
    // Together, they are.
    let away: Vec<_> = (0..64).map(|i| if i < 2 { vec![(0.0, 0.05)] } else { vec![] }).collect();
    near(Some(beside_load(&away).clean_s(shape)), 0.05);
}
