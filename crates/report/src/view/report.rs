//! A run's report as blocks, section by section.

use proofmark_model::{FigureKind, Run, Severity, Subsystem};

use super::audience::Audience;
use super::block::{
    Blocks, Details, Drawing, Drawings, Findings, Item, Results, Rich, Section, Style, Text, Tone,
};
use super::findings::FindingGroup;
use super::grouping::grouped;
use super::label::{self, Group};
use super::main_results::{ScreenPart, ScreenRow};
use super::text::joined;
use super::{
    Block, Summary, circumstances, conclusions, derivation, design, host, method, noise, overview,
    pictures, precision, references, roofline, severity_mark, spread, theory, workload,
};

mod terms;

const NOISE_KEY: &str = "Time runs from left to right. Hatched: not counted. Disk and network \
    loads have no time account, since their threads wait for I/O; between trials proofmark \
    prepares and verifies, or a reference tool runs.";

/// Maximum number of results with which the end of a run shows the comparisons with tools.
const FEW: usize = 8;

/// The meaning of what the cards show, and of nothing else.
fn meanings(parts: &[ScreenPart], spread: f64) -> String {
    let shown = || parts.iter().flat_map(|p| &p.rows).filter(|r| r.value.is_some());
    let has = |what: fn(&ScreenRow) -> bool| shown().any(what);
    let ends = 100.0 * spread;
    let line =
        format!("Line: the rounds in order; all lines have one scale, the median ± {ends:.0} %.");
    let all = [
        (has(|r| r.within.is_some()), "±: half the 95 % interval."),
        (
            has(|r| r.kind != FigureKind::Delivered),
            "Attainable and typical leave out the time that was taken from the threads. Delivered: \
             all work divided by all time; a complete solve has it alone.",
        ),
        (
            has(|r| r.near.as_ref().is_some_and(|n| n.bar.is_some())),
            "Bar: share of the ceiling; the dark part was delivered.",
        ),
        (
            has(|r| r.near.as_ref().is_some_and(|n| n.bar.is_none())),
            "A ceiling that is assumed or shared has no bar.",
        ),
        (has(|r| r.rounds.len() > 1), &line),
    ];
    joined(all.into_iter().filter(|(shown, _)| *shown).map(|(_, text)| text), " ")
}

const ROOFLINE_KEY: &str = "Flat lines: peaks of the CPU. Slanted lines: bandwidths of caches and \
    memory. Dashes: ceilings. Crosses: workloads as measured.";

/// The parts that only other formats have.
const LONGER: &str = "Too long for a terminal, in report.html and by --format markdown --all: single \
    trials (as Exp 1, Average, Std Dev where their number is fixed: --trials N), windows of the \
    rounds, both ends of a network, how each workload works, the machine's facts, derivations of the ceilings, and the method.";

/// The full report of a run.
pub(super) fn blocks(
    run: &Run,
    groups: &[Group],
    summary: &Summary,
    findings: Vec<FindingGroup>,
) -> Vec<Block> {
    let mut out = Blocks::default();
    out.add("summary", first(run, groups, summary));
    out.add("conclusions", concluded(groups));
    parts(groups, run.imported.is_some()).into_iter().for_each(|part| out.add("part", part));
    out.add("noise", time(run, true));
    out.add("roofline", roofs(run));
    out.add("findings", findings_section(findings));
    out.add_for(Audience::Terminal, "elsewhere", LONGER.to_owned());
    out.add_for(Audience::Document, "machine", machine(run));
    out.add_for(Audience::Document, "ceilings", ceilings(groups));
    out.add_for(
        Audience::Document,
        "method",
        Section::new("method", "Method", |out| {
            let all = Details::new("How the figures were made", |of| {
                of.add("method", method::paragraphs(run));
            });
            out.add("method", all.on_paper());
        }),
    );
    out.add("terms", terms::explained(&out.0));
    out.add_for(Audience::Page, "trials", trials(groups));
    out.0
}

