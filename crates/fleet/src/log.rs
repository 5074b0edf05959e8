//! A fleet's file. Lines are appended as they arrive, so that a killed launcher loses no answer.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use proofmark_model::{
    FLEET_SCHEMA, FleetLine, FleetPlan, NodesAgain, PairsAgain, Pass, RoundRobin, Timestamp,
    clean_excerpt,
};
use proofmark_process::BoundedLines;
use rustix::fs::OFlags;

use crate::protocol::LONGEST_ANSWER;

/// Name of the file in its folder.
const NAME: &str = "fleet.jsonl";

/// A fleet's file, open for appending.
#[derive(Debug)]
pub struct FleetLog {
    file: File,
}

impl FleetLog {
    /// Creates the file in a folder without one, with the plan as its first line.
    pub fn create(dir: &Path, plan: &FleetPlan) -> io::Result<Self> {
        let file = open(dir, OpenOptions::new().append(true).create_new(true))?;
        let mut log = Self { file };
        log.append(&FleetLine::Plan(Box::new(plan.clone())))?;
        Ok(log)
    }

    /// Opens the file of an unfinished fleet, and terminates a line that was cut off.
    pub fn resume(dir: &Path) -> io::Result<Self> {
        let mut file = open(dir, OpenOptions::new().read(true).append(true))?;
        let mut last = [b'\n'];
        if file.metadata()?.len() > 0 {
            use std::os::unix::fs::FileExt as _;
            let end = file.metadata()?.len();
            file.read_exact_at(&mut last, end - 1)?;
        }
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
        Ok(Self { file })
    }

    /// Appends a line and syncs it to the disk.
    pub fn append(&mut self, line: &FleetLine) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all(&text)?;
        self.file.sync_data()
    }

    /// Reads a fleet's file, the plan first. An error is one line of text.
    pub fn read(dir: &Path) -> Result<FleetLines, String> {
        let path = dir.join(NAME);
        let fault = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let todo = "name the directory that `proofmark fleet run` wrote";
        let file = File::open(&path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                format!("'{}' has no {NAME}: {e}; {todo}", dir.display())
            }
            _ => fault(&e),
        })?;
        if !file.metadata().map_err(|e| fault(&e))?.is_file() {
            return Err(fault(&"not a file"));
        }
        FleetLines::new(Box::new(file)).map_err(|why| fault(&why))
    }
}

/// Lines of a fleet's file, the plan first. Skips a line that was cut off when the launcher was
/// killed.
pub struct FleetLines {
    /// Plan of the fleet.
    pub plan: FleetPlan,
    is_first: bool,
    from: BoundedLines<BufReader<Box<dyn Read>>>,
}

impl FleetLines {
    fn new(from: Box<dyn Read>) -> Result<Self, String> {
        let from = BufReader::with_capacity(1 << 20, from);
        let mut from = BoundedLines::new(from, LONGEST_ANSWER);
        let first = from.next_line().map_err(|e| e.to_string())?;
        let first = first.ok_or("the file is empty")?;
        match serde_json::from_slice(&first) {
            Ok(FleetLine::Plan(plan)) if plan.schema == FLEET_SCHEMA => {
                Ok(Self { plan: *plan, is_first: true, from })
            }
            Ok(FleetLine::Plan(plan)) => {
                let schema = clean_excerpt(&plan.schema, 40);
                Err(format!("schema is {schema}, this proofmark reads {FLEET_SCHEMA}"))
            }
            Ok(_) => Err("the first line is not a fleet's plan".to_owned()),
            Err(e) => Err(format!("not a fleet's file: {e}")),
        }
    }
}

impl Iterator for FleetLines {
    type Item = FleetLine;

    fn next(&mut self) -> Option<FleetLine> {
        if std::mem::take(&mut self.is_first) {
            return Some(FleetLine::Plan(Box::new(self.plan.clone())));
        }
        loop {
            let line = self.from.next_line().ok()??;
            match serde_json::from_slice(&line) {
                Ok(FleetLine::Plan(_)) | Err(_) => {}
                Ok(line) => return Some(line),
            }
        }
    }
}

/// State of a fleet that an earlier launcher measured in part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResumeState {
    turns: Vec<Turn>,
    /// Pairs with a result or a failure; the smaller name is first.
    pairs: BTreeSet<(Pass, u32, [String; 2])>,
    /// Nodes of the second pass, if they were decided.
    pub(crate) nodes_again: Option<Vec<String>>,
    /// Plan of the pairs, if it was decided.
    pub(crate) round_robin: Option<RoundRobin>,
    /// Pairs of their second pass, if they were decided.
    pub(crate) pairs_again: Option<PairsAgain>,
    /// Nodes that are asked again from the first round on, and have open rounds.
    pub(crate) again: BTreeSet<String>,
}

