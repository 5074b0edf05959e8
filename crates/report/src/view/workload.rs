//! The section of one workload.

use proofmark_model::{Better, Measurement, Unit, Verification, key};

use super::audience::Audience;
use super::block::{
    Blocks, Details, Drawing, Drawings, Findings, Rich, Section, Style, Text, Tone,
};
use super::chart::Chart;
use super::columns::{Entry, not_finite};
use super::grouping::distinct;
use super::label::Group;
use super::num::{Scale, percent};
use super::shared_parts::keyed;
use super::table::Table;
use super::text::{clean, stop};
use super::{
    derivation, disk, findings, heat_map, latency, matrix, published, references, rounds,
    sentences, series, solves, timeline, traffic, trials, workload_figure,
};

mod table;

/// The meaning of the signs for ceilings.
const CEILINGS: &str =
    "Dashes, and the end of a light bar: ceiling. In parentheses: share of the ceiling.";

/// Minimum number of equal sentences at the end of two declarations for the later one to refer to
/// the earlier.
const SHARED: usize = 2;

/// The section of a workload; `detail` describes what runs and how it is verified.
pub fn section(group: &Group, detail: &str) -> Section {
    let scale = scale(group);
    let spec = group.spec;
    let undeclared = || "The run file does not hold this workload's declaration.".to_owned();
    let figure = workload_figure::find(group);
    let mut out = Blocks::default();
    out.add("result", figure.sentence());
    let summary = spec.map_or_else(undeclared, |s| stop(&clean(&s.summary)));
    let summary = Rich::from(summary).and(Tone::Quiet, format!(" {}", better(group)));
    out.add("summary", Text::new(Style::Plain, [summary]));
    out.add("sentences", sentences::write(group, &scale));
    courses(&mut out, group);
    for map in heat_map::draw(group) {
        out.add_for(Audience::Text, "map", heat_map::table(&map));
        let description = map.description.clone();
        // A single pair is one number, which the words have.
        if map.cpus.len() > 2 {
            out.add_for(Audience::Page, "map", Drawings::new(Drawing::Map, [map]).wide());
        }
        out.add("map-in-words", description);
    }
    let derivations = derivation::for_workload(group, &scale);
    out.add_for(Audience::Page, "charts", charts(group, &scale, !derivations.is_empty()));
    let times = latency::curves(group, &scale).into_iter().chain(traffic::loss_charts(group));
    let times = times.chain(latency::distribution(group));
    out.add_for(Audience::Page, "times", Drawings::new(Drawing::Plot, times).explained(&[]));
    figures(&mut out, group, &scale);
    solves::add(&mut out, group, &scale);
    out.add("placements", rounds::by_placement(group, &scale));
    out.add("latency", latency::table(group));
    out.add("datagrams", traffic::datagrams(group));
    out.add_tables(Audience::Everyone, "reciprocal", published::reciprocal(group));
    out.add("references", references::section(group, &scale));
    let groups = findings::for_workload(group);
    let findings = Findings { groups, more: 0, elsewhere: String::new(), in_full: false };
    out.add_for(Audience::Page, "findings", Section::plain("Findings", "findings", findings));
    out.add_for(
        Audience::Document,
        "windows",
        Details::new("Windows of the rounds: over time, and by their rate", |of| {
            of.add("windows", rounds::table(group));
        }),
    );
    out.add_for(Audience::Document, "published", as_published(group, &scale));
    out.add_for(
        Audience::Document,
        "ends",
        Details::new("Client and server: CPU, interfaces, connections", |of| {
            of.add_tables(Audience::Everyone, "ends", traffic::ends(group));
        }),
    );
    out.add_for(
        Audience::Document,
        "how",
        Details::new("What runs, what is counted, how it is verified", |of| {
            of.add("detail", detail.to_owned());
            of.add("design", sentences::design(group));
            of.add("verifications", verifications(group));
        }),
    );
    Section {
        title: group.heading(),
        code: group.name(),
        figure: Some(Box::new(figure)),
        blocks: out.0,
        ..Section::default()
    }
}

/// Adds the values over time, one part per configuration that was sampled.
pub fn courses(out: &mut Blocks, group: &Group) {
    for course in timeline::courses(group) {
        out.add("timeline", Drawings::new(Drawing::OverTime, [course.timeline]).wide());
        out.add("course", course.sentences);
        out.add("levels", course.table);
    }
}

/// Charts over the workload's axis and over the threads, and bars by instruction set.
fn charts(group: &Group, scale: &Scale, bounded: bool) -> Drawings {
    let lines = series::lines(group, scale);
    let keys = distinct(lines.iter().map(|c| c.key.clone()));
    let lines = lines.into_iter().map(Chart::without_key).map(Drawing::Plot);
    let bars = series::bars(group, scale).into_iter().map(Drawing::Bars);
    let keys = bounded.then_some(CEILINGS).into_iter().chain(keys.iter().map(String::as_str));
    let drawings = Drawings { all: lines.chain(bars).collect(), ..Drawings::default() };
    drawings.explained(&keys.collect::<Vec<_>>())
}

