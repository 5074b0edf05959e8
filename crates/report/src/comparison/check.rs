//! The short form of a comparison, for a check.

use proofmark_model::Comparison;

use super::verdict::Tally;
use super::view::together;
use super::words::{failure, moved, point, ratio, resolution};
use crate::view::{agree, clean, counted};

/// Writes a line per result that fails or cannot be judged, and a summary. Lines are not wrapped,
/// so that a log can be searched.
pub fn check(comparison: &Comparison) -> String {
    let mut out = String::new();
    for p in comparison.points.iter().filter(|p| p.fails()) {
        let delivered = moved(p).map(|d| format!("delivered {}; ", ratio(d)));
        let headline = p.headline.as_ref().map(|h| format!("{}; ", ratio(h)));
        let figures: String = headline.into_iter().chain(delivered).collect();
        out += &format!("{} {}: {figures}{}\n", failure(p), point(p), clean(&p.reason));
    }
    for p in comparison.points.iter().filter(|p| p.undecided()) {
        let figure = p.headline.as_ref().map(|h| format!("{}; ", ratio(h))).unwrap_or_default();
        out += &format!("undecided {}: {figure}{}\n", point(p), clean(&p.reason));
    }
    for sentence in together(comparison, |p| p.in_base() && p.not_comparable()) {
        out += &format!("not judged {sentence}\n");
    }
    if let Some(why) = comparison.too_little() {
        out += &format!("too little to pass: {why}\n");
    }
    out + &summary(comparison, &Tally::count(comparison))
}

fn summary(c: &Comparison, t: &Tally) -> String {
    let base = clean(&c.a.name);
    let of = counted(t.points as u64, "result");
    let first = match t.slower + t.gone {
        0 if t.points == 1 => format!("The one result is neither slower than in {base} nor gone"),
        0 => format!("None of {of} is slower than in {base} or gone"),
        n => {
            let fail = agree(n as u64, ["fails", "fail"]);
            format!("{n} of {of} {fail} compared with {base}: {} slower, {} gone", t.slower, t.gone)
        }
    };
    let unseen = resolution(&c.subsystems).map_or_else(String::new, |text| format!("; {text}"));
    format!(
        "{first}; {} without a shown difference, {} faster, {} undecided, {} not comparable{unseen}.\n",
        t.alike, t.faster, t.undecided, t.not_comparable
    )
}
