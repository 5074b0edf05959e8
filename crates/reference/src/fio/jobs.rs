//! From the entries of a report to figures.

use std::collections::BTreeMap;

use proofmark_model::{DeviceTraffic, FileState, Params, Subsystem, Timestamp, Trial, Unit};

use super::json::{Asked, Job, Report, Side};
use super::options::{direct, file, flush, params, plain, processes};
use super::pattern::{Pattern, Way};
use super::times::latency;
use super::verification::{device, is_evidence};
use crate::{Figure, Malformed, Output};

struct Work<'a> {
    entries: Vec<&'a Job>,
    /// Its own and the global options; `None` where the report has neither.
    options: Option<Asked<'a>>,
    threads: Option<u64>,
    /// Whether no other job ran at the same time.
    alone: bool,
}

/// What a report holds that begins on that line.
pub(super) fn output(report: &Report, line: usize) -> Result<Output, Malformed> {
    let version = report.version.strip_prefix("fio-").unwrap_or(&report.version);
    if version.starts_with("1.") || version.starts_with("2.") {
        // There io_bytes is in KiB in some versions, in bytes in others.
        let version = Malformed::excerpt(version);
        return Err(Malformed::at(line, format!("of fio {version}; fio 3.0 and newer are read")));
    }
    let works = works(report);
    let device = match works.as_slice() {
        [_] => device(&report.disk_util, line)?,
        _ => None,
    };
    let mut figures = Vec::new();
    for work in &works {
        figures.extend(work.figures(device.as_ref(), line)?);
    }
    if figures.is_empty() {
        return Err(Malformed::at(line, nothing(report)));
    }
    let began = report.jobs.iter().filter_map(|j| j.job_start).min();
    Ok(Output {
        version: Some(Malformed::excerpt(version)),
        started: began.or(report.timestamp_ms).and_then(Timestamp::from_millis),
        figures,
    })
}

fn nothing(report: &Report) -> String {
    match report.jobs.iter().find(|j| j.error != 0) {
        Some(job) => {
            format!("job {} ended with error {}", Malformed::excerpt(&job.jobname), job.error)
        }
        None => "no job did I/O for a millisecond".to_owned(),
    }
}

/// The jobs in the order of the report: the processes of one, if the report separates them,
/// have entries of the same name in the same group.
fn works(report: &Report) -> Vec<Work<'_>> {
    let mut places = BTreeMap::new();
    let mut named: Vec<Vec<&Job>> = Vec::new();
    for job in &report.jobs {
        let next = named.len();
        let place = *places.entry((job.groupid, job.jobname.as_str())).or_insert(next);
        match named.get_mut(place) {
            Some(entries) => entries.push(job),
            None => named.push(vec![job]),
        }
    }
    let mut works: Vec<_> = named.into_iter().flat_map(|jobs| split(report, jobs)).collect();
    let mut in_group = BTreeMap::new();
    for work in &works {
        *in_group.entry(work.group()).or_insert(0_usize) += 1;
    }
    for work in &mut works {
        work.alone = in_group.get(&work.group()) == Some(&1);
    }
    works
}

/// One job of entries of one name, if they are as many as its processes, or it has just one;
/// else as many jobs as entries.
fn split<'a>(report: &'a Report, entries: Vec<&'a Job>) -> Vec<Work<'a>> {
    let options = entries.first().and_then(|j| Asked::find(j.options.as_ref(), &report.global));
    let threads = options.and_then(processes);
    let of = |entries| Work { entries, options, threads, alone: true };
    if entries.len() == 1 || threads == u64::try_from(entries.len()).ok() {
        return vec![of(entries)];
    }
    entries.into_iter().map(|entry| of(vec![entry])).collect()
}

