//! Workloads that fail on purpose (feature `faults`). No list or profile contains them; they run
//! when named.

#![allow(unsafe_code)] // Sends a signal, runs an illegal instruction and flips a number in memory.

use proofmark_engine::{Amount, Configuration, Load, Refusal, Setup, Workload, wait_until};
use proofmark_model::{Pace, Params, Role, Subsystem, Unit, Work, WorkloadSpec};

use crate::cpu::isa::Isa;
use crate::declare::{Words, interleaved, rate};
use crate::disk::faults::{CACHED, FALLOCATED, LOST, SPARSE, ZEROS};
use crate::memory::{Loop, Op, STORING, Segment, Stores, Stream, find_loop};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Kill,
    Illegal,
    Wrong,
    Panic,
    Abandon,
    Refuse,
    Hoard,
}

/// Every faulty workload.
pub const ALL: &[&dyn Workload] = &[
    &Faulty { spec: const { &spec("test.kill") }, fault: Fault::Kill },
    &Faulty { spec: const { &spec("test.illegal") }, fault: Fault::Illegal },
    &Faulty { spec: const { &spec("test.wrong") }, fault: Fault::Wrong },
    &Faulty { spec: const { &spec("test.panic") }, fault: Fault::Panic },
    &Faulty { spec: const { &spec("test.abandon") }, fault: Fault::Abandon },
    &Faulty { spec: const { &spec("test.refuse") }, fault: Fault::Refuse },
    &Faulty { spec: const { &spec("test.hoard") }, fault: Fault::Hoard },
    &CORRUPT,
    &crate::device::Ops,
    &CACHED,
    &SPARSE,
    &FALLOCATED,
    &ZEROS,
    &LOST,
];

const fn spec(id: &'static str) -> WorkloadSpec {
    let words = Words {
        id,
        title: "Fault",
        summary: "Fails on purpose.",
        detail: "Fails on purpose, to test how a run handles it.",
        method: 1,
    };
    let what = (Subsystem::Cpu, Unit::OpPerSecond);
    interleaved(rate(words, what, &[], None, &[], Work::CORE, Role::NONE))
}

/// The workload `memory.copy` with a loop that leaves one element of each segment wrong.
static CORRUPT: Stream =
    Stream { spec: &CORRUPT_SPEC, op: Some(Op::Copy), find: |_, _, _| Some(corrupted as Loop) };

static CORRUPT_SPEC: WorkloadSpec = rate(
    Words {
        id: "test.corrupt",
        title: "Fault",
        summary: "Copies memory and corrupts one element.",
        detail: "Copies memory and corrupts one element, to test verification.",
        method: 1,
    },
    (Subsystem::Memory, Unit::BytePerSecond),
    STORING,
    None,
    &[],
    Work { pace: Pace::Memory, ..Work::CORE },
    Role::NONE,
);

/// Copies, then flips the sign of the second element.
unsafe extern "C" fn corrupted(segment: &Segment, passes: u64, stamp: f64, k: f64) -> u64 {
    let Some(copy) = find_loop(Op::Copy, Stores::Temporal, Isa::Scalar) else { return 0 };
    // SAFETY: the caller's promise, passed on. A segment has more than two elements.
    unsafe {
        let result = copy(segment, passes, stamp, k);
        *segment.dst.add(1) *= -1.0;
        result
    }
}

#[derive(Debug)]
struct Faulty {
    spec: &'static WorkloadSpec,
    fault: Fault,
}

impl Workload for Faulty {
    fn spec(&self) -> &'static WorkloadSpec {
        self.spec
    }

    fn configure(&self, _: &Params) -> Result<Box<dyn Configuration>, Refusal> {
        Ok(Box::new(FaultyTask { fault: self.fault, index: 0 }))
    }
}

impl Configuration for FaultyTask {
    fn setup(self: Box<Self>) -> Result<Box<dyn Setup>, Refusal> {
        match self.fault {
            Fault::Refuse => Err(Refusal("the workload refuses on purpose".to_owned())),
            _ => Ok(self),
        }
    }
}

/// The configuration, and the load of each of its threads.
struct FaultyTask {
    fault: Fault,
    index: usize,
}

impl Setup for FaultyTask {
    fn amount(&self) -> Amount {
        Amount::Total(1)
    }

    fn work_per_iteration(&self) -> f64 {
        1.0
    }

    fn threads(&self, asked: u64) -> u64 {
        if self.fault == Fault::Abandon { 2 } else { asked }
    }

    fn thread(&self, index: usize, _: usize) -> Result<Box<dyn Load>, Refusal> {
        Ok(Box::new(FaultyTask { index, ..*self }))
    }
}

impl Load for FaultyTask {
    fn run(&mut self, _: u64) {
        match self.fault {
            Fault::Kill => {
                let own = rustix::process::getpid();
                let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
            }
            Fault::Illegal => illegal(),
            Fault::Panic => panic!("the workload panics on purpose"),
            Fault::Abandon if self.index == 0 => {
                panic!("planted fault: one thread never reaches the barrier")
            }
            // The other thread waits for the thread that panicked.
            Fault::Abandon => wait_until(|| false),
            Fault::Hoard => hoard(),
            // Long enough for calibration to end.
            Fault::Wrong | Fault::Refuse => {
                std::thread::sleep(std::time::Duration::from_millis(20))
            }
        }
    }

    fn verify(&mut self) -> Result<u64, String> {
        Err("expected 2, found 3".to_owned())
    }
}

/// Allocates memory until the process is killed. Stops at 2 GiB if there is no limit.
fn hoard() {
    let taken: Vec<Vec<u8>> = (0..128).map(|_| vec![1; 16 << 20]).collect();
    std::hint::black_box(&taken);
}

fn illegal() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction is defined to raise an exception, and nothing follows it.
    unsafe {
        std::arch::asm!("ud2", options(noreturn));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the instruction is defined to raise an exception, and nothing follows it.
    unsafe {
        std::arch::asm!("udf #0", options(noreturn));
    }
}
