//! Disk space of a measurement over time. Before it starts, proofmark states what it will write;
//! meanwhile it watches the free space: in days, samples and a workload's blocks could fill a disk or
//! wear it out.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use proofmark_engine::{Stop, Workload};
use proofmark_model::{
    Plan, Point, Trial, Unit, format_quantity, format_seconds, format_size, key,
};
use rustix::fs::statvfs;

use crate::registry::{find, needs};

/// The reason of a stop because of little free space.
pub const LOW_SPACE: &str = "low disk space";

/// Largest file of the trials that find a workload's write rate, in bytes.
const PROBE: u64 = 64 << 20;

/// One part in so many of a file system stays free, or half of the free space if that is less.
const OTHERS: u64 = 100;

/// Time between two readings of the free space.
const STEP: Duration = Duration::from_secs(1);

/// Free and total bytes of a folder's file system; `None` where it does not report them.
fn free(folder: &Path) -> Option<(u64, u64)> {
    let s = statvfs(folder).ok().filter(|s| s.f_blocks > 0)?;
    Some((s.f_bavail.saturating_mul(s.f_frsize), s.f_blocks.saturating_mul(s.f_frsize)))
}

/// The writes of a plan's series.
#[derive(Debug, Clone, PartialEq)]
struct Written {
    /// Total seconds of the series.
    seconds: f64,
    /// The largest file, in bytes.
    file: u64,
    /// Each configuration that writes, with the bytes it writes in its series per byte/s that it moves.
    points: Vec<(Point, f64)>,
}

/// Collects the writes of a plan's series; `None` if there are none.
fn written(plan: &Plan) -> Option<Written> {
    let each = plan.series.iter().filter_map(|series| {
        let point = plan.points.get(series.point)?;
        let needs = needs(point);
        let writes = series.for_s * needs.disk_write_share;
        let (seconds, file) = (series.for_s, needs.disk_bytes);
        (writes > 0.0).then(|| Written { seconds, file, points: vec![(point.clone(), writes)] })
    });
    each.reduce(|a, b| Written {
        seconds: a.seconds + b.seconds,
        file: a.file.max(b.file),
        points: [a.points, b.points].concat(),
    })
}

/// Takes trials of a configuration.
pub type TryOut<'a> = &'a dyn Fn(&Point) -> Result<Vec<Trial>, String>;

/// Bytes that all series write, extrapolated from trials of each workload with a small file. Each needs
/// its own: the rate of blocks does not predict the rate of commits.
fn total(written: &Written, try_out: TryOut) -> Result<f64, String> {
    let bytes = |(point, seconds): &(Point, f64)| {
        let trials = try_out(&with_small_file(point))?;
        let sum = |of: fn(&Trial) -> f64| trials.iter().map(of).sum::<f64>();
        let spec = find(&point.workload).map(Workload::spec);
        let is_bytes = spec.is_some_and(|spec| spec.unit == Unit::BytePerSecond);
        let each = if is_bytes { 1 } else { point.params.get(key::BLOCK_SIZE).unwrap_or(1) };
        Ok(sum(|t| t.work) / sum(|t| t.seconds) * each as f64 * seconds)
    };
    written.points.iter().map(bytes).sum()
}

fn with_small_file(point: &Point) -> Point {
    let small = point.params.get(key::FILE_SIZE).map(|size| {
        let params = point.params.clone().with(key::FILE_SIZE, size.min(PROBE));
        Point { params, ..point.clone() }
    });
    let supported = |p: &Point| find(&p.workload).is_some_and(|w| w.configure(&p.params).is_ok());
    small.filter(supported).unwrap_or_else(|| point.clone())
}

/// Bytes of a run's own files.
#[derive(Debug, Clone, Copy)]
pub struct OutputBytes {
    /// The samples, which grow during the run.
    pub samples: u64,
    /// The final reports.
    pub at_the_end: u64,
}

/// Bytes to keep free: at least the final reports' `own`, else the smaller of 1 % of the file system and
/// half of the free space.
fn kept_free((free, size): (u64, u64), own: u64) -> u64 {
    own.max((size / OTHERS).min(free / 2))
}

