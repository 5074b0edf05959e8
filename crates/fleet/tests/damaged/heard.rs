//! Processing of a node's bytes by a launcher, and the properties that hold for any bytes. Shared
//! with `fuzz/functions.rs`.

use std::sync::LazyLock;

use proofmark_fleet::{Answer, AnswerReader};
use proofmark_judge::fleet::{fleet_report, nodes_again, pair_groups, pairs_again};
use proofmark_model::{
    FLEET_SCHEMA, FleetLine, FleetPlan, FleetTask, NodeFailure, NodeRound, Pairs, Pass, RoundRobin,
    Subsystem,
};
use proofmark_report::Options;
use proofmark_report::fleet::{html, json, junit, openmetrics, terminal};

/// Output of a node: a hello, a round of four results, and the failure of a second one.
pub const CAPTURED: &[u8] = include_bytes!("captured/node.txt");

/// Name of the node that sent the bytes.
const NODE: &str = "n1";
const OTHERS: [&str; 4] = ["n2", "n3", "n4", "n5"];
const ROUNDS: u32 = 4;
/// Length to which launchers bound a line.
const LONGEST_LINE: usize = 4097;
/// Maximum length of a report of five nodes in any format.
const LONGEST: usize = 4 << 20;

/// Answers read from a node's bytes.
#[derive(Default)]
pub struct Heard {
    /// Usable answers.
    pub answers: Vec<Answer>,
    /// Reason why the next answer is unusable: the launcher drops the node.
    pub refused: Option<String>,
}

/// Reads the output of a node.
pub fn hear(bytes: &[u8]) -> Heard {
    let (mut heard, mut lines) = (Heard::default(), AnswerReader::default());
    let all = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    for line in all.split(|b| *b == b'\n') {
        match lines.read(&line[..line.len().min(LONGEST_LINE)]) {
            Ok(answer) => heard.answers.extend(answer),
            Err(why) => {
                assert!(why.len() < 1000 && !why.contains(char::is_control), "{why:?}");
                heard.refused = Some(why);
                break;
            }
        }
    }
    heard
}

/// Round of the captured answers.
static ROUND: LazyLock<NodeRound> = LazyLock::new(|| {
    let answers = hear(CAPTURED).answers.into_iter();
    let round = |answer| if let Answer::Round(round) = answer { Some(*round) } else { None };
    answers.filter_map(round).next().unwrap()
});

/// Plan, and rounds of the other nodes, which differ a little in each round.
static FLEET: LazyLock<Vec<FleetLine>> = LazyLock::new(|| {
    let nodes = [NODE].into_iter().chain(OTHERS).map(str::to_owned).collect();
    let plan = FleetPlan {
        schema: FLEET_SCHEMA.into(),
        tool: ROUND.tool.clone(),
        started: ROUND.started,
        launcher: "ssh".to_owned(),
        label: None,
        nodes,
        rounds: ROUNDS,
        task: FleetTask { profile: "small".to_owned(), ..FleetTask::default() },
        pairs: Some(Pairs::All),
        at_once: None,
        subnet: None,
        testbed: None,
    };
    let rounds = OTHERS.into_iter().enumerate().flat_map(|(place, node)| {
        (1..=ROUNDS).map(move |round| {
            let by = 1.0 + 0.002 * f64::from((7 * place as u32 + 3 * round) % 5);
            let mut line = NodeRound { node: node.to_owned(), round, ..ROUND.clone() };
            for figure in &mut line.figures {
                figure.attainable = figure.attainable.map(|v| v * by);
                figure.delivered = figure.delivered.map(|v| v * by);
            }
            FleetLine::Round(Box::new(line))
        })
    });
    let round_robin = RoundRobin { groups: vec![plan.nodes.clone()], rounds: ROUNDS };
    let plan = [FleetLine::Plan(Box::new(plan)), FleetLine::RoundRobin(round_robin)];
    plan.into_iter().chain(rounds).collect()
});

/// Converts a node's answer into one of a pair, with network figures.
fn as_pair(answer: &NodeRound, pass: Pass, round: u32, [node, partner]: [&str; 2]) -> FleetLine {
    let mut line = NodeRound { pass, round, ..answer.clone() };
    (line.node, line.partner) = (node.to_owned(), Some(partner.to_owned()));
    line.figures.iter_mut().for_each(|figure| figure.subsystem = Subsystem::Network);
    FleetLine::Round(Box::new(line))
}

/// Returns the lines of a fleet in which one node gave this answer in every round of every pass.
fn fleet_with(answer: &Answer) -> Vec<FleetLine> {
    let line = |pass, round, pair: Option<[&str; 2]>| match (answer, pair) {
        (Answer::Hello { .. } | Answer::Serves { .. }, _) => None,
        (Answer::Round(all), Some(pair)) => Some(as_pair(all, pass, round, pair)),
        (Answer::Round(all), None) => {
            Some(FleetLine::Round(Box::new(NodeRound { pass, round, ..(**all).clone() })))
        }
        (Answer::Failed { reason, .. }, pair) => {
            let (node, reason) = (NODE.to_owned(), reason.clone());
            let partner = pair.map(|pair| pair[1].to_owned());
            let gone = round == ROUNDS;
            Some(FleetLine::Failure(NodeFailure { node, partner, pass, round, reason, gone }))
        }
    };
    let mut lines = FLEET.clone();
    for pass in [Pass::First, Pass::Again] {
        lines.extend((1..=ROUNDS).filter_map(|round| line(pass, round, None)));
    }
    let names: Vec<&str> = [NODE].into_iter().chain(OTHERS).collect();
    let of_one = |pass, round, pair: [&str; 2]| {
        if pair[0] == NODE {
            line(pass, round, Some(pair))
        } else {
            Some(as_pair(&ROUND, pass, round, pair))
        }
    };
    for round in 1..=ROUNDS {
        let pairs = RoundRobin::pairs(names.len(), round).into_iter();
        lines.extend(pairs.filter_map(|pair| of_one(Pass::Pairs, round, pair.map(|at| names[at]))));
    }
    assert!(pair_groups(lines.iter().cloned()).is_ok());
    for (round, pairs) in (1..).zip(pairs_again(lines.clone()).unwrap().rounds) {
        let pairs = pairs.iter().map(|pair| pair.each_ref().map(String::as_str));
        lines.extend(pairs.filter_map(|pair| of_one(Pass::PairsAgain, round, pair)));
    }
    lines
}

/// Judges and renders a fleet with this answer: every format must work. A hello and a server's
/// addresses leave no line.
pub fn judge_and_draw(answer: &Answer) {
    if matches!(answer, Answer::Hello { .. } | Answer::Serves { .. }) {
        return;
    }
    let lines = fleet_with(answer);
    for line in lines.iter().rev().take(1) {
        let text = serde_json::to_string(line).unwrap();
        assert_eq!(&serde_json::from_str::<FleetLine>(&text).unwrap(), line);
    }
    nodes_again(lines.iter().cloned()).unwrap();
    let report = fleet_report(lines).unwrap();
    assert_eq!(report.nodes.len(), 1 + OTHERS.len());
    let shown = terminal(&report, &Options::default());
    let steers = |c: char| c.is_control() && c != '\n';
    assert!(!shown.contains(steers), "{shown:?}");
    let all = [
        shown,
        json(&report).unwrap(),
        html(&report).unwrap(),
        openmetrics(&report),
        junit(&report).unwrap(),
    ];
    assert!(all.iter().all(|text| text.len() < LONGEST));
}
