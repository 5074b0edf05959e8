//! Words of a fleet's sentences.

use std::collections::BTreeSet;

pub(super) use proofmark_model::format_percent as percent;
use proofmark_model::{
    Better, FactId, FigureKind, FleetFigure, GroupDifference, and_list, format_factor,
};

use crate::words::counted;

/// Describes how slow a node is: `delivers 61.4 % of its group at Triad, 2 CPUs`.
pub(super) fn slowness(figure: &FleetFigure, ratio: f64, than: &str) -> String {
    let verb = match figure.kind {
        FigureKind::Delivered => "delivers",
        _ => "reaches",
    };
    match figure.better {
        Better::Higher => format!("{verb} {} of {than} at {}", percent(ratio), figure.title),
        Better::Lower => {
            let factor = format_factor(1.0 / ratio);
            format!("takes {factor} times as long as {than} at {}", figure.title)
        }
    }
}

/// Counts the other results among these figures: `2 other results`; `None` without any.
pub(super) fn others<'a>(
    all: impl Iterator<Item = &'a FleetFigure>,
    one: &FleetFigure,
) -> Option<String> {
    let results: BTreeSet<_> = all.map(|f| (&f.workload, &f.params)).collect();
    let others = results.into_iter().filter(|r| *r != (&one.workload, &one.params)).count();
    (others > 0).then(|| counted(others as u64, "other result"))
}

/// Describes a difference of a group: `1 usable CPU, the largest group has 2`.
pub(super) fn difference(d: &GroupDifference) -> String {
    if let Some(sets) = d.instruction_sets() {
        return format!("instruction sets {sets}, unlike the largest group");
    }
    match (d.what.strip_suffix('s'), d.here.as_str()) {
        (Some(one), here)
            if FactId::named(&d.what) != Some(FactId::ThreadsPerCore)
                && here.parse::<u64>().is_ok() =>
        {
            let what = if here == "1" { one } else { &d.what };
            format!("{here} {what}, the largest group has {}", d.largest)
        }
        _ => format!("{} {}, the largest group has {}", d.what, d.here, d.largest),
    }
}

/// Names rounds: `round 3`, `rounds 3 and 7`, `rounds 1 to 8`.
pub(super) fn rounds(all: &[usize]) -> String {
    let numbers: Vec<String> = all.iter().map(|round| (round + 1).to_string()).collect();
    let in_a_row = all.windows(2).all(|pair| pair[1] == pair[0] + 1);
    match numbers.as_slice() {
        [] => "no round".to_owned(),
        [one] => format!("round {one}"),
        [first, .., last] if in_a_row && all.len() > 2 => format!("rounds {first} to {last}"),
        several => format!("rounds {}", and_list(several)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_named() {
        let words = [&[][..], &[2], &[2, 3], &[2, 3, 6], &[0, 1, 2, 3]].map(rounds);
        let expected =
            ["no round", "round 3", "rounds 3 and 4", "rounds 3, 4 and 7", "rounds 1 to 4"];
        assert_eq!(words, expected);
    }

    #[test]
    fn a_difference_has_words() {
        let words = |what: &str, here: &str, largest: &str| {
            let [what, here, largest] = [what, here, largest].map(str::to_owned);
            difference(&GroupDifference { what, here, largest })
        };
        assert_eq!(words("cores", "4", "8"), "4 cores, the largest group has 8");
        assert_eq!(words("kernel", "6.1", "6.8"), "kernel 6.1, the largest group has 6.8");
        let expected = "threads per core 1, the largest group has 2";
        assert_eq!(words("threads per core", "1", "2"), expected);
        let sets = words("instruction sets", "a b e", "a b c d");
        assert_eq!(sets, "instruction sets without c d and with e, unlike the largest group");
    }
}