/// The text at the end of a run: what was measured, the verdicts, the main results and the causes.
/// `more` names the place of further findings.
pub(super) fn at_end(groups: &[Group], summary: &Summary, more: &str) -> Vec<Block> {
    let (trust, first) = (&summary.trust, &summary.first);
    let parts = first.parts.iter().filter(|p| !p.about.is_empty());
    let parts: Vec<String> = parts.map(|p| format!("{}: {}.", p.title, p.about)).collect();
    let mut out = Blocks::default();
    let identity = vec![
        summary.over_time.join(" "),
        parts.join(" "),
        summary.measured.clone(),
        trust.stopped.clone().unwrap_or_default(),
        trust.sentence.clone(),
    ];
    out.add("identity", [identity, first.notes.above.clone()].concat());
    let spread = spread(&first.parts);
    out.add("results", Results { parts: first.parts.clone(), pictures: Vec::new(), spread });
    out.add("notes", first.notes.below.clone());
    // A run of many results has no room for it on this screen; its short report has it.
    if first.parts.iter().map(|p| p.rows.len()).sum::<usize>() <= FEW {
        out.add("compared", compared(&first.parts));
    }
    out.add("causes", causes(summary, more));
    for group in groups.iter().filter(|g| g.over_time) {
        workload::courses(&mut out, group);
    }
    out.0
}

/// `Compared with reference tools: Random read, 4 KiB, depth 32: 1.010 times fio (0.990–1.020).`
fn compared(parts: &[ScreenPart]) -> String {
    let rows = parts.iter().flat_map(|p| &p.rows);
    let each = rows.filter_map(|r| Some(format!("{}: {}", r.name(), r.reference.as_ref()?)));
    match joined(each, "; ") {
        none if none.is_empty() => none,
        all => format!("Compared with reference tools: {all}."),
    }
}

/// The report on noise: what takes CPU time from the threads, how the vCPUs are placed, and
/// findings. In brief, what a screen has room for: no table, and findings about the host last.
pub(super) fn noise_report(
    run: &Run,
    summary: &Summary,
    findings: Vec<FindingGroup>,
    in_full: bool,
) -> Vec<Block> {
    let mut out = Blocks::default();
    if in_full {
        out.add("machine", host::sentence(&run.host));
    }
    out.add("run-stopped", Text::new(Style::Warning, &summary.trust.stopped));
    out.add("noise", time(run, in_full));
    if in_full {
        out.add("findings", findings_section(findings));
        return out.0;
    }
    // What lies in the machine's nature is no noise: it is counted.
    let (groups, of_host): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|f| !f.check.starts_with("host."));
    let elsewhere = "run proofmark noise --all, or see the report".to_owned();
    let brief = Findings { groups, more: of_host.len(), elsewhere, in_full: false };
    out.add("findings", brief);
    out.0
}

/// The machine and the verdicts in sum, after what the values over time show.
fn machine_and_verdicts(out: &mut Blocks, run: &Run, summary: &Summary) {
    let trust = &summary.trust;
    let over_time = summary.over_time.iter().map(|t| Rich::toned(Tone::Strong, t.as_str()));
    let answer = Rich::toned(Tone::Strong, trust.sentence.as_str());
    let answer = over_time.chain([answer]).chain(summary.first.notes.above.iter().map(Rich::from));
    out.add_for(Audience::Text, "machine", host::sentence(&run.host));
    out.add("run-stopped", Text::new(Style::Warning, &trust.stopped));
    out.add("verdict", Text::new(Style::Verdict(trust.worst), answer));
}

/// The notes that have no room above the results.
fn notes_below(summary: &Summary) -> Text {
    let all = summary.first.notes.below.join(" ");
    Text::new(Style::Quiet, Some(all).filter(|text| !text.is_empty()))
}

/// The head of a short report: machine, verdicts, main results and values over time.
pub(super) fn head(run: &Run, groups: &[Group], summary: &Summary) -> Vec<Block> {
    let mut out = Blocks::default();
    machine_and_verdicts(&mut out, run, summary);
    let parts = summary.first.parts.clone();
    let spread = spread(&parts);
    out.add("results", Results { parts, pictures: Vec::new(), spread });
    out.add("notes", notes_below(summary));
    out.add("compared", compared(&summary.first.parts));
    for group in groups.iter().filter(|g| g.over_time) {
        workload::courses(&mut out, group);
    }
    out.0
}

