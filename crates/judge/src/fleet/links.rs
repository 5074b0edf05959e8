//! Links: pairs of nodes that are slow together although both are as fast with others.
//!
//! A pair has few rounds in the first pass, often one. It is suspected, and measured again, if all
//! of them are far below the median of their round: so far that chance explains none of all pairs.
//! It is slow if 7 of 8 of these rounds show it too, compared with both of its nodes with others.

use std::collections::BTreeMap;

use proofmark_model::{Better, FleetFigure, FleetLink};

use super::groups::Group;
use super::lines::Lines;
use super::pairs::{PairSpeeds, partners};
use super::rule::{FALSE_ALARMS, FLOOR, MAD_TO_DEVIATION, RuledNode, median_ratio};
use super::strips::Judged;
use super::words::{percent, slowness};
use crate::statistics::median;
use proofmark_model::student;

/// Degrees of freedom of a Student distribution that is practically normal.
const MANY: f64 = 1e6;

/// The ratios of one figure by pair of nodes.
struct PairRatios {
    /// Ratios of the rounds by the places of two nodes, the lower first.
    ratios: BTreeMap<[usize; 2], Vec<f32>>,
    /// Chance does not explain a ratio below 1 - margin.
    margin: f64,
}

impl PairRatios {
    fn new(figure: &FleetFigure, partners: &[Vec<Option<u32>>]) -> Option<Self> {
        let mut ratios: BTreeMap<[usize; 2], Vec<f32>> = BTreeMap::new();
        for (node, (partners, strip)) in partners.iter().zip(&figure.strips).enumerate() {
            for (partner, ratio) in partners.iter().zip(&strip.ratios) {
                let Some((partner, ratio)) = partner.map(|p| p as usize).zip(*ratio) else {
                    continue;
                };
                // Both nodes have the ratio.
                if node < partner {
                    ratios.entry([node, partner]).or_default().push(ratio);
                }
            }
        }
        // With few pairs, many are the median of their own round.
        let all = ratios.values().flatten().filter(|ratio| **ratio != 1.0);
        let away: Vec<f64> = all.map(|ratio| f64::from(*ratio).ln().abs()).collect();
        let deviation = MAD_TO_DEVIATION * median(&away)?;
        let k = student(FALSE_ALARMS / ratios.len().max(1) as f64, MANY);
        let margin = -(-k * deviation).exp_m1();
        Some(Self { ratios, margin: margin.max(FLOOR) })
    }
}

/// The links of a group that are slow in the first pass, and not level in the second; worst first.
pub(super) fn all(lines: &Lines, group: &Group, judged: &Judged) -> Vec<FleetLink> {
    let partners = partners(lines, group);
    let network = |f: &&FleetFigure| f.subsystem.info().has_server && f.margin.is_some();
    // A node that is slow with all partners does not make a link slow.
    let is_slow = |place: usize| {
        judged.figures.iter().filter(network).any(|f| f.strips[place].outcome.is_slow())
    };
    let mut worst: BTreeMap<[usize; 2], FleetLink> = BTreeMap::new();
    for (at, figure) in judged.figures.iter().enumerate().filter(|(_, f)| network(f)) {
        let Some(pairs) = PairRatios::new(figure, &partners) else { continue };
        let again = PairSpeeds::new(lines, judged.numbers[at], figure.kind);
        for (nodes, ratios) in &pairs.ratios {
            let is_below = |ratio: &f32| f64::from(*ratio) < 1.0 - pairs.margin;
            if nodes.iter().any(|place| is_slow(*place)) || !ratios.iter().all(is_below) {
                continue;
            }
            let again = again.for_link(nodes.map(|place| group.nodes[place]));
            let twice = RuledNode::from_ratios(again.clone(), pairs.margin);
            let is_level = !again.is_empty() && twice.decides() && !twice.slow;
            let Some(ratio) = median_ratio(ratios).filter(|_| !is_level) else { continue };
            let (ratio, confirmed, cause) = (ratio as f32, twice.slow, String::new());
            let link = FleetLink { nodes: *nodes, figure: at, ratio, again, confirmed, cause };
            let known = worst.entry(*nodes).or_insert_with(|| link.clone());
            if (link.confirmed, -link.ratio) > (known.confirmed, -known.ratio) {
                *known = link;
            }
        }
    }
    let mut all: Vec<FleetLink> = worst.into_values().collect();
    all.sort_by(|a, b| b.confirmed.cmp(&a.confirmed).then(a.ratio.total_cmp(&b.ratio)));
    all
}

/// The slow links with their causes.
pub(super) fn report(lines: &Lines, group: &Group, judged: &Judged) -> Vec<FleetLink> {
    let with_cause =
        |link: FleetLink| FleetLink { cause: cause(lines, group, judged, &link), ..link };
    all(lines, group, judged).into_iter().map(with_cause).collect()
}

/// The sentence for a link:
/// `n2 and n5: the network between them delivers 12 % of the usual pair at TCP stream; ...`.
fn cause(lines: &Lines, group: &Group, judged: &Judged, link: &FleetLink) -> String {
    let [a, b] = link.nodes.map(|place| lines.nodes[group.nodes[place]].name.as_str());
    let figure = &judged.figures[link.figure];
    let what = slowness(figure, f64::from(link.ratio), "the usual pair");
    if !link.confirmed {
        let why = match link.again.iter().flatten().count() {
            0 => "it was not measured again",
            _ => "the second pass has too few usable rounds",
        };
        return format!("{a} and {b}: the network between them {what}; not confirmed, {why}");
    }
    let again = median_ratio(link.again.iter().flatten());
    let again = again.map_or_else(String::new, |ratio| match figure.better {
        Better::Higher => format!(" ({} when measured again)", percent(ratio)),
        Better::Lower => String::new(),
    });
    format!(
        "{a} and {b}: the network between them {what}{again}; both are faster with others: check the \
         cables, ports and routes between them"
    )
}
