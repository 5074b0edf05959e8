use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use proofmark_engine::raw_ns;
use proofmark_testing::skip;

use super::super::content::Content;
use super::super::file::Unnamed;
use super::super::file::testing::Folder;
use super::*;

/// Blocks in order of offsets, all read or all written, with the data of [`Content`].
#[derive(Default)]
pub(super) struct Ordered {
    pub(super) write: bool,
    block: u64,
    begun: u64,
    ended: Vec<u64>,
    times: Vec<Option<u64>>,
    wrong: usize,
    most: usize,
    panics: bool,
}

impl Ordered {
    pub(super) fn new(write: bool, block: usize) -> Self {
        Self { write, block: block as u64, ..Self::default() }
    }

    /// Asserts that `count` I/Os were each done once, correctly, with at most `depth` in flight.
    pub(super) fn check(&self, count: u64, depth: usize, what: &str) {
        let mut offsets = self.ended.clone();
        offsets.sort_unstable();
        assert!(offsets.into_iter().eq((0..count).map(|i| i * self.block)), "{what}");
        assert_eq!(self.wrong, 0, "{what}");
        assert_eq!(self.most, depth.min(count as usize), "{what}: in flight");
        let timed = self.times.iter().filter(|t| t.is_some_and(|t| t > 0)).count() as u64;
        assert_eq!(timed, count.div_ceil(2), "{what}: every second one is timed");
    }
}

impl Source for Ordered {
    fn next(&mut self, _: usize, buffer: &mut [u8]) -> Io {
        let (offset, timed) = (self.begun * self.block, self.begun.is_multiple_of(2));
        self.begun += 1;
        self.most = self.most.max(self.begun as usize - self.ended.len());
        if self.write {
            Content::new().fill(buffer, offset, 7);
        }
        Io { write: self.write, offset, timed }
    }

    fn done(&mut self, io: Io, buffer: &[u8], nanoseconds: Option<u64>) {
        assert!(!self.panics, "it panics on purpose");
        assert_eq!(io.write, self.write);
        self.ended.push(io.offset);
        self.times.push(nanoseconds);
        let content = Content::new();
        let right = content.check_all(buffer, io.offset).is_ok()
            && content.generation(buffer, io.offset).is_none_or(|g| g == 7);
        self.wrong += usize::from(!right);
    }
}

const MIB: usize = 1 << 20;

/// Returns the engines with their depths, as far as the system allows them.
#[track_caller]
fn kinds() -> Vec<(Kind, usize)> {
    let file = zero_file(512);
    let mut kinds = Vec::new();
    for kind in Kind::ALL {
        let depths: &[usize] = if kind.queues() { &[1, 2, 32] } else { &[1] };
        match Engine::new(kind, file.buffered.as_fd(), 512, 1) {
            Ok(_) => kinds.extend(depths.iter().map(|depth| (kind, *depth))),
            Err(reason) => skip(reason.0),
        }
    }
    kinds
}

fn written_and_read(file: BorrowedFd, blocks: &[usize]) {
    for (kind, depth) in kinds() {
        for block in blocks.iter().copied() {
            let what = format!("{kind:?} {depth} {block}");
            let count = (4 * MIB / block).clamp(1, 100) as u64;
            let mut engine = Engine::new(kind, file, block, depth).unwrap();
            for write in [true, false] {
                let mut source = Ordered::new(write, block);
                assert_eq!(engine.run(0, &mut source), Ok(()));
                assert_eq!(source.begun, 0, "{what}");
                assert_eq!(engine.run(count, &mut source), Ok(()), "{what}");
                source.check(count, depth, &what);
            }
        }
    }
}

#[test]
fn written_data_are_read_through_the_page_cache_and_past_it() {
    let file = Folder::new().unnamed(4 << 20);
    written_and_read(file.buffered.as_fd(), &[1, 8, 512, 4096, 4097, MIB]);
    match file.direct() {
        Ok(fd) => written_and_read(fd, &[512, 4096, 65536, MIB]),
        Err(reason) => skip(reason.0),
    }
}

fn zero_file(size: u64) -> Unnamed {
    let file = Folder::new().unnamed(size);
    file.buffered.set_len(size).unwrap();
    file
}

