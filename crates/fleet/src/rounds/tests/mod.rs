//! Tests of rounds over fake nodes in memory.

mod pairs;
mod start;
mod stop;

use std::cell::RefCell;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, OnceLock};

use proofmark_model::{
    Better, FLEET_SCHEMA, FigureKind, FleetTask, NodeFigure, NodeLimits, NodeRound, Params,
    Subsystem, Timestamp, Tool, Unit, Verdict,
};

use super::*;
use crate::launch::Copied;

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
        let mut first = ["n1", "n2"];
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
        limits: TimeLimits { start: START, round: Duration::from_millis(300) },
        log: &mut log,
        known: &known,
        network,
        nodes_again: &|| Ok(again.iter().map(|n| (*n).to_owned()).collect()),
        print: &|line: &str| printed.borrow_mut().push(line.to_owned()),
        stopped: &|| false,
    };
    assert_eq!(measure(fleet, launcher), Ok(()));
    assert!(
        !is_new || printed.borrow().iter().any(|line| line.starts_with("[2/2]")),
        "{printed:?}"
    );
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

#[test]
fn all_nodes_answer_in_all_rounds_and_some_again() {
    let mut launcher = FakeNodes::new(well);
    let lines = measured(&mut launcher, &["n2", "n3"]);
    assert_eq!((results(&lines, Pass::First), results(&lines, Pass::Again)), (6, 4));
    assert_eq!(failures(&lines), []);
    assert!(launcher.ended.is_empty());
}

#[test]
fn the_second_pass_goes_on_with_the_nodes_that_it_began_with() {
    let all = measured(&mut FakeNodes::new(well), &["n2"]);
    let begun = all.iter().position(|l| matches!(l, FleetLine::NodesAgain(_))).unwrap();
    for kept in begun + 1..all.len() {
        let mut launcher = FakeNodes::new(well);
        // From here on the file's lines are of other nodes.
        let lines = resumed(&mut launcher, &["n1", "n3"], None, all[..kept].to_vec());
        assert_eq!((results(&lines, Pass::First), results(&lines, Pass::Again)), (6, 2));
        assert!(launcher.orders.iter().all(|(.., node)| node == "n2"), "{:?}", launcher.orders);
    }
}

#[test]
fn a_node_that_answers_no_more_costs_no_other_node_a_round() {
    fn silent(node: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        if round == 2 { Vec::new() } else { well(node, pass, round) }
    }
    let mut launcher = FakeNodes::new(silent);
    let lines = measured(&mut launcher, &["n2", "n3"]);
    assert_eq!(failures(&lines), [("n3", 2, "no answer within 0 s", true)]);
    assert_eq!((results(&lines, Pass::First), results(&lines, Pass::Again)), (5, 2));
    assert_eq!(launcher.ended, ["n3"]);
    let asked =
        launcher.orders.iter().filter(|(pass, _, node)| *pass == Pass::Again && node == "n3");
    assert_eq!(asked.count(), 0, "it is asked no more");
}

#[test]
fn a_hostile_node_is_named_with_what_it_did() {
    fn garbage(_: &str, _: Pass, _: u32) -> Vec<Vec<u8>> {
        vec![b"\x1b[2Jowned".to_vec()]
    }
    fn other(_: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        well("n1", pass, round)
    }
    fn endless(_: &str, _: Pass, _: u32) -> Vec<Vec<u8>> {
        vec![[b"+".as_slice(), &[b'9'; 4000]].concat(); 1100]
    }
    fn infinite(node: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        let mut result = result(node, pass, round);
        result.figures.push(figure(1e200));
        lines(&Answer::Round(Box::new(result)))
    }
    fn negative(node: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        let mut result = result(node, pass, round);
        result.figures.push(figure(-1.0));
        lines(&Answer::Round(Box::new(result)))
    }
    for (peculiar, expected) in [
        (garbage as Answers, "its answer is not proofmark's: "),
        (other, "it reported another name, 'n1'"),
        (endless, "its answer is longer than 4 MiB"),
        (infinite, "it sent an impossible value of cpu.flops: 1e200"),
        (negative, "it sent an impossible value of cpu.flops: -1e0"),
    ] {
        let mut launcher = FakeNodes::new(peculiar);
        let lines = measured(&mut launcher, &[]);
        let [("n3", 1, reason, true)] = failures(&lines)[..] else { panic!("{lines:?}") };
        assert!(reason.starts_with(expected) && !reason.contains('\u{1b}'), "{reason:?}");
        assert_eq!(results(&lines, Pass::First), 4);
    }
}

