//! The fields that proofmark reads. A version that lacks a field is no structural error: `version`
//! has already checked that the report can be read.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Options as they were typed, by fio's own names; an alias has its proper name.
pub(super) type Options = BTreeMap<String, String>;

/// The options of a job: its own, and the global ones.
#[derive(Clone, Copy)]
pub(super) struct JobOptions<'a> {
    job: Option<&'a Options>,
    global: &'a Options,
}

impl<'a> JobOptions<'a> {
    /// Returns the options in a report. `None` if it reports neither kind: then the defaults prove
    /// nothing.
    pub(super) fn find(job: Option<&'a Options>, global: &'a Options) -> Option<Self> {
        (job.is_some() || !global.is_empty()).then_some(Self { job, global })
    }

    /// Returns the value of an option, if it is set.
    pub(super) fn get(self, name: &str) -> Option<&'a str> {
        let own = self.job.and_then(|options| options.get(name));
        own.or_else(|| self.global.get(name)).map(String::as_str)
    }

    /// Returns true if one of these options is set.
    pub(super) fn has_any(self, names: &[&str]) -> bool {
        names.iter().any(|name| self.get(name).is_some())
    }

    /// Returns all options that are set, with their values.
    pub(super) fn all(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let own = move |name: &str| self.job.is_some_and(|options| options.contains_key(name));
        let global = self.global.iter().filter(move |(name, _)| !own(name));
        let all = self.job.into_iter().flatten().chain(global);
        all.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Report {
    /// Absent in documents of other programs.
    #[serde(rename = "fio version")]
    pub(super) version: Option<String>,
    /// The time of printing since 1970, in seconds and in milliseconds.
    pub(super) timestamp: Option<i64>,
    pub(super) timestamp_ms: Option<i64>,
    #[serde(default, rename = "global options", deserialize_with = "options")]
    pub(super) global: Options,
    #[serde(default)]
    pub(super) jobs: Vec<Job>,
    #[serde(default)]
    pub(super) disk_util: Vec<Disk>,
}

/// A job, one of its processes, or, with `group_reporting`, a group of jobs.
#[derive(Debug, Deserialize)]
pub(super) struct Job {
    #[serde(default)]
    pub(super) jobname: String,
    /// Jobs with the same number run at the same time.
    #[serde(default)]
    pub(super) groupid: u64,
    #[serde(default)]
    pub(super) error: i64,
    /// The start of the job, in milliseconds since 1970, from fio 3.36 on.
    pub(super) job_start: Option<i64>,
    /// The sum of its processes' runtimes, in milliseconds.
    pub(super) job_runtime: Option<u64>,
    #[serde(default, rename = "job options", deserialize_with = "some_options")]
    pub(super) options: Option<Options>,
    pub(super) read: Option<Side>,
    pub(super) write: Option<Side>,
    pub(super) trim: Option<Side>,
    /// All directions together, with `unified_rw_reporting`.
    pub(super) mixed: Option<Side>,
    /// Flushes by `fsync` and `fdatasync`, from fio 3.5 on.
    pub(super) sync: Option<Flushes>,
    pub(super) steadystate: Option<SteadyState>,
    /// The percent of the I/Os by depth: from that depth on, such as `8` or `>=64`.
    #[serde(default)]
    pub(super) iodepth_level: BTreeMap<String, f64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Side {
    #[serde(default)]
    pub(super) io_bytes: u64,
    pub(super) bw_bytes: Option<u64>,
    pub(super) iops: Option<f64>,
    /// The runtime in milliseconds.
    #[serde(default)]
    pub(super) runtime: u64,
    pub(super) total_ios: Option<u64>,
    #[serde(default)]
    pub(super) short_ios: u64,
    #[serde(default)]
    pub(super) drop_ios: u64,
    /// The times from submission to completion.
    pub(super) clat_ns: Option<Times>,
    /// The same times with the submission.
    pub(super) lat_ns: Option<Times>,
}

/// The flushes of a job. Their number is in the times; their `total_ios` is often 0.
#[derive(Debug, Deserialize)]
pub(super) struct Flushes {
    pub(super) lat_ns: Option<Times>,
}

#[derive(Debug, Deserialize)]
pub(super) struct SteadyState {
    pub(super) attained: Option<i64>,
}

/// The times of single I/Os in nanoseconds.
#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct Times {
    #[serde(default)]
    pub(super) min: u64,
    #[serde(default)]
    pub(super) max: u64,
    /// Absent where fio printed no number (`nan`).
    pub(super) mean: Option<f64>,
    #[serde(rename = "N")]
    pub(super) count: Option<u64>,
    /// The percentiles, by the percentage with six decimals.
    #[serde(default)]
    pub(super) percentile: BTreeMap<String, u64>,
    /// The I/Os by the middle of their bucket; in json+ only.
    #[serde(default)]
    pub(super) bins: BTreeMap<String, u64>,
}

/// The counters of a device over the whole run.
#[derive(Debug, Deserialize)]
pub(super) struct Disk {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) read_ios: u64,
    #[serde(default)]
    pub(super) write_ios: u64,
    /// The I/Os that were merged into another.
    #[serde(default)]
    pub(super) read_merges: u64,
    #[serde(default)]
    pub(super) write_merges: u64,
    /// Sectors of 512 bytes; fio 3.39 prints them, 3.33 does not.
    pub(super) read_sectors: Option<u64>,
    pub(super) write_sectors: Option<u64>,
    /// The sum of the milliseconds that I/Os spent in flight.
    #[serde(default)]
    pub(super) in_queue: u64,
    /// The percent of the time with an I/O in flight.
    pub(super) util: Option<f64>,
    /// Present if this device consists of other devices in the list.
    pub(super) aggr_read_ios: Option<IgnoredAny>,
}

/// Reads options. fio prints strings, but a program that rewrote the report may print numbers. Of an
/// option that is set several times the last counts, but a job uses all files.
fn options<'de, D: Deserializer<'de>>(from: D) -> Result<Options, D::Error> {
    from.deserialize_map(AllOptions)
}

struct AllOptions;

impl<'de> Visitor<'de> for AllOptions {
    type Value = Options;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("options by their names")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Options, M::Error> {
        let mut options = Options::new();
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            let text = match value {
                Value::String(text) => text,
                other => other.to_string(),
            };
            match options.get_mut(&name).filter(|_| name == "filename") {
                Some(files) => files.extend([":", &text]),
                None => drop(options.insert(name, text)),
            }
        }
        Ok(options)
    }
}

fn some_options<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Options>, D::Error> {
    options(from).map(Some)
}
