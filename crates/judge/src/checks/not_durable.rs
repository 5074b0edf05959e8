//! `not_durable`: what is called written may still be in a volatile cache.

use proofmark_model::{FileState, Finding, Measurement, Severity, Trial};

use super::{Check, Class};
use crate::Context;
use crate::disk::{Cached, Way, asked, asks, commits, files, measured};

/// Whether a device at the bottom has a volatile cache: `None` where one does not tell
/// and no other has one.
fn volatile(ctx: &Context) -> Option<bool> {
    let mut leaves = ctx.host.storage.get()?.leaves().peekable();
    leaves.peek()?;
    let told: Vec<Option<bool>> = leaves.map(|d| d.volatile_cache).collect();
    if told.contains(&Some(true)) {
        return Some(true);
    }
    told.iter().all(|t| *t == Some(false)).then_some(false)
}

/// Trials of which the device counted no flush, or fewer than the commits need: one
/// flush serves at most one commit of each thread.
fn trials_unflushed(m: &Measurement) -> usize {
    let threads = m.params.threads().max(1) as f64;
    let least = |t: &Trial| if commits(m) { (t.work / threads).floor() } else { 0.0 };
    let counted = |t: &Trial| t.device.as_ref()?.flushes;
    let missing = |t: &&Trial| {
        let wrote = asked(t, Way::Written) > 0.0;
        wrote && counted(t).is_some_and(|n| n == 0 || (n as f64) < least(t))
    };
    m.trials.iter().filter(missing).count()
}

pub(super) static CHECK: Check = Check {
    id: "not_durable",
    class: Class::Claim,
    title: "Writes may not be durable",
    about: "Whether the timed part of a writing workload ends with a flush. Buffered writes without a \
         flush are invalid: the time is that of copying into memory. Direct writes without a flush \
         are suspect if the device has a volatile cache or does not report it: the rate may be \
         that of the cache. Trials with a flush that a device with a volatile cache did not count \
         are suspect. So are commits (disk.fsync) with fewer flushes than one per commit of each \
         thread: the file system does not pass them on (mounted without barriers). Use flush=end, \
         and mount with barriers.",
    examine,
    examine_reference: Some(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if !measured(m) || !asks(m, Way::Written) || files(m).next().is_none() {
        return None;
    }
    let volatile = volatile(ctx);
    let flushed = files(m).all(FileState::flushed);
    let buffered = Cached::of(m) != Cached::Direct || files(m).any(|f| f.direct == Some(false));
    let unflushed = trials_unflushed(m);
    let (severity, message) = match (flushed, buffered, volatile) {
        (false, true, _) => (
            Severity::Invalid,
            "buffered writes without a flush: the time is that of copying into memory",
        ),
        (false, false, Some(true)) => (
            Severity::Suspect,
            "writes without a flush: the data may still be in the device's volatile cache",
        ),
        (false, false, None) => (
            Severity::Suspect,
            "writes without a flush; whether the device has a volatile cache is unknown",
        ),
        (true, _, Some(true)) if unflushed > 0 => (
            Severity::Suspect,
            "the device has a volatile cache but counted no flush, or too few, in trials that \
             ended with one",
        ),
        _ => return None,
    };
    let advice = "end with a flush (flush=end), on a file system mounted with barriers";
    Some(
        Finding::new(CHECK.id, severity, message, advice)
            .with("flushed", flushed)
            .with("buffered", buffered)
            .with("trials_without_flush", unflushed),
    )
}

#[cfg(test)]
mod tests {
    use proofmark_model::Flush;

    use super::*;
    use crate::testing::{disk, each, found_on, fsync, rand_read, with_storage};

    fn says(m: Measurement, volatile: Option<bool>) -> Option<Severity> {
        let host = with_storage(|s| s.devices[0].volatile_cache = volatile);
        found_on(&host, &CHECK, m, &[]).map(|f| f.severity)
    }

    fn unflushed(name: &str, cache: &str) -> Measurement {
        each(disk(name, 4096, cache), |_, t| t.file.as_mut().unwrap().flush = Flush::Never)
    }

    #[test]
    fn buffered_writes_without_a_flush_are_invalid() {
        for volatile in [Some(true), Some(false), None] {
            for name in ["seq_write", "rand_write", "mixed"] {
                let severity = says(unflushed(name, "cold"), volatile);
                assert_eq!(severity, Some(Severity::Invalid), "{name}");
            }
        }
        let silently = each(unflushed("seq_write", "none"), |_, t| {
            t.file.as_mut().unwrap().direct = Some(false);
        });
        assert_eq!(says(silently, Some(false)), Some(Severity::Invalid));
    }

    #[test]
    fn direct_writes_depend_on_the_devices_cache() {
        let m = || unflushed("rand_write", "none");
        assert_eq!(says(m(), Some(true)), Some(Severity::Suspect));
        assert_eq!(says(m(), None), Some(Severity::Suspect));
        assert_eq!(says(m(), Some(false)), None, "it writes through");
        let bare = with_storage(|s| s.devices.clear());
        assert!(found_on(&bare, &CHECK, m(), &[]).is_some(), "no device is known");
    }

    #[test]
    fn a_flush_that_never_came_is_suspect() {
        let dropped = |flushes: Option<u64>| {
            each(fsync(1), |_, t| t.device.as_mut().unwrap().flushes = flushes)
        };
        assert_eq!(says(dropped(Some(0)), Some(true)), Some(Severity::Suspect));
        assert_eq!(says(dropped(Some(0)), Some(false)), None, "none is needed");
        assert_eq!(says(dropped(None), Some(true)), None);
        assert_eq!(says(fsync(1), Some(true)), None);
        let once = each(disk("seq_write", 1 << 20, "none"), |i, t| {
            t.device.as_mut().unwrap().flushes = Some(u64::from(i != 6));
        });
        assert_eq!(says(once, Some(true)), Some(Severity::Suspect), "one trial of ten");
    }

    #[test]
    fn fewer_flushes_than_commits_are_suspect() {
        let flushed = |threads: u64, for_each: f64| {
            let m = each(fsync(threads), |_, t| {
                t.device.as_mut().unwrap().flushes = Some((t.work * for_each).ceil() as u64);
            });
            says(m, Some(true))
        };
        assert_eq!(flushed(1, 0.9), Some(Severity::Suspect));
        assert_eq!(flushed(1, 1.0), None);
        assert_eq!(flushed(4, 0.2), Some(Severity::Suspect));
        assert_eq!(flushed(4, 0.25), None, "one for a commit of each thread");
    }

    #[test]
    fn reads_are_not_judged() {
        let m = each(rand_read(1), |_, t| t.file.as_mut().unwrap().flush = Flush::Never);
        assert_eq!(says(m, Some(true)), None);
    }
}
