//! The part of a report that is read. A field that a version does not have is left out, never an
//! error of the structure: `version` has found before what can be read.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

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

    /// Whether one of these options is in force.
    pub(super) fn has_any(self, names: &[&str]) -> bool {
        names.iter().any(|name| self.get(name).is_some())
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
    /// Absent in documents of other programs.
    #[serde(rename = "fio version")]
    pub(super) version: Option<String>,
    /// When it was printed, in seconds and in milliseconds since 1970.
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
    /// In milliseconds since 1970, from fio 3.36 on.
    pub(super) job_start: Option<i64>,
    /// Milliseconds that its processes ran, added up.
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
    /// Percent of the I/Os, by how many were in flight: at least that number, or `>=64`.
    #[serde(default)]
    pub(super) iodepth_level: BTreeMap<String, f64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Side {
    #[serde(default)]
    pub(super) io_bytes: u64,
    pub(super) bw_bytes: Option<u64>,
    pub(super) iops: Option<f64>,
    /// In milliseconds.
    #[serde(default)]
    pub(super) runtime: u64,
    pub(super) total_ios: Option<u64>,
    #[serde(default)]
    pub(super) short_ios: u64,
    #[serde(default)]
    pub(super) drop_ios: u64,
    /// From submission to completion.
    pub(super) clat_ns: Option<Times>,
    /// The same, and submitting it.
    pub(super) lat_ns: Option<Times>,
}

/// The flushes of a job: how often is in the times, `total_ios` of it often is 0.
#[derive(Debug, Deserialize)]
pub(super) struct Flushes {
    pub(super) lat_ns: Option<Times>,
}

#[derive(Debug, Deserialize)]
pub(super) struct SteadyState {
    pub(super) attained: Option<i64>,
}

/// Times of single I/Os in nanoseconds.
#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct Times {
    #[serde(default)]
    pub(super) min: u64,
    #[serde(default)]
    pub(super) max: u64,
    #[serde(default)]
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
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) read_ios: u64,
    #[serde(default)]
    pub(super) write_ios: u64,
    /// I/Os that became part of another.
    #[serde(default)]
    pub(super) read_merges: u64,
    #[serde(default)]
    pub(super) write_merges: u64,
    /// Of 512 bytes; in fio 3.39, not yet in 3.33.
    pub(super) read_sectors: Option<u64>,
    pub(super) write_sectors: Option<u64>,
    /// Milliseconds that I/Os spent in flight, added up.
    #[serde(default)]
    pub(super) in_queue: u64,
    /// Percent of the time in which an I/O was in flight.
    #[serde(default)]
    pub(super) util: f64,
    /// Present if other devices of the list make up this one.
    pub(super) aggr_read_ios: Option<IgnoredAny>,
}

/// fio prints text; what passed through another program may have numbers.
fn options<'de, D: Deserializer<'de>>(from: D) -> Result<Options, D::Error> {
    let values = BTreeMap::<String, Value>::deserialize(from)?;
    let text = |value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    Ok(values.into_iter().map(|(name, value)| (name, text(value))).collect())
}

fn some_options<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Options>, D::Error> {
    options(from).map(Some)
}
