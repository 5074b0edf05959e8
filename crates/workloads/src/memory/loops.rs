//! Selects the loop for an operation on this machine.

use super::portable;
use super::segment::Loop;
use super::stream::op::{Op, Stores};
#[cfg(target_arch = "x86_64")]
use super::x86_64;
use crate::cpu::isa::{Isa, OnThisCpu};

/// Returns the loop, if this machine can run it. For `read` it is the same for both kinds of
/// stores.
pub(crate) fn find(op: Op, stores: Stores, isa: Isa) -> Option<Loop> {
    if !isa.is_supported() {
        return None;
    }
    match isa {
        Isa::Scalar => portable::find(op, stores),
        #[cfg(target_arch = "x86_64")]
        _ => x86_64::find(x86_64::Form::here(), op, stores, isa),
        #[cfg(not(target_arch = "x86_64"))]
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(unsafe_code)] // The tests call the loops.

    use super::super::segment::{STAMP, Segment, fence};
    use super::*;
    use crate::mix::mixed;

    const MARGIN: usize = 16; // f64 elements before and after the segment: two lines.
    const K: f64 = 1.7;

    /// Returns every loop of this machine, also those that it would not select.
    pub(crate) fn all() -> Vec<(Op, Stores, Isa, Loop)> {
        let mut all = Vec::new();
        for isa in Isa::ALL {
            for op in Op::ALL {
                for stores in Stores::ALL {
                    all.extend(forms(op, stores, isa).into_iter().map(|f| (op, stores, isa, f)));
                }
            }
        }
        all
    }

    fn forms(op: Op, stores: Stores, isa: Isa) -> Vec<Loop> {
        #[cfg(target_arch = "x86_64")]
        if isa != Isa::Scalar && isa.is_supported() {
            let assembled = |form| x86_64::find(form, op, stores, isa);
            return x86_64::Form::ALL.into_iter().filter_map(assembled).collect();
        }
        find(op, stores, isa).into_iter().collect()
    }

    /// An array of random numbers that starts on a line and has margins on both sides.
    struct Array {
        cells: Vec<f64>,
        first: usize,
        len: usize,
    }

    impl Array {
        fn random(len: usize, seed: u64) -> Self {
            let number = |i| (mixed(seed, i) >> 11) as f64 / 1e12 - 4000.0;
            let cells: Vec<f64> = (0..(len + 2 * MARGIN + 8) as u64).map(number).collect();
            let first = MARGIN + cells[MARGIN..].as_ptr().align_offset(64);
            Self { cells, first, len }
        }

        fn start(&mut self) -> *mut f64 {
            self.cells[self.first..].as_mut_ptr()
        }

        fn piece(&self) -> &[f64] {
            &self.cells[self.first..self.first + self.len]
        }

        /// Returns the bits of all elements, including the margins.
        fn bits(&self) -> Vec<u64> {
            self.cells.iter().map(|x| x.to_bits()).collect()
        }

        fn set(&mut self, k: usize, value: f64) {
            self.cells[self.first + k] = value;
        }
    }

    /// Performs the operation that [`Loop`] specifies, element by element.
    fn reference(op: Op, arrays: &mut [Array; 3], passes: u64, first_stamp: f64) -> u64 {
        let [dst, a, b] = arrays;
        let mut sum = 0u64;
        for pass in 0..passes {
            let stamp = first_stamp + pass as f64;
            if op.sources() > 0 && op.stores() {
                (a.len - STAMP / 8..a.len).for_each(|k| a.set(k, stamp));
            }
            for k in 0..a.len {
                let (x, y) = (a.piece()[k], b.piece()[k]);
                match op {
                    Op::Read => sum = sum.wrapping_add(x.to_bits()),
                    Op::Write => dst.set(k, stamp),
                    Op::Copy => dst.set(k, x),
                    Op::Scale => dst.set(k, K * x),
                    Op::Add => dst.set(k, x + y),
                    Op::Triad => dst.set(k, x + K * y),
                }
            }
        }
        sum
    }

    /// Asserts that the loop does exactly what the reference does, and nothing else.
    fn check(op: Op, f: Loop, bytes: usize, passes: u64, what: &str) {
        let new = || [1, 2, 3].map(|seed| Array::random(bytes / 8, seed * 0x9e37_79b9 + passes));
        let (mut want, mut got) = (new(), new());
        // Two allocations may have different alignment, but the numbers must be equal at first.
        for (w, g) in want.iter_mut().zip(&mut got) {
            for k in 0..w.len {
                g.set(k, w.piece()[k]);
            }
        }
        let before: Vec<_> = got.iter().map(Array::bits).collect();
        let [dst, a, b] = got.each_mut().map(Array::start);
        let segment = Segment { dst, a, b, bytes };
        // SAFETY: three arrays of this many bytes, each starting on a line, and an instruction set
        // that `find` detected on this machine.
        let sum = unsafe { f(&segment, passes, 41.0, K) };
        fence();
        assert_eq!(sum, reference(op, &mut want, passes, 41.0), "{what}");
        for ((old, want), got) in before.iter().zip(&want).zip(&got) {
            assert!(
                want.piece().iter().zip(got.piece()).all(|(w, g)| w.to_bits() == g.to_bits()),
                "{what}"
            );
            let (now, end) = (got.bits(), got.first + got.len);
            assert_eq!(old[..got.first], now[..got.first], "{what}");
            assert_eq!(old[end..], now[end..], "{what}");
        }
    }

    const LENGTHS: [usize; 6] = [256, 512, 1024, 1280, 4096 + 768, 65536];

    #[test]
    fn every_loop_does_its_operation_and_nothing_else() {
        for (op, stores, isa, f) in all() {
            for bytes in LENGTHS {
                for passes in [0, 1, 2, 5] {
                    let what = format!("{op:?} {stores:?} {isa:?}: {bytes} bytes, {passes} passes");
                    check(op, f, bytes, passes, &what);
                }
            }
        }
    }
}
