//! The part of a report that is read.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// Options by fio's own names, as they were typed; an alias has its proper name.
pub(super) type Options = BTreeMap<String, String>;

/// The options of a job: its own, and the global ones.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    job: Option<&'a Options>,
    global: &'a Options,
}

impl<'a> Asked<'a> {
    /// Those of a report; `None` where it reports neither: then defaults prove nothing.
    pub(super) fn find(job: Option<&'a Options>, global: &'a Options) -> Option<Self> {
        (job.is_some() || !global.is_empty()).then_some(Self { job, global })
    }

    /// The value of that option, if it is in force.
    pub(super) fn get(self, name: &str) -> Option<&'a str> {
        let own = self.job.and_then(|options| options.get(name));
        own.or_else(|| self.global.get(name)).map(String::as_str)
    }

    /// All that are in force, with their values.
    pub(super) fn all(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let own = move |name: &str| self.job.is_some_and(|options| options.contains_key(name));
        let global = self.global.iter().filter(move |(name, _)| !own(name));
        let all = self.job.into_iter().flatten().chain(global);
        all.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Report {
    #[serde(rename = "fio version")]
    pub(super) version: String,
    /// When it was printed, in milliseconds since 1970.
    pub(super) timestamp_ms: Option<i64>,
    #[serde(default, rename = "global options")]
    pub(super) global: Options,
    pub(super) jobs: Vec<Job>,
    #[serde(default)]
    pub(super) disk_util: Vec<Disk>,
}

/// A job, one of its processes, or, with `group_reporting`, a group of jobs.
#[derive(Debug, Deserialize)]
pub(super) struct Job {
    pub(super) jobname: String,
    /// Jobs with the same number run at the same time.
    pub(super) groupid: u64,
    pub(super) error: i64,
    /// In milliseconds since 1970; in fio 3.39, not yet in 3.33.
    pub(super) job_start: Option<i64>,
    #[serde(rename = "job options")]
    pub(super) options: Option<Options>,
    pub(super) read: Option<Side>,
    pub(super) write: Option<Side>,
    pub(super) trim: Option<Side>,
    /// All directions together, with `unified_rw_reporting`.
    pub(super) mixed: Option<Side>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Side {
    pub(super) io_bytes: u64,
    /// In milliseconds.
    pub(super) runtime: u64,
    pub(super) total_ios: u64,
    /// From submission to completion.
    pub(super) clat_ns: Option<Times>,
    /// The same, and submitting it.
    pub(super) lat_ns: Option<Times>,
}

/// Times of single I/Os in nanoseconds.
#[derive(Debug, Deserialize)]
pub(super) struct Times {
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) mean: f64,
    #[serde(rename = "N")]
    pub(super) count: Option<u64>,
    /// By the percentage with six decimals.
    #[serde(default)]
    pub(super) percentile: BTreeMap<String, u64>,
    /// I/Os by the middle of their bucket; in json+ only.
    #[serde(default)]
    pub(super) bins: BTreeMap<String, u64>,
}

/// Counters of a device over the whole run.
#[derive(Debug, Deserialize)]
pub(super) struct Disk {
    pub(super) read_ios: u64,
    pub(super) write_ios: u64,
    /// Of 512 bytes; in fio 3.39, not yet in 3.33.
    pub(super) read_sectors: Option<u64>,
    pub(super) write_sectors: Option<u64>,
    /// Milliseconds that I/Os spent in flight, added up.
    pub(super) in_queue: u64,
    /// Percent of the time in which an I/O was in flight.
    pub(super) util: f64,
    /// Present if other devices of the list make up this one.
    pub(super) aggr_read_ios: Option<IgnoredAny>,
}
