//! `proofmark fleet node`: the process on a node. It reads orders, measures and answers, keeps no
//! file, and ends with its input.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use proofmark_engine::Stop;
use proofmark_fleet::{Answer, NodeTask, Order, OrderOutcome, answer_orders};
use proofmark_judge::fleet::node_round;
use proofmark_model::{FleetTask, Plan, Run, StorageKind, Subsystem, SubsystemInfo, Timestamp};
use proofmark_peer::boot_id;
use proofmark_run::{
    Deadline, Live, Machine, PeerRequest, PlanRequest, RunFile, ToolChoice, begin, estimate,
    left_out_for_time, measure_here, plan, subsystems,
};
use rustix::fs::{MemfdFlags, memfd_create};

use super::pair_server::{PairServer, reach};
use crate::cli::FleetNodeArgs;
use crate::core_dumps;
use crate::error::Outcome;
use crate::signals;
use crate::this_program::tool;

/// The time for a round to end after the launcher is gone.
const GRACE: Duration = Duration::from_secs(5);

pub fn run(args: &FleetNodeArgs) -> Result<Outcome> {
    core_dumps::turn_off();
    if let Some(seconds) = args.idle {
        return idle(seconds);
    }
    if args.copied {
        // First, so that no file stays however this process ends.
        std::env::current_exe()
            .and_then(fs::remove_file)
            .context("cannot remove the copied program; a node needs /proc")?;
    }
    let slurm = || std::env::var("SLURMD_NODENAME").ok();
    let node = args.name.clone().or_else(slurm).context("this node has no name; set --name")?;
    let stop = Stop::default();
    let stopper = stop.clone();
    let end = move || {
        stopper.stop("SIGHUP");
        thread::sleep(GRACE);
        // Workers end with this process.
        std::process::exit(1);
    };
    let mut answering: Option<PairServer> = None;
    let follow = |order: &Order| {
        let done = match &order.work {
            NodeTask::Measure(task) => measure(order, (&node, task), None, &stop),
            NodeTask::Serve { key, subnet } => PairServer::start(key, *subnet).map(|here| {
                let addresses = here.addresses.clone();
                answering = Some(here);
                OrderOutcome::Serves(addresses)
            }),
            NodeTask::Pair { partner, addresses, key, task } => reach(addresses, key)
                .and_then(|peer| measure(order, (&node, task), Some((partner, peer)), &stop)),
        };
        done.map_err(|e| format!("{e:#}"))
    };
    let hello = Answer::hello(&node, tool(), boot_id());
    answer_orders((&node, &hello), io::stdin(), io::stdout(), follow, end)?;
    Ok(Outcome::Done)
}

/// Waits in a pod for the process that kubectl starts there, and for its end.
fn idle(seconds: u64) -> Result<Outcome> {
    const EVERY: Duration = Duration::from_secs(1);
    /// Seconds without another process after which it ends, once one was there.
    const PATIENCE: u64 = 3;
    let stop = Stop::default();
    let stopper = stop.clone();
    // The first process of a container ignores signals that it does not handle.
    signals::on_signals(move |signal| stopper.stop(signal)).context("cannot handle signals")?;
    let (mut has_come, mut without) = (false, 0);
    while without < (if has_come { PATIENCE } else { seconds }) && stop.stopped_by().is_none() {
        thread::sleep(EVERY);
        let others = fs::read_dir("/proc").context("cannot list processes")?.flatten();
        let others = others.filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
        let is_there = others.into_iter().any(|pid| pid != std::process::id() && !has_ended(pid));
        has_come |= is_there;
        without = if is_there { 0 } else { without + 1 };
    }
    Ok(Outcome::Done)
}

/// Returns true if a process has ended. In a container it stays a zombie: no process waits for it.
fn has_ended(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name is in brackets, and may have any character.
    stat.rsplit(") ").next().is_none_or(|rest| rest.is_empty() || rest.starts_with('Z'))
}

/// A run file that is not written: a node keeps no run.
struct Nowhere;

impl RunFile for Nowhere {
    fn save(&self, _: &Run) -> io::Result<()> {
        Ok(())
    }
}

/// Measures a round of this node or, in a pair, of the network to its partner.
fn measure(
    order: &Order,
    (node, task): (&str, &FleetTask),
    pair: Option<(&str, PeerRequest)>,
    stop: &Stop,
) -> Result<OrderOutcome> {
    let begun = Instant::now();
    // Stays open while the profile is read from it.
    let text = task.profile_text.as_deref().map(in_memory).transpose()?;
    let partner = pair.as_ref().map(|(partner, _)| *partner);
    let (request, left_out) = match pair.as_ref() {
        None => own_request(task, text.as_ref())?,
        Some((_, peer)) => (pair_request(task, text.as_ref(), peer.clone()), None),
    };
    let machine = Machine::for_run(&request)?;
    let planned = plan(&request, &machine.host)?;
    let not_planned = [planned.unsupported, planned.left_out].concat();
    let run = begin(machine.host, planned.plan, planned.findings, tool(), Timestamp::now());
    let ahead_s = begun.elapsed().as_secs_f64();
    let deadline = planned.ranks.map(|ranks| Deadline { ahead_s, ranks });
    let live = Live {
        server: machine.server.as_ref(),
        stop,
        file: &Nowhere,
        print_line: &|_| {},
        deadline: deadline.as_ref(),
    };
    let run = measure_here(run, planned.tools, &live, &mut [])?;
    let cpus = run.host.limits.usable_cpus.len() as u64;
    match run.interrupted {
        Some(by) => Err(anyhow!("stopped by {by}")),
        None => {
            let mut round = node_round(&run, (node, partner), order.pass, order.round);
            round.boot_id = boot_id();
            round.left_out = not_measured(left_out.into_iter().chain(not_planned), &run.plan, cpus);
            Ok(OrderOutcome::Measured(Box::new(round)))
        }
    }
}

