//! The CPUs that threads may run on.
//!
//! A mask here has any size. The C library's and rustix's sets hold 1024 CPUs: a larger number
//! panics there, and a kernel built for more CPUs refuses to fill one (sched_setaffinity(2), "C
//! library/kernel differences").

#![allow(unsafe_code)] // The system calls that take a mask of any size have no safe wrapper.

use std::io;

use rustix::thread::Pid;

/// CPUs in a word of a mask, which is an unsigned long of the kernel's.
const WORD: usize = libc::c_ulong::BITS as usize;

/// Words of the smallest mask that is asked for, 1024 CPUs, and of the largest, 2^20.
const SMALLEST: usize = 1024 / WORD;
const LARGEST: usize = (1 << 20) / WORD;

/// CPUs that this thread may use, or the calling one; `None` where the kernel does not report them.
pub fn usable_cpus(thread: Option<Pid>) -> Option<Vec<u32>> {
    let thread = raw(thread);
    let read = |mask: &mut [libc::c_ulong]| {
        // SAFETY: the kernel writes at most this many bytes to the mask, which is alive.
        let written = unsafe {
            libc::syscall(libc::SYS_sched_getaffinity, thread, size_of_val(mask), mask.as_mut_ptr())
        };
        usize::try_from(written).map_err(|_| io::Error::last_os_error())
    };
    let cpus = cpus_in(&read_mask(read).ok()?);
    (!cpus.is_empty()).then_some(cpus)
}

/// Pins the calling thread. Where that is not allowed it runs unpinned, and
/// migrations are counted.
pub fn pin(cpu: u32) {
    let _ = pin_to(None, &[cpu]);
}

/// Confines this thread, or the calling one, to these CPUs; what it starts inherits that.
///
/// # Errors
/// The system's, such as that none of these CPUs may be used.
pub fn pin_to(thread: Option<Pid>, cpus: &[u32]) -> io::Result<()> {
    let mask = mask_of(cpus)?;
    // SAFETY: the kernel reads this many bytes of the mask, which is alive.
    let result = unsafe {
        libc::syscall(
            libc::SYS_sched_setaffinity,
            raw(thread),
            size_of_val(&mask[..]),
            mask.as_ptr(),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// As the kernel takes it: 0 is the calling thread.
fn raw(thread: Option<Pid>) -> libc::pid_t {
    thread.map_or(0, |pid| pid.as_raw_nonzero().get())
}

/// The words of the mask that `read` fills, which gives the bytes it wrote. The kernel refuses a
/// mask that is smaller than its own with EINVAL, and reports its size nowhere.
fn read_mask(
    mut read: impl FnMut(&mut [libc::c_ulong]) -> io::Result<usize>,
) -> io::Result<Vec<libc::c_ulong>> {
    let mut words = SMALLEST;
    loop {
        let mut mask = vec![0; words];
        match read(&mut mask) {
            Ok(bytes) => {
                mask.truncate(bytes.div_ceil(size_of::<libc::c_ulong>()));
                return Ok(mask);
            }
            Err(e) if e.raw_os_error() == Some(libc::EINVAL) && words < LARGEST => words *= 2,
            Err(e) => return Err(e),
        }
    }
}

fn cpus_in(mask: &[libc::c_ulong]) -> Vec<u32> {
    let cpus = 0..mask.len() * WORD;
    let is_set = |cpu: &usize| mask.get(cpu / WORD).is_some_and(|w| w >> (cpu % WORD) & 1 == 1);
    cpus.filter(is_set).filter_map(|cpu| u32::try_from(cpu).ok()).collect()
}

fn mask_of(cpus: &[u32]) -> io::Result<Vec<libc::c_ulong>> {
    let mut mask = vec![0; SMALLEST];
    for cpu in cpus {
        let cpu = usize::try_from(*cpu).unwrap_or(usize::MAX);
        let word = cpu / WORD;
        if word >= LARGEST {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if word >= mask.len() {
            mask.resize(word + 1, 0);
        }
        mask[word] |= 1 << (cpu % WORD);
    }
    Ok(mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel built for so many CPUs, on a machine of which these may be used.
    fn kernel(
        built_for: usize,
        cpus: &[u32],
    ) -> impl FnMut(&mut [libc::c_ulong]) -> io::Result<usize> {
        let own = mask_of(cpus).unwrap();
        move |mask| {
            if mask.len() * WORD < built_for {
                return Err(io::Error::from_raw_os_error(libc::EINVAL));
            }
            let words = built_for.div_ceil(WORD);
            (0..words).for_each(|w| mask[w] = own.get(w).copied().unwrap_or(0));
            // What it did not write is noise.
            mask[words..].fill(libc::c_ulong::MAX);
            Ok(words * size_of::<libc::c_ulong>())
        }
    }

    #[test]
    fn kernels_built_for_any_number_of_cpus_are_asked() {
        let all: Vec<u32> = (0..512).collect();
        let high = [0, 63, 64, 1023, 1024, 2047, 8191];
        for (built_for, cpus) in [
            (64, &[0, 5, 63][..]),
            (512, &all),
            (1024, &[1023]),
            (2048, &[0, 1024, 2047]),
            (8192, &high),
            (1 << 20, &[0, (1 << 20) - 1]),
        ] {
            let mask = read_mask(kernel(built_for, cpus)).unwrap();
            assert_eq!(cpus_in(&mask), cpus, "{built_for}");
        }
        for none in [1 << 20, u32::MAX] {
            assert_eq!(mask_of(&[none]).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
    }

    #[test]
    fn a_kernel_that_refuses_every_mask_is_not_asked_for_ever() {
        let mut asked = 0;
        let refused = read_mask(|_| {
            asked += 1;
            Err(io::Error::from_raw_os_error(libc::EINVAL))
        });
        assert_eq!(refused.unwrap_err().raw_os_error(), Some(libc::EINVAL));
        assert_eq!(asked, 11);
        let gone = read_mask(|_| Err(io::Error::from_raw_os_error(libc::ESRCH)));
        assert_eq!(gone.unwrap_err().raw_os_error(), Some(libc::ESRCH));
    }

    #[test]
    fn proc_tells_the_same_mask() {
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
            for cpu in [1024, 2047, 1 << 19, u32::MAX] {
                if before.contains(&cpu) {
                    continue;
                }
                assert!(pin_to(None, &[cpu]).is_err(), "{cpu}");
                pin(cpu);
                assert_eq!(usable_cpus(None).unwrap(), before, "{cpu}");
            }
            // Of several the ones that are here are taken.
            let last = before[before.len() - 1];
            pin_to(None, &[last, 2047]).unwrap();
            assert!(usable_cpus(None).unwrap().contains(&last));
            pin(last);
            assert_eq!(usable_cpus(None).unwrap(), [last]);
        })
        .join()
        .unwrap();
    }
}