/// Outcome of a node or a pair in a round.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Turn {
    node: String,
    partner: Option<String>,
    pass: Pass,
    round: u32,
    has_result: bool,
    gone: bool,
}

impl ResumeState {
    /// Collects the state from the lines of a fleet's file.
    pub fn from_lines(lines: impl IntoIterator<Item = FleetLine>) -> Self {
        let mut known = Self::default();
        let mut rounds = 0;
        for line in lines {
            let turn = match line {
                FleetLine::Plan(plan) => {
                    rounds = plan.rounds;
                    continue;
                }
                FleetLine::MeasureAgain(again) => {
                    known.forget(again.nodes.into_iter().collect());
                    continue;
                }
                FleetLine::NodesAgain(again) => {
                    known.nodes_again = Some(again.nodes);
                    continue;
                }
                FleetLine::RoundRobin(round_robin) => {
                    known.round_robin = Some(round_robin);
                    continue;
                }
                FleetLine::PairsAgain(again) => {
                    known.pairs_again = Some(again);
                    continue;
                }
                FleetLine::Round(r) => Turn {
                    node: r.node,
                    partner: r.partner,
                    pass: r.pass,
                    round: r.round,
                    has_result: true,
                    gone: false,
                },
                FleetLine::Failure(f) => Turn {
                    node: f.node,
                    partner: f.partner,
                    pass: f.pass,
                    round: f.round,
                    has_result: false,
                    gone: f.gone,
                },
            };
            if let Some(partner) = &turn.partner {
                let pair = unordered([&turn.node, partner]);
                known.pairs.insert((turn.pass, turn.round, pair));
            }
            known.turns.push(turn);
        }
        let again = std::mem::take(&mut known.again);
        let is_open = |node: &String| {
            rounds_done(&known, Pass::First, std::slice::from_ref(node), rounds) < rounds
        };
        known.again = again.into_iter().filter(is_open).collect();
        known
    }

    /// Records in the file that these nodes measure again from the first round on, and forgets what
    /// they did. The second passes are decided anew.
    pub fn ask_again(&mut self, nodes: BTreeSet<String>, log: &mut FleetLog) -> io::Result<()> {
        if !nodes.is_empty() {
            let line =
                NodesAgain { nodes: nodes.iter().cloned().collect(), at: Some(Timestamp::now()) };
            log.append(&FleetLine::MeasureAgain(line))?;
            self.forget(nodes);
        }
        Ok(())
    }

    /// Forgets what these nodes did, in pairs too. Pairs that were planned without them are planned
    /// anew.
    fn forget(&mut self, nodes: BTreeSet<String>) {
        let is_planned = |plan: &RoundRobin| nodes.iter().all(|node| plan.has(node));
        if !self.round_robin.as_ref().is_none_or(is_planned) {
            self.round_robin = None;
            self.turns.retain(|turn| !turn.pass.of_pairs());
            self.pairs.clear();
        }
        // The second passes are measured anew, by all of their nodes.
        self.turns.retain(|turn| ![Pass::Again, Pass::PairsAgain].contains(&turn.pass));
        self.pairs.retain(|(pass, ..)| *pass != Pass::PairsAgain);
        self.turns.retain(|turn| {
            let mut names = [Some(&turn.node), turn.partner.as_ref()].into_iter().flatten();
            !names.any(|name| nodes.contains(name))
        });
        self.pairs.retain(|(.., pair)| !pair.iter().any(|name| nodes.contains(name)));
        (self.nodes_again, self.pairs_again) = (None, None);
        self.again.extend(nodes);
    }

    /// True if a node has a result of the first pass.
    pub(crate) fn has_result(&self, node: &str) -> bool {
        self.turns.iter().any(|t| t.has_result && t.pass == Pass::First && t.node == node)
    }

    /// True if a pair has an answer or a failure.
    pub(crate) fn has_pair(&self, pass: Pass, round: u32, pair: [&str; 2]) -> bool {
        self.pairs.contains(&(pass, round, unordered(pair)))
    }

    /// Iterates over the pairs of the first pass; `true` marks those with a result.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = ([&str; 2], bool)> {
        let turns = self.turns.iter().filter(|turn| turn.pass == Pass::Pairs);
        turns.filter_map(|turn| {
            Some(([turn.node.as_str(), turn.partner.as_deref()?], turn.has_result))
        })
    }
}

impl Turn {
    /// True if the turn completes a node's round; a node that failed for good completes all later
    /// rounds.
    fn answers(&self, pass: Pass, round: u32) -> bool {
        let (own, asked) = ((self.pass, self.round), (pass, round));
        own == asked || self.gone && own < asked
    }
}