/// The verdicts in sum, the main results and the causes.
fn first(run: &Run, groups: &[Group], summary: &Summary) -> Section {
    let first = &summary.first;
    let section = Section::new("summary", "Summary", |out| {
        machine_and_verdicts(out, run, summary);
        let pictures = pictures::draw(run, groups);
        let spread = spread(&first.parts);
        out.add("results", Results { parts: first.parts.clone(), pictures, spread });
        if !first.parts.is_empty() {
            let key = meanings(&first.parts, spread);
            out.add_for(Audience::Page, "key", Text::new(Style::Quiet, [key]));
        }
        out.add("notes", notes_below(summary));
        let mut why = Blocks::one("causes", causes(summary, "see Findings below"));
        let chart = noise::draw(run).map(|noise| noise.chart);
        why.add_for(Audience::Page, "noise", Drawings::new(Drawing::NoiseInBrief, chart));
        out.add("causes", why);
    });
    Section { unseen: true, ..section }
}

fn causes(summary: &Summary, elsewhere: &str) -> Findings {
    let (groups, more) = (summary.first.causes.clone(), summary.first.more);
    let elsewhere = elsewhere.to_owned();
    Findings { groups, more, elsewhere, in_full: false }
}

/// Conclusions from the figures, and comparisons with other tools and with the ceilings.
fn concluded(groups: &[Group]) -> Section {
    let mut all = Blocks::default();
    for conclusion in conclusions::draw(groups) {
        let claims = conclusion.claims.into_iter().map(|c| Item::from(c.text));
        let list = claims.collect::<Vec<Item>>();
        all.add("conclusion", Section::plain(conclusion.title, "claims", list));
    }
    let precision = precision(groups);
    // Without a sentence there is nothing to conclude.
    let title = match (all.0.is_empty(), &precision) {
        (false, _) => "Conclusions",
        (true, Some(_)) => "Precision",
        (true, None) => "Comparison",
    };
    Section::new("conclusions", title, |out| {
        out.add("precision", precision.unwrap_or_default());
        out.add("conclusions", all);
        let compared = Details::new("Comparison with reference tools and ceilings", |of| {
            of.add("references", references::brief(groups));
            let against = Drawings::new(Drawing::Bars, theory::charts(groups));
            of.add_for(Audience::Page, "against", against);
            of.add_for(Audience::Document, "theory", theory::table(groups));
            of.add("lacking", derivation::without_ceiling(groups));
            of.add("lacking", references::unexplained(groups).unwrap_or_default());
        });
        out.add("comparison", compared.on_paper());
    })
}

/// One section per subsystem: design, charts and tables over several workloads, the workloads.
fn parts(groups: &[Group], imported: bool) -> Vec<Section> {
    let named = |s: Subsystem| (s.as_str(), s.info().title);
    let part = |(_, g): &(usize, &Group)| g.subsystem().map_or(("other", "Other"), named);
    let (designs, mut overviews) = (design::describe(groups), overview::collect(groups, imported));
    let details = workload::details(groups);
    let workload = |at: usize, group: &Group| Section {
        anchor: label::anchor(at),
        open: groups.len() == 1,
        ..workload::section(group, details.get(at).map_or("", String::as_str))
    };
    let of_parts = grouped(groups.iter().enumerate().map(|one| (part(&one), one)));
    let section = |((id, title), all): ((&'static str, &'static str), Vec<(usize, &Group)>)| {
        let design = designs.iter().find(|d| d.subsystem == id);
        let overview = overviews.iter().position(|o| o.subsystem == id);
        let overview = overview.map(|at| overviews.swap_remove(at));
        Section::new(&format!("part-{id}"), title, |out| {
            out.add_for(
                Audience::Document,
                "design",
                design.map_or(Vec::new(), |d| d.sentences.clone()),
            );
            let workloads = design.iter().flat_map(|d| d.workloads.iter().cloned());
            let each = Details::new("What each workload measures", |of| {
                of.add("workloads", workloads.map(Item::from).collect::<Vec<Item>>());
            });
            out.add_for(Audience::Document, "workloads", each);
            let over = Details::new("Charts and tables over several workloads", |of| {
                overview.into_iter().for_each(|o| over_several(of, o));
            });
            out.add("overview", over.on_paper());
            all.iter().for_each(|(at, group)| out.add("workload", workload(*at, group)));
        })
    };
    of_parts.into_iter().map(section).collect()
}

