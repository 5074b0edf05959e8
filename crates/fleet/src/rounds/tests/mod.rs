//! Tests of rounds over fake nodes in memory.

mod nodes;
mod pairs;
mod start;
mod stop;

use std::cell::RefCell;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, OnceLock};

use proofmark_model::{
    Better, FLEET_SCHEMA, FigureKind, FleetTask, NodeFigure, NodeLimits, NodeRound, Params,
    Reliance, Subsystem, Timestamp, Tool, Unit, Verdict,
};

use super::*;
use crate::launch::Copied;
use crate::protocol::Answer;

fn tool(version: &str) -> Tool {
    Tool { version: version.to_owned(), commit: None, build: String::new() }
}

fn result(node: &str, pass: Pass, round: u32) -> NodeRound {
    NodeRound {
        node: node.to_owned(),
        partner: None,
        pass,
        round,
        started: Timestamp::now(),
        boot_id: None,
        tool: tool("1"),
        facts: Vec::new(),
        figures: Vec::new(),
        time_account: None,
        limits: NodeLimits::default(),
        programs: Vec::new(),
        programs_of_one_cpu: None,
        left_out: None,
    }
}

fn figure(rate: f64) -> NodeFigure {
    NodeFigure {
        workload: "cpu.flops".to_owned(),
        method: 1,
        subsystem: Subsystem::Cpu,
        params: Params::default(),
        title: "peak".to_owned(),
        unit: Unit::FlopPerSecond,
        random: false,
        better: Better::Higher,
        headline: FigureKind::Attainable,
        attainable: Some(rate),
        delivered: Some(1e9),
        ceiling: None,
        ceiling_margin: None,
        efficiency: None,
        reliance: Reliance::Known,
        bottleneck: None,
        findings: Vec::new(),
        verdict: Verdict::Valid,
        missing: None,
    }
}

/// Time limit for fake nodes to start.
const START: Duration = Duration::from_millis(300);

/// Answers of a fake node to an order to measure.
type Answers = fn(node: &str, pass: Pass, round: u32) -> Vec<Vec<u8>>;

fn lines(answer: &Answer) -> Vec<Vec<u8>> {
    let text = answer.lines().unwrap();
    text.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(<[u8]>::to_vec).collect()
}

fn well(node: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
    lines(&Answer::Round(Box::new(result(node, pass, round))))
}

/// Answers of a fake node to an order to measure the network.
type PairAnswers = fn(node: &str, partner: &str, pass: Pass, round: u32) -> Vec<Vec<u8>>;

fn well_in_pair(node: &str, partner: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
    let partner = Some(partner.to_owned());
    lines(&Answer::Round(Box::new(NodeRound { partner, ..result(node, pass, round) })))
}

/// Launcher of three fake nodes; the last one misbehaves.
struct FakeNodes {
    nodes: Vec<String>,
    hello: Option<Answer>,
    peculiar: Answers,
    pair: PairAnswers,
    events: Option<SyncSender<Event>>,
    orders: Vec<(Pass, u32, String)>,
    ended: Vec<String>,
    /// True if nodes report their boot.
    boot_ids: bool,
    /// MiB of 23 that the last node got, and its hello after them, when the limit is over.
    copies: Option<u64>,
    late_hello: Option<Answer>,
    /// Text that the last node prints first.
    banner: Option<&'static str>,
    /// Round in which the last node's connection ends, and when it did.
    lost_in_round: Option<u32>,
    lost_at: Arc<OnceLock<Instant>>,
    /// True if the first two nodes are one machine, and the second name answers first.
    twins: bool,
    /// Time limit of a round.
    limit: Duration,
    /// Lines that were printed for the user.
    printed: Vec<String>,
}

impl FakeNodes {
    fn new(peculiar: Answers) -> Self {
        let nodes = ["n1", "n2", "n3"].map(str::to_owned).to_vec();
        let hello = Some(Answer::hello("n3", tool("1"), None));
        Self {
            nodes,
            hello,
            peculiar,
            pair: well_in_pair,
            events: None,
            orders: Vec::new(),
            ended: Vec::new(),
            boot_ids: false,
            copies: None,
            late_hello: None,
            banner: None,
            lost_in_round: None,
            lost_at: Arc::default(),
            twins: false,
            limit: Duration::from_millis(300),
            printed: Vec::new(),
        }
    }

    /// Copies the program to the last node for as long as it may take to start.
    fn copy(&self, mib: u64) {
        let events = self.events.clone().unwrap();
        let hello = self.late_hello.clone();
        std::thread::spawn(move || {
            let node = || "n3".to_owned();
            for bytes in [0, mib].map(|mib| mib << 20) {
                let copied = Copied { bytes, size: 23 << 20 };
                let _ = events.send(Event::Copying { node: node(), copied });
                std::thread::sleep(2 * START / 3);
            }
            for line in hello.iter().flat_map(lines) {
                let _ = events.send(Event::Line { node: node(), line });
            }
        });
    }

    fn send(&self, node: &str, lines: Vec<Vec<u8>>) {
        for line in lines {
            let node = node.to_owned();
            self.events.as_ref().unwrap().send(Event::Line { node, line }).unwrap();
        }
    }
}

