//! Tests with simulated fleets, each with a planted fault.

mod causes;
mod faults;
mod large;
mod missing;
mod order;
mod pairs;
mod pairs_failing;
mod pairs_simulated;
mod repaired;
mod sent;
mod shared;
mod uneven;
mod unfinished;

use proofmark_model::testing::moment;
use proofmark_model::{
    Better, FLEET_SCHEMA, FigureKind, FleetLine, FleetNode, FleetPlan, FleetReport, FleetTask,
    NodeFact, NodeFailure, NodeFigure, NodeLimits, NodeRound, NodeState, NodesAgain, Params, Pass,
    Program, Reliance, Subsystem, TimeAccount, Tool, Unit, Verdict, counted, key,
};

use super::fleet_report;
use crate::testing::{normal, xorshift};

const ROUNDS: u32 = 8;

fn tool() -> Tool {
    Tool { version: "0.2.0".into(), commit: Some("c0ffee".into()), build: "test".into() }
}

fn plan(nodes: usize) -> FleetPlan {
    FleetPlan {
        schema: FLEET_SCHEMA.into(),
        tool: tool(),
        started: moment(0),
        launcher: "ssh".into(),
        label: None,
        nodes: (0..nodes).map(|n| format!("n{n}")).collect(),
        rounds: ROUNDS,
        task: FleetTask { profile: "fleet".into(), ..FleetTask::default() },
        at_once: None,
        pairs: None,
        subnet: None,
        testbed: None,
    }
}

fn fact(what: &str, value: &str, groups: bool) -> NodeFact {
    NodeFact { what: what.into(), value: value.into(), groups }
}

/// Rates and a time; attainable is the headline of those that have it.
const FIGURES: [(&str, &str, Subsystem, Unit, f64); 4] = [
    ("cpu.flops", "Multiply-add", Subsystem::Cpu, Unit::FlopPerSecond, 6e10),
    ("memory.triad", "Triad", Subsystem::Memory, Unit::BytePerSecond, 2e10),
    ("memory.latency", "Memory latency", Subsystem::Memory, Unit::Second, 9e-8),
    ("disk.rand_read", "Random read", Subsystem::Disk, Unit::BytePerSecond, 3e8),
];

fn figure(
    (workload, title, subsystem, unit, value): (&str, &str, Subsystem, Unit, f64),
) -> NodeFigure {
    NodeFigure {
        workload: workload.into(),
        method: 1,
        subsystem,
        params: Params::default().with(key::THREADS, 2),
        title: title.into(),
        unit,
        random: false,
        better: if unit == Unit::Second { Better::Lower } else { Better::Higher },
        headline: FigureKind::Attainable,
        attainable: Some(value),
        delivered: Some(value),
        ceiling: Some(value * 1.02),
        ceiling_margin: None,
        efficiency: Some(0.98),
        reliance: Reliance::Known,
        bottleneck: Some("execution ports".into()),
        findings: Vec::new(),
        verdict: Verdict::Valid,
        missing: None,
    }
}

/// The line of a healthy node.
fn round(node: usize, pass: Pass, round: u32) -> NodeRound {
    NodeRound {
        node: format!("n{node}"),
        partner: None,
        pass,
        round,
        started: moment(i64::from(round)),
        tool: tool(),
        boot_id: Some(format!("boot of n{node}")),
        facts: vec![
            fact("CPU", "EPYC", true),
            fact("usable CPUs", "2", true),
            fact("instruction sets", "avx2 avx512f fma", true),
            fact("CPU quota", "none", false),
        ],
        figures: FIGURES.map(figure).into(),
        time_account: Some(TimeAccount {
            wall_s: 10.0,
            working_s: 9.99,
            waiting_s: 0.01,
            throttled_s: Some(0.0),
            stolen_s: Some(0.0),
            ..TimeAccount::default()
        }),
        limits: NodeLimits::default(),
        programs: Vec::new(),
        programs_of_one_cpu: None,
        left_out: None,
    }
}

/// A change of a node's round.
trait Fault: Fn(usize, &mut NodeRound) {}
impl<F: Fn(usize, &mut NodeRound)> Fault for F {}

/// A fleet whose rounds vary by half a percent, and all its nodes together from round to round.
fn fleet(nodes: usize, fault: impl Fault) -> Vec<FleetLine> {
    passes(nodes, &[Pass::First], fault)
}

fn passes(nodes: usize, passes: &[Pass], fault: impl Fault) -> Vec<FleetLine> {
    let mut random = xorshift();
    let mut lines = vec![FleetLine::Plan(Box::new(plan(nodes)))];
    for pass in passes {
        if *pass == Pass::Again {
            lines.push(FleetLine::NodesAgain(NodesAgain { nodes: plan(nodes).nodes, at: None }));
        }
        for number in 1..=ROUNDS {
            let all = 1.0 + 0.05 * f64::from(number % 3);
            for node in 0..nodes {
                let mut line = round(node, *pass, number);
                for figure in &mut line.figures {
                    let by = all * (0.005 * normal(&mut random)).exp();
                    scale(figure, [by, by]);
                }
                fault(node, &mut line);
                lines.push(FleetLine::Round(Box::new(line)));
            }
        }
    }
    lines
}

/// Multiplies the speeds of the attainable and the delivered figure.
fn scale(figure: &mut NodeFigure, [attainable, delivered]: [f64; 2]) {
    let times = |value: &mut Option<f64>, by: f64| {
        let by = if figure.better == Better::Higher { by } else { 1.0 / by };
        *value = value.map(|v| v * by);
    };
    times(&mut figure.attainable, attainable);
    times(&mut figure.delivered, delivered);
}

/// Sets a node's CPU quota.
fn set_quota(line: &mut NodeRound, cpus: Option<f64>) {
    line.facts[3].value = cpus.map_or("none".into(), |cpus| counted(cpus, "CPU"));
    line.limits.cpus = cpus;
}

fn program(name: &str, of_one_cpu: f64) -> Program {
    Program { name: name.into(), of_one_cpu, ..Program::default() }
}

const BOTH: [Pass; 2] = [Pass::First, Pass::Again];

fn report(lines: Vec<FleetLine>) -> FleetReport {
    fleet_report(lines).unwrap()
}

fn node<'a>(report: &'a FleetReport, name: &str) -> &'a FleetNode {
    report.nodes.iter().find(|n| n.name == name).unwrap()
}

/// Asserts that one node is in this state, for a reason with these words, and that all others are
/// healthy.
#[track_caller]
fn expect(report: &FleetReport, name: &str, state: NodeState, words: &str) {
    let text = node(report, name);
    let sentences = text.reasons.iter().chain(&text.cause).cloned().collect::<Vec<_>>().join("\n");
    assert_eq!(text.state, state, "{sentences}");
    assert!(sentences.contains(words), "{sentences}");
    let others = report.nodes.iter().filter(|n| n.name != name);
    let ill: Vec<_> = others.filter(|n| n.state != NodeState::Healthy).collect();
    assert!(ill.is_empty(), "{ill:?}");
}

fn failure(node: &str, round: u32, reason: &str, gone: bool) -> FleetLine {
    let (node, reason) = (node.to_owned(), reason.to_owned());
    FleetLine::Failure(NodeFailure { node, partner: None, pass: Pass::First, round, reason, gone })
}
