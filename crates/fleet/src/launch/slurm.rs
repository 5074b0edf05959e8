//! One srun for all nodes, with one task per node. Every task gets the launcher's output as input.
//! Each line of a task comes back with its number (`--label`).
//!
//! sbcast copies the program from node to node. It stops at the first node without space for it,
//! and then no node has it. In that case the program comes by srun's input, and only that node
//! lacks it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::sync::mpsc::{Sender, SyncSender, channel};
use std::thread;
use std::time::Duration;

use proofmark_process::{ChildProcess, Exit, Stream, last_line};

use super::carried::script;
use super::deaths::describe;
use super::pipes::copy;
use super::{Event, Launcher, Program, ask, describe_failure, start_piped, typed, words};
use crate::hosts::named_hosts;
use crate::protocol::{LONGEST_LINE, Order};

/// Time limit for scontrol.
const ANSWER: Duration = Duration::from_secs(60);
/// Time limit for sbcast.
const BROADCAST: Duration = Duration::from_secs(120);
/// Time limit for nodes to end.
const GRACE: Duration = Duration::from_secs(8);

/// Request to Slurm.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlurmOptions {
    /// Number of nodes; `None`: the nodes of the list, or all of the allocation.
    pub nodes: Option<u32>,
    /// Names of the nodes.
    pub list: Option<String>,
    /// Name of the partition.
    pub partition: Option<String>,
    /// Time limit of the job, in minutes.
    pub minutes: u32,
    /// More options for salloc.
    pub more: Vec<String>,
}

/// Returns the command that runs `command` in a new allocation of whole nodes, which ends with it.
pub fn allocation(options: &SlurmOptions, command: &[String]) -> Vec<String> {
    let mut all = words(&["salloc", "--quiet", "--exclusive", "--mem=0", "--job-name=proofmark"]);
    all.extend(options.nodes.map(|n| format!("--nodes={n}")));
    all.extend(options.list.as_ref().map(|list| format!("--nodelist={list}")));
    all.extend(options.partition.as_ref().map(|name| format!("--partition={name}")));
    all.push(format!("--time={}", options.minutes));
    all.extend(options.more.iter().cloned());
    all.extend(command.iter().cloned());
    all
}

/// Reaches the nodes of an allocation.
#[derive(Debug)]
pub struct Slurm {
    nodes: Vec<String>,
    program: Program,
    /// Path of the program on a node.
    there: String,
    srun: Option<ChildProcess>,
    /// True if nodes may have a copy.
    copied: bool,
    orders: Option<Sender<Vec<u8>>>,
}

impl Slurm {
    /// Reaches the nodes of the allocation in which this process runs.
    pub fn new(program: Program) -> Result<Self, String> {
        let list = std::env::var("SLURM_JOB_NODELIST").map_err(|_| "not in an allocation")?;
        let answer = ask(&words(&["scontrol", "show", "hostnames", &list]), &[], ANSWER)?;
        let nodes: Vec<String> = answer.output.split_whitespace().map(str::to_owned).collect();
        if nodes.is_empty() || !answer.is_success() {
            let why = describe_failure(&answer, ANSWER);
            return Err(format!("scontrol names no nodes: it {why}"));
        }
        let there = match &program {
            Program::Installed(path) => path.clone(),
            // Other processes of the system know another file by this name.
            Program::Copied(path) if path.starts_with("/proc") => {
                return Err("this program's own file was removed".to_owned());
            }
            Program::Copied(_) => format!("/tmp/proofmark-{}", random_name()?),
        };
        Ok(Self { nodes, program, there, srun: None, copied: false, orders: None })
    }

    fn copy(&self) -> Option<Vec<String>> {
        let Program::Copied(path) = &self.program else { return None };
        Some(words(&["sbcast", &path.to_string_lossy(), &self.there]))
    }

    /// Returns a command on all nodes, one task each, whatever the allocation was created for.
    fn on_all(&self, more: &[&str], command: &[&str]) -> Vec<String> {
        let mut all = words(&["srun", "--ntasks-per-node=1", "--overlap", "--mpi=none"]);
        all.extend(words(&["--cpu-bind=none", "--kill-on-bad-exit=0", "--no-kill", "--wait=0"]));
        let nodes = self.nodes.len();
        all.extend([format!("--nodes={nodes}"), format!("--ntasks={nodes}")]);
        all.extend(words(more));
        all.extend(words(command));
        all
    }

