//! Disk workloads that do not do what they say: honest ones with a fault planted around
//! them. In debug builds only.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use proofmark_engine::{Amount, Latencies, Load, Refusal, Setup, Workload};
use proofmark_model::{FileState, Host, Params, Role, WorkloadSpec};
use rustix::fs::{FallocateFlags, fallocate, ftruncate};
use rustix::io::Errno;

use super::file::TestFile;
use super::load::{Blocks, FOLDER, Task};
use super::order::Order;
use super::shape::{Cache, Operation, Shape};
use super::{Disk, spec};

/// What is wrong with a workload.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// Its I/Os go through a warm page cache, whatever its parameters say.
    Cached,
    /// This was done to the file, and what is read is not looked at.
    Spoiled(fn(&TestFile) -> io::Result<()>),
    /// What it writes is gone again before it is read back.
    Lost,
}

/// A workload with a fault.
#[derive(Debug)]
pub(crate) struct Planted {
    disk: Disk,
    fault: Fault,
}

/// Declares them: name, id, operation, summary, fault.
macro_rules! faults {
    ($($name:ident = $id:literal $operation:ident $summary:literal $fault:expr;)*) => {
        $(pub(crate) static $name: Planted = {
            const OPERATION: Operation = Operation::$operation;
            static SPEC: WorkloadSpec = spec::blocks(($id, "Fault", $summary), OPERATION, true, Role::NONE);
            let disk = Disk { spec: &SPEC, operation: OPERATION, order: Order::Rand };
            Planted { disk, fault: $fault }
        };)*
    };
}

faults! {
    CACHED = "test.disk.cached" Read "Reads what the page cache holds, whatever its parameters say."
        Fault::Cached;
    SPARSE = "test.disk.sparse" Read "Reads a file that is one hole." Fault::Spoiled(hole);
    FALLOCATED = "test.disk.fallocated" Read "Reads a file that was given space, but no data."
        Fault::Spoiled(space);
    ZEROS = "test.disk.zeros" Read "Reads a file of zeros." Fault::Spoiled(zeros);
    LOST = "test.disk.lost" Write "Loses what it writes." Fault::Lost;
}

/// Leaves a file its size alone: one hole.
fn hole(file: &TestFile) -> io::Result<()> {
    ftruncate(file.buffered(), 0)?;
    Ok(ftruncate(file.buffered(), file.size())?)
}

/// Leaves a file its space, but nothing written, where the file system can do that.
fn space(file: &TestFile) -> io::Result<()> {
    hole(file)?;
    match fallocate(file.buffered(), FallocateFlags::empty(), 0, file.size()) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        done => Ok(done?),
    }
}

/// Fills a file with zeros.
fn zeros(file: &TestFile) -> io::Result<()> {
    let fd = File::from(file.buffered().try_clone_to_owned()?);
    file.in_blocks(|block, offset| {
        block.fill(0);
        fd.write_all_at(block, offset)
    })
}

impl Workload for Planted {
    fn spec(&self) -> &'static WorkloadSpec {
        self.disk.spec()
    }

    fn resolve_auto(&self, params: Params, host: &Host) -> Vec<Params> {
        self.disk.resolve_auto(params, host)
    }

    fn memory_bytes(&self, params: &Params) -> u64 {
        self.disk.memory_bytes(params)
    }

    fn disk_bytes(&self, params: &Params) -> u64 {
        self.disk.disk_bytes(params)
    }

    fn supports(&self, params: &Params) -> Result<(), Refusal> {
        self.disk.supports(params)
    }

    fn setup(&self, params: &Params) -> Result<Box<dyn Setup>, Refusal> {
        let Disk { operation, order, .. } = self.disk;
        let mut shape = Shape::from_params(operation, params)?;
        if let Fault::Cached = self.fault {
            (shape.direct, shape.cache) = (false, Cache::Warm);
        }
        let file = TestFile::new(Path::new(FOLDER), shape.file_size)?;
        if let Fault::Spoiled(spoil) = self.fault {
            spoil(&file).map_err(|e| Refusal(format!("the fault cannot be planted: {e}")))?;
        }
        let task = Arc::new(Task::on(Arc::new(file), (operation, order), shape)?);
        Ok(Box::new(Lying { blocks: Blocks(task), fault: self.fault }))
    }

    fn verification(&self) -> &'static str {
        self.disk.verification()
    }
}

/// A point of such a workload.
struct Lying {
    blocks: Blocks,
    fault: Fault,
}

impl Setup for Lying {
    fn amount(&self) -> Amount {
        self.blocks.amount()
    }

    fn work_per_iteration(&self) -> f64 {
        self.blocks.work_per_iteration()
    }

    fn on_disk(&self) -> bool {
        self.blocks.on_disk()
    }

    fn file(&self) -> Option<FileState> {
        self.blocks.file()
    }

