//! What a report says, before it is laid out.
//!
//! [`View::from_run`] turns a run into tables, series, findings and sentences. Terminal,
//! Markdown and HTML print these and nothing else, so that a number, its label and
//! its verdict are the same everywhere. All text in a view is free of control
//! characters; it is not escaped for any format.
//!
//! A table has one scale, chosen by its largest value. A value that is missing is
//! `-` with a footnote that says why.

pub(crate) mod alike;
pub(crate) mod chart;
mod circumstances;
mod columns;
mod conclusions;
mod declared;
mod derivation;
mod design;
mod disk;
mod facts;
mod findings;
mod first_screen;
mod grouping;
mod heat_map;
mod host;
mod keyed;
mod label;
mod latency;
mod levels;
mod matrix;
mod method;
mod network;
mod noise;
mod num;
mod operation;
mod overview;
mod pictures;
mod published;
mod references;
mod roofline;
mod rounds;
mod saturation;
mod sentences;
mod series;
mod solves;
mod storage;
mod table;
mod text;
mod theory;
mod timeline;
mod traffic;
mod trials;
mod workload;
mod workload_figure;

use std::collections::BTreeSet;

use label::Group;
use proofmark_model::{Run, Verdict, VerdictCounts, format_seconds};
use serde::Serialize;

pub(crate) use chart::{
    Axis, Bar, BarChart, BarGroup, Chart, Kind, Mark, Panel, Rule, RuleKind, Series, Spot, Tick,
};
pub(crate) use columns::{Columns, Entry};
pub use conclusions::{Claim, Conclusion, Figure, Says};
pub use derivation::Derivation;
pub use design::Design;
pub use facts::{Fact, FactTable};
pub use findings::{FindingGroup, Place, for_host as findings_of_host, severity_mark};
pub use first_screen::{Cause, FirstScreen, ScreenPart, ScreenRow};
pub(crate) use grouping::grouped;
pub(crate) use heat_map::{HeatMap, Pair as HeatPair};
pub use host::tables as host_tables;
pub(crate) use noise::{Band, Lane, Lanes, NoiseChart};
pub(crate) use num::{Scale, ends, percent};
pub use overview::Overview;
pub(crate) use pictures::{Column as PictureColumn, Picture};
pub use references::{Command, References, ToolNote};
pub(crate) use roofline::Roofline;
pub(crate) use table::{Cell, Table, Term};
pub(crate) use text::{and_list, enclosed};
pub use text::{capital, clean, joined, plural, stop};
pub use timeline::{SIGNS, Timeline};
pub use workload::WorkloadView;
pub use workload_figure::{Near, WorkloadFigure};

pub(crate) use disk::trial_iops;
pub(crate) use label::{MIXED, figure_word, interval, why_no_trials};
pub(crate) use noise::COLUMNS as NOISE_COLUMNS;
pub(crate) use num::median;
pub(crate) use series::{both_on_axis, mark_at};

/// A whole report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    /// The machine in a few words, with its name.
    pub title: String,
    /// What was measured, when, how long and with what, in a sentence.
    pub measured: String,
    /// Profile, time, program.
    pub facts: Vec<Fact>,
    /// The machine in one sentence.
    pub machine: String,
    /// Whether to believe it.
    pub trust: Trust,
    /// The results that answer for the machine, and the causes of what is not valid.
    pub first: FirstScreen,
    /// Small pictures that belong to them.
    pub pictures: Vec<Picture>,
    /// What follows from the figures, a subsystem each; without those where nothing does.
    pub conclusions: Vec<Conclusion>,
    /// What was measured and how, a subsystem each.
    pub design: Vec<Design>,
    /// Tables and charts over several workloads, a subsystem each; without those that have none.
    pub overviews: Vec<Overview>,
    /// The headlines compared with reference tools; without rows where none ran.
    pub references: Table,
    /// Result, reference tool and ceiling, with percentages, a row per workload and tool; without
    /// rows where no workload has either.
    pub theory: Table,
    /// The same as bars in percent of the ceilings, a group per workload.
    pub against: Vec<BarChart>,
    /// One a workload, in the order of the plan.
    pub workloads: Vec<WorkloadView>,
    /// What has no ceiling at all, and why, and what had no reference tool without a reason; a
    /// sentence each.
    pub lacking: Vec<String>,
    /// What columns mean.
    pub terms: Vec<Term>,
    /// Who took time from the threads, and where the CPUs were, over the time of the run.
    pub noise: Option<NoiseChart>,
    /// CPU peaks and memory levels in one picture, if both were measured.
    pub roofline: Option<Roofline>,
    /// All findings, worst first; the same finding over many points is one.
    pub findings: Vec<FindingGroup>,
    /// The machine.
    pub host: Vec<FactTable>,
    /// How the numbers were made, a paragraph each.
    pub method: Vec<String>,
}

