//! The cache lines that the random orders of all threads visit, where several blocks share a line.

use std::sync::Mutex;

use proofmark_model::lock;

/// Bytes of a cache line.
pub(super) const LINE: u64 = 64;

/// A bit for each line of the data.
#[derive(Debug)]
pub(super) struct Lines(Mutex<Vec<u64>>);

impl Lines {
    /// Creates the bits for data of this size, none marked.
    pub(super) fn new(data_size: u64) -> Self {
        Self(Mutex::new(vec![0; words(data_size)]))
    }

    /// Returns the size of the bits in bytes.
    pub(super) fn memory(data_size: u64) -> u64 {
        (words(data_size) * size_of::<u64>()) as u64
    }

    /// Marks the lines in which these blocks begin, and returns how many lines were unmarked
    /// before. Block 0 begins at byte `first` of the data.
    pub(super) fn mark(&self, blocks: &[u32], (first, block_size): (usize, usize)) -> u64 {
        let mut marked = lock(&self.0);
        let mut new = 0;
        for block in blocks {
            let line = (first + *block as usize * block_size) / LINE as usize;
            if let Some(word) = marked.get_mut(line / 64) {
                let bit = 1 << (line % 64);
                new += u64::from(*word & bit == 0);
                *word |= bit;
            }
        }
        new
    }
}

fn words(data_size: u64) -> usize {
    data_size.div_ceil(LINE).div_ceil(64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_counts_once_for_the_first_thread_that_goes_there() {
        let lines = Lines::new(10_000);
        assert_eq!(Lines::memory(10_000), 3 * 8, "157 lines");
        assert_eq!(lines.mark(&[0, 7, 8, 1249, 15], (0, 8)), 3, "lines 0, 1 and 156");
        assert_eq!(lines.mark(&[1, 8, 1240], (64, 8)), 1, "line 2");
        assert_eq!(lines.mark(&[], (0, 8)), 0);
    }
}