    fn pinned(&self) -> bool {
        self.blocks.pinned()
    }

    fn ahead_s(&self, trial_s: f64) -> f64 {
        self.blocks.ahead_s(trial_s)
    }

    fn thread(&self, index: usize, of: usize) -> Result<Box<dyn Load>, Refusal> {
        let (task, fault) = (Arc::clone(&self.blocks.0), self.fault);
        Ok(Box::new(Liar { honest: self.blocks.thread(index, of)?, task, fault }))
    }
}

/// One thread of it.
struct Liar {
    honest: Box<dyn Load>,
    task: Arc<Task>,
    fault: Fault,
}

impl Load for Liar {
    fn prepare(&mut self, iterations: u64) {
        self.honest.prepare(iterations);
    }

    fn run(&mut self, iterations: u64) {
        self.honest.run(iterations);
    }

    fn failure(&mut self) -> Option<String> {
        self.honest.failure()
    }

    fn latencies(&mut self, all: &mut Latencies) {
        self.honest.latencies(all);
    }

    fn verify(&mut self) -> Result<u64, String> {
        match self.fault {
            Fault::Cached => self.honest.verify(),
            // Report each fault once.
            Fault::Spoiled(_) => self.honest.verify().or_else(|_| self.honest.verify()),
            Fault::Lost => {
                self.task.file().lay_out().map_err(|e| e.to_string())?;
                self.honest.verify()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::extents::unwritten_share;
    use super::super::file::testing::{Folder, skip};
    use super::*;
    use crate::params::testing::params;

    const MIB: u64 = 1 << 20;

    fn trial(workload: &Planted, direct: bool) -> Option<(Result<u64, String>, FileState)> {
        let words = if direct { "direct=on cache=none" } else { "direct=off cache=cold" };
        let params = params(&format!(
            "threads=1 block_size=4096 queue_depth=1 file_size=2097152 engine=psync flush=end {words}"
        ));
        let setup = match workload.setup(&params) {
            Err(Refusal(reason)) if direct => {
                skip("a planted fault", &reason);
                return None;
            }
            setup => setup.unwrap(),
        };
        let mut load = setup.thread(0, 1).unwrap();
        load.prepare(100);
        load.run(100);
        assert_eq!(load.failure(), None);
        let counted = load.verify();
        Some((counted, setup.file().unwrap()))
    }

    #[test]
    fn a_planted_cache_is_shown_by_the_state_of_the_file() {
        let Some((counted, state)) = trial(&CACHED, true) else { return };
        assert_eq!(counted, Ok(100));
        assert_eq!(state.direct, Some(false), "whatever the parameters say");
        assert!(state.cached.is_none_or(|share| share == 1.0), "{state:?}");
    }

    #[test]
    fn spoiled_files_are_shown_by_their_state() {
        type Told = fn(&FileState) -> bool;
        let unwritten: Told = |state| state.unwritten.is_none_or(|share| share == 1.0);
        let zeros: Told = |state| state.entropy_bits == Some(0.0);
        for (workload, reported) in
            [(&SPARSE, unwritten), (&FALLOCATED, unwritten), (&ZEROS, zeros)]
        {
            for direct in [true, false] {
                let Some((counted, state)) = trial(workload, direct) else { continue };
                assert_eq!(counted, Ok(100));
                assert!(reported(&state), "{direct} {state:?}");
            }
        }
    }

    #[test]
    fn spoiled_files_hold_what_their_names_say() {
        let folder = Folder::new();
        let size = 2 * MIB;
        let cases: [(fn(&TestFile) -> _, _, _); 3] = [
            (hole, 1.0, 0..=65_536),
            (space, 1.0, 0..=size + 65_536),
            (zeros, 0.0, size..=2 * size),
        ];
        for (spoil, unwritten, space) in cases {
            let file = TestFile::new(folder.path(), size).unwrap();
            spoil(&file).unwrap();
            file.evict().unwrap();
            let mut held = vec![1; size as usize];
            let fd = File::from(file.buffered().try_clone_to_owned().unwrap());
            fd.read_exact_at(&mut held, 0).unwrap();
            assert!(
                held.iter().all(|byte| *byte == 0) && file.content().check(&held, 0, 0).is_err()
            );
            let taken = rustix::fs::fstat(&fd).unwrap().st_blocks as u64 * 512;
            match unwritten_share(file.buffered(), size) {
                None => skip("spoiled files", "the file system does not tell extents"),
                Some(share) => {
                    assert!(share == unwritten && space.contains(&taken), "{share} {taken}")
                }
            }
        }
    }

    #[test]
    fn what_is_lost_is_found_when_it_is_read_back() {
        for direct in [true, false] {
            let Some((counted, _)) = trial(&LOST, direct) else { continue };
            let reason = counted.unwrap_err();
            assert!(reason.contains("the last write is missing"), "{reason}");
        }
    }
}
