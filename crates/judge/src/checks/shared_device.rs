//! `shared_device`: somebody else used the device during the trials.

use proofmark_model::{Finding, Measurement, Severity, Trial, Unit, format_quantity};

use super::share::Share;
use super::{Check, percent};
use crate::Context;
use crate::disk::{Cached, Way, asked, asks, commits, measured, storage, waits};
use crate::words::counted;

/// The target interval: less traffic of others than this cannot move the median out of it.
const THRESHOLD: f64 = 0.02;
/// Bytes a trial that are the file system's own, such as a commit of its journal for
/// the times of our file, or the run's own record.
const HOUSEKEEPING: f64 = 262_144.0;
/// Part of the trials in which there must have been others.
const A_THIRD: usize = 3;
/// File systems that write new places and new metadata for each write.
const COPY_ON_WRITE: &[&str] = &["btrfs", "zfs", "bcachefs", "f2fs", "nilfs2"];

pub(super) struct SharedDevice;

/// Whether bytes of that direction that are not this process's are somebody else's.
///
/// A journal and copies on write are written in the kernel's name, and several devices
/// at the bottom hold each write more than once, or read what they do not write whole.
fn comparable(ctx: &Context, m: &Measurement, way: Way) -> bool {
    let Some(storage) = storage(ctx.host) else { return false };
    let one = storage.leaves().count() == 1;
    let writes = asks(m, Way::Written);
    match way {
        Way::Read => one || !writes,
        Way::Written if writes => {
            let moves = COPY_ON_WRITE.contains(&storage.file_system.as_str());
            one && !commits(m) && !moves
        }
        Way::Written => one,
    }
}

/// Bytes that the device moved that way for others, less what is housekeeping.
fn of_others(m: &Measurement, t: &Trial, way: Way) -> Option<f64> {
    let device = t.device.as_ref()?;
    // Without its own account a buffered read is not told from what was read ahead.
    let fallback = (Cached::of(m) == Cached::Direct).then(|| asked(t, way));
    let own = way.own(device).or(fallback)?;
    Some((way.moved(device) - own - HOUSEKEEPING).max(0.0))
}

