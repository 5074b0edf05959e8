//! The memory of a worker: one anonymous mapping, kept for the next configurations. Its pages are
//! allocated and placed once.
//!
//! Sources: mmap(2), madvise(2), mbind(2), move_pages(2), proc_pid_smaps(5).

#![allow(unsafe_code)] // Maps memory and queries its NUMA nodes by system calls.

use std::ffi::c_void;
use std::sync::{Arc, LazyLock, Mutex, Weak};

use proofmark_engine::{Placement, Refusal};
use proofmark_model::{format_size, lock};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// Page sizes that a workload can request. Names as in the `pages` parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pages {
    /// Transparent huge pages, where the system provides them.
    Huge,
    /// Base pages, the smallest size of the CPU.
    Small,
}

/// Alignment of an arena in bytes: that of a huge page on x86-64.
pub(crate) const ALIGNMENT: usize = 2 << 20;
/// The smallest page size of any architecture here, in bytes.
const SMALL_PAGE: usize = 4096;
/// Flag of mbind(2): also move pages that exist already.
const MPOL_MF_MOVE: libc::c_uint = 1 << 1;
/// Number of sampled pages whose node is queried.
const ASKED: usize = 4096;

#[derive(Debug)]
pub(crate) struct Arena {
    /// The whole mapping, for unmapping.
    mapped: (*mut c_void, usize),
    /// First usable byte, aligned to [`ALIGNMENT`].
    base: *mut u8,
    bytes: usize,
    pages: Pages,
    split: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes from the start whose pages were touched.
    made: usize,
    /// Description of the contents, written by the workload that filled the arena.
    content: String,
    /// Offset, length and intended node of each range.
    homes: Vec<(usize, usize, u32)>,
}

// SAFETY: the mapping is plain memory, and the workloads keep the parts of different threads apart.
unsafe impl Send for Arena {}
// SAFETY: as above. The other fields never change or are behind a lock.
unsafe impl Sync for Arena {}

/// Arenas whose contents several configurations use.
static SHARED: Mutex<Vec<Weak<Arena>>> = Mutex::new(Vec::new());

/// The arena of the previous configuration.
static KEPT: Mutex<Option<Arc<Arena>>> = Mutex::new(None);

impl Arena {
    /// Returns the arena of the previous configuration if it is large enough, else a new zeroed
    /// mapping.
    pub(crate) fn get(bytes: u64, pages: Pages, threads: u64) -> Result<Arc<Self>, Refusal> {
        let (bytes, split) = (bytes as usize, split(threads));
        let mut kept = lock(&KEPT);
        let fits = |a: &Arc<Self>| a.bytes >= bytes && a.pages == pages && a.split == split;
        // An arena that is still in use, as when tests run in parallel, is not shared.
        let again = kept.take().filter(|a| fits(a) && Arc::strong_count(a) == 1);
        let arena = match again {
            Some(arena) => arena,
            None => Arc::new(Self::map(bytes, pages, split)?),
        };
        if split == 0 {
            arena.make(bytes);
        }
        *kept = Some(Arc::clone(&arena));
        Ok(arena)
    }

    /// Returns an arena and true if it has these contents already. Prefers an arena that other
    /// configurations use. If the result is false, the caller must fill the arena.
    pub(crate) fn shared(
        content: &str,
        bytes: u64,
        pages: Pages,
        threads: u64,
    ) -> Result<(Arc<Self>, bool), Refusal> {
        let mut shared = lock(&SHARED);
        shared.retain(|arena| arena.strong_count() > 0);
        let same = |arena: &Arc<Self>| {
            let holds = arena.state().content == content;
            let fits = arena.bytes >= bytes as usize && arena.pages == pages;
            holds && fits && arena.split == split(threads)
        };
        if let Some(arena) = shared.iter().filter_map(Weak::upgrade).find(same) {
            return Ok((arena, true));
        }
        let arena = Self::get(bytes, pages, threads)?;
        let holds = arena.holds(content);
        shared.push(Arc::downgrade(&arena));
        Ok((arena, holds))
    }

    /// Touches the first `bytes` bytes from all CPUs in parallel, where any CPU may touch them
    /// first. In a guest a new page can also fault in the host, which takes some seconds per
    /// gigabyte.
    fn make(&self, bytes: usize) {
        let touched = self.state().made;
        if touched >= bytes {
            return;
        }
        self.state().made = bytes;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let share = (bytes - touched).div_ceil(threads).next_multiple_of(ALIGNMENT);
        std::thread::scope(|scope| {
            for start in (touched..bytes).step_by(share) {
                scope.spawn(move || self.touch(start, share.min(bytes - start)));
            }
        });
    }

