//! Runs a hot loop in blocks and proves each block from its final state. A block spans several
//! runs: a check reads up to some hundred lanes, too many after each short run.

use proofmark_engine::Load;
use proofmark_engine::chain::Chain;

use super::isa::{Element, Isa};
use super::law::Law;
use super::native;
use super::state::{Line, State};

/// Loads the registers from the state, runs `iterations` iterations (at least 1), and stores the
/// registers.
pub(crate) type Hot = unsafe extern "C" fn(state: *mut Line, iterations: u64);

/// A loop as heavy as a hot loop, around a chain of [`CLOCKED_CYCLES`] cycles per step. Runs
/// `steps` steps (at least 1) and returns the cycles that the chain takes.
pub(crate) type Clocked = unsafe extern "C" fn(steps: u64) -> u64;

/// Cycles per step of a clocked loop, around the first chain and around the second.
pub(crate) const CLOCKED_CYCLES: [u64; 2] = [21, 20];

/// Runs about `cycles` cycles of the clocked loop of an instruction set that this CPU supports,
/// around a chain. Returns the exact cycles, or `None` where a plain chain measures the clock.
pub(super) fn clock_chain(
    (isa, element): (Isa, Element),
    chain: Chain,
    cycles: u64,
) -> Option<u64> {
    let clocked = native::clocked(isa, element)?[chain as usize];
    #[allow(unsafe_code)] // A clocked loop is a function in assembly.
    // SAFETY: the loop uses only registers, the steps are at least 1, and the caller verified that
    // the CPU has the instructions.
    let cycles = unsafe { clocked((cycles / CLOCKED_CYCLES[chain as usize]).max(1)) };
    Some(cycles)
}

/// One hot loop and its declaration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variant {
    pub(crate) isa: Isa,
    pub(crate) element: Element,
    pub(crate) law: Law,
    pub(crate) hot: Hot,
}

impl Variant {
    pub(crate) const fn lanes(&self) -> usize {
        self.isa.lanes(self.element.bytes())
    }

    pub(crate) const fn operations(&self) -> u64 {
        self.law.operations() * self.lanes() as u64
    }
}

/// One thread's part of a CPU workload.
pub(crate) struct Work {
    variant: Variant,
    /// Maximum iterations of a block.
    block: u64,
    start: State,
    state: State,
    /// Iterations requested in the current block.
    requested: u64,
    /// Iterations proven by the blocks before it, or the first failure.
    proven: Result<u64, String>,
}

impl Work {
    pub(crate) fn new(variant: Variant) -> Self {
        let Variant { law, element, .. } = variant;
        let mut start = State::new(element, law.slots());
        for slot in 0..law.slots() {
            for lane in 0..variant.lanes() {
                start.set(slot, lane, law.after(element, slot, lane, 0));
            }
        }
        let state = start.clone();
        Self { variant, block: law.most_iterations(), start, state, requested: 0, proven: Ok(0) }
    }

    fn new_block(&mut self) {
        self.state.copy_from(&self.start);
        self.requested = 0;
    }

    /// Returns the iterations that all blocks prove, including the current one, or the first
    /// failure.
    fn proven_so_far(&self) -> Result<u64, String> {
        let before = self.proven.clone()?;
        Ok(before.saturating_add(self.check()?))
    }

    /// Returns the iterations that the state of the current block proves.
    fn check(&self) -> Result<u64, String> {
        let Variant { law, element, .. } = self.variant;
        let shown =
            |slot, lane, bits| format!("register {slot} lane {lane} holds {}", element.show(bits));
        let first = self.state.get(0, 0);
        let Some(n) = law.count(element, first) else {
            let shown = shown(0, 0, first);
            return Err(format!("{shown}, which is not a whole number of iterations"));
        };
        for slot in 0..law.slots() {
            for lane in 0..self.variant.lanes() {
                let (want, found) = (law.after(element, slot, lane, n), self.state.get(slot, lane));
                if want != found {
                    let (shown, want) = (shown(slot, lane, found), element.show(want));
                    return Err(format!("{shown}, not {want} after {n} iterations"));
                }
            }
        }
        Ok(n)
    }
}

impl Load for Work {
    fn begin(&mut self) {
        self.new_block();
        self.proven = Ok(0);
    }

    fn run(&mut self, iterations: u64) {
        let mut left = iterations;
        while left > 0 {
            if self.requested == self.block {
                self.proven = self.proven_so_far();
                self.new_block();
            }
            let n = left.min(self.block - self.requested);
            self.requested += n;
            #[allow(unsafe_code)] // A hot loop is a function in assembly.
            // SAFETY: the state has the slots of the variant's law, which its loop loads and
            // stores. n is at least 1. `configure` verified that the CPU has the instructions.
            unsafe {
                (self.variant.hot)(self.state.as_mut_ptr(), n);
            }
            left -= n;
        }
    }

    fn clock_chain(&mut self, chain: Chain, cycles: u64) -> Option<u64> {
        clock_chain((self.variant.isa, self.variant.element), chain, cycles)
    }

    fn verify(&mut self) -> Result<u64, String> {
        self.proven_so_far()
    }
}

#[cfg(test)]
mod tests {
    #![allow(unsafe_code)] // Plants faults through the pointer that a hot loop gets.

    use super::super::isa::OnThisCpu;
    use super::super::portable;
    use super::*;
    use crate::params::testing::{uneven_slices, verified};

