//! The register values of a hot loop, in memory before and after it.

use super::isa::Element;

/// The contents of one register of any width, lane 0 first.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub(crate) struct Line([u64; 8]);

/// One line per register: the accumulators first, then the constants.
#[derive(Debug, Clone)]
pub(crate) struct State {
    lines: Box<[Line]>,
    element: Element,
}

impl State {
    pub(crate) fn new(element: Element, slots: usize) -> Self {
        Self { lines: vec![Line::default(); slots].into_boxed_slice(), element }
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut Line {
        self.lines.as_mut_ptr()
    }

    /// Copies all lines of a state of the same shape.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.lines.copy_from_slice(&other.lines);
    }

    /// Returns the bits of one lane. Those of a 32-bit type are in the low half.
    pub(crate) fn get(&self, slot: usize, lane: usize) -> u64 {
        let words = &self.lines[slot].0;
        match self.element.bytes() {
            8 => words[lane],
            _ => (words[lane / 2] >> (lane % 2 * 32)) & 0xffff_ffff,
        }
    }

    pub(crate) fn set(&mut self, slot: usize, lane: usize, bits: u64) {
        let words = &mut self.lines[slot].0;
        if self.element.bytes() == 8 {
            words[lane] = bits;
        } else {
            let shift = lane % 2 * 32;
            let word = &mut words[lane / 2];
            *word = (*word & !(0xffff_ffff << shift)) | ((bits & 0xffff_ffff) << shift);
        }
    }
}
