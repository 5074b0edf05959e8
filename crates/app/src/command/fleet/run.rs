//! `proofmark fleet run`: measures the nodes round by round, and reports.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use proofmark_engine::Stop;
use proofmark_fleet::launch::{
    Cluster, Kubernetes, KubernetesOptions, Launcher, Program, Slurm, Ssh, command_words, manifest,
};
use proofmark_fleet::{
    Fleet, FleetLog, LARGEST_LIST, NetworkPass, ResumeState, TimeLimits, Unfinished, measure,
    named_hosts,
};
use proofmark_judge::fleet::{nodes_again, pair_groups, pairs_again};
use proofmark_model::{
    FLEET_SCHEMA, FleetPlan, FleetTask, Pairs, RoundRobin, Subsystem, Timestamp, counted, excerpt,
};
use proofmark_peer::Key;
use proofmark_run::{BUILT_IN, Profile, own_program, read_text};

use super::duration::{REQUEST_S, duration};
use super::report;
use super::slurm::{check_current_allocation, rerun_in_new_allocation};
use crate::cli::FleetRunArgs;
use crate::error::{Outcome, usage};
use crate::output::{named_folder, new_folder};
use crate::signals;
use crate::text::{print, say};
use crate::this_program::tool;

/// Time limit until all nodes have started, and more per node, since each gets a copy of the
/// program.
const START: Duration = Duration::from_secs(120);
const START_S_PER_NODE: f64 = 1.0;
/// Time limit of a round: this many times its budget, and seconds on top.
const BUDGETS_PER_ROUND: f64 = 4.0;
const ROUND_SLACK_S: f64 = 120.0;
/// Seconds of a round without a budget of its own.
const ROUND_S: f64 = 30.0;
/// Minimum seconds of a round: a shorter one measures too little.
const SHORTEST_ROUND_S: f64 = 2.0;
/// Maximum bytes of a profile that is sent to nodes.
const LARGEST_PROFILE: u64 = 1 << 20;
/// Maximum letters of the list of a fleet's nodes in a message.
const LONGEST_NAMES: usize = 200;
/// The variable that tests set whose nodes share one machine.
const TESTBED: &str = "PROOFMARK_TESTBED";

pub fn run(args: &FleetRunArgs) -> Result<Outcome> {
    let task = round_task(args)?;
    let begun = args.resume.as_deref().map(begun_plan).transpose()?;
    let repaired = repaired(args, begun.as_ref())?;
    if args.slurm && std::env::var_os("SLURM_JOB_ID").is_none() {
        return rerun_in_new_allocation(args, |nodes| longest_s(args, nodes, task.round_s));
    }
    let way = Way::parse(args)?;
    if args.dry_run {
        return dry_run(args, way, &task, (begun.as_ref(), &repaired));
    }
    let dir = folder(args)?;
    let stop = Stop::default();
    let stopper = stop.clone();
    signals::on_signals(move |signal| stopper.stop(signal)).context("cannot handle signals")?;
    let stopped = || stop.stopped_by().is_some();
    let mut launcher = launcher(args, way, task.round_s, &stopped)?;
    let plan = planned(args, &task.task, launcher.as_ref());
    let (plan, mut known, mut log) = open(&dir, begun, plan)?;
    known.ask_again(repaired, &mut log)?;
    let round = Duration::from_secs_f64(round_limit_s(task.round_s));
    let start = start_limit(args, plan.nodes.len() as u32);
    let key = || Key::generate().map(|key| key.to_hex()).map_err(|e| e.to_string());
    let groups = || pair_groups(FleetLog::read(&dir)?);
    let again = || pairs_again(FleetLog::read(&dir)?);
    let subnet = args.subnet;
    let network = |pairs| NetworkPass { pairs, subnet, key: &key, groups: &groups, again: &again };
    let fleet = Fleet {
        plan: &plan,
        limits: TimeLimits { start, round },
        log: &mut log,
        known: &known,
        nodes_again: &|| {
            let all = nodes_again(FleetLog::read(&dir)?)?.into_iter();
            Ok(all.flat_map(|s| s.slow.into_iter().chain(s.peers)).collect())
        },
        network: plan.pairs.map(network),
        print: &say,
        stopped: &stopped,
    };
    let measured = measure(fleet, launcher.as_mut());
    drop(launcher); // Ends the processes that are left on nodes.
    finish(measured, &dir, args.all, &stop)
}