/// Returns a pair with the smaller name first.
pub(crate) fn unordered([a, b]: [&str; 2]) -> [String; 2] {
    [a.min(b).to_owned(), a.max(b).to_owned()]
}

/// Counts the complete rounds of a pass: every node answered or had failed for good.
pub(crate) fn rounds_done(known: &ResumeState, pass: Pass, nodes: &[String], rounds: u32) -> u32 {
    let is_done = |round: &u32| {
        let here = known.turns.iter().filter(|turn| turn.answers(pass, *round));
        let answered: BTreeSet<&str> = here.map(|turn| turn.node.as_str()).collect();
        nodes.iter().all(|node| answered.contains(node.as_str()))
    };
    (1..=rounds).take_while(is_done).last().unwrap_or(0)
}

fn open(dir: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::CLOEXEC).bits();
    options.mode(0o600).custom_flags(flags as i32).open(dir.join(NAME))
}

#[cfg(test)]
mod tests {
    use proofmark_model::{FleetTask, NodeFailure, Timestamp, Tool};

    use super::*;

    fn plan() -> FleetPlan {
        FleetPlan {
            schema: FLEET_SCHEMA.into(),
            tool: Tool { version: "1".to_owned(), commit: None, build: String::new() },
            started: Timestamp::now(),
            launcher: "ssh".to_owned(),
            label: None,
            nodes: vec!["n1".to_owned(), "n2".to_owned()],
            rounds: 8,
            task: FleetTask { profile: "screen".to_owned(), ..FleetTask::default() },
            at_once: None,
            pairs: None,
            subnet: None,
            testbed: None,
        }
    }

    fn failure(node: &str, round: u32, gone: bool) -> FleetLine {
        let (node, reason) = (node.to_owned(), "lost".to_owned());
        FleetLine::Failure(NodeFailure {
            node,
            partner: None,
            pass: Pass::First,
            round,
            reason,
            gone,
        })
    }

    #[test]
    fn what_a_killed_launcher_wrote_is_read_and_gone_on_with() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = FleetLog::create(dir.path(), &plan()).unwrap();
        log.append(&failure("n1", 1, false)).unwrap();
        log.file.write_all(b"{\"line\":\"round\",\"no").unwrap();
        assert!(FleetLog::create(dir.path(), &plan()).is_err(), "a fleet is never overwritten");
        let mut log = FleetLog::resume(dir.path()).unwrap();
        log.append(&failure("n2", 1, false)).unwrap();
        let lines: Vec<_> = FleetLog::read(dir.path()).unwrap().collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert_eq!(lines[2], failure("n2", 1, false));
    }

    #[test]
    fn what_is_no_fleet_is_refused_in_one_line() {
        let dir = tempfile::tempdir().unwrap();
        let why = |text: &str| {
            std::fs::write(dir.path().join(NAME), text).unwrap();
            FleetLog::read(dir.path()).err().unwrap()
        };
        assert!(why("").ends_with("the file is empty"));
        assert!(why("{}\n").contains("not a fleet's file"));
        assert!(
            why(&serde_json::to_string(&failure("n1", 1, true)).unwrap())
                .contains("not a fleet's plan")
        );
        let other = FleetPlan { schema: "proofmark.fleet/9".into(), ..plan() };
        let other = serde_json::to_string(&FleetLine::Plan(Box::new(other))).unwrap();
        assert!(why(&other).contains("schema is proofmark.fleet/9"));
    }

    #[test]
    fn a_round_is_done_if_every_node_answered_or_was_gone() {
        let nodes = plan().nodes;
        let done = |lines: &[FleetLine]| {
            let known = ResumeState::from_lines(lines.to_vec());
            rounds_done(&known, Pass::First, &nodes, 8)
        };
        assert_eq!(done(&[]), 0);
        assert_eq!(done(&[failure("n1", 1, false)]), 0);
        let both = [failure("n1", 1, false), failure("n2", 1, false), failure("n1", 2, false)];
        assert_eq!(done(&both), 1);
        assert_eq!(
            done(&[failure("n1", 1, true), failure("n2", 1, false), failure("n2", 2, false)]),
            2
        );
        assert_eq!(done(&[failure("n1", 1, true), failure("n2", 1, true)]), 8);
        let known = ResumeState::from_lines([failure("n1", 3, true), failure("n2", 3, false)]);
        let again = |node: &str| rounds_done(&known, Pass::Again, &[node.to_owned()], 8);
        assert_eq!((again("n1"), again("n2")), (8, 0), "who is gone is not waited for");
    }
}
