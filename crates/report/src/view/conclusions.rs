//! Conclusions from the figures. Each sentence is made from a [`Claim`], whose numbers are those of
//! the tables, so that no sentence can contradict its table.
//!
//! Comparisons use only results that no check doubts. Sentences about a value over time also use
//! suspect results and print the verdict. One number is called greater than another only where
//! their intervals do not overlap. Where few trials give no interval, the rounds decide, or the
//! trials if there are no rounds. Then every one of the greater figure must lie above every one of
//! the other. The sentence prints the figures and the ends that were compared. Where no difference is
//! shown, nothing follows, and there is no sentence.

mod claim;

use std::cmp::Reverse;

use proofmark_model::{Counterpart, Measurement, Params, key};
use serde::Serialize;

pub use self::claim::{Claim, Figure, Relation};
use self::claim::{figure, positive_summary, undoubted_summary};
use super::disk;
use super::label::{Group, by_subsystem, differing_only_in};
use super::network;
use super::series::along;
use super::text::{clean, counted, enclosed, joined, lower_first};
use super::timeline;
use super::workload_figure::result_scale;

/// Maximum numbers of sentences over time, comparisons of workloads, and tools, per subsystem.
const BEST: usize = 3;
const PAIRS: usize = 3;
const TOOLS: usize = 2;
/// Maximum number of results of a workload that are compared with another workload's.
const POINTS: usize = 1000;

/// Conclusions from the figures of one subsystem.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conclusion {
    /// `cpu`, `memory`, `disk` or `network`.
    pub subsystem: &'static str,
    /// The subsystem's title: `CPU`.
    pub title: &'static str,
    /// The sentences.
    pub claims: Vec<Claim>,
}

pub fn draw(groups: &[Group]) -> Vec<Conclusion> {
    let parts = by_subsystem(groups).into_iter().map(|(part, all)| Conclusion {
        subsystem: part.as_str(),
        title: part.info().title,
        claims: claims(&all),
    });
    parts.filter(|c| !c.claims.is_empty()).collect()
}

fn claims(groups: &[&Group]) -> Vec<Claim> {
    let has_main_rows =
        |g: &&&Group| !g.over_time && g.spec.is_some_and(|s| !s.role.main_rows.is_empty());
    let answers = groups.iter().filter(has_main_rows).filter_map(|g| Some((*g, g.answer()?.0)));
    let answers: Vec<(&Group, &Measurement)> = answers.collect();
    let mut out: Vec<Claim> = Vec::new();
    out.extend(answers.iter().find_map(|(g, m)| scaling(g, m)));
    let compared = groups.iter().flat_map(|g| compare_with_counterparts(g, groups));
    out.extend(compared.take(PAIRS));
    out.extend(answers.iter().find_map(|(g, m)| compare_instruction_sets(g, m)));
    out.extend(answers.iter().filter_map(|(g, m)| compare_with_tool(g, m)).take(TOOLS));
    out.extend(groups.iter().filter(|g| g.over_time).flat_map(|g| over_time(g)));
    out
}

/// Compares the headline result with the one on the fewest threads or streams, among those whose
/// threads each have a CPU.
fn scaling(group: &Group, m: &Measurement) -> Option<Claim> {
    let parameter = Params::THREADS.into_iter().find(|k| m.params.get(*k).is_some())?.name();
    let (mut all, but) = along(group, m, parameter);
    all.retain(|(_, m)| !group.oversubscribed(m) && undoubted_summary(m).is_some());
    let ((least, few), (most, many)) = (*all.first()?, *all.last()?);
    (most > least).then_some(())?;
    let noun = parameter.strip_suffix('s').unwrap_or(parameter).replace('_', " ");
    let name = |count| format!("{} with {}", lower_first(&group.heading()), counted(count, &noun));
    let at = group.short_without(m, &[&but, &group.implied_parameters[..]].concat());
    let [more, less] = [name(most), format!("that with {}", counted(least, &noun))];
    Claim::compare([(group, &more, many), (group, &less, few)], &at)
}