/// Reads the plan of the fleet in the directory of `--resume`.
fn begun_plan(dir: &Path) -> Result<FleetPlan> {
    Ok(FleetLog::read(dir).map_err(usage)?.plan)
}

/// Returns the nodes of `--again`, which must be in the plan of the fleet that was begun.
fn repaired(args: &FleetRunArgs, begun: Option<&FleetPlan>) -> Result<BTreeSet<String>> {
    let (Some(list), Some(plan)) = (&args.again, begun) else { return Ok(BTreeSet::new()) };
    let nodes = named_hosts(list, false).map_err(|e| usage(format!("--again: {e}")))?;
    match nodes.iter().find(|node| !plan.nodes.contains(node)) {
        Some(other) => Err(usage(format!(
            "--again: {other} is not in the fleet of that directory, whose nodes are {}",
            excerpt(&plan.nodes.join(", "), LONGEST_NAMES)
        ))),
        None => Ok(nodes.into_iter().collect()),
    }
}

/// Reports the results, or prints how to continue.
fn finish(measured: Result<(), Unfinished>, dir: &Path, all: bool, stop: &Stop) -> Result<Outcome> {
    match measured {
        Ok(()) => report::finish(dir, all),
        Err(Unfinished::Failed(why)) => Err(anyhow!(why)),
        Err(Unfinished::Stopped) => {
            let dir = dir.display();
            say(&format!(
                "stopped; results are kept. To continue: the same command with --resume {dir}"
            ));
            let number = stop.stopped_by().as_deref().and_then(signals::number).unwrap_or(2);
            Ok(Outcome::Stopped(number))
        }
    }
}

/// Opens the file of a begun fleet, or creates one with this plan.
fn open(
    dir: &Path,
    begun: Option<FleetPlan>,
    plan: FleetPlan,
) -> Result<(FleetPlan, ResumeState, FleetLog)> {
    if let Some(begun) = begun {
        check_resumed_plan(&begun, &plan)?;
        let lines = FleetLog::read(dir).map_err(usage)?;
        return Ok((begun, ResumeState::from_lines(lines), FleetLog::resume(dir)?));
    }
    let log = FleetLog::create(dir, &plan);
    let log = log.with_context(|| format!("cannot write to {}", dir.display()))?;
    Ok((plan, ResumeState::default(), log))
}

/// The task of the nodes, and the expected seconds of a round.
struct RoundTask {
    task: FleetTask,
    round_s: f64,
}

fn round_task(args: &FleetRunArgs) -> Result<RoundTask> {
    let is_built_in = BUILT_IN.iter().any(|(name, _)| *name == args.profile);
    // Read before a node starts, so that an error in it costs nothing.
    let profile = Profile::load(&args.profile)?;
    let text = (!is_built_in).then(|| read_text(Path::new(&args.profile), LARGEST_PROFILE));
    let each = |budget: Duration| budget.as_secs_f64() / f64::from(args.rounds) - REQUEST_S;
    let budget_s = args.budget.map(each);
    if let Some(s) = budget_s.filter(|s| *s < SHORTEST_ROUND_S) {
        let least = f64::from(args.rounds) * (SHORTEST_ROUND_S + REQUEST_S);
        return Err(usage(format!(
            "--budget leaves {:.1} s for each of {} rounds; name at least {least:.0}s",
            s.max(0.0),
            args.rounds
        )));
    }
    let parts = Subsystem::ALL.into_iter().filter(|s| !s.info().has_server).collect();
    let round_s = budget_s.or(profile.policy(&parts).budget_s).unwrap_or(ROUND_S);
    let task = FleetTask {
        profile: profile.name,
        profile_text: text.transpose().map_err(|e| usage(format!("{}: {e}", args.profile)))?,
        budget_s,
        disk_path: args.disk_path.as_ref().map(|p| p.display().to_string()),
        shared_storage: args.shared_storage,
    };
    Ok(RoundTask { task, round_s })
}

fn program(args: &FleetRunArgs) -> Result<Program> {
    match &args.program {
        Some(path) => Program::installed(path).map_err(|e| usage(format!("--program: {e}"))),
        None => Ok(Program::Copied(own_program()?)),
    }
}

/// The way to the nodes as typed, checked before a directory or a process exists.
enum Way {
    /// Hosts, and the command that reaches them.
    Ssh(Vec<String>, Vec<String>),
    Slurm,
    /// The command that reaches the cluster.
    Kubernetes(Vec<String>),
}