    fn touch(&self, offset: usize, length: usize) {
        let end = (offset + length).min(self.bytes);
        for at in (offset..end).step_by(SMALL_PAGE) {
            // SAFETY: within the mapping, and the byte keeps its value.
            unsafe {
                let byte = self.base.add(at);
                byte.write_volatile(byte.read_volatile());
            }
        }
    }

    /// Reserves a mapping as large as all memory, where the system allows it. A later, larger
    /// configuration then finds the pages of an earlier one in place. Untouched pages take no
    /// memory.
    fn map(bytes: usize, pages: Pages, split: usize) -> Result<Self, Refusal> {
        let memory = rustix::system::sysinfo();
        let all = memory.totalram.saturating_mul(memory.mem_unit.into());
        let all = usize::try_from(all).unwrap_or(0);
        Self::map_exactly(bytes.max(all), pages, split)
            .or_else(|_| Self::map_exactly(bytes, pages, split))
    }

    fn map_exactly(bytes: usize, pages: Pages, split: usize) -> Result<Self, Refusal> {
        let bytes = bytes.max(1).next_multiple_of(ALIGNMENT);
        let whole = bytes + ALIGNMENT;
        // SAFETY: a new anonymous mapping overlaps no existing memory.
        let start = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                whole,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        }
        .map_err(|e| {
            Refusal(format!("cannot allocate {} of memory: {e}", format_size(bytes as u64)))
        })?;
        let base = start.cast::<u8>().map_addr(|a| a.next_multiple_of(ALIGNMENT));
        let advice = match pages {
            Pages::Huge => Advice::LinuxHugepage,
            Pages::Small => Advice::LinuxNoHugepage,
        };
        // SAFETY: the range lies within the new mapping. The advice may fail (no transparent huge
        // pages), and `placement` reports the result.
        let _ = unsafe { madvise(base.cast(), bytes, advice) };
        let state = Mutex::new(State::default());
        Ok(Self { mapped: (start, whole), base, bytes, pages, split, state })
    }

    /// Returns the first byte, which is aligned to [`ALIGNMENT`].
    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    /// Returns true if the arena already has these contents. If not, they are recorded as its
    /// contents, and the caller must fill it.
    pub(crate) fn holds(&self, content: &str) -> bool {
        let mut state = self.state();
        let same = state.content == content;
        if !same {
            content.clone_into(&mut state.content);
            state.homes.clear();
        }
        same
    }

    /// Touches each page of a range from the calling thread, so that no page fault occurs in a
    /// timed trial. Records the thread's node as the intended node of the range.
    pub(crate) fn place_here(&self, offset: usize, length: usize) {
        self.touch(offset, length);
        if let Some(node) = own_node() {
            self.expect(offset, length, node);
        }
    }

    /// Records the intended node of a range.
    pub(crate) fn expect(&self, offset: usize, length: usize, node: u32) {
        let mut state = self.state();
        state.homes.retain(|(o, l, _)| *o + *l <= offset || offset + length <= *o);
        state.homes.push((offset, length, node));
    }

    /// Binds a range to a NUMA node before it is touched. If that node is full, other nodes provide
    /// the pages, and [`Arena::placement`] reports it.
    pub(crate) fn bind(&self, offset: usize, length: usize, node: u32) -> Result<(), Refusal> {
        let mut mask = [0_u64; 16];
        let word = mask.get_mut(node as usize / 64);
        *word.ok_or_else(|| Refusal(format!("NUMA node {node} does not exist")))? |=
            1 << (node % 64);
        // SAFETY: the range lies within the mapping and the mask outlives the call.
        let result = unsafe {
            libc::syscall(
                libc::SYS_mbind,
                self.base.add(offset),
                length,
                libc::MPOL_PREFERRED,
                mask.as_ptr(),
                mask.len() * 64,
                MPOL_MF_MOVE,
            )
        };
        if result == 0 {
            return Ok(());
        }
        let why = std::io::Error::last_os_error();
        Err(Refusal(format!("cannot bind memory to NUMA node {node}: {why}")))
    }

    /// Returns the share of huge pages in the arena, and the share of misplaced pages in the first
    /// `used` bytes.
    pub(crate) fn placement(&self, used: u64) -> Placement {
        let used = self.bytes.min(used as usize);
        let start = self.base.addr();
        let smaps = std::fs::read_to_string("/proc/self/smaps").ok();
        Placement {
            huge: smaps.and_then(|text| huge_share(&text, start, start + self.bytes)),
            misplaced: self.misplaced(used),
        }
    }

    /// Returns the share of the sampled pages that are not on their intended node.
    fn misplaced(&self, used: usize) -> Option<f64> {
        let homes = self.state().homes.clone();
        let step = (used / ASKED).max(SMALL_PAGE).next_multiple_of(SMALL_PAGE);
        let home = |at: usize| {
            let (_, _, node) = homes.iter().find(|(o, l, _)| (*o..*o + *l).contains(&at))?;
            Some((self.base.wrapping_add(at).cast(), i64::from(*node)))
        };
        let (pages, expected): (Vec<_>, Vec<_>) = (0..used).step_by(step).filter_map(home).unzip();
        let found = nodes_of(&pages)?.into_iter().map(i64::from);
        let known: Vec<_> = found.zip(expected).filter(|(found, _)| *found >= 0).collect();
        let wrong = known.iter().filter(|(found, expected)| found != expected).count();
        (!known.is_empty()).then(|| wrong as f64 / known.len() as f64)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: mapped by `map`, and nothing refers to the arena any more.
        let _ = unsafe { munmap(self.mapped.0, self.mapped.1) };
    }
}