/// Whether to believe the numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trust {
    /// How many results have each verdict.
    pub counts: VerdictCounts,
    /// The worst verdict, as a name; `none` where nothing was measured.
    pub worst: &'static str,
    /// In a sentence or two.
    pub sentence: String,
    /// How many intervals are as narrow as the target, and the widest; `None` without an interval.
    pub precision: Option<String>,
    /// Where the threads' time went and who else worked; `None` if nothing is known of it.
    pub time: Option<String>,
    /// Where the threads' time went, who else worked, and how the vCPUs were placed; `None` if nothing
    /// is known of it.
    pub circumstances: Option<String>,
    /// What stopped the run early, if anything did.
    pub stopped: Option<String>,
}

impl View {
    /// What a report of this run says.
    pub fn from_run(run: &Run) -> Self {
        let groups = label::groups(run);
        let references = references::brief(&groups);
        let findings = findings::for_run(run);
        let mut workloads: Vec<_> = groups.iter().map(workload::view).collect();
        workload::refer_to_earlier(&mut workloads);
        let roofline = roofline::draw(run);
        let overviews = overview::collect(&groups);
        Self {
            title: title(run),
            measured: measured(run),
            facts: facts(run),
            machine: host::sentence(&run.host),
            trust: trust(run, &groups),
            terms: explained(
                [&references]
                    .into_iter()
                    .chain(overviews.iter().flat_map(|o| &o.tables))
                    .chain(workloads.iter().flat_map(WorkloadView::explained))
                    .chain(roofline.iter().map(|r| &r.table)),
            ),
            first: first_screen::build(run, &groups, &findings),
            pictures: pictures::draw(run, &groups),
            conclusions: conclusions::draw(&groups),
            design: design::describe(&groups),
            overviews,
            references,
            theory: theory::table(&groups),
            against: theory::charts(&groups),
            workloads,
            lacking: derivation::lacking(&groups)
                .into_iter()
                .chain(references::unexplained(&groups))
                .collect(),
            noise: noise::draw(run),
            roofline,
            findings,
            host: host::tables(&run.host),
            method: method::paragraphs(run),
        }
    }

    /// What columns mean that only a format with every trial has.
    pub fn terms_of_pairs(&self) -> Vec<Term> {
        let mut terms = explained(self.workloads.iter().map(|k| &k.references.pairs));
        terms.retain(|t| !self.terms.contains(t));
        terms
    }
}

/// The word and the sign of a verdict: `✓ valid`.
pub fn verdict_mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "✓ valid",
        Verdict::Coarse => "~ coarse",
        Verdict::NoInterval => "~ no interval",
        Verdict::NotRun => "- not run",
        Verdict::Suspect => "! suspect",
        Verdict::Invalid => "✗ invalid",
    }
}

/// The machine; of what another tool measured, the tool.
fn title(run: &Run) -> String {
    match &run.imported {
        Some(tool) => format!("Figures of {}", clean(tool)),
        None => clean(&run.words()),
    }
}

/// `Profile default, 2026-11-23 14:24:00 UTC, took 2 min 52 s, proofmark 0.1.0.`
fn measured(run: &Run) -> String {
    let [profile, version] = [&run.plan.profile, &run.tool.version].map(|text| clean(text));
    format!("Profile {profile}, {}, proofmark {version}.", started(run))
}

/// When it began and how long it took.
fn started(run: &Run) -> String {
    let took = match run.ended {
        Some(end) => {
            let seconds = end.0.duration_since(run.started.0).as_secs_f64();
            format!(", took {}", format_seconds(seconds.max(0.0)))
        }
        None if run.imported.is_some() => String::new(),
        None => ", end not recorded".to_owned(),
    };
    run.started.display() + &took
}

fn facts(run: &Run) -> Vec<Fact> {
    let commit = run.tool.commit.as_deref().map_or_else(String::new, |c| {
        format!(", commit {}", clean(c).chars().take(12).collect::<String>())
    });
    vec![
        Fact::plain("profile", &run.plan.profile),
        Fact::plain("started", &started(run)),
        Fact::plain("program", &format!("proofmark {}{commit}", run.tool.version)),
    ]
}