#[test]
fn a_node_of_another_program_or_without_one_is_not_asked() {
    let mut launcher = FakeNodes::new(well);
    launcher.hello = Some(Answer::hello("n3", tool("2"), None));
    let lines = measured(&mut launcher, &[]);
    let expected = "it has proofmark 2 (of no commit), the launcher 1 (of no commit)";
    assert_eq!(failures(&lines), [("n3", 1, expected, true)]);
    assert!(launcher.orders.iter().all(|(_, _, node)| node != "n3"));
    let mut launcher = FakeNodes::new(well);
    launcher.hello = None;
    let lines = measured(&mut launcher, &[]);
    assert_eq!(failures(&lines), [("n3", 1, "it did not start within 0 s (--start-limit)", true)]);
}

#[test]
fn a_round_that_failed_is_no_reason_to_give_up_a_node() {
    fn fails_once(node: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        let reason = "the worker was killed by signal 9".to_owned();
        let failed = Answer::Failed { pass, round, reason };
        if round == 1 { lines(&failed) } else { well(node, pass, round) }
    }
    let mut launcher = FakeNodes::new(fails_once);
    let lines = measured(&mut launcher, &[]);
    assert_eq!(failures(&lines), [("n3", 1, "the worker was killed by signal 9", false)]);
    assert_eq!(results(&lines, Pass::First), 5);
}

#[test]
fn a_node_that_answers_a_round_twice_is_asked_no_more() {
    fn twice(node: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        [well(node, pass, round), well(node, pass, round)].concat()
    }
    let mut launcher = FakeNodes::new(twice);
    // The last node is asked first, so that the others answer after it.
    launcher.nodes.rotate_left(1);
    let lines = measured(&mut launcher, &[]);
    assert_eq!(failures(&lines), [("n3", 1, "it sent an answer that no order asked for", true)]);
    assert_eq!(results(&lines, Pass::First), 5);
}

#[test]
fn nodes_take_turns_with_others_in_each_round() {
    let nodes: Vec<String> = (1..=5).map(|n| format!("n{n}")).collect();
    let split = |at_once, round| batches(nodes.clone(), at_once, round);
    assert_eq!(split(None, 1).len(), 1);
    for round in 1..=8 {
        let all = split(Some(2), round);
        assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
        let mut named = all.concat();
        named.sort();
        assert_eq!(named, nodes);
    }
    assert_eq!(split(Some(4), 1).iter().map(Vec::len).collect::<Vec<_>>(), [3, 2], "no node alone");
    assert_ne!(split(Some(2), 1)[0], split(Some(2), 3)[0], "others at the same time");
}

#[test]
fn a_node_that_floods_the_launcher_stops_no_round() {
    fn flood(node: &str, pass: Pass, round: u32) -> Vec<Vec<u8>> {
        (0..100).flat_map(|_| well(node, pass, round + 9)).collect()
    }
    let found = measured(&mut FakeNodes::new(flood), &[]);
    assert_eq!(failures(&found), [("n3", 1, "it sent an answer that no order asked for", true)]);
    fn hello_again(_: &str, _: Pass, _: u32) -> Vec<Vec<u8>> {
        lines(&Answer::hello("n3", tool("1"), None))
    }
    let found = measured(&mut FakeNodes::new(hello_again), &[]);
    assert_eq!(failures(&found), [("n3", 1, "it sent a second hello", true)]);
}