    /// Returns the command that runs the program. With `by_input`, its bytes come first on the
    /// input.
    fn run(&self, by_input: Option<u64>) -> Vec<String> {
        let own = [&self.there, "fleet", "node", "--copied"];
        let script = by_input.map(|size| script(size, &own[1..].join(" "), false));
        let command = match (&self.program, &script) {
            (_, Some(script)) => vec!["sh", "-c", script],
            (Program::Copied(_), None) => own.to_vec(),
            (Program::Installed(_), None) => own[..3].to_vec(),
        };
        self.on_all(&["--input=all", "--label"], &command)
    }

    /// Copies the program to all nodes at once. If that fails, returns the file to send by input.
    fn broadcast(&mut self) -> Result<Option<File>, String> {
        let (Program::Copied(path), Some(copy)) = (&self.program, self.copy()) else {
            return Ok(None);
        };
        let file =
            File::open(path).map_err(|e| format!("cannot read this program's own file: {e}"))?;
        self.copied = true;
        let done = ask(&copy, &[], BROADCAST).is_ok_and(|answer| answer.is_success());
        Ok((!done).then_some(file))
    }

    fn send(&self, line: Option<Vec<u8>>) {
        if let Some((orders, line)) = self.orders.as_ref().zip(line) {
            let _ = orders.send(line);
        }
    }

    /// Removes copies of tasks that never started.
    fn remove_copies(&self) {
        let remove = self.on_all(&[], &["rm", "-f", &self.there]);
        // A copy that is left costs some MiB of /tmp, and disturbs no measurement.
        let _ = ask(&remove, &[], GRACE);
    }
}

/// A name that no other user can guess and create first.
fn random_name() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| format!("no random numbers: {e}"))?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

impl Launcher for Slurm {
    fn name(&self) -> &'static str {
        "slurm"
    }

    fn nodes(&self) -> &[String] {
        &self.nodes
    }

    fn commands(&self) -> Vec<String> {
        self.copy().into_iter().chain([self.run(None)]).map(|words| typed(&words)).collect()
    }

    fn start(&mut self, events: SyncSender<Event>) -> Result<(), String> {
        let mut program = self.broadcast()?;
        let size = program.as_ref().map(|file| file.metadata().map_or(0, |m| m.len()));
        let mut child = start_piped(&self.run(size), Stream::Lines(LONGEST_LINE))?;
        let (to, orders) = channel::<Vec<u8>>();
        if let Some(mut input) = child.take_input() {
            let (nodes, to_all) = (self.nodes.clone(), events.clone());
            // All tasks read the same copy.
            let report = move |copied| {
                for node in &nodes {
                    let _ = to_all.send(Event::Copying { node: node.clone(), copied });
                }
            };
            thread::spawn(move || {
                program.as_mut().map_or(Ok(()), |program| copy(program, &mut input, report))?;
                orders.iter().try_for_each(|line| input.write_all(&line))
            });
        }
        let (output, errors) = (child.take_lines(), child.take_error_lines());
        let (nodes, to_all) = (self.nodes.clone(), events.clone());
        let answers = thread::spawn(move || output.map(|o| read_answers(o, &nodes, &to_all)));
        let nodes = self.nodes.clone();
        thread::spawn(move || {
            let last = errors.and_then(|errors| read_errors(errors, &nodes, &events));
            // The last answers must arrive before the end.
            let _ = answers.join();
            let reason = last.map_or("srun ended".to_owned(), |last| format!("srun ended: {last}"));
            for node in nodes {
                let _ = events.send(Event::Ended { node, reason: reason.clone() });
            }
        });
        (self.srun, self.orders) = (Some(child), Some(to));
        Ok(())
    }

    fn order(&mut self, order: &Order) {
        self.send(order.line());
    }

    fn keep_alive(&mut self) {
        self.send(Some(b"\n".to_vec()));
    }

    /// A task ends with all others.
    fn end(&mut self, _: &str) {}
}

impl Drop for Slurm {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(srun) = &mut self.srun {
            srun.end(GRACE);
        }
        if self.copied {
            self.remove_copies();
        }
    }
}

