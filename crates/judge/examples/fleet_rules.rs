//! Compares the fleet rule with simpler ones: how often a slow node is found, and how often a
//! healthy one is called slow. Each fleet is simulated and reproducible.
//!
//! A value is node x run. Nodes have permanent deviations with a normal distribution, runs vary by
//! 1 %, and 2 % of runs are disturbed by 10 %. One node is slow at one figure of 20.
//!
//! `cargo run --release -p proofmark-judge --example fleet_rules`

use proofmark_judge::fleet::rule::{Rounds, apply};
use proofmark_model::median;

const FIGURES: usize = 20;
const ROUNDS: usize = 8;

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A normal number by Box and Muller's method.
    fn normal(&mut self) -> f64 {
        let (a, b) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// A fleet: figure by figure, node by node, round by round.
fn fleet(random: &mut Random, nodes: usize, between: f64, slow: f64) -> Vec<Vec<Vec<f64>>> {
    let mut of = |figure: usize, node: usize| {
        let planted = if figure == 0 && node == 0 { 1.0 - slow } else { 1.0 };
        let speed = planted * (between * random.normal()).exp();
        let mut run = || {
            let disturbed = if random.uniform() < 0.02 { 0.9 } else { 1.0 };
            speed * (0.01 * random.normal()).exp() * disturbed
        };
        (0..ROUNDS).map(|_| run()).collect()
    };
    (0..FIGURES).map(|figure| (0..nodes).map(|node| of(figure, node)).collect()).collect()
}

/// The nodes that a rule calls slow, figure by figure.
type Called = Vec<Vec<bool>>;

fn ours(fleet: &[Vec<Vec<f64>>]) -> Called {
    let nodes = fleet[0].len();
    let of = |figure: &Vec<Vec<f64>>| {
        let mut rounds = Rounds::new(nodes, ROUNDS);
        for (node, values) in figure.iter().enumerate() {
            values.iter().enumerate().for_each(|(round, v)| rounds.set(node, round, *v));
        }
        ((), rounds)
    };
    let figures: Vec<_> = fleet.iter().map(of).collect();
    // Attainable and delivered are both judged.
    let ruled = apply(&figures, 2 * nodes * FIGURES);
    ruled.iter().map(|r| r.nodes.iter().map(|n| n.slow).collect()).collect()
}

/// A rule on one run: `least` returns the smallest value that is not slow.
fn one_run(fleet: &[Vec<Vec<f64>>], least: impl Fn(&[f64]) -> f64) -> Called {
    let of = |figure: &Vec<Vec<f64>>| {
        let values: Vec<f64> = figure.iter().map(|rounds| rounds[0]).collect();
        let least = least(&values);
        values.iter().map(|v| *v < least).collect()
    };
    fleet.iter().map(of).collect()
}

fn six_deviations(values: &[f64]) -> f64 {
    let middle = median(values).unwrap_or(f64::NAN);
    let away: Vec<f64> = values.iter().map(|v| (v - middle).abs()).collect();
    middle - 6.0 * median(&away).unwrap_or(f64::NAN)
}

fn five_percent(values: &[f64]) -> f64 {
    0.95 * median(values).unwrap_or(f64::NAN)
}

fn below_best(values: &[f64]) -> f64 {
    0.9 * values.iter().copied().fold(0.0, f64::max)
}

/// Returns whether the planted node is found, and whether any other is called slow.
fn score(called: &Called) -> [bool; 2] {
    let others = called.iter().flatten().skip(1);
    [called[0][0], others.copied().any(|slow| slow)]
}

fn main() {
    let mut random = Random(88_172_645_463_325_252);
    println!("found / fleets with a false alarm, in %; 20 figures, one node slow at one of them");
    println!(
        "between  slow  nodes  fleets |  7 of 8 rounds |    6 MAD |  5 % below | 10 % of best"
    );
    for between in [0.003, 0.02, 0.05] {
        for slow in [0.02, 0.05, 0.1] {
            for (nodes, fleets) in [(4, 1000), (8, 1000), (32, 400), (256, 60), (1000, 25)] {
                let mut counts = [[0_u32; 2]; 4];
                for _ in 0..fleets {
                    let fleet = fleet(&mut random, nodes, between, slow);
                    let all = [
                        ours(&fleet),
                        one_run(&fleet, six_deviations),
                        one_run(&fleet, five_percent),
                        one_run(&fleet, below_best),
                    ];
                    for (counts, called) in counts.iter_mut().zip(&all) {
                        let scored = score(called);
                        counts.iter_mut().zip(scored).for_each(|(n, yes)| *n += u32::from(yes));
                    }
                }
                let percent = |n: u32| 100.0 * f64::from(n) / f64::from(fleets);
                let cells = counts.map(|[found, alarm]| {
                    format!("{:5.1} / {:5.1}", percent(found), percent(alarm))
                });
                println!(
                    "{:5.1} %  {:2.0} %  {nodes:5}  {fleets:6} | {}",
                    100.0 * between,
                    100.0 * slow,
                    cells.join(" | ")
                );
            }
        }
    }
    for between in [0.003, 0.02, 0.05] {
        let mut alarms = 0;
        for _ in 0..1000 {
            let healthy = fleet(&mut random, 8, between, 0.0);
            alarms += u32::from(ours(&healthy).iter().flatten().any(|slow| *slow));
        }
        println!(
            "1000 healthy fleets of 8 nodes, {:.1} % between them: {alarms} with a false alarm",
            100.0 * between
        );
    }
}
