//! Compares the touched blocks that a trial reports with every block that its loop received.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use proofmark_engine::{Load, touched};
use proofmark_model::Touched;
use proptest::prelude::*;

use super::body::{Area, Blocks as Visited};
use super::*;

thread_local! {
    /// Blocks that the body below received, in order.
    static GIVEN: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// Records the blocks and touches nothing.
unsafe fn notes(_: &Area, blocks: Visited<'_>, _: u8) -> u64 {
    GIVEN.with_borrow_mut(|given| match blocks {
        Visited::Row(first, count) => given.extend((first..first + count).map(|b| b as u32)),
        Visited::List(list) => given.extend_from_slice(list),
    });
    0
}

/// Counts the touched blocks one by one. The trial's blocks begin at index `from`.
fn counted(given: &[u32], from: usize, block_size: u64) -> Touched {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    given[from..].iter().for_each(|block| *counts.entry(*block).or_default() += 1);
    let mut last: HashMap<u32, usize> = HashMap::new();
    let mut reuse: Option<u64> = None;
    for (at, block) in given.iter().enumerate() {
        let Some(before) = last.insert(*block, at).filter(|_| at >= from) else { continue };
        // All have the same distance to their previous visit, so a sample is enough.
        if at.is_multiple_of(97) || reuse.is_none() {
            let bytes = lines(&given[before..at], block_size);
            reuse = Some(reuse.map_or(bytes, |least| least.min(bytes)));
        }
    }
    Touched {
        place_bytes: block_size,
        places: counts.len() as u64,
        least_visits: counts.values().copied().min().unwrap_or(0),
        most_visits: counts.values().copied().max().unwrap_or(0),
        reuse_bytes: reuse,
    }
}

/// Returns the bytes of the lines of these blocks.
fn lines(blocks: &[u32], block_size: u64) -> u64 {
    let lines = |block: &u32| {
        let first = u64::from(*block) * block_size;
        first / LINE..(first + block_size).div_ceil(LINE)
    };
    LINE * blocks.iter().flat_map(lines).collect::<BTreeSet<u64>>().len() as u64
}

fn task(random: bool, block_size: u64, data_size: u64) -> Task {
    let shape = Shape { threads: 1, block_size, data_size };
    Task::new(Operation::Read, random, shape, Pages::Small).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// A wrong calibrated speed may change how many blocks are prepared, and how many run in a
    /// slice and ahead. It must not change how soon a block is visited again.
    #[test]
    fn reported_blocks_are_the_touched_ones_at_any_calibrated_speed(
        random: bool,
        block_size in prop::sample::select(vec![1_u64, 8, 64, 1024]),
        blocks in 64_u64..700,
        wrong in -6.0..6.0_f64,
        trials in prop::collection::vec((0_u64..300, prop::collection::vec(1_u64..400, 1..6)), 1..4),
    ) {
        let mut part = task(random, block_size, block_size.max(64) * blocks).part(0, 1);
        part.body = notes;
        GIVEN.with_borrow_mut(Vec::clear);
        for (ahead, slices) in trials {
            let (before, from) = (part.visits().unwrap(), GIVEN.with_borrow(Vec::len));
            let right: u64 = ahead + slices.iter().sum::<u64>();
            part.prepare((right as f64 * 10_f64.powf(wrong)) as u64);
            part.run(ahead);
            part.begin();
            slices.iter().for_each(|iterations| part.run(*iterations));
            let reported = touched(&[[before, part.visits().unwrap()]]);
            let expected = GIVEN.with_borrow(|given| counted(given, from, block_size));
            prop_assert_eq!(reported, Some(expected));
        }
    }
}

/// However short a trial was estimated: every block, or every line of small blocks, is visited
/// before any block is visited again.
#[test]
fn no_block_comes_again_before_nearly_all_of_the_data() {
    const DATA: u64 = 8 << 20;
    for threads in [1, 2, 7] {
        for block_size in [1, 8, 64, 1024, 8192] {
            let shape = Shape { threads, block_size, data_size: DATA };
            let task = Task::new(Operation::Read, true, shape, Pages::Small).unwrap();
            let visits = |part: &load::BlockLoad| part.visits().unwrap();
            let parts = (0..threads).map(|i| {
                let mut part = task.part(i, threads);
                part.prepare(1);
                let before = visits(&part);
                part.run(2 * before.round);
                [before, visits(&part)]
            });
            let all = touched(&parts.collect::<Vec<_>>()).unwrap();
            let reuse = all.reuse_bytes.unwrap();
            assert!(reuse > DATA / 100 * 95 && reuse <= DATA, "{threads}, {block_size} B: {all:?}");
            assert_eq!((all.least_visits, all.most_visits), (2, 2));
        }
    }
}