/// Lines to print before a series starts; an error if its files need more than the free space.
pub fn look_ahead(
    plan: &Plan,
    needs: OutputBytes,
    folder: &Path,
    disk: Option<(&Path, TryOut)>,
) -> Result<Vec<String>, String> {
    if plan.series.is_empty() {
        return Ok(Vec::new());
    }
    let own_files = needs.samples.saturating_add(needs.at_the_end);
    let space = free(folder);
    let named = folder.display();
    let enough = |(free, size): (u64, u64)| {
        free >= needs.samples.saturating_add(kept_free((free, size), needs.at_the_end))
    };
    if let Some((free, _)) = space.filter(|space| !enough(*space)) {
        return Err(format!(
            "the files of this run need up to {}, but {named} has {} free; choose a longer \
            --every, a shorter --for or another directory with --out",
            format_size(own_files),
            format_size(free)
        ));
    }
    let free = space.map_or_else(String::new, |(free, _)| format!(" ({} free)", format_size(free)));
    let mut lines =
        vec![format!("the run's files in {named} need up to {}{free}", format_size(own_files))];
    if let (Some(written), Some((disk, try_out))) = (written(plan), disk) {
        lines.push(will_write(&written, disk, try_out));
    }
    Ok(lines)
}

/// States what the workloads will write to a folder's disk.
fn will_write(written: &Written, disk: &Path, try_out: TryOut) -> String {
    let (seconds, file) = (format_seconds(written.seconds), format_size(written.file));
    let what = format!("the workload overwrites {file} in {} for {seconds}", disk.display());
    match total(written, try_out) {
        Ok(bytes) => format!(
            "{what}: about {} in total at the {} that trials just wrote there; more if the disk is \
             faster later",
            format_size(bytes as u64),
            format_quantity(bytes / written.seconds, Unit::BytePerSecond)
        ),
        Err(why) => format!("{what}; the total is unknown: {why}"),
    }
}

/// Reads the free space of folders once per second, and stops the run when it falls too low.
pub struct SpaceWatch {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    found: Arc<OnceLock<String>>,
}

impl SpaceWatch {
    /// Watches the output folder, which needs so many bytes at the end, and a workload's disk.
    pub fn begin(
        output: &Path,
        at_the_end: u64,
        disk: Option<&Path>,
        stop: Stop,
    ) -> io::Result<Self> {
        let watched: Vec<(PathBuf, u64)> = std::iter::once((output, at_the_end))
            .chain(disk.map(|folder| (folder, 0)))
            .filter_map(|(folder, own)| Some((folder.to_path_buf(), kept_free(free(folder)?, own))))
            .collect();
        let (end, ended) = channel();
        let found = Arc::new(OnceLock::new());
        let finding = Arc::clone(&found);
        let watch = move || {
            while ended.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                if let Some(line) =
                    watched.iter().find_map(|(folder, keep)| too_little(folder, *keep))
                {
                    let _ = finding.set(line);
                    return stop.stop(LOW_SPACE);
                }
            }
        };
        let thread = Builder::new().name("free space".to_owned()).spawn(watch)?;
        Ok(Self { end: Some(end), thread: Some(thread), found })
    }

    /// The line about the disk whose low space stopped the run, if one did.
    pub fn found(&self) -> Option<&str> {
        self.found.get().map(String::as_str)
    }
}