/// Adds the results; over a long axis, the headline figures come first.
fn figures(out: &mut Blocks, group: &Group, scale: &Scale) {
    // The result's sentence has the reason.
    if group.all.iter().all(|m| m.summary.is_none()) {
        return;
    }
    let table = table::build(group, scale);
    let Some(matrix) = matrix::build(group, scale) else {
        out.add("table", table);
        return;
    };
    out.add("matrix", matrix);
    let elsewhere = "Other formats list intervals, ceilings and shares of the ceiling.";
    out.add_for(Audience::Terminal, "left-out", elsewhere.to_owned());
    let all = Details::new("All results: interval, ceiling, share of the ceiling, verdict", |of| {
        of.add("table", table);
    });
    out.add_for(Audience::Document, "table", all.on_paper());
}

/// The tables in their published form: `Exp 1, Exp 2, ..., Average, Std Dev` for each combination
/// of parameters; for systems of equations, every solve.
fn as_published(group: &Group, scale: &Scale) -> Details {
    // Where the interval decides the number of rounds, only the list of raw trials has them.
    let in_rounds = group.all.iter().any(|m| m.has_rounds());
    let is_fixed = group.run.plan.policy.is_fixed(group.id);
    let summary = match solves::any(group) {
        true => "Every solve, time and residual",
        false => "Trials one by one, average and deviation",
    };
    Details::new(summary, |of| {
        if !group.over_time && (is_fixed || !in_rounds) {
            of.add_tables(Audience::Everyone, "published", published::tables(group, scale));
        }
    })
    .on_paper()
}

/// Every trial, and every pair with a tool.
pub fn trials(group: &Group) -> Details {
    let scale = scale(group);
    let details = Details::new(&group.heading(), |of| {
        of.add("trials", trials::table(group, &scale));
        of.add("pairs", references::pairs(group, &scale));
    });
    Details { code: group.name(), ..details }
}

/// The derivations of the ceilings.
pub fn derivations(group: &Group) -> Vec<Section> {
    let all = derivation::for_workload(group, &scale(group)).into_iter();
    all.map(|d| d.section(group.heading())).collect()
}

/// The workload's scale: that of its headline figures, or of delivered where no result has one.
fn scale(group: &Group) -> Scale {
    let summaries = || group.all.iter().filter_map(|m| m.summary.as_ref());
    let mut values: Vec<f64> = summaries().map(|s| s.value()).filter(|v| v.is_finite()).collect();
    if values.is_empty() {
        values = summaries().filter_map(|s| s.delivered.value).collect();
    }
    let block = |m: &Measurement| m.params.get(key::BLOCK_SIZE);
    match group.all.first() {
        // A load over time has one unit in its rows and sentences.
        Some(m) if group.over_time && group.all.iter().all(|n| block(n) == block(m)) => {
            workload_figure::result_scale(group, m, &values)
        }
        Some(m) => disk::scale(m, &values),
        None => Scale::for_values(&values, group.spec.map_or(Unit::OpPerSecond, |s| s.unit)),
    }
}

fn better(group: &Group) -> &'static str {
    match group.all.first().map(|m| m.better).or(group.spec.map(|s| s.better)) {
        Some(Better::Lower) => "Lower is better.",
        _ => "Higher is better.",
    }
}

fn verifications(group: &Group) -> Table {
    let verified = || group.all.iter().filter_map(|m| Some((*m, m.verification.as_ref()?)));
    let scale = Scale::amount(verified().map(|(_, w)| w.claimed), trials::verified(group));
    let amount = |value| scale.number(value).ok_or_else(not_finite);
    keyed(group, "verification of the work")
        .column("verification", |(_, w): &(&Measurement, &Verification)| {
            Entry::from(clean(&w.kind)).noted(clean(&w.note))
        })
        .measured("claimed", scale.label(), |(_, w)| amount(w.claimed))
        .measured("counted", scale.label(), |(_, w)| amount(w.counted))
        .measured("counted / claimed", "%", |(_, w)| {
            percent(w.counted / w.claimed).ok_or("no work was claimed")
        })
        .rows(verified())
}

/// Describes what runs, what is counted and how it is verified, for each workload. Where an earlier
/// declaration ends with the same sentences, a reference replaces them.
pub fn details(groups: &[Group]) -> Vec<String> {
    let detail = |g: &Group| g.spec.map_or_else(String::new, |s| clean(&s.detail));
    let all: Vec<(String, String)> = groups.iter().map(|g| (g.name(), detail(g))).collect();
    let refer = |(at, (_, detail)): (usize, &(String, String))| {
        let earlier = all[..at].iter().find(|(_, other)| shared(other, detail) >= SHARED);
        match earlier {
            _ if detail.is_empty() => "The run file has no description.".to_owned(),
            None => detail.clone(),
            Some((id, other)) => {
                let all = sentences_of(detail);
                match all.len() - shared(other, detail) {
                    0 => format!("See {id}."),
                    own => format!("{} For the rest, see {id}.", all[..own].join(" ")),
                }
            }
        }
    };
    all.iter().enumerate().map(refer).collect()
}

fn sentences_of(text: &str) -> Vec<&str> {
    text.split_inclusive(". ").map(str::trim).collect()
}

/// The number of sentences that both texts end with.
fn shared(a: &str, b: &str) -> usize {
    let (a, b) = (sentences_of(a), sentences_of(b));
    a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b && !a.is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_at_the_end_are_counted() {
        assert_eq!(shared("A b. C d. E.", "X. C d. E."), 2);
        assert_eq!(shared("A b. C d. E.", "A b. C d. F."), 0);
        assert_eq!(shared("", ""), 0);
        assert_eq!(shared("A.", "A."), 1);
    }
}