impl Work<'_> {
    fn group(&self) -> Option<u64> {
        self.entries.first().map(|job| job.groupid)
    }

    /// A figure for each direction that did something; none if it failed.
    fn figures(
        &self,
        device: Option<&DeviceTraffic>,
        line: usize,
    ) -> Result<Vec<Figure>, Malformed> {
        if self.entries.iter().any(|job| job.error != 0) {
            return Ok(Vec::new());
        }
        let mut figures = Vec::new();
        for way in Way::ALL {
            let Some(trial) = self.trial(way, device) else { continue };
            let latency = match self.sides(way).as_slice() {
                [side] => latency(side, line)?,
                // The percentiles of several cannot be put together.
                _ => None,
            };
            figures.push(Figure { latency, ..self.figure(way, trial, line)? });
        }
        Ok(figures)
    }

    /// What fio reports of a direction, one per entry.
    fn sides(&self, way: Way) -> Vec<&Side> {
        self.entries.iter().filter_map(|job| side(job, way)).collect()
    }

    /// All bytes over the longest runtime.
    fn trial(&self, way: Way, device: Option<&DeviceTraffic>) -> Option<Trial> {
        let mut sides = self.sides(way);
        if way == Way::Mixed && sides.is_empty() {
            let (read, written) = (self.sides(Way::Read), self.sides(Way::Write));
            if read.is_empty() || written.is_empty() {
                return None;
            }
            sides = [read, written].concat();
        }
        let bytes: f64 = sides.iter().map(|side| side.io_bytes as f64).sum();
        let seconds = sides.iter().map(|side| side.runtime).max()? as f64 / 1e3;
        let file = self.file(way);
        let usable = |d: &&DeviceTraffic| file.as_ref().is_none_or(|f| is_evidence(d, f, seconds));
        let device = device.filter(usable);
        let device = device.map(|d| DeviceTraffic { busy_s: d.busy_s * seconds, ..d.clone() });
        // A size that is not reported matters only where nothing else proves what was read.
        let file = file.filter(|f| f.size_bytes > 0 || device.is_some());
        Some(Trial { device, file, ..Trial::new(Unit::BytePerSecond, bytes, seconds) })
    }

    /// How the file was used; `None` where the options, or the share of reads, are not reported.
    fn file(&self, way: Way) -> Option<FileState> {
        let options = self.options?;
        let pattern = Pattern::asked(options).ok()?;
        let bytes = |way| {
            let all = self.sides(way).into_iter().map(|side| side.io_bytes);
            all.fold(0, u64::saturating_add)
        };
        let [asked_read_bytes, asked_written_bytes] = match way {
            Way::Read => [bytes(Way::Read), 0],
            Way::Write => [0, bytes(Way::Write)],
            Way::Mixed => [bytes(Way::Read), bytes(Way::Write)],
            Way::Trim => return None,
        };
        (asked_read_bytes > 0 || asked_written_bytes > 0).then(|| FileState {
            asked_read_bytes,
            asked_written_bytes,
            order: pattern.order(),
            flush: flush(options),
            direct: Some(direct(options)),
            size_bytes: self.threads.and_then(|threads| file(options, threads)).unwrap_or_default(),
            // What only the system knows is left open.
            ..FileState::default()
        })
    }

    fn figure(&self, way: Way, trial: Trial, line: usize) -> Result<Figure, Malformed> {
        let (test, comparable, params) = match self.options {
            Some(options) => {
                let pattern = Pattern::asked(options).map_err(|rw| {
                    Malformed::at(line, format!("rw={} is not known", Malformed::excerpt(rw)))
                })?;
                let params = self.threads.map(|threads| params(options, way, threads));
                (pattern.test(way), self.alone && plain(options), params.unwrap_or_default())
            }
            None => (way.word().to_owned(), false, Params::default()),
        };
        let name = self.entries.first().map_or("", |job| job.jobname.as_str());
        let title = format!("{}: {}", Malformed::excerpt(name), test.replace('.', " "));
        let what = (Subsystem::Disk, Unit::BytePerSecond);
        Ok(Figure { comparable, ..Figure::rate(test, title, what, params, trial) })
    }
}

/// The direction of a job, if it did something for a time that fio reports.
fn side(job: &Job, way: Way) -> Option<&Side> {
    let side = match way {
        Way::Read => &job.read,
        Way::Write => &job.write,
        Way::Trim => &job.trim,
        Way::Mixed => &job.mixed,
    };
    side.as_ref().filter(|side| side.io_bytes > 0 && side.runtime > 0)
}