/// Returns the maximum seconds of a round's trials if this machine were a node.
pub(super) fn own_round_s(task: &FleetTask) -> Result<f64> {
    let text = task.profile_text.as_deref().map(in_memory).transpose()?;
    let (request, _) = own_request(task, text.as_ref())?;
    let machine = Machine::for_run(&request)?;
    Ok(estimate(&plan(&request, &machine.host)?.plan).1)
}

/// Joins sentences on what was not measured, with those of the plan of a run that has ended: what the
/// time limit left out at first may have been measured in the time that remained. `None`: nothing.
fn not_measured(
    sentences: impl Iterator<Item = String>,
    plan: &Plan,
    usable_cpus: u64,
) -> Option<String> {
    let all: Vec<String> = sentences.chain(left_out_for_time(plan, usable_cpus)).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Creates a file in this process's memory.
fn in_memory(text: &str) -> Result<File> {
    let file = memfd_create("profile", MemfdFlags::CLOEXEC);
    let mut file = File::from(file.context("cannot make a file in memory (memfd_create)")?);
    file.write_all(text.as_bytes()).context("cannot write a file in memory")?;
    Ok(file)
}

/// Returns the ids of the subsystems for which `measured` is true.
fn names(measured: impl Fn(&SubsystemInfo) -> bool) -> Vec<String> {
    let rows = Subsystem::ALL.into_iter().map(Subsystem::info);
    rows.filter(|info| measured(info)).map(|info| info.id.to_owned()).collect()
}

/// Returns the request for the subsystems for which `measured` is true.
fn request(
    task: &FleetTask,
    profile: Option<&File>,
    measured: impl Fn(&SubsystemInfo) -> bool,
) -> PlanRequest {
    let profile = match profile {
        Some(file) => format!("/proc/self/fd/{}", file.as_raw_fd()),
        None => task.profile.clone(),
    };
    PlanRequest {
        names: names(measured),
        profile,
        budget: task.budget_s.map(Duration::from_secs_f64),
        tools: ToolChoice::None,
        ..PlanRequest::default()
    }
}

/// Returns the request for this node alone, and what it leaves out.
fn own_request(task: &FleetTask, profile: Option<&File>) -> Result<(PlanRequest, Option<String>)> {
    let mut request = request(task, profile, |part| !part.has_server);
    let mut left_out = None;
    if subsystems(&request)?.iter().any(|s| s.info().uses_block_devices) {
        request.machine.disk_path = disk_folder(task).map(Into::into);
        if request.machine.disk_path.is_none() {
            request.names = names(|part| !part.has_server && !part.uses_block_devices);
            left_out = Some(match &task.disk_path {
                Some(path) => format!(
                    "no disk was measured: {path} is on storage that other nodes may use too \
                     (--shared-storage measures it)"
                ),
                None => {
                    "no disk was measured: no folder for temporary files is on a disk of its own \
                         (--disk-path names another)"
                        .to_owned()
                }
            });
        }
    }
    Ok((request, left_out))
}

fn pair_request(task: &FleetTask, profile: Option<&File>, peer: PeerRequest) -> PlanRequest {
    let mut request = request(task, profile, |part| part.has_server);
    request.machine.peer = Some(peer);
    request
}

/// Returns the directory whose disk to measure: the task's, or the first on a disk of this node. A
/// disk that other nodes may use is measured only if the task allows it.
fn disk_folder(task: &FleetTask) -> Option<String> {
    let temporary = std::env::temp_dir().display().to_string();
    let usual = [temporary, "/var/tmp".to_owned(), ".".to_owned()];
    let folders = task.disk_path.clone().map_or(usual.to_vec(), |path| vec![path]);
    let is_own = |folder: &String| {
        let path = std::path::absolute(Path::new(folder)).unwrap_or_default();
        let host = proofmark_host::detect(&proofmark_host::Root::live(), &path.to_string_lossy());
        let kind = host.storage.get().map(|s| s.kind);
        match kind {
            Some(StorageKind::Block) => true,
            Some(StorageKind::Network) => task.shared_storage,
            _ => task.disk_path.is_some(),
        }
    };
    folders.into_iter().find(is_own)
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Params, Point, key};

    use super::*;

    #[test]
    fn what_the_time_limit_left_out_and_the_run_did_not_measure_is_named() {
        let point = |threads: u64| Point {
            workload: "cpu.flops".to_owned(),
            params: Params::default().with(key::THREADS, threads),
        };
        let mut plan = Plan { points: vec![point(2)], left_out: vec![point(1)], ..Plan::default() };
        plan.policy.budget_s = Some(12.0);
        let disk = || ["no disk was measured".to_owned()].into_iter();
        let words = not_measured(disk(), &plan, 2).unwrap();
        let start = "no disk was measured; left out for the time limit of 12 s: ";
        assert!(words.starts_with(start) && words.len() > start.len(), "{words}");
        // Measured in the time that remained.
        plan.points.append(&mut plan.left_out);
        assert_eq!(not_measured(disk(), &plan, 2).as_deref(), Some("no disk was measured"));
        assert_eq!(not_measured(std::iter::empty(), &plan, 2), None);
    }
}