impl Way {
    fn parse(args: &FleetRunArgs) -> Result<Self> {
        let words = |option: &str, text: &str| {
            command_words(text).map_err(|e| usage(format!("{option}: {e}")))
        };
        Ok(match &args.ssh {
            Some(hosts) => {
                let command = words("--ssh-command", &args.ssh_command)?;
                Self::Ssh(read_hosts(hosts, &command)?, command)
            }
            None if args.slurm => Self::Slurm,
            None => Self::Kubernetes(words("--kubectl", &args.kubectl)?),
        })
    }
}

fn launcher(
    args: &FleetRunArgs,
    way: Way,
    round_s: f64,
    stopped: &dyn Fn() -> bool,
) -> Result<Box<dyn Launcher>> {
    let program = program(args)?;
    Ok(match way {
        Way::Ssh(hosts, command) => Box::new(Ssh::new(hosts, command, program)),
        Way::Slurm => {
            let slurm = Slurm::new(program).map_err(|e| anyhow!(e))?;
            check_current_allocation(args, slurm.nodes())?;
            Box::new(slurm)
        }
        Way::Kubernetes(kubectl) => {
            let options = job(args, kubectl, round_s)?;
            Box::new(Kubernetes::new(options, stopped).map_err(|e| anyhow!(e))?)
        }
    })
}

/// Reads the hosts from a file if there is one of that name, else from the text.
fn read_hosts(typed: &str, command: &[String]) -> Result<Vec<String>> {
    let path = Path::new(typed);
    let metadata = path.metadata();
    if metadata.as_ref().is_ok_and(Metadata::is_dir) {
        return Err(usage(format!(
            "--ssh: {typed} is a directory; name hosts, or a file of hosts"
        )));
    }
    if metadata.is_ok() {
        let hosts = read_text(path, LARGEST_LIST).map_err(|e| e.to_string());
        let hosts = hosts.and_then(|text| named_hosts(&text, true));
        return hosts.map_err(|e| usage(format!("--ssh {typed}: {e}")));
    }
    if typed.contains('/') && !typed.contains("://") {
        return Err(usage(format!("--ssh: there is no file {typed}")));
    }
    let hosts = named_hosts(typed, false).map_err(|e| usage(format!("--ssh: {e}")))?;
    match hosts.as_slice() {
        [one] if one == typed && !Ssh::knows(command, one) => Err(usage(format!(
            "--ssh: {one} is neither a file nor a host that this machine or your ssh configuration \
             knows"
        ))),
        _ => Ok(hosts),
    }
}

/// Returns the fleet's directory, which is created unless a fleet was begun in it.
fn folder(args: &FleetRunArgs) -> Result<PathBuf> {
    match (&args.resume, &args.out) {
        (Some(dir), _) => Ok(dir.clone()),
        (None, Some(dir)) => Ok(named_folder(dir)?),
        (None, None) => Ok(new_folder("fleet", Path::new(""), Timestamp::now())?),
    }
}

fn planned(args: &FleetRunArgs, task: &FleetTask, launcher: &dyn Launcher) -> FleetPlan {
    FleetPlan {
        schema: FLEET_SCHEMA.into(),
        tool: tool(),
        started: Timestamp::now(),
        launcher: launcher.name().to_owned(),
        label: args.label.clone(),
        nodes: launcher.nodes().to_vec(),
        rounds: args.rounds,
        task: task.clone(),
        at_once: args.at_once,
        pairs: args.pairs,
        subnet: args.subnet.map(|subnet| subnet.to_string()),
        testbed: std::env::var(TESTBED).ok(),
    }
}

/// Refuses to continue with other nodes, another program or another plan: rounds would not be
/// comparable.
fn check_resumed_plan(begun: &FleetPlan, here: &FleetPlan) -> Result<()> {
    if let Some([was, is]) = begun.tool.differing(&here.tool) {
        return Err(usage(format!(
            "--resume: the fleet in that directory is of proofmark {was}, this is proofmark {is}"
        )));
    }
    let (was, is) = (&begun.task, &here.task);
    let differs = [
        ("the list of nodes", begun.nodes != here.nodes),
        ("--label", begun.label != here.label),
        ("--rounds", begun.rounds != here.rounds),
        ("--profile", (&was.profile, &was.profile_text) != (&is.profile, &is.profile_text)),
        ("--budget", was.budget_s != is.budget_s),
        ("--disk-path", was.disk_path != is.disk_path),
        ("--shared-storage", was.shared_storage != is.shared_storage),
        ("--at-once", begun.at_once != here.at_once),
        ("--pairs", begun.pairs != here.pairs),
        ("--subnet", begun.subnet != here.subnet),
    ];
    match differs.iter().find(|(_, differs)| *differs) {
        Some((what, _)) => {
            Err(usage(format!("--resume: {what} differs from the fleet in that directory")))
        }
        None => Ok(()),
    }
}