impl Drop for SpaceWatch {
    fn drop(&mut self) {
        drop(self.end.take());
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn too_little(folder: &Path, keep: u64) -> Option<String> {
    let (free, _) = free(folder).filter(|(free, _)| *free < keep)?;
    Some(format!(
        "{} has only {} free, less than the {} that proofmark leaves free; the run stopped early \
        and keeps what it measured",
        folder.display(),
        format_size(free),
        format_size(keep)
    ))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use proofmark_testing::wait_until;

    use super::*;
    use crate::request::{EndureRequest, TypedParameters};

    fn plan(request: &EndureRequest) -> Plan {
        crate::plan::endure(request, &crate::testing::this_machine()).unwrap().plan
    }

    fn clock() -> Plan {
        plan(&EndureRequest::new("cpu.clock"))
    }

    #[test]
    fn what_writes_is_said_with_its_file_and_what_does_not_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let small = OutputBytes { samples: 0, at_the_end: 1 << 20 };
        let tried = RefCell::new(Vec::new());
        // 100 commits, or 5 MB, in a tenth of a second.
        let try_out = |point: &Point| {
            tried.borrow_mut().push(point.clone());
            let work = if point.workload == "disk.fsync" { 100.0 } else { 5e6 };
            // Unequal, and as much in all.
            let trial = |share: f64| Trial { work: work * share, seconds: 0.1, ..Trial::default() };
            Ok(vec![trial(0.5), trial(1.5)])
        };
        let lines = |workload: &str, set: &[&str]| {
            let set = set.iter().map(|s| (*s).to_owned()).collect();
            let parameters = TypedParameters { set, ..TypedParameters::default() };
            let plan = plan(&EndureRequest { parameters, ..EndureRequest::new(workload) });
            look_ahead(&plan, small, dir.path(), Some((dir.path(), &try_out))).unwrap()
        };
        assert_eq!(lines("cpu.clock", &[]).len(), 1);
        assert_eq!(lines("disk.rand_read", &["cache=none"]).len(), 1);
        assert!(tried.borrow().is_empty(), "what writes nothing is not tried");
        for (workload, total, rate) in [
            ("seq_write", "27.9 GiB", "50.00 MB/s"), // 600 s of 50 MB/s.
            ("mixed", "8.4 GiB", "15.00 MB/s"),      // 30 % of it.
            ("fsync", "2.3 GiB", "4.096 MB/s"),      // 600 s of 1000 commits of 4 KiB.
        ] {
            let set = ["file_size=1GB", "block_size=4k", "threads=1", "cache=none"];
            let set = if workload == "fsync" { &set[..3] } else { &set };
            let [own, disk] = &lines(&format!("disk.{workload}"), set)[..] else {
                panic!("{workload} writes")
            };
            assert!(own.contains("up to 1 MiB") && own.contains("free)"), "{own}");
            assert!(disk.contains("overwrites 1 GiB") && disk.contains("10 min"), "{disk}");
            assert!(disk.contains(total) && disk.contains(rate), "{disk}");
            let tried = tried.borrow_mut().pop().unwrap();
            assert_eq!(tried.params.get(key::FILE_SIZE), Some(64 << 20), "a trial writes little");
        }
        let failed = |_: &Point| Err("no disk".to_owned());
        let plan = plan(&EndureRequest::new("disk.fsync"));
        let lines = look_ahead(&plan, small, dir.path(), Some((dir.path(), &failed))).unwrap();
        assert!(lines[1].contains("the total is unknown: no disk"), "{lines:?}");
        let none = Plan { series: Vec::new(), ..clock() };
        assert_eq!(look_ahead(&none, small, dir.path(), None), Ok(Vec::new()));
    }

    #[test]
    fn a_run_that_would_be_stopped_is_refused() {
        // 1 % of 1000 is left to others; of 8 free bytes half are, which is less.
        assert_eq!(kept_free((500, 1000), 3), 10);
        assert_eq!(kept_free((8, 1000), 3), 4);
        assert_eq!(kept_free((500, 1000), 70), 70);
        let dir = tempfile::tempdir().unwrap();
        let (free, size) = free(dir.path()).unwrap();
        let kept = kept_free((free, size), 0);
        let needs = |samples| OutputBytes { samples, at_the_end: 0 };
        let look = |needs| look_ahead(&clock(), needs, dir.path(), None);
        // Other programs write meanwhile.
        let margin = (free - kept) / 4;
        assert!(look(needs(free - kept - margin)).is_ok());
        let error = look(needs(free - kept + margin)).unwrap_err();
        assert!(error.contains("--every") && error.contains("free"), "{error}");
    }

    #[test]
    fn a_disk_with_too_little_space_stops_the_run() {
        let dir = tempfile::tempdir().unwrap();
        let (stop, enough) = (Stop::default(), Stop::default());
        let quiet = SpaceWatch::begin(dir.path(), 1, Some(dir.path()), enough.clone()).unwrap();
        let watch = SpaceWatch::begin(dir.path(), u64::MAX, None, stop.clone()).unwrap();
        let line = wait_until("the free space to be read", || watch.found().map(str::to_owned));
        assert!(line.contains("stopped early"), "{line}");
        drop(watch);
        assert_eq!(stop.stopped_by().as_deref(), Some(LOW_SPACE));
        assert!(quiet.found().is_none() && enough.stopped_by().is_none());
    }
}
