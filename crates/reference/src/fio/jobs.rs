//! Converts the entries of a report to figures.

use std::collections::BTreeSet;

use proofmark_model::{
    FileState, Finding, Latency, Order, Params, Severity, Timestamp, Trial, Unit, check_id,
    format_quantity,
};

use super::Fio;
use super::accounts::other_rate;
use super::causes::{faster_than_a_disk, not_by_the_device};
use super::json::{Job, JobOptions, Report, Side};
use super::medium::{at_bottom, not_a_disk};
use super::options::{
    block, direct, file, flush, flushed_after, pacing, params, plain, ramp_ms, reads,
};
use super::pattern::Direction;
use super::times::latency;
use super::verification::{Evidence, Requests, counters, lack};
use super::version::bare;
use super::works::{Work, works};
use crate::figure::DISK;
use crate::findings::{contradicts, warned};
use crate::{Figure, Malformed, Output, Tool};

/// The median of random reads in seconds that no disk reaches through the page cache. A copy from the
/// cache takes about 1 us; the quickest devices need some 5 us.
const QUICKEST_S: f64 = 2e-6;

/// Reads a report that begins on this line. If it has no figures, [`nothing`] returns the reason.
pub(super) fn output(report: &Report, line: usize) -> Result<Output, Malformed> {
    let works = works(report, line)?;
    let counters = counters(&report.disk_util, line)?;
    let evidence = match (&counters, works.len()) {
        (None, _) => Evidence::None,
        (Some(all), 1) => Evidence::OfThisJob(all),
        (Some(all), _) => Evidence::OfAllJobs(all),
    };
    let mut figures: Vec<Figure> = Vec::new();
    let mut seen = BTreeSet::new();
    for work in &works {
        for mut figure in work.figures(evidence, line)? {
            // Jobs that ran at the same time are not repetitions.
            let key = |f: &Figure| (work.period, f.test.clone(), f.title.clone(), f.params.clone());
            figure.findings.extend(not_a_disk(work.options, &report.disk_util));
            let title = figure.title.clone();
            for number in 2.. {
                if seen.insert(key(&figure)) {
                    break;
                }
                figure.title = format!("{title} ({number})");
            }
            figures.push(figure);
        }
    }
    let began = report.jobs.iter().filter_map(|j| j.job_start).min();
    let printed = report.timestamp_ms.or_else(|| report.timestamp?.checked_mul(1000));
    let mut output = Output {
        version: report.version.as_deref().map(|version| Malformed::excerpt(bare(version))),
        started: began.or(printed).and_then(Timestamp::from_millis),
        figures,
        ..Output::default()
    };
    output.lose(works.iter().filter_map(Work::failed).map(ended_with));
    Ok(output)
}

/// Returns the names of the devices whose counters a report has, in order; empty if it has none.
pub(super) fn devices(report: &Report) -> String {
    let mut names: Vec<_> = at_bottom(&report.disk_util).map(|disk| &*disk.name).collect();
    names.sort_unstable();
    Malformed::excerpt(&names.join(" "))
}

/// Returns the reason why a report has no figure.
pub(super) fn nothing(report: &Report) -> String {
    match report.jobs.iter().find(|j| j.error != 0) {
        Some(job) => ended_with(job),
        None => "no job moved bytes for a millisecond or longer (io_bytes, runtime)".to_owned(),
    }
}

fn ended_with(job: &Job) -> String {
    format!("job {} ended with error {}", Malformed::excerpt(&job.jobname), job.error)
}