impl Check for SharedDevice {
    fn id(&self) -> &'static str {
        "shared_device"
    }

    fn title(&self) -> &'static str {
        "Device shared with other I/O"
    }

    fn about(&self) -> &'static str {
        "Bytes that the device moved during the trials and that were not this process's (by its own \
         account, or what direct I/O asked for), less 256 KiB a trial and direction for the file system. \
         More than 2 % of what was asked is suspect, a note where that is so only with the worst tenth of \
         the trials, or in less than a third of them. Writes beside commits (disk.fsync), on file systems \
         that copy on write and on several devices at once are not compared, since the kernel itself \
         writes more than was asked. Warm reads use no device. Stop what else uses it."
    }

    fn examine(&self, ctx: &Context, m: &Measurement) -> Option<Finding> {
        if !measured(m) || !waits(m) {
            return None;
        }
        let ways: Vec<Way> = Way::BOTH.into_iter().filter(|w| comparable(ctx, m, *w)).collect();
        let others = |t: &Trial| -> Option<f64> {
            let parts: Vec<f64> = ways.iter().filter_map(|w| of_others(m, t, *w)).collect();
            (!parts.is_empty()).then(|| parts.iter().sum())
        };
        let base = |t: &Trial| Way::BOTH.iter().map(|w| asked(t, *w)).sum();
        let share = Share::of(&m.trials, others, base)?;
        let above =
            m.trials.iter().filter(|t| others(t).is_some_and(|o| o > THRESHOLD * base(t))).count();
        let found = share.severity(THRESHOLD)?;
        let severity = if above * A_THIRD < share.trials { Severity::Note } else { found };
        let seconds: f64 = m.trials.iter().map(|t| t.seconds).sum();
        let rate = |way: Way| -> f64 {
            let all = m.trials.iter().filter_map(|t| of_others(m, t, way)).sum::<f64>() / seconds;
            if ways.contains(&way) && all.is_finite() { all } else { 0.0 }
        };
        let message = format!(
            "others read {} and wrote {} on the same device, {} of what was asked, in {above} of {}",
            format_quantity(rate(Way::Read), Unit::BytePerSecond),
            format_quantity(rate(Way::Written), Unit::BytePerSecond),
            percent(share.all),
            counted(share.trials, "trial")
        );
        let advice = "stop what else uses the device (iotop shows it), or measure another one";
        let finding = Finding::new(self.id(), severity, message, advice)
            .with("others_read_bytes_per_s", rate(Way::Read))
            .with("others_written_bytes_per_s", rate(Way::Written));
        Some(share.told(finding, "others_bytes"))
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::Host;

    use super::*;
    use crate::testing::{
        block_device, disk, each, found_on, fsync, host_with_disk, rand_read, with_storage,
    };

    /// Others read and write so many bytes in so many of the trials.
    fn disturbed(m: Measurement, read: u64, written: u64, trials: usize) -> Measurement {
        each(m, |i, t| {
            if i < trials {
                let device = t.device.as_mut().unwrap();
                device.read_bytes += read;
                device.written_bytes += written;
            }
        })
    }

    fn on(host: &Host, m: Measurement) -> Option<Severity> {
        found_on(host, &SharedDevice, m, &[]).map(|f| f.severity)
    }

    fn says(m: Measurement) -> Option<Severity> {
        on(&host_with_disk(), m)
    }

    #[test]
    fn another_reader_or_writer_is_suspect() {
        // 5.4 MB a trial are asked for.
        for m in [rand_read(1), disk("rand_write", 4096, "none"), disk("seq_read", 4096, "cold")] {
            assert_eq!(says(disturbed(m.clone(), 1 << 20, 0, 10)), Some(Severity::Suspect));
            assert_eq!(says(disturbed(m, 0, 1 << 20, 10)), Some(Severity::Suspect));
        }
        let m = disturbed(rand_read(1), 1 << 20, 2 << 20, 10);
        let finding = found_on(&host_with_disk(), &SharedDevice, m, &[]).unwrap();
        assert!(finding.evidence["others_read_bytes_per_s"].as_f64().unwrap() > 7e6);
        assert!(finding.evidence["others_written_bytes_per_s"].as_f64().unwrap() > 15e6);
    }

    #[test]
    fn without_its_own_account_direct_io_is_what_was_asked() {
        let untold =
            |m: Measurement| each(m, |_, t| t.device.as_mut().unwrap().own_read_bytes = None);
        let m = disturbed(untold(rand_read(1)), 1 << 20, 0, 10);
        assert_eq!(says(m), Some(Severity::Suspect));
        assert_eq!(says(untold(rand_read(1))), None);
        let ahead = disturbed(untold(disk("seq_read", 4096, "cold")), 1 << 20, 0, 10);
        assert_eq!(says(ahead), None, "it may have been read ahead");
    }

    #[test]
    fn in_few_trials_it_is_a_note() {
        assert_eq!(says(disturbed(rand_read(1), 8 << 20, 0, 2)), Some(Severity::Note));
        assert_eq!(says(disturbed(rand_read(1), 8 << 20, 0, 4)), Some(Severity::Suspect));
    }

    #[test]
    fn journals_copies_and_mirrors_are_no_others() {
        assert_eq!(says(disturbed(rand_read(1), 0, 200_000, 10)), None, "a commit of the journal");
        assert_eq!(says(disturbed(fsync(1), 0, 64 << 20, 10)), None);
        assert_eq!(says(disturbed(fsync(1), 4 << 20, 0, 10)), Some(Severity::Suspect));
        let written = || disturbed(disk("rand_write", 4096, "none"), 0, 8 << 20, 10);
        let copies = with_storage(|s| s.file_system = "btrfs".to_owned());
        assert_eq!(on(&copies, written()), None);
        let mirror = with_storage(|s| s.devices.push(block_device("vdb", "254:16")));
        assert_eq!(on(&mirror, written()), None);
        let read = disturbed(rand_read(1), 1 << 20, 0, 10);
        assert_eq!(on(&mirror, read), Some(Severity::Suspect));
    }

    #[test]
    fn a_warm_file_shares_nothing() {
        let warm = disturbed(disk("seq_read", 4096, "warm"), 64 << 20, 0, 10);
        assert_eq!(says(warm), None);
        assert_eq!(says(each(rand_read(1), |_, t| t.device = None)), None);
    }
}
