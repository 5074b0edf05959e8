//! The size from which on a problem reaches its full rate: the smallest n whose median is at least
//! 95 % of the best median measured.

use proofmark_model::{Measurement, Summary, key};

use super::label::{Group, doubt_of, series, usable};
use super::num::percentage;
use super::text::{capital, enclosed, joined};
use super::workload_figure::{has_known_ceiling, of_the_ceiling};

/// Share of the best rate that counts as the best.
const NEARLY: f64 = 0.95;
/// Maximum number of series that are listed; of more, only the headline's.
const SERIES: usize = 4;

/// The meaning of a ring in a chart.
pub const RING: &str = "Ring: the smallest n that reaches 95 % of the line's best rate; none if \
    only the largest n does.";

/// The size at which a series saturates.
struct Saturation<'a> {
    /// The smallest n that reaches nearly the best rate.
    at: &'a Measurement,
    best: &'a Measurement,
    /// True if `at` has the smallest n, and true if it has the largest.
    ends: [bool; 2],
}

/// Finds the saturation of measurements that differ in n only; `None` where fewer than two have a
/// rate.
fn find_saturation<'a>(series: &[&'a Measurement]) -> Option<Saturation<'a>> {
    let mut rated: Vec<(u64, &Measurement, &Summary)> = series
        .iter()
        .filter_map(|m| Some((m.params.get(key::MATRIX_SIZE)?, *m, usable(m)?.1)))
        .filter(|(_, _, s)| s.value() > 0.0)
        .collect();
    rated.sort_by_key(|(n, _, _)| *n);
    let (least, most) = (rated.first()?.0, rated.last()?.0);
    let best = rated.iter().max_by(|a, b| a.2.value().total_cmp(&b.2.value()))?;
    let (n, at, _) = rated.iter().find(|(_, _, s)| s.value() >= NEARLY * best.2.value())?;
    (least < most).then_some(Saturation { at, best: best.1, ends: [*n == least, *n == most] })
}

/// The points at which these series saturate, unless that is the largest n.
pub fn points<'a>(group: &Group, members: &[&'a Measurement]) -> Vec<&'a Measurement> {
    if key::MATRIX_SIZE != group.axis {
        return Vec::new();
    }
    let series = series(members, &[key::MATRIX_SIZE]);
    let found = series.iter().filter_map(|s| find_saturation(s));
    found.filter(|s| !s.ends[1]).map(|s| s.at).collect()
}

pub fn sentences(group: &Group) -> Vec<String> {
    if key::MATRIX_SIZE != group.axis {
        return Vec::new();
    }
    let is_fair = |m: &&Measurement| !group.oversubscribed(m);
    let fair: Vec<&Measurement> = group.all.iter().copied().filter(is_fair).collect();
    let fair = if fair.is_empty() { &group.all } else { &fair };
    let mut series = series(fair, &[key::MATRIX_SIZE]);
    if series.len() > SERIES {
        let answer = group.answer().map(|(m, _)| m);
        series.retain(|s| s.iter().any(|m| answer.is_some_and(|one| std::ptr::eq(*m, one))));
    }
    series.iter().filter_map(|s| sentence(group, &find_saturation(s)?)).collect()
}

fn sentence(group: &Group, s: &Saturation) -> Option<String> {
    let n = group.text(s.at, key::MATRIX_SIZE)?;
    let of_ceiling = s.best.efficiency.filter(|_| s.best.ceiling.is_some()).and_then(percentage);
    let whose = match has_known_ceiling(s.best) {
        true => "of its ceiling",
        false => of_the_ceiling(s.best),
    };
    let near = enclosed(" The best is ", &of_ceiling.unwrap_or_default(), &format!(" {whose}."));
    let name = enclosed("with ", &group.short_without(s.at, &[key::MATRIX_SIZE]), " ");
    let rate = capital(&format!("{name}the rate"));
    let doubt = doubt_of([s.at, s.best]);
    let share = enclosed(" (", &joined(["95 % of the best", doubt], "; "), ")");
    let doubt = enclosed(" (", doubt, ")");
    Some(match s.ends {
        [_, true] => format!(
            "{rate} may not have saturated yet: only the largest n, {n}, reaches 95 % of the \
             best{doubt}.{near}"
        ),
        [true, _] => {
            format!("{rate} is saturated at the smallest n measured, {n}{share}.{near}")
        }
        _ => format!("{rate} saturates at n\u{a0}=\u{a0}{n}{share}.{near}"),
    })
}