/// Returns the number of threads among which pages are divided, or 0 on one node. On several nodes,
/// each page is on the node of the thread that uses it.
pub(crate) fn split(threads: u64) -> usize {
    if nodes() > 1 { threads as usize } else { 0 }
}

/// Returns the number of NUMA nodes, or 1 where the system does not report them. A plan asks for it
/// thousands of times.
pub(crate) fn nodes() -> usize {
    static NODES: LazyLock<usize> = LazyLock::new(count_nodes);
    *NODES
}

fn count_nodes() -> usize {
    let Ok(entries) = std::fs::read_dir("/sys/devices/system/node") else { return 1 };
    let is_node = |name: &str| name.strip_prefix("node").is_some_and(|n| n.parse::<u32>().is_ok());
    let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
    names.filter(|n| is_node(n)).count().max(1)
}

/// Returns the node of the CPU that the calling thread runs on.
pub(crate) fn own_node() -> Option<u32> {
    let (mut cpu, mut node) = (0_u32, 0_u32);
    // SAFETY: the system call writes the two numbers passed to it.
    let result = unsafe {
        libc::syscall(libc::SYS_getcpu, &raw mut cpu, &raw mut node, std::ptr::null::<c_void>())
    };
    (result == 0).then_some(node)
}

/// Returns the node of each page, negative where it has none.
fn nodes_of(pages: &[*mut c_void]) -> Option<Vec<i32>> {
    let mut status = vec![-1_i32; pages.len()];
    // SAFETY: without target nodes the call only reports, and both arrays have the given number of
    // elements.
    let result = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0,
            pages.len(),
            pages.as_ptr(),
            std::ptr::null::<i32>(),
            status.as_mut_ptr(),
            0,
        )
    };
    (result >= 0).then_some(status)
}

/// Returns the share of the resident memory between two addresses that huge pages back.
fn huge_share(smaps: &str, start: usize, end: usize) -> Option<f64> {
    let (mut within, mut resident, mut huge) = (false, 0_u64, 0_u64);
    for line in smaps.lines() {
        let first = line.split(' ').next().unwrap_or_default();
        if let Some((from, to)) = first.split_once('-') {
            let address = |text| usize::from_str_radix(text, 16).ok();
            if let (Some(from), Some(to)) = (address(from), address(to)) {
                within = from < end && to > start;
                continue;
            }
        }
        let mut words = line.split_whitespace();
        let kilobytes = |mut words: std::str::SplitWhitespace| words.next()?.parse::<u64>().ok();
        match words.next() {
            Some("Rss:") if within => resident += kilobytes(words)?,
            Some("AnonHugePages:") if within => huge += kilobytes(words)?,
            _ => {}
        }
    }
    (resident > 0).then(|| (huge as f64 / resident as f64).min(1.0))
}

#[cfg(test)]
mod tests;
