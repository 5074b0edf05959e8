//! The order of a pointer chase: one cycle of pointers through every line of a working set.
//!
//! The cycle consists of sweeps. Each sweep takes all pages in one random order, and on each page
//! one line that no other sweep takes. So no load is near the previous one, and prefetchers cannot
//! predict the next one. All other pages pass between two visits of a page, so a TLB that cannot
//! hold them all never holds the next page in time. In the local order the pages are those of a
//! window of 2 MiB, which a TLB holds, and one window follows the other. It takes one line of each
//! pair, since CPUs may fetch the other line of the pair too, and keep it. The order is computed:
//! the line at any position is known without a walk, so the end of any walk can be checked.

#![allow(unsafe_code)] // Pointers in measured memory are written.

pub(super) const LINE: u64 = 64;
/// Bytes of a page of the order, independent of the pages of the memory.
pub(super) const PAGE: u64 = 4096;
const LINES_PER_PAGE: u64 = PAGE / LINE;
const LINE_BITS: u32 = LINES_PER_PAGE.trailing_zeros();

/// Odd factors with well mixed bits: fractions of the golden ratio and the roots of 2 and 3.
const ODD: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b];

/// Pages of a window of the local order.
pub(super) const WINDOW: u64 = (2 << 20) / PAGE;

/// Maximum distance between successive loads. Names as in the `order` parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Anywhere in the working set.
    Rand,
    /// Within a window of 2 MiB, one window after the other.
    Local,
}

/// A single cycle through the lines of this many pages: all, or every second one in the local order of
/// several windows.
#[derive(Debug, Clone)]
pub(super) struct Cycle {
    pub(super) base: *mut u8,
    /// Number of windows, and pages in each.
    windows: u64,
    pages: u64,
    /// Bits that number the pages of a window.
    page_bits: u32,
    /// The lines taken of each page, in random order.
    lines: Vec<u8>,
}

impl Cycle {
    /// Creates the cycle through the whole pages in `bytes`, at least one. In the local order it
    /// takes whole windows, if there are several.
    pub(super) fn new(base: *mut u8, bytes: u64, order: Order) -> Self {
        let all = (bytes / PAGE).max(1);
        let (windows, pages) = match order {
            Order::Local if all > WINDOW => (all / WINDOW, WINDOW),
            _ => (1, all),
        };
        let page_bits = u64::BITS - (pages - 1).leading_zeros();
        let every = if windows > 1 { 2 } else { 1 };
        let lines = (0..LINES_PER_PAGE).map(|k| shuffled(k, LINE_BITS) as u8);
        let lines = lines.filter(|line| line % every == 0).collect();
        Self { base, windows, pages, page_bits, lines }
    }

    /// Returns the number of lines in the cycle.
    pub(super) fn len(&self) -> u64 {
        self.windows * self.pages * self.sweeps()
    }

    /// Returns the bytes of its pages.
    pub(super) fn bytes(&self) -> u64 {
        self.windows * self.pages * PAGE
    }

    /// Reads every line once, in order of addresses.
    pub(super) fn fetch(&self) {
        for line in (0..self.bytes()).step_by(LINE as usize) {
            // SAFETY: callers walk the cycle, so it is laid and its pages are mapped.
            unsafe { self.base.wrapping_add(line as usize).read_volatile() };
        }
    }

    /// Returns the sweeps over a window: the number of lines taken of each page.
    fn sweeps(&self) -> u64 {
        self.lines.len() as u64
    }

    /// Returns the page of a window that is at place `at` of every sweep.
    fn page(&self, at: u64) -> u64 {
        let mut page = shuffled(at, self.page_bits);
        // Numbers past the last page are permuted again. They are fewer than half.
        while page >= self.pages {
            page = shuffled(page, self.page_bits);
        }
        page
    }

    /// Returns the node of a sweep on a page of a window.
    fn node_on(&self, window: u64, page: u64, sweep: u64) -> *mut *mut u8 {
        let start = page.wrapping_mul(ODD[2]) >> (u64::BITS - LINE_BITS);
        // The number of lines is a power of two, so each sweep takes another line.
        let line = self.lines[(sweep ^ start) as usize % self.lines.len()];
        let offset = (window * self.pages + page) * PAGE + u64::from(line) * LINE;
        self.base.wrapping_add(offset as usize).cast()
    }

    /// Returns the node at a position. Positions continue from the last to the first.
    pub(super) fn node(&self, position: u64) -> *mut *mut u8 {
        let (position, of_window) = (position % self.len(), self.pages * self.sweeps());
        let (window, within) = (position / of_window, position % of_window);
        self.node_on(window, self.page(within % self.pages), within / self.pages)
    }