/// Compares a workload with its declared counterparts among these.
fn compare_with_counterparts(left: &Group, groups: &[&Group]) -> Vec<Claim> {
    let declared = left.spec.filter(|_| !left.over_time).map(|s| &s.role.counterparts);
    let claim = |c: &Counterpart| {
        let right = groups.iter().find(|g| g.id == c.workload && !g.over_time)?;
        let differs_in: Vec<&str> = c.differs_in.iter().map(AsRef::as_ref).collect();
        compare(left, right, &differs_in)
    };
    declared.into_iter().flat_map(|all| all.iter()).filter_map(claim).collect()
}

/// Compares two workloads at a configuration that both have: the usual or smallest block of at
/// least a sector, on the fewest threads. The configurations may differ in `differs_in`.
fn compare(left: &Group, right: &Group, differs_in: &[&str]) -> Option<Claim> {
    let parameters = [differs_in, &[key::ITERATIONS.name(), key::ENGINE.name()]].concat();
    let is_undoubted = |m: &&Measurement| undoubted_summary(m).is_some();
    let both = left.all.iter().copied().take(POINTS).filter(is_undoubted).filter_map(|a| {
        let b = differing_only_in(&right.all, a, &parameters).into_iter().find(is_undoubted)?;
        // Results that the page cache may have served are not the disk's.
        (disk::distance_from_device(a).is_some()
            && disk::distance_from_device(a) == disk::distance_from_device(b))
        .then_some((a, b))
    });
    let (a, b) = both.min_by_key(|(a, _)| rank(a))?;
    let [l, r] = [left, right].map(|g| lower_first(&g.heading()));
    Claim::compare([(left, &l, a), (right, &r, b)], &left.short(a))
}

/// Order of preference: another machine before loopback, small blocks of at least a sector, large
/// files, then few threads and shallow queues.
fn rank(m: &Measurement) -> impl Ord + use<> {
    let of = |key| m.params.get(key);
    let block = of(key::BLOCK_SIZE).unwrap_or(4096);
    let sector = network::round_trips(m) || block >= 512;
    let [file, depth] =
        [of(key::FILE_SIZE).unwrap_or(0), m.params.get(key::QUEUE_DEPTH).unwrap_or(1)];
    (network::over_loopback(m), !sector, block, Reverse(file), depth, m.params.threads())
}

/// Compares the instruction set of the headline with the slowest one.
fn compare_instruction_sets(group: &Group, m: &Measurement) -> Option<Claim> {
    let isa = |m: &Measurement| m.params.get(key::ISA).map(clean);
    let others =
        differing_only_in(&group.all, m, &[key::ISA]).into_iter().filter(|o| isa(o) != isa(m));
    let rated = others.filter_map(|m| Some((m, undoubted_summary(m)?.value())));
    let (least, _) = rated.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let [wide, narrow] = [isa(m)?, isa(least)?];
    let at = group.short_without(m, &[&[key::ISA.name()], &group.implied_parameters[..]].concat());
    let wide = format!("{} with {wide}", lower_first(&group.heading()));
    Claim::compare([(group, &wide, m), (group, &format!("that with {narrow}"), least)], &at)
}

fn compare_with_tool(group: &Group, m: &Measurement) -> Option<Claim> {
    undoubted_summary(m)?;
    let r = m.references.iter().find(|r| r.verdict.is_undoubted() && r.ratio.ci95.is_some())?;
    Claim::compare_with_tool(group, m, r)
}

/// The conclusions of the values over time, as sentences.
pub(super) fn over_time_of(groups: &[Group]) -> Vec<String> {
    let claims = groups.iter().filter(|g| g.over_time).flat_map(over_time);
    claims.take(BEST).map(|claim| claim.text).collect()
}

/// Sentences on values over time: their trend, or their levels and the largest change.
fn over_time(group: &Group) -> Vec<Claim> {
    let claim = |m: &&Measurement| {
        let scale = result_scale(group, m, &[positive_summary(m)?.value()]);
        let number = figure(group, m, &scale)?;
        let sentence = timeline::sentence(m, &scale)?;
        let doubt = if m.verdict.is_undoubted() { "" } else { m.verdict.as_str() };
        let point = enclosed(" (", &joined([&*number.point, doubt], "; "), ")");
        let text = format!("{}{point}: {sentence}", group.heading());
        Some(Claim::is(number, text))
    };
    group.all.iter().filter_map(claim).take(BEST).collect()
}
