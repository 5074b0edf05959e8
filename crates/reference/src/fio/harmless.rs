//! The options that leave the work the same as a workload's. Any other option, known or not, makes
//! it other work.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::json::JobOptions;

type Names = LazyLock<BTreeSet<&'static str>>;

/// The options that the parameters report, and those that do not change the I/Os. The latter change
/// the display, the process that runs, or how an engine submits.
static HARMLESS: Names = LazyLock::new(|| {
    names(
        "
    allow_file_create allow_mounted_write allrandrepeat bs buffered bwavgtime clat_percentiles
    cpumask cpus_allowed cpus_allowed_policy create_fsync create_only create_serialize
    description direct directory disk_util end_fsync exitall exitall_on_error fallocate
    filename filename_format fixedbufs fsync_on_close group_reporting hugepage-size iodepth
    ioengine iopsavgtime kb_base lat_percentiles log_avg_msec log_unix_epoch loops mem
    mem_align name new_group nice numjobs per_job_logs percentile_list prio prioclass
    ramp_time randrepeat randseed registerfiles runtime rw rwmixread rwmixwrite
    significant_figures size slat_percentiles startdelay stats steadystate steadystate_duration
    steadystate_ramp_time stonewall thread time_based uid unified_rw_reporting unit_base unlink
    write_bw_log write_hist_log write_iops_log write_lat_log
",
    )
});

/// The options that make it other work when they are on, but not when they are off.
static SWITCHES: Names = LazyLock::new(|| {
    names(
        "
    bsrange bssplit buffer_compress_percentage dedupe_percentage do_verify fdatasync
    file_append fsync gtod_reduce norandommap percentage_random pre_read random_distribution
    rate rate_iops sync sync_file_range thinktime verify zero_buffers zonemode
",
    )
});

/// Returns the options of a job that make it other work: its own, then the global ones.
pub(super) fn others<'a>(options: JobOptions<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    options.all().filter(|(name, value)| !harmless(name, value))
}

fn harmless(name: &str, value: &str) -> bool {
    let off = matches!(value, "0" | "none");
    match name {
        // Removing the file from the page cache before the run is proofmark's cold cache.
        "invalidate" => !off,
        // More files change the order of the I/Os.
        "nrfiles" => value == "1",
        _ => HARMLESS.contains(name) || off && SWITCHES.contains(name),
    }
}

fn names(text: &str) -> BTreeSet<&str> {
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_to_leave_the_work_alone_does_not() {
        for (name, value, same) in [
            ("iodepth", "8", true),
            ("time_based", "", true),
            ("fsync", "0", true),
            ("zonemode", "none", true),
            ("invalidate", "1", true),
            ("nrfiles", "1", true),
            ("fsync", "1", false),
            ("invalidate", "0", false),
            ("nrfiles", "8", false),
            ("pre_read", "1", false),
            ("norandommap", "1", false),
            ("thinktime", "100us", false),
            ("thinkcycles", "1000", false),
            ("zonesize", "1m", false),
            ("rate", "1m", false),
            ("rate_min", "1m", false),
            ("verify", "crc32c", false),
            ("verify_fatal", "0", false),
            ("io_size", "1m", false),
            ("size_of_tomorrow", "0", false),
            ("offset", "1m", false),
            ("offset_increment", "0", false),
            ("buffer_compress_percentage", "50", false),
            ("read_iolog", "f", false),
        ] {
            assert_eq!(harmless(name, value), same, "{name}={value}");
        }
    }

    #[test]
    fn no_option_is_in_both_lists() {
        assert!(HARMLESS.is_disjoint(&SWITCHES));
    }
}