    /// Runs the variant over block boundaries and checks that it proves every iteration.
    fn prove(variant: Variant) {
        let mut work = Work::new(variant);
        assert!(work.block > 10_000, "a block must take long compared with its check");
        for block in [5, 1_000] {
            work.block = block;
            for n in [0, 1, 2, 3, 4, 5, 6, 999, 1_000, 1_001, 2_500] {
                for slices in [vec![n], uneven_slices(n)] {
                    work.run(7); // Ahead of the trial, not counted.
                    let verified = verified(&mut work, &slices);
                    assert_eq!(verified, Ok(n), "{variant:?}, block {block}, {slices:?}");
                }
            }
        }
        // One whole block of the real size and one more iteration.
        let mut work = Work::new(variant);
        let n = work.block.min(1 << 20) + 1;
        work.block = n - 1;
        assert_eq!(verified(&mut work, &[n / 2, n - n / 2]), Ok(n), "{variant:?}");
    }

    #[test]
    fn every_loop_proves_its_iterations() {
        let here = [native::FLOPS, native::IOPS, native::MIX_INT, native::MIX_FLOAT];
        let plain = [portable::FLOPS, portable::IOPS, portable::MIX_INT, portable::MIX_FLOAT];
        for variant in [here, plain].concat().concat() {
            match variant.isa.supported() {
                Ok(_) => prove(variant),
                Err(refusal) => eprintln!("skipped {:?}: {refusal}", variant.element),
            }
        }
    }

    #[test]
    fn a_clocked_loop_counts_its_cycles() {
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_supported()) {
            for element in [Element::F64, Element::I64] {
                let chains = native::clocked(isa, element).into_iter().flatten();
                for (clocked, cycles) in chains.zip(CLOCKED_CYCLES) {
                    for steps in [1, 2, 1000] {
                        // SAFETY: this CPU has the instructions, and steps is at least 1.
                        let counted = unsafe { clocked(steps) };
                        assert_eq!(counted, steps * cycles, "{isa:?} {element:?}");
                    }
                }
            }
        }
    }

    const SUM: Law = Law::Sum { accumulators: 2, adds: 4, each: 1 };

    /// Adds to both accumulators correctly, and adds `too_much` to line `wrong`.
    unsafe fn add(state: *mut Line, n: u64, (wrong, too_much): (usize, f64)) {
        // SAFETY: the state has 3 lines.
        unsafe {
            *state.cast::<f64>() += 2.0 * n as f64;
            *state.add(1).cast::<f64>() += 2.0 * n as f64;
            *state.add(wrong).cast::<f64>() += too_much;
        }
    }

    /// Defines a loop over a state of 3 lines that runs `$iterations` iterations with an error.
    macro_rules! hot {
        ($name:ident, $n:ident => $iterations:expr, $wrong:expr) => {
            unsafe extern "C" fn $name(state: *mut Line, $n: u64) {
                // SAFETY: the state has 3 lines.
                unsafe { add(state, $iterations, $wrong) }
            }
        };
    }

    hot!(honest, n => n, (0, 0.0));
    hot!(half, n => n / 2, (0, 0.0));
    hot!(lossy, n => n, (1, -1.0));
    hot!(uneven, n => n, (0, -1.0));
    hot!(trampling, n => n, (2, -0.5));
    // Wrong only in the first of two blocks, the longer one.
    hot!(once, n => n, (1, if n == 5 { -1.0 } else { 0.0 }));

    fn work_with(hot: Hot) -> Work {
        Work::new(Variant { isa: Isa::Scalar, element: Element::F64, law: SUM, hot })
    }

    #[test]
    fn only_what_was_done_is_proven_and_a_wrong_lane_is_named() {
        let cases: [(&str, Hot, Result<u64, &str>); 5] = [
            ("honest", honest, Ok(10)),
            ("half", half, Ok(5)), // Counted from the state, not from the request.
            ("lossy", lossy, Err("register 1 lane 0 holds 36, not 37 after 10 iterations")),
            (
                "uneven",
                uneven,
                Err("register 0 lane 0 holds 20, which is not a whole number of iterations"),
            ),
            ("trampling", trampling, Err("register 2 lane 0 holds 0.5, not 1 after 10 iterations")),
        ];
        for (name, hot, expected) in cases {
            let mut work = work_with(hot);
            work.run(10);
            assert_eq!(work.verify(), expected.map_err(str::to_owned), "{name}");
        }
    }

    #[test]
    fn a_fault_in_one_block_of_many_stays() {
        // In the first block, in a middle slice of the only block, and in a middle block.
        for (block, slices) in [(5, &[7][..]), (100, &[3, 5, 4]), (10, &[4, 4, 4, 2, 5, 9, 1])] {
            let mut work = work_with(once);
            work.block = block;
            assert!(verified(&mut work, slices).is_err(), "{slices:?}");
            assert_eq!(verified(&mut work, &[4]), Ok(4), "a new trial starts anew");
        }
    }

    #[test]
    fn small_runs_share_a_block_and_its_check() {
        let mut work = work_with(honest);
        work.block = 1000;
        assert_eq!(verified(&mut work, &[3; 300]), Ok(900));
        assert_eq!((work.requested, &work.proven), (900, &Ok(0)));
        assert_eq!(verified(&mut work, &[3; 400]), Ok(1200));
        assert_eq!((work.requested, &work.proven), (200, &Ok(1000)));
    }
}
