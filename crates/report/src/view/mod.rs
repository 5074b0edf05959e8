//! The content of a report, before it is laid out.
//!
//! [`View::from_run`] turns a run into an ordered list of blocks ([`Block`]): headings, texts,
//! tables, charts, findings. Terminal, Markdown and HTML lay these out and add nothing, so that a
//! number, its label and its verdict are the same everywhere. Each block states which formats show
//! it. All text in a view is free of control characters; it is not escaped for any format.
//!
//! A table has one scale, chosen by its largest value. A missing value is `-` with a footnote that
//! gives the reason.

mod audience;
mod block;
pub(crate) mod chart;
mod circumstances;
mod columns;
mod conclusions;
mod dates;
mod declared;
mod delivered_share;
mod derivation;
mod design;
mod disk;
mod facts;
mod findings;
mod first_screen;
mod grouping;
mod heat_map;
mod host;
mod label;
mod latency;
mod levels;
mod main_results;
mod matrix;
pub(crate) mod merge_messages;
mod method;
mod network;
mod noise;
mod num;
mod operation;
mod overview;
mod pictures;
mod published;
mod references;
mod report;
mod roofline;
mod rounds;
mod saturation;
mod sentences;
mod series;
mod shared_parts;
mod short;
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

use label::Group;
use proofmark_model::{Ending, Measurement, Run, Verdict, VerdictCounts, format_seconds};
use serde::Serialize;

pub use audience::{Audience, Medium};
pub use block::{
    Block, Content, Details, Drawing, Drawings, Findings, Item, Results, Rich, Section, Style,
    Text, Tone,
};
pub(crate) use block::{Blocks, shown};
pub(crate) use chart::{
    Axis, Bar, BarChart, BarGroup, Chart, Kind, Mark, Panel, Rule, RuleKind, Series, Spot,
};
pub(crate) use columns::{Columns, Entry};
pub use conclusions::{Claim, Conclusion, Figure, Relation};
pub(crate) use dates::{Dates, minute};
pub use delivered_share::Lost;
pub use facts::{Fact, FactTable};
pub use findings::{FindingGroup, Place, findings_of_host, severity_mark};
pub use first_screen::{FirstScreen, Notes};
pub(crate) use grouping::grouped;
pub(crate) use heat_map::{HeatMap, Pair as HeatPair};
pub use host::host_tables;
use main_results::spread;
pub use main_results::{ScreenPart, ScreenRow, result_tables};
pub(crate) use noise::{Band, Lane, Lanes, NoiseChart};
pub use num::Scale;
pub(crate) use num::{ends, level_change, percent, percentage, plain};
pub(crate) use pictures::{Column as PictureColumn, Picture};
pub(crate) use report::findings_section;
pub(crate) use short::Short;
pub(crate) use table::{Cell, CellPicture, Dot, Rounds, Table, Whisker};
pub(crate) use text::plain_spaces;
pub(crate) use text::{agree, and_list, enclosed};
pub use text::{capital, clean, counted, joined, stop};
pub use timeline::{SIGNS, Timeline};
pub use workload_figure::{Meter, Near, WorkloadFigure};
pub(crate) use workload_figure::{ceiling_note, ceiling_word};

pub(crate) use disk::trial_iops;
pub(crate) use label::{MIXED, delivered, figure_word, interval, why_no_trials};
pub(crate) use noise::COLUMNS as NOISE_COLUMNS;
pub(crate) use num::median;
pub(crate) use series::{both_on_axis, mark_at};

/// A document in blocks, which each format lays out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document {
    /// The title: of a run, the name of the machine and its main properties.
    pub title: String,
    /// Facts below the title, such as profile, time and program.
    pub facts: Vec<Fact>,
    /// The content in order.
    pub blocks: Vec<Block>,
}

/// The most important facts of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The name of the machine and its main properties.
    pub title: String,
    /// One sentence on the profile, start, duration and program version.
    pub measured: String,
    /// The conclusions of the values over time, at most a few.
    pub over_time: Vec<String>,
    /// The names by which other formats know the run: its id, host and label.
    pub identity: String,
    /// The verdicts in sum.
    pub trust: Trust,
    /// The main results, and the causes of results that are not valid.
    pub first: FirstScreen,
}