    /// Writes the pointers, page by page.
    ///
    /// # Safety
    /// The pages must be mapped, and no other thread may use them meanwhile.
    pub(super) unsafe fn lay(&self) {
        let first = self.page(0);
        for window in 0..self.windows {
            let mut page = first;
            for at in 1..=self.pages {
                let next = if at < self.pages { self.page(at) } else { first };
                for sweep in 0..self.sweeps() {
                    // From the last page each sweep leads to the first page of the next sweep, and
                    // the last sweep to the next window.
                    let target = match (at < self.pages, sweep + 1 < self.sweeps()) {
                        (true, _) => self.node_on(window, next, sweep),
                        (false, true) => self.node_on(window, next, sweep + 1),
                        (false, false) => self.node_on((window + 1) % self.windows, next, 0),
                    };
                    // SAFETY: a node lies within the pages, as the caller guarantees.
                    unsafe { self.node_on(window, page, sweep).write(target.cast()) };
                }
                page = next;
            }
        }
    }
}

/// Permutes the numbers of this many bits. Its two steps are invertible: multiplying by an odd
/// number, and folding high bits onto low ones.
fn shuffled(number: u64, bits: u32) -> u64 {
    let mask = !(u64::MAX << bits);
    let fold = (bits / 2).max(1);
    ODD.iter().fold(number, |x, odd| {
        let x = x.wrapping_mul(*odd).wrapping_add(odd >> 32) & mask;
        x ^ (x >> fold)
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Lays a cycle through this many pages, and returns it with its memory.
    pub(in crate::memory) fn laid(pages: u64, order: Order) -> (Vec<u64>, Cycle) {
        let mut words = vec![0_u64; (pages * PAGE / 8) as usize];
        let cycle = Cycle::new(words.as_mut_ptr().cast(), pages * PAGE, order);
        // SAFETY: `words` holds the pages.
        unsafe { cycle.lay() };
        (words, cycle)
    }

    pub(in crate::memory) const PAGES: [u64; 9] = [1, 2, 3, 5, 16, 17, 100, 255, 1024];

    #[test]
    fn the_pointers_make_one_cycle_through_each_line_that_is_taken() {
        let rand = PAGES.map(|pages| (pages, Order::Rand));
        let local = [17, 512, 513, 1024, 1600].map(|pages| (pages, Order::Local));
        for (pages, order) in rand.into_iter().chain(local) {
            let (_words, cycle) = laid(pages, order);
            let mut node = cycle.node(0);
            let mut seen = vec![false; (pages * LINES_PER_PAGE) as usize];
            for position in 0..cycle.len() {
                assert_eq!(node, cycle.node(position), "{pages} pages");
                let offset = node.addr() - cycle.base.addr();
                assert_eq!(offset as u64 % LINE, 0);
                assert!(!std::mem::replace(&mut seen[offset / LINE as usize], true));
                // SAFETY: a node of a laid cycle.
                node = unsafe { node.read() }.cast();
            }
            assert_eq!(node, cycle.node(0), "{pages} pages");
        }
    }

    #[test]
    fn no_load_is_near_the_one_before_it() {
        let (_words, cycle) = laid(1000, Order::Rand);
        let page = |i: u64| (cycle.node(i).addr() - cycle.base.addr()) as u64 / PAGE;
        let last = cycle.len() - 1;
        let near = (0..last).filter(|i| page(*i).abs_diff(page(i + 1)) <= 1).count() as f64;
        // By chance two of the thousand pages are the neighbours of one page.
        assert!(near / (last as f64) < 0.004, "{near}");
        // Also, hardly any two steps have the same length.
        let length = |i: u64| page(i).wrapping_sub(page(i + 1));
        let lengths: std::collections::BTreeSet<u64> = (0..1000).map(length).collect();
        assert!(lengths.len() > 500, "{}", lengths.len());
    }

    #[test]
    fn the_local_order_takes_window_after_window() {
        let (_words, cycle) = laid(4 * WINDOW + 1, Order::Local);
        assert_eq!(cycle.len(), 4 * WINDOW * LINES_PER_PAGE / 2, "whole windows, a line a pair");
        let window = |i: u64| (cycle.node(i).addr() - cycle.base.addr()) as u64 / (WINDOW * PAGE);
        let of_window = WINDOW * LINES_PER_PAGE / 2;
        assert!((0..cycle.len()).step_by(777).all(|i| window(i) == i / of_window));
    }
}