/// Returns the time limit for the start of this many nodes.
fn start_limit(args: &FleetRunArgs, nodes: u32) -> Duration {
    let all = Duration::from_secs_f64(START_S_PER_NODE * f64::from(nodes));
    args.start_limit.unwrap_or(START + all)
}

/// Returns the seconds after which a round stops waiting for its slowest node.
fn round_limit_s(round_s: f64) -> f64 {
    BUDGETS_PER_ROUND * round_s + ROUND_SLACK_S
}

/// Returns the maximum seconds of all passes over this many nodes. In each pass one round may wait
/// for nodes that do not answer; these are not asked again.
fn longest_s(args: &FleetRunArgs, nodes: u32, round_s: f64) -> f64 {
    let turns = |at_once: u32| f64::from(nodes.div_ceil(at_once.max(1)));
    let own = 2.0 * f64::from(args.rounds) * args.at_once.map_or(1.0, turns);
    let pairs = args.pairs.map_or(0.0, |pairs| {
        let first = if let Pairs::Rounds(rounds) = pairs { rounds } else { nodes };
        f64::from(first + RoundRobin::FURTHER + args.rounds) * args.at_once.map_or(1.0, turns)
    });
    let passes = if args.pairs.is_some() { 4.0 } else { 2.0 };
    (own + pairs) * BUDGETS_PER_ROUND * round_s
        + passes * round_limit_s(round_s)
        + 2.0 * start_limit(args, nodes).as_secs_f64()
}

/// Returns the options of the Job: a pod on each of this many nodes, or on all that are ready.
fn job(args: &FleetRunArgs, kubectl: Vec<String>, round_s: f64) -> Result<KubernetesOptions> {
    let cluster = Cluster {
        command: kubectl,
        namespace: args.namespace.clone(),
        selector: args.selector.clone().unwrap_or_default(),
        tolerations: args.toleration.clone(),
    };
    let nodes = args.nodes.map_or_else(|| cluster.ready_nodes(), Ok).map_err(|e| anyhow!(e))?;
    Ok(KubernetesOptions {
        cluster,
        image: args.image.clone().unwrap_or_default(),
        nodes,
        limit_s: longest_s(args, nodes, round_s).ceil() as u64,
        start: start_limit(args, nodes),
    })
}

/// Prints the commands, and refuses to continue a fleet as the real command does.
fn dry_run(
    args: &FleetRunArgs,
    way: Way,
    task: &RoundTask,
    (begun, repaired): (Option<&FleetPlan>, &BTreeSet<String>),
) -> Result<Outcome> {
    if let Way::Kubernetes(kubectl) = way {
        let job = manifest(&job(args, kubectl, task.round_s)?);
        print(&(serde_json::to_string_pretty(&job)? + "\n"))?;
        return Ok(Outcome::Done);
    }
    // Slurm has one command for all nodes, and one that copies the program.
    let has_one_each = matches!(way, Way::Ssh(..)) && !args.all;
    let launcher = launcher(args, way, task.round_s, &|| false)?;
    if let Some(begun) = begun {
        check_resumed_plan(begun, &planned(args, &task.task, launcher.as_ref()))?;
    }
    let commands = launcher.commands();
    let shown = if has_one_each { commands.len().min(1) } else { commands.len() };
    let (nodes, again) = (launcher.nodes().len() as u32, repaired.len() as u32);
    let mut text = format!("# {}\n", duration(args, (nodes, again), (&task.task, task.round_s)));
    commands.iter().take(shown).for_each(|command| text += &format!("{command}\n"));
    let rest = counted((commands.len() - shown) as u64, "other command");
    if shown < commands.len() {
        text += &format!("# and {rest} like it; --all prints them\n");
    }
    print(&text)?;
    Ok(Outcome::Done)
}