/// A run's summary and its full report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    /// The summary.
    pub summary: Summary,
    /// The full report.
    pub document: Document,
}

/// The verdicts of a run in sum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trust {
    /// The number of results with each verdict.
    pub counts: VerdictCounts,
    /// The id of the worst verdict; `none` where nothing was measured.
    pub worst: &'static str,
    /// The verdicts in a sentence or two.
    pub sentence: String,
    /// The reason why the run ended early, if it did.
    pub stopped: Option<String>,
}

impl View {
    /// The full report of a run.
    pub fn from_run(run: &Run) -> Self {
        Self::write(run, report::blocks)
    }

    /// The text printed at the end of a run; `more` is the command that prints further findings.
    pub fn at_end(run: &Run, more: &str) -> Self {
        let view = Self::write(run, |_, groups, summary, _| report::at_end(groups, summary, more));
        // The sentence on what was measured names the time already.
        Self { document: Document { facts: Vec::new(), ..view.document }, ..view }
    }

    /// The report on noise, in full or on one screen: what takes CPU time from the threads, and how the
    /// vCPUs are placed.
    pub fn noise_report(run: &Run, in_full: bool) -> Self {
        let view = Self::write(run, |run, _, summary, findings| {
            report::noise_report(run, summary, findings, in_full)
        });
        Self { document: Document { facts: Vec::new(), ..view.document }, ..view }
    }

    fn write(
        run: &Run,
        blocks: impl FnOnce(&Run, &[Group], &Summary, Vec<FindingGroup>) -> Vec<Block>,
    ) -> Self {
        let groups = label::groups(run);
        let findings = findings::for_run(run);
        let summary = Summary {
            title: title(run),
            measured: measured(run),
            over_time: conclusions::over_time_of(&groups),
            identity: identity_sentence(run),
            trust: trust(run),
            first: first_screen::build(run, &groups, &findings),
        };
        let blocks = blocks(run, &groups, &summary, findings);
        let document = Document { title: summary.title.clone(), facts: facts(run), blocks };
        Self { summary, document }
    }
}

/// The conclusions from a run's figures, by subsystem.
pub fn conclusions_of(run: &Run) -> Vec<Conclusion> {
    conclusions::draw(&label::groups(run))
}

/// The sign and the word of a verdict: `✓ valid`.
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

/// The machine, or the tool whose results were imported.
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

/// The start and the duration.
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

/// The id of a run, which is its start. Under a label also the label and the host name, of which the
/// title has one.
fn identity(run: &Run) -> Vec<Fact> {
    let host = run.host.os.host_name.get();
    let named = run.label.as_ref().map(|label| {
        let host = host.map(|name| Fact::plain("host", name));
        [Fact::plain("label", label)].into_iter().chain(host)
    });
    let id = Fact::plain("run id", &run.started.to_string());
    named.into_iter().flatten().chain([id]).collect()
}

/// `Label web-3, host vm, run id 2026-11-23T14:24:00.123456789Z.`
fn identity_sentence(run: &Run) -> String {
    let facts = identity(run).into_iter().map(|fact| format!("{} {}", fact.name, fact.value));
    stop(&capital(&joined(facts, ", ")))
}

fn facts(run: &Run) -> Vec<Fact> {
    let commit = run.tool.commit.as_deref().map_or_else(String::new, |c| {
        format!(", commit {}", clean(c).chars().take(12).collect::<String>())
    });
    let facts = [
        Fact::plain("profile", &run.plan.profile),
        Fact::plain("started", &started(run)),
        Fact::plain("program", &format!("proofmark {}{commit}", run.tool.version)),
    ];
    facts.into_iter().chain(identity(run)).collect()
}

