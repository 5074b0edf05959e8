//! The CPUs that threads may run on.
//!
//! A mask here has room for eight times as many CPUs as Linux can be built for (8192 on x86-64,
//! 4096 on AArch64). The sets of the C library and rustix hold 1024 CPUs. A larger number panics
//! there, and a Linux built for more CPUs refuses to fill one (sched_setaffinity(2), "C
//! library/kernel differences").

#![allow(unsafe_code)] // The system calls that take a larger mask have no safe wrapper.

use std::io;

use rustix::thread::Pid;

/// CPUs in a word of a mask, an unsigned long of Linux.
const WORD: u32 = libc::c_ulong::BITS;

/// A mask. Linux accepts one larger than its own, and leaves the rest of it unchanged.
type Mask = [libc::c_ulong; WORDS];
const WORDS: usize = (1 << 16) / WORD as usize;

/// CPUs that `thread` may use, or the calling thread without one; `None` if Linux does not report
/// them.
pub fn usable_cpus(thread: Option<Pid>) -> Option<Vec<u32>> {
    // Linux takes 0 for the calling thread.
    let thread = thread.map_or(0, |pid| pid.as_raw_nonzero().get());
    let mut mask = [0; WORDS];
    // SAFETY: Linux writes at most this many bytes to the mask, which is alive.
    let written = unsafe {
        let size = size_of_val(&mask);
        libc::syscall(libc::SYS_sched_getaffinity, thread, size, mask.as_mut_ptr())
    };
    (written > 0).then(|| cpus_in(&mask)).filter(|cpus| !cpus.is_empty())
}

/// Pins the calling thread; returns true if that worked. Otherwise it runs unpinned, and trials
/// count its migrations.
pub fn pin(cpu: u32) -> bool {
    pin_to(&[cpu]).is_ok()
}

/// Confines the calling thread, and threads and processes that it starts, to these CPUs. Fails if
/// it may use none of them.
pub fn pin_to(cpus: &[u32]) -> io::Result<()> {
    let mask = mask_from(cpus)?;
    // SAFETY: Linux reads this many bytes of the mask, which is alive.
    let result =
        unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, size_of_val(&mask), mask.as_ptr()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn cpus_in(mask: &Mask) -> Vec<u32> {
    let is_set = |cpu: &u32| mask[(cpu / WORD) as usize] >> (cpu % WORD) & 1 == 1;
    (0..WORDS as u32 * WORD).filter(is_set).collect()
}

fn mask_from(cpus: &[u32]) -> io::Result<Mask> {
    let mut mask = [0; WORDS];
    for cpu in cpus {
        let word = mask.get_mut((cpu / WORD) as usize).ok_or(io::ErrorKind::InvalidInput)?;
        *word |= 1 << (cpu % WORD);
    }
    Ok(mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_holds_any_number_of_a_cpu_that_linux_has() {
        let cpus = [0, 5, 63, 64, 1023, 1024, 2047, 8191, 65_535];
        assert_eq!(cpus_in(&mask_from(&cpus).unwrap()), cpus);
        for none in [65_536, u32::MAX] {
            assert_eq!(mask_from(&[none]).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
    }

    #[test]
    fn proc_reports_the_same_mask() {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let Some(list) = list else { return proofmark_testing::skip("/proc has no affinity mask") };
        let range = |part: &str| {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            from.parse::<u32>().unwrap()..=to.parse().unwrap()
        };
        let reported: Vec<u32> = list.trim().split(',').flat_map(range).collect();
        assert_eq!(usable_cpus(None).unwrap(), reported);
    }

    #[test]
    fn a_cpu_that_is_not_here_is_refused_and_none_beyond_1023_panics() {
        std::thread::spawn(|| {
            let before = usable_cpus(None).unwrap();
            for cpu in [1024, 2047, 8191, u32::MAX] {
                if before.contains(&cpu) {
                    continue;
                }
                assert!(pin_to(&[cpu]).is_err(), "{cpu}");
                assert!(!pin(cpu));
                assert_eq!(usable_cpus(None).unwrap(), before, "{cpu}");
            }
            // Of several CPUs, those of this machine are used.
            let last = before[before.len() - 1];
            pin_to(&[last, 2047]).unwrap();
            assert!(usable_cpus(None).unwrap().contains(&last));
            assert!(pin(last));
            assert_eq!(usable_cpus(None).unwrap(), [last]);
        })
        .join()
        .unwrap();
    }
}