impl Work<'_> {
    /// Returns a figure for each direction with I/O; none if the job failed.
    fn figures(&self, evidence: Evidence<'_>, line: usize) -> Result<Vec<Figure>, Malformed> {
        if self.failed().is_some() {
            return Ok(Vec::new());
        }
        let mut figures = Vec::new();
        for direction in Direction::ALL {
            let Some(trial) = self.trial(direction, evidence) else { continue };
            let latency = self.latency(direction, line)?;
            let file = self.file(direction);
            let asked = file.as_ref().and_then(|file| self.requests(file, trial.seconds));
            let is_proven = trial.device.is_some();
            let mut figure = Figure { latency, ..self.figure(direction, trial) };
            if !is_proven {
                let times = figure.latency.as_ref();
                let found = asked
                    .as_ref()
                    .and_then(|a| self.not_by_the_device(direction, evidence, a, times));
                figure.findings.extend(found);
                figure.lack = Some(lack(evidence, self.options, asked.as_ref()));
            }
            figures.push(figure);
        }
        Ok(figures)
    }

    /// Reports that the device did not do the work, if the counters or the times show it.
    fn not_by_the_device(
        &self,
        direction: Direction,
        evidence: Evidence<'_>,
        asked: &Requests<'_>,
        times: Option<&Latency>,
    ) -> Option<Finding> {
        let options = self.options?;
        let ios: Option<u64> = self.all_sides(direction).iter().map(|side| side.total_ios).sum();
        let counted = evidence.at_most().and_then(|counters| {
            let (way, what) = counters.too_few(asked, ios)?;
            Some(not_by_the_device(options, way, &what, counters.is_silent()))
        });
        // A read in order may find what the kernel read ahead from the device.
        let at_random = self.pattern().is_some_and(|pattern| pattern.order() == Order::Rand);
        let reads = asked.file.direct == Some(false) && asked.file.asked_written_bytes == 0;
        let quick = times.map(|times| times.p50).filter(|p50| *p50 > 0.0 && *p50 < QUICKEST_S);
        let by_times = quick.filter(|_| at_random && reads).map(|p50| {
            let p50 = format_quantity(p50, Unit::Second);
            let what = format!("half of the random reads took {p50} or less, which no disk does");
            faster_than_a_disk(options, &what)
        });
        counted.or(by_times)
    }

    /// Returns the statistics of a direction, one per entry.
    fn sides(&self, direction: Direction) -> Vec<&Side> {
        let only = self.pattern().and_then(super::pattern::Pattern::only);
        if direction == Direction::Mixed && only.is_some() {
            return Vec::new();
        }
        let own = |job| direction.side(job);
        // With unified_rw_reporting, fio reports the only direction under another name.
        let unified = |job: &&Job| {
            Direction::SINGLE.into_iter().all(|direction| direction.side(job).is_none())
        };
        let mixed =
            |job| Direction::Mixed.side(job).filter(|_| only == Some(direction) && unified(&job));
        let all = self.entries.iter().filter_map(|job| own(job).or_else(|| mixed(job)));
        all.filter(|side| side.io_bytes > 0 && side.runtime > 0).collect()
    }

    /// Returns the same; if fio reports no sum of both directions, the statistics of each.
    fn all_sides(&self, direction: Direction) -> Vec<&Side> {
        let sides = self.sides(direction);
        // Without options, reads and writes may be those of several jobs.
        let mixes = self.pattern().is_some_and(|pattern| pattern.only().is_none());
        if direction != Direction::Mixed || !sides.is_empty() || !mixes {
            return sides;
        }
        let (read, written) = (self.sides(Direction::Read), self.sides(Direction::Write));
        if read.is_empty() || written.is_empty() { sides } else { [read, written].concat() }
    }

    /// Returns all bytes over the longest runtime.
    fn trial(&self, direction: Direction, evidence: Evidence<'_>) -> Option<Trial> {
        let sides = self.all_sides(direction);
        let bytes: f64 = sides.iter().map(|side| side.io_bytes as f64).sum();
        let seconds = sides.iter().map(|side| side.runtime).max()? as f64 / 1e3;
        let file = self.file(direction);
        let counters = evidence.of_this_job();
        let device = counters.and_then(|all| {
            let file = file.as_ref()?;
            all.evidence(&self.requests(file, seconds)?)
        });
        // An unreported size matters only if nothing else proves the bytes read.
        let shown = |f: &FileState| f.size_bytes > 0 || f.asked_written_bytes > 0;
        let file = file.filter(|f| shown(f) || device.is_some());
        Some(Trial { device, file, ..Trial::new(Unit::BytePerSecond, bytes, seconds) })
    }

    /// Returns what the job requested; `None` where its options are not reported.
    fn requests<'f>(&self, file: &'f FileState, seconds: f64) -> Option<Requests<'f>> {
        let options = self.options?;
        Some(Requests {
            file,
            seconds,
            ramp_s: ramp_ms(options).map(|ms| ms / 1e3),
            blocks: [block(options, Direction::Read), block(options, Direction::Write)],
        })
    }

    /// Returns the use of the file; `None` where the options, or the share of reads, are not
    /// reported.
    fn file(&self, direction: Direction) -> Option<FileState> {
        let (options, pattern) = (self.options?, self.pattern()?);
        let bytes = |direction| {
            let all = self.sides(direction).into_iter().map(|side| side.io_bytes);
            all.fold(0, u64::saturating_add)
        };
        let [asked_read_bytes, asked_written_bytes] = match direction {
            Direction::Read => [bytes(Direction::Read), 0],
            Direction::Write => [0, bytes(Direction::Write)],
            Direction::Mixed if bytes(Direction::Read) == 0 && bytes(Direction::Write) == 0 => {
                // With unified_rw_reporting, the requested share splits the bytes.
                let (all, share) = (bytes(Direction::Mixed), reads(options)?.min(100));
                let read = (u128::from(all) * u128::from(share) / 100) as u64;
                [read, all - read]
            }
            Direction::Mixed => [bytes(Direction::Read), bytes(Direction::Write)],
            Direction::Trim => return None,
        };
        (asked_read_bytes > 0 || asked_written_bytes > 0).then(|| FileState {
            asked_read_bytes,
            asked_written_bytes,
            order: pattern.order(),
            flush: flush(options),
            flush_every_bytes: self.between_flushes(options),
            direct: Some(direct(options)),
            size_bytes: file(options, self.threads).unwrap_or_default(),
            // fio does not report the rest.
            ..FileState::default()
        })
    }

    /// Returns the bytes that all processes write between two flushes, if a flush follows several
    /// writes.
    fn between_flushes(&self, options: JobOptions<'_>) -> Option<u64> {
        let writes = flushed_after(options).filter(|writes| *writes > 1)?;
        writes.checked_mul(block(options, Direction::Write)?)?.checked_mul(self.threads?)
    }

    /// Returns the times of the operations that the rate counts: for a flushed write, the flush
    /// times.
    fn latency(&self, direction: Direction, line: usize) -> Result<Option<Latency>, Malformed> {
        let [job] = self.entries.as_slice() else {
            // Percentiles of several entries cannot be merged.
            return Ok(None);
        };
        let sides = self.all_sides(direction);
        let ([side], false) = (sides.as_slice(), self.waits_for_flush(direction)) else {
            let flushes = job.sync.as_ref().and_then(|sync| sync.lat_ns.as_ref());
            return match flushes.filter(|_| self.is_flush(direction)) {
                Some(times) => latency([Some(times), None], None, line),
                None => Ok(None),
            };
        };
        latency([side.lat_ns.as_ref(), side.clat_ns.as_ref()], side.total_ios, line)
    }

    /// Returns true if a write is complete only after a flush.
    fn waits_for_flush(&self, direction: Direction) -> bool {
        let flushed = |job: &&Job| {
            let times = job.sync.as_ref().and_then(|sync| sync.lat_ns.as_ref());
            times.is_some_and(|times| times.count.unwrap_or(0) > 0)
        };
        matches!(direction, Direction::Write | Direction::Mixed)
            && match self.options {
                Some(options) => flushed_after(options).is_some(),
                None => self.entries.iter().any(flushed),
            }
    }

    /// Returns true if a flush time is that of one operation of the rate.
    fn is_flush(&self, direction: Direction) -> bool {
        direction == Direction::Write && self.options.and_then(flushed_after) == Some(1)
    }

    fn figure(&self, direction: Direction, trial: Trial) -> Figure {
        let (test, comparable, mut params) = match (self.options, self.pattern()) {
            (Some(options), Some(pattern)) => {
                let comparable = self.alone && self.threads.is_some() && plain(options);
                (pattern.test(direction), comparable, params(options, direction, self.threads))
            }
            _ => (direction.word().to_owned(), false, Params::default()),
        };
        if self.is_flush(direction) {
            params = params.with_named("latency", "flush latency");
        }
        let name = Malformed::excerpt(self.name());
        let name = if self.contradiction.is_some() { format!("{name} and others") } else { name };
        let mut title = test.replace('.', " ");
        let is_workload = Fio.description().same_work.iter().any(|same| same.test == test);
        if comparable && is_workload {
            // The title distinguishes jobs on other files from repetitions; reports use the
            // workload's title.
            let places = ["filename", "directory"];
            let place = places.into_iter().find_map(|name| self.options?.get(name));
            title = [name.as_str(), &title, place.unwrap_or_default()].join(" ").trim().to_owned();
        } else if !name.is_empty() {
            // The title of other work is the test's, for all jobs.
            params = params.with_named("job", name.as_str());
        }
        let findings = self.findings(direction);
        Figure { comparable, findings, ..Figure::rate(test, title, DISK, params, trial) }
    }

    /// Returns the findings of the report about a figure.
    fn findings(&self, direction: Direction) -> Vec<Finding> {
        let mut all = Vec::new();
        all.extend(self.contradiction.as_ref().map(|why| {
            let message = format!(
                "the options do not fit the statistics ({why}): the figure is of other processes, \
                 too, so it has no parameters"
            );
            let advice = "run fio without group_reporting, or one job at a time";
            Finding::new(check_id::TWO_ACCOUNTS, Severity::Suspect, message, advice)
        }));
        let other = self.all_sides(direction).into_iter().find_map(other_rate);
        all.extend(other.map(|why| contradicts(Severity::Invalid, why)));
        let Some(options) = self.options else { return all };
        let paced = |set| format!("fio paced itself ({set}): the rate is what was asked for");
        all.extend(pacing(options).map(|set| warned(Severity::Suspect, paced(set))));
        let steady = self.entries.iter().filter_map(|job| job.steadystate.as_ref()?.attained);
        if steady.min() == Some(0) {
            let message = "fio did not reach the steady state that its options ask for";
            all.push(warned(Severity::Suspect, message));
        }
        all
    }
}