impl Launcher for FakeNodes {
    fn name(&self) -> &'static str {
        "made up"
    }

    fn nodes(&self) -> &[String] {
        &self.nodes
    }

    fn commands(&self) -> Vec<String> {
        Vec::new()
    }

    fn start(&mut self, events: SyncSender<Event>) -> Result<(), String> {
        self.events = Some(events);
        let mut first: Vec<&str> =
            self.nodes.iter().map(String::as_str).filter(|node| *node != "n3").collect();
        if self.twins {
            first.reverse();
        }
        for node in first {
            let machine = if self.twins { "n1 and n2" } else { node };
            let boot_id = self.boot_ids.then(|| format!("boot of {machine}"));
            self.send(node, lines(&Answer::hello(node, tool("1"), boot_id)));
        }
        self.copies.into_iter().for_each(|mib| self.copy(mib));
        let banner = self.banner.iter().map(|text| text.as_bytes().to_vec()).collect();
        self.send("n3", banner);
        if let Some(hello) = &self.hello {
            self.send("n3", lines(hello));
        }
        Ok(())
    }

    fn order(&mut self, order: &Order) {
        for node in &order.nodes {
            self.orders.push((order.pass, order.round, node.clone()));
            let answers: Answers = if node == "n3" { self.peculiar } else { well };
            let (pass, round) = (order.pass, order.round);
            if node == "n3" && self.lost_in_round == Some(round) {
                let _ = self.lost_at.set(Instant::now());
                let (node, reason) = (node.clone(), "ssh lost the connection".to_owned());
                self.events.as_ref().unwrap().send(Event::Ended { node, reason }).unwrap();
                continue;
            }
            match &order.work {
                NodeTask::Measure(_) => self.send(node, answers(node, pass, round)),
                NodeTask::Serve { .. } => {
                    let addresses = vec![format!("10.0.0.{}:7", &node[1..]).parse().unwrap()];
                    self.send(node, lines(&Answer::Serves { addresses }));
                }
                NodeTask::Pair { partner, addresses, key, .. } => {
                    assert_eq!(addresses[0].to_string(), format!("10.0.0.{}:7", &partner[1..]));
                    assert_eq!(key.0, "secret");
                    self.send(node, (self.pair)(node, partner, pass, round));
                }
            }
        }
    }

    fn keep_alive(&mut self) {}

    fn end(&mut self, node: &str) {
        self.ended.push(node.to_owned());
    }
}

fn plan(nodes: &[String]) -> FleetPlan {
    FleetPlan {
        schema: FLEET_SCHEMA.into(),
        tool: tool("1"),
        started: Timestamp::now(),
        launcher: "made up".to_owned(),
        label: None,
        nodes: nodes.to_vec(),
        rounds: 2,
        task: FleetTask { profile: "screen".to_owned(), ..FleetTask::default() },
        at_once: None,
        pairs: None,
        subnet: None,
        testbed: None,
    }
}

/// Returns the file's lines after two rounds of three nodes, the last one misbehaving.
fn measured(launcher: &mut FakeNodes, again: &[&str]) -> Vec<FleetLine> {
    measured_with(launcher, again, None)
}

fn measured_with(
    launcher: &mut FakeNodes,
    again: &[&str],
    network: Option<NetworkPass>,
) -> Vec<FleetLine> {
    resumed(launcher, again, network, Vec::new())
}

/// Returns the lines after resuming from these lines of an earlier launcher.
fn resumed(
    launcher: &mut FakeNodes,
    again: &[&str],
    network: Option<NetworkPass>,
    before: Vec<FleetLine>,
) -> Vec<FleetLine> {
    resumed_for(launcher, again, network, (before, &[]))
}

/// The same with nodes that are asked again from the first round on.
fn resumed_for(
    launcher: &mut FakeNodes,
    again: &[&str],
    network: Option<NetworkPass>,
    (before, repaired): (Vec<FleetLine>, &[&str]),
) -> Vec<FleetLine> {
    let plan = plan(&launcher.nodes);
    let dir = tempfile::tempdir().unwrap();
    let mut log = FleetLog::create(dir.path(), &plan).unwrap();
    before.iter().for_each(|line| log.append(line).unwrap());
    let is_new = before.is_empty();
    let begun = [FleetLine::Plan(Box::new(plan.clone()))].into_iter();
    let mut known = ResumeState::from_lines(begun.chain(before));
    known.ask_again(repaired.iter().map(|node| (*node).to_owned()).collect(), &mut log).unwrap();
    let printed = RefCell::new(Vec::new());
    let fleet = Fleet {
        plan: &plan,
        limits: TimeLimits { start: START, round: launcher.limit },
        log: &mut log,
        known: &known,
        network,
        nodes_again: &|| Ok(again.iter().map(|n| (*n).to_owned()).collect()),
        print: &|line: &str| printed.borrow_mut().push(line.to_owned()),
        stopped: &|| false,
    };
    assert_eq!(measure(fleet, launcher), Ok(()));
    launcher.printed = printed.into_inner();
    let printed = &launcher.printed;
    assert!(!is_new || printed.iter().any(|line| line.starts_with("[2/2]")), "{printed:?}");
    FleetLog::read(dir.path()).unwrap().skip(1).collect()
}

fn failures(lines: &[FleetLine]) -> Vec<(&str, u32, &str, bool)> {
    let mut found = Vec::new();
    for line in lines {
        if let FleetLine::Failure(f) = line {
            found.push((f.node.as_str(), f.round, f.reason.as_str(), f.gone));
        }
    }
    found
}

fn results(lines: &[FleetLine], pass: Pass) -> usize {
    let in_pass = |line: &&FleetLine| matches!(line, FleetLine::Round(r) if r.pass == pass);
    lines.iter().filter(in_pass).count()
}
