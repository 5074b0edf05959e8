//! The short form of a comparison, for a check.

use proofmark_model::{ComparedPoint, Comparison, FigureKind, Side, Toward, format_factor};

use super::points::BELOW;
use super::verdict::{self, Tally};
use super::view::{alike, together, when};
use super::words::{contradiction, failure, interval, margin, resolution, title};
use crate::Options;
use crate::terminal::page::Page;
use crate::view::{Columns, Entry, Table, agree, clean, counted};

/// Writes the sentence, the results that fail or cannot be judged by their causes, and a summary.
pub fn check(comparison: &Comparison, options: &Options) -> String {
    let mut page = Page::new(options);
    for side in [&comparison.a, &comparison.b] {
        page.wrap("", 2, &about(side));
    }
    page.wrap("", 0, &clean(&comparison.sentence));
    let fails = comparison.points.iter().filter(|p| p.fails());
    for (reason, points) in alike(fails) {
        group(&mut page, &format!("✗ {}", failure(points[0])), &reason, &points);
    }
    let disturbed = comparison.points.iter().filter(|p| p.disturbed());
    for (reason, points) in alike(disturbed) {
        group(&mut page, "? slower, disturbed,", &reason, &points);
    }
    let undecided = comparison.points.iter().filter(|p| p.undecided());
    for (reason, points) in alike(undecided) {
        group(&mut page, "? undecided", &reason, &points);
    }
    for (is_open, word) in [(true, "? not measured"), (false, "not measured")] {
        let is_it = |p: &ComparedPoint| p.is_left_out() && p.leaves_open() == is_open;
        for sentence in together(comparison, is_it) {
            page.wrap("", 2, &format!("{word} {sentence}"));
        }
    }
    for sentence in together(comparison, |p| p.in_base() && p.not_comparable()) {
        page.wrap("", 2, &format!("not judged {sentence}"));
    }
    for sentence in together(comparison, |p| p.perhaps() == Some(Toward::Slower)) {
        page.wrap("", 2, &format!("▽ perhaps slower {sentence}"));
    }
    let advice = [
        verdict::disturbed_advice(comparison),
        verdict::undecided_advice(comparison),
        verdict::no_time_advice(comparison),
        verdict::too_few_advice(comparison),
    ];
    let advice = advice.into_iter().flatten().map(str::to_owned);
    for sentence in advice.chain([clean(&comparison.between_runs)]).filter(|s| !s.is_empty()) {
        page.wrap("", 0, &sentence);
    }
    if let Some(why) = comparison.too_little() {
        page.wrap("", 2, &format!("? too little to pass: {why}"));
    }
    page.wrap("", 0, &summary(comparison, &Tally::count(comparison)));
    page.out
}

/// Returns `A base: a machine, 2026-11-27 19:18:04 UTC`.
fn about(side: &Side) -> String {
    let (name, machine) = (clean(&side.name), clean(&side.machine));
    format!("{} {name}: {machine}, {}", side.letter, when(side))
}

/// A cause, and the results that have it, each with the ratio that decides.
fn group(page: &mut Page, word: &str, reason: &str, points: &[&ComparedPoint]) {
    let count = counted(points.len() as u64, "result");
    page.wrap("", 2, &format!("{word} in {count}: {reason}"));
    page.table(&ratios(points));
}

fn ratios(points: &[&ComparedPoint]) -> Table {
    let deciding = |p: &&ComparedPoint| p.deciding().map(|(kind, f)| (kind, f.clone()));
    let named = points.iter().any(|p| {
        p.deciding().is_some_and(|(kind, _)| kind != FigureKind::Delivered) || p.delivered.is_some()
    });
    Columns::new("")
        .column("  B / A", move |p: &&ComparedPoint| {
            let ratio = deciding(p).map(|(_, f)| format!("{BELOW}{}", format_factor(f.value)));
            Entry::from(ratio)
                .noted(deciding(p).map(|(_, f)| contradiction(&f)).unwrap_or_default())
        })
        .column("95 %", move |p| deciding(p).and_then(|(_, f)| interval(f.ratio.ci95)))
        .column("margin", move |p| deciding(p).and_then(|(_, f)| margin(f.margin)))
        .spare(2)
        .when(named, |table| {
            table
                .column("figure", move |p| {
                    deciding(p).map(|(kind, _)| kind.name(p.better).to_owned())
                })
                .spare(1)
        })
        .column("result", |p| title(p))
        .rows(points.iter().copied())
}

fn summary(c: &Comparison, t: &Tally) -> String {
    let base = clean(&c.a.name);
    let of = counted(t.points as u64, "result");
    let slower = t.slower - t.disturbed;
    let fail = slower + t.gone;
    let first = match fail {
        0 if t.disturbed > 0 => format!("None of {of} fails compared with {base}"),
        0 if t.points == 1 => format!("The one result is neither slower than in {base} nor gone"),
        0 => format!("None of {of} is slower than in {base} or gone"),
        n => {
            let fail = agree(n as u64, ["fails", "fail"]);
            format!("{n} of {of} {fail} compared with {base}: {slower} slower, {} gone", t.gone)
        }
    };
    let is = agree(t.disturbed as u64, ["is", "are"]);
    let disturbed = match (t.disturbed, fail) {
        (0, _) => String::new(),
        (n, 0) => format!(", but {n} {is} slower by a disturbance alone, so it is undecided"),
        (n, _) => format!("; {n} more {is} slower by a disturbance alone"),
    };
    let perhaps = match t.perhaps_slower {
        0 => String::new(),
        n => format!(" ({n} perhaps slower)"),
    };
    let unseen = resolution(&c.subsystems)
        .map(|text| format!("; in the median result, {text}"))
        .unwrap_or_default();
    let not_measured = match t.not_measured {
        0 => String::new(),
        n => format!(", {n} not measured"),
    };
    format!(
        "{first}{disturbed}; {} without a shown difference{perhaps}, {} faster, {} undecided, {} not \
         comparable{not_measured}{unseen}.",
        t.alike, t.faster, t.undecided, t.not_comparable
    )
}
