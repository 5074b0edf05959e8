//! Disk workloads with a planted fault (feature `faults`).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use proofmark_engine::Refusal;
use proofmark_model::{Role, WorkloadSpec};
use rustix::fs::{FallocateFlags, fallocate, ftruncate};
use rustix::io::Errno;

use super::file::TestFile;
use super::load::{FOLDER, Task};
use super::order::Order;
use super::shape::{Cache, Operation, Shape};
use super::{Disk, spec};

#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    /// I/Os use a warm page cache, regardless of the parameters.
    Cached,
    /// The function damaged the file, and the read data are not verified.
    Spoiled(fn(&TestFile) -> io::Result<()>),
    /// Written data are lost before they are read back.
    Lost,
}

/// Declares the workloads: name, id, operation, summary, fault.
macro_rules! faults {
    ($($name:ident = $id:literal $operation:ident $summary:literal $fault:expr;)*) => {
        $(pub(crate) static $name: Disk = {
            const OPERATION: Operation = Operation::$operation;
            static SPEC: WorkloadSpec = spec::blocks(($id, "Fault", $summary), OPERATION, true, Role::NONE);
            Disk { spec: &SPEC, operation: OPERATION, order: Order::Rand, fault: Some($fault) }
        };)*
    };
}

faults! {
    CACHED = "test.disk.cached" Read "Reads through a warm page cache, regardless of its parameters."
        Fault::Cached;
    SPARSE = "test.disk.sparse" Read "Reads a file that consists of one hole." Fault::Spoiled(hole);
    FALLOCATED = "test.disk.fallocated" Read "Reads a file with reserved space, but without data."
        Fault::Spoiled(space);
    ZEROS = "test.disk.zeros" Read "Reads a file of zeros." Fault::Spoiled(zeros);
    LOST = "test.disk.lost" Write "Loses the data that it writes." Fault::Lost;
}

/// Replaces the contents of a file by one hole.
fn hole(file: &TestFile) -> io::Result<()> {
    ftruncate(file.buffered(), 0)?;
    Ok(ftruncate(file.buffered(), file.size)?)
}

/// Reserves the space of a file without writing data, where the file system supports that.
fn space(file: &TestFile) -> io::Result<()> {
    hole(file)?;
    match fallocate(file.buffered(), FallocateFlags::empty(), 0, file.size) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        done => Ok(done?),
    }
}

fn zeros(file: &TestFile) -> io::Result<()> {
    let fd = File::from(file.buffered().try_clone_to_owned()?);
    file.in_blocks(|block, offset| {
        block.fill(0);
        fd.write_all_at(block, offset)
    })
}

impl Fault {
    /// Creates the shared state of a configuration with this fault.
    pub(super) fn task(self, kind: (Operation, Order), mut shape: Shape) -> Result<Task, Refusal> {
        if let Self::Cached = self {
            (shape.direct, shape.cache) = (false, Cache::Warm);
        }
        let file = TestFile::new(Path::new(FOLDER), shape.file_size)?;
        if let Self::Spoiled(spoil) = self {
            spoil(&file).map_err(|e| Refusal(format!("the fault cannot be planted: {e}")))?;
        }
        let mut task = Task::on(Arc::new(file), kind, shape)?;
        task.before_check = match self {
            Self::Cached => None,
            Self::Spoiled(_) => Some(|_, run| {
                run.wrong = None;
                Ok(())
            }),
            Self::Lost => Some(|file, _| file.lay_out().map_err(|e| e.to_string())),
        };
        Ok(task)
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::FileState;
    use proofmark_testing::skip;

    use super::*;
    use crate::params::testing::{WorkloadExt, params};

    /// Returns the state of the file after a trial, which passes verification.
    fn state_after(workload: &Disk, direct: bool) -> Option<FileState> {
        let words = if direct { "direct=on cache=none" } else { "direct=off cache=cold" };
        let params = params(&format!(
            "threads=1 block_size=4096 queue_depth=1 file_size=2097152 engine=psync flush=end {words}"
        ));
        let setup = match workload.setup(&params) {
            Err(Refusal(reason)) if direct => {
                skip(reason);
                return None;
            }
            setup => setup.unwrap(),
        };
        let mut load = setup.thread(0, 1).unwrap();
        load.prepare(100);
        load.run(100);
        assert_eq!(load.failure(), None);
        assert_eq!(load.verify(), Ok(100));
        setup.file()
    }

    #[test]
    fn spoiled_files_are_shown_by_their_state() {
        type HasState = fn(&FileState) -> bool;
        let unwritten: HasState = |state| state.unwritten.is_none_or(|share| share == 1.0);
        let zeros: HasState = |state| state.entropy_bits == Some(0.0);
        for (workload, reported) in
            [(&SPARSE, unwritten), (&FALLOCATED, unwritten), (&ZEROS, zeros)]
        {
            for direct in [true, false] {
                let Some(state) = state_after(workload, direct) else { continue };
                assert!(reported(&state), "{direct} {state:?}");
            }
        }
    }
}
