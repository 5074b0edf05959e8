//! Words of a fleet's sentences.

use std::collections::BTreeSet;

use proofmark_model::{Better, FigureKind, FleetFigure, GroupDifference};

use crate::words::{counted, times};

/// A share with as many digits as tell it from the whole: `61 %`, `97.4 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if (95.0..105.0).contains(&percent) || percent < 9.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// How slow a node is: `delivers 61 % of its group at Triad, 2 CPUs`.
pub(super) fn slowness(figure: &FleetFigure, ratio: f64) -> String {
    let verb = match figure.kind {
        FigureKind::Delivered => "delivers",
        _ => "reaches",
    };
    match figure.better {
        Better::Higher => format!("{verb} {} of its group at {}", percent(ratio), figure.title),
        Better::Lower => {
            let factor = times(1.0 / ratio);
            format!("takes {factor} times as long as its group at {}", figure.title)
        }
    }
}

/// `2 other figures`.
pub(super) fn others(count: usize) -> String {
    counted(count as u64, "other figure")
}

/// `1 usable CPU, the largest group has 2`.
pub(super) fn difference(d: &GroupDifference) -> String {
    match (d.what.strip_suffix('s'), d.here.as_str()) {
        _ if d.what == "instruction sets" => sets(d),
        (Some(one), here) if one != "threads per core" && here.parse::<u64>().is_ok() => {
            let what = if here == "1" { one } else { &d.what };
            format!("{here} {what}, the largest group has {}", d.largest)
        }
        _ => format!("{} {}, the largest group has {}", d.what, d.here, d.largest),
    }
}

/// Which instruction sets only one of the two has.
fn sets(d: &GroupDifference) -> String {
    const MOST: usize = 8;
    let [here, largest]: [BTreeSet<&str>; 2] =
        [&d.here, &d.largest].map(|sets| sets.split(' ').collect());
    let only = |a: &BTreeSet<&str>, b: &BTreeSet<&str>, word: &str| {
        let all: Vec<&str> = a.difference(b).copied().collect();
        let more = all.len().saturating_sub(MOST);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named = all.iter().take(MOST).copied().collect::<Vec<_>>().join(" ");
        (!all.is_empty()).then(|| format!("{word} {named}{more}"))
    };
    let parts = [only(&largest, &here, "without"), only(&here, &largest, "with")];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("instruction sets {}, unlike the largest group", parts.join(" and "))
}

/// `round 3`, `rounds 3, 4 and 7`.
pub(super) fn rounds(all: &[usize]) -> String {
    let numbers: Vec<String> = all.iter().map(|round| (round + 1).to_string()).collect();
    match numbers.split_last() {
        Some((last, [])) => format!("round {last}"),
        Some((last, before)) => format!("rounds {} and {last}", before.join(", ")),
        None => "no round".to_owned(),
    }
}
