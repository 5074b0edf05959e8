//! The runs of a text with several documents. fio prints the state of one run repeatedly
//! (`--status-interval`), and users append one run to another.

use std::collections::BTreeSet;

use super::json::{Job, Report, Side, Times};
use crate::documents::Document;

/// The clock error of a document without milliseconds.
const COARSE_MS: i64 = 1000;

/// The growth of the runtime that shows a later state of the same run, where no time is printed.
/// Two runs of one job differ by a few milliseconds.
const GROWN_MS: u64 = 100;

/// Returns the last document of each run, in order.
pub(super) fn last_of_each(documents: Vec<Document<'_, Report>>) -> Vec<Document<'_, Report>> {
    let mut runs: Vec<Document<'_, Report>> = Vec::new();
    for document in documents.into_iter().filter(|d| d.value.version.is_some()) {
        match runs.last_mut() {
            Some(last) if continues(&last.value, &document.value) => *last = document,
            _ => runs.push(document),
        }
    }
    // A run that is in the file twice was measured once.
    let mut seen = BTreeSet::new();
    runs.retain(|run| identity(&run.value).is_none_or(|identity| seen.insert(identity)));
    runs
}

/// Returns the time of a document, with the bytes and the runtime of each job; `None` where it has
/// no time.
fn identity(report: &Report) -> Option<(i64, Vec<(u64, u64)>)> {
    let printed = report.timestamp_ms.or(report.timestamp)?;
    Some((printed, report.jobs.iter().map(|job| (moved(job), runtime(job))).collect()))
}

/// Returns true if a document is a later state of the run in the document before it.
fn continues(before: &Report, after: &Report) -> bool {
    let same_jobs = before.version == after.version
        && before.global == after.global
        && before.jobs.len() == after.jobs.len()
        && pairs(before, after).all(|(a, b)| is_later(a, b));
    if !same_jobs {
        return false;
    }
    if let Some(same) = same_start(before, after) {
        return same;
    }
    // A finished job does not change, and no two runs have the same times.
    if pairs(before, after).any(|(a, b)| is_timed(a) && times(a).eq(times(b))) {
        return true;
    }
    let ran = || after.jobs.iter().map(runtime).max().unwrap_or(0);
    match between(before, after) {
        // A run that began after the earlier document is no longer than the time between the two.
        Some((passed, inexact)) => {
            let most = passed.saturating_add(inexact);
            passed >= 0 && i64::try_from(ran()).is_ok_and(|ms| ms > most)
        }
        None => pairs(before, after)
            .all(|(a, b)| moved(b) > moved(a) && runtime(b) >= runtime(a) + GROWN_MS),
    }
}

fn pairs<'a>(
    before: &'a Report,
    after: &'a Report,
) -> impl Iterator<Item = (&'a Job, &'a Job)> + use<'a> {
    before.jobs.iter().zip(&after.jobs)
}

/// Returns true if the second may be the same job at a later time.
fn is_later(before: &Job, after: &Job) -> bool {
    before.jobname == after.jobname
        && before.groupid == after.groupid
        && before.options == after.options
        && moved(after) >= moved(before)
        && runtime(after) >= runtime(before)
}

/// Compares the starts of both, if both report them.
fn same_start(before: &Report, after: &Report) -> Option<bool> {
    let starts = |report: &Report| report.jobs.iter().map(|job| job.job_start).collect();
    let [a, b]: [Option<Vec<i64>>; 2] = [starts(before), starts(after)];
    a.zip(b).map(|(a, b)| a == b)
}

/// Returns the milliseconds between two documents, and by how much they may be too few.
fn between(before: &Report, after: &Report) -> Option<(i64, i64)> {
    let apart = |before: Option<i64>, after: Option<i64>| after?.checked_sub(before?);
    let exact = apart(before.timestamp_ms, after.timestamp_ms).map(|ms| (ms, 0));
    let coarse = || apart(before.timestamp, after.timestamp)?.checked_mul(1000);
    exact.or_else(|| coarse().map(|ms| (ms, COARSE_MS)))
}

pub(super) fn sides(job: &Job) -> impl Iterator<Item = &Side> {
    [&job.read, &job.write, &job.trim, &job.mixed].into_iter().flatten()
}