#[test]
fn the_end_of_the_file_is_reported_with_its_offset_and_nothing_stays_in_flight() {
    for (kind, depth) in kinds() {
        // The file has two and a half blocks.
        let file = zero_file(5 * 2048);
        let mut engine = Engine::new(kind, file.buffered.as_fd(), 4096, depth).unwrap();
        let reason = engine.run(100, &mut Ordered::new(false, 4096)).unwrap_err();
        let short = "reading 4096 B at offset 8192 of the test file: only 2048 B were transferred";
        let none = "of the test file: only 0 B were transferred";
        // The first observed failure counts. With a queue it may be that of a later block.
        assert!(
            reason == short || (depth > 1 && reason.contains(none)),
            "{kind:?} {depth}: {reason}"
        );
        file.buffered.set_len(1 << 20).unwrap();
        let mut source = Ordered::new(false, 4096);
        assert_eq!(engine.run(50, &mut source), Ok(()), "the engine can go on");
        assert_eq!(source.ended.len(), 50);
    }
}

#[test]
fn the_systems_words_are_reported() {
    for (kind, depth) in kinds() {
        let file = File::open(std::env::current_exe().unwrap()).unwrap();
        let mut engine = Engine::new(kind, file.as_fd(), 512, depth).unwrap();
        let mut source = Ordered::new(true, 512);
        let reason = engine.run(100, &mut source).unwrap_err();
        assert!(reason.starts_with("writing 512 B at offset "), "{reason}");
        assert!(reason.contains("failed: Bad file descriptor"), "{kind:?} {depth}: {reason}");
        assert!(source.begun <= depth as u64, "none is begun after a failure");
    }
}

#[test]
fn dropping_waits_for_ios_that_a_panic_left_in_flight() {
    let file = Folder::new().unnamed(8 << 20);
    let mut source = Ordered { panics: true, ..Ordered::new(true, MIB) };
    let mut engine = match Engine::new(Kind::Uring, file.buffered.as_fd(), MIB, 8) {
        Ok(engine) => engine,
        Err(reason) => return skip(reason.0),
    };
    let run = catch_unwind(AssertUnwindSafe(|| engine.run(8, &mut source)));
    assert!(run.is_err());
    drop(engine);
    let mut read = vec![0; 8 * MIB];
    file.buffered.read_exact_at(&mut read, 0).unwrap();
    assert_eq!(Content::new().check_all(&read, 0), Ok(()));
}

#[test]
fn without_registered_files_and_buffers_it_is_the_same() {
    let file = Folder::new().unnamed(1 << 20);
    let own = file.buffered.try_clone().unwrap().into();
    let mut uring = match uring::Uring::new(own, 4096, 4) {
        Ok(uring) => uring.unregistered(),
        Err(reason) => return skip(reason.0),
    };
    for write in [true, false] {
        let mut source = Ordered::new(write, 4096);
        assert_eq!(uring.run(100, &mut source), Ok(()));
        source.check(100, 4, "unregistered");
    }
}

/// Blocks that take long to process once they are read.
#[derive(Default)]
struct Slow {
    begun: u64,
    in_flight_ns: u64,
}

impl Source for Slow {
    fn next(&mut self, _: usize, _: &mut [u8]) -> Io {
        self.begun += 1;
        Io { write: false, offset: (self.begun - 1) % 64 * 4096, timed: true }
    }

    fn done(&mut self, _: Io, _: &[u8], nanoseconds: Option<u64>) {
        self.in_flight_ns += nanoseconds.unwrap();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_micros(100) {}
    }
}

#[test]
fn the_time_until_the_thread_takes_a_completion_is_part_of_its_latency() {
    let file = zero_file(64 * 4096);
    for (kind, depth) in kinds().into_iter().filter(|(_, depth)| *depth > 1) {
        let mut engine = Engine::new(kind, file.buffered.as_fd(), 4096, depth).unwrap();
        let (begun, mut source) = (raw_ns(), Slow::default());
        engine.run(40 * depth as u64, &mut source).unwrap();
        let mean = source.in_flight_ns as f64 / (raw_ns() - begun) as f64;
        // The one that is being processed is not in flight.
        let depth = depth as f64;
        assert!((0.9 * (depth - 1.0)..=depth).contains(&mean), "{mean} of {depth}");
    }
}