fn trust(run: &Run, groups: &[Group]) -> Trust {
    let counts: VerdictCounts = run.measurements.iter().map(|m| m.verdict).collect();
    let unmeasured = run.plan.points.len().saturating_sub(run.measurements.len());
    let doubted = Verdict::ALL.into_iter().filter(|v| !v.is_undoubted()).any(|v| counts.get(v) > 0);
    let mut sentence = match run.imported.is_some() && counts.all() > 0 && !doubted {
        true => "No check found a problem.".to_owned(),
        false => verdicts(&counts),
    };
    let tool = run.imported.as_deref().map(clean).unwrap_or_default();
    let unknown = " took the measurements. What else the machine did at the time is unknown.";
    sentence += &enclosed(" ", &tool, unknown);
    if unmeasured > 0 {
        let was = if unmeasured == 1 { "was" } else { "were" };
        let what = plural(unmeasured as u64, "planned configuration");
        sentence += &format!(" {what} {was} not measured.");
    }
    Trust {
        counts,
        worst: run.verdict().map_or("none", Verdict::id),
        sentence,
        precision: precision(groups),
        time: circumstances::briefly(run),
        circumstances: circumstances::sentences(run),
        stopped: stopped(run),
    }
}

/// What it means that one result, or several, have a verdict: the words after the number, and why.
fn said_of(verdict: Verdict) -> [[&'static str; 2]; 2] {
    match verdict {
        Verdict::Valid => [["is valid", ""], ["are valid", ""]],
        Verdict::Coarse => {
            [["is coarse", "its interval is wide"], ["are coarse", "their intervals are wide"]]
        }
        Verdict::NoInterval => {
            [["has no interval", "too few trials"], ["have no interval", "too few trials"]]
        }
        Verdict::NotRun => [["was not run", "see the cause"], ["were not run", "see the causes"]],
        Verdict::Suspect => [["is suspect", "see the cause"], ["are suspect", "see the causes"]],
        Verdict::Invalid => [
            ["is invalid", "it is not what its name says"],
            ["are invalid", "they are not what their names say"],
        ],
    }
}

/// `60 of 77 results are valid. 16 are coarse: their intervals are wide. 1 is suspect: see the cause.`
fn verdicts(counts: &VerdictCounts) -> String {
    let total = counts.all();
    let found: Vec<(Verdict, u64)> =
        Verdict::ALL.map(|v| (v, counts.get(v))).into_iter().filter(|(_, n)| *n > 0).collect();
    let sentence = |at: usize, (verdict, n): (Verdict, u64)| {
        let [words, why] = said_of(verdict)[usize::from(n > 1)];
        let start = match (at, found.len()) {
            (0, 1) if total == 1 => "The one result".to_owned(),
            (0, 1) => format!("All {total} results"),
            (0, _) => format!("{n} of {total} results"),
            _ => n.to_string(),
        };
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        format!("{start} {words}{why}.")
    };
    match found.is_empty() {
        true => "Nothing was measured.".to_owned(),
        false => {
            let all: Vec<String> =
                found.iter().enumerate().map(|(at, one)| sentence(at, *one)).collect();
            all.join(" ")
        }
    }
}

/// `Precision: 41 of 70 intervals are as narrow as the target; the widest is ± 7.0 %
/// (memory.triad 2 threads).`
fn precision(groups: &[Group]) -> Option<String> {
    let points = groups.iter().flat_map(|g| g.all.iter().map(move |m| (g, *m)));
    let all = points.filter_map(|(g, m)| Some((m.precision?, g, m)));
    let all: Vec<_> = all.filter(|(p, ..)| p.half_width.is_finite()).collect();
    let reached = all.iter().filter(|(p, ..)| p.reached).count();
    let (widest, group, m) = all.iter().max_by(|a, b| a.0.half_width.total_cmp(&b.0.half_width))?;
    let at = format!("{} {}", clean(&m.workload), group.short(m));
    Some(format!(
        "Precision: {reached} of {} {} as narrow as the target; the widest is ± {} % ({}).",
        plural(all.len() as u64, "interval"),
        is(reached),
        percent(widest.half_width)?,
        at.trim_end()
    ))
}

/// The terms of these tables, each once.
fn explained<'a>(tables: impl Iterator<Item = &'a Table>) -> Vec<Term> {
    let columns = tables.filter(|t| !t.rows.is_empty()).flat_map(|t| &t.columns);
    let mut seen = BTreeSet::new();
    let terms = columns.filter_map(|c| c.about.as_ref());
    terms.filter(|t| seen.insert(&t.name)).cloned().collect()
}

fn is(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

fn stopped(run: &Run) -> Option<String> {
    if run.imported.is_some() {
        return None;
    }
    let why = match (&run.interrupted, run.ended) {
        (Some(signal), _) => {
            format!("{} stopped this run before its plan was complete.", clean(signal))
        }
        (None, None) => {
            "This run has no recorded end: it is still running, or it was killed.".to_owned()
        }
        (None, Some(_)) => return None,
    };
    Some(format!("{why} The report holds the results so far."))
}