fn moved(job: &Job) -> u64 {
    sides(job).fold(0, |sum, side| sum.saturating_add(side.io_bytes))
}

/// Returns the longest runtime of a direction, in milliseconds.
pub(super) fn runtime(job: &Job) -> u64 {
    sides(job).map(|side| side.runtime).max().unwrap_or(0)
}

/// Returns the values that two runs never share: bytes, time and latencies of each direction.
fn times(job: &Job) -> impl Iterator<Item = (u64, u64, Option<&Times>)> {
    sides(job).map(|side| (side.io_bytes, side.runtime, side.clat_ns.as_ref()))
}

fn is_timed(job: &Job) -> bool {
    times(job).any(|(bytes, _, times)| bytes > 0 && times.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::documents;

    /// Writes a document of a job that wrote this many bytes in this many milliseconds, with its
    /// time.
    fn document(bytes: u64, ms: u64, printed: &str) -> String {
        format!(
            r#"{{"fio version": "fio-3.12", {printed} "jobs": [{{"jobname": "j", "write":
            {{"io_bytes": {bytes}, "runtime": {ms}, "clat_ns": {{"mean": {bytes}.5}}}}}}]}}"#
        )
    }

    fn bytes_of_runs(text: &str) -> Vec<u64> {
        let all = last_of_each(documents(text).unwrap());
        all.iter().map(|d| moved(&d.value.jobs[0])).collect()
    }

    #[test]
    fn states_of_one_run_are_one_run_and_others_are_others() {
        let at = |ms: u64| format!(r#""timestamp_ms": {ms},"#);
        let second = |s: u64| format!(r#""timestamp": {s},"#);
        let started = |doc: String, at: u64| {
            doc.replace(r#""jobname""#, &format!(r#""job_start": {at}, "jobname""#))
        };
        for (name, documents, runs) in [
            ("states", [document(10, 1000, &at(5000)), document(20, 2000, &at(6000))], vec![20]),
            ("the end", [document(10, 2900, &at(5000)), document(11, 3001, &at(5110))], vec![11]),
            (
                "two runs",
                [document(10, 1000, &at(5000)), document(20, 1001, &at(6020))],
                vec![10, 20],
            ),
            ("less", [document(30, 1000, &at(5000)), document(20, 2000, &at(6000))], vec![30, 20]),
            (
                "by seconds",
                [document(10, 2000, &second(5)), document(20, 4000, &second(7))],
                vec![20],
            ),
            (
                "runs",
                [document(10, 2000, &second(5)), document(20, 2001, &second(8))],
                vec![10, 20],
            ),
            (
                "printed twice",
                [document(10, 1000, &at(5000)), document(10, 1000, &at(5000))],
                vec![10],
            ),
            (
                "ended before",
                [document(10, 300, &at(5000)), document(10, 300, &at(9000))],
                vec![10],
            ),
            ("untimed states", [document(10, 1000, ""), document(20, 2000, "")], vec![20]),
            ("untimed runs", [document(10, 1000, ""), document(20, 1001, "")], vec![10, 20]),
            (
                "one start",
                [started(document(10, 9, &at(5)), 7), started(document(20, 10, &at(99)), 7)],
                vec![20],
            ),
            (
                "two starts",
                [started(document(10, 1000, &at(1)), 7), started(document(20, 2000, &at(2)), 8)],
                vec![10, 20],
            ),
        ] {
            assert_eq!(bytes_of_runs(&documents.join("\n")), runs, "{name}");
        }
        let both = [document(10, 1000, &at(5000)), document(20, 2000, &at(6000))].join("\n");
        assert_eq!(bytes_of_runs(&format!("{both}\n{both}")), [20], "a file twice");
        let other = document(20, 2000, &at(6000)).replace("\"j\"", "\"k\"");
        assert_eq!(bytes_of_runs(&(document(10, 1000, &at(5000)) + &other)), [10, 20], "jobs");
        assert_eq!(bytes_of_runs(&format!("{}\n{{\"a\": 1}}", document(10, 1, ""))), [10]);
    }
}
