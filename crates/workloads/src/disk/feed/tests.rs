use super::super::shape::testing::SHAPE;
use super::*;

const MIXED: (Operation, Order) = (Operation::Mixed, Order::Rand);

fn shape(block: u64, reads: u64, direct: bool) -> Shape {
    Shape { block_size: block, queue_depth: 2, reads, direct, ..SHAPE }
}

fn feed(kind: (Operation, Order), shape: &Shape, part: Range<usize>) -> Feed {
    Feed::new(Content::new(), kind, shape, part)
}

/// Returns the I/Os of a run that all succeed at once.
fn run(feed: &mut Feed, count: u64, block: usize) -> Vec<Io> {
    let mut buffer = vec![0; block];
    feed.begin(5);
    let one = |_| {
        let io = feed.next(0, &mut buffer);
        if !io.write {
            Content::new().fill(&mut buffer, io.offset, 0);
        }
        feed.done(io, &buffer, io.timed.then_some(1000));
        io
    };
    (0..count).map(one).collect()
}

#[test]
fn reads_and_writes_are_mixed_as_asked() {
    for reads in [0, 1, 30, 50, 70, 99, 100] {
        let shape = shape(512, reads, true);
        let ios = run(&mut feed(MIXED, &shape, 0..5000), 1000, 512);
        let found = ios.iter().filter(|io| !io.write).count() as u64;
        assert_eq!(found, reads * 10);
        // Evenly: any hundred I/Os have the same number of reads.
        let hundred = ios[333..433].iter().filter(|io| !io.write).count() as u64;
        assert_eq!(hundred, reads);
    }
}

#[test]
fn a_copy_reads_the_first_half_and_writes_the_second_in_turn() {
    let shape = shape(512, 50, true);
    let mut feed = feed((Operation::Copy, Order::Seq), &shape, 10..19);
    let ios = run(&mut feed, 12, 512);
    let expected = [(10, false), (14, true), (11, false), (15, true), (12, false), (16, true)];
    let found: Vec<_> = ios.iter().map(|io| (io.offset / 512, io.write)).collect();
    assert_eq!(found[..6], expected);
    assert_eq!(found[8], (10, false), "round and round");
    assert!(found.iter().all(|(block, write)| (10..14).contains(block) != *write));
    assert_eq!(feed.run.moved, [6 * 512, 6 * 512]);
    assert_eq!(feed.run.done, 12);
}

#[test]
fn direct_ios_are_all_timed_and_of_buffered_ones_every_61st() {
    let direct = shape(512, 100, true);
    let mut all = feed((Operation::Read, Order::Seq), &direct, 0..5000);
    assert!(run(&mut all, 100, 512).iter().all(|io| io.timed));
    let buffered = shape(8, 100, false);
    let mut some = feed((Operation::Read, Order::Seq), &buffered, 0..5000);
    let timed: Vec<_> = run(&mut some, 700, 8).iter().map(|io| io.timed).collect();
    assert!(timed.iter().enumerate().all(|(i, timed)| *timed == i.is_multiple_of(61)));
    let summary = some.run.latencies.summary().unwrap();
    assert_eq!(summary.count, 12);
    // The next run continues where this one ended: 700 = 11 * 61 + 29.
    let first = run(&mut some, 61, 8).iter().position(|io| io.timed);
    assert_eq!(first, Some(61 - 29));
}

#[test]
fn some_places_of_what_was_written_are_kept_all_over_the_run() {
    let shape = shape(512, 70, true);
    for (count, kept) in [(1, 0..=1), (40, 12..=12), (10_000, 32..=64), (999, 32..=64)] {
        let mut feed = feed(MIXED, &shape, 0..20_000);
        let ios = run(&mut feed, count, 512);
        let written = &feed.run.written;
        assert!(kept.contains(&written.len()), "{count}: {}", written.len());
        let place =
            |offset: &u64| ios.iter().position(|io| io.write && io.offset == *offset).unwrap();
        let places: Vec<_> = written.iter().map(place).collect();
        let gap = count as usize / 32 + 8;
        assert!(places.first().is_none_or(|first| *first < 4), "{count}: {places:?}");
        assert!(places.last().is_none_or(|last| count as usize - last <= gap), "{places:?}");
        assert!(
            places.windows(2).all(|w| w[0] < w[1] && w[1] - w[0] <= gap),
            "{count}: {places:?}"
        );
    }
}

#[test]
fn a_buffer_that_was_read_into_is_filled_again() {
    let (shape, content) = (shape(512, 50, true), Content::new());
    let mut feed = feed(MIXED, &shape, 0..1);
    let mut buffer = vec![0; 512];
    feed.begin(1);
    for _ in 0..6 {
        let io = feed.next(0, &mut buffer);
        if io.write {
            assert_eq!(content.check_all(&buffer, 0), Ok(()));
        }
        buffer.fill(0xAA);
    }
}

#[test]
fn the_first_wrong_block_is_reported() {
    let shape = shape(512, 100, true);
    let mut feed = feed((Operation::Read, Order::Seq), &shape, 0..10);
    feed.begin(1);
    let mut buffer = vec![0; 512];
    for right in [true, false, false] {
        let io = feed.next(0, &mut buffer);
        Content::new().fill(&mut buffer, io.offset, 0);
        buffer[3] ^= u8::from(!right);
        feed.done(io, &buffer, None);
    }
    let wrong = feed.run.wrong.take().unwrap();
    assert!(wrong.starts_with("byte 515 of the test file"), "{wrong}");
    feed.begin(2);
    assert_eq!(feed.run.wrong, None, "another trial");
}

#[test]
fn the_first_blocks_are_each_looked_at_and_later_small_ones_by_chance() {
    // Runs reads of which one has wrong data, and returns true if it was detected.
    let seen = |wrong: u64, count: u64, block: usize| {
        let shape = shape(block as u64, 100, true);
        let mut feed = feed((Operation::Read, Order::Seq), &shape, 0..2);
        feed.begin(1);
        let right = [0, 1].map(|n| {
            let mut buffer = vec![0; block];
            Content::new().fill(&mut buffer, n * block as u64, 0);
            buffer
        });
        for i in 0..count {
            let io = feed.next(0, &mut []);
            feed.done(io, &right[((i + u64::from(i == wrong)) % 2) as usize], None);
        }
        feed.run.wrong.is_some()
    };
    assert!((0..10).all(|k| seen(k * 111, EACH, 512)));
    assert!((0..3).all(|k| seen(EACH + 5 + k, EACH + 10, LARGE)));
    // One in 16 of 2000: fewer than 60 or more than 200 have a probability of 10^-9.
    let small = (0..2000).filter(|_| seen(EACH + 5, EACH + 10, 512)).count();
    assert!((60..200).contains(&small), "{small}");
}
