//! The grouping of a report's entries by job, and of jobs by the time at which they ran.

use std::collections::BTreeMap;

use super::accounts::{Processes, contradiction, count};
use super::json::{Job, JobOptions, Report};
use super::pattern::Pattern;
use super::version::hides_processes;
use crate::Malformed;

/// Options that only set the place where a process works.
const PLACES: &[&str] =
    &["cpumask", "cpus_allowed", "description", "directory", "filename", "name", "offset"];

/// One job: an entry, or one entry for each of its processes, which ran at the same time.
pub(super) struct Work<'a> {
    pub(super) entries: Vec<&'a Job>,
    /// The job's own and the global options. `None` if the report has neither, or if the statistics
    /// contradict them.
    pub(super) options: Option<JobOptions<'a>>,
    pub(super) threads: Option<u64>,
    /// The contradiction of the statistics to the options.
    pub(super) contradiction: Option<String>,
    /// Jobs with the same number ran at the same time.
    pub(super) period: usize,
    /// True if no other job ran at the same time, and all its processes worked in the same place.
    pub(super) alone: bool,
}

/// Returns the jobs in the order of the report. Entries with one name and the same options that ran
/// at the same time are processes of one job.
pub(super) fn works<'a>(report: &'a Report, line: usize) -> Result<Vec<Work<'a>>, Malformed> {
    let periods = periods(report);
    let mut places = BTreeMap::new();
    let mut found: Vec<(usize, Vec<&Job>)> = Vec::new();
    for job in &report.jobs {
        let period = periods.get(&job.groupid).copied().unwrap_or(0);
        let next = found.len();
        let key = (period, job.groupid, job.jobname.as_str(), other_than_places(job));
        match found.get_mut(*places.entry(key).or_insert(next)) {
            Some((_, entries)) => entries.push(job),
            None => found.push((period, vec![job])),
        }
    }
    let mut in_period = BTreeMap::new();
    for (period, _) in &found {
        *in_period.entry(*period).or_insert(0_usize) += 1;
    }
    let work = |(period, entries): (usize, Vec<&'a Job>)| {
        let alone = in_period.get(&period) == Some(&1);
        Work::find(report, entries, line).map(|work| Work {
            period,
            alone: alone && work.alone,
            ..work
        })
    };
    found.into_iter().map(work).collect()
}

/// Returns the period of each group. A new one begins when the group before has ended, except after
/// `new_group`, which only separates the statistics.
fn periods(report: &Report) -> BTreeMap<u64, usize> {
    let mut periods = BTreeMap::new();
    let mut last = 0;
    for job in &report.jobs {
        if periods.contains_key(&job.groupid) {
            continue;
        }
        let has = |name: &str| job.options.as_ref().is_some_and(|own| own.contains_key(name));
        let concurrent = has("new_group") && !has("stonewall") && !has("wait_for_previous");
        last += usize::from(!periods.is_empty() && !concurrent);
        periods.insert(job.groupid, last);
    }
    periods
}

fn other_than_places(job: &Job) -> Vec<(&str, &str)> {
    let options = job.options.iter().flatten().filter(|(name, _)| !PLACES.contains(&name.as_str()));
    options.map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

impl<'a> Work<'a> {
    fn find(report: &'a Report, entries: Vec<&'a Job>, line: usize) -> Result<Self, Malformed> {
        let options =
            entries.first().and_then(|j| JobOptions::find(j.options.as_ref(), &report.global));
        let hidden = report.version.as_deref().is_some_and(hides_processes);
        let Processes { count: threads, contradiction: why } = count(&entries, options, hidden);
        let one_place = entries.windows(2).all(|pair| pair[0].options == pair[1].options);
        let mut work =
            Self { entries, options, threads, contradiction: why, period: 0, alone: one_place };
        if let (None, Some(options)) = (&work.contradiction, options) {
            let pattern = Pattern::asked(options).map_err(|rw| {
                Malformed::at(line, format!("rw={} is not known", Malformed::excerpt(rw)))
            })?;
            let each = if work.entries.len() > 1 { Some(1) } else { threads };
            let mut entries = work.entries.iter();
            work.contradiction = entries.find_map(|job| contradiction(job, options, pattern, each));
        }
        if work.contradiction.is_some() {
            (work.options, work.threads) = (None, None);
        }
        Ok(work)
    }

    pub(super) fn name(&self) -> &'a str {
        self.entries.first().map_or("", |job| job.jobname.as_str())
    }

    /// Returns the entry that ended in an error, if one did.
    pub(super) fn failed(&self) -> Option<&'a Job> {
        self.entries.iter().copied().find(|job| job.error != 0)
    }

    pub(super) fn pattern(&self) -> Option<Pattern> {
        self.options.and_then(|options| Pattern::asked(options).ok())
    }
}
