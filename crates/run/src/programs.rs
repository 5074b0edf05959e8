//! Runs reference tools: each in its own folder, on the CPUs of proofmark's threads, with its own
//! file on the same disk.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use proofmark_engine::{Watch, Workers};
use proofmark_model::{RawMeasurement, Timestamp, Trial, key};
use proofmark_reference::{Figure, Task};
use proofmark_workloads::disk::ToolFile;

use crate::cpus::Cpus;
use crate::process::{self, Place};
use crate::registry::{find, needs};
use crate::tool::{ToolRun, ToolRunner, ToolSession, ToolTask};

/// Time limit for a run of a tool: this many times its expected duration, and at least this many
/// seconds.
const PATIENCE_TIMES: f64 = 10.0;
const PATIENCE_S: f64 = 30.0;

/// Runs the programs of tools where proofmark's workers run.
pub(crate) struct Programs<'a> {
    /// This program as the wrapper of a tool: see [`process::Place::wrapper`].
    pub(crate) wrapper: Vec<OsString>,
    pub(crate) workers: &'a Workers,
}

impl<'a> Programs<'a> {
    pub(crate) fn new(workers: &'a Workers) -> Self {
        Self { wrapper: vec![workers.program.clone().into(), "tool".into()], workers }
    }
}

impl ToolRunner for Programs<'_> {
    fn begin<'a>(&'a self, m: &RawMeasurement) -> Box<dyn ToolSession + 'a> {
        let bytes = needs(&m.point()).disk_bytes;
        let folder = self.workers.disk_path.clone().unwrap_or_else(|| PathBuf::from("."));
        let create = || {
            let file = ToolFile::new(&folder, bytes).map_err(|refusal| refusal.0)?;
            file.make_ready(m.params.get(key::CACHE)).map_err(|e| format!("its file: {e}"))?;
            Ok(file)
        };
        Box::new(AtPoint { programs: self, file: (bytes > 0).then(create) })
    }
}

struct AtPoint<'a> {
    programs: &'a Programs<'a>,
    /// The file of a disk configuration, or why there is none.
    file: Option<Result<ToolFile, String>>,
}

impl ToolSession for AtPoint<'_> {
    fn run(&mut self, task: &ToolTask) -> ToolRun {
        let mut run = ToolRun::new(Err(String::new()));
        run.trial = self.trial(task, &mut run);
        run
    }
}

impl AtPoint<'_> {
    fn trial(&self, asked: &ToolTask, run: &mut ToolRun) -> Result<Trial, String> {
        let ToolTask { tool, installed, run_s, m, ours } = *asked;
        let Programs { wrapper, workers } = self.programs;
        let spec = find(&m.workload).map(|k| k.spec()).ok_or("the workload is not known")?;
        let test = tool.test_for(spec, &m.params).ok_or("it has no such work")?;
        let cpus = Cpus::for_point(&m.point(), &workers.cpus);
        let file = match &self.file {
            None => PathBuf::from("/"),
            Some(file) => file.as_ref().map_err(Clone::clone)?.path(),
        };
        let port = process::free_port().map_err(|e| format!("there is no free port: {e}"))?;
        let task = Task {
            spec,
            test,
            params: &m.params,
            seconds: ours.seconds,
            work: ours.work,
            cpus: &cpus.own,
            file: &file,
            port,
        };
        let invocation = tool.invocation(installed, &task)?;
        run.command = Some(process::shown(&installed.program, &invocation, &cpus.own, &file));
        let limit = (tool.takes(&task).max(run_s) * PATIENCE_TIMES).max(PATIENCE_S);
        let place = Place {
            wrapper,
            cpus: &cpus.own,
            server: &cpus.server,
            port,
            stop: &workers.stop,
            limit: Duration::from_secs_f64(limit),
        };
        let devices =
            if m.subsystem.info().uses_block_devices { &workers.devices[..] } else { &[] };
        let watch = Watch::begin(&cpus.both(), &workers.cpu_stat, devices);
        let (started, begun) = (Timestamp::now(), Instant::now());
        let text = process::run(&installed.program, &invocation, &place);
        let wall_s = begun.elapsed().as_secs_f64();
        let (conditions, device) = watch.end();
        // None of its writes may reach the device during the next trial of proofmark.
        if let Some(Ok(file)) = &self.file {
            file.make_ready(m.params.get(key::CACHE)).map_err(|e| format!("its file: {e}"))?;
        }
        let output = tool.parse(&text?).map_err(|e| format!("its output: {e}"))?;
        run.version = output.version.clone();
        let figure = tool.figure(&task, output).ok_or("its output holds no figure of this work")?;
        run.params = Some(figure.params.clone());
        let mut trial = first_trial(&figure, m)?;
        if !tool.reports_time() {
            // The time of the whole run, and its work at the reported rate.
            trial.work *= wall_s / trial.seconds;
            trial.seconds = wall_s;
        }
        let conditions = conditions.part(trial.seconds / wall_s);
        let device = device.or(trial.device.clone());
        Ok(Trial { started, conditions, device, ..trial })
    }
}

/// Returns the first trial of a figure, if it has the unit of the measurement.
fn first_trial(figure: &Figure, m: &RawMeasurement) -> Result<Trial, String> {
    if figure.unit != m.unit {
        return Err(format!("its figure is in {}, not in {}", figure.unit, m.unit));
    }
    let trial = figure.trials.first().ok_or("its figure has no value")?;
    if !(trial.value.is_finite() && trial.value > 0.0) {
        return Err(format!("its figure is {}", trial.value));
    }
    Ok(trial.clone())
}

#[cfg(test)]
mod tests;