/// The node and the text of a labelled line: `12: text`.
fn labelled<'a>(line: &'a [u8], nodes: &[String]) -> Option<(String, &'a [u8])> {
    let colon = line.iter().position(|b| *b == b':')?;
    let task: usize = std::str::from_utf8(&line[..colon]).ok()?.trim().parse().ok()?;
    let text = &line[colon + 1..];
    Some((nodes.get(task)?.clone(), text.strip_prefix(b" ").unwrap_or(text)))
}

/// Sends the tasks' lines to `events`.
fn read_answers(
    lines: impl IntoIterator<Item = Vec<u8>>,
    nodes: &[String],
    events: &SyncSender<Event>,
) {
    for line in lines {
        let Some((node, line)) = labelled(&line, nodes) else { continue };
        if events.send(Event::Line { node, line: line.to_vec() }).is_err() {
            return;
        }
    }
}

/// Describes the end of a task by srun's words for it: `task 1: Exited with exit code 137`.
fn death(what: &str) -> String {
    let status = what.rsplit_once("exit code ").and_then(|(_, code)| code.parse().ok());
    match status {
        Some(status) if status > 128 => describe(Exit::Status(status)),
        // Slurm's word for SIGKILL.
        None if what.ends_with(": Killed") => describe(Exit::Signal(9)),
        None if what.ends_with("Out Of Memory") => format!("{what}: its process was killed"),
        _ => format!("srun: {what}"),
    }
}

/// Reports srun's errors about a node, `srun: error: n3: task 2: Killed`, with that node's last
/// error line. Returns the last error that names no node.
fn read_errors(
    lines: impl IntoIterator<Item = Vec<u8>>,
    nodes: &[String],
    events: &SyncSender<Event>,
) -> Option<String> {
    let mut words: BTreeMap<String, String> = BTreeMap::new();
    let mut last = None;
    for line in lines {
        if let Some((node, line)) = labelled(&line, nodes) {
            words.extend(last_line(&String::from_utf8_lossy(line)).map(|line| (node, line)));
            continue;
        }
        let Some(line) = last_line(&String::from_utf8_lossy(&line)) else { continue };
        let error = line.trim_start_matches("srun: ").trim_start_matches("error: ");
        let (subject, what) = error.split_once(": ").unwrap_or(("", error));
        let named = named_hosts(subject, false).unwrap_or_default();
        let named: Vec<String> = named.into_iter().filter(|n| nodes.contains(n)).collect();
        if named.is_empty() {
            last = Some(error.to_owned());
        }
        for node in named {
            let last = words.get(&node).map(|last| format!(": {last}")).unwrap_or_default();
            let _ = events.send(Event::Ended { node, reason: format!("{}{last}", death(what)) });
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn what_srun_says_of_a_node_comes_with_its_last_words() {
        let nodes = words(&["n1", "n2"]);
        let text = "1: proofmark: no disk\nsrun: error: n2: task 1: Exited with exit code 2\n\
                    7: who\nsrun: error: n[1,9]: tasks 0,8: Killed\nsrun: Job step aborted\n";
        let (to, events) = sync_channel(9);
        let last = read_errors(text.lines().map(|line| line.as_bytes().to_vec()), &nodes, &to);
        assert_eq!(last.as_deref(), Some("Job step aborted"));
        let Ok(Event::Ended { node, reason }) = events.try_recv() else { panic!() };
        assert_eq!(node, "n2");
        assert_eq!(reason, "srun: task 1: Exited with exit code 2: proofmark: no disk");
        let Ok(Event::Ended { node, reason }) = events.try_recv() else { panic!() };
        let killed = "its process was killed by SIGKILL (sent by the kernel when memory or the \
                      limit of CPU time is used up, or by a user)";
        assert_eq!((node.as_str(), reason.as_str()), ("n1", killed));
        read_answers(["0: {\"a\": 1}", " x", "9: y"].map(|line| line.into()), &nodes, &to);
        let Ok(Event::Line { node, line }) = events.try_recv() else { panic!() };
        assert_eq!((node.as_str(), line.as_slice()), ("n1", &b"{\"a\": 1}"[..]));
        assert!(events.try_recv().is_err());
    }
}