fn over_several(out: &mut Blocks, overview: overview::Overview) {
    // A note on times is not one on the rates next to them, so each chart keeps its own.
    let lines = Drawings::new(Drawing::Plot, overview.lines);
    out.add_for(Audience::Page, "lines", lines.explained(&[]));
    for (at, table) in overview.tables.into_iter().enumerate() {
        let audience = if at < overview.brief { Audience::Everyone } else { Audience::Document };
        out.add_for(audience, "overview", table);
    }
}

/// The section on where the time went, with a table of the causes or without.
fn time(run: &Run, with_table: bool) -> Section {
    let sentences = circumstances::sentences(run).unwrap_or_default();
    let noise = noise::draw(run);
    let title = noise.as_ref().map_or(TIME.to_owned(), |n| n.chart.title.clone());
    let section = Section::new("noise", &title, |out| {
        out.add("circumstances", sentences);
        let Some(noise) = noise else { return };
        let full =
            Details::new("Full chart with vCPU placement, and each cause with its counter", |of| {
                let chart = Drawings::new(Drawing::Noise, [noise.chart]).wide();
                of.add("noise", Drawings { key: NOISE_KEY.to_owned(), ..chart });
                if with_table {
                    of.add("time-causes", noise.causes);
                }
            });
        out.add("noise", full.on_paper());
    });
    Section { short: TIME.to_owned(), ..section }
}

const TIME: &str = "Where the time went";

/// The section on the roofline: CPU peaks and memory levels in one picture.
fn roofs(run: &Run) -> Section {
    let Some(roofline) = roofline::draw(run) else { return Section::default() };
    let section = Section::new("roofline", &roofline.chart.title.clone(), |out| {
        out.add("roofline", roofline.sentence);
        let summary = "Peaks of the CPU, bandwidths of caches and memory";
        let full = Details::new(summary, |of| {
            let chart = Drawings::new(Drawing::Plot, [roofline.chart]).wide();
            let chart = Drawings { key: ROOFLINE_KEY.to_owned(), ..chart };
            of.add_for(Audience::Page, "roofline", chart);
            of.add("roofline", roofline.table);
        });
        out.add("roofline", full.on_paper());
    });
    Section { short: "Roofline".to_owned(), ..section }
}

/// The section on findings, with one part per severity.
pub fn findings_section(findings: Vec<FindingGroup>) -> Section {
    Section::new("findings", "Findings", |out| {
        if findings.is_empty() {
            out.add("findings", "No check found a problem.".to_owned());
        }
        for (severity, groups) in grouped(findings.into_iter().map(|f| (f.severity, f))) {
            let summary = format!("{} × {}", groups.len(), severity_mark(severity));
            let all = Details::new(&summary, |of| {
                of.add(
                    "findings",
                    Findings { groups, more: 0, elsewhere: String::new(), in_full: true },
                );
            });
            let open = severity != Severity::Note;
            out.add("findings", Details { open, ..all.on_paper() });
        }
    })
}

fn machine(run: &Run) -> Section {
    Section::new("machine", "The machine", |out| {
        out.add_for(Audience::Page, "machine", host::sentence(&run.host));
        let facts = Details::new("Every fact with its source", |of| {
            host::host_tables(&run.host).into_iter().for_each(|table| of.add("host", table));
        });
        out.add("host", facts.on_paper());
    })
}

fn ceilings(groups: &[Group]) -> Section {
    let section = Section::new("ceilings", "How the ceilings were derived", |out| {
        let all = Details::new("Formulas, inputs and their sources", |of| {
            let all = groups.iter().flat_map(workload::derivations);
            all.for_each(|one| of.add("derivation", one));
        });
        out.add("derivations", all.on_paper());
    });
    Section { short: "Ceilings".to_owned(), ..section }
}

fn trials(groups: &[Group]) -> Section {
    Section::new("trials", "Every trial", |out| {
        let all = Details::new("By workload", |of| {
            groups.iter().for_each(|g| of.add("trials", workload::trials(g)));
        });
        out.add("trials", all);
    })
}