fn trust(run: &Run) -> Trust {
    let counts: VerdictCounts = run.measurements.iter().map(|m| m.verdict).collect();
    let unmeasured = run.plan.points.len().saturating_sub(run.measurements.len());
    let doubted = Verdict::ALL.into_iter().filter(|v| !v.is_undoubted()).any(|v| counts.get(v) > 0);
    let mut sentence = match run.imported.is_some() && counts.all() > 0 && !doubted {
        true => "No check found a problem.".to_owned(),
        false => verdicts(&counts, left_out(run)),
    };
    let tool = run.imported.as_deref().map(clean).unwrap_or_default();
    let unknown = " took the measurements. What else ran on the machine is unknown.";
    sentence += &enclosed(" ", &tool, unknown);
    if unmeasured > 0 {
        let was = agree(unmeasured as u64, ["was", "were"]);
        let what = counted(unmeasured as u64, "planned configuration");
        sentence += &format!(" {what} {was} not measured.");
    }
    let left_out = run.plan.left_out.len() as u64;
    if left_out > 0 {
        let was = agree(left_out, ["was", "were"]);
        let limit = run.plan.policy.budget_s.map(format_seconds);
        let limit = limit.map_or_else(String::new, |limit| format!(" of {limit}"));
        sentence += &format!(" {left_out} more {was} left out for the time limit{limit}.");
    }
    Trust {
        counts,
        worst: run.verdict().map_or("none", Verdict::id),
        sentence,
        stopped: stopped(run),
    }
}

/// The words after the number of results with a verdict, and the reason: for one result and for
/// several.
fn verdict_words(verdict: Verdict) -> [[&'static str; 2]; 2] {
    match verdict {
        Verdict::Valid => [["is valid", ""], ["are valid", ""]],
        Verdict::Coarse => {
            [["is coarse", "it is known roughly"], ["are coarse", "they are known roughly"]]
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

/// The results that were not run for want of time. A screen has no room for the finding of each.
fn left_out(run: &Run) -> u64 {
    let is_left_out = |m: &&Measurement| {
        m.verdict == Verdict::NotRun && matches!(m.ending, Ending::LeftOut { .. })
    };
    run.measurements.iter().filter(is_left_out).count() as u64
}

/// `60 of 77 results are valid. 16 are coarse: they are known roughly. 1 is suspect: see the
/// cause.` So many were left out for the time limit.
fn verdicts(counts: &VerdictCounts, left_out: u64) -> String {
    let total = counts.all();
    let found: Vec<(Verdict, u64)> =
        Verdict::ALL.map(|v| (v, counts.get(v))).into_iter().filter(|(_, n)| *n > 0).collect();
    let sentence = |at: usize, (verdict, n): (Verdict, u64)| {
        let [words, why] = verdict_words(verdict)[usize::from(n > 1)];
        let why = match (verdict, left_out) {
            (Verdict::NotRun, 1..) if left_out == n => "left out for the time limit".to_owned(),
            (Verdict::NotRun, 1..) => {
                format!("{left_out} left out for the time limit; of the others, {why}")
            }
            _ => why.to_owned(),
        };
        let start = match (at, found.len()) {
            (0, 1) if total == 1 => "The one result".to_owned(),
            (0, 1) => format!("All {total} results"),
            (0, _) => format!("{n} of {total} results"),
            _ => n.to_string(),
        };
        let why = enclosed(": ", &why, "");
        format!("{start} {words}{why}.")
    };
    match found.is_empty() {
        true => "Nothing was measured.".to_owned(),
        false => joined(found.iter().enumerate().map(|(at, one)| sentence(at, *one)), " "),
    }
}

/// `Precision: 41 of 70 intervals are as narrow as the target; the widest is ± 7.0 %
/// (Memory triad, 2 CPUs).`
fn precision(groups: &[Group]) -> Option<String> {
    let points = groups.iter().flat_map(|g| g.all.iter().map(move |m| (g, *m)));
    let all = points.filter_map(|(g, m)| Some((m.precision?, g, m)));
    let all: Vec<_> = all.filter(|(p, ..)| p.half_width.is_finite()).collect();
    let reached = all.iter().filter(|(p, ..)| p.reached).count();
    let (widest, group, m) = all.iter().max_by(|a, b| a.0.half_width.total_cmp(&b.0.half_width))?;
    Some(format!(
        "Precision: {reached} of {} {} as narrow as the target; the widest is ± {} ({}).",
        counted(all.len() as u64, "interval"),
        agree(reached as u64, ["is", "are"]),
        percentage(widest.half_width)?,
        group.title_of(m)
    ))
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
